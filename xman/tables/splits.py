"""Which rows of a table train, choose and judge: those with a target, by class or in an order."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import refuse_unknown
from .columns import Column, cells
from .frames import TableError, arrow, cell_kind
from .kinds import absent, column_kind, missing_words
from .readers import DataError
from .spellings import spelling_of, texts


def with_target(chunks: Any, name: str, notes: list[str]) -> np.ndarray:
    """The numbers of the rows whose target is not missing. notes: gets a sentence on the others."""
    pc = arrow().compute
    words = texts(chunks) if cell_kind(chunks.type) in ("text", "null") else chunks
    classes = missing_words(chunks)
    if words is not chunks and spelling_of(words.drop_null().unique())[0]:
        words, classes = texts(chunks, is_number=True), ""
    missing = np.asarray(pc.is_null(words, nan_is_null=True))
    if missing.all():
        raise TableError(f"the target {name!r} is missing in every row; --target names another column")
    if missing.any():
        notes.append(f"{(n := int(missing.sum())):,} row{'s' * (n > 1)} without a target {name!r} left out"
                     + f", with {classes} read as missing; write another word where it is a class"
                     * bool(classes))
    return np.flatnonzero(~missing)


def order_by_date(table: Any, name: str, day_first: bool) -> np.ndarray:
    """The numbers of the rows in the order of a column of dates or numbers; first those without one."""
    refuse_unknown([name], table.column_names, "--ordered-by {}: there is no such column")
    kind, spelling = column_kind(table[name], name, day_first, None, [])
    if kind not in ("number", "date"):
        raise TableError(f"--ordered-by {name}: the column holds neither dates nor numbers")
    moments = cells(table[name], Column(name, "", kind, spelling), "the table")
    order = np.argsort(moments, kind="stable")
    return np.roll(order, absent(moments, kind).sum())


def numbers_in(table: Any, name: str) -> np.ndarray:
    """The numbers of a column, (rows,), of which none may be missing."""
    kind, spelling = column_kind(table[name], name, False, None, [])
    column = Column(name, "", "number", spelling if kind == "number" else "")
    numbers = cells(table[name], column, "the table")
    if not np.isfinite(numbers).all():
        row = int(np.isfinite(numbers).argmin()) + 1
        raise TableError(f"the table, row {row}, column {name!r}: found no number; give every row that "
                         "trains one")
    return numbers


def split_rows(path: Path, labels: np.ndarray, shares: list[float], seed: int,
               order: np.ndarray | None = None) -> list[np.ndarray]:
    """The numbers of the rows, cut at these shares of them: in this order, or shuffled, with each class in
    the same shares and its first row in the first part."""
    rows, first = len(labels), 1
    if order is None:
        order = np.random.default_rng(seed).permutation(rows)
        if labels.dtype == object:
            # a class of four has its rows at 0, ¼, ½ and ¾, and so ends in all parts
            _, places, sizes = np.unique(labels[order].astype(str), return_inverse=True, return_counts=True)
            by_class = np.argsort(places, kind="stable")
            rank = np.empty(rows)
            rank[by_class] = np.concatenate([np.arange(size) / size for size in sizes])
            order, first = order[np.argsort(rank, kind="stable")], len(sizes)
    ends = [round(rows * share) for share in shares]
    if rows < 10 and shares[0] < 1 or first > ends[0]:
        of_classes = f" of {first} classes" * (first > 1)
        raise DataError(f"{path}: found {rows} row{'s' * (rows != 1)}{of_classes}, too few to be split; wanted 10 "
                        "or more, or a file for each part.")
    return np.split(order, ends)
