"""The gradebook of a class: a CSV file with one row a student, for a spreadsheet."""
from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from ...files.whole import write_whole
from .view import harmless_record, in_order_of_names, remark_line

VERSIONS = "digest", "assignment version", "xman", "python", "numpy", "sandbox", "term", "when"
# Where the comma is that of decimal fractions a spreadsheet splits cells at semicolons, quoted or not: each
# piece is a cell. What one may begin with is listed, not what not: there is a full-width =, a small one, …
UNKNOWN = re.compile(r"(^|[;|\t\r\n\uff1b])(?=[\s\"']*[^\w\s\"'(\[{<`.,:?!…])")


def write_gradebook(records: list[dict], path: str | Path) -> None:
    """Write the gradebook: name, file, total, points of tasks and parts, trouble, seconds, versions, time.

    It is in the format RFC 4180, in UTF-8 with the mark by which spreadsheets know it. Rows are sorted by
    name. All tasks and parts of any record have columns, in the order of the assignment, empty where a record
    lacks one. XManError where the file cannot be written.
    """
    columns = sorted({key for record in records for key in _points(record)})
    headings = [f"{number}.{place or ''} {title}" for number, place, title in columns]
    rows = [["name", "file", "points", "of", *headings, "trouble", "seconds", *VERSIONS]]
    for record in in_order_of_names(records):
        leading_cells = [record[key] for key in ("submission", "file", "points", "of")]
        versions = [record["graded"].get(name.split()[0]) for name in VERSIONS]
        points = map(_points(record).get, columns)
        rows.append([*leading_cells, *points, remark_line(record), record["seconds"], *versions])
    write_rows(path, [[*map(cell, row)] for row in rows], marked=True, lasting=False)


def write_rows(path: str | Path, rows: list[list[Any]], marked: bool = False, lasting: bool = True) -> None:
    """Write a CSV file of these cells as they are. marked: with the mark by which spreadsheets know UTF-8."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_whole(path, "\ufeff" * marked + text.getvalue(), lasting=lasting)


def cell(value: Any) -> Any:
    """A number to four places; an apostrophe before text that a spreadsheet might take for a formula."""
    if isinstance(value, (int, float)):
        return round(value, 4)
    text = harmless_record("" if value is None else str(value))
    text = UNKNOWN.sub(r"\1'", text)
    return f"'{text}" if text[:1] in ("\t", "\n", "\r") else text


def _points(record: dict) -> dict[tuple, float]:
    """The points of each task, by (number, 0, title), and of each part, by (task, place, title)."""
    numbered = ((task, k, item) for task in record["tasks"] for k, item in enumerate([task, *task["parts"]]))
    return {(task["number"], k, item["title"]): item["points"] for task, k, item in numbered}
