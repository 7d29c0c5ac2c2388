"""Groups of lines that one nest of loops computes: over which rows and columns, and in which turn.

A group goes over rows, and in each row through the columns, in as many turns as it takes: what needs a number of its own
row, as softmax needs its maximum and its sum, is computed in the next turn.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ...wengert import Line, registers
from ..program import Kind

# what a line of a group computes: a number in each place; from places, a number for each row (ALONG), for each column (DOWN)
# or one (ALL); from numbers of rows another number for each row (ROW), or one (ROWS)
PLACE, ALONG, DOWN, ALL, ROW, ROWS = "place", "along", "down", "all", "row", "rows"
REDUCTIONS = ("sum", "max", "min")
LONGEST = 64  # lines of a group: more would not stay in a processor's registers, and take long to compile


@dataclass
class Group:
    """Lines over `shape`, whose last axis is the columns. turns: that through the columns in which each is computed."""
    shape: tuple[int, ...]
    lines: list[Line] = field(default_factory=list)
    levels: dict[str, str] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)

    columns = property(lambda self: self.shape[-1])
    rows = property(lambda self: prod(self.shape[:-1]))


def space(line: Line, kinds: Mapping[str, Kind]) -> tuple[int, ...]:
    """The shape that a line goes over: that of its result, or of what it reduces; a single column as a row."""
    dst, op, args = line
    shape = kinds[args[0] if op in REDUCTIONS else dst].shape
    return (prod(shape),) if not shape or shape[-1] == 1 else shape


def role(shape: tuple[int, ...], over: tuple[int, ...]) -> str | None:
    """How an array spreads over a space: it has a number for each PLACE, ROW or column (DOWN), or one for ALL."""
    size = prod(shape)
    if size == 1:
        return ALL
    if size == prod(over):
        return PLACE
    shape = (1,) * (len(over) - len(shape)) + tuple(shape)
    if shape == (*over[:-1], 1):
        return ROW
    return DOWN if len(shape) == len(over) and size == shape[-1] == over[-1] else None


def level(line: Line, kinds: Mapping[str, Kind]) -> str | None:
    """What a line computes in a group over its own space; None where it is no matter for loops such as these."""
    dst, op, args = line
    if 0 in space(line, kinds):
        return None
    if op not in REDUCTIONS:
        return PLACE if all(role(kinds[a].shape, space(line, kinds)) for a in registers(args)) else None
    shape, axis = kinds[args[0]].shape, args[1] if len(args) > 1 else None
    n = len(shape)
    axes = set(range(n)) if axis is None or not n else {a % n for a in (axis if isinstance(axis, tuple) else (axis,))}
    long = {a for a in range(n) if shape[a] != 1}
    if not long & axes and op != "sum":
        return None
    if long <= axes:
        return ALL
    if long & axes == {n - 1}:
        return ALONG
    return DOWN if op == "sum" and long - axes == {n - 1} else None


def level_in(line: Line, group: Group, kinds: Mapping[str, Kind]) -> str | None:
    """What a line computes in a group, where it fits in and what it reads of it is there in time."""
    own, over = level(line, kinds), space(line, kinds)
    if over != group.shape:
        numbers_of_rows = prod(over) == group.rows > 1 and group.columns > 1 and {
            role(kinds[a].shape, over) for a in registers(line[2])} <= {PLACE, ALL}
        own = {PLACE: ROW, ALL: ROWS}.get(own) if numbers_of_rows else None
    for a in line[2] if own else ():
        if isinstance(a, str) and a in group.levels:
            spread = role(kinds[a].shape, group.shape)
            by_place = group.levels[a] == PLACE and own not in (ROW, ROWS) and spread == PLACE
            by_row = group.levels[a] in (ALONG, ROW) and (own in (ROW, ROWS) or own == PLACE and spread == ROW)
            if not by_place and not by_row:
                return None
    return own


def turn(line: Line, own: str, group: Group) -> int:
    """The turn in which a line is computed; numbers of rows after it, -1 being before the first."""
    found = -1 if own in (ROW, ROWS) else 0
    for a in line[2]:
        if isinstance(a, str) and a in group.turns:
            next_one = group.levels[a] in (ALONG, ROW) and own not in (ROW, ROWS)
            found = max(found, group.turns[a] + next_one)
    return found


def grouped(pending: Sequence[Line], kinds: Mapping[str, Kind], readers: Mapping[str, Collection[Line]],
            over: Mapping[str, str]) -> list[Group]:
    """The lines, in their order, in as few groups as it takes.

    over: the array that a line's result is written over. readers: the lines that read that array before.
    """
    groups: list[Group] = []
    home: dict[str, int] = {}
    for line in pending:
        dst, _, args = line
        first = max((home[a] for a in registers(args) if a in home), default=0)
        before = [r[0] for r in readers.get(dst, ()) if r[0] in home and r[0] != dst]
        for r in before:
            entrywise = groups[home[r]].levels[r] == PLACE and role(kinds[over[dst]].shape, groups[home[r]].shape) == PLACE
            first = max(first, home[r] + (not entrywise))
        k, own = next(((k, found) for k in range(first, len(groups)) if (found := level_in(line, groups[k], kinds))
                       and (dst not in over or found == PLACE) and len(groups[k].lines) < LONGEST),
                      (len(groups), level(line, kinds)))
        if k == len(groups):
            groups.append(Group(space(line, kinds)))
        group = groups[k]
        group.lines.append(line)
        group.levels[dst] = own
        group.turns[dst] = max([turn(line, own, group), *(group.turns[r] for r in before if r in group.turns)])
        home[dst] = k
    return groups
