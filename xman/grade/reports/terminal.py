"""Reports for a terminal: plain text, in colour where that is asked for."""
from __future__ import annotations

import re
import shutil
import statistics
import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate, takewhile

from .view import (
    failures,
    for_student,
    grader_errors,
    harmless_record,
    in_points,
    is_full,
    sentence,
    troubles,
)

Paint = Callable[[str, int], str]
BOLD, DIM, RED, GREEN, YELLOW = 1, 2, 31, 32, 33
LABEL = 14  # the columns of "Look at next" and two spaces
LINES, PRINTED = 8, 20  # that are shown of a field of the feedback, of what a task printed


def report_table(record: dict, colour: bool = False, width: int | None = None) -> str:
    """The report of a submission as its student may see it: points, what failed, what was printed.

    Of checks, without points, whether they passed. width: columns of a line (None: the terminal's).
    """
    width = width or _terminal()
    record = for_student(record)
    paint = _paint if colour else _plain
    title = ", ".join(_one(record[key]) for key in ("submission", "title") if record.get(key))
    lines = [_row(title, record, width, paint, BOLD)]
    lines += [paint(line, RED) for line in _wrap(record["trouble"] or "", width)]
    for task in record["tasks"]:
        title = f"{task['number']}. {_one(task['title'])}"
        lines += ["", _row(title, task, width, paint, BOLD)]
        lines += [paint(line, RED) for line in _wrap(task["trouble"] or "", width, 3)]
        for part in task["parts"]:
            lines.append(_row(f"   {_one(part['title'])}{' (hidden)' if part['hidden'] else ''}", part, width,
                              paint))
            for case in failures(part):
                lines += _case_lines(case, width, paint)
        if printed := task["output"].rstrip():
            lines += [paint("   What it printed:", DIM), *_most(_wrap(printed, width, 5), PRINTED, 5)]
    return "\n".join(lines) + "\n"


def class_table(records: list[dict], colour: bool = False, width: int | None = None) -> str:
    """A line per submission: name, points, points of tasks, seconds, trouble; then mean and median."""
    width = width or _terminal()
    paint = _paint if colour else _plain
    records = harmless_record(records)
    tasks = sorted({task["number"] for record in records for task in record["tasks"]})
    names = min(32, max([10, *(text_width(_one(record["submission"])) for record in records)]))
    lines = [paint(_pad("submission", names) + "".join(f"{head!s:>8}"
                                                       for head in ("points", *tasks, "seconds")), BOLD)]
    for record in records:
        points = {task["number"]: in_points(task["points"]) for task in record["tasks"]}
        line = _pad(_one(record["submission"]), names) + paint(f"{in_points(record['points']):>8}",
                                                               _shade(record))
        line += "".join(f"{points.get(task, ''):>8}" for task in tasks) + f"{record['seconds']:8.1f}"
        remark = "; ".join(sentence(*found) for found in troubles(record))
        if any(grader_errors(record)):
            remark = f"THE GRADER FAILED. {remark}"
        room = max(16, width - names - 8 * (len(tasks) + 2) - 2)
        lines.append(f"{line}  {paint(_cut(remark, room), RED)}" if remark else line)
    count = f"{len(records)} submission{'s' * (len(records) != 1)}"
    if points := [record["points"] for record in records]:
        of = in_points(max(record["of"] for record in records))
        count += (f", mean {in_points(statistics.mean(points))}, median "
                  f"{in_points(statistics.median(points))} of {of}")
    return "\n".join([*lines, "", count]) + "\n"


def text_width(text: str) -> int:
    """The columns of text on a terminal: two for a wide character, none for one that joins another."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 2
               if unicodedata.east_asian_width(char) in "WF" else 1
               for char in text)


def _terminal() -> int: return max(40, min(100, shutil.get_terminal_size().columns))
def _paint(text: str, code: int) -> str: return f"\x1b[{code}m{text}\x1b[0m"
def _plain(text: str, code: int) -> str: return text
def _one(text: str) -> str: return " ".join(text.split())
def _shade(item: dict) -> int: return GREEN if is_full(item) else YELLOW if item["points"] else RED
def _cut(text: str, room: int) -> str: return text if text_width(text) <= room else _prefix(text,
                                                                                            room - 1) + "…"


def _row(title: str, item: dict, width: int, paint: Paint, code: int | None = None) -> str:
    """The title, and at the right edge `points of …` or passed or failed; a title that is too long is cut."""
    points = (f"{in_points(item['points']):>6} of {in_points(item['of']):>3}" if item["of"] else
              "passed" if is_full(item) else "failed")
    title = _cut(title, width - len(points) - 1)
    return ((paint(title, code) if code else title) + " " * (width - len(points) - text_width(title))
            + paint(points, _shade(item)))


def _case_lines(case: dict, width: int, paint: Paint) -> Iterator[str]:
    partly = f"{case['credit']:.0%} of the credit" if case["credit"] else ""
    if heading := ", ".join(filter(None, (case["name"], partly))):
        yield from _wrap(heading, width, 5)
    for label, text in case["rows"]:
        first, *rest = _most(_wrap(text, width, 7 + LABEL), LINES, 7 + LABEL)
        yield " " * 7 + paint(_pad(label, LABEL), DIM) + first[7 + LABEL:]
        yield from rest


def _most(lines: list[str], most: int, indent: int) -> list[str]:
    return (lines if len(lines) <= most
            else [*lines[:most - 1], f"{' ' * indent}… {len(lines) - most + 1} more lines"])


def _wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """The lines of text, indented, none wider than fits; those of a matrix keep their leading spaces."""
    room = max(16, width - indent)
    return [" " * indent + line for paragraph in text.expandtabs(4).split("\n") if text
            for line in _fold(paragraph, room)]


def _fold(paragraph: str, room: int) -> Iterator[str]:
    line = ""
    for word in re.findall(r"\s*\S+", paragraph):
        if line and text_width(line + word) > room:
            yield line
            line, word = "", word.lstrip()
        while (head := _prefix(word, room)) != word:  # one word that is longer than a line
            yield head
            word = word[len(head):]
        line += word
    yield line


def _prefix(text: str, room: int) -> str:
    return text[:sum(1 for _ in takewhile(room.__ge__, accumulate(map(text_width, text))))]


def _pad(text: str, room: int) -> str:
    text = _cut(text, room)
    return text + " " * (room - text_width(text))
