"""Rows that do not fit into memory: read block by block, shuffled in windows of blocks,
one window ahead of the steps."""
from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
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
                 name: str = "", prepared: Prepared | None = None, some: tuple = ALL, away: bool = False):
        self.source, self.name, self.prepared, self.ordered, self.some = read, name, prepared, ordered, some
        self.away = away
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
                      (begin, end, seed), self.away)

    def block(self, k: int, share: slice = slice(None),
              fetched: Callable[[], tuple] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """X and y of a block, or of a share of its rows. XManError where they hold something else than finite
        numbers."""
        found, rows_at = fetched() if fetched else self.source(k)
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
            like = getattr(self, word, a).dtype
            if not np.can_cast(a.dtype, like, "same_kind" if like.kind == "f" else "safe"):
                raise XManError(f"block {k + 1} of the stream: {word} holds {a.dtype}, and {like} before")
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


class Turns:
    """A task that is done in parts, by a generator: it yields after each, None or a Future that it waits for,
    and returns what the task gives."""

    def __init__(self, parts: Generator[Future | None, None, Any]):
        self.parts, self.waits_for, self.found = parts, None, Future()

    def take(self) -> None:
        """Do the next part, unless there is none, or it would have to wait."""
        if self.found.done() or self.waits_for and not self.waits_for.done():
            return
        try:
            self.waits_for = next(self.parts)
        except StopIteration as end:
            self.found.set_result(end.value)
        except Exception as error:  # for the one who asks for the result
            self.found.set_exception(error)

    def result(self) -> Any:
        """Do all parts that are left, and return what the task gives."""
        while not self.found.done():
            wait([self.waits_for] if self.waits_for else [])
            self.take()
        return self.found.result()


class Streamed:
    """The minibatches of a stream; if one window holds all rows, they equal those of `Minibatches`.

    A window is read beside the steps on the one before: by a thread, or, where several workers have hardly a
    core each, in turns with the steps, by all workers at once. With several windows a row goes to the part of
    a minibatch that corresponds to its place in the window, so that a worker reads the rows that it takes;
    one window is read by all workers, once. data: the stream. size: the rows of a minibatch. mine: from the
    rows of a minibatch and a worker's number to its slice of them.
    """

    def __init__(self, data: Stream, size: int, seed: int,
                 mine: Callable[[int, int], slice] = lambda rows, rank: slice(0, rows)):
        self.data, self.rows, self.seed, self.workers = data, data.rows, seed, workers()
        self.size = size = min(size, data.rows)
        self.count, self.begin = -(-self.rows // size), np.cumsum([0, *data.sizes[:-1]])
        # of minibatches, and of the last one: the edges of lanes, and of what this worker takes; whether it
        # borrows a row
        self.lanes, self.taken, self.borrows, me = [], [], [], self.workers.rank
        for rows in size, self.rows - (self.count - 1) * size:
            starts = [*(mine(rows, rank).start for rank in range(self.workers.size)), rows]
            self.lanes.append(rows * np.arange(LANES + 1) // LANES)
            self.taken.append(starts[me:me + 2])
            self.borrows.append(mine(rows, me).stop > starts[me + 1])
        found = [(np.searchsorted(edges, start, "right") - 1, np.searchsorted(edges, stop))
                 for edges, (start, stop) in zip(self.lanes, self.taken, strict=True) if start < stop]
        self.ends = (min(low for low, _ in found), max(high for _, high in found)) if found else (0, 0)
        self.in_turns = self.workers.size > 1 and self.workers.crowded()
        self.kept: list[np.ndarray] = []  # the rows of the only window

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
        room, filled = 1 + max(stop - start for start, stop in self.taken), 0
        # a borrowed row may be any row
        buffers = [np.repeat(a[:1], room, 0) for a in (self.data.X, self.data.y, np.zeros(1, int))]
        with ThreadPoolExecutor(2) as pool:  # one thread reads, and waits for the other, which fetches
            todo = (Turns(self.read(pool, first, *window)) for window in self.windows(number, first))
            ahead = self.begun(pool, todo)
            while ahead:
                rows, places, ends = ahead()
                ahead = self.begun(pool, todo)
                start = 0
                for end, whole in ends:
                    stop = filled + end - start
                    for a, buffer in zip(rows, buffers, strict=True):
                        a.take(places[start:end], 0, buffer[filled:stop], "clip")
                    filled, start, first = 0 if whole else stop, end, first + whole
                    if whole:
                        stop += self.borrows[first == self.count]
                        yield tuple(buffer[:stop] for buffer in buffers)

    def begun(self, pool: Executor, todo: Iterator[Turns]) -> Callable[[], tuple] | None:
        """Begin to read the next window, if there is one; what is returned waits for its end."""
        ahead = next(todo, None)
        self.workers.beside = ahead.take if ahead and self.in_turns else None
        return ahead and (ahead.result if self.in_turns else pool.submit(ahead.result).result)

    def drawn_order(self, number: int, at: int, edges: np.ndarray) -> np.ndarray:
        """The places in a window of its rows, in the order in which they are taken; −1 for lanes of which
        this worker takes no row. edges: the place in the window where each lane begins."""
        held, begin, last = int(edges[-1]), at % self.size, (self.count - 1) * self.size - at
        if held == self.rows:
            random = np.random.default_rng([self.seed, number])
            return np.arange(held) if self.count == 1 else random.permutation(held)
        found = np.full(held, -1)
        end = min(last, held + self.size - (begin + held) % self.size)
        places = np.arange(-begin, end).reshape(-1, self.size)
        for k in range(*self.ends):
            here, there = (np.arange(lanes[k], lanes[k + 1]) for lanes in self.lanes)
            here = np.concatenate([places[:, here].ravel(), last + there])
            random = np.random.default_rng([self.seed, number, at, k])
            found[here[(0 <= here) & (here < held)]] = edges[k] + random.permutation(edges[k + 1] - edges[k])
        return found

    def below(self, row: int) -> np.ndarray:
        """How many rows before this one lie before each edge of the lanes, in their minibatches."""
        full = min(row // self.size, self.count - 1)
        lanes = self.lanes[int(full == self.count - 1)]
        return full * self.lanes[0] + np.minimum(row - full * self.size, lanes)

    def read(self, pool: Executor, first: int, number: int, at: int,
             blocks: np.ndarray) -> Generator[Future | None, None, tuple]:
        """The task that gives (rows, places, ends) of a window. pool: fetches blocks. first: as for `epoch`.
        number, at, blocks: as `windows` gives them.

        rows: X, y and the numbers of rows. places: of the rows that this worker takes, in order, among them.
        ends: (place, whether it ends in this window) of each minibatch.
        """
        sizes, rows = self.data.sizes[blocks], self.kept
        held = int(sizes.sum())
        edges = self.below(at + held) - self.below(at)
        low, high = edges[[*self.ends]] if held < self.rows else (0, held)
        if not rows:
            numbers = np.repeat(self.begin[blocks] - np.cumsum([0, *sizes[:-1]]), sizes) + np.arange(held)
            rows = [*(yield from self.between(pool, blocks, low, high)), numbers[low:high]]
        if held == self.rows:
            self.kept = rows
        batches = np.arange(max(first, at // self.size), -(-(at + held) // self.size))
        taken = np.array(self.taken)[(batches == self.count - 1).astype(int)]
        starts, stops = np.clip(taken + batches[:, None] * self.size - at, 0, held).T
        ends = np.cumsum(stops - starts)
        mine = np.repeat(stops - ends, stops - starts) + np.arange(ends[-1])
        whole = np.minimum((batches + 1) * self.size, self.rows) <= at + held
        places = self.drawn_order(number, at, edges)[mine] - low
        return rows, places, [*zip(ends.tolist(), whole.tolist(), strict=True)]

    def between(self, pool: Executor, blocks: np.ndarray, low: int,
                high: int) -> Generator[Future | None, None, tuple[np.ndarray, np.ndarray]]:
        """The task that gives X and y of the rows between these places in a window of blocks; no other rows
        are read."""
        X, y = (np.empty((high - low, *a.shape[1:]), a.dtype) for a in (self.data.X, self.data.y))
        stops = np.cumsum(self.data.sizes[blocks])
        for k, start, stop in zip(blocks.tolist(), [0, *stops[:-1]], stops, strict=True):
            a, b = max(low, start), min(high, stop)
            if a < b:
                fetched = pool.submit(self.data.source, k) if self.data.away else None
                yield fetched
                share = self.data.block(k, slice(a - start, b - start), fetched and fetched.result)
                X[a - low:b - low], y[a - low:b - low] = share
        return X, y


def of_arrays(X: Any, y: Any, memory: float, rows: int | None = None) -> Stream:
    """A stream of two arrays, such as memory maps; a block is in memory only while it is copied."""
    if not all(hasattr(a, "nbytes") and np.ndim(a) for a in (X, y)):
        raise XManError(f"a stream of X and y takes arrays, not {type(X).__name__} and {type(y).__name__}")
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
