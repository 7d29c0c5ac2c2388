"""Colours of a sparse matrix: few passes find it, as columns of one colour share no row.

A pass of forward mode gives J v. With ones in v for all columns of one colour, each entry of J v is one entry
of J, since no other column of that colour has one in its row: a tridiagonal matrix takes three passes,
whatever its size (Curtis, Powell and Reid, 1974; Gebremedhin, Manne and Pothen, "What Color Is Your
Jacobian?", 2005).
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array

from ..errors import XManError
from ..notation import shortened


def colour(pattern: Any, by: str = "columns", order: str = "largest") -> np.ndarray:
    """The colour of each column of a pattern, 0, 1, …: an array of whole numbers.

    pattern: a sparse matrix, of which it counts where an entry is. by: "columns", no two of one colour have
    an entry in one row; "rows", the same of rows; "star", of a symmetric matrix: a row and its neighbours
    differ, and every path of four has three colours, so that each entry can be read off a product with the
    ones of a colour, or its mirror image can; "acyclic", of a symmetric matrix: every cycle has three
    colours, so that the entries follow one from another; "both": (colours of rows, colours of columns), where
    -1 is a row or a column that no pass needs. order: "largest", those with the most entries first, or
    "natural". XManError for other words, and a matrix that is not symmetric where it has to be.
    """
    if by not in COLOURINGS or order not in ("largest", "natural"):
        raise XManError(f"the colours are by {', '.join(COLOURINGS)}, and the order is largest or natural; found "
                        f"{by!r} and {order!r}")
    try:
        pattern = csr_array(pattern).astype(bool)
        rows, columns = pattern.shape
    except (TypeError, ValueError):
        raise XManError(f"a pattern is a matrix, sparse or an array; found {shortened(pattern)}") from None
    pattern.eliminate_zeros()
    if by in ("star", "acyclic") and (rows != columns or (pattern != pattern.T).nnz):
        raise XManError(f"a {by} colouring is of a symmetric matrix; this one, of shape {pattern.shape}, is "
                        "not")
    return COLOURINGS[by](pattern, order)


def visiting_order(counts: np.ndarray, order: str) -> Sequence[int]:
    return range(len(counts)) if order == "natural" else np.argsort(-counts, kind="stable").tolist()


def lists(pattern: csr_array | csc_array) -> list[list[int]]:
    """For each row the columns of its entries; in CSC form for each column the rows."""
    ends, places = pattern.indptr.tolist(), pattern.indices.tolist()
    return [places[a:b] for a, b in itertools.pairwise(ends)]


def first_free(used: int) -> int:
    """The lowest bit that is not set."""
    return (~used & (used + 1)).bit_length() - 1


def column_colours(pattern: csr_array, order: str, most: float = np.inf) -> np.ndarray | None:
    """Columns of one colour have no row in common. most: of colours; None if it takes more."""
    if np.diff(pattern.indptr).max(initial=0) > most:
        return None
    if (regular := repeating(pattern)) is not None:
        return regular
    by_column = pattern.tocsc()
    used = [0] * pattern.shape[0]  # by row the colours of its columns, a bit each
    colours = np.zeros(pattern.shape[1], int)
    rows_of = lists(by_column)
    for j in visiting_order(np.diff(by_column.indptr), order):
        used_nearby = 0
        for row in rows_of[j]:
            used_nearby |= used[row]
        colours[j] = c = first_free(used_nearby)
        if c >= most:
            return None
        for row in rows_of[j]:
            used[row] |= 1 << c
    return colours


def repeating(pattern: csr_array) -> np.ndarray | None:
    """Colours 0, 1, …, c − 1, 0, 1, … for the widest row's c entries, if these are apart: bands need no
    more."""
    counts = np.diff(pattern.indptr)
    c = int(counts.max(initial=1))
    # sorted, since a count of each place would take c numbers a row
    places = np.sort(np.repeat(np.arange(len(counts)) * c, counts) + pattern.indices % c)
    return None if np.any(places[1:] == places[:-1]) else np.arange(pattern.shape[1]) % c


def row_colours(pattern: csr_array, order: str) -> np.ndarray:
    return column_colours(csr_array(pattern.T), order)


def fewest_colours(pattern: csr_array) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(colours of rows, None) or (None, colours of columns), whichever are fewer. The shorter side, which
    takes less time, first; the other as far as it may be the one."""
    across, (m, n) = csr_array(pattern.T), pattern.shape
    if m < n:
        rows = column_colours(across, "largest")
        columns = column_colours(pattern, "largest", rows.max(initial=-1) + 1)
        return (rows, None) if columns is None else (None, columns)
    columns = column_colours(pattern, "largest")
    rows = column_colours(across, "largest", columns.max(initial=-1))
    return (None, columns) if rows is None else (rows, None)


class StarForest:
    """A graph while its vertices get colours, so that no path of four is of two colours.

    colours: −1 without one. beside[v]: by colour the neighbours of v that have it. closed[v]: colours of
    neighbours x of v that have a second neighbour of v's colour: a neighbour of v with that colour would
    begin a path of four, − v − x −. far: whether vertices differ that have a neighbour without a colour
    between them.
    """

    def __init__(self, near: list[list[int]], far: bool = False):
        self.near, self.colours, self.far = near, [-1] * len(near), far
        self.beside: list[dict[int, list[int]]] = [{} for _ in near]
        self.closed: list[set[int]] = [set() for _ in near]

    def used(self, v: int) -> set[int]:
        colours = {*self.beside[v]}
        for w in self.near[v] if self.far else ():
            if self.colours[w] < 0:  # it would be between two of one colour, and take one of its own
                colours.update(self.beside[w])
        for neighbours in self.beside[v].values():
            for w in neighbours:
                colours |= self.closed[w]
                if len(neighbours) > 1:  # v is between two of one colour
                    colours.update(self.beside[w])
        return colours

    def give(self, v: int, c: int) -> None:
        self.colours[v] = c
        for x in self.near[v]:
            if (same := self.beside[x].get(c)) is None:
                self.beside[x][c] = [v]
                continue
            same.append(v)
            if (colour := self.colours[x]) >= 0:
                for w in same if len(same) == 2 else [v]:
                    self.closed[w].add(colour)
        for same in self.beside[v].values():
            if len(same) > 1:
                for w in same:
                    self.closed[w].add(c)


def without_diagonal(pattern: csr_array) -> list[list[int]]:
    row, column = rows_and_columns(pattern)
    apart = row != column
    return lists(csr_array((apart[apart], (row[apart], column[apart])), pattern.shape))


def lowest(used: set[int]) -> int:
    c = 0
    while c in used:
        c += 1
    return c


def star(pattern: csr_array, order: str, far: bool = False) -> np.ndarray:
    forest = StarForest(without_diagonal(pattern), far)
    for v in visiting_order(np.diff(pattern.indptr), order):
        forest.give(v, lowest(forest.used(v)))
    return np.array(forest.colours, int)


def acyclic(pattern: csr_array, order: str) -> np.ndarray:
    """The edges between two colours are a forest: a colour that joins two vertices of one tree is used."""
    near, colours = without_diagonal(pattern), np.full(pattern.shape[0], -1)
    parent: dict[tuple, tuple] = {}  # by (two colours, vertex): the trees of these two colours

    def root(two: tuple[int, int], v: int) -> tuple:
        place = (two, v)
        while (above := parent.setdefault(place, place)) != place:
            parent[place] = parent[above]
            place = above
        return place
    for v in visiting_order(np.diff(pattern.indptr), order):
        beside: dict[int, list[int]] = {}
        for w in near[v]:
            if colours[w] >= 0:
                beside.setdefault(int(colours[w]), []).append(w)
        for c in itertools.count():
            trees = [[root((min(c, k), max(c, k)), w) for w in same] for k, same in beside.items()]
            if c not in beside and all(len({*roots}) == len(roots) for roots in trees):
                break
        colours[v] = c
        for k, same in beside.items():
            two = min(c, k), max(c, k)
            for w in same:
                parent[root(two, w)] = root(two, v)
    return colours


def of_rows_and_columns(pattern: csr_array, order: str) -> tuple[np.ndarray, np.ndarray]:
    """A star colouring of rows and columns, where an entry joins its row with its column; what no entry is
    read off needs no colour (Coleman and Verma, 1998)."""
    m, n = pattern.shape
    colours = star(csr_array(block_array([[csr_array((m, m), dtype=bool), pattern],
                                          [pattern.T, csr_array((n, n), dtype=bool)]])), order, far=True)
    by_row = read_by_row(pattern, colours[:m], colours[m:])
    row, column = rows_and_columns(pattern)
    rows, columns = np.full(m, -1), np.full(n, -1)
    rows[row[by_row]], columns[column[~by_row]] = colours[row[by_row]], colours[m + column[~by_row]]
    # a colour stays as it is in all its rows, or goes
    rows = np.where(np.isin(colours[:m], rows[rows >= 0]), colours[:m], -1)
    columns = np.where(np.isin(colours[m:], columns[columns >= 0]), colours[m:], -1)
    number = lambda c: np.where(c < 0, -1, np.searchsorted(np.unique(c[c >= 0]), c))
    return number(rows), number(columns)


def rows_and_columns(pattern: csr_array) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices


def unique_in_line(lines: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Of each entry, whether no other of its line has its colour. lines, colours: of the entries."""
    places = lines * (colours.max(initial=0) + 1) + colours
    return (np.bincount(places, minlength=1) == 1)[places]


def read_by_row(pattern: csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Of each entry of a coloured matrix, whether it is read off the product with the rows of a colour; else
    it is off that with the columns of one. As few colours of rows as may be: the columns are asked first."""
    row, column = rows_and_columns(pattern)
    return ~unique_in_line(row, columns[column])


COLOURINGS: dict[str, Callable] = {"columns": column_colours, "rows": row_colours, "star": star, "acyclic": acyclic,
                                   "both": of_rows_and_columns}
