"""One call of a Python function of NumPy arrays, as a list with its values: what all its derivatives run on."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from types import MethodType
from typing import Any

import numpy as np

from ops.table import back

from ..errors import XManError
from ..interpreters import backprop, forward
from ..interpreters.context import own
from ..wengert import WengertList
from .arraylike import ArrayLike, number
from .refusals import REFUSALS, replaced
from .tracer import Tape, Tracer, listed, on
from .trees import LEAF, flatten, tree_map, unflatten


@dataclass
class Call:
    """One call of a function: what is on its tape, and where its arguments and its results are there."""

    tape: Tape
    lines: list[tuple]            # those of the tape, which is closed
    inputs: list[Tracer]          # each leaf of the arguments that are differentiated
    arguments: list[Any]          # the structure of each of them
    outputs: list[Tracer | None]  # each leaf of the result; None for a constant
    results: list[Any]            # the value of each
    result: Any                   # the structure of the result
    aux: Any

    @property
    def points(self) -> list:
        """The values of the inputs."""
        return [x.value for x in self.inputs]

    @np.errstate(all="ignore")
    def pulled(self, deltas: Sequence[Any]) -> list:
        """Σ delta · ∂output/∂input for each input; a delta has the shape and the precision of its output."""
        seeds: dict[int, Any] = {}
        for end, x, d in zip(self.outputs, self.results, deltas, strict=True):
            if end is not None and x.dtype.kind == "f":
                seeds[id(end)] = seeds[id(end)] + d if id(end) in seeds else d
        try:
            found = back(self.tape, self.lines, dict(seeds))
        except Exception:
            steps, values, names = self.listed
            backprop(steps, values, **{names[end]: d for end, d in seeds.items()})  # raises the sentence
            raise
        held: set[int] = set()
        return [number_of(own(found[id(x)], x.value, held, ())) if id(x) in found else zeros(x.value) for x in self.inputs]

    def pushed(self, tangents: Sequence[Any]) -> list:
        """Σ ∂output/∂input · tangent for each output."""
        steps, values, names = self.listed
        found = forward(steps, values, {names[id(x)]: t for x, t in zip(self.inputs, tangents, strict=True)}) if tangents else {}
        return [number_of(found[name]) if (name := names.get(id(end))) in found else zeros(x)
                for end, x in zip(self.outputs, self.results, strict=True)]

    @cached_property
    def listed(self) -> tuple[WengertList, dict[str, Any], dict[int, str]]:
        """The list, the value of each register, and its name by the id of the tracer."""
        names = {id(x): f"x{k}" for k, x in enumerate(self.inputs, 1)}
        values = dict(zip(names.values(), self.points, strict=True))

        def constant(a, op):  # not a literal: it may be large, or a tracer of a call around this one
            if a is None or issubclass(type(a), (int, float, tuple, slice, type(Ellipsis))):
                return a
            if isinstance(a, str):
                return (a,)  # a bare string would name a register
            values[name := f"c{len(values)}"] = a
            return name

        steps, found = listed(self.tape, self.lines, names, [end for end in self.outputs if end is not None], constant)
        return steps, values | found, names


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
        inputs = [Tracer(leaf, tape) for leaf in leaves]
        args, rest = list(args), iter(inputs)
        for i, structure in zip(argnums, structures, strict=True):
            args[i] = unflatten(structure, rest)
        result = outcome(fn, args, options)
        result, aux = pair(what, fn, result) if has_aux else (result, None)
        ends, shape = flatten(result)
        outputs = [end if on(tape, end) else None for end in ends]
        results = [constant_output(what, fn, end) if mine is None else mine.value for end, mine in zip(ends, outputs, strict=True)]
        aux = tree_map(lambda a: a.value if on(tape, a) else a, aux)
        return Call(tape, tape[:], inputs, structures, outputs, results, shape, aux)


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


class Derivative:
    """A derivative of fn, with a name, a docstring and fn's signature; pickled and copied as what makes it: make(fn, *settings)."""

    def __init__(self, make: Callable, fn: Callable, run: Callable, *settings: Any):
        self.__name__, self.__doc__ = f"{make.__name__}_{name_of(fn)}", f"{make.__name__} of {name_of(fn)}."
        self.__wrapped__, self.run, self.made = fn, run, (make, (fn, *settings))

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        return self.run(*args, **options)

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __reduce__(self) -> tuple:
        if "<" in (name := getattr(self.__wrapped__, "__qualname__", "")):
            raise XManError(f"{self.__name__} cannot be pickled: another process finds a function by its name in a file, and {name} "
                            "has none there; write it with def at the top of a file, and give what it needs as arguments")
        return self.made

    def __deepcopy__(self, memo: dict) -> Derivative:
        make, parts = self.made
        return make(*deepcopy(parts, memo))
