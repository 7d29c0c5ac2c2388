"""The doctor's look at the grader: what a submission must not get by who judges it, and in what order."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from xman.errors import XManError

from ...assignment import Assignment, folder_of, keep_apart
from ...compare import Failed
from ...handout.packages import TEMPLATES
from ...reports.gradebook import cell
from ...run import grade_all
from ...session import Session, Student
from ...submissions import find
from ...submissions.scratch import scratch
from ..box import Sandbox

TRIAL = """import os
token = os.urandom(8).hex().lower
change, read = lambda x: x.append(1), lambda path: open(path).read()
"""
FORMULAS = "=1+1", "a;=1+1", " @x", "\t+1", "x\n-1", "\uff1d1", "\ufe661"


def of_the_grader(box: Sandbox) -> Iterator[tuple[str, bool, str]]:
    """(promise, whether it holds, what was tried), each with a submission of the doctor's own."""
    trial = Assignment("trial", "Trial", packages=(), cpu_seconds=5, wall_seconds=20)
    with scratch() as folder:
        log, here = folder / "log", folder / "class"
        log.touch()  # each part is judged in a process of its own, which writes what it sees there

        def look(student: Student, rng: object, title: str) -> None:
            with log.open("a") as file:
                print(title, student.token(), file=file)
        for number, hidden in (1, True), (2, False), (3, True), (4, False):
            title = "hidden" if hidden else "visible"
            trial.task(number, title).part(f"{title} {number}", 25, [title], hidden)(look)
        here.mkdir()
        for name in ("ada", "eve"):
            (here / f"{name}.py").write_text(TRIAL)
        grade_all(trial, find([here], "trial"), box, folder / "grades", jobs=2, shard=(1, 1))
        seen = [line.split() for line in log.read_text().splitlines()]
        in_order = [title for title, _ in seen] == ["visible"] * 4 + ["hidden"] * 4
        apart = in_order and len({token for _, token in seen}) == 8
        yield "hidden parts come last", apart, "each in a process of its own, after what anybody sees"
        (here / "grading.py").touch()
        programs = (TRIAL, f"{TRIAL}# a neighbour's work")
        mine, its = (Session(box, each.encode(), "trial", (), trial.limits) for each in programs)
        with mine, its:
            mine.load(0)
            changed = outcome(lambda: Student(mine).frozen("change", [1]))
            read = outcome(lambda: Student(mine).read(f"{its.worker.settings['submission']}/trial.py"))
        yield "arguments stay", "belongs to the caller" in changed, "a list that stays was to be changed"
        yield "workers cannot read one another", "neighbour" not in read, "a second worker's submission"
        refused = outcome(lambda: folder_of(str(here), None, [here]))
        yield "no submission is the assignment", "a student's" in refused, "a grading.py among submissions"
        refused = outcome(lambda: keep_apart("--out", here / "grades", "it", [here]))
        yield "no submission is the folder of grades", "a student's" in refused, "--out among submissions"
    begins = {piece.strip()[:1] for text in FORMULAS for piece in re.split(r"[;\t\r\n]", cell(text))}
    yield "no formula in the gradebook", not begins & {*"=+-@\uff1d\ufe66"}, "texts that spreadsheets compute"
    options = {option for path in TEMPLATES.iterdir()
               for option in re.findall(r"(?:python3|python\") (-\S*)", path.read_text("utf-8"))}
    yield "nothing beside a submission is imported", options == {"-I"}, "calls of Python in the packages"


def outcome(call: Callable[[], object]) -> str:
    """The result, or the error that the submission is to get, as text."""
    try:
        return str(call())
    except (Failed, XManError) as error:
        return str(getattr(error, "came_back", error))
