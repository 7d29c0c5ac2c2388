"""Rows that do not fit into memory: read block by block, shuffled in windows of blocks,
one window ahead of the steps."""
from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ..errors import XManError
from ..tables import Prepared
from .draws import Draws
from .mpi import workers

MEMORY = 256  # megabytes of rows that a stream may hold
ALL = 0, 10, 0  # tenths of the rows, and the seed of who is in them
# windows' worth that is held at once: one is taken from while another is read and shuffled,
# with what that takes
COPIES = 6

Some = slice | np.ndarray
# from the number of a block to how many rows of X and of y it has, and what gives those of some places in it
Read = Callable[[int], tuple[tuple[int, int], Callable[[Some], tuple[Any, Any]]]]


class Stream:
    """Rows with targets, in blocks that can be read again. Made by `stream`;
    given to fit, evaluate and predict as data.

    rows: how many. X, y: the first of them. sizes: rows of each block. read: a block by its number, (X, y).
    ordered: whether windows follow one another, as those of a CSV file. window: rows that are
    shuffled together. prepared: what made rows of numbers of a table.
    name: what tells these rows from others, for checkpoints.
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
        """All rows in their order, in batches of at most so many."""
        for k in np.flatnonzero(self.sizes):
            X, y = self.block(int(k))
            for start in range(0, len(y), size):
                yield X[start:start + size], y[start:start + size]


ROWS = 3  # that a stream shows of itself


def drawn_by_number(start: int, rows: int, begin: int, end: int, seed: int) -> np.ndarray:
    """Which rows of these numbers a draw puts into the tenths from begin to end;
    a row's does not depend on the others'."""
    lot = Draws(seed, 0, np.arange(start, start + rows)).random((rows,))
    return (10 * lot >= begin) & (10 * lot < end)


class Window(NamedTuple):
    """Blocks that are shuffled together: their numbers, those of their rows,
    and the order in which these are taken."""
    blocks: np.ndarray
    rows: np.ndarray
    order: np.ndarray


class Portion(NamedTuple):
    """What a worker has read of a window: X and y of its share, those for the first worker first.

    counts: of rows, for each worker. places: where the rows that it is given in return belong among its own,
    whose numbers are `numbers`, and how many come of each worker (given). ends: of each minibatch among them,
    and whether it ends here.
    """
    X: np.ndarray
    y: np.ndarray
    counts: list[int]
    given: list[int]
    places: np.ndarray
    numbers: np.ndarray
    ends: list[tuple[int, bool]]


class Streamed:
    """The minibatches of a stream, as `Minibatches` has them: where all rows are one window, the very same.

    Of several workers each reads a share of a window's rows, beside the steps, and between two of them all
    give one another the rows that they take.
    mine: from the rows of a minibatch and the number of a worker to those of them that it takes.
    """

    def __init__(self, data: Stream, size: int, seed: int,
                 mine: Callable[[int, int], slice] = lambda rows, rank: slice(rows)):
        self.data, self.rows, self.size, self.seed, self.mine = data, data.rows, size, seed, mine
        self.count, self.workers = -(-self.rows // size), workers()
        self.begin = np.cumsum([0, *data.sizes[:-1]])

    def windows(self, number: int) -> Iterator[Window]:
        """Those of an epoch: blocks in an order that is drawn, as many as a window holds,
        and their rows in another."""
        random, sizes, first, held = np.random.default_rng([self.seed, number]), self.data.sizes, 0, 0
        in_order = self.data.ordered or self.rows <= self.data.window
        blocks = np.arange(len(sizes)) if in_order else random.permutation(len(sizes))
        for k in range(len(blocks) + 1):
            if k == len(blocks) or held + sizes[blocks[k]] > self.data.window:
                some = blocks[first:k]
                rows = np.concatenate([np.arange(self.begin[b], self.begin[b] + sizes[b]) for b in some])
                yield Window(some, rows, np.arange(len(rows)) if self.count == 1
                             else random.permutation(len(rows)))
                first, held = k, 0
            held += sizes[blocks[k]] if k < len(blocks) else 0

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """X, y and the numbers of this worker's rows, for each minibatch from `first` on."""
        held: Any = None
        with ThreadPoolExecutor(1) as reader:
            windows = self.wanted(number, first)
            ahead = reader.submit(self.read, *next(windows), first)
            while ahead:
                found = ahead.result()
                X, y = (self.exchanged(a, found) for a in (found.X, found.y))
                after = next(windows, None)
                ahead = reader.submit(self.read, *after, first) if after else None
                start, numbers, ends = 0, found.numbers, found.ends
                del found
                for end, whole in ends:
                    some = X[start:end], y[start:end], numbers[start:end]
                    some = tuple(map(np.concatenate, zip(held, some, strict=True))) if held else some
                    held = None if whole else some
                    if whole:
                        yield some
                    start = end

    def exchanged(self, rows: np.ndarray, found: Portion) -> np.ndarray:
        """This worker's rows of a window, in their order."""
        if self.workers.size == 1:
            return rows
        got = self.workers.exchanged(rows, found.counts, found.given)
        mine = np.empty_like(got)
        mine[found.places] = got
        return mine

    def wanted(self, number: int, first: int) -> Iterator[tuple[int, Window]]:
        """The windows of an epoch with rows of its minibatches from `first` on,
        each with how many rows come before it."""
        at = 0
        for window in self.windows(number):
            if at + len(window.rows) > first * self.size:
                yield at, window
            at += len(window.rows)

    def taken(self, at: int, window: Window, first: int,
              rank: int) -> tuple[np.ndarray, list[tuple[int, bool]]]:
        """The places in a window of the rows that a worker takes, in their order, with the end of each
        minibatch, and whether it ends here.

        at: rows of the epoch before the window. first: the minibatch from which on they are wanted.
        """
        size, n = self.size, len(window.rows)
        begins, takes = (self.count - 1) * size, np.zeros(n, bool)  # the last minibatch
        for rows, here in ((size, slice(first * size - at, begins - at)),
                           (self.rows - begins, slice(max(begins, first * size) - at, n))):
            here, mine = slice(max(here.start, 0), max(here.stop, 0)), self.mine(rows, rank)
            place = np.arange(at, at + n)[here] % size
            takes[here] = (place >= (mine.start or 0)) & (place < mine.stop)
        places = np.flatnonzero(takes)
        some = np.arange(max(first, at // size), -(-(at + n) // size))
        ends = np.cumsum(np.bincount((at + places) // size - some[0], minlength=len(some)))
        done = np.minimum((some + 1) * size, self.rows) <= at + n
        return window.order[places], [*zip(ends.tolist(), done.tolist(), strict=True)]

    def read(self, at: int, window: Window, first: int) -> Portion:
        """This worker's share of a window, of which each reads as many rows. Arguments as of `taken`."""
        me, n = self.workers.rank, self.workers.size
        bounds, wanted = len(window.rows) * np.arange(1, n) // n, []
        for rank in range(n):
            order, ends = self.taken(at, window, first, rank)
            reader = np.searchsorted(bounds, order, "right")
            wanted.append(order[reader == me])
            if rank == me:
                mine = (np.bincount(reader, minlength=n).tolist(), np.argsort(reader, kind="stable"),
                        window.rows[order], ends)
        return Portion(*self.gathered(window, np.concatenate(wanted)), [*map(len, wanted)], *mine)

    def gathered(self, window: Window, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X and y of the rows at these places in a window, of whose blocks no more is read than is between
        them."""
        X, y = (np.empty((len(order), *a.shape[1:]), a.dtype) for a in (self.data.X, self.data.y))
        by_row, stops = np.argsort(order), np.cumsum(self.data.sizes[window.blocks])
        for k, start, here in zip(window.blocks, [0, *stops[:-1]],
                                  np.split(by_row, np.searchsorted(order, stops[:-1], sorter=by_row)),
                                  strict=True):
            if len(here):
                low, high = order[here[0]], order[here[-1]] + 1
                A, b = self.data.block(int(k), slice(low - start, high - start))
                X[here], y[here] = A[order[here] - low], b[order[here] - low]
        return X, y


def of_arrays(X: Any, y: Any, memory: float, rows: int | None = None) -> Stream:
    """A stream of two arrays, such as memory maps, of which a block is in memory while it is copied."""
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
                    # else the pages that were read stay until others need the memory
                    a._mmap.madvise(mmap.MADV_DONTNEED)
            return found

        return (len(here[0]), len(here[1])), rows_at

    sizes = [min(rows, len(y) - start) for start in range(0, len(y), rows)]
    return Stream(read, sizes, memory, name=f"arrays {X.shape} {y.shape}")


def of_batches(source: Callable[[], Iterable] | Iterable, memory: float) -> Stream:
    """A stream of batches (X, y), which can be gone through again and again; they are counted first."""
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
    """Blocks of what can only be read from its beginning: the next one is at hand,
    an earlier one begins anew."""

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
