"""Rows that do not fit into memory: read block by block, shuffled in windows of blocks,
one window ahead of the steps."""
from __future__ import annotations

import copy
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import XManError
from ..files.digests import digests_of
from ..tables import Prepared
from .draws import drawn_by_number
from .mpi import workers
from .shares import Minibatches

MEMORY = 256  # megabytes that the rows of a stream may take
ALL = 0, 10, 0  # the tenths of the rows, from and to, and the seed that draws rows into tenths
# the copies of a window that memory is for: steps take rows from one window while a thread reads and
# shuffles the next, which needs copies of its own
COPIES = 6

Selection, Cut = slice | np.ndarray, Callable[..., slice]
# from a block's number to (its numbers of rows of X and of y, a function from places in it to their rows)
Read = Callable[[int], tuple[tuple[int, int], Callable[[Selection], tuple[Any, Any]]]]


@dataclass(eq=False, repr=False)
class Stream:
    """Rows with targets, in blocks that can be read again. Made by `stream`; fit, evaluate and predict take
    it as data.

    source: gives a block by its number. counts: the rows of each. memory: megabytes for rows. ordered:
    whether windows are read in order, as those of a CSV file. name: identifies these rows in checkpoints.
    prepared: how a table became rows of numbers. away: whether blocks take long to come. where: the place of
    each block in words, of whose rows errors tell the number; without it they count all rows. arrays: X
    and y where they lie in memory. stamps: gives for each file what changes when it is written again.
    rows: how many it has. X, y: the first of them. draw: the tenths of the rows that it has, as ALL. sizes:
    the rows of each block that are among these. window: the number of rows that are shuffled together.
    """

    source: Read
    counts: Iterable[int]
    memory: float = MEMORY
    ordered: bool = False
    name: str = ""
    prepared: Prepared | None = None
    away: bool = False
    where: Sequence[str] = ()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    stamps: Callable[[], dict[str, Any]] = dict

    def __post_init__(self) -> None:
        self.first_stamps = self.stamps()
        self.counts = np.fromiter(self.counts, int)
        self.starts = np.cumsum([0, *self.counts[:-1]])
        self.take(ALL)

    def take(self, draw: tuple) -> None:
        """Have the rows of these tenths alone."""
        self.draw, self.sizes = draw, self.counts
        if draw != ALL:
            blocks = zip(self.starts, self.counts, strict=True)
            self.sizes = np.array([drawn_by_number(start, n, *draw).sum() for start, n in blocks])
            self.name += f" {draw}"
        self.rows = int(self.sizes.sum())
        if not self.rows:
            raise XManError("the stream has no rows")
        self.X, self.y = (a[:ROWS].copy() for a in self.block(int(np.argmax(self.sizes > 0))))
        each = self.X[:1].nbytes + self.y[:1].nbytes
        self.window = max(1, int(self.memory * 1e6 / COPIES / each))
        if self.sizes.max() > self.window:
            largest = int(self.sizes.max())
            size = f"{largest * each / 1e6:,.3g} MB, and {COPIES} have to fit into {self.memory:g} MB"
            raise XManError(f"a block of {largest:,} rows takes {size}: allow more, or write smaller groups")

    def drawn(self, seed: int, begin: int, end: int) -> Stream:
        """The rows that a draw by their numbers puts into these tenths of all."""
        stream = copy.copy(self)
        stream.take((begin, end, seed))
        return stream

    def digests(self, turn: int, k: int) -> dict[str, Any]:
        """As `digests_of`, of what the k-th stream has in memory; an XManError for a file written again."""
        stamps = self.stamps()
        if changed := [path for path, stamp in self.first_stamps.items() if stamps.get(path) != stamp]:
            return {"file": XManError(f"{changed[0]} was written again during the run: begin anew with it")}
        return {f"{x} of stream {k}": digest for x, digest in digests_of(self.arrays, turn).items()}

    def block(self, k: int, share: slice = slice(None),
              fetched: Future | None = None) -> tuple[np.ndarray, np.ndarray]:
        """X and y of a block, or of a share of its rows. XManError where they hold something else than finite
        numbers."""
        lengths, rows_at = fetched.result() if fetched else self.source(k)
        where = self.where[k] if self.where else f"block {k + 1} of the stream"
        if {*lengths} != {int(self.counts[k])}:
            rows = "{} rows and {} targets".format(*lengths)
            raise XManError(f"{where} has {rows}, and had {self.counts[k]} before")
        places = share
        if self.draw != ALL:
            begin, end, seed = self.draw
            places = np.flatnonzero(drawn_by_number(self.starts[k], self.counts[k], begin, end, seed))[share]
        X, y = map(np.asarray, rows_at(places))
        for word, a in ("X", X), ("y", y):
            like, wrong = getattr(self, word, a), ""
            if a.shape[1:] != like.shape[1:]:
                wrong = f"a row of {word} has shape {a.shape[1:]}, and {like.shape[1:]} before"
            elif a.dtype.kind not in "biuf":
                wrong = f"{word} holds {a.dtype}, not numbers; labels are their places among the classes"
            elif not np.can_cast(a.dtype, like.dtype, "same_kind" if like.dtype.kind == "f" else "safe"):
                wrong = f"{word} holds {a.dtype}, and {like.dtype} before"
            elif a.dtype.kind == "f" and not np.isfinite(a).all():
                place = np.arange(self.counts[k])[places][np.argwhere(~np.isfinite(a))[0][0]] + 1
                row = f"its row {place}" if self.where else f"row {self.starts[k] + place} of all"
                wrong = f"{word} holds NaN or infinity, in {row}"
            if wrong:
                raise XManError(f"{where}: {wrong}")
        return X, y

    def batches(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All rows in their order, in batches of at most `size`."""
        for k in np.flatnonzero(self.sizes):
            X, y = self.block(int(k))
            for start in range(0, len(y), size):
                yield X[start:start + size], y[start:start + size]


ROWS = 3  # the rows that a stream shows of itself
LANES = 48  # a window's parts, whose rows are shuffled separately; many numbers of workers divide it


def last_of(steps: Iterator, latest: Any = None) -> Any:
    """What the last of the steps gives; `latest` where none is left."""
    *_, latest = latest, *steps
    return latest


class Streamed:
    """The minibatches of a stream; if one window holds all rows, they equal those of `Minibatches`.

    A window is read by a thread beside the steps on the one before. Where several workers have hardly a core
    each, all of them read it at once between two steps: a block after each step, they would wait for the one
    that has the largest block, again and again. Blocks that take long to come are fetched by a thread, and
    become rows between steps. With several windows a row goes to the part of
    a minibatch that corresponds to its place in the window, so that a worker reads the rows that it takes;
    one window is read by all workers, once. data: the stream. size: the rows of a minibatch. slice_of: from
    the rows of a minibatch to this worker's slice of them, with a row that it borrows, or without.
    """

    def __init__(self, data: Stream, size: int, seed: int,
                 slice_of: Cut = lambda rows, _: slice(0, rows)):
        self.data, self.rows, self.seed, self.workers = data, data.rows, seed, workers()
        self.size = size = min(size, data.rows)
        self.count, self.begin = -(-self.rows // size), np.cumsum([0, *data.sizes[:-1]])
        # for a minibatch, and for the last one: the edges of the lanes, the bounds of this worker's rows, and
        # whether it borrows a row
        self.lanes, self.bounds, self.borrows, lows, highs = [], [], [], [], []
        for rows in size, self.rows - (self.count - 1) * size:
            share = slice_of(rows, False)
            self.lanes.append(edges := rows * np.arange(LANES + 1) // LANES)
            self.bounds.append((share.start, share.stop))
            self.borrows.append(slice_of(rows, True).stop > share.stop)
            if share.start < share.stop:
                lows.append(np.searchsorted(edges, share.start, "right") - 1)
                highs.append(np.searchsorted(edges, share.stop))
        self.ends = min(lows, default=0), max(highs, default=0)
        self.in_turns = self.workers.size > 1 and self.workers.crowded()
        self.only_window: list[np.ndarray] = []  # the rows of the only window

    def windows(self, number: int, first: int = 0) -> Iterator[tuple[int, int, np.ndarray]]:
        """The windows of epoch `number` with rows of its minibatches from `first` on: (number, the number
        of rows before it, its blocks), with the blocks in a drawn order."""
        random, sizes, start, length = np.random.default_rng([self.seed, number]), self.data.sizes, 0, 0
        in_order = self.data.ordered or self.rows <= self.data.window
        blocks: list[int] = []
        for k in [*(range(len(sizes)) if in_order else random.permutation(len(sizes)).tolist()), None]:
            if k is None or length + sizes[k] > self.data.window:
                if start + length > first * self.size:
                    yield number, start, np.array(blocks)
                start, length, blocks = start + length, 0, []
            if k is not None:
                blocks, length = [*blocks, k], length + sizes[k]

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(X, y, numbers) of this worker's rows for each minibatch from `first` on, as parts of arrays that
        the next minibatches overwrite."""
        capacity, filled = 1 + max(stop - start for start, stop in self.bounds), 0
        # a borrowed row may be any row
        buffers = [np.repeat(a[:1], capacity, 0) for a in (self.data.X, self.data.y, np.zeros(1, int))]
        with ThreadPoolExecutor(1) as pool:
            todo = (self.read(pool, first, *window) for window in self.windows(number, first))
            ahead, latest, beside = next(todo, None), None, None
            while ahead:
                rows, places, ends = beside.result() if beside else last_of(ahead, latest)
                ahead, latest, start = next(todo, None), None, 0
                beside = pool.submit(last_of, ahead) if ahead and not self.in_turns else None
                for end, complete in ends:
                    stop = filled + end - start
                    for a, buffer in zip(rows, buffers, strict=True):
                        a.take(places[start:end], 0, buffer[filled:stop], "clip")
                    filled, start, first = 0 if complete else stop, end, first + complete
                    if complete:
                        stop += self.borrows[first == self.count]
                        yield tuple(buffer[:stop] for buffer in buffers)
                        if ahead and self.in_turns and self.data.away:
                            latest = next(ahead, latest)

    def drawn_order(self, number: int, start: int, edges: np.ndarray) -> np.ndarray:
        """The places in a window of its rows, in the order in which they are taken; −1 for lanes of which
        this worker takes no row. edges: the place in the window where each lane begins."""
        length, begin, last = int(edges[-1]), start % self.size, (self.count - 1) * self.size - start
        if length == self.rows:
            random = np.random.default_rng([self.seed, number])
            return np.arange(length) if self.count == 1 else random.permutation(length)
        order = np.full(length, -1)
        end = min(last, length + self.size - (begin + length) % self.size)
        places = np.arange(-begin, end).reshape(-1, self.size)
        for k in range(*self.ends):
            columns, remainder = (np.arange(lanes[k], lanes[k + 1]) for lanes in self.lanes)
            lane = np.concatenate([places[:, columns].ravel(), last + remainder])
            random = np.random.default_rng([self.seed, number, start, k])
            lane = lane[(0 <= lane) & (lane < length)]
            order[lane] = edges[k] + random.permutation(edges[k + 1] - edges[k])
        return order

    def below(self, row: int) -> np.ndarray:
        """How many rows before this one lie before each edge of the lanes, in their minibatches."""
        full = min(row // self.size, self.count - 1)
        lanes = self.lanes[int(full == self.count - 1)]
        return full * self.lanes[0] + np.minimum(row - full * self.size, lanes)

    def read(self, pool: Executor, first: int, number: int, start: int,
             blocks: np.ndarray) -> Iterator[tuple]:
        """The steps of the task that gives (rows, places, ends) of a window. pool: fetches blocks. first: as
        for `epoch`. number, start, blocks: as `windows` gives them.

        rows: X, y and the numbers of rows. places: of the rows that this worker takes, in order, among them.
        ends: (place, whether it ends in this window) of each minibatch.
        """
        sizes, rows = self.data.sizes[blocks], self.only_window
        length = int(sizes.sum())
        edges = self.below(start + length) - self.below(start)
        low, high = edges[[*self.ends]] if length < self.rows else (0, length)
        if not rows:
            numbers = np.repeat(self.begin[blocks] - np.cumsum([0, *sizes[:-1]]), sizes) + np.arange(length)
            rows = [np.empty((high - low, *a.shape[1:]), a.dtype) for a in (self.data.X, self.data.y)]
            yield from self.filled(rows, pool, blocks, low)
            rows = [*rows, numbers[low:high]]
        if length == self.rows:
            self.only_window = rows
        batches = np.arange(max(first, start // self.size), -(-(start + length) // self.size))
        bounds = np.array(self.bounds)[(batches == self.count - 1).astype(int)]
        starts, stops = np.clip(bounds + batches[:, None] * self.size - start, 0, length).T
        ends = np.cumsum(stops - starts)
        indices = np.repeat(stops - ends, stops - starts) + np.arange(ends[-1])
        complete = np.minimum((batches + 1) * self.size, self.rows) <= start + length
        places = self.drawn_order(number, start, edges)[indices] - low
        yield rows, places, [*zip(ends.tolist(), complete.tolist(), strict=True)]

    def filled(self, rows: list[np.ndarray], pool: Executor, blocks: np.ndarray, low: int) -> Iterator[None]:
        """The steps of the task that fills X and y with the rows of a window of blocks, from the place `low`
        on; no other rows are read."""
        X, y = rows
        high, stops = low + len(y), np.cumsum(self.data.sizes[blocks])
        for k, start, stop in zip(blocks.tolist(), [0, *stops[:-1]], stops, strict=True):
            a, b = max(low, start), min(high, stop)
            if a < b:
                fetched = pool.submit(self.data.source, k) if self.data.away and self.in_turns else None
                while fetched and wait([fetched], 1e-4).not_done:
                    yield
                share, place = slice(a - start, b - start), slice(a - low, b - low)
                X[place], y[place] = self.data.block(k, share, fetched)
                yield


def minibatches_of(objective: Any, *cut: Any) -> Minibatches | Streamed:
    """The minibatches of the objective's rows. cut: their size, their seed, and the slice of each."""
    stream = objective.stream
    return Streamed(stream, *cut) if stream else Minibatches(objective.X, objective.y, *cut)


def of_arrays(X: Any, y: Any, memory: float, rows: int | None = None) -> Stream:
    """A stream of two arrays, such as memory maps; a block is in memory only while it is copied."""
    if not all(hasattr(a, "nbytes") and np.ndim(a) for a in (X, y)):
        raise XManError(f"a stream of X and y takes arrays, not {type(X).__name__} and {type(y).__name__}")
    if len(X) != len(y):
        raise XManError(f"X has {len(X)} rows and y {len(y)}; they need the same number of rows")
    each = max(1, X[:1].nbytes + y[:1].nbytes)
    rows = rows or max(1, int(memory * 1e6 / COPIES / 16 / each))

    def read(k: int) -> tuple[tuple[int, int], Callable]:
        block = X[k * rows:(k + 1) * rows], y[k * rows:(k + 1) * rows]

        def rows_at(selection: Selection) -> tuple[np.ndarray, ...]:
            copies = tuple(np.array(a[selection]) for a in block)
            for a in (X, y):
                if isinstance(a, np.memmap) and a.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
                    # otherwise the pages would stay in memory until something else needs it
                    a._mmap.madvise(mmap.MADV_DONTNEED)
            return copies

        return (len(block[0]), len(block[1])), rows_at

    sizes = [min(rows, len(y) - start) for start in range(0, len(y), rows)]
    maps = [os.fspath(a.filename) for a in (X, y) if isinstance(a, np.memmap) and a.filename]
    stamps = lambda: {path: (os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in maps}
    arrays = {x: a for x, a in (("X", X), ("y", y)) if type(a) is np.ndarray}
    return Stream(read, sizes, memory, name=f"arrays {X.shape} {y.shape}", arrays=arrays, stamps=stamps)


def of_batches(source: Callable[[], Iterable] | Iterable, memory: float) -> Stream:
    """A stream of batches (X, y) that can be iterated again and again; a first pass counts their rows."""
    if isinstance(source, Iterator):
        raise XManError("an iterator can be read only once; give a list, or a function that makes one")
    again = source if callable(source) else lambda: source
    try:
        sizes = [len(y) for _, y in again()]
    except (TypeError, ValueError):
        raise XManError("a stream is of arrays X, y, of batches (X, y), or of tables by their path") from None
    batch = InTurn(again)

    def read(k: int) -> tuple[tuple[int, int], Callable]:
        X, y = map(np.asarray, batch(k))
        return (len(X), len(y)), lambda selection: (X[selection], y[selection])

    return Stream(read, sizes, memory, ordered=True, name=f"batches {sizes}", away=True)


class InTurn:
    """Blocks of a source that can only be read from its beginning: an earlier block starts it anew."""

    def __init__(self, again: Callable[[], Iterable]):
        self.again, self.next, self.blocks = again, 0, iter(())
        self.lock = threading.Lock()  # a run that diverged repeats its epoch while a thread may still read

    def __call__(self, k: int) -> Any:
        with self.lock:
            if k < self.next or not self.next:
                self.next, self.blocks = 0, iter(self.again())
            for block in self.blocks:
                self.next += 1
                if self.next > k:
                    return block
        raise XManError(f"the stream ended after {self.next} blocks, and had {k + 1} before")
