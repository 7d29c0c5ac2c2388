"""Columns: what a table's cells are, and the arrays that a list reads in their place."""
from __future__ import annotations

import bisect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import nearest
from .frames import TableError, arrow, cell_kind, of_frame

if TYPE_CHECKING:
    import pyarrow


class Column(NamedTuple):
    """A column of a table by its name, and the register, an input, by which a list reads it.

    kind: "number" (floats, NaN where missing), "category" or "text" (strings, "" where missing), "date"
    (datetime64), or "array", which is a whole array of numbers (rows, …). spelling: how strings write numbers
    or dates, "1.234,5", "%d.%m.%Y"; for an array its shape without the rows, "8x8".
    """
    name: str
    register: str
    kind: str
    spelling: str = ""


# by spelling: the pattern of a number, and the changes after which Python can read it
NUMBERS = {"1,5": (r"[-+]?(\d+(,\d*)?|,\d+)([eE][-+]?\d+)?", ((",", "."),)),
           "1.234,5": (r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?|[-+]?\d*(,\d*)?", ((".", ""), (",", "."))),
           "1,234.5": (r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?|[-+]?\d*(\.\d*)?", ((",", ""),)),
           "1 234,5": (r"[-+]?\d{1,3}([  ]\d{3})+(,\d*)?|[-+]?\d*(,\d*)?", ((" ", ""), (" ", ""), (",", ".")))}
DIGITS = {"%Y": r"\d{4}", "%m": r"\d{1,2}", "%d": r"\d{1,2}"}
DATES = {form: re.sub("%.", lambda code: DIGITS[code[0]], form.replace(".", r"\."))
         for form in ("%Y-%m-%d", "%d-%m-%Y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y.%m.%d")}


def inputs(columns: Sequence[Column], table: Any, where: str = "the table") -> dict[str, np.ndarray]:
    """The arrays, by register, as which a list reads these columns of a table, in whatever order it has them.

    table: a table of pyarrow, as `read` gives it, a frame, or an array of as many columns. where: a name of
    the table for errors. TableError for a column that is missing, and a cell not of its column's kind.
    """
    if len(columns) == 1 and columns[0].kind == "array":
        return {columns[0].register: numbers_of(table, sizes(columns[0]), where)}
    if isinstance(table, (np.ndarray, list)) or hasattr(table, "tocsr"):
        table = by_position(columns, table, where)
    elif not hasattr(table, "column_names"):
        table = of_frame(table)
    chunks_of = dict(zip(table.column_names, table.columns, strict=True))
    if lacking := [column.name for column in columns if column.name not in chunks_of]:
        raise TableError(f"{where} lacks the column {lacking[0]!r}; the model was trained with "
                         f"{', '.join(repr(c.name) for c in columns[:12])}{nearest(lacking[0], chunks_of)}")
    return {column.register: cells(chunks_of[column.name], column, where) for column in columns}


def sizes(column: Column) -> tuple[int, ...]:
    return tuple(int(n) for n in column.spelling.split("x") if n.isdecimal())


def numbers_of(table: Any, shape: tuple[int, ...], where: str) -> Any:
    """An array of numbers, or a sparse matrix, (rows, *shape): the table, or its columns but a target."""
    if hasattr(table, "column_names"):
        names, width = table.column_names, math.prod(shape)
        names = names[:width] if len(names) == width + 1 else names
        table = np.stack([cells(table[name], Column(name, "", "number"), where) for name in names], 1)
        table = table.reshape(-1, *shape) if len(names) == width else table
    array = table if hasattr(table, "tocsr") else np.asarray(table)
    if array.dtype.kind not in "biuf" or array.shape[1:] != shape:
        raise TableError(f"{where} is an array of {array.dtype} of shape {array.shape}; wanted numbers of "
                         f"shape (rows, {', '.join(map(str, shape))})")
    return array.tocsr() if hasattr(array, "tocsr") else array


def by_position(columns: Sequence[Column], table: Any, where: str) -> Any:
    """The table of an array (rows, columns), whose columns are in the order of training."""
    array = np.asarray(table.toarray() if hasattr(table, "toarray") else table, object
                       if isinstance(table, list) else None)
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise TableError(f"{where} has shape {array.shape}; wanted {len(columns)} columns: "
                         f"{', '.join(repr(c.name) for c in columns[:12])}")
    names = [column.name for column in columns]
    return arrow().table({name: list(x) if x.dtype == object else x
                          for name, x in zip(names, array.T, strict=True)})


def cells(chunks: pyarrow.ChunkedArray, column: Column, where: str) -> np.ndarray:
    """The cells of a column as its kind has them. TableError names the first that is not of this kind."""
    return read_as(column_values, chunks, column, where)


def read_as(values: Callable[..., Any], chunks: pyarrow.ChunkedArray, column: Column, where: str) -> Any:
    """values(chunks, column). TableError names the first cell that is not of its column's kind."""
    def failing(rows: int) -> bool:
        try:
            values(chunks.slice(0, rows), column)
        except arrow().ArrowException:
            return True
        return False
    try:
        return values(chunks, column)
    except arrow().ArrowException:
        row = 1 + bisect.bisect(range(1, len(chunks)), False, key=failing)
    cell = str(chunks[row - 1].as_py())[:60]
    raise TableError(f"{where}, row {row}, column {column.name!r}: found {cell!r}, wanted a "
                     f"{column.kind}" + (f" such as {column.spelling}" if column.spelling else "")
                     + "; mend the cell, or leave it empty")


def column_values(chunks: pyarrow.ChunkedArray, column: Column) -> np.ndarray:
    pa, kind, spelling = arrow(), column.kind, column.spelling
    pc, arrow_kind = pa.compute, cell_kind(chunks.type)
    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    if kind in ("number", "date"):
        if arrow_kind in ("text", "null"):
            chunks = pc.utf8_trim_whitespace(chunks.cast("string"))
            if kind == "number":
                for old, new in NUMBERS[spelling][1] if spelling else ():
                    chunks = pc.replace_substring(chunks, old, new)
                chunks = pc.if_else(pc.equal(chunks, ""), None, chunks)
            elif spelling:
                chunks = pc.strptime(chunks, spelling, "s")
        cast_type, dtype = ("float64", float) if kind == "number" else (pa.timestamp("ms"), "datetime64[ms]")
        return chunks.cast(cast_type, safe=False).to_numpy(zero_copy_only=False).astype(dtype, copy=False)
    if kind == "category":
        words, places = words_and_places(chunks, column)
        return words[places]
    return without_nul(chunks, column).to_numpy(zero_copy_only=False)


def words_and_places(chunks: pyarrow.ChunkedArray, column: Column) -> tuple[np.ndarray, np.ndarray]:
    """The different words of a category's cells, and for each cell the place of its word among them."""
    pc = arrow().compute
    if cell_kind(chunks.type) == "truth":
        chunks = pc.if_else(chunks, "True", "False")
    coded = pc.dictionary_encode(chunks.cast("string"), null_encoding="encode").combine_chunks()
    words = pc.utf8_trim_whitespace(without_nul(coded.dictionary, column)).to_pylist()
    return np.array([truth(word) for word in words], object), coded.indices.to_numpy(zero_copy_only=False)


def without_nul(texts: Any, column: Column) -> Any:
    """The cells as strings, "" where missing. TableError where one holds a NUL."""
    pc = arrow().compute
    texts = pc.fill_null(texts.cast("string"), "")
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise TableError(f"the column {column.name!r} holds a NUL character, so this is no text; mend the "
                         "file")
    return texts


def truth(word: str) -> str:
    return word.capitalize() if word.lower() in ("true", "false") else word


def spelling_of(words: Iterable[str], day_first: bool = False) -> tuple[str, str]:
    """("number" or "date", the spelling) of strings that all write such a thing; ("", "") of others."""
    words = [word for word in words if word]
    for spelling, (pattern, _) in NUMBERS.items():
        if words and all(re.fullmatch(pattern, word) for word in words):
            return "number", spelling
    fit = [form for form, pattern in DATES.items() if words
           and all(re.fullmatch(pattern, word) for word in words)]
    for form in sorted(fit, key=lambda form: form.startswith("%d") != day_first):
        if all(is_dated(word, form) for word in words):
            return "date", form
    return "", ""


def is_dated(word: str, form: str) -> bool:
    try:
        return bool(datetime.strptime(word, form))
    except ValueError:
        return False
