"""The common part of all derivatives of a function: a name, pickling, and a call on a tape."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from ops import DG, Expression, walk
from ops.kinks import derivatives_by, past_roots, unclear, unrooted
from ops.silence import ERRORS, silent, unwarned
from ops.walk import AtLine

from ..errors import XManError
from ..interpreters.context import unshared
from ..passes.loops.roll import WRITTEN_OUT
from ..traced.arraylike import ArrayLike, differentiable
from ..traced.refusals import REFUSALS, replaced
from .repeated import with_loops, within_traces
from .tracer import CallTape, Fleeting, Tracer, is_on, unheard
from .trees import LEAF, as_own, flattened_tree, number_of, tree_map, unflatten


def name_of(fn: Callable) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


Argnums = int | Sequence[int]  # the positions of the arguments to differentiate by


def is_whole(argnums: Any) -> bool:
    return isinstance(argnums, (int, np.integer)) and not isinstance(argnums, bool)


def callable_or_refused(name: str, fn: Any, argnums: Any = 0) -> None:
    if not callable(fn):
        raise XManError(f"{name} takes a function, and found {type(fn).__name__}; write fn itself, not fn(x)")
    places = [argnums] if is_whole(argnums) else argnums
    if not (isinstance(places, (tuple, list, range)) and places and all(map(is_whole, places))):
        raise XManError("argnums is the position of an argument, or a tuple of them, and found "
                        f"{type(argnums).__name__}; the numbers come in a second call: {name}(fn)(x)")


class Derivative(partial):
    """A derivative of fn, with fn's signature; a pickle or a copy of it calls make(fn, *settings) again."""

    def __new__(cls, make: Callable, fn: Callable, run: Callable, *settings: Any) -> Derivative:
        self = super().__new__(cls, run)
        self.__name__, self.__doc__ = f"{make.__name__}_{name_of(fn)}", f"{make.__name__} of {name_of(fn)}."
        self.__wrapped__, self.recipe = fn, (make, (fn, *settings))
        return self

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __reduce__(self) -> tuple:
        if "<" in (name := getattr(self.__wrapped__, "__qualname__", "")):
            raise XManError(f"{self.__name__} cannot be pickled: another process finds it by its name in a file, and "
                            f"{name} has none there; write it with def at the top of a file")
        return self.recipe

    def __deepcopy__(self, memo: dict) -> Derivative:
        make, settings = self.recipe
        return make(*deepcopy(settings, memo))


# ---- one call ----------------------------------------------------------------------------------------------

@dataclass
class TracedCall:
    """One call of a function: the lines of its tape, and the registers of arguments and results."""

    tape: CallTape
    inputs: list[str]             # the registers of the leaves of the arguments to differentiate by
    arguments: list[Any]          # the structure of each of these arguments
    outputs: list[str | None]     # the registers of the leaves of the result; None for a constant
    results: list[Any]            # the values of these leaves
    result: Any                   # the structure of the result
    aux: Any
    seeds: Sequence[Any]          # the directions of the inputs, in forward mode
    before: dict[int, int]        # by the level of each trace around, how many lines it had

    lines = property(lambda self: self.tape.lines)
    points = property(lambda self: [self.tape.values[x] for x in self.inputs])

    def pulled(self, deltas: Sequence[Any]) -> list:
        """Σ delta · ∂output/∂input for each input."""
        seeds: dict[str, Any] = {}
        for end, x, d in zip(self.outputs, self.results, deltas, strict=True):
            if end is not None and x.dtype.kind in "fc":
                seeds[end] = seeds[end] + d if end in seeds else d
        return self.derivatives(seeds, False, self.inputs, self.points)

    def pushed(self, tangents: Sequence[Any] | None = None) -> list:
        """Σ ∂output/∂input · tangent for each output. tangents: None for those that the call began with."""
        seeds = dict(zip(self.inputs, self.seeds if tangents is None else tangents, strict=True))
        # in the outermost trace around, whose lines become a program, tangents go beside values; for one pass
        # after another that would gain nothing
        traces = [] if tangents is not None else [
            x.tape for x in self.results if isinstance(x, Tracer) and not isinstance(x.value, Expression)
            and x.level in self.before]
        middles = [len(trace.lines) for trace in traces[:1]]
        slopes = self.derivatives(seeds, True, self.outputs, self.results)
        for trace, middle in zip(traces, middles, strict=False):
            trace.interleave(self.before[trace.level], middle)
        return slopes

    @silent
    def derivatives(self, seeds: dict[str, Any], forward: bool, ends: list[str | None], points: list) -> list:
        """The derivative of each end, by `ops.kinks.derivatives_by`. points: the values of the ends."""
        back = lambda deltas: walk.back(tape.lines, tape.values, deltas, DG, tape.flat)

        def forth(tangents: dict[str, Any]) -> dict[str, Any]:
            moved = tape.tangents or {}
            if moved and not any(unclear(moved[x]) for x in ends if x in moved):
                return moved  # this walk was made while fn ran
            tape.keep()
            return walk.forth(tape.lines, tape.values, tangents)
        tape, values = self.tape, [*self.points, *self.results]
        step, other = (forth, back) if forward else (back, forth)
        try:
            slopes = unheard(derivatives_by, step, seeds, seeds, tape.lines, values, ends, forward, other)
        except AtLine as error:
            raise self.failure(error.error, error.line) from error.error
        slopes = [slopes[end] if end in slopes else zeros(x) for end, x in zip(ends, points, strict=True)]
        return [*map(number_of, unshared(dict(enumerate(slopes)), [*values, *seeds.values()]).values())]

    def failure(self, error: Exception, line: tuple) -> XManError:
        """The error that a rule raised, as a sentence with its operator and the shapes of its arguments."""
        inputs = [self.tape.values[a] if type(a) is str else a for a in line[2]]
        shapes = ", ".join(str(np.shape(x)) for x in inputs if hasattr(x, "shape"))
        return XManError(f"the derivative of {line[1]}, of arguments of shape {shapes}: {error}")


def zeros(x: Any) -> Any:
    return np.zeros(np.shape(x), x.dtype if x.dtype.kind in "fc" else float)[()]


def traced_call(name: str, fn: Callable, args: Sequence[Any], options: dict, argnums: Sequence[int],
                has_aux: bool = False, directions: Callable[..., list] | None = None) -> TracedCall:
    """The TracedCall of fn(*args, **options) with tracers of copies in the arguments that argnums names.

    directions: for forward mode, a function of the points and their structures, gives the tangents.
    """
    with CallTape() as tape, ExitStack() as around:
        args, inputs, structures = with_tracers(tape, fn, args, argnums)
        seeds: list = []
        if directions:
            points = [x.value for x in inputs]
            seeds = directions(points, tuple(structures))
            if not any(isinstance(x, Expression) for x in (*points, *seeds)):
                tape.tangents, tape.kind = {x.name: d for x, d in zip(inputs, seeds, strict=True)}, Fleeting
        before = around.enter_context(within_traces(tape, inputs))
        result = outcome(fn, args, options)
        if has_aux:
            result, aux = result_and_aux(name, fn, result)
        ends, shape = flattened_tree(result)
        registers = [end.name if is_on(tape, end) else None for end in ends]
        results = [end.value if is_on(tape, end) else constant_output(name, fn, end) for end in ends]
        aux = tree_map(lambda a: as_own(a.value) if is_on(tape, a) else a, aux) if has_aux else None
        if powers := past_roots(tape.lines, DG):
            register_of = lambda value, _: Tracer(value, tape).name
            tape.keep()
            tape.lines = unrooted(tape.lines, powers, register_of, tape.values.__getitem__)
        names = [x.name for x in inputs]
        call = TracedCall(tape, names, structures, registers, results, shape, aux, seeds, before)
        long = len(tape.lines) > WRITTEN_OUT and before and any(isinstance(x, Expression) for x in results)
        return unheard(with_loops, call, before) if long else call


def with_tracers(tape: CallTape, fn: Callable, args: Sequence, argnums: Sequence) -> tuple[list, list, list]:
    """(args, with tracers of copies for the leaves of those in argnums; these tracers; the structures)."""
    args, inputs, structures = list(args), [], []
    for i in argnums:
        leaves, structure = flattened_tree(args[i])
        where = lambda i=i, s=structure: f"argument {i} of {name_of(fn)}" + f", in {s}," * (s is not LEAF)
        points = [differentiable(leaf, where) for leaf in leaves]
        leaves = [Tracer(x.copy() if type(x) is np.ndarray else x, tape) for x in points]
        args[i] = unflatten(structure, leaves)
        tape.complex = tape.complex or any([x.value.dtype.kind == "c" for x in leaves])
        inputs += leaves
        structures.append(structure)
    return args, inputs, structures


def outcome(fn: Callable, args: Sequence[Any], options: dict) -> Any:
    """fn(*args, **options), without NumPy's warnings. A refusal is raised again if fn swallows it, and if
    it ends by another error: C code such as SciPy's root finders replaces ours, or goes on after it."""
    around, REFUSALS.last = REFUSALS.last, None
    before = ERRORS.set(unwarned(ERRORS.get()))
    try:
        output = fn(*args, **options)
        if REFUSALS.last:
            raise REFUSALS.last
        return output
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception as error:
        if refusal := error.__cause__ if replaced(error) else REFUSALS.last:
            raise refusal from None
        raise
    finally:
        ERRORS.reset(before)
        REFUSALS.last = around


def constant_output(name: str, fn: Callable, end: Any) -> Any:
    """A result that does not depend on the arguments, as an array."""
    if isinstance(end, ArrayLike):
        return end
    try:
        array = np.asarray(end)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biufc":
        auxiliary = name not in ("trace", "a loop", "taylor", "taylor_ode")
        rest = ", and anything else as an auxiliary output, with has_aux=True" * auxiliary
        raise XManError(f"{name_of(fn)} returned an object of type {type(end).__name__}; {name} wants arrays of "
                        f"numbers{rest}")
    return array[()]


def result_and_aux(name: str, fn: Callable, result: Any) -> tuple:
    if not (isinstance(result, tuple) and len(result) == 2):
        found = f"a tuple of {len(result)}" if isinstance(result, tuple) else "one thing"
        raise XManError(f"with has_aux=True {name} wants a function that returns (output, auxiliary), and "
                        f"{name_of(fn)} returned {found}")
    return result
