"""Frames of other libraries as tables of pyarrow."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import XManError, extra

if TYPE_CHECKING:
    import pyarrow


class TableError(XManError):
    """A table that cannot be used; the message is one sentence with the file, the row or the column."""


def arrow() -> Any:
    for part in ("pyarrow.csv", "pyarrow.compute"):
        extra(part, "tables", "a table")
    return extra("pyarrow", "tables", "a table")


def of_frame(frame: Any) -> pyarrow.Table:
    """The table of a frame: a dict of columns, or what speaks Arrow's protocol or that of data frames."""
    pa = arrow()
    try:
        if isinstance(frame, dict):
            return pa.table(frame)
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table):
            return unnamed_apart(pa.table(frame))
        if hasattr(frame, "__dataframe__"):
            return extra("pyarrow.interchange", "tables", "a table").from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(f"the {type(frame).__name__} is no table: {first_line(error)}") from None
    raise TableError(f"a table is a file, a frame of pandas or polars, or a dict of columns, not a "
                     f"{type(frame).__name__}")


def unnamed_apart(table: pyarrow.Table) -> pyarrow.Table:
    """The table without the index that pandas hands over as a column."""
    return table.drop_columns([name for name in table.column_names
                               if re.fullmatch("__index_level_[0-9]+__", name)])


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
