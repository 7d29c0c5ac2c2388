"""Rows that do not fit into memory: read block by block, shuffled in windows of blocks,
one window ahead of the steps."""
from __future__ import annotations

import functools
import itertools
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..errors import XManError
from ..tables import Prepared
from .draws import Draws
from .mpi import workers

MEMORY = 256  # megabytes that the rows of a stream may take
ALL = 0, 10, 0  # the tenths of the rows, from and to, and the seed that draws rows into tenths
# the copies of a window that memory is for: steps take rows from one window while a thread reads and
# shuffles the next, which needs copies of its own
COPIES = 6

Some = slice | np.ndarray
# from a block's number to (its numbers of rows of X and of y, a function from places in it to their rows)
Read = Callable[[int], tuple[tuple[int, int], Callable[[Some], tuple[Any, Any]]]]


class Stream:
    """Rows with targets, in blocks that can be read again. Made by `stream`; fit, evaluate and predict take
    it as data.

    rows: how many. X, y: the first of them. sizes: the rows of each block. read: gives a block by its number.
    memory: megabytes for rows. ordered: whether windows are read in order, as those of a CSV file. window: so
    many rows are shuffled together. prepared: how a table became rows of numbers. some: the tenths of the
    rows that it has, as ALL. name: identifies these rows in checkpoints.
    """

    def __init__(self, read: Read, sizes: Iterable[int], memory: float = MEMORY, ordered: bool = False,
                 name: str = "", prepared: Prepared | None = None, some: tuple = ALL):
        self.source, self.name, self.prepared, self.ordered, self.some = read, name, prepared, ordered, some
        whole = np.fromiter(sizes, int)
        self.starts, self.whole, self.memory = np.cumsum([0, *whole[:-1]]), whole, memory
        if some != ALL:
            self.sizes = np.array([drawn_by_number(start, n, *some).sum()
                                   for start, n in zip(self.starts, whole, strict=True)])
            self.name += f" {some}"
        else:
            self.sizes = whole
        self.rows = int(self.sizes.sum())
        if not self.rows:
            raise XManError("the stream has no rows")
        self.X, self.y = (a[:ROWS].copy() for a in self.block(int(np.argmax(self.sizes > 0))))
        each = self.X[:1].nbytes + self.y[:1].nbytes
        self.window = max(1, int(memory * 1e6 / COPIES / each))
        if self.sizes.max() > self.window:
            most = int(self.sizes.max())
            raise XManError(f"a block of {most:,} rows takes {most * each / 1e6:,.3g} MB, and {COPIES} have "
                            f"to fit into {memory:g} MB: allow more, or write files with smaller row groups")

    def part(self, seed: int, begin: int, end: int) -> Stream:
        """The rows that a draw by their numbers puts into these tenths of all."""
        return Stream(self.source, self.whole, self.memory, self.ordered, self.name, self.prepared,
                      (begin, end, seed))

    def block(self, k: int, share: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """X and y of a block, or of a share of its rows. XManError where they hold something else than finite
        numbers."""
        found, rows_at = self.source(k)
        if {*found} != {int(self.whole[k])}:
            raise XManError(f"block {k + 1} of the stream has {found[0]} rows and {found[1]} targets, and "
                            f"had {self.whole[k]} before")
        some = share
        if self.some != ALL:
            begin, end, seed = self.some
            some = np.flatnonzero(drawn_by_number(self.starts[k], self.whole[k], begin, end, seed))[share]
        X, y = map(np.asarray, rows_at(some))
        for word, a in ("X", X), ("y", y):
            if (shape := getattr(self, word, a).shape[1:]) != a.shape[1:]:
                raise XManError(f"block {k + 1} of the stream: a row of {word} has shape {a.shape[1:]}, and "
                                f"{shape} before")
            if a.dtype.kind not in "biuf":
                raise XManError(f"block {k + 1} of the stream: {word} holds {a.dtype}, not numbers; labels "
                                "are their places among the classes")
            if a.dtype.kind == "f" and not np.isfinite(a).all():
                place = np.arange(self.whole[k])[some][np.argwhere(~np.isfinite(a))[0][0]]
                raise XManError(f"block {k + 1} of the stream: {word} holds NaN or infinity, in its row "
                                f"{place + 1}")
        return X, y

    def batches(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All rows in their order, in batches of at most `size`."""
        for k in np.flatnonzero(self.sizes):
            X, y = self.block(int(k))
            for start in range(0, len(y), size):
                yield X[start:start + size], y[start:start + size]


ROWS = 3  # the rows that a stream shows of itself
LANES = 48  # a window's parts, whose rows are shuffled separately; many numbers of workers divide it


def drawn_by_number(start: int, rows: int, begin: int, end: int, seed: int) -> np.ndarray:
    """A mask of the rows from `start` on that the seed draws into the tenths from begin to end. The draw of a
    row does not depend on other rows."""
    lot = Draws(seed, 0, np.arange(start, start + rows)).random((rows,))
    return (10 * lot >= begin) & (10 * lot < end)


def after_steps() -> None:
    """Let this thread have a worker's core when its steps wait: a core that changes between them in each step
    finds its caches full of the other's. Linux alone has this of threads."""
    if sys.platform == "linux":
        os.nice(10)


class Streamed:
    """The minibatches of a stream; if one window holds all rows, they equal those of `Minibatches`.

    Each of several workers reads a share of a window's rows, in a thread beside the steps. With several
    windows a row goes to the part of a minibatch that corresponds to its place in the window, so that a
    worker reads mostly rows that it takes; otherwise the workers exchange rows between two steps. data: the
    stream. size: the rows of a minibatch. mine: from the rows of a minibatch and a worker's number to its
    slice of them.
    """

    def __init__(self, data: Stream, size: int, seed: int,
                 mine: Callable[[int, int], slice] = lambda rows, rank: slice(rows)):
        self.data, self.rows, self.seed, self.workers = data, data.rows, seed, workers()
        self.size = size = min(size, data.rows)
        self.count, self.begin = -(-self.rows // size), np.cumsum([0, *data.sizes[:-1]])
        self.lanes = size * np.arange(LANES + 1) // LANES  # the edges of a minibatch's lanes
        # for the last minibatch, and for others: who takes each row, and whether this worker borrows one
        self.takers, self.borrows = [], []
        for rows in self.rows - (self.count - 1) * size, size:
            self.starts = [*(mine(rows, rank).start or 0 for rank in range(self.workers.size)), rows]
            self.takers.append(np.repeat(np.arange(self.workers.size, dtype=np.uint16), np.diff(self.starts)))
            self.borrows.append(mine(rows, self.workers.rank).stop > self.starts[self.workers.rank + 1])

    def windows(self, number: int, first: int = 0) -> Iterator[tuple[int, int, np.ndarray]]:
        """The windows of epoch `number` with rows of its minibatches from `first` on: (number, how many rows
        come before, the blocks), with the blocks in a drawn order."""
        random, sizes, at, held = np.random.default_rng([self.seed, number]), self.data.sizes, 0, 0
        in_order = self.data.ordered or self.rows <= self.data.window
        some: list[int] = []
        for k in [*(range(len(sizes)) if in_order else random.permutation(len(sizes)).tolist()), None]:
            if k is None or held + sizes[k] > self.data.window:
                if at + held > first * self.size:
                    yield number, at, np.array(some)
                at, held, some = at + held, 0, []
            if k is not None:
                some, held = [*some, k], held + sizes[k]

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(X, y, numbers) of this worker's rows for each minibatch from `first` on, as parts of arrays that
        the next minibatches overwrite."""
        room, filled = 1 + max(np.count_nonzero(who == self.workers.rank) for who in self.takers), 0
        # a borrowed row may be any row
        buffers = [np.repeat(a[:1], room, 0) for a in (self.data.X, self.data.y, np.zeros(1, int))]
        with ThreadPoolExecutor(1, initializer=after_steps if self.workers.size > 1 else None) as reader:
            parts = itertools.starmap(functools.partial(self.read, first), self.windows(number, first))
            ahead = self.workers.reading = reader.submit(next, parts, None)
            while found := ahead.result():
                rows, counts, places, ends = found
                if counts:
                    rows[:] = [self.workers.exchanged(a, *counts) for a in rows]
                ahead = self.workers.reading = reader.submit(next, parts, None)
                start = 0
                for end, whole in ends:
                    stop = filled + end - start
                    for a, buffer in zip(rows, buffers, strict=True):
                        a.take(places[start:end], 0, buffer[filled:stop], "clip")
                    filled, start, first = 0 if whole else stop, end, first + whole
                    if whole:
                        stop += self.borrows[first < self.count]
                        yield tuple(buffer[:stop] for buffer in buffers)

    def drawn_order(self, number: int, at: int, edges: np.ndarray, lanes: Iterable[int]) -> np.ndarray:
        """The places in a window of its rows, in the order in which they are taken; −1 for lanes that are not
        in `lanes`. edges: the place in the window where each lane begins."""
        held, begin = int(edges[-1]), at % self.size
        if held == self.rows:
            random = np.random.default_rng([self.seed, number])
            return np.arange(held) if self.count == 1 else random.permutation(held)
        found = np.full(held, -1)
        places = np.arange(-begin, -(-(begin + held) // self.size) * self.size - begin).reshape(-1, self.size)
        for k in lanes:
            here = places[:, self.lanes[k]:self.lanes[k + 1]].ravel()
            random = np.random.default_rng([self.seed, number, at, k])
            found[here[(0 <= here) & (here < held)]] = edges[k] + random.permutation(edges[k + 1] - edges[k])
        return found

    def read(self, first: int, number: int, at: int, blocks: np.ndarray) -> tuple:
        """(rows, counts, places, ends) of a window: this worker's share, as large as any other's. first: as
        for `epoch`. number, at, blocks: as `windows` gives them.

        rows: X, y and the numbers of rows. counts: empty if this worker takes the rows that it reads;
        otherwise rows is sorted by the workers that take them, and counts says how many it has for each
        worker, and gets from each. places: of the rows that it takes, in order, among those that it then has.
        ends: (place, whether it ends in this window) of each minibatch.
        """
        sizes, me, n, size = self.data.sizes[blocks], self.workers.rank, self.workers.size, self.size
        held, begin, last = int(sizes.sum()), at % size, (self.count - 1) * size - at
        takers = np.resize(self.takers[1], begin + held)[begin:]
        if last < held:
            takers[max(last, 0):] = self.takers[0][max(-last, 0):][:held]
        takers[:max(first * size - at, 0)] = n  # no worker takes these
        alone = n == 1 or last >= held and {*self.starts} <= {*self.lanes.tolist()}
        ends = np.searchsorted(self.lanes, self.starts[me:me + 2]) if alone else (0, LANES)
        below = lambda rows: rows // size * self.lanes + np.minimum(rows % size, self.lanes)
        edges, bounds = below(at + held) - below(at), held * np.arange(n + 1) // n
        low, high = edges[ends] if alone else bounds[me:me + 2]
        shift = self.begin[blocks] - np.cumsum([0, *sizes[:-1]])
        rows = [*self.between(blocks, low, high), np.repeat(shift, sizes)[low:high] + np.arange(low, high)]
        order, mine = self.drawn_order(number, at, edges, range(*ends)), np.flatnonzero(takers == me)
        places, counts = order[mine] - low, []
        if not alone:
            here = np.flatnonzero((low <= order) & (order < high))
            parts = [[np.flatnonzero(who == k) for k in range(n)]
                     for who in (takers[here], np.searchsorted(bounds[1:-1], order[mine], "right"))]
            counts, (to, of) = [[*map(len, part)] for part in parts], map(np.concatenate, parts)
            rows = [a.take(order[here[to]] - low, 0) for a in rows]
            places[of] = np.arange(len(mine))
        batches = np.arange(max(first, at // size), -(-(at + held) // size))
        stops = np.minimum((batches + 1) * size, self.rows) - at
        ends = zip(np.searchsorted(mine, stops).tolist(), (stops <= held).tolist(), strict=True)
        return rows, counts, places, [*ends]

    def between(self, blocks: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """X and y of the rows between these places in a window of blocks; no other rows are read."""
        X, y = (np.empty((high - low, *a.shape[1:]), a.dtype) for a in (self.data.X, self.data.y))
        stops = np.cumsum(self.data.sizes[blocks])
        for k, start, stop in zip(blocks.tolist(), [0, *stops[:-1]], stops, strict=True):
            a, b = max(low, start), min(high, stop)
            if a < b:
                X[a - low:b - low], y[a - low:b - low] = self.data.block(k, slice(a - start, b - start))
        return X, y


def of_arrays(X: Any, y: Any, memory: float, rows: int | None = None) -> Stream:
    """A stream of two arrays, such as memory maps; a block is in memory only while it is copied."""
    if len(X) != len(y):
        raise XManError(f"X has {len(X)} rows and y {len(y)}; they need the same number of rows")
    each = max(1, X[:1].nbytes + y[:1].nbytes)
    rows = rows or max(1, int(memory * 1e6 / COPIES / 16 / each))

    def read(k: int) -> tuple[tuple[int, int], Callable]:
        here = X[k * rows:(k + 1) * rows], y[k * rows:(k + 1) * rows]

        def rows_at(some: Some) -> tuple[np.ndarray, ...]:
            found = tuple(np.array(a[some]) for a in here)
            for a in (X, y):
                if isinstance(a, np.memmap) and a.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
                    # otherwise the pages would stay in memory until something else needs it
                    a._mmap.madvise(mmap.MADV_DONTNEED)
            return found

        return (len(here[0]), len(here[1])), rows_at

    sizes = [min(rows, len(y) - start) for start in range(0, len(y), rows)]
    return Stream(read, sizes, memory, name=f"arrays {X.shape} {y.shape}")


def of_batches(source: Callable[[], Iterable] | Iterable, memory: float) -> Stream:
    """A stream of batches (X, y) that can be iterated again and again; a first pass counts their rows."""
    if isinstance(source, Iterator):
        raise XManError("an iterator can be gone through once; give a function that makes a new one, or a "
                        "list")
    again = source if callable(source) else lambda: source
    try:
        sizes = [len(y) for _, y in again()]
    except (TypeError, ValueError):
        raise XManError("a stream is of arrays, stream(X, y), of batches (X, y), or of tables by their "
                        "path") from None
    batch = InTurn(again)

    def read(k: int) -> tuple[tuple[int, int], Callable]:
        X, y = map(np.asarray, batch(k))
        return (len(X), len(y)), lambda some: (X[some], y[some])

    return Stream(read, sizes, memory, ordered=True, name="batches")


class InTurn:
    """Blocks of a source that can only be read from its beginning: an earlier block starts it anew."""

    def __init__(self, again: Callable[[], Iterable]):
        self.again, self.next, self.blocks = again, 0, iter(())

    def __call__(self, k: int) -> Any:
        if k < self.next or not self.next:
            self.next, self.blocks = 0, iter(self.again())
        for block in self.blocks:
            self.next += 1
            if self.next > k:
                return block
        raise XManError(f"the stream ended after {self.next} blocks, and had {k + 1} before")
