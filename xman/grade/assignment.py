"""Assignments: tasks, the checks that students have, and the parts that are graded; read from a folder.

    assignment = Assignment("wengert", "Wengert lists")
    evaluation = assignment.task(1, "eval")

    @evaluation.check("the house of the notes")         # public/checks.py: the student has it
    def house(student, rng): ...

    @evaluation.part("random lists", points=10)         # grading.py
    def random_lists(student, rng): ...
"""
from __future__ import annotations

import functools
import hashlib
import hmac
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ops

from ..errors import XManError, nearest
from .compare import Wrong
from .sandbox import Limits
from .sandbox.inside.shapes import function_runs

PACKAGES = "numpy", "scipy", "xman"


@dataclass(frozen=True)
class Part:
    """A question to a submission: function(student, rng, *case) for each case; the cases share the points.

    The function raises Wrong for a wrong answer; its result is the credit of the case, 0 to 1, or None for 1.
    title: for reports. hidden: whether students see only title and points. personal: draws (steps, values)
    from a generator of the student's own; the function takes them before the case.
    """
    title: str
    function: Callable[..., float | None]
    points: float = 0.0
    hidden: bool = False
    cases: Sequence[Any] = ((),)
    personal: Callable[[np.random.Generator], tuple[list, dict]] | None = None

    def drawn(self, term: str, module: str, student: str) -> tuple[Any, ...]:
        """What is drawn for a student of that key: none but who has the term's secret can tell it."""
        if not self.personal:
            return ()
        if not student:
            raise Wrong("the work of a student in the roster, for whom this list is drawn",
                        "the work of nobody in it", "Is the file named as you are in the course?")
        words = "\0".join((module, self.title, student)).encode()
        seed = hmac.new(term.encode(), words, "sha256").hexdigest()
        return self.personal(np.random.default_rng(int(seed, 16)))

    def named_cases(self) -> list[tuple[str, tuple[Any, ...]]]:
        """(name, extra arguments of the function) of each case."""
        tuples = [case if isinstance(case, tuple) else (case,) for case in self.cases]
        return [(str(case[0]) if case else "", case) for case in tuples]


@dataclass
class Task:
    """A task with a number and a title, whose parts, or checks, are judged in a process of its own."""
    number: int
    title: str
    parts: list[Part] = field(default_factory=list)
    checks: list[Part] = field(default_factory=list)

    def part(self, title: str, points: float, cases: Sequence[Any] = ((),), hidden: bool = False,
             personal: Callable[[np.random.Generator], tuple[list, dict]] | None = None) -> Callable:
        """Decorate a function as a graded part. hidden: whether students see only its title and points.

        personal: draws the list and the values that the part asks of each student, from a generator.
        """
        return lambda function: self.parts.append(
            Part(title, function, points, hidden, cases, personal)) or function

    def check(self, title: str, cases: Sequence[Any] = ((),)) -> Callable:
        """Decorate a function as a check, which is handed out and gives no points."""
        return lambda function: self.checks.append(Part(title, function, cases=cases)) or function


class Assignment:
    """An assignment, in which a submission is one module.

    module: its name, which the files of students have. title: for reports. packages: those of "numpy",
    "scipy" and "xman" that a submission can import. data: names of data sets for the hand-out. cpu_seconds:
    processor time of a task. limits: others of `Limits`, such as wall_seconds and memory_mib.
    """

    def __init__(self, module: str, title: str, packages: Sequence[str] = ("numpy",),
                 data: Sequence[str] = (), cpu_seconds: int = 10, **limits: int):
        if unknown := set(packages) - set(PACKAGES):
            raise XManError(f"a submission cannot have the package {min(unknown)!r}: {', '.join(PACKAGES)}")
        self.module, self.title, self.packages, self.data = module, title, tuple(packages), tuple(data)
        self.limits = Limits(cpu_seconds=cpu_seconds, **limits)
        self.tasks: list[Task] = []
        self.folder: Path | None = None
        self.judged: int | None = None  # how many parts are graded, where a hand-out has only the checks

    def task(self, number: int, title: str) -> Task:
        """A new task with this number (1, 2, …) and title."""
        self.tasks.append(Task(number, title))
        return self.tasks[-1]

    @property
    def points(self) -> float:
        """The points of all parts together."""
        return float(sum(part.points for task in self.tasks for part in task.parts))

    @property
    def drawn_parts(self) -> list[Part]:
        """The parts that ask each student another list."""
        return [part for task in self.tasks for part in task.parts if part.personal]

    @property
    def probes(self) -> Path | None:
        """The file probes.py, with functions that a worker runs on a submission; None if there is none."""
        path = self.folder and self.folder / "probes.py"
        return path if path and path.is_file() else None

    # cached: it describes the files that were loaded, even if they change while a class is graded
    @functools.cached_property
    def version(self) -> str:
        """Twelve digits of the SHA-256 of all files of the folder, if it comes from one."""
        total = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")) if self.folder else []:
            if path.is_file() and "__pycache__" not in path.parts:
                name, data = path.relative_to(self.folder).as_posix(), path.read_bytes()
                total.update(f"{name}\0{len(data)}\0".encode() + data)
        return total.hexdigest()[:12]


def folder_of(name: str, assignments: Path | None = None, submissions: Iterable[Path] = ()) -> Path:
    """The folder of an assignment of that name in `assignments` (None: in xman's checkout).

    What the current folder holds, maybe the work of students, is never looked at: a path is no name.
    submissions: places in which no assignment may lie, as it runs in this process.
    """
    if Path(name).name != name or name == "..":
        there = Path(name).resolve()
        raise XManError(f"{name!r} is no name of an assignment, which is a program and runs as you: if it is "
                        f"not a student's, type {there.name} --assignments {there.parent}")
    place = assignments or Path(__file__).resolve().parents[2] / "assignments"
    folders = {path.parent.name: path.parent for path in sorted(place.glob("*/grading.py"))}
    if not folders:
        raise XManError(f"there is no assignment {name!r}, nor a folder of assignments at {place}: give "
                        "--assignments DIR")
    if name not in folders:
        raise XManError(f"no assignment {name!r} in {place}; there are {', '.join(folders)}"
                        f"{nearest(name, folders)}")
    folder = folders[name].resolve()
    keep_apart(f"the assignment {folder}", folder, "its grading.py", submissions)
    return folder


def keep_apart(what: str, folder: Path, inside: str, submissions: Iterable[Path]) -> None:
    """XManError if the folder lies among submissions. inside: what of it could then be a student's."""
    for place in submissions:
        if folder.resolve().is_relative_to(place.resolve()):
            raise XManError(f"{what} lies in {place}, which is to be graded: {inside} could be a student's; "
                            "keep the two apart")


def load_assignment(folder: Path) -> Assignment:
    """The assignment in a folder, with its graded parts. XManError if there is none, or a faulty one."""
    assignment = assignment_in(folder, "grading")
    empty = [task.title for task in assignment.tasks if not task.parts]
    titles = [part.title for task in assignment.tasks for part in task.parts]
    if empty or len(set(titles)) < len(titles) or abs(assignment.points - 100) > 1e-9:
        twice = sorted({title for title in titles if titles.count(title) > 1})
        raise XManError(f"{folder}: its parts have {assignment.points:g} points (100 are wanted), a task "
                        f"without a part: {empty or 'none'}, a title twice: {twice or 'none'}")
    assignment.folder = folder
    runs_of_xman()  # fills its cache now, before processes that judge are forked
    return assignment


@functools.cache
def runs_of_xman() -> list[set[str]]:
    """The runs of nodes of each function of xman's operators, interpreters and passes."""
    sources = Path(__file__).parents[1]
    folders = Path(ops.__file__).parent, sources / "interpreters", sources / "passes"
    paths = (path for folder in folders for path in folder.rglob("*.py"))
    return [runs for path in paths for runs in function_runs(path.read_bytes())]


def borrowed(runs: Iterable[str]) -> int:
    """How many of a program's runs of nodes are in functions of xman's of which it has at least half."""
    counts = [(len(function & {*runs}), len(function)) for function in runs_of_xman()]
    return sum(shared for shared, of in counts if 2 * shared >= of)


def load_checks(folder: Path) -> Assignment:
    """The assignment in the folder of a hand-out, or public/: its tasks, with the checks of students."""
    if not (folder / "checks.py").is_file():
        raise XManError(f"{folder} is not a hand-out: it has no checks.py")
    assignment = assignment_in(folder, "checks")
    assignment.folder = folder
    return assignment


def assignment_in(folder: Path, module: str) -> Assignment:
    """That of a module of a folder, which is taken for a package, so that its files can import each other."""
    name = f"_assignment_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == name]:
        del sys.modules[loaded]
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        assignment = getattr(importlib.import_module(f"{name}.{module}"), "assignment", None)
    except XManError:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise XManError(f"{folder / module}.py could not be imported: {message}") from error
    if not isinstance(assignment, Assignment):
        raise XManError(f"{folder / module}.py has no variable assignment that is an Assignment: write "
                        "assignment = Assignment(NAME, title=TITLE), or import it")
    return assignment


def data_set(name: str) -> bytes:
    """The bytes of a file of xman.datasets, the folder data of a checkout. XManError for an unknown name."""
    from ..tables.readers import installed  # not at the top: it is slow, and only hand-outs need it
    if not (path := installed(name)).is_file():
        raise XManError(f"there is no data set {name!r} in xman.datasets")
    return path.read_bytes()
