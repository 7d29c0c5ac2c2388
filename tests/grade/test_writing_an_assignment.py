"""The assignment of docs/assignments.md, built from its text: it is one, and each of its mutants loses exactly its parts."""
import re
from pathlib import Path

import pytest
from inside import Inside, cases_of, module_of, probes_of

from xman.grade import check, judge, load_assignment
from xman.grade.handout.handout import write_handout
from xman.grade.sandbox import sandbox_here

PAGE = (Path(__file__).parents[2] / "docs" / "assignments.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (.*?) -->\n```\w+\n(.*?)```\n", PAGE, re.DOTALL))
SOLUTION = FILES["solution/halves.py"]
space = {}
exec(FILES["mutants.py"], space)


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "halves"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return load_assignment(folder)


def test_the_solution_has_all_points_and_the_hand_out_none(halves, tmp_path):
    (tmp_path / "halves.py").write_text(SOLUTION)
    assert judge(halves, tmp_path, sandbox_here(unsafe=True), "a term")["points"] == 100
    write_handout(halves, tmp_path / "out")
    starter = (tmp_path / "out" / "halves.py").read_text("utf-8")
    assert "x / 2" not in starter and {case["credit"] for _, case in cases_of(halves, starter, "a term")} == {0}


@pytest.mark.parametrize("mutant", space["MUTANTS"], ids=lambda mutant: mutant[0])
def test_each_mutant_loses_exactly_its_parts(halves, mutant):
    _, right, wrong, loses = mutant
    assert SOLUTION.count(right) == 1
    lost = {part.title for part, case in cases_of(halves, SOLUTION.replace(right, wrong), "a term") if case["credit"] < 1}
    assert lost == ({loses} if isinstance(loses, str) else set(loses))


def test_the_probe_of_the_page_does_what_it_says(halves):
    student = Inside(module_of(SOLUTION), probes_of(halves.probes))
    assert student.call("called", ["half", 3.0], {}) == {"result": 1.5, "type": "float"}


@pytest.mark.parametrize(("source", "said"), [
    (SOLUTION, "passed these; 4 parts are judged when you hand in"),
    ("def half(x): return x", "these are the checks; 4 parts are judged when you hand in")])
def test_the_checks_say_what_they_did_not_look_at(halves, tmp_path, capsys, source, said):
    write_handout(halves, tmp_path / "out")
    (tmp_path / "out" / "halves.py").write_text(source)
    assert check(tmp_path / "out") == (source == SOLUTION)
    assert capsys.readouterr().out.rstrip().endswith(said)


@pytest.mark.parametrize("name", ["helper", "xman"])
def test_who_brings_a_helper_or_imports_what_is_not_there_is_told_what_counts(halves, tmp_path, name):
    (tmp_path / "halves.py").write_text(f"import {name}\n{SOLUTION}")
    (tmp_path / "helper.py").write_text("")
    trouble = judge(halves, tmp_path, sandbox_here(unsafe=True), "a term")["trouble"]
    assert "halves.py alone counts; it can import Python's library and numpy" in trouble
