"""Minibatches: the rows of an epoch in its order, gathered into one buffer that is used again, and numbers drawn for rows."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import XManError

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio
BLOCK = 2 ** 20  # bytes of X gathered at once: few calls for small rows, and what was gathered is in the cache when it is read


class Minibatches:
    """The data in minibatches of `size` rows, the last of an epoch with what is left.

    X: an array, or a sparse matrix in CSR form; y: an array, a row of each for every example. Dense minibatches are views
    of a buffer, which the next ones overwrite; a minibatch of all rows is the data as they are. An epoch's order is drawn
    from the seed and its number alone. mine: from the rows of a minibatch to those of them that this worker takes.
    """

    def __init__(self, X: Any, y: np.ndarray, size: int, seed: int, mine: Callable[[int], slice] = slice):
        self.rows, self.size, self.seed, self.mine = X.shape[0], size, seed, mine
        self.count = -(-self.rows // size)
        self.dense = isinstance(X, np.ndarray)
        self.X, self.y = in_rows(X) if self.dense else X, in_rows(y)
        bytes_a_row = max(1, self.X[:1].nbytes) if self.dense else BLOCK
        self.block = size * max(1, BLOCK // (bytes_a_row * size))
        self.buffers: tuple = ()

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """X, y and the numbers of these rows, for each minibatch of the epoch from `first` on."""
        size = self.size
        if self.count == 1:
            mine = self.mine(self.rows)
            yield from [(self.X[mine], self.y[mine], np.arange(self.rows)[mine])][first:]
            return
        order = np.random.default_rng([self.seed, number]).permutation(self.rows)
        skip = first * size % self.block  # blocks begin where they always do, so that each row lies where it always does
        for start in range(first * size - skip, self.rows, self.block):
            block = order[start:start + self.block]
            some = [part[self.mine(len(part))] for part in np.split(block, range(size, len(block), size))]
            X, y = self.gathered(np.concatenate(some))
            end = 0
            for k, part in enumerate(some):
                end += len(part)
                if k * size >= skip:
                    yield (X[end - len(part):end], y[end - len(part):end], part) if self.dense else (X, y, part)
            skip = 0

    def gathered(self, some: np.ndarray) -> tuple[Any, np.ndarray]:
        """The rows of that number, in that order."""
        if not self.dense:
            return self.X[some], self.y[some]
        if not self.buffers:
            n = min(self.block, self.rows)
            self.buffers = tuple(np.empty((n, *a.shape[1:]), a.dtype) for a in (self.X, self.y))
        # "raise" would gather into another buffer first; the numbers are a permutation's
        return tuple(np.take(a, some, 0, out[:len(some)], "clip") for a, out in zip((self.X, self.y), self.buffers, strict=True))


def in_rows(a: np.ndarray) -> np.ndarray:
    """a with each row in one piece and in this machine's order of bytes: `take` would copy any other array at each call."""
    return np.ascontiguousarray(a, None if a.dtype.isnative else a.dtype.newbyteorder("="))


class Draws:
    """Random numbers for rows: those of a row depend on the seed, the epoch and its number alone.

    So they are the same in minibatches of any size, and for workers that share one. The methods are called as those of NumPy's
    Generator, with a shape (rows, …); a second call gives other numbers. Each row has a stream of its own, SplitMix64 (Steele,
    Lea and Flood 2014, figure 14), whose beginning is that generator's value for the row's number.
    """

    def __init__(self, seed: int, epoch: int, rows: np.ndarray):
        (key,) = np.random.SeedSequence([seed, epoch, 1]).generate_state(1, np.uint64)
        self.begin, self.taken = mixed(key + GOLDEN * (rows.astype(np.uint64) + np.uint64(1))), 0

    def random(self, size: int | tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """Uniform in [0, 1)."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        if shape[:1] != self.begin.shape:
            raise XManError(f"what is drawn has a row for each of the minibatch, {len(self.begin)}, and shape {shape} has not")
        each = math.prod(shape[1:])
        places = np.arange(self.taken + 1, self.taken + each + 1, dtype=np.uint64)
        self.taken += each
        bits = mixed(self.begin[:, None] + GOLDEN * places)
        whole = 53 if np.dtype(dtype).itemsize == 8 else 24  # bits of a number of the precision, so that none becomes 1
        return ((bits >> np.uint64(64 - whole)).astype(dtype) * np.dtype(dtype).type(2.0 ** -whole)).reshape(shape)

    def standard_normal(self, size: int | tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """Of mean 0 and variance 1, by the inverse of the normal distribution."""
        from scipy.special import ndtri
        return ndtri(np.maximum(self.random(size), 2.0 ** -54)).astype(dtype, copy=False)


def mixed(x: np.ndarray) -> np.ndarray:
    """SplitMix64's function of its counter, whose sums and products overflow on purpose."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
