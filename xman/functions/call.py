"""One call of a Python function of NumPy arrays, as a list with its values: what all its derivatives run on."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..interpreters import backprop, forward
from ..wengert import WengertList
from .arraylike import ArrayLike, number
from .refusals import REFUSALS, replaced
from .tracer import Tape, Tracer, listed, on
from .trees import LEAF, flatten, tree_map, unflatten


class Call(NamedTuple):
    """One call of a function: its list with the values, and where its arguments and its results are in it."""

    steps: WengertList
    values: dict[str, Any]
    inputs: list[str]             # the register of each leaf of the arguments that are differentiated
    arguments: list[Any]          # the structure of each of them
    outputs: list[str | None]     # the register of each leaf of the result; None for a constant
    results: list[Any]            # the value of each
    result: Any                   # the structure of the result
    aux: Any

    def pulled(self, deltas: Sequence[Any]) -> list:
        """Σ delta · ∂output/∂input for each input."""
        seeds: dict[str, Any] = {}
        for name, d in zip(self.outputs, deltas, strict=True):
            if name:
                seeds[name] = seeds[name] + d if name in seeds else d
        found = backprop(self.steps, self.values, ops.DG, self.inputs, **seeds) if seeds else {}
        return [number_of(found[name]) if name in found else zeros(self.values[name]) for name in self.inputs]

    def pushed(self, tangents: Sequence[Any]) -> list:
        """Σ ∂output/∂input · tangent for each output."""
        found = forward(self.steps, self.values, dict(zip(self.inputs, tangents, strict=True))) if self.inputs else {}
        return [number_of(found[name]) if name in found else zeros(x) for name, x in zip(self.outputs, self.results, strict=True)]


def number_of(x: Any) -> Any:
    """x, a NumPy number where it is an array without axes."""
    return x[()] if isinstance(x, np.ndarray) and not x.ndim else x


def zeros(x: Any) -> Any:
    return np.zeros(np.shape(x), x.dtype if x.dtype.kind == "f" else float)[()]


def called(what: str, fn: Callable, args: Sequence[Any], options: dict, argnums: Sequence[int], has_aux: bool = False) -> Call:
    """Call fn(*args, **options) with tracers in the arguments that argnums names, copies of them: their arrays may change."""
    leaves, structures = [], []
    for i in argnums:
        flat, structure = flatten(args[i])
        structures.append(structure)
        leaves += [number(leaf, f"argument {i} of {name_of(fn)}" + ("" if structure is LEAF else f", in {structure},"))
                   for leaf in flat]
    leaves = [leaf.copy() for leaf in leaves]
    with Tape() as tape:
        tracers = [Tracer(leaf, tape) for leaf in leaves]
        args, rest = list(args), iter(tracers)
        for i, structure in zip(argnums, structures, strict=True):
            args[i] = unflatten(structure, rest)
        result = outcome(fn, args, options)
        result, aux = pair(what, fn, result) if has_aux else (result, None)
        ends, shape = flatten(result)
        mine = [on(tape, end) for end in ends]
        names = {id(t): f"x{k}" for k, t in enumerate(tracers, 1)}
        values = dict(zip(names.values(), leaves, strict=True))
        inputs = list(values)

        def constant(a, op):  # not a literal: it may be large, or a tracer of a call around this one
            if a is None or not isinstance(a, ArrayLike) and isinstance(a, (int, float, tuple, slice, type(...))):
                return a
            if isinstance(a, str):
                return (a,)  # a bare string would name a register
            values[name := f"c{len(values)}"] = a
            return name

        steps, found = listed(tape, names, [end for end, own in zip(ends, mine, strict=True) if own], constant)
        outputs = [names[id(end)] if own else None for end, own in zip(ends, mine, strict=True)]
        results = [end.value if own else constant_output(what, fn, end) for end, own in zip(ends, mine, strict=True)]
        aux = tree_map(lambda a: a.value if on(tape, a) else a, aux)
    return Call(steps, values | found, inputs, structures, outputs, results, shape, aux)


def outcome(fn: Callable, args: Sequence[Any], options: dict) -> Any:
    """fn(*args, **options), without NumPy's warnings: what is infinite stands in the result, unless np.seterr says "raise".

    Our error is raised also where NumPy puts one of its own before it, or fn swallows it.
    """
    around, REFUSALS.last = REFUSALS.last, None
    try:
        with np.errstate(**{kind: "ignore" for kind, what in np.geterr().items() if what == "warn"}):
            result = fn(*args, **options)
        if REFUSALS.last:
            raise REFUSALS.last
        return result
    except ValueError as error:
        if replaced(error):
            raise error.__cause__ from None
        raise
    finally:
        REFUSALS.last = around


def constant_output(what: str, fn: Callable, end: Any) -> Any:
    """A result that does not depend on the arguments, as an array."""
    if isinstance(end, ArrayLike):
        return end
    try:
        array = np.asarray(end)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise XManError(f"{name_of(fn)} returned an object of type {type(end).__name__}; {what} wants arrays of numbers"
                        + ("" if what == "trace" else ", and anything else as an auxiliary output, with has_aux=True"))
    return array[()]


def pair(what: str, fn: Callable, result: Any) -> tuple:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise XManError(f"with has_aux=True {what} wants a function that returns (output, auxiliary), and {name_of(fn)} returned "
                        f"{f'a tuple of {len(result)}' if isinstance(result, tuple) else 'one thing'}")
    return result


def name_of(fn: Callable) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def callable_or_refused(what: str, fn: Any) -> None:
    if not callable(fn):
        raise XManError(f"{what} takes a function, and found {type(fn).__name__}; write {what}(fn), and the numbers after it")


def named(what: str, fn: Callable, result: Callable) -> Callable:
    """The derivative `what` of fn, with a name, a docstring and fn's signature."""
    result.__name__, result.__doc__, result.__wrapped__ = f"{what}_{name_of(fn)}", f"{what} of {name_of(fn)}.", fn
    return result
