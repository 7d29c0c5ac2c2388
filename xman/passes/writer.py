"""Writers of lists: a rule that is given Symbols in place of arrays writes lines in place of numbers."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ops.kinks import MARKS
from ops.writer import Symbol, Writer

from ..register import as_arg
from ..wengert import Line, Steps, WengertList, registers, temporaries

Origins = list[tuple[Line, Line | None]]  # lines, each paired with a line of another list


class ListWriter(Writer):
    """Writes lines for a WengertList."""

    def argument(self, a: Any, op: str) -> Any:
        return a if isinstance(a, Symbol) and a.writer is self else as_arg(a, op)

    def symbols(self, steps: WengertList) -> dict[str, Symbol]:
        """A symbol for each register of steps, which knows the line that defines it there."""
        symbols = {x: self.symbol(x) for x in steps.inputs}
        for dst, op, args in steps:
            args = tuple([symbols[a] if isinstance(a, str) else a for a in args])
            symbols[dst] = self.symbol(dst, op, args)
        return symbols

    def origins(self, names: Collection[str]) -> Origins:
        """The lines, as `named` gives them, each with the line for which it was written."""
        return [*zip(self.named(names), [line.origin for line in self.lines], strict=True)]


class Followed(WengertList):
    """A list that tells a writer which of its lines an interpreter is at."""

    def __init__(self, steps: WengertList, writer: ListWriter):
        list.__init__(self, steps)  # not checked again: steps is valid
        self.writer, self.checked_for, self._inputs = writer, steps.checked_for, steps.inputs
        self.lines: dict[str, Line] = {}  # by register, where these are others than those of the list

    def along(self, lines: Iterable[Line]) -> Followed:
        """Other lines for the same list; the name of each one's register begins with that of its line."""
        follower = Followed(self, self.writer)
        follower[:], follower.lines = lines, {line[0]: line for line in list.__iter__(self)}
        return follower

    def __iter__(self) -> Iterator[Line]: return self._told(super().__iter__())
    def __reversed__(self) -> Iterator[Line]: return self._told(super().__reversed__())

    def _told(self, lines: Iterator[Line]) -> Iterator[Line]:
        for line in lines:
            self.writer.origin = self.lines.get(line[0].rstrip(MARKS)) if self.lines else line
            yield line
        self.writer.origin = None


def is_temporary(name: str) -> bool: return name[0] == "z" and name[1:].isdigit()


def in_order(steps: Steps, names: Iterable[str] = ()) -> dict[str, str]:
    """{old: new} names for the temporaries of a list: z1, z2, … in the order of evaluation, none in names."""
    computed = [dst for dst, _, _ in steps if is_temporary(dst)]
    named = {a for dst, _, args in steps for a in (dst, *registers(args))} - {*computed}
    return dict(zip(computed, temporaries(named.union(names)), strict=False))
