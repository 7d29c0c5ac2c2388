"""Statistics of columns, from which their lines are written: found piece by piece, and added up."""
from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import NamedTuple

import numpy as np

from ops.arrays.indexing import split_words

from .frames import TableError
from .kinds import SAMPLE

FAR = np.errstate(over="ignore", invalid="ignore")  # `measured` says where numbers are too large


class Moments(NamedTuple):
    """For each column of numbers: how many are finite, their mean, Σ (x − mean)², how many are not finite,
    the least, and the greatest."""
    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    missing: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @FAR
    def __add__(self, piece: Moments) -> Moments:  # type: ignore[override]
        """The moments of both pieces together (Chan, Golub and LeVeque 1979, eqs. 2.1)."""
        n = self.count + piece.count
        shift, share = piece.mean - self.mean, piece.count / np.maximum(n, 1)
        squares = self.squares + piece.squares + shift ** 2 * share * self.count
        ends = np.minimum(self.low, piece.low), np.maximum(self.high, piece.high)
        return Moments(n, self.mean + shift * share, squares, self.missing + piece.missing, *ends)

    def deviation(self) -> np.ndarray:
        """The standard deviation of each column; if all numbers equal a, the larger of |a| and 1."""
        deviations = np.sqrt(self.squares / np.maximum(self.count, 1))
        size = np.abs(self.mean)
        return np.where(deviations > 1e-12 * size, deviations, np.maximum(1.0, size))


@FAR
def moments(X: np.ndarray) -> Moments:
    """The moments of the columns of X (rows, columns)."""
    finite = np.isfinite(X)
    count = finite.sum(0)
    mean = np.where(finite, X, 0.0).sum(0) / np.maximum(count, 1)
    squares = (np.where(finite, X - mean, 0.0) ** 2).sum(0)
    low, high = (end(X, 0, initial=far, where=finite) for end, far in ((np.min, np.inf), (np.max, -np.inf)))
    return Moments(count, mean, squares, len(X) - count, low, high)


def measured(name: str, fact: Moments) -> Moments:
    """The moments of columns of that name. TableError where numbers are too large to be squared."""
    lost = ~np.isfinite(fact.squares)
    if lost.any():
        low, high = fact.low[lost][0], fact.high[lost][0]
        raise TableError(f"{name!r} holds numbers from {low:g} to {high:g}, too large for their squares to be "
                         "computed; write them in a larger unit")
    return fact


class Words(NamedTuple):
    """For a column of text: how many cells have each word, how often each character occurs, the longest."""
    counts: Counter
    longest: int
    several: bool  # whether most cells hold several words

    def __add__(self, piece: Words) -> Words:  # type: ignore[override]
        return Words(self.counts + piece.counts, max(self.longest, piece.longest), self.several)


def word_statistics(array: np.ndarray, characters: int, several: bool | None = None) -> Words:
    """The Words of strings, each cut to so many characters. several: whether cells hold several, if known."""
    cells = array.tolist()
    if several is None:
        several = sum(" " in cell for cell in cells[:SAMPLE]) > len(cells[:SAMPLE]) / 2
    n = min(characters, max(map(len, cells), default=0))
    counted = ({*split_words(cell)} if several else cell[:n] for cell in cells)
    return Words(Counter(chain.from_iterable(counted)), n, several)
