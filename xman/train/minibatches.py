"""Minibatches: the rows of an epoch in its order, gathered into one buffer that is used again."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# bytes of X gathered at once: few calls for small rows, and what was gathered is in the cache when it is read
BLOCK = 2 ** 18


class Minibatches:
    """The data in minibatches of `size` rows, the last of an epoch with what is left.

    X: an array, or a sparse matrix in CSR form; y: an array, a row of each for every example. Dense
    minibatches are views of a buffer, which the next ones overwrite; a minibatch of all rows is the data as
    they are. An epoch's order is drawn from the seed and its number alone. mine: those of this worker.
    """

    def __init__(self, X: Any, y: np.ndarray, size: int, seed: int, mine: Callable[[int], slice] = slice):
        self.rows, self.size, self.seed, self.mine = X.shape[0], size, seed, mine
        self.count = -(-self.rows // size)
        self.dense = isinstance(X, np.ndarray)
        self.X, self.y = in_rows(X) if self.dense else X, in_rows(y)
        bytes_a_row = max(1, self.X[:1].nbytes) if self.dense else BLOCK
        self.block = max(1, BLOCK // (bytes_a_row * len(range(size)[mine(size)])))
        self.buffers: tuple = ()

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """X, y and the numbers of these rows, for each minibatch of the epoch from `first` on."""
        size = self.size
        if self.count == 1:
            whole = self.X, self.y, np.arange(self.rows)
            yield from [whole if self.mine is slice else tuple(a[self.mine(self.rows)] for a in whole)][
                first:]
            return
        order, whole = np.random.default_rng([self.seed, number]).permutation(self.rows), self.rows // size
        some, last = order[:whole * size].reshape(whole, size)[:, self.mine(size)], order[whole * size:]
        # blocks begin where they always do, so that each row lies where it always does
        for block in range(first - first % self.block, self.count, self.block):
            parts, end = [*some[block:block + self.block]], 0
            if len(last) and block + self.block >= self.count:
                parts.append(last[self.mine(len(last))])
            X, y = self.gathered(np.concatenate(parts) if len(parts) > 1 else parts[0])
            for k, part in enumerate(parts, block):
                end += len(part)
                if k >= first:
                    yield ((X[end - len(part):end], y[end - len(part):end], part) if self.dense
                           else (X, y, part))

    def gathered(self, some: np.ndarray) -> tuple[Any, np.ndarray]:
        """The rows of that number, in that order."""
        if not self.dense:
            return self.X[some], self.y[some]
        if not self.buffers:
            n = min(self.block * self.size, self.rows)
            self.buffers = tuple(np.empty((n, *a.shape[1:]), a.dtype) for a in (self.X, self.y))
        # "raise" would gather into another buffer first; the numbers are a permutation's
        X, y = (buffer[:len(some)] for buffer in self.buffers)
        return self.X.take(some, 0, X, "clip"), self.y.take(some, 0, y, "clip")


def in_rows(a: np.ndarray) -> np.ndarray:
    """a with each row in one piece, in this machine's order of bytes: `take` would copy it at each call."""
    return np.ascontiguousarray(a, None if a.dtype.isnative else a.dtype.newbyteorder("="))
