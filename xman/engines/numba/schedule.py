"""The order of a program with loops: what loops compute waits until somebody needs it, and is then computed together."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...wengert import Line, registers
from ..program import Kind
from .groups import Group, grouped


class Item(NamedTuple):
    """What is done at one go: the loops of a group, or a line that is a `gemm` or a `call`."""
    how: str
    lines: list[Line]
    group: Group | None = None


def scheduled(lines: Sequence[Line], how: Callable[[Line], str], kinds: Mapping[str, Kind], roots: Mapping[str, str],
              over: Mapping[str, str]) -> list[Item]:
    """The items of a program. roots: the register in whose memory a view lies. over: what a result is written over."""
    readers: dict[str, list[Line]] = {}  # the lines that read what an update writes over
    updated = {x: y for y, x in over.items()}
    for line in lines:
        for a in dict.fromkeys(roots.get(a, a) for a in registers(line[2])):
            if a in updated and line[0] != updated[a]:
                readers.setdefault(updated[a], []).append(line)
    items: list[Item] = []
    pending: dict[str, Line] = {}

    def flush() -> None:
        items.extend(Item("loops", group.lines, group) for group in grouped(list(pending.values()), kinds, readers, over))
        pending.clear()

    for line in lines:
        kind = how(line)
        if kind == "view":
            continue
        reads = registers(line[2])
        if kind == "loops":
            if any(a in roots and roots[a] in pending for a in reads) or any(
                    roots.get(a, a) == over.get(line[0]) != a for a in reads):
                flush()  # a view of what is not there yet
            pending[line[0]] = line
        else:
            if any(roots.get(a, a) in pending for a in reads) or any(r[0] in pending for r in readers.get(line[0], ())):
                flush()
            items.append(Item(kind, [line]))
    flush()
    return items
