"""The record of a submission: what came of it, as plain data, from which every report is made."""
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
Event = dict[str, Any]  # what is told of a task while it is judged
# how is the submission's choice, and could tell what it was asked
IN_HIDDEN = "the process ended in a hidden part"


def submission_record(assignment: Assignment, tasks: list[Record], trouble: str | None, sandbox: Sandbox,
                      term: str) -> Record:
    """Its tasks, their sum, the sentence on it as a whole, and with what it was graded, when."""
    when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")  # noqa: UP017 (3.10)
    return {"assignment": assignment.module, "title": assignment.title,
            "points": points_total(tasks, "points"),
            "of": points_total(tasks, "of"), "trouble": trouble, "tasks": tasks,
            "graded": {**graded_with(assignment, term), "python": platform.python_version(),
                       "numpy": np.__version__, "sandbox": sandbox.name, "when": when}}


def task_record(task: Task, parts: list[Record], seconds: float = 0.0, trouble: str | None = None,
                output: str = "") -> Record:
    return {"number": task.number, "title": task.title, "points": points_total(parts, "points"),
            "of": points_total(parts, "of"),
            "seconds": round(seconds, 3), "trouble": trouble, "output": output, "parts": parts}


def part_record(part: Part, cases: list[Record]) -> Record:
    """The cases share the points of their part."""
    share = math.fsum(case["credit"] for case in cases) / len(cases)
    return {"title": part.title, "points": round(part.points * share, 6), "of": part.points,
            "hidden": part.hidden, "cases": cases}


def case_record(name: str, credit: float, expected: str | None = None, given: str | None = None,
                came_back: str | None = None, look: str | None = None, **more: Any) -> Record:
    """The credit of a case; without `expected` there is nothing to say of it."""
    feedback = {"given": given, "came_back": came_back, "expected": expected, "look": look, **more}
    return {"name": name, "credit": credit, "feedback": feedback if expected else None}


def unjudged(task: Task, parts: Iterable[Part], trouble: str) -> Record:
    return task_record(task, [part_record(part, [case_record(name, 0.0, "an answer", came_back=trouble)
                                                 for name, _ in part.named_cases()]) for part in parts])


def task_record_of(task: Task, parts: Sequence[Part], events: Iterable[Event]) -> tuple[Record, str | None]:
    """(the record of the task, why the submission could not even be imported), from what is told of it."""
    start, end = time.monotonic(), {"output": "", "trouble": None, "no import": None}
    cases: dict[str, list[Record]] = {part.title: [] for part in parts}
    for event in events:
        if "case" in event:
            cases[event["part"]].append(event["case"])
        else:
            end |= event
    for part in hidden_last(parts):
        for name, _ in part.named_cases()[len(cases[part.title]):]:
            said = f"the grader stopped here: what came back took it {end['ended']}"
            end["trouble"] = end["trouble"] or (IN_HIDDEN if part.hidden else said)
            cases[part.title].append(case_record(name, 0.0, "an answer that can be judged", came_back=said,
                                                 look="Which number, list or array of yours is far larger "
                                                      "than you think?"))
    records = [part_record(part, cases[part.title]) for part in parts]
    return (task_record(task, records, time.monotonic() - start, end["trouble"], end["output"]),
            end["no import"])


def hidden_last(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: part.hidden)


def points_total(records: list[Record], key: str) -> float:
    """The sum of a column, without the noise of binary fractions."""
    return round(math.fsum(record[key] for record in records), 6)


def graded_with(assignment: Assignment, term: str) -> dict[str, str]:
    """What has to be the same for two records to be of one kind."""
    return {"xman": __version__, "assignment": assignment.version, "term": seed_of(term)[:12]}


def seed_of(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()
