"""The tables, and the three kinds of row that fill them.

    G[op]       the value: a plain function of arrays
    DG[op]      one adjoint rule per argument, (delta, out, *args) -> contribution to that argument's delta
    TG[op]      one tangent rule per argument, (tangent, out, *args) -> contribution to the tangent of out

A rule is written in the language itself: + - * / @ .T, comparisons, NumPy's functions and f.<op>. Given arrays it
computes, given Expressions it records, so derivatives of every order come from the one table. None in a rule's place
says that the derivative is zero.
"""
from __future__ import annotations

import functools
import itertools
import keyword
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .expression import Expression, f

Rule = Callable[..., Any]
MANY = 2 ** 31 - 1  # arguments, of an operator that takes any number
missing = object()      # in the place of an argument that was not given

G: dict[str, Callable[..., Any]] = {}
DG: dict[str, Sequence[Rule | None]] = {}
TG: dict[str, Sequence[Rule | None]] = {}
ELEMENTWISE: set[str] = set()  # the rows of that kind


class Each(Sequence):
    """The rules of an operator with any number of arguments: those named, then `rule(i)` for the i-th argument."""

    def __init__(self, rule: Callable[[int], Rule | None], *first: Rule | None):
        self.rule, self.first = rule, first

    def __getitem__(self, i: int) -> Rule | None:
        return self.first[i] if i < len(self.first) else self.rule(i)

    def __iter__(self) -> Iterator[Rule | None]:
        return (self[i] for i in itertools.count())

    def __len__(self) -> int:
        return MANY

    def map(self, change: Callable[[Rule, int], Rule]) -> Each:
        return Each(lambda i: self[i] and change(self[i], i))


# ---- the three kinds of row -----------------------------------------------------------------------------------------

def elementwise(op: str, value: Callable, *rules: Rule | None) -> None:
    """A row whose Jacobian is diagonal, and so its own transpose: one rule an argument serves both modes.

    The rules know nothing of broadcasting and dtypes: the adjoint is summed back to the argument's shape here, and the
    tangent spread to the result's.
    """
    def fitted(rule, i=None):
        def contribution(d, out, *args):
            part, like = rule(d, out, *args), out if i is None else args[i]
            if (kind := type(part)) is type(like) and (
                    kind is np.float64 or kind is np.ndarray and part.shape == like.shape and part.dtype == like.dtype):
                return part  # the common case, seen at once
            return (f.broadcast if i is None else f.unbroadcast)(part, like)
        return contribution

    one = len(rules) == 1
    ELEMENTWISE.add(op)
    operator(op, value, *(rule if one else rule and fitted(rule, i) for i, rule in enumerate(rules)),
             tangents=[rule if one else rule and fitted(rule) for rule in rules])


def linear(op: str, value: Callable, *rules: Rule | None | Each) -> None:
    """A row that is linear in each argument with a rule: the tangent is the operator with the tangent in its place."""
    def tangent(rule, i):
        return lambda t, out, *args: getattr(f, op)(*args[:i], t, *args[i + 1:])

    operator(op, value, *rules, tangents=ruled(rules, tangent))


def operator(op: str, value: Callable, *rules: Rule | None | Each, tangents: Sequence[Rule | None] | None = None) -> None:
    """Add a row to G, DG and TG, and `f.<op>`: its value and one adjoint rule per argument, None where it is zero.

    Without rules the value itself, when it is written in the language, is traced through and differentiated. Without
    tangents they are found by going back through the adjoint rule, which is linear in its first argument: right for
    every operator, and slow enough that a row in frequent use gives its own. Raises ValueError for a name that cannot
    stand in a list or belongs to a row of this package.
    """
    if not op.isidentifier() or keyword.iskeyword(op) or op in OURS:
        raise ValueError(f"an operator cannot be called {op!r}: " + (
            "that is a row of ops; choose another name, or give eval and backprop tables of your own" if op in OURS
            else "the name has to be a Python identifier"))
    least, most = arity(value)
    if not rules:
        rules = [Each(lambda i: traced(value, i))] if most == MANY else [traced(value, i) for i in range(most)]
    each = isinstance(rules[0], Each)
    if not each and len(rules) > arity(value)[1]:
        raise ValueError(f"{op} takes {takes(value)}, and {len(rules)} rules were given: one for each argument")
    G[op], DG[op], TG[op] = value, rules[0] if each else list(rules), tangents or ruled(rules, transposed)

    def call(*args, **named):
        if named:
            args = positional(op, value, args, named)
        inmost = None
        for a in args:
            if isinstance(a, Expression) and (inmost is None or a.level > inmost.level):
                inmost = a
        if inmost is None:
            return value(*args)
        if not least <= len(args) <= most:
            raise TypeError(f"{op} takes {takes(value)}; {len(args)} {'was' if len(args) == 1 else 'were'} given")
        return inmost.record(op, args)

    call.__name__, call.__qualname__, call.__doc__ = op, f"f.{op}", value.__doc__
    setattr(f, op, staticmethod(call))


OURS: set[str] = set()  # the rows of this package, filled when all are there


def ruled(rules: Sequence, change: Callable) -> Sequence:
    """change(rule, i) for each rule that there is."""
    return rules[0].map(change) if isinstance(rules[0], Each) else [r and change(r, i) for i, r in enumerate(rules)]


# ---- rules that follow from others ----------------------------------------------------------------------------------

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
            inputs = [a.value if isinstance(a, Traced) and a.tape is tape else a for a in args]
            for a, x, rule in zip(args, inputs, DG[op], strict=False):
                if a is not x and rule is not None:  # it is traced
                    part = rule(d, node.value, *inputs)
                    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                        part = precise(part, x)
                    deltas[id(a)] = deltas[id(a)] + part if id(a) in deltas else part
    return deltas


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


def values_on(tape: list, args: tuple) -> list:
    """The arguments with the values of those that this tape traces in their place."""
    return [a.value if isinstance(a, Traced) and a.tape is tape else a for a in args]


class Masked(Expression):
    """A delta that may have come through a `where`: where it is 0, its products and quotients in a rule are 0."""

    level = math.inf
    def __init__(self, value: Any): self.value = value

    def record(self, op, args):
        if op == "mul" and not any(type(a) in (int, float) and math.isfinite(a) for a in args):
            op, args = "scale", args if isinstance(args[0], Masked) else args[::-1]
        elif op == "divide" and isinstance(args[0], Masked):
            op = "ratio"
        return Masked(getattr(f, op)(*[a.value if isinstance(a, Masked) else a for a in args]))


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


# ---- arguments ------------------------------------------------------------------------------------------------------

def arity(function: Callable) -> tuple[int, int]:
    """The least and the greatest number of arguments that a function takes by position, (0, MANY) if it does not say."""
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    function = plain(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return 0, MANY
    most = code.co_argcount - hasattr(function, "__self__")
    return most - len(function.__defaults__ or ()), MANY if code.co_flags & 4 else most


def plain(function: Callable) -> Callable:
    """The function without its decorators, which take anything."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def takes(function: Callable) -> str:
    """'2 arguments', '1 to 3 arguments', 'at least 1 argument': what `arity` says, in words."""
    least, most = arity(function)
    count = f"{least}" if least == most else f"at least {least}" if most == MANY else f"{least} to {most}"
    return f"{count} argument{'s' * (count not in ('1', 'at least 1'))}"


def positional(op: str, value: Callable, args: tuple, named: dict) -> tuple:
    """The arguments by position alone, as a list holds them: f.sum(x, keepdims=True) is sum(x, None, True)."""
    names, defaults = parameters(value)
    given, rest = [*args], names[len(args):]
    for name in rest:
        given.append(named.pop(name) if name in named else defaults.get(name, missing))
    if named:
        raise TypeError(f"{op} has no argument {next(iter(named))!r}; it takes {', '.join(names) or takes(value)}")
    while len(given) > len(args) and given[-1] is defaults.get(names[len(given) - 1], missing):
        given.pop()
    if lacking := [name for name, a in zip(names, given, strict=False) if a is missing]:
        raise TypeError(f"{op} needs its argument {lacking[0]!r}")
    return tuple(given)


@functools.cache
def parameters(function: Callable) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of a function's arguments by position, and their defaults."""
    code = getattr(function := plain(function), "__code__", None)
    names = code.co_varnames[:code.co_argcount] if code else ()
    return names, dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False) if code else ())
