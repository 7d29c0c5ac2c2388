"""Memory: from the lives of buffers to their places in one stretch of bytes."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

ALIGNED = 64  # bytes: a cache line, and the widest register of a processor


class Stored(Protocol):
    """What is stored as an array, such as a Kind or a Root."""
    shape: tuple[int, ...]
    dtype: np.dtype
    bytes: int


class Event(NamedTuple):
    """A moment of a program: the buffers that are read, and those that are written, with their bytes.

    over: for a buffer that is written, the buffers whose place it may take if no later event reads them.
    """
    reads: Collection[str]
    writes: Mapping[str, int]
    over: Mapping[str, Sequence[str]] = {}


def placed(events: Sequence[Event]) -> tuple[dict[str, int], int]:
    """The place in bytes of every buffer that is written, and the bytes of all together.

    A buffer lives from the event that writes it to the last that reads it. Two that live at the same time
    never overlap, unless the event allows one to take the other's place.
    """
    last: dict[str, int] = {}
    for k, event in enumerate(events):
        last.update(dict.fromkeys((*event.writes, *event.reads), k))
    memory, places, sizes = Memory(), {}, {}
    for k, event in enumerate(events):
        ending = {name for name in event.reads if last[name] == k and name in places}
        for name, size in event.writes.items():
            sizes[name] = rounded(size)
            heirs = [old for old in event.over.get(name, ()) if old in ending and sizes[old] == sizes[name]]
            places[name] = places[heirs[0]] if heirs else memory.allocate(sizes[name])
            ending.difference_update(heirs[:1])
        for name in (*ending, *(name for name in event.writes if last[name] == k)):
            memory.release(places[name], sizes[name])
    return places, memory.end


def rounded(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


class Memory:
    """An endless stretch of bytes. free: the ends of the parts that are not taken, by their starts; starts:
    the starts by the ends."""

    def __init__(self) -> None:
        self.end, self.free, self.starts = 0, {0: 2 ** 62}, {2 ** 62: 0}

    def allocate(self, size: int) -> int:
        start = min((stop - start, start) for start, stop in self.free.items() if stop - start >= size)[1]
        del self.starts[stop := self.free.pop(start)]
        self.release(start + size, stop - start - size)
        self.end = max(self.end, start + size)
        return start

    def release(self, start: int, size: int) -> None:
        if size:
            stop = self.free.pop(start + size, start + size)
            start = self.starts.pop(start, start)
            self.free[start], self.starts[stop] = stop, start


def arena(size: int) -> np.ndarray:
    """An aligned array of zeros, with this number of bytes."""
    space = np.zeros(size + ALIGNED, np.uint8)
    start = -space.ctypes.data % ALIGNED
    return space[start:start + size]


def overwrite(*pairs: tuple[np.ndarray, Any]) -> None:
    """Write the second of each pair to the first; all values are those from before the first write."""
    for x, new in [(x, np.array(y)) for x, y in pairs]:
        x[...] = new


def array_at(memory: np.ndarray, start: int, like: Stored) -> np.ndarray:
    """The array at `start` in memory, of the bytes, dtype and shape of `like`."""
    return memory[start:start + like.bytes].view(like.dtype).reshape(like.shape)
