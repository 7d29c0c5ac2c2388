"""The rows of a minibatch that belong to each worker, and the training step of several workers."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .mpi import workers
from .sharing import ROWS, shared


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
        some = np.arange(ROWS) % objective.X.shape[0]
        given, fewer = (objective.given(objective.X[k], objective.y[k], k, 0) for k in (some, some[:2]))
        rows = {name for name, x in given.items() if np.shape(x) != np.shape(fewer[name])}
        kept = objective.running.values()
        two = {x: fewer[x] for x in rows}
        self.list = shared(objective.steps, objective.loss, objective.inputs | given, two, kept, self.size)

    def bounds(self, piece: int, rows: int) -> tuple[int, int]:
        """The beginning and end of a piece of a minibatch of `rows`; of a borrowed row if it has none."""
        start, stop = rows * piece // self.size, rows * (piece + 1) // self.size
        return (start, stop) if start < stop else (min(start, rows - 1), min(start, rows - 1) + 1)

    def mine(self, rows: int, rank: int | None = None) -> slice:
        """The slice of a minibatch's rows that a worker has; rank None is this worker."""
        first = (self.workers.rank if rank is None else rank) * self.each
        return slice(self.bounds(first, rows)[0], self.bounds(first + self.each - 1, rows)[1])

    def given(self, X: Any, y: Any, some: np.ndarray, epoch: int, rows: int,
              number: type) -> list[dict[str, Any]]:
        """The inputs of this worker's pieces. X, y: its rows, of these numbers.
        rows: of the whole minibatch."""
        return [self.objective.given(X[k], y[k], some[k], epoch) | shares
                for k, shares in self.pieces(rows, number)]

    def pieces_of(self, rows: int, number: type) -> list[tuple[slice, dict[str, Any]]]:
        """(its slice of this worker's rows, the values of share and has) for each piece."""
        found, begin = [], self.mine(rows).start
        for piece in range(self.workers.rank * self.each, (self.workers.rank + 1) * self.each):
            start, stop = self.bounds(piece, rows)
            real = rows * (piece + 1) // self.size - rows * piece // self.size
            found.append((slice(start - begin, stop - begin),
                          {self.list.share: number(real / rows), self.list.has: number(real > 0)}))
        return found
