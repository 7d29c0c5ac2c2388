"""The rules that follow from others: back along a tape of what a value, or an adjoint rule, does."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .expression import DG, Expression, Rule, f


def traced(value: Callable, i: int) -> Rule:
    """The adjoint rule of an operator that has none: back through what its value does to argument i."""
    return lambda d, out, *args: pullback(lambda x: value(*args[:i], x, *args[i + 1:]), args[i], d)


def transposed(rule: Rule, i: int) -> Rule:
    """The tangent rule that belongs to an adjoint rule: rule(u, …) is Jᵀu, so going back through it with t gives J t."""
    return lambda t, out, *args: pullback(lambda u: rule(u, out, *args), f.broadcast(0.0, out), t)


def pullback(function: Callable, x: Any, d: Any) -> Any:
    """Jᵀd, the adjoint of x where function(x) has the adjoint d; x and d are arrays or Expressions."""
    tape: list = []
    start = Traced(x, tape, next(Traced.levels))
    end = function(start)
    deltas = back(tape, reversed(tape), {id(end): d})
    return deltas[id(start)] if id(start) in deltas else f.broadcast(0.0, x)


def back(tape: list, lines: Iterable, deltas: dict[int, Any]) -> dict[int, Any]:
    """The deltas, by id, where a tape begins from those where it ends: step through its lines from the last one."""
    for node, op, args in lines:
        if (d := deltas.pop(id(node), None)) is not None:
            inputs = values_on(tape, args)
            for a, x, rule in zip(args, inputs, DG[op], strict=False):
                if a is not x and rule is not None:  # it is traced
                    part = rule(d, node.value, *inputs)
                    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                        part = precise(part, x)
                    deltas[id(a)] = deltas[id(a)] + part if id(a) in deltas else part
    return deltas


def values_on(tape: list, args: tuple) -> list:
    """The arguments with the values of those that this tape traces in their place."""
    return [a.value if isinstance(a, Traced) and a.tape is tape else a for a in args]


def precise(part: Any, x: Any, a: str = "an argument") -> Any:
    """A delta or a tangent of numbers in the precision of x, the argument `a`. TypeError where a rule had no answer."""
    if part is None:
        raise TypeError(f"the rule for {a} returned None; does it lack a return?")
    if isinstance(part, Masked):
        return Masked(precise(part.value, x))
    dtype = getattr(x, "dtype", None)
    if dtype is None or not isinstance(part, (np.ndarray, np.floating)) or part.dtype is dtype:
        return part
    return part.astype(dtype if dtype.kind == "f" else float, copy=False)


class Masked(Expression):
    """A delta that may have come through a `where`: where it is 0, its products and quotients in a rule are 0."""

    level = math.inf
    def __init__(self, value: Any): self.value = value

    def record(self, op, args):
        values = [a.value if type(a) is Masked else a for a in args]
        if op == "mul" and not any([type(a) in (int, float) and math.isfinite(a) for a in args]):
            op, values = "scale", values if type(args[0]) is Masked else values[::-1]
        elif op == "divide" and type(args[0]) is Masked:
            op = "ratio"
        return Masked(getattr(f, op)(*values))


class Traced(Expression):
    """A value that writes the operators it meets on a tape."""

    __slots__ = "value", "tape", "level"
    levels = itertools.count(1)  # what is traced later lies within, and is asked first

    def __init__(self, value: Any, tape: list, level: int):
        self.value, self.tape, self.level = value, tape, level

    __class__ = property(lambda self: self.value.__class__)  # a value that asks isinstance takes the same branch
    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    dtype = property(lambda self: np.asarray(self.value).dtype)

    def record(self, op, args):
        out = Traced(getattr(f, op)(*values_on(self.tape, args)), self.tape, self.level)
        self.tape.append((out, op, args))
        return out


ROOTS = {"norm": "squaredNorm", "frobeniusNorm": "squaredNorm", "std": "var", "abs": "square"}


def squares(steps: Sequence, table: Mapping[str, Any], kept: Collection[str] = ()) -> dict[str, tuple[str, tuple]]:
    """For each line that squares a root, what is under it: at 0 that has the derivatives that the root lacks."""
    roots = {dst: (ROOTS[op], args) for dst, op, args in steps if ROOTS.get(op) in table and dst not in kept}
    return {dst: roots[args[0]] for dst, op, args in (steps if roots else ())
            if args and type(args[0]) is str and args[0] in roots and squared(op, *args)}


def squared(op: str, x: Any, y: Any = None, *_: Any) -> bool:
    """Whether op(x, y) is the square of x, a register or what stands for one."""
    return (op == "square" or op == "mul" and (y is x or type(y) is str and y == x)
            or op == "power" and type(y) in (int, float) and y == 2)
