"""The record of a submission: its results as plain data, from which all reports are made."""
from __future__ import annotations

import datetime
import hashlib
import math
import platform
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import __version__
from .assignment import Assignment, Part, Task
from .sandbox import Sandbox

Record = dict[str, Any]
Event = dict[str, Any]  # a message about a task while it is judged
# it does not say how the process ended: a submission could choose this, to reveal what it was asked
IN_HIDDEN = "the process ended in a hidden part"
LARGE = "Which number, list or array of yours is far larger than you think?"


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")  # noqa: UP017 (3.10)


def submission_record(assignment: Assignment, trouble: str | None, sandbox: Sandbox, term: str,
                      when: str) -> Record:
    """The record but for tasks and their points: trouble of the whole, versions of the grader, the time.

    when: the time at which grading began; that of its end would tell how long hidden parts took.
    """
    graded = {**graded_with(assignment, term), **graded_on(sandbox), "when": when}
    return {"assignment": assignment.module, "title": assignment.title, "trouble": trouble, "graded": graded}


def task_record(task: Task, parts: list[Record], trouble: str | None, seconds: float = 0.0,
                output: str = "") -> Record:
    about = {"number": task.number, "title": task.title, "seconds": round(seconds, 3)}
    return {**about, **totals(parts), "trouble": trouble, "output": output, "parts": parts}


def part_record(part: Part, cases: list[Record]) -> Record:
    """The cases share the points of their part."""
    points = round(part.points * math.fsum(case["credit"] for case in cases) / len(cases), 6)
    return {"title": part.title, "points": points, "of": part.points, "hidden": part.hidden, "cases": cases}


def case_record(name: str, credit: float, expected: str | None = None, **fields: Any) -> Record:
    """The record of a case. expected: the feedback, if it is not right.

    fields: further feedback, "given", "came_back" and "look".
    """
    feedback = {"given": None, "came_back": None, "expected": expected, "look": None, **fields}
    return {"name": name, "credit": credit, "feedback": feedback if expected else None}


def lost_cases(part: Part, done: int, text: str, expected: str = "an answer",
               look: str | None = None) -> list[Record]:
    """The records of a part's cases that were not judged: all after the first `done`."""
    feedback = {"expected": expected, "came_back": text, "look": look}
    return [case_record(name, 0.0, **feedback) for name, _ in part.named_cases()[done:]]


def task_record_of(task: Task, parts: Sequence[Part], events: Iterable[Event]) -> tuple[Record, str | None]:
    """(the record of the task, why the submission could not even be imported), from the task's events."""
    start, end = time.monotonic(), {"output": "", "trouble": None, "no import": None}
    cases: dict[str, list[Record]] = {part.title: [] for part in parts}
    for event in events:
        if "case" in event:
            cases[event["part"]].append(event["case"])
        else:
            end |= event
    for part in parts if "ended" in end else ():
        reason = f"the grader stopped here: what came back took it {end['ended']}"
        if lost := lost_cases(part, len(cases[part.title]), reason, "an answer that can be judged", LARGE):
            end["trouble"] = end["trouble"] or reason
            cases[part.title] += lost
    records = [part_record(part, cases[part.title]) for part in parts]
    seconds = time.monotonic() - start
    return task_record(task, records, end["trouble"], seconds, end["output"]), end["no import"]


def with_hidden(task: Task, visible: Record, hidden: Record) -> Record:
    """The record of a task, from those of its visible and its hidden parts, whose output does not stay."""
    titles = [part.title for part in task.parts]
    parts = sorted(visible["parts"] + hidden["parts"], key=lambda part: titles.index(part["title"]))
    trouble = visible["trouble"] or (IN_HIDDEN if hidden["trouble"] else None)
    return task_record(task, parts, trouble, visible["seconds"] + hidden["seconds"], visible["output"])


def totals(records: list[Record]) -> dict[str, float]:
    """The sums of the points, without the noise of binary fractions."""
    return {key: round(math.fsum(record[key] for record in records), 6) for key in ("points", "of")}


def graded_with(assignment: Assignment, term: str) -> dict[str, str]:
    """The facts that have to be equal if an earlier record is to be kept."""
    return {"xman": __version__, "assignment": assignment.version, "term": seed_of(term)[:12]}


def graded_on(sandbox: Sandbox) -> dict[str, str]:
    """What else has to be equal for both halves of a record."""
    return {"python": platform.python_version(), "numpy": np.__version__, "sandbox": sandbox.name}


def seed_of(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()
