"""Rewrites: a tree of operators to find, and a tree to write instead, both in the language."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ops import Expression, facts_of
from ops.table import MANY, arity

from ..errors import XManError


class Rewrite(NamedTuple):
    """attempt(writer, args) is what op(*args) becomes, or None if the rewrite does not apply.
    title: the rewrite as text. changes: how values change, in words."""
    op: str
    attempt: Callable[..., Any]
    title: str
    changes: str


class Rewrites(tuple):
    """A table of rewrites, which `help` shows by its size alone."""
    def __repr__(self) -> str: return f"<{len(self)} rewrites>"


class Pattern(Expression):
    """A tree of operators over holes; a hole stands for whatever is found in its place."""

    def __init__(self, op: str | None, args: tuple): self.op, self.args = op, args
    def record(self, op: str, args: tuple) -> Pattern: return Pattern(op, args)

    def __repr__(self) -> str:
        if self.op:
            return f"{self.op}({', '.join(map(repr, self.args))})"
        return "abxyz"[self.args[0]:][:1] or f"x{self.args[0]}"


def rewrite(found: Callable, becomes: Callable, changes: str = "", given: Callable | None = None) -> Rewrite:
    """The row that writes becomes(x, …) in place of found(x, …) if given(writer, x, …) holds.

    found, becomes: functions of the same registers and literals, written in the language: lambda x:
    f.log(f.exp(x)). changes: how values change, in words; "" if they stay to the last bit. given: the
    condition; without it, a row with changes does not apply to registers that are known to hold whole numbers
    or truth values, whose arithmetic differs. Raises XManError for functions that make no such pair.
    """
    n = arity(found)[1] if callable(found) else MANY
    if n == MANY or not callable(becomes) or arity(becomes)[1] != n:
        raise XManError("a rewrite is two functions of the same arguments, rewrite(lambda x: "
                        "f.log(f.exp(x)), lambda x: x)")
    pattern = found(*(Pattern(None, (i,)) for i in range(n)))
    if getattr(pattern, "op", None) is None:
        raise XManError("a rewrite finds an operator, rewrite(lambda x: f.log(f.exp(x)), lambda x: x); this "
                        "one finds whatever there is")
    given = given or (floats if changes else lambda writer, *holes: True)

    def attempt(writer, args):
        for holes in matches(pattern, pattern.op, args, {}, writer):
            values = [holes[i] for i in range(n)]
            if given(writer, *values):
                return becomes(*values)
        return None

    return Rewrite(pattern.op, attempt, repr(pattern), changes)


def floats(writer, *holes: Any) -> bool:
    """Whether no register among the holes is known to hold whole numbers or truth values."""
    return not any(map(writer.whole, holes))


def matches(pattern: Pattern, op: str, args: tuple, holes: dict, writer):
    """The ways to fill the holes so that the pattern is op(*args)."""
    wanted, args = writer.full(op, pattern.args), writer.full(op, args)
    if pattern.op == op and len(wanted) == len(args):
        for order in (args, args[::-1]) if facts_of(op).commutes else (args,):
            ways = [holes]
            for w, a in zip(wanted, order, strict=True):
                ways = [more for way in ways for more in holes_filled(w, a, way, writer)]
            yield from ways


def holes_filled(wanted: Any, a: Any, holes: dict, writer):
    """The ways to fill the holes so that one argument of the pattern is a."""
    if not isinstance(wanted, Pattern):
        if not isinstance(a, Expression) and equal(wanted, a):
            yield holes
    elif wanted.op is None:
        i = wanted.args[0]
        if i not in holes or equal(holes[i], a):
            yield {**holes, i: a}
    elif id(a) in writer.definition:
        yield from matches(wanted, *writer.definition[id(a)], holes, writer)


def shaped(op: str, becomes: Callable, title: str = "", changes: str = "") -> Rewrite:
    """A row that needs no pattern: becomes(writer, *args) gives what to write for op(*args), or None.

    title: what the row does, in words. changes: as for `rewrite`."""
    title = title or f"{op} with shapes known"
    return Rewrite(op, lambda writer, args: becomes(writer, *args), title, changes)


def equal(a: Any, b: Any) -> bool:
    """Whether two arguments are the same: numbers by value, but 1 is not True, and −0.0 is not 0."""
    if isinstance(a, Expression) or isinstance(b, Expression):
        return a is b
    if {type(a), type(b)} <= {int, float}:
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return key_of(a) == key_of(b)


def key_of(a: Any) -> tuple:
    """A key for an argument: equal for the same symbol and for literals of the same type and bits."""
    if isinstance(a, Expression):
        return "symbol", str(id(a))
    if isinstance(a, np.ndarray):
        return "array", f"{a.dtype}{a.shape}", a.tobytes()
    return type(a).__name__, repr(a)
