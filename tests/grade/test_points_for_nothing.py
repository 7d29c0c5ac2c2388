"""What looks like an answer and is none has no points: each file of for_nothing holds such answers to one assignment.

A section begins with what it tries, and names the parts, or cases of parts, that it must not have points of. What comes before
the first is part of all. XMAN_ALL_CASES=1 tries them all, otherwise every sixth.
"""
import os
import re
import shutil
import textwrap
from pathlib import Path

import pytest
from inside import cases_of, grade_one

import xman
from xman.grade import judge, load_assignment
from xman.grade.assignment import borrowed, runs_of_xman
from xman.grade.judge import BORROWED
from xman.grade.sandbox import sandbox_here
from xman.grade.sandbox.inside.shapes import function_runs
from xman.grade.submissions import one

ROOT = Path(__file__).parents[2] / "assignments"


def sections():
    for path in sorted((Path(__file__).parent / "for_nothing").glob("*.py")):
        prelude, *rest = path.read_text("utf-8").split("# ---- Tries: ")
        for text in rest:
            yield pytest.param(path.stem, prelude + "# " + text, id=f"{path.stem}: {text.splitlines()[0]}")


def refused(assignment, source):
    """{(part, case)} that must have no points."""
    found = set()
    parts = {part.title: part for task in assignment.tasks for part in task.parts}
    for line in re.findall("# parts: (.*)", source):
        title, _, cases = (line, "", "") if line in parts else line.rpartition(": ")
        names = {name for name, _ in parts[title].named_cases()}
        assert not cases or set(cases.split(", ")) <= names, line
        found |= {(title, name) for name in (cases.split(", ") if cases else names)}
    return found


@pytest.mark.filterwarnings("ignore")  # divisions by zero are the cheat's
@pytest.mark.parametrize("name, source", list(sections())[::1 if os.environ.get("XMAN_ALL_CASES") else 6])
def test_an_answer_for_nothing_has_no_points(name, source, tmp_path):
    assignment = load_assignment(ROOT / name)
    nothing = refused(assignment, source)
    assert nothing
    if "# runs: in a process" in source:
        (tmp_path / f"{assignment.module}.py").write_text(source, "utf-8")
        record = judge(assignment, tmp_path, sandbox_here(unsafe=True), "a term")
        credits = {(part["title"], case["name"]): case["credit"] for task in record["tasks"] for part in task["parts"]
                   for case in part["cases"]}
    else:
        judged = list(cases_of(assignment, source, "a term", {title for title, _ in nothing}))
        assert not any(case["feedback"] and case["feedback"].get("grader") for _, case in judged)
        credits = {(part.title, case["name"]): case["credit"] for part, case in judged}
    assert {place: credits[place] for place in nothing if credits[place]} == {}


OPS = Path(__file__).parents[2] / "ops"
USE = """from ops import DG, G
total, sum_ = G["sum"], G["sum"]
for op in ("add", "mul", "square", "relu", "tanh", "dot", "mean", "softmax", "crossEntropy"):
    globals()[op] = G[op]
    globals().update({f"{op}_{a}": rule for a, rule in zip({"dot": "ab", "crossEntropy": "py"}.get(op, "xy"), DG[op])})
"""
FUTURE = "from __future__ import annotations\nExpression = object\n"
PASTED = re.sub(r"from (\.|__future__).*", "", (OPS / "table.py").read_text("utf-8"))


@pytest.mark.parametrize("source", [USE, f"{FUTURE}if True:\n{textwrap.indent(PASTED, '    ')}", f"{FUTURE}exec({PASTED!r})"],
                         ids=["beside", "pasted", "as text"])
def test_a_copy_of_the_operators_has_no_points(source, tmp_path):
    """Beside the file it is not there; in the file it is known by the shape of its functions."""
    folder = tmp_path / "a student"
    shutil.copytree(OPS, folder / "ops", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "operators.py").write_text(source, "utf-8")
    record = grade_one(load_assignment(ROOT / "operators"), one(folder), sandbox_here(unsafe=True), "a term")
    assert record["points"] == 0
    assert ("No module named 'ops'" if source is USE else "functions of xman's sources") in record["trouble"]


def test_the_solutions_and_what_students_write_share_no_functions_with_xman():
    for path in [*ROOT.glob("*/solution/*.py"), *(Path(__file__).parent / "for_nothing").glob("*.py")]:
        assert borrowed(runs(path.read_text("utf-8"))) == 0, path


def runs(source):
    return set().union(*function_runs(source))


OTHERWISE = {
    "as it is": lambda text: text, "its names": lambda text: re.sub(r"\b(steps|values|out|args)\b", r"my_\1", text),
    "its numbers": lambda text: re.sub(r"\b\d\b", "7", text), "lines between": lambda text: text.replace(
        "    try:\n", "    count = 0\n    try:\n").replace("        raise", "        count += 1\n        raise"),
    "its sentences": lambda text: re.sub('f"[^"]*"', '"no"', text),
    "its errors": lambda text: text.replace("Exception", "ValueError"),
    "its beginning": lambda text: text.replace("    steps = checked_list(steps, G)\n", "    G = {**G}\n")}


@pytest.mark.parametrize("changed", OTHERWISE)
def test_a_function_of_xman_is_known_by_half_of_its_runs_as_of_another_version(changed):
    for name in ("eval", "backprop"):
        text = (Path(xman.__file__).parent / "interpreters" / f"{name}.py").read_text("utf-8")
        assert borrowed(runs(OTHERWISE[changed](text))) > BORROWED
    half = sorted(max(runs_of_xman(), key=len))
    assert borrowed(half[len(half) // 2:]) == len(half) - len(half) // 2 and borrowed(half[1 + len(half) // 2:]) == 0


def test_the_same_submission_is_asked_the_same_and_another_is_asked_something_else(tmp_path):
    """So whoever reads the inputs out of a report cannot write the answers into the next submission."""
    assignment, asked = load_assignment(Path(__file__).parent / "attacked"), []
    for text in ("", "", "\n# once more"):
        (tmp_path / "attacked.py").write_text("def average(rows): return rows" + text)
        record = grade_one(assignment, one(tmp_path / "attacked.py"), sandbox_here(unsafe=True), "a term")
        asked.append(record["tasks"][1]["parts"][0]["cases"][0]["feedback"]["given"])
    assert asked[0] == asked[1] != asked[2]
