"""Memory: from the lives of buffers to their places in one stretch of bytes."""
from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

ALIGNED = 64  # bytes: a cache line, and the widest register of a processor


class Event(NamedTuple):
    """A moment of a program: the buffers that are read, and those that are written, with their bytes.

    over: for a buffer that is written, those read whose place it may take, when nobody reads them any more.
    """
    reads: Collection[str]
    writes: Mapping[str, int]
    over: Mapping[str, Sequence[str]] = {}


def placed(events: Sequence[Event]) -> tuple[dict[str, int], int]:
    """The place in bytes of every buffer that is written, and the bytes of all together.

    A buffer lives from the event that writes it to the last that reads it; two that live at once never
    overlap, but that one takes another's place where its event allows it.
    """
    last: dict[str, int] = {}
    for k, event in enumerate(events):
        last.update(dict.fromkeys((*event.writes, *event.reads), k))
    memory, places, sizes = Memory(), {}, {}
    for k, event in enumerate(events):
        ending = {name for name in event.reads if last[name] == k and name in places}
        for name, size in event.writes.items():
            heir = next((old for old in event.over.get(name, ()) if old in ending
                         and sizes[old] == rounded(size)), None)
            sizes[name] = rounded(size)
            places[name] = memory.take(sizes[name]) if heir is None else places[heir]
            ending.discard(heir)
        for name in (*ending, *(name for name in event.writes if last[name] == k)):
            memory.give(places[name], sizes[name])
    return places, memory.end


def rounded(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


class Memory:
    """A stretch of bytes: the best fit among what was given back, else more at its end."""

    def __init__(self) -> None:
        self.end = 0
        self.free: list[tuple[int, int]] = []  # (size, start), sorted
        self.starts: dict[int, int] = {}       # start: size, of the same
        self.ends: dict[int, int] = {}         # end: start

    def take(self, size: int) -> int:
        k = bisect_left(self.free, (size, 0))
        if k == len(self.free):
            if size and self.end in self.ends:  # what is free at the end grows
                start = self.ends[self.end]
                self.remove(start)
                self.end = start + size
                return start
            self.end += size
            return self.end - size
        found, start = self.free[k]
        self.remove(start)
        if found > size:
            self.insert(start + size, found - size)
        return start

    def give(self, start: int, size: int) -> None:
        if not size:
            return
        if start in self.ends:
            before = self.ends[start]
            size += self.starts[before]
            self.remove(before)
            start = before
        if start + size in self.starts:
            after = start + size
            size += self.starts[after]
            self.remove(after)
        self.insert(start, size)

    def insert(self, start: int, size: int) -> None:
        insort(self.free, (size, start))
        self.starts[start] = size
        self.ends[start + size] = start

    def remove(self, start: int) -> None:
        size = self.starts.pop(start)
        del self.ends[start + size], self.free[bisect_left(self.free, (size, start))]


def arena(size: int) -> np.ndarray:
    """So many bytes, aligned; zeros."""
    space = np.zeros(size + ALIGNED, np.uint8)
    start = -space.ctypes.data % ALIGNED
    return space[start:start + size]
