"""Judges one submission: a worker for each task, its parts one after the other, and a record."""
from __future__ import annotations

import secrets
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError
from ..show.terminal import until_closed
from . import process
from . import record as records
from .assignment import Assignment, Part, load_checks, shapes_of_xman
from .compare import Failed, Wrong, scale
from .record import IN_HIDDEN, Event, Record, case_record, hidden_last, seed_of
from .reports.terminal import report_table
from .sandbox import Sandbox, sandbox_here
from .session import Session, Student
from .submissions import harmless
from .submissions.scratch import scratch

BORROWED = 150  # functions with fewer nodes of syntax in common may be alike by chance


def judge(assignment: Assignment, folder: Path, sandbox: Sandbox, term: str, checks: bool = False,
          stop: threading.Event | None = None, digest: str = "", apart: bool = False) -> Record:
    """The record of the submission that is unpacked in a folder; the sandbox runs its module alone.

    term: the secret of a term. digest: of the submission. Inputs are drawn from both: no one knows them
    before, they are the same each time, and they change with the submission. checks: run the checks that
    students have in place of the graded parts. stop: when it is set, all workers end at once, and the record
    is not valid. apart: run the parts of each task in a process of its own, which is ended at a limit (on
    Linux alone).
    """
    start, tasks, trouble, stop = time.monotonic(), [], None, stop or threading.Event()
    with scratch() as temporary:
        (alone := temporary / "alone").mkdir()  # a folder for the module alone, without other files
        shutil.copyfile(folder / f"{assignment.module}.py", alone / f"{assignment.module}.py")
        for k, task in enumerate(assignment.tasks):
            parts = task.checks if checks else task.parts
            if trouble:  # a failed import fails for every task
                tasks.append(records.unjudged(task, parts, trouble))
            else:
                events = judged_task(assignment, sandbox, k, alone, seed_of(term, digest), stop, checks)
                if apart and sys.platform == "linux":
                    events = process.one_apart(events, assignment.limits.cpu_seconds, stop)
                record, trouble = records.task_record_of(task, parts, events)
                tasks.append(record)
    return {**records.submission_record(assignment, tasks, trouble, sandbox, term),
            "seconds": round(time.monotonic() - start, 3)}


def check(folder: Path | str = ".") -> bool:
    """Whether the work in a folder passes the checks of its hand-out; prints them. Sandboxed if possible."""
    folder = Path(folder).resolve()
    try:
        assignment = load_checks(folder)
        source = folder / f"{assignment.module}.py"
        if not source.is_file() or not source.read_bytes().strip():
            raise XManError(f"there is no {source.name} in {folder}, or it is empty")
        record = judge(assignment, folder, sandbox_here(unsafe=True), secrets.token_hex(8), checks=True)
        with until_closed():
            print(report_table(record))
    except XManError as error:
        print(f"xman: {error}", file=sys.stderr)
        return False
    return all(case["credit"] == 1 for task in record["tasks"] for part in task["parts"]
               for case in part["cases"])


def judged_task(assignment: Assignment, sandbox: Sandbox, number: int, folder: Path, secret: str,
                stop: threading.Event, checks: bool = False) -> Iterator[Event]:
    """The events of a task: each case's record, hidden parts last, and how the worker ended."""
    task, output, trouble, no_import = assignment.tasks[number], None, None, None
    with Session(sandbox, folder, assignment.module, assignment.packages, assignment.limits,
                 assignment.probes, stop) as session:
        try:
            # this seed reveals nothing of the secret
            shapes = session.load(int(seed_of(assignment.module, task.title), 16) % 2 ** 32)
            xman_shapes = shapes_of_xman() if "xman" not in assignment.packages else {}
            if sum(xman_shapes.get(shape, 0) for shape in shapes or ()) > BORROWED:
                raise session.broken("it holds functions of xman's sources, and what is asked for is to be "
                                     "the student's own")
        except Failed:
            no_import = session.trouble
        for part in hidden_last(task.checks if checks else task.parts):
            # what is printed or fails from here on could tell what the hidden parts ask, and is not reported
            if part.hidden and output is None:
                output, trouble = session.output(), session.trouble
            for name, extra in part.named_cases():
                seed = seed_of(secret, assignment.module, part.title, name)
                yield {"part": part.title, "case": judged_case(part, name, extra, session, seed)}
    if output is None:
        output, trouble = session.output(), session.trouble
    elif session.trouble:
        trouble = trouble or IN_HIDDEN
    yield {"output": output, "trouble": trouble, "no import": no_import}


def judged_case(part: Part, name: str, extra: tuple[Any, ...], session: Session, seed: str) -> Record:
    """The record of one case: its credit, and, if it is below 1, the feedback."""
    session.given = session.came_back = None
    credit, feedback = 0.0, {}
    try:
        result = part.function(Student(session), np.random.default_rng(int(seed, 16)), *extra)
        credit = 1.0 if result is None else scale(result, 0, 1)
        if credit < 1:
            feedback = {"expected": f"more: this has {credit:.0%} of the points"}
    except Wrong as wrong:
        credit, feedback = scale(wrong.credit, 0, 1), {"expected": wrong.expected, "look": wrong.look}
        feedback |= {key: text for key, text in (("given", wrong.given), ("came_back", wrong.came_back))
                     if text is not None}
    except MemoryError as error:
        feedback = {"expected": "an answer that the grader has the memory for", "look": str(error) or None}
    except Exception as error:  # the grader's own fault: the record says so, and other parts go on
        feedback = {"expected": f"something that the grader can judge ({type(error).__name__}: {error})",
                    "look": "Tell your instructor.", "traceback": traceback.format_exc(), "grader": True}
    feedback = {"given": session.given, "came_back": session.came_back, **feedback}
    shown = {key: harmless(text) if isinstance(text, str) else text for key, text in feedback.items()}
    return case_record(name, credit, **shown)
