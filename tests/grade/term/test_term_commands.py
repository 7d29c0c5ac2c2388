"""The commands of a term, as an instructor types them, and the files that go elsewhere."""

import base64
import csv
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest
from small import CHECKS, GRADING, OWN, POSITIVE, RIGHT, WRONG, write_assignment
from term_texts import BERLIN, ROSTER

from xman.errors import XManError
from xman.grade.term.personal import deltas_by_hand
from xman.grade.term.settings import term_at, term_files

DUE = BERLIN + "penalty = 10\n[one]\ndue = 2026-11-06T23:59:00\n"


@pytest.fixture
def xman(tmp_path, grade_command):
    """grade_command, in a folder with the assignments one and two."""
    for name in ("one", "two"):
        write_assignment(tmp_path / "assignments" / name)
    (tmp_path / "assignments" / "roster.csv").write_text(ROSTER, "utf-8")
    (tmp_path / "assignments" / "term.toml").write_text(DUE, "utf-8")
    (tmp_path / "class").mkdir()
    return grade_command


def grade(xman, name="one", *words):
    return xman("run", name, "class", "--assignments", "assignments", "--unsafe", *words)


def book(xman, *names):
    status, out, errors = xman("book", *names or ["one"], "--assignments", "assignments")
    assert status == 0, errors
    return {row[0]: row[1] for line in out.splitlines() if len(row := re.split("  +", line)) > 1}, out


def test_marks_follow_the_settings_without_judging_again(xman, tmp_path):
    (tmp_path / "class" / "Ada Lovelace 2026-11-07T10:00.py").write_text(RIGHT)
    (tmp_path / "class" / "g@x.edu_1_one.py").write_text(POSITIVE)
    assert grade(xman)[0] == 0
    marks, out = book(xman)
    assert (marks["Ada Lovelace"], marks["Grace Hopper"], marks["Ü, Zoë"]) == ("90", "60", "0")
    assert "Grace Hopper, one: no time of hand-in is known" in out and "1 hand-in missing" in out
    (tmp_path / "assignments" / "term.toml").write_text(DUE + '[one.extensions]\n"Ada Lovelace" = 1\n', "utf-8")
    assert book(xman)[0]["Ada Lovelace"] == "100"
    with open("book/book.csv", encoding="utf-8-sig", newline="") as file:
        assert {row["name"]: row["one"] for row in csv.DictReader(file)} == {
            "Ada Lovelace": "100.0", "Grace Hopper": "60.0", "Ü, Zoë": "0.0"}


def test_a_student_is_judged_again_by_name_and_a_mark_that_falls_is_said(xman, tmp_path):
    (tmp_path / "class" / "Ada Lovelace 2026-11-06T10:00.py").write_text(POSITIVE)
    (tmp_path / "class" / "Grace Hopper 2026-11-06T10:00.py").write_text(POSITIVE)
    grade(xman)
    record = next((tmp_path / "one-grades" / "records").glob("Ada*"))
    record.write_text(record.read_text("utf-8").replace('"points": 60.0', '"points": 75.0'), "utf-8")
    grade(xman)
    assert book(xman)[0]["Ada Lovelace"] == "75"  # kept
    assert grade(xman, "one", "--again", "ada@x.edu")[0] == 0
    marks, out = book(xman)
    assert marks["Ada Lovelace"] == "60" and "Ada Lovelace, one: graded again: 75 before, and now LESS" in out
    assert "Grace Hopper, one: graded again" not in out
    status, _, errors = grade(xman, "one", "--again", "Grace Hoper")
    assert status == 2 and "no submission here has this name; did you mean 'Grace Hopper'" in errors


@pytest.mark.parametrize("source, least, status", [(RIGHT, "100", 0), (POSITIVE, "60", 0), (POSITIVE, "61", 1), (WRONG, "1", 1)])
def test_the_status_says_whether_there_are_enough_points(xman, tmp_path, source, least, status):
    (tmp_path / "class" / "ada.py").write_text(source)
    assert grade(xman, "one", "--at-least", least)[0] == status


def test_the_status_is_1_where_the_grader_itself_fails(xman, tmp_path):
    fails = "\n@squares.part('x', points=0)\ndef fails(student, rng):\n    1 / 0\n"
    write_assignment(tmp_path / "assignments" / "one", GRADING + fails)
    (tmp_path / "class" / "ada.py").write_text(RIGHT)
    assert grade(xman)[0] == 1


def test_points_of_hidden_parts_wait_for_the_deadline_in_what_a_student_sees(xman, tmp_path):
    (tmp_path / "class" / "ada.py").write_text(POSITIVE)
    page = lambda: next((tmp_path / "one-grades" / "students").glob("*.html")).read_text("utf-8")
    for due, hidden in (("2126-11-06T23:59:00", True), ("2020-11-06T23:59:00", False)):
        (tmp_path / "assignments" / "term.toml").write_text(f'hidden = "after_due_date"\n{BERLIN}[one]\ndue = {due}\n', "utf-8")
        words = "run", "one", "class/ada.py", "--assignments", "assignments", "--unsafe", "--out", "one-grades"
        assert xman(*words)[0] == 0
        assert ("negative" not in page()) == hidden == ("100 points" not in page())
        _, out, _ = xman(*words, "--autolab")
        assert ("negative" not in out) == hidden == ("of 100" not in out) and json.loads(out.splitlines()[-1])["scores"] == {
            "1. square": 60}
        assert xman(*words, "--classroom", "classroom.json")[0] == 0
        assert ("negative" not in (tmp_path / "classroom.json").read_text("utf-8")) == hidden
        assert "negative" in (tmp_path / "one-grades" / "class.html").read_text("utf-8")
        made = tmp_path / "results.json"
        assert xman(*words, "--gradescope", "results.json")[0] == 0
        tests = json.loads(made.read_text())
        assert [test["visibility"] for test in tests["tests"]] == ["visible", "after_due_date"]
        assert "60 of 60" in tests["output"] and tests["score"] == 60 and not tests["extra_data"]["hidden_shown"]


def test_gradescopes_metadata_tell_who_handed_in_and_how_late(xman, tmp_path):
    write_assignment(tmp_path / "assignments" / "one", OWN)
    words = "sheets", "one", "--assignments", "assignments", "--out", "sheets", "--grades", "grades"
    assert "students could guess 'short'" in xman(*words, "--term", "short")[2] and not (tmp_path / "grades").exists()
    out = xman(*words)
    assert out[0] == 0 and "for 3 students" in out[1] and (tmp_path / "sheets" / "key.html").is_file()
    from xman.grade import load_assignment
    part, = load_assignment(tmp_path / "assignments" / "one").drawn_parts
    own = deltas_by_hand(*part.drawn((tmp_path / "grades" / "term").read_text().strip(), "one", "Grace Hopper"))
    (tmp_path / "work.py").write_text(f"{RIGHT}def answers(): return {own!r}\n")
    for who, score in (("g@x.edu", 90), ("ada@x.edu", 50), ("eve@x.edu", 50)):
        (tmp_path / "meta.json").write_text(json.dumps({"created_at": "2026-11-07T10:00:00+01:00", "previous_submissions": [],
                                                        "users": [{"name": "", "email": who}]}))
        assert xman("run", "one", "work.py", "--assignments", "assignments", "--unsafe", "--out", "grades",
                    "--gradescope", "r.json", "--metadata", "meta.json")[0] == 0
        assert json.loads((tmp_path / "r.json").read_text())["score"] == score


def test_lists_of_ones_own_need_a_roster(xman, tmp_path):
    write_assignment(tmp_path / "assignments" / "one", OWN)
    (tmp_path / "class" / "ada.py").write_text(RIGHT)
    (tmp_path / "assignments" / "term.toml").unlink()
    status, _, errors = grade(xman)
    assert status == 2 and "the part 'your own list' is drawn for each student: name a roster" in errors
    assert "term.toml names no roster" in xman("sheets", "one", "--assignments", "assignments", "--out", "s")[2]
    (tmp_path / "assignments" / "term.toml").write_text(BERLIN, "utf-8")
    assert "none of its parts has personal=" in xman("sheets", "two", "--assignments", "assignments", "--out", "s")[2]


def test_a_package_has_the_settings_of_its_assignment_and_the_roster_and_no_more(xman, tmp_path):
    (tmp_path / "assignments" / "term.toml").write_text(DUE + '["two"]\nweight = 2\n[one.extensions]\n77 = 2\n', "utf-8")
    assert xman("gradescope", "one", "--assignments", "assignments")[0] == 0
    with zipfile.ZipFile("autograder.zip") as archive:
        archive.extractall("package")
    own, there = (term_at(tmp_path / place / "term.toml", {"one"} | names) for place, names in (
        ("assignments", {"two"}), ("package/assignment", set())))
    assert there.rules("one") == own.rules("one") and "two" not in there.assignments
    assert there.roster.students == own.roster.students
    (tmp_path / "assignments" / "term.toml").write_text(BERLIN + "one.weight = 2\n", "utf-8")
    with pytest.raises(XManError, match="each table under a line of its own"):
        term_files(tmp_path / "assignments" / "term.toml", "two", None)


def test_similar_submissions_stand_side_by_side(xman, tmp_path):
    for name, text in (("ada", RIGHT), ("bob", RIGHT + "\n"), ("cleo", POSITIVE)):
        (tmp_path / "class" / f"{name} <b>.py").write_text(text)
    (tmp_path / "class" / "eve.zip").write_bytes(b"PK no archive")
    status, out, _ = xman("similar", "one", "class", "--assignments", "assignments")
    assert status == 0 and out == "100%  ada <b>  bob <b>\n3 compared, 1 could not be read: similar.html\n"
    page = (tmp_path / "similar.html").read_text("utf-8")
    assert "<b>" not in page and "def square(x)" in page and "<script" not in page


def test_members_of_a_group_that_hands_in_together_are_not_told_to_be_alike(xman, tmp_path):
    (tmp_path / "assignments" / "roster.csv").write_text("name,group\nAda,red\nBob,red\nCleo,blue\n", "utf-8")
    for name in ("Ada", "Bob", "Cleo"):
        (tmp_path / "class" / f"{name}.py").write_text(RIGHT)
    for groups, pairs in (("false", {"Ada  Bob", "Ada  Cleo", "Bob  Cleo"}), ("true", {"Ada  Cleo", "Bob  Cleo"})):
        (tmp_path / "assignments" / "term.toml").write_text(f'roster = "roster.csv"\ngroups = {groups}\n[one]\n', "utf-8")
        out = xman("similar", "one", "class", "--assignments", "assignments")[1]
        assert {line.partition("%  ")[2] for line in out.splitlines()[:-1]} == pairs


@pytest.mark.parametrize("source, status", [(RIGHT, "pass"), (WRONG, "fail")])
def test_the_workflow_for_github_runs_step_by_step(xman, tmp_path, source, status):
    yaml = pytest.importorskip("yaml")
    assert xman("handout", "one", "--assignments", "assignments", "--github", "--out", "mine")[0] == 0
    (tmp_path / "mine" / "one.py").write_text(source)
    workflow = yaml.safe_load((tmp_path / "mine" / ".github" / "workflows" / "autograding.yml").read_text("utf-8"))
    job, = workflow["jobs"].values()
    assert workflow["name"] == "Autograding Tests" and [*workflow["jobs"]] == ["run-autograding-tests"]
    environment = {**os.environ, "GITHUB_OUTPUT": str(tmp_path / "output"),
                   "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    codes = {}
    for step in job["steps"]:
        failed = any(codes.values())
        if "run" in step and step["name"] != "Install" and (not failed or step.get("if") == "always()"):
            codes[step["name"]] = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path / "mine", env=environment,
                                                 capture_output=True).returncode
    assert codes == {"Check": 0 if status == "pass" else 1, "Result": 0}
    made = json.loads(base64.b64decode((tmp_path / "output").read_text().removeprefix("result=")))
    assert (made["status"], made["max_score"]) == (status, CHECKS.count(".check("))
    assert made["tests"][0]["score"] == (status == "pass")
