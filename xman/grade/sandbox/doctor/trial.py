"""The doctor's look at the grader: what a submission must not get by who judges it, and in what order."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from xman.errors import XManError

from ...assignment import Assignment, folder_of, keep_apart
from ...compare import Failed
from ...handout.packages import TEMPLATES
from ...judge import judge
from ...reports.gradebook import cell
from ...session import Session, Student
from ...submissions.scratch import scratch
from ..box import Sandbox

TRIAL = """import os
token = os.urandom(8).hex().lower
change, read = lambda x: x.append(1), lambda path: open(path).read()
"""
FORMULAS = "=1+1", "a;=1+1", " @x", "\t+1", "x\n-1", "\uff1d1", "\ufe661"


def of_the_grader(box: Sandbox) -> Iterator[tuple[str, bool, str]]:
    """(promise, whether it holds, what was tried), each with a submission of the doctor's own."""
    tokens: dict[str, str] = {}
    trial = Assignment("trial", "Trial", packages=(), cpu_seconds=5, wall_seconds=20)
    for name in ("hidden 1", "visible 1", "hidden 2", "visible 2"):
        part = trial.task(int(name[-1]), name).part(name, 25, hidden=name.startswith("hidden"))
        part(lambda student, rng, name=name: tokens.update({name: student.token()}))
    with scratch() as here, scratch() as other:
        (here / "trial.py").write_text(TRIAL)
        (other / "trial.py").write_text(f"{TRIAL}# a neighbour's work")
        (here / "grading.py").touch()
        judge(trial, here, box, "the doctor's term")
        apart = len({*tokens.values()}) == 4 and [*tokens][:2] == ["visible 1", "visible 2"]
        yield "hidden parts come last", apart, "each in a process of its own, after all that students see"
        mine, its = (Session(box, folder, "trial", (), trial.limits) for folder in (here, other))
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
