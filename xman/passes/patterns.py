"""Rewrites: a tree of operators to find, and a tree to write instead, both in the language."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ops import Expression, facts_of
from ops.table import MANY, arity
from ops.writer import Symbol, Writer, defining_line

from ..errors import XManError
from .sized import SizedWriter, equal


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


def rewrite(form: Callable, becomes: Callable, changes: str = "", where: Callable | None = None) -> Rewrite:
    """The row that writes becomes(x, …) in place of form(x, …) if where(writer, x, …) holds.

    form, becomes: functions of the same registers and literals, written in the language: lambda x:
    f.log(f.exp(x)). changes: how values change, in words; "" if they stay to the last bit. where: the
    condition; without it, a row with changes does not apply to registers that are known to hold whole numbers
    or truth values, whose arithmetic differs. Raises XManError for functions that make no such pair.
    """
    n = arity(form)[1] if callable(form) else MANY
    if n == MANY or not callable(becomes) or arity(becomes)[1] != n:
        raise XManError("a rewrite is two functions of the same arguments, rewrite(lambda x: "
                        "f.log(f.exp(x)), lambda x: x)")
    # The pattern is the symbol that `form` makes of holes, symbols a, b, … of no line. Each symbol knows the
    # line that defines it, so the pattern is a tree: log(exp(a)) leads from "log" to "exp" to the hole a.
    writer = Writer()
    holes = [writer.symbol("abxyz"[i:][:1] or f"x{i}") for i in range(n)]
    pattern = form(*holes)
    if not defining_line(pattern)[0]:
        raise XManError("a rewrite finds an operator, rewrite(lambda x: f.log(f.exp(x)), lambda x: x); this "
                        "one would match every register")
    where = where or (floats if changes else lambda writer, *holes: True)

    def attempt(w, args):
        for filled in matches(pattern, pattern.op, args, {}, w):
            values = [filled[hole] for hole in holes]
            if where(w, *values):
                return becomes(*values)
        return None

    return Rewrite(pattern.op, attempt, as_tree(pattern), changes)


def as_tree(a: Any) -> str:
    """A pattern as text, log(exp(a))."""
    op, args = defining_line(a)
    return f"{op}({', '.join(map(as_tree, args))})" if op else a.name if isinstance(a, Symbol) else repr(a)


def floats(w: SizedWriter, *holes: Any) -> bool:
    """Whether no register among the holes is known to hold whole numbers or truth values."""
    return not any(map(w.discrete, holes))


def matches(pattern: Symbol, op: str, args: tuple, filled: dict, w: SizedWriter) -> Iterator[dict]:
    """The ways to fill the pattern's holes so that it is op(*args). filled: those that are filled already.

    Products commute, so several orders are tried: x * y + x * z is 3 * w + w * v with x = w, y = 3, z = v."""
    branches, args = w.full(op, pattern.args), w.full(op, args)
    if pattern.op == op and len(branches) == len(args):
        for order in (args, args[::-1]) if facts_of(op).commutes else (args,):
            ways = [filled]
            for branch, a in zip(branches, order, strict=True):
                ways = [longer for way in ways for longer in holes_filled(branch, a, way, w)]
            yield from ways


def holes_filled(branch: Any, a: Any, filled: dict, w: SizedWriter) -> Iterator[dict]:
    """The ways to fill the holes so that one argument of the pattern, a branch of its tree, is a."""
    if not isinstance(branch, Symbol):
        if not isinstance(a, Expression) and equal(branch, a):
            yield filled
    elif not branch.op:
        if branch not in filled or equal(filled[branch], a):
            yield {**filled, branch: a}
    elif defining_line(a)[0]:
        yield from matches(branch, *defining_line(a), filled, w)


def shaped(op: str, becomes: Callable, title: str = "", changes: str = "") -> Rewrite:
    """A row that needs no pattern: becomes(writer, *args) gives what to write for op(*args), or None.

    title: what the row does, in words. changes: as for `rewrite`."""
    title = title or f"{op} with shapes known"
    return Rewrite(op, lambda writer, args: becomes(writer, *args), title, changes)
