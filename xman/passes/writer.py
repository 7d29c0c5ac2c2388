"""Writers of lists: a rule that is given Symbols in place of arrays writes lines in place of numbers."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from ops import Expression
from ops.expression import FLAT

from ..register import as_arg
from ..wengert import Line, Steps, WengertList, registers, temporaries

Origins = list[tuple[Line, Line | None]]  # lines, each paired with a line of another list


class Symbol(Expression):
    """A register of a list that is being written; if it has no name it gets a temporary's at the end."""

    def __init__(self, writer: ListWriter, name: str | None = None, op: str | None = None):
        self.writer, self.name, self.slopeless = writer, name, op in FLAT
    def record(self, op: str, args: tuple) -> Any: return self.writer.write(op, args)
    def __repr__(self) -> str: return f"<symbol {self.name or 'without a name'}>"


class WrittenLine(NamedTuple):
    """A line that was written, and the line of the original list for which it was written."""
    out: Symbol
    op: str
    args: tuple
    origin: Line | None


class ListWriter:
    """Writes lines of a list, and keeps them."""

    def __init__(self) -> None:
        self.lines: list[WrittenLine] = []
        self.origin: Line | None = None

    def write(self, op: str, args: Iterable[Any]) -> Symbol:
        """The symbol of a new line."""
        out = Symbol(self, None, op)
        args = tuple(a if isinstance(a, Symbol) else as_arg(a, op) for a in args)
        self.lines.append(WrittenLine(out, op, args, self.origin))
        return out

    def symbols(self, steps: WengertList) -> dict[str, Symbol]:
        """A symbol for each register of steps."""
        named = *((x, None) for x in steps.inputs), *(line[:2] for line in steps)
        return {name: Symbol(self, name, op) for name, op in named}

    def named(self, taken: Collection[str]) -> Iterator[tuple[Line, Line | None]]:
        """The pairs (line, origin); a symbol without a name gets the name of the next free temporary."""
        fresh = temporaries(taken)
        for out, op, args, origin in self.lines:
            out.name = out.name or next(fresh)
            yield (out.name, op, tuple(a.name if isinstance(a, Symbol) else a for a in args)), origin


class Followed(WengertList):
    """A list that tells a writer which of its lines an interpreter is at."""

    def __init__(self, steps: WengertList, writer: ListWriter):
        list.__init__(self, steps)  # not checked again: steps is valid
        self.writer, self.checked_for, self._inputs = writer, steps.checked_for, steps.inputs

    def __iter__(self) -> Iterator[Line]: return self._told(super().__iter__())
    def __reversed__(self) -> Iterator[Line]: return self._told(super().__reversed__())

    def _told(self, lines: Iterator[Line]) -> Iterator[Line]:
        for self.writer.origin in lines:
            yield self.writer.origin
        self.writer.origin = None


def in_order(steps: Steps, taken: Iterable[str] = ()) -> dict[str, str]:
    """{old: new} names for the temporaries of a list: z1, z2, … in the order of evaluation."""
    computed = [dst for dst, _, _ in steps if dst[0] == "z" and dst[1:].isdigit()]
    others = {a for dst, _, args in steps for a in (dst, *registers(args))} - {*computed}
    return dict(zip(computed, temporaries(others.union(taken)), strict=False))
