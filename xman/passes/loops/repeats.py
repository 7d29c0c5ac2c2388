"""For `roll`: where the lines of a list repeat."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...wengert import Line
from ..sized import key_of

Region = tuple[int, int, int]  # its first line, the line after its last, the lines of a turn
FEWEST = 4       # turns of a loop
LONGEST = 4_000  # lines of a turn
ATTEMPTS = 30    # places where a list may repeat that are looked at, the longest first

# a Python number among their arguments is first converted to the result's precision, so that a table of that
# precision has the same bits; the exponent of `power`, say, is not
CONVERTING = {"add", "subtract", "mul", "divide", "maximum", "minimum"}


def regions_that_repeat(lines: Sequence[Line]) -> list[Region]:
    """(the first line, the line after the last, the lines of a turn) where lines repeat."""
    numbers: dict[tuple, int] = {}
    tokens = np.array([numbers.setdefault(token(line), len(numbers)) for line in lines], np.int32)
    spans = []
    for period in range(1, min(LONGEST, len(lines) // FEWEST) + 1):
        # what repeats for FEWEST turns does so in four lines of each turn as well, which are few
        stride = max(1, period // 4)
        sampled = tokens[period::stride] == tokens[:-period:stride]
        length = (FEWEST - 1) * period // stride
        if np.any(np.lib.stride_tricks.sliding_window_view(sampled, length).all(1)):  # for speed alone
            same = tokens[period:] == tokens[:-period]
            ends = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0])))).reshape(-1, 2)
            long = ends[ends[:, 1] - ends[:, 0] >= (FEWEST - 1) * period]
            spans += [(start, end + period, period) for start, end in long.tolist()]
    return spans


def lines_in(regions: Iterable[Region]) -> int:
    """How many lines lie in the regions."""
    total = last = 0
    for start, end, _ in sorted(regions):
        total += max(0, end - max(start, last))
        last = max(last, end)
    return total


def places(lines: Sequence[Line], regions: Iterable[Region]) -> Iterator[tuple[int, int, int]]:
    """(the first line, the lines of a turn, the turns) where a loop may be, the most lines first."""
    most_first = lambda region: (region[2] - (region[1] - region[0]) // region[2] * region[2], region[2])
    for start, end, period in sorted(regions, key=most_first)[:ATTEMPTS]:
        for first in beginnings(lines, start, end, period):
            count = (end - first) // period
            for peeled in range(min(4, count - FEWEST + 1)):  # the first turns may be unlike the others
                yield first + peeled * period, period, count - peeled


def token(line: Line) -> tuple:
    """What has to be the same in all turns: the operator, and the literals that are part of it."""
    _, op, args = line
    if op == "getitem":
        return (op, *map(key_token, args))
    return (op, *["value" if may_vary(a, op) else key_of(a) for a in args])


def may_vary(a: Any, op: str) -> bool:
    """Whether an argument may be another one in each turn: a register, or a literal that can stand in one."""
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype.kind == "f"
    return isinstance(a, str) or type(a) in (int, float) and op in CONVERTING


def key_token(k: Any) -> Any:
    if type(k) is slice and type(k.start) is type(k.stop) is int:
        return "slice", k.stop - k.start, k.step
    return "value" if isinstance(k, str) else "place" if type(k) is int else key_of(k)


def beginnings(lines: Sequence[Line], start: int, end: int, period: int) -> list[int]:
    """The lines, at most three, with which a turn may begin: those across which the fewest carries go.

    The lines of a turn repeat wherever one begins to count, and a loop of Python's begins where little is
    handed on. A register set in line 5 and last read 4 lines later is a carry of turns that begin with
    line 6, 7, 8 or 9.
    """
    line_of = {lines[i][0]: i for i in range(start, end)}
    last_read: dict[int, int] = {}
    spans: dict[int, int] = {}
    for i in range(start, end):
        for a in lines[i][2]:
            if isinstance(a, str) and (source := line_of.get(a)) is not None:
                last_read[source] = i
    crossed = np.zeros(2 * period + 1, int)  # by the first line of a turn, in two turns; as differences
    for source, reader in last_read.items():
        place = (source - start) % period
        spans[place] = max(spans.get(place, 0), min(reader - source, period))
    for place, span in spans.items():
        crossed[place + 1] += 1
        crossed[place + span + 1] -= 1
    carries = np.cumsum(crossed)[:-1].reshape(2, period).sum(0)
    counts = [(end - start - first) // period for first in range(period)]
    starts = [first for first in range(period) if counts[first] >= FEWEST]
    starts.sort(key=lambda first: (carries[first], -counts[first], first))
    return [start + first for first in starts[:3]]
