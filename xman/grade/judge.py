"""Judge one submission: a worker for each task, its parts one after the other, and a record of what came of it."""
from __future__ import annotations

import datetime
import hashlib
import math
import platform
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import XManError
from ..sandbox import Sandbox
from .assignment import Assignment, Part, Task, load_checks
from .compare import Failed, Wrong, scale
from .reports.terminal import table as checks_table
from .session import Session, Student
from .submissions import harmless


def judge(assignment: Assignment, folder: Path, sandbox: Sandbox, term: str, checks: bool = False,
          stop: threading.Event | None = None) -> dict[str, Any]:
    """The record of the submission that lies unpacked in a folder; plain data, as JSON holds it.

    term: the secret of a term; inputs are drawn from it, so that they are the same for all submissions, and not known before.
    checks: run the checks that a student has in place of the graded parts. stop: once it is set, all workers end at once, and
    the record is worth nothing.
    """
    start, tasks, trouble = time.monotonic(), [], None
    for task in assignment.tasks:
        parts = task.checks if checks else task.parts
        if trouble:  # an import that fails, fails for every task
            tasks.append(task_record(task, [part_record(part, no_answer(part, trouble)) for part in parts], 0.0, None, ""))
            continue
        record, trouble = judged_task(assignment, task, parts, folder, sandbox, term, stop)
        tasks.append(record)
    return {"assignment": assignment.module, "title": assignment.title, "points": total(tasks, "points"), "of": total(tasks, "of"),
            "trouble": trouble, "tasks": tasks, "seconds": round(time.monotonic() - start, 3),
            "graded": {**versions(), "assignment": assignment.version(), "sandbox": sandbox.name, "term": seed_of(term)[:12],
                       "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}}


def check(folder: Path | str = ".") -> bool:
    """Whether a student's work in the folder of a hand-out passes the checks that came with it; prints what they found.

    The work runs in a process of its own, but in no sandbox: it is the student's own.
    """
    folder = Path(folder).resolve()
    try:
        assignment = load_checks(folder)
        if not (folder / f"{assignment.module}.py").is_file():
            raise XManError(f"there is no {assignment.module}.py in {folder}")
        record = judge(assignment, folder, Sandbox.here(unsafe=True), secrets.token_hex(8), checks=True)
    except XManError as error:
        print(f"xman: {error}", file=sys.stderr)
        return False
    print(checks_table(record))
    return all(case["credit"] == 1 for task in record["tasks"] for part in task["parts"] for case in part["cases"])


def judged_task(assignment: Assignment, task: Task, parts: Sequence[Part], folder: Path, sandbox: Sandbox,
                term: str, stop: threading.Event | None) -> tuple[dict[str, Any], str | None]:
    """(the record of the task, the sentence why the submission could not even be imported).

    Hidden parts come last: what the submission says or prints from then on may tell of their inputs, and is told nobody.
    """
    start, records, output = time.monotonic(), {}, None
    with Session(sandbox, folder, assignment.module, assignment.packages, assignment.limits, assignment.probes, stop) as session:
        try:
            session.load(int(seed_of(term, assignment.module, task.title), 16) % 2 ** 32)
            imported = True
        except Failed:
            imported = False
        for part in sorted(parts, key=lambda part: part.hidden):
            if part.hidden and output is None:
                output = session.output()
            cases = [judged_case(part, name, extra, session, assignment, term) for name, extra in part.named_cases()]
            records[part.title] = part_record(part, cases)
    output = session.output() if output is None else output
    record = task_record(task, [records[part.title] for part in parts], time.monotonic() - start, session.trouble, output)
    return record, None if imported else session.trouble


def judged_case(part: Part, name: str, extra: tuple[Any, ...], session: Session, assignment: Assignment, term: str) -> dict[str, Any]:
    """The record of one case: its credit, and the feedback where that is not all."""
    rng = np.random.default_rng(int(seed_of(term, assignment.module, part.title, name), 16))
    session.given = session.came_back = None
    try:
        result = part.function(Student(session), rng, *extra)
        credit = 1.0 if result is None else scale(result, 0, 1)
        feedback = None if credit == 1 else {"given": session.given, "came_back": session.came_back, "look": None,
                                             "expected": f"more: this has {credit:.0%} of the points"}
    except Wrong as wrong:
        came_back = session.came_back if wrong.came_back is None else wrong.came_back
        credit, feedback = scale(wrong.credit, 0, 1), {"given": wrong.given or session.given, "came_back": came_back, "expected": wrong.expected, "look": wrong.look}
    except Exception as error:  # the grader's own fault: it is said loudly, and costs no other part
        credit, feedback = 0.0, {"given": session.given, "came_back": session.came_back, "grader": True, "look": "Tell your instructor.",
                                 "expected": f"something that the grader can judge ({type(error).__name__}: {error})",
                                 "traceback": traceback.format_exc()}
    return {"name": name, "credit": credit, "feedback": feedback and {
        key: harmless(text, 4000) if isinstance(text, str) else text for key, text in feedback.items()}}


def no_answer(part: Part, trouble: str) -> list[dict[str, Any]]:
    """The cases of a part that was not run."""
    return [{"name": name, "credit": 0.0, "feedback": {"given": None, "came_back": trouble, "expected": "an answer", "look": None}}
            for name, _ in part.named_cases()]


def part_record(part: Part, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The cases share the points of their part."""
    share = math.fsum(case["credit"] for case in cases) / len(cases)
    return {"title": part.title, "points": round(part.points * share, 6), "of": part.points, "hidden": part.hidden, "cases": cases}


def task_record(task: Task, parts: list[dict[str, Any]], seconds: float, trouble: str | None, output: str) -> dict[str, Any]:
    """The parts of a task, their sum, and what went wrong with its process."""
    return {"number": task.number, "title": task.title, "points": total(parts, "points"), "of": total(parts, "of"),
            "seconds": round(seconds, 3), "trouble": trouble, "output": output, "parts": parts}


def total(records: Sequence[dict[str, Any]], key: str) -> float:
    """The sum of a column, without the noise of binary fractions."""
    return round(math.fsum(record[key] for record in records), 6)


def seed_of(*words: str) -> str:
    """The SHA-256 of the words, in hexadecimal."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def versions() -> dict[str, str]:
    """What the figures were made with."""
    return {"xman": __version__, "python": platform.python_version(), "numpy": np.__version__}
