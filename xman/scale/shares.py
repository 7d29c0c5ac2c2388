"""Minibatches, and the rows of each that belong to each worker.

The rows of an epoch, in its order, are gathered into a buffer that is used again.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .mpi import workers
from .sharing import ROWS, shared

# bytes of X that are gathered at once: few calls for small rows, and all fits into the cache
BLOCK = 2 ** 18


class Shares:
    """The rows of each minibatch, cut into `each` pieces for each worker, which takes them one after another.

    Results of pieces are added up like those of workers, so that one process can take the steps of several.
    objective: the `train.objective.Objective` of the run. Pieces of a minibatch follow one another, and their
    sizes differ by at most a row; a piece without rows borrows one, whose result does not count.
    """

    def __init__(self, objective: Any, each: int):
        self.workers, self.each, self.objective = workers(), each, objective
        self.pieces = functools.cache(self.pieces_of)
        self.size = self.workers.size * each
        numbers = np.arange(ROWS) % objective.X.shape[0]
        inputs, fewer = (objective.minibatch_inputs(objective.X[k], objective.y[k], k, 0)
                         for k in (numbers, numbers[:2]))
        rows = {name for name, x in inputs.items() if np.shape(x) != np.shape(fewer[name])}
        two = {x: fewer[x] for x in rows}
        self.list = shared(objective.steps, objective.loss, objective.inputs | inputs, two,
                           objective.running.values(), self.size)

    def bounds(self, piece: int, rows: int) -> tuple[int, int]:
        """The beginning and end of a piece of a minibatch of `rows`; of a borrowed row if it has none."""
        start, stop = rows * piece // self.size, rows * (piece + 1) // self.size
        return (start, stop) if start < stop else (min(start, rows - 1), min(start, rows - 1) + 1)

    def slice_of(self, rows: int, rank: int | None = None) -> slice:
        """The slice of a minibatch's rows that a worker has; rank None is this worker."""
        first = (self.workers.rank if rank is None else rank) * self.each
        return slice(self.bounds(first, rows)[0], self.bounds(first + self.each - 1, rows)[1])

    def minibatch_inputs(self, X: Any, y: Any, numbers: np.ndarray, epoch: int, rows: int,
              number: type) -> list[dict[str, Any]]:
        """The inputs of this worker's pieces. X, y: its rows, with these numbers.
        rows: the number of rows of the minibatch, over all workers."""
        return [self.objective.minibatch_inputs(X[k], y[k], numbers[k], epoch) | shares
                for k, shares in self.pieces(rows, number)]

    def pieces_of(self, rows: int, number: type) -> list[tuple[slice, dict[str, Any]]]:
        """(its slice of this worker's rows, the values of share and has) for each piece."""
        pieces, begin = [], self.slice_of(rows).start
        for piece in range(self.workers.rank * self.each, (self.workers.rank + 1) * self.each):
            start, stop = self.bounds(piece, rows)
            real = rows * (piece + 1) // self.size - rows * piece // self.size
            pieces.append((slice(start - begin, stop - begin),
                          {self.list.share: number(real / rows), self.list.has: number(real > 0)}))
        return pieces


class Minibatches:
    """The data in minibatches of `size` rows; the last one of an epoch has the rows that are left.

    X: an array, or a sparse matrix in CSR form; y: an array; both have a row for each example. Dense
    minibatches are views of a buffer, which the next ones overwrite; a minibatch of all rows is the data
    themselves. The order of an epoch depends on the seed and its number alone. slice_of: from a number of
    rows to this worker's slice of them.
    """

    def __init__(self, X: Any, y: np.ndarray, size: int, seed: int, slice_of: Callable[[int], slice] = slice):
        self.rows, self.size, self.seed, self.slice_of = X.shape[0], size, seed, slice_of
        self.count = -(-self.rows // size)
        self.dense = isinstance(X, np.ndarray)
        self.X, self.y = in_rows(X) if self.dense else X, in_rows(y)
        bytes_a_row = max(1, self.X[:1].nbytes) if self.dense else BLOCK
        self.block = max(1, BLOCK // (bytes_a_row * len(range(size)[slice_of(size)])))
        self.buffers: tuple = ()

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """(X, y, numbers of the rows) for each minibatch of epoch `number`, from minibatch `first` on."""
        size = self.size
        if self.count == 1:
            if first == 0:
                arrays, share = (self.X, self.y, np.arange(self.rows)), self.slice_of(self.rows)
                yield arrays if self.slice_of is slice else tuple(a[share] for a in arrays)
            return
        order, count = np.random.default_rng([self.seed, number]).permutation(self.rows), self.rows // size
        full, last = order[:count * size].reshape(count, size)[:, self.slice_of(size)], order[count * size:]
        # a resumed epoch has the same blocks, so that each row has the same place in memory
        for block in range(first - first % self.block, self.count, self.block):
            minibatches, end = [*full[block:block + self.block]], 0
            if len(last) and block + self.block >= self.count:
                minibatches.append(last[self.slice_of(len(last))])
            X, y = self.gathered(np.concatenate(minibatches) if len(minibatches) > 1 else minibatches[0])
            for k, numbers in enumerate(minibatches, block):
                end += len(numbers)
                if k >= first:
                    yield ((X[end - len(numbers):end], y[end - len(numbers):end], numbers) if self.dense
                           else (X, y, numbers))

    def gathered(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """The rows with these numbers, in this order."""
        if not self.dense:
            return self.X[numbers], self.y[numbers]
        if not self.buffers:
            n = min(self.block * self.size, self.rows)
            self.buffers = tuple(np.empty((n, *a.shape[1:]), a.dtype) for a in (self.X, self.y))
        # mode "raise" would gather into another buffer first, and no number is out of range
        X, y = (buffer[:len(numbers)] for buffer in self.buffers)
        return self.X.take(numbers, 0, X, "clip"), self.y.take(numbers, 0, y, "clip")


def in_rows(a: np.ndarray) -> np.ndarray:
    """a with contiguous rows in this machine's byte order: otherwise `take` copies it at each call."""
    return np.ascontiguousarray(a, None if a.dtype.isnative else a.dtype.newbyteorder("="))
