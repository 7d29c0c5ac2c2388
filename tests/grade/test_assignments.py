"""Of every assignment: the hand-out has 0 points and names its tasks, the solution 100, each mutant loses exactly its part.

XMAN_ALL_CASES=1 judges all mutants; otherwise one of each assignment, from the middle of its tasks.
"""

import functools
import importlib.util
import os
from pathlib import Path

import pytest
from inside import grade_one

from xman.grade import judge, load_assignment, load_checks
from xman.grade.handout.handout import starter, traces, write_handout
from xman.grade.judge import judged_case
from xman.grade.record import seed_of
from xman.grade.sandbox import sandbox_here
from xman.grade.session import Session
from xman.grade.submissions import one

ROOT = Path(__file__).parents[2] / "assignments"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/grading.py"))


@functools.lru_cache
def assignment_of(name):
    return load_assignment(ROOT / name)


@functools.lru_cache
def sandbox():
    return sandbox_here(unsafe=True)


def mutants(name):
    """Those of the assignment; none where it has no mutants.py."""
    if not (ROOT / name / "mutants.py").is_file():
        return []
    spec = importlib.util.spec_from_file_location("mutants", ROOT / name / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MUTANTS


def some(planted):
    return planted if os.environ.get("XMAN_ALL_CASES") else planted[len(planted) // 2:][:1]


def solution(name):
    return (ROOT / name / "solution" / f"{assignment_of(name).module}.py").read_text("utf-8")


def graded(name, source, folder):
    write(name, source, folder)
    return judge(assignment_of(name), folder, sandbox(), term="a term")


def write(name, source, folder):
    (folder / f"{assignment_of(name).module}.py").write_text(source, "utf-8")
    folder.chmod(0o755)  # the worker may be another user


def cases_in_one_process(assignment, folder, checks=False):
    """[(task, part, case)] of all that is asked, by one worker for all tasks, which is quicker; None where it came to grief."""
    program = (folder / f"{assignment.module}.py").read_bytes()
    with Session(sandbox(), program, assignment.module, assignment.packages, assignment.limits, assignment.probes) as session:
        session.load(1)
        found = [(task, part, judged_case(part, case, extra, session, seed_of("a term", assignment.module, part.title, case)))
                 for task in assignment.tasks for part in (task.checks if checks else task.parts)
                 for case, extra in part.named_cases()]
    assert not [case for _, _, case in found if case["feedback"] and case["feedback"].get("grader")]
    return None if session.trouble else found


def parts(record):
    return [(task, part) for task in record["tasks"] for part in task["parts"]]


each_assignment = pytest.mark.parametrize("name", NAMES)


def test_the_course_has_its_seven_assignments():
    assert set(NAMES) >= {"wengert", "operators", "logreg", "mlp", "lstm", "modes", "compiler"}


@each_assignment
def test_the_solution_has_all_points(name, tmp_path):
    record = graded(name, solution(name), tmp_path)
    assert [(part["title"], part["cases"]) for _, part in parts(record) if part["points"] < part["of"]] == []
    assert record["points"] == record["of"] == 100 and record["trouble"] is None


@each_assignment
def test_the_handout_imports_has_no_points_and_fails_each_part_with_the_name_of_its_task(name, tmp_path):
    write(name, starter(solution(name)), tmp_path)
    for task, part, case in cases_in_one_process(assignment_of(name), tmp_path):
        assert case["credit"] == 0 and f"task {task.number}: {task.title}" in case["feedback"]["came_back"], part.title


@each_assignment
def test_the_handout_has_what_a_student_needs_without_a_trace_of_the_solution_and_its_checks_tell_them_apart(name, tmp_path):
    out = tmp_path / "out"
    write_handout(assignment_of(name), out)
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert {f"{assignment_of(name).module}.py", "handout.md", "checks.py", "check.py"} <= files.keys()
    assert traces(solution(name), *(path.read_text("utf-8") for path in files.values())) == []

    out.chmod(0o755)
    handed_out = load_checks(out)
    assert {case["credit"] for *_, case in cases_in_one_process(handed_out, out, checks=True)} == {0}
    (out / f"{handed_out.module}.py").write_text(solution(name), "utf-8")
    assert {case["credit"] for *_, case in cases_in_one_process(handed_out, out, checks=True)} == {1}


@each_assignment
def test_there_are_at_least_eight_mutants(name):
    if not mutants(name):
        pytest.skip(f"{name} has no mutants.py: that each part can be lost is not proved")
    assert len({mutant[:2] for mutant in mutants(name)}) == len(mutants(name)) >= 8


@pytest.mark.parametrize("name, mutant", [pytest.param(name, mutant, id=f"{name}: {mutant[0]}")
                                          for name in NAMES for mutant in some(mutants(name))])
def test_a_mutant_loses_exactly_its_part(name, mutant, tmp_path):
    what, old, new, loses = mutant
    source = solution(name)
    assert source.count(old) == 1, what
    write(name, source.replace(old, new), tmp_path)
    found = cases_in_one_process(assignment_of(name), tmp_path)
    if found is not None:
        lost = {part.title for _, part, case in found if case["credit"] < 1}
    else:  # a mutant that ends its process ends one task's alone
        record = graded(name, source.replace(old, new), tmp_path)
        lost = {part["title"] for _, part in parts(record) if part["points"] < part["of"]}
    assert lost == ({loses} if isinstance(loses, str) else set(loses)), what


def test_an_assignment_may_be_without_mutants():
    assert mutants("an assignment to come") == some([]) == []


RIGHT = """
def square(x): return x * x
def sum_by(add, numbers, start):
    for x in numbers:
        start = add(start, x)
    return start
"""


@pytest.mark.parametrize("source, points", [(RIGHT, 100), (RIGHT.replace("x * x", "2 * x"), 40),
                                            (RIGHT.replace("add(start, x)", "start + x + 0.2"), 60)])
def test_the_assignment_of_the_page_for_instructors_is_one(source, points, tmp_path):
    """A right answer has all points, and one that is wrong loses those of what is wrong."""
    page = (ROOT.parent / "CONTRIBUTING.md").read_text("utf-8").partition("This is a whole one")[2]
    code = page.partition("```python\n")[2].partition("```")[0]
    assert len(code.splitlines()) == 15
    (tmp_path / "squares").mkdir()
    (tmp_path / "squares" / "grading.py").write_text(code)
    (tmp_path / "squares.py").write_text(source)
    assert grade_one(load_assignment(tmp_path / "squares"), one(tmp_path / "squares.py"), sandbox(), "a term")["points"] == points


@pytest.mark.parametrize(("right", "planted", "title", "words"), [
    ('"square": [lambda x: 2 * x]', '"square": [lambda d, out, x: d * 2 * x]', "the partials of DG",
     "make_DG()['square'][0] takes two arguments more than square, which makes it a rule of (delta, out, …)"),
    ("deltas[z] * derivative(*inputs)", "derivative(deltas[z], values[z], *inputs)", "backprop: numbers among the arguments",
     "was called with two arguments more than mul has, as a rule of (delta, out, …)")], ids=["table", "backprop"])
def test_in_wengert_rules_and_partials_are_told_apart(right, planted, title, words, tmp_path):
    assignment, source = assignment_of("wengert"), solution("wengert")
    assert source.count(right) == 1
    write("wengert", source.replace(right, planted), tmp_path)
    part, = (part for task in assignment.tasks for part in task.parts if part.title == title)
    program = (tmp_path / "wengert.py").read_bytes()
    with Session(sandbox(), program, assignment.module, assignment.packages, assignment.limits, assignment.probes) as session:
        session.load(1)
        found = [judged_case(part, case, extra, session, seed_of("a term", assignment.module, title, case))
                 for case, extra in part.named_cases()]
    assert [words in case["feedback"]["came_back"] for case in found if case["credit"] < 1] == [True]
