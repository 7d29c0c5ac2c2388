"""Turns data frames of other libraries into tables of pyarrow."""
from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from ..errors import XManError, extra

if TYPE_CHECKING:
    import pyarrow


class TableError(XManError):
    """A table that cannot be used; the message is one sentence with the file, the row or the column."""


@functools.cache
def arrow() -> Any:
    """pyarrow, with the parts of it that need an import of their own. XManError where it is missing."""
    for module in ("csv", "compute", "feather", "interchange", "ipc"):
        extra(f"pyarrow.{module}", "tables", "a table")
    return extra("pyarrow", "tables", "a table")


def cell_kind(arrow_type: Any) -> str:
    """The kind of an Arrow type, or of its values: "truth", "number", "date", "text", "null" or ""."""
    types = arrow().types
    arrow_type = arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type
    tests = {"truth": "boolean", "number": "integer floating decimal", "date": "date timestamp",
             "null": "null", "text": "string large_string string_view"}
    return next((kind for kind, words in tests.items()
                 if any(getattr(types, f"is_{word}")(arrow_type) for word in words.split())), "")


def of_frame(frame: Any) -> pyarrow.Table:
    """The table of a frame: a dict of columns, or an object with Arrow's or the data frames' protocol."""
    pa = arrow()
    try:
        if isinstance(frame, dict):
            return usual(pa.table(frame))
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table):
            return usual(pa.table(frame))
        if hasattr(frame, "__dataframe__"):
            return usual(pa.interchange.from_dataframe(frame))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(f"the {type(frame).__name__} is no table: {first_line(error)}") from None
    raise TableError(f"a table is a file, a frame of pandas or polars, or a dict of columns, not a "
                     f"{type(frame).__name__}")


def usual(table: pyarrow.Table) -> pyarrow.Table:
    """The table without the index that pandas hands over as columns, its strings in Arrow's first type."""
    pa, pandas = arrow(), (table.schema.metadata or {}).get(b"pandas")
    index = json.loads(pandas)["index_columns"] if pandas else ()
    names = [name for name in table.column_names if name not in index]
    return pa.table({name: pa.chunked_array([usual_strings(chunk) for chunk in table[name].chunks],
                                            usual_strings(table[name].slice(0, 0).combine_chunks()).type)
                     for name in names}) if len({*names}) == len(names) else table.select(names)


def usual_strings(array: Any) -> Any:
    types = arrow().types
    if types.is_dictionary(array.type):
        return arrow().DictionaryArray.from_arrays(array.indices, usual_strings(array.dictionary))
    is_other = types.is_string_view(array.type) or types.is_large_string(array.type)
    return array.cast("string") if is_other else array


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
