"""Of every assignment: the hand-out has 0 points and names its tasks, the solution 100, each mutant loses exactly its part."""

import functools
import importlib.util
from pathlib import Path

import pytest

from xman.grade import judge, load, load_checks
from xman.grade.handout import starter, traces, write_handout
from xman.sandbox import Sandbox

ROOT = Path(__file__).parents[2] / "assignments"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/grading.py"))


@functools.lru_cache
def assignment_of(name):
    return load(ROOT / name)


@functools.lru_cache
def sandbox():
    return Sandbox.here(unsafe=True)


def mutants(name):
    spec = importlib.util.spec_from_file_location("mutants", ROOT / name / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MUTANTS


def solution(name):
    return (ROOT / name / "solution" / f"{assignment_of(name).module}.py").read_text("utf-8")


def graded(name, source, folder):
    (folder / f"{assignment_of(name).module}.py").write_text(source, "utf-8")
    folder.chmod(0o755)  # the worker may be another user
    return judge(assignment_of(name), folder, sandbox(), term="a term")


def parts(record):
    return [(task, part) for task in record["tasks"] for part in task["parts"]]


each_assignment = pytest.mark.parametrize("name", NAMES)


def test_the_course_has_its_seven_assignments():
    assert set(NAMES) == {"wengert", "operators", "logreg", "mlp", "lstm", "modes", "compiler"}


@each_assignment
def test_the_solution_has_all_points(name, tmp_path):
    record = graded(name, solution(name), tmp_path)
    assert [(part["title"], part["cases"]) for _, part in parts(record) if part["points"] < part["of"]] == []
    assert record["points"] == record["of"] == 100 and record["trouble"] is None


@each_assignment
def test_the_handout_imports_has_no_points_and_fails_each_part_with_the_name_of_its_task(name, tmp_path):
    record = graded(name, starter(solution(name)), tmp_path)
    assert record["points"] == 0 and record["trouble"] is None
    for task, part in parts(record):
        for case in part["cases"]:
            assert f"task {task['number']}: {task['title']}" in case["feedback"]["came_back"]


@each_assignment
def test_the_handout_holds_no_trace_of_the_solution_and_what_a_student_needs(name, tmp_path):
    write_handout(assignment_of(name), tmp_path / "out")
    files = {path.relative_to(tmp_path / "out").as_posix(): path for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {f"{assignment_of(name).module}.py", "handout.md", "checks.py", "check.py"} <= files.keys()
    assert traces(solution(name), *(path.read_text("utf-8") for path in files.values())) == []


@each_assignment
def test_the_checks_that_are_handed_out_pass_on_the_solution_and_fail_on_the_starter(name, tmp_path):
    write_handout(assignment_of(name), tmp_path / "out")
    (tmp_path / "out").chmod(0o755)
    handed_out = load_checks(tmp_path / "out")
    fails = [case["credit"] == 0 for _, part in parts(judge(handed_out, tmp_path / "out", sandbox(), "a term", checks=True))
             for case in part["cases"]]
    (tmp_path / "out" / f"{handed_out.module}.py").write_text(solution(name), "utf-8")
    passes = [(part["title"], case) for _, part in parts(judge(handed_out, tmp_path / "out", sandbox(), "a term", checks=True))
              for case in part["cases"] if case["credit"] < 1]
    assert fails and all(fails) and passes == []


@each_assignment
def test_there_are_at_least_eight_mutants(name):
    assert len({mutant[:2] for mutant in mutants(name)}) == len(mutants(name)) >= 8


@pytest.mark.parametrize("name, mutant", [(name, mutant) for name in NAMES for mutant in mutants(name)],
                         ids=[f"{name}: {mutant[0]}" for name in NAMES for mutant in mutants(name)])
def test_a_mutant_loses_exactly_its_part(name, mutant, tmp_path):
    what, old, new, loses = mutant
    source = solution(name)
    assert source.count(old) == 1, what
    record = graded(name, source.replace(old, new), tmp_path)
    lost = {part["title"] for _, part in parts(record) if part["points"] < part["of"]}
    assert lost == ({loses} if isinstance(loses, str) else set(loses)), what
    assert not any(case["feedback"] and case["feedback"].get("grader") for _, part in parts(record) for case in part["cases"])
