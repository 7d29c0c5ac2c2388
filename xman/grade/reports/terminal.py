"""Reports for a terminal: plain text."""
from __future__ import annotations

import re
import shutil
import statistics
import sys
import unicodedata
from collections.abc import Iterator
from itertools import accumulate, takewhile

from . import view
from .view import in_points, is_full

LABEL = 14  # the columns of "Look at next" and two spaces
LINES, PRINTED = 8, 20  # the most lines that are shown of a field of the feedback, of a task's output


def report_table(record: dict, width: int | None = None) -> str:
    """The report of a submission for its student: points, what failed, what was printed.

    Checks have no points, but passed or failed. width: columns of a line (None: the terminal's).
    """
    width = width or max(40, min(100, shutil.get_terminal_size().columns))
    record = view.for_student(record)
    title = ", ".join(_one(record[key]) for key in ("submission", "title") if record.get(key))
    lines = [_row(title, record, width), *_wrap(record["trouble"] or "", width)]
    for task in record["tasks"]:
        lines += ["", _row(f"{task['number']}. {_one(task['title'])}", task, width)]
        lines += _wrap(task["trouble"] or "", width, 3)
        for part in task["parts"]:
            lines.append(_row(f"   {_one(part['title'])}{' (hidden)' * part['hidden']}", part, width))
            for case in view.failures(part):
                lines += _wrap(case["heading"], width, 5)
                for label, text in case["rows"]:
                    first, *continued = _shortened(_wrap(text, width, 7 + LABEL), LINES, 7 + LABEL)
                    lines += [f"{'':7}{label:{LABEL}}{first[7 + LABEL:]}", *continued]
        if printed := task["output"].rstrip():
            lines += ["   What it printed:", *_shortened(_wrap(printed, width, 5), PRINTED, 5)]
    return "\n".join(lines) + "\n"


def class_table(records: list[dict], width: int | None = None) -> str:
    """A line per submission: name, points, points of tasks, seconds, trouble; then mean and median.

    width: columns of a line (None: the terminal's; no limit without one). Long trouble has lines of its own.
    """
    width = width or shutil.get_terminal_size((sys.maxsize, 0)).columns
    records = view.harmless_record(records)
    tasks = sorted({task["number"] for record in records for task in record["tasks"]})
    names = min(32, max([10, *(text_width(_one(record["submission"])) for record in records)]))
    columns = width - names - 8 * (len(tasks) + 2) - 2
    lines = [padded("submission", names) + "".join(f"{head!s:>8}" for head in ("points", *tasks, "seconds"))]
    for record in records:
        points = {task["number"]: in_points(task["points"]) for task in record["tasks"]}
        cells = [in_points(record["points"]), *(points.get(task, "") for task in tasks)]
        line = padded(_one(record["submission"]), names) + "".join(f"{cell:>8}" for cell in cells)
        remark = view.remark_line(record)
        fits = text_width(remark) <= columns
        lines.append(f"{line}{record['seconds']:8.1f}  {remark if fits else ''}".rstrip())
        lines += [] if fits else _shortened(_wrap(remark, width, 2), LINES, 2)
    count = f"{len(records)} submission{'s' * (len(records) != 1)}"
    if points := [record["points"] for record in records]:
        mean, median, of = statistics.mean(points), statistics.median(points), max(r["of"] for r in records)
        count += f", mean {in_points(mean)}, median {in_points(median)} of {in_points(of)}"
    return "\n".join([*lines, "", count]) + "\n"


def text_width(text: str) -> int:
    """The columns of text on a terminal: two for a wide character, none for one that combines."""
    if text.isascii():
        return len(text)
    visible = [char for char in text if unicodedata.category(char) not in ("Mn", "Me", "Cf")]
    return len(visible) + sum(unicodedata.east_asian_width(char) in "WF" for char in visible)


def _one(text: str) -> str:
    return " ".join(text.split())


def _row(title: str, item: dict, width: int) -> str:
    """The title, cut if too long, and at the right edge `points of …`, or passed or failed."""
    points = "passed" if is_full(item) else "failed"
    if item["of"]:
        points = f"{in_points(item['points']):>6} of {in_points(item['of']):>3}"
    return padded(title, width - len(points) - 1) + " " + points


def _shortened(lines: list[str], max_lines: int, indent: int) -> list[str]:
    cut_note = f"{' ' * indent}… {len(lines) - max_lines + 1} more lines"
    return lines if len(lines) <= max_lines else [*lines[:max_lines - 1], cut_note]


def _wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """The text in indented lines of at most this width; lines of a matrix keep their leading spaces."""
    paragraphs, columns = text.expandtabs(4).split("\n") if text else (), max(16, width - indent)
    return [" " * indent + line for paragraph in paragraphs for line in _fold(paragraph, columns)]


def _fold(paragraph: str, columns: int) -> Iterator[str]:
    line = ""
    for word in re.findall(r"\s*\S+", paragraph):
        if line and text_width(line + word) > columns:
            yield line
            line, word = "", word.lstrip()
        while (head := _prefix(word, columns)) != word:  # the word is longer than a line
            yield head
            word = word[len(head):]
        line += word
    yield line


def _prefix(text: str, columns: int) -> str:
    return text[:sum(1 for _ in takewhile(columns.__ge__, accumulate(map(text_width, text))))]


def padded(text: str, columns: int) -> str:
    text = text if text_width(text) <= columns else _prefix(text, columns - 1) + "…"
    return text + " " * (columns - text_width(text))
