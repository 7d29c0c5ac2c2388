"""The gradebook of a class: a CSV file with one row a student, for a spreadsheet."""
from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from ...files.whole import write_whole
from .view import harmless_record, sentence, troubles

VERSIONS = {"digest": "digest", "assignment": "assignment version", "xman": "xman", "python": "python", "numpy": "numpy",
            "sandbox": "sandbox", "term": "term", "when": "when"}
FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # also as full-width characters, which East Asian spreadsheets read alike


def write_gradebook(records: list[dict], path: str | Path) -> None:
    """Write the gradebook: name, file, points of all, tasks and parts, trouble, seconds, what graded it when.

    RFC 4180, in UTF-8 with the mark by which spreadsheets know it. Rows are in the order of names; the
    columns of tasks and parts are those of all records together, in the order of the assignment, empty where
    a record lacks one. XManError where the file cannot be written.
    """
    columns = sorted({key for record in records for key in _points(record)})
    headings = [f"{number}.{place} {title}" if place else f"{number}. {title}"
                for number, place, title in columns]
    rows = [["name", "file", "points", "of", *headings, "trouble", "seconds", *VERSIONS.values()]]
    for record in sorted(records, key=lambda record: (record["submission"].casefold(), record["submission"],
                                                      record["file"])):
        trouble = "; ".join(sentence(*found) for found in troubles(record))
        rows.append([record["submission"], record["file"], record["points"], record["of"],
                     *map(_points(record).get, columns), trouble, record["seconds"],
                     *map(record["graded"].get, VERSIONS)])
    text = io.StringIO(newline="")
    csv.writer(text).writerows([map(cell, row) for row in rows])
    write_whole(path, "\ufeff" + text.getvalue(), lasting=False)


def cell(value: Any) -> Any:
    """A number to four places; text that a spreadsheet might take for a formula after an apostrophe."""
    if value is None or isinstance(value, (int, float)):
        return round(value, 4) if value is not None else ""
    text = harmless_record(str(value))
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text[:1] in ("\t", "\n", "\r") else text


def _points(record: dict) -> dict[tuple, float]:
    """The points of each task, by (number, 0, title), and of each part, by (task, place, title)."""
    return {(task["number"], k, item["title"]): item["points"] for task in record["tasks"]
            for k, item in enumerate([task, *task["parts"]])}
