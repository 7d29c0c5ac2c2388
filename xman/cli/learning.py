"""What xman train tells of the data before it learns."""
from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ..errors import XManError
from ..notation import table_as_text
from ..scale.streams import MEMORY
from ..scale.tables import tenths
from ..tables import Prepared
from ..train import Dataset


def findings(data: Prepared) -> str:
    """What the columns hold, as a table, and the sentences beneath it."""
    rows = [("column", "kind", "missing", "range, or the commonest"),
            *((name[:40], kind, str(missing), what) for name, kind, missing, what in data.found)]
    if len(rows) > 42:
        rows[31:-10] = [("…", "", "", f"{len(rows) - 41} more columns")]
    told = [f"{said[0].upper()}{said[1:]}." for said in data.said]
    return "\n".join([table_as_text(rows, 4), *told]) if data.found else ""


def sha256(source: str) -> dict[str, str]:
    """That of a file, as {"sha256": …}, and nothing where the source is none."""
    return {"sha256": hashlib.sha256(Path(source).read_bytes()).hexdigest()} if Path(source).is_file() else {}


def streamed(source: str, memory: float | None, unfit: dict[str, Any], **how: Any) -> Dataset:
    """The data set as streams of tables. unfit: options that no stream has; XManError where one is said."""
    if words := [word for word, value in unfit.items() if value]:
        raise XManError(f"--{words[0]} is for rows that fit into memory; leave --memory away")
    parts = tenths(source, memory or MEMORY, **how)
    data = parts[0].prepared
    return Dataset(*parts, data.classes, None, data,
                   (*(column.name for column in data.columns), data.target.name))
