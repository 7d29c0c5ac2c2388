"""Rules that follow from others: an operator's value, or its adjoint rule, is recorded and differentiated."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .expression import DG, FLAT, TG, Expression, Rule, f
from .facts import operator_called
from .flows import Masked

STILL = object()  # a tangent rule's answer if the result does not move although the argument does


def traced(value: Callable, i: int) -> Rule:
    """The adjoint rule of an operator without one: it goes back through the operator's own value."""
    return lambda d, out, *args: pullback(lambda x: value(*args[:i], x, *args[i + 1:]), args[i], d)


def tangent_of(rule: Rule, i: int) -> Rule:
    """The tangent rule from an adjoint rule: rule(u, …) is Jᵀu, so going back through it with t gives J t."""
    return lambda t, out, *args: pullback(lambda u: rule(u, out, *args), f.broadcast(0.0, out), t)


def pullback(function: Callable, x: Any, d: Any) -> Any:
    """Jᵀd, the adjoint of x if function(x) has the adjoint d; x and d are arrays or Expressions."""
    tape: list = []
    start = Traced(x, tape, next(Traced.levels))
    end = function(start)
    deltas = back(tape, reversed(tape), {id(end): d})
    return deltas[id(start)] if id(start) in deltas else f.broadcast(0.0, x)


def back(tape: list, lines: Iterable, deltas: dict[int, Any], rules: Mapping = DG) -> dict[int, Any]:
    """The deltas, by id, of all values on a tape, from those at its end, line by line."""
    for node, op, args in lines:
        if (d := deltas.pop(id(node), None)) is not None:
            inputs = values_on(tape, args)
            for a, x, rule in zip(args, inputs, rules[op], strict=False):
                if a is not x and rule is not None and not (a.slopeless and rules is DG):  # it is traced
                    part = rule(d, node.value, *inputs)
                    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                        part = precise(part, x)
                    deltas[id(a)] = deltas[id(a)] + part if id(a) in deltas else part
    return deltas


def forth(tape: list, lines: Iterable, tangents: dict[int, Any], rules: Mapping = TG) -> dict[int, Any]:
    """The tangents, by id, of all values on a tape, from those at its beginning, line by line."""
    for node, op, args in lines:
        for a, rule in zip(args, rules[op], strict=False):
            if rule and id(a) in tangents and (part := rule(
                    tangents[id(a)], x := node.value, *values_on(tape, args))) is not STILL:
                if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                    part = precise(part, x)
                tangents[id(node)] = tangents[id(node)] + part if id(node) in tangents else part
    return tangents


def values_on(tape: list, args: tuple) -> list:
    """The arguments, with values in place of those that this tape traces."""
    return [a.value if isinstance(a, Traced) and a.tape is tape else a for a in args]


def precise(part: Any, x: Any, a: str = "an argument") -> Any:
    """A delta or a tangent in the precision of x, the argument `a`. TypeError if a rule gave none."""
    if part is None:
        raise TypeError(f"the rule for {a} returned None; does it lack a return?")
    if isinstance(part, Masked):
        return part.at(precise(part.value, x))
    dtype = getattr(x, "dtype", None)
    if dtype is None or not isinstance(part, (np.ndarray, np.floating)) or part.dtype is dtype:
        return part
    return part.astype(dtype if dtype.kind == "f" else float, copy=False)


class Traced(Expression):
    """A value that records the operators it meets on a tape."""

    __slots__ = "value", "tape", "level", "slopeless"
    levels = itertools.count(1)  # a later trace is inside of an earlier one, and records first

    def __init__(self, value: Any, tape: list, level: int, slopeless: bool = False):
        self.value, self.tape, self.level, self.slopeless = value, tape, level, slopeless

    # an operator's value that asks isinstance takes the same branch as with an array
    __class__ = property(lambda self: self.value.__class__)
    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    dtype = property(lambda self: np.asarray(self.value).dtype)

    def record(self, op, args):
        out = Traced(operator_called(op)(*values_on(self.tape, args)), self.tape, self.level, op in FLAT)
        self.tape.append((out, op, args))
        return out
