"""Columns: what a table's cells are, and the arrays that a list reads in their place."""
from __future__ import annotations

import bisect
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import nearest
from .frames import TableError, arrow, as_cells, cell_kind, of_frame, plain
from .spellings import EXAMPLE, FORMS, WRITTEN, dates, numbers, texts

if TYPE_CHECKING:
    import pyarrow


class Column(NamedTuple):
    """A column of a table by its name, and the register, an input, by which a list reads it.

    kind: "number" (floats, NaN where missing), "category" or "text" (strings, "" where missing), "date"
    (datetime64), or "array", which is a whole array of numbers (rows, …). spelling: how strings write numbers
    or dates, "1.234,5 €", "%d.%m.%Y"; of a target that is a category, how they write the numbers that are
    its classes; for an array its shape without the rows, "8x8".
    """
    name: str
    register: str
    kind: str
    spelling: str = ""


def inputs(columns: Sequence[Column], table: Any, where: str = "the table",
           steps: Sequence = ()) -> dict[str, np.ndarray]:
    """The arrays, by register, as which a list reads these columns of a table, in whatever order it has them.

    table: a table of pyarrow, as `read` gives it, a frame, or an array of as many columns. where: a name of
    the table for errors. steps: the list, which has the words of each category: a number in a column of words
    is the word that writes it, as 1 is "01". TableError for a column that is missing, and a cell not of its
    column's kind.
    """
    if len(columns) == 1 and columns[0].kind == "array":
        return {columns[0].register: numbers_of(table, sizes(columns[0]), where)}
    is_rows = isinstance(table, list) and not (table and isinstance(table[0], dict))
    if isinstance(table, np.ndarray) or is_rows or hasattr(table, "tocsr"):
        table = by_position(columns, table, where)
    elif not hasattr(table, "column_names"):
        table = of_frame(table)
    chunks_of = dict(zip(table.column_names, table.columns, strict=True))
    if lacking := [column.name for column in columns if column.name not in chunks_of]:
        raise TableError(f"{where} lacks the column {lacking[0]!r}; the model was trained with "
                         f"{', '.join(repr(c.name) for c in columns[:12])}{nearest(lacking[0], chunks_of)}")
    words = vocabularies(steps)
    return {column.register: cells(chunks_of[column.name], column, where, words.get(column.register, ()))
            for column in columns}


def vocabularies(steps: Sequence) -> dict[str, tuple[str, ...]]:
    """The words of each category that have a place of their own, by the register of its column."""
    return {args[0]: args[1] for _, op, args in steps if op == "codes"}


def unseen(columns: Sequence[Column], arrays: Mapping[str, np.ndarray],
           steps: Sequence) -> dict[str, Counter]:
    """By the column's name, how often each word occurs that the list does not tell from others; and inf, for
    infinite numbers."""
    words, counts = vocabularies(steps), {}
    for name, register, kind, _ in columns:
        if register in words:
            counts[name] = Counter(word for word in arrays[register].tolist() if word not in words[register])
        elif kind == "number" and (n := int(np.isinf(arrays[register]).sum())):
            counts[name] = Counter({math.inf: n})
    return counts


def infinite_text(name: str, n: int) -> str:
    return f"{name!r} has {n:,} infinite number{'s, which count' if n > 1 else ', which counts'} as missing"


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
    if array.dtype == object:
        with suppress(ValueError, TypeError):
            array = array.astype(float)
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
    return arrow().table({name: as_cells(x) for name, x in zip(names, array.T, strict=True)})


def cells(chunks: pyarrow.ChunkedArray, column: Column, where: str, words: Sequence[str] = ()) -> np.ndarray:
    """The cells of a column as its kind has them. TableError names the first that is not of this kind."""
    return read_as(column_values, chunks, column, where, words)


def read_as(values: Callable[..., Any], chunks: pyarrow.ChunkedArray, column: Column, where: str,
            words: Sequence[str] = ()) -> Any:
    """values(chunks, column, words). TableError names the first cell that is not of its column's kind."""
    if arrow().types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)

    def failing(rows: int) -> bool:
        try:
            values(chunks.slice(0, rows), column, words)
        except arrow().ArrowException:
            return True
        return False
    try:
        return values(chunks, column, words)
    except arrow().ArrowException:
        row = 1 + bisect.bisect(range(1, len(chunks)), False, key=failing)
    cell = str(chunks[row - 1].as_py())[:60]
    raise TableError(f"{where}, row {row}, column {column.name!r}: found {cell!r}, wanted a "
                     + (f"{'number' if column.spelling and column.kind == 'category' else column.kind}")
                     + (f" such as {written_example(column.spelling)}" if column.spelling else "")
                     + "; mend the cell, or leave it empty")


def column_values(chunks: pyarrow.ChunkedArray, column: Column, words: Sequence[str] = ()) -> np.ndarray:
    pa, kind, spelling = arrow(), column.kind, column.spelling
    if kind == "category":
        distinct, places = words_and_places(chunks, column, words)
        return distinct[places]
    if kind == "text":
        return without_nul(as_words(chunks), column).to_numpy(zero_copy_only=False)
    arrow_kind = cell_kind(chunks.type)
    if arrow_kind in ("text", "null"):
        if kind == "number" and not spelling:
            with suppress(pa.ArrowInvalid):  # as most cells are: nothing to trim, no word for "missing"
                return numbers(chunks, spelling)
        chunks = texts(chunks, is_number=True)
        if kind == "number" or spelling:
            return (numbers if kind == "number" else dates)(chunks, spelling)
    elif kind == "date" and arrow_kind == "number" and spelling:
        return dates(as_words(chunks), spelling)
    elif kind == "date" and arrow_kind != "date":
        raise pa.ArrowInvalid("no date")
    cast_type, dtype = ("float64", float) if kind == "number" else (pa.timestamp("ms"), "datetime64[ms]")
    return chunks.cast(cast_type, safe=False).to_numpy(zero_copy_only=False).astype(dtype, copy=False)


def words_and_places(chunks: pyarrow.ChunkedArray, column: Column,
                     vocabulary: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
    """The different words of a category's cells, and for each cell the place of its word among them."""
    if column.spelling and cell_kind(chunks.type) in ("text", "null"):
        values = column_values(chunks, column._replace(kind="number"))
        chunks = arrow().chunked_array([arrow().array(values, from_pandas=True)])
    coded = as_words(chunks, vocabulary).dictionary_encode(null_encoding="encode").combine_chunks()
    words = without_nul(coded.dictionary, column).to_pylist()
    return np.array([truth(word) for word in words], object), coded.indices.to_numpy(zero_copy_only=False)


def as_words(chunks: pyarrow.ChunkedArray, vocabulary: Sequence[str] = ()) -> pyarrow.ChunkedArray:
    """The cells as strings: 1 and 1.0 are "1", or the word of the vocabulary that writes this number."""
    pa, kind = arrow(), cell_kind(chunks.type)
    if kind == "truth":
        return pa.compute.if_else(chunks, "True", "False")
    if kind != "number":
        return texts(chunks)
    if pa.types.is_integer(chunks.type):
        ends = pa.compute.min_max(chunks).as_py()
        if (ends["max"] or 0) > 2 ** 53:
            return chunks.cast("string")
    coded = chunks.cast("float64", safe=False).dictionary_encode().combine_chunks()
    spelled = {x: word for word in vocabulary if (x := float_of(word)) is not None}
    spelled |= {x: plain(x) for x in spelled if plain(x) in vocabulary}
    words = [None if x != x else spelled.get(x, plain(x)) for x in coded.dictionary.to_pylist()]
    return pa.chunked_array([pa.array(words, "string").take(coded.indices)])


def float_of(text: str) -> float | None:
    try:
        return float(text) if "_" not in text and text.isascii() else None
    except ValueError:
        return None


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


def written_example(spelling: str) -> str:
    """What is spelled so: a number as its spelling has it, or a moment of the last day of March."""
    return re.sub("%.", lambda code: WRITTEN["example"][code[0]], spelling) if spelling in FORMS else spelling


def is_spelling(column: Column) -> bool:
    spelling = column.spelling
    if column.kind in ("number", "category"):
        return not spelling or len(spelling) < 40 and re.fullmatch(EXAMPLE, spelling) is not None
    return not spelling or column.kind == "date" and spelling in FORMS
