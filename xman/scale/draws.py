"""Random numbers for rows that depend on the rows' numbers, and not on who draws or for how many rows."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import XManError

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio


class Draws:
    """Random numbers for rows: those of a row depend only on the seed, the epoch and the row's number.

    So they are the same in minibatches of any size, and for workers that share one. The methods are called
    like those of NumPy's Generator, with a shape (rows, …); a second call gives other numbers. Each row has a
    stream of its own, by SplitMix64 (Steele, Lea and Flood 2014, figure 14), which begins with that
    generator's value for the row's number.
    """

    def __init__(self, seed: int, epoch: int, rows: np.ndarray):
        (key,) = np.random.SeedSequence([seed, epoch, 1]).generate_state(1, np.uint64)
        self.begin, self.position = mixed(key + GOLDEN * (rows.astype(np.uint64) + np.uint64(1))), 0

    def random(self, size: int | tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """Numbers uniform in [0, 1). size: (rows, …)."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        if shape[:1] != self.begin.shape:
            raise XManError(f"what is drawn has a row for each of the {len(self.begin)}, and {shape} has not")
        each = math.prod(shape[1:])
        places = np.arange(self.position + 1, self.position + each + 1, dtype=np.uint64)
        self.position += each
        bits = mixed(self.begin[:, None] + GOLDEN * places)
        # as many bits as the precision has, so that no number is rounded to 1
        precision = 53 if np.dtype(dtype).itemsize == 8 else 24
        unit = np.dtype(dtype).type(2.0 ** -precision)
        return ((bits >> np.uint64(64 - precision)).astype(dtype) * unit).reshape(shape)

    def standard_normal(self, size: int | tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """Normal numbers of mean 0 and variance 1, by the inverse of the distribution. size: (rows, …)."""
        from scipy.special import ndtri
        return ndtri(np.maximum(self.random(size), 2.0 ** -54)).astype(dtype, copy=False)


def drawn_by_number(start: int, rows: int, begin: int, end: int, seed: int) -> np.ndarray:
    """A mask of the rows from `start` on that the seed draws into the tenths from begin to end. The draw of a
    row does not depend on other rows."""
    lot = Draws(seed, 0, np.arange(start, start + rows)).random((rows,))
    return (10 * lot >= begin) & (10 * lot < end)


def mixed(x: np.ndarray) -> np.ndarray:
    """SplitMix64's function of its counter, whose sums and products overflow on purpose."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
