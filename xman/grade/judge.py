"""Judges a submission: a worker for the visible parts of each task, later one for the hidden ones; a record.

A hidden part could tell what it asks: a submission sleeps there, or takes numbers of the system, and a later
part prints the clock. So all that students see, of all submissions, is judged before any hidden part is, by
other processes.
"""
from __future__ import annotations

import json
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError
from ..files.whole import write_whole
from ..show.terminal import until_closed
from . import process
from . import record as records
from .assignment import Assignment, Part, Task, borrowed, load_checks
from .compare import Failed, Wrong, scale
from .record import Event, Record, case_record, seed_of
from .reports.platforms import classroom_result
from .reports.terminal import report_table
from .reports.view import for_student
from .sandbox import Sandbox, sandbox_here
from .session import Session, Student
from .submissions import harmless

BORROWED = 40  # runs of nodes in common, as three of the smallest functions have, may be by chance


def judge(assignment: Assignment, folder: Path, sandbox: Sandbox, term: str, checks: bool = False) -> Record:
    """The record of the module in a folder; the sandbox runs it alone.

    term: the secret of a term. checks: run the checks that students have in place of the graded parts.
    """
    program = (folder / f"{assignment.module}.py").read_bytes()
    visible = judged(assignment, program, sandbox, term, checks=checks)
    return visible if checks else judged(assignment, program, sandbox, term, visible)


def judged(assignment: Assignment, program: bytes, sandbox: Sandbox, term: str,
           visible: Record | None = None, checks: bool = False, stop: threading.Event | None = None,
           digest: str = "", student: str = "", apart: bool = False, trouble: str | None = None) -> Record:
    """The record of the parts that students see; or, if that is given as `visible`, of these and the hidden.

    program: the bytes of the module. stop: when it is set, all workers end at once, and the record is not
    valid. digest: of the submission. Inputs are drawn from it and the term: no one knows them before, they
    are the same each time, and they change with the submission. student: the key in the roster, from which
    personal parts draw. apart: run the parts of each task in a process of its own, which is ended at a limit
    (on Linux alone). trouble: why there is no program.
    """
    start, when, stop = time.monotonic(), records.now(), stop or threading.Event()
    trouble, tasks = visible["trouble"] if visible else trouble, []
    owner = term, assignment.module, student
    for k, task in enumerate(assignment.tasks):
        parts = [part for part in (task.checks if checks else task.parts) if part.hidden == bool(visible)]
        if trouble or visible and not parts:  # a failed import fails for every task
            lost = [records.part_record(part, records.lost_cases(part, 0, trouble or "")) for part in parts]
            record = records.task_record(task, lost, None)
        else:
            secret = seed_of(term, digest)
            events = judged_parts(assignment, sandbox, task, parts, program, secret, stop, owner)
            if apart and sys.platform == "linux":
                events = process.one_apart(events, assignment.limits.cpu_seconds, stop)
            record, no_import = records.task_record_of(task, parts, events)
            trouble = None if visible else no_import
        tasks.append(records.with_hidden(task, visible["tasks"][k], record) if visible else record)
    record = visible or records.submission_record(assignment, trouble, sandbox, term, when)
    seconds = round(record.get("seconds", 0) + time.monotonic() - start, 3)
    return {**record, **records.totals(tasks), "tasks": tasks, "seconds": seconds}


def check(folder: Path | str = ".", classroom: Path | None = None) -> bool:
    """Whether the work in a folder passes the checks of its hand-out; prints them. Sandboxed if possible.

    classroom: where result.json goes, as the runners of GitHub Classroom write it.
    """
    folder = Path(folder).resolve()
    try:
        assignment = load_checks(folder)
        source = folder / f"{assignment.module}.py"
        if not source.is_file() or not source.read_bytes().strip():
            raise XManError(f"there is no {source.name} in {folder}, or it is empty")
        record = judge(assignment, folder, sandbox_here(unsafe=True), secrets.token_hex(8), checks=True)
        passed = for_student(record)["passed"]
        with until_closed():
            print(report_table(record))
            print(f"{'passed these' if passed else 'these are the checks'}; {assignment.judged or 'more'} parts "
                  "are judged when you hand in")
        if classroom:
            write_whole(classroom, json.dumps(classroom_result(record), indent=1) + "\n")
    except XManError as error:
        print(f"xman: {error}", file=sys.stderr)
        return False
    return passed


def judged_parts(assignment: Assignment, sandbox: Sandbox, task: Task, parts: Sequence[Part], program: bytes,
                 secret: str, stop: threading.Event, owner: tuple[str, str, str]) -> Iterator[Event]:
    """The events of some parts of a task, in one worker: each case's record, and how the worker ended.

    owner: the secret of the term, the module and the student, from which personal parts draw.
    """
    no_import = None
    with Session(sandbox, program, assignment.module, assignment.packages, assignment.limits,
                 assignment.probes, stop) as session:
        try:
            if "xman" not in assignment.packages and borrowed(session.runs()) > BORROWED:
                raise session.broken("it holds functions of xman's sources, and what is asked for is to be "
                                     "the student's own")
            # this seed reveals nothing of the secret
            session.load(int(seed_of(assignment.module, task.title), 16) % 2 ** 32)
        except Failed:
            no_import = session.trouble
        for part in parts:
            for name, extra in part.named_cases():
                seed = seed_of(secret, assignment.module, part.title, name)
                yield {"part": part.title, "case": judged_case(part, name, extra, session, seed, owner)}
        yield {"output": session.output(), "trouble": session.trouble, "no import": no_import}


def judged_case(part: Part, name: str, extra: tuple[Any, ...], session: Session, seed: str,
                owner: tuple[str, str, str] = ("", "", "")) -> Record:
    """The record of one case: its credit, and, if it is below 1, the feedback."""
    session.given = session.came_back = None
    credit, feedback = 0.0, {}
    try:
        drawn = part.drawn(*owner)
        result = part.function(Student(session), np.random.default_rng(int(seed, 16)), *drawn, *extra)
        credit = 1.0 if result is None else scale(result, 0, 1)
        if credit < 1:
            feedback = {"expected": f"more: this has {credit:.0%} of the points"}
    except Wrong as wrong:
        credit, feedback = scale(wrong.credit, 0, 1), {"expected": wrong.expected, "look": wrong.look}
        told = {"given": wrong.given, "came_back": wrong.came_back}
        feedback |= {key: text for key, text in told.items() if text is not None}
    except MemoryError as error:
        feedback = {"expected": "an answer that the grader has the memory for", "look": str(error) or None}
    except Exception as error:  # the grader's own fault: the record says so, and other parts go on
        fault = f"something that the grader can judge ({type(error).__name__}: {error})"
        feedback = {"expected": fault, "look": "Tell your instructor.", "grader": True}
        feedback["traceback"] = traceback.format_exc()
    feedback = {"given": session.given, "came_back": session.came_back, **feedback}
    shown = {key: harmless(text) if isinstance(text, str) else text for key, text in feedback.items()}
    return case_record(name, credit, **shown)
