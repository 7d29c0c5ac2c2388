"""Turns data frames of other libraries into tables of pyarrow."""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import XManError, extra

if TYPE_CHECKING:
    import pyarrow


class TableError(XManError):
    """A table that cannot be used; the message is one sentence with the file, the row or the column."""


@contextmanager
def rows_named(rows: Sequence[int] | np.ndarray) -> Iterator[None]:
    """A context that works on these rows of a table: the row in a TableError becomes the table's own."""
    try:
        yield
    except TableError as error:
        of_table = lambda match: f", row {rows[int(match[1]) - 1] + 1},"
        raise TableError(re.sub(", row ([0-9]+),", of_table, str(error), count=1)) from None


@functools.cache
def arrow() -> Any:
    """pyarrow, with the parts of it that need an import of their own. XManError where it is missing."""
    for module in ("csv", "compute", "feather", "interchange", "ipc"):
        extra(f"pyarrow.{module}", "tables", "a table")
    return extra("pyarrow", "tables", "a table")


@functools.lru_cache(100)
def cell_kind(arrow_type: Any) -> str:
    """The kind of an Arrow type, or of its values: "truth", "number", "date", "text", "null" or ""."""
    types = arrow().types
    arrow_type = arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type
    tests = {"truth": "boolean", "number": "integer floating decimal", "date": "date timestamp",
             "null": "null", "text": "string large_string string_view"}
    is_any = lambda words: any(getattr(types, f"is_{word}")(arrow_type) for word in words.split())
    return next((kind for kind, words in tests.items() if is_any(words)), "")


def of_frame(frame: Any) -> pyarrow.Table:
    """The table of a frame: a dict of columns, a list of dicts, or an object with Arrow's or the data frames'
    protocol. What Arrow has no type for, such as words among numbers, becomes strings."""
    pa = arrow()
    if isinstance(frame, list) and all(isinstance(row, dict) for row in frame):
        names = dict.fromkeys(name for row in frame for name in row)
        frame = {name: [row.get(name) for row in frame] for name in names}
    try:
        if isinstance(frame, dict):
            return usual(pa.table({str(name): as_cells(values) for name, values in frame.items()}))
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table):
            try:
                return usual(pa.table(frame))
            except (pa.ArrowException, TypeError, OverflowError):
                if getattr(frame, "columns", None) is None or not frame.columns.is_unique:
                    raise
                return of_frame({name: values.to_numpy() for name, values in frame.items()})
        if hasattr(frame, "__dataframe__"):
            return usual(pa.interchange.from_dataframe(frame))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise TableError(f"the {type(frame).__name__} is no table: {first_line(error)}") from None
    raise TableError(f"a table is a file, a frame of pandas or polars, or a dict of columns, not a "
                     f"{type(frame).__name__}")


def as_cells(values: Any) -> Any:
    """The values of a column as an array of Arrow, of strings where they are of several kinds."""
    pa = arrow()
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return values
        array = pa.array(values, from_pandas=True)
        is_python = isinstance(values, (list, tuple))
        if is_python and pa.types.is_floating(array.type) and bool in map(type, values):
            raise pa.ArrowTypeError("a truth value behind a number, which pyarrow takes for 0 or 1")
        return array
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        if any(isinstance(x, (dict, list, tuple)) or np.ndim(x) or type(x).__str__ is object.__str__
               and type(x).__repr__ is object.__repr__ for x in values):
            raise
        if all(isinstance(x, Rational | float) and not isinstance(x, bool) and abs(x) < 2 ** 53
               for x in values):  # fractions too
            return pa.array([float(x) for x in values], from_pandas=True)
        return pa.array([None if x is None or x != x else plain(x) if isinstance(x, float) else str(x)
                         for x in values])


def plain(x: float) -> str:
    return str(int(x)) if np.isfinite(x) and x == int(x) else repr(float(x))


def usual(table: pyarrow.Table) -> pyarrow.Table:
    """The table without the index that pandas hands over as columns, in few types: durations are seconds."""
    pa, pandas = arrow(), (table.schema.metadata or {}).get(b"pandas")
    index = json.loads(pandas)["index_columns"] if pandas else ()
    table = table.select([k for k, name in enumerate(table.column_names) if name not in index])
    pieces = [(*column.chunks, column.slice(0, 0).combine_chunks()) for column in table.columns]
    columns = [pa.chunked_array([*map(usual_cells, chunks)]) for chunks in pieces]  # the last tells the type
    return pa.table(columns, table.column_names)


def usual_cells(array: Any) -> Any:
    pa, types = arrow(), arrow().types
    if types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, usual_cells(array.dictionary))
    if isinstance(array.type, pa.BaseExtensionType):
        if closed := getattr(array.type, "closed", None):  # pandas' intervals, in its words
            before, after = {"left": "[)", "right": "(]", "both": "[]", "neither": "()"}[closed]
            text = lambda x: x and f"{before}{x['left']}, {x['right']}{after}"
            return pa.array([*map(text, array.storage.to_pylist())], "string")
        return usual_cells(array.storage)
    if types.is_duration(array.type):
        microseconds = array.cast(pa.duration("us"), safe=False).cast("int64").cast("float64")
        return pa.compute.divide(microseconds, 1e6)
    if types.is_float16(array.type) or types.is_binary_view(array.type):
        return array.cast("float32" if types.is_float16(array.type) else "binary")
    is_other = any(test(array.type) for test in (types.is_string_view, types.is_large_string, types.is_time))
    return array.cast("string") if is_other else array


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
