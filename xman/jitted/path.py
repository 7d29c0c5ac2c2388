"""For `jit`: one path through a function, its list and its program, and when it holds."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import Expression, G, f
from ops.facts import is_tame
from ops.kinks import unclear

from ..errors import XManError
from ..functions.call import name_of, outcome
from ..functions.guarded import FloatTracer, GuardedTape
from ..functions.repeated import kept_short
from ..functions.trace import traced_arguments, written_down
from ..functions.tracer import is_on
from ..functions.trees import as_own, flattened_tree, leaf_names, number_of, tree_map
from ..notation import shortened
from ..passes.loops.roll import rolled_where_it_pays
from ..wengert import WengertList, checked_list
from .kinds import Impure, Within, is_value
from .leaves import builder, reader
from .reached import Place, steady, still_same
from .watch import Watch, compiled_loop, large_loops

SIZE = 10_000  # of outputs in which a NaN is looked for

# the name of a register and the function from its value to what fn returns, or None and a constant
Argument = tuple[str | None, Any]


class TracedPath:
    """One way that a call can take: the list, its program, and the conditions under which it holds."""

    def __init__(self, compiled: Callable, key: tuple, steps: WengertList, inputs: list[str],
                 args: tuple, fixed: list, places: list[Place], checks: dict[str, tuple[np.ndarray, str]],
                 failures: list[tuple[str, list[Argument], type[Exception]]], outputs: list[Argument],
                 structure: Any, walked: bool):
        self.key, self.steps, self.inputs, self.places, self.checks = key, steps, inputs, places, checks
        self.failures = failures  # operators that raised an error which fn caught
        self.steady = steady(places)
        self.reads = reader(args, inputs, self.steady)
        self.fixed = [x.copy() if type(x) is np.ndarray else x for x in fixed]
        self.result = builder(structure, iter(outputs))
        tried = [argument for _, operands, _ in failures for argument in operands]
        registers = dict.fromkeys((*checks, *(name for name, _ in (*outputs, *tried) if name)))
        self.program = compiled(steps, registers) if registers else None
        self.values = [(name, comparable(value[()])) for name, (value, _) in checks.items()]
        # A derivative that is NaN: what 0·∞ is may be known to the second walk, which sees the numbers, and a
        # list is written without them (ops.kinks). Where all operators are tame, with finite slopes at
        # numbers, only infinite arguments make NaN; there numbers alone are looked at.
        self.kinks, self.slopes = walked, [name for name, _ in outputs if name] if walked else []
        self.size = 2 if all(is_tame(op, args) for _, op, args in steps) else SIZE

    @property
    def words(self) -> list[str]:
        """The checks in words, in their order; where several have the same words, once."""
        shown = lambda value: shortened(value.item() if value.size == 1 else value)
        return list(dict.fromkeys((*(f"an argument is {shortened(x)}" for x in self.fixed),
                                   *(place.words for place in self.places),
                                   *(f"{op} raises {error.__name__}" for op, _, error in self.failures),
                                   *(f"{line}: {shown(value)}" for value, line in self.checks.values()))))

    def unsure(self, outputs: dict) -> bool:
        """Whether a derivative is NaN in its outputs, so that the plain function is asked. Arrays of SIZE
        entries and more are not looked at, since that would cost as much as some programs."""
        for name in self.slopes:
            if getattr(x := outputs[name], "size", 1) < self.size and unclear(x):
                return True
        return False

    def stands(self, fixed: list) -> bool:
        """Whether the arguments that are no inputs, and what fn reads, are what they were."""
        return all(map(still_same, self.fixed, fixed)) and self.steady()

    def outputs(self, values: dict, failed: list, missed: list) -> dict | None:
        """The program's outputs; None if the program fails, as is noted in `failed`, or if this path does not
        hold: `missed` then becomes the checks up to that which found another value."""
        try:
            outputs = self.program(values) if self.program else {}
        except TimeoutError:
            raise
        except Exception:  # the values may be for another path; tracing raises fn's own errors
            failed.append(self)
            return None
        for k, (name, value) in enumerate(self.values):
            if (now := outputs[name]) is not value and (now := comparable(now)) != value:
                missed[:] = *self.values[:k], (name, now)
                return None
        if self.failures and not all(fails(*failure, outputs) for failure in self.failures):
            return None
        return outputs


def fails(op: str, operands: list[Argument], error: type[Exception], values: dict) -> bool:
    """Whether an operator raises this error for the values of its arguments."""
    try:
        G[op](*[values[name] if name else constant for name, constant in operands])
    except error:
        return True
    return False


def comparable(x: np.ndarray | np.generic) -> np.bool_ | bytes:
    """A value of a check: NumPy has one object for each truth value, so that `is` tells them apart."""
    return x if type(x) is np.bool_ else x.tobytes()


def path_of(fn: Callable, key: tuple, args: tuple, options: dict, fixed: list, compiled: Callable,
            errors: list, plain: Any) -> tuple[TracedPath, Any]:
    """The path of a call, and its result. errors: that its plain run has met. plain: the result of that,
    which tells numbers from arrays without axes. Impure where a list cannot hold the call, Within where it
    reads values of a trace around it."""
    watch = Watch([fn, *fixed])
    with GuardedTape() as tape, kept_short(tape), large_loops(compiled_loop):
        try:
            tracers, inputs, names = traced_arguments(fn, args, tape)
            result, variables = watch.call(fn, tracers, options, outcome)
            (ends, structure), (leaves, _) = flattened_tree(result), flattened_tree(plain)
        except TimeoutError:
            raise
        except Exception as error:
            whose = f"what stands for an argument raises {type(error).__name__} in it, "
            raise Impure(tape.plain or f"{whose * (not isinstance(error, XManError))}{error}") from None
        if sentence := watch.sentence or watch.changes() or tape.plain:
            raise Impure(sentence)
        if watch.errors != errors:
            raise Impure("it catches an error, and where an argument is traced another error is raised there")
        operands = (x for _, _, args in tape.lines for x in args)
        if any(issubclass(type(x), Expression) and not tape.has(x) for x in (*operands, *ends)):
            raise Within
        ours = lambda x: (is_on(tape, x) or is_value(x) or type(x) in (np.ndarray, slice)
                          or any(x is y for y in fixed))
        if strange := [x for x in ends if not ours(x)]:
            raise Impure(f"it returns a {type(strange[0]).__name__} of its own")
        guards = {**tape.guards}
        if tape.no_errors:
            guards["floats"] = (functools.reduce(f.logical_and, tape.no_errors),
                                "no Python float is divided by 0, and no power of one is inf or NaN")
        stems = leaf_names(structure, name_of(fn) if name_of(fn).isidentifier() else "result")
        tried = [x for _, operands, _ in tape.failures for x in operands if is_on(tape, x)]
        registers = [(stem, x) for stem, x in zip(stems, ends, strict=True) if is_on(tape, x)]
        registers += [(f"guard{k}", x) for k, (x, _) in enumerate(guards.values(), 1)]
        registers += [("tried", x) for x in tried]
        try:
            steps, written, sizes = written_down(tape, names, registers, variables)
            steps = checked_list(steps, G)
        except XManError as error:  # a sparse matrix, or a number of more than 64 bits
            raise Impure(str(error)) from None
        input_names = [names[x.name] for x in inputs]
        tape.lines, tape.values = [], {}  # which take as much memory as the list
        if not tape.masks:  # shapes that go by values would be another call's
            steps = rolled_where_it_pays(steps, written, {}, sizes=sizes)
        written = iter(written)
        arrays = {id(x) for x, y in zip(ends, leaves, strict=False) if type(y) is np.ndarray}
        of_leaf = lambda x: float if type(x) is FloatTracer else np.asarray if id(x) in arrays else number_of
        constant = lambda x: of_leaf(x)(x.copy()) if isinstance(x, np.ndarray) else x
        argument = lambda x: (next(written), of_leaf(x)) if is_on(tape, x) else (None, constant(x))
        outputs = [*map(argument, ends)]
        checks = {next(written): (np.array(x.value), line) for x, line in guards.values()}
        failures = [(op, [*map(argument, operands)], error) for op, operands, error in tape.failures]
        path = TracedPath(compiled, key, steps, input_names, args, fixed, watch.places(), checks, failures,
                          outputs, structure, tape.walked)
        leaf = lambda x: of_leaf(x)(as_own(x.value)) if is_on(tape, x) else constant(x)
        return path, tree_map(leaf, result)


