"""What students see of all submissions is judged before any hidden part, in whatever order and over however many runs."""

import base64
import csv
import json
import os
import sys

import pytest
from inside import write_assignment

from xman.errors import XManError
from xman.grade import load_assignment
from xman.grade.run import WAITING, grade_all
from xman.grade.sandbox import sandbox_here
from xman.grade.submissions import find

ALL_CASES = bool(os.environ.get("XMAN_ALL_CASES"))
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the parts are judged by threads of one process here")

CHECKS = """
import os
from pathlib import Path
from xman.grade import Assignment, expect
assignment = Assignment("work", "Squares", wall_seconds=20)
first, second = assignment.task(1, "square"), assignment.task(2, "half")

def told(title, student):
    with open(Path(__file__).parents[3] / "log", "a") as file:
        print(title, student.name(), student.token(), os.getpid(), file=file)
"""
GRADING = """
from xman.grade import expect
from .public.checks import assignment, first, second, told

@first.part("the square", points=30, hidden=True)
def the_square(student, rng):
    told("hidden", student)
    expect(student.square(3.0), 9.0, "the square")

@first.part("a name", points=30)
def a_name(student, rng):
    told("visible", student)
    expect(student.square(2.0), 4.0, "the square")

@second.part("the half", points=40)
def the_half(student, rng):
    told("visible", student)
    expect(student.square(2.0), 4.0, "the square")
"""
SOURCE = "import os\ntoken = os.urandom(8).hex().lower\nname = '{0}'.lower\ndef square(x): return x * x\n"
NAMES = "ada", "bob", "cleo"


@pytest.fixture
def folder(tmp_path):
    """An assignment whose parts note when they are judged, and a class."""
    write_assignment(tmp_path, CHECKS, GRADING)
    for name in NAMES:
        hand_in(tmp_path, name)
    return tmp_path


def hand_in(folder, name, more=""):
    (folder / "class" / f"{name}.py").write_text(SOURCE.format(name) + more)


def grade(folder, done=lambda record, share: None, **more):
    """{name: points}; the log of an earlier run is gone."""
    (folder / "log").write_text("")
    records = grade_all(load_assignment(folder / "assignments" / "work"), find([folder / "class"], "work"),
                        sandbox_here(unsafe=True), folder / "out", done=done, **more)
    return {record["submission"]: record["points"] for record in records}


def log(folder):
    """(title, name, token of the worker, number of the judging process) of each part, in the order of judging."""
    return [line.split() for line in (folder / "log").read_text().splitlines()]


def judged(folder):
    return [(title, name) for title, name, *_ in log(folder)]


def book(folder):
    with open(folder / "out" / "gradebook.csv", newline="", encoding="utf-8-sig") as file:
        return {row["name"]: (float(row["points"]), float(row["of"]), row["trouble"]) for row in csv.DictReader(file)}


def broken_off_after(number):
    """What is told of each record, and ends the run after that many."""
    told = []

    def done(record, share):
        told.append((record["submission"], share))
        if len(told) == number:
            raise KeyboardInterrupt
    return done


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_that_anybody_sees_is_judged_before_any_hidden_part_and_by_other_processes(folder, jobs):
    shares = []
    points = grade(folder, lambda record, share: shares.append((record["submission"], share)), jobs=jobs)
    assert points == dict.fromkeys(NAMES, 100)
    titles = [title for title, _ in judged(folder)]
    assert titles == ["visible"] * 6 + ["hidden"] * 3
    assert len({token for _, _, token, _ in log(folder)}) == len({number for *_, number in log(folder)}) == 9
    assert sorted(shares) == [(name, share) for name in NAMES for share in (0.5, 1)]
    assert [share for _, share in shares] == [0.5] * 3 + [1] * 3 and not list((folder / "out" / "visible").iterdir())


@pytest.mark.parametrize("after", [1, 3, 5] if ALL_CASES else [3])
def test_a_run_that_is_broken_off_keeps_both_halves_and_the_next_judges_the_rest_in_the_same_order(folder, after):
    with pytest.raises(KeyboardInterrupt):
        grade(folder, broken_off_after(after))
    first, ends = judged(folder), book(folder)
    assert [row for row in ends.values() if row[2]] == [(70, 70, WAITING)] * (min(after, 6 - after))
    assert [row for row in ends.values() if not row[2]] == [(100, 100, "")] * max(after - 3, 0)
    hand_in(folder, "eve")
    assert grade(folder) == dict.fromkeys([*NAMES, "eve"], 100)
    second = judged(folder)
    assert [title for title, _ in second] == sorted([title for title, _ in second], key="visible hidden".split().index)
    # one may have been begun when the run was ended; what was kept is not judged again
    kept = set(ends) if after <= 3 else {*NAMES}
    assert not {("visible", name) for name in kept} & {*second}
    assert not {("hidden", name) for name, row in ends.items() if not row[2]} & {*second}
    assert {*first, *second} == {(title, name) for title in ("visible", "hidden") for name in [*NAMES, "eve"]}
    assert {row[:2] for row in book(folder).values()} == {(100, 100)}


@pytest.mark.parametrize("after", [2, 4] if ALL_CASES else [4])
def test_a_part_that_fails_in_the_machine_loses_no_half(folder, monkeypatch, after):
    def fails(record, share):
        told.append(record)
        if len(told) == after:
            raise OSError("no space left")
    told = []
    with pytest.raises(XManError, match="no space left"):
        grade(folder, fails)
    assert len(book(folder)) == min(after, 3) and grade(folder) == dict.fromkeys(NAMES, 100)


def test_hidden_parts_are_judged_of_the_bytes_whose_visible_parts_were(folder):
    with pytest.raises(KeyboardInterrupt):
        grade(folder, broken_off_after(3))
    half, = (folder / "out" / "visible").glob("ada-*.json")
    kept = json.loads(half.read_text())
    before = kept["program"], kept["graded"]["digest"]

    def changed(record, share):
        if share == 0.5:
            hand_in(folder, "ada", "def square(x): return 0.0\n")
    assert grade(folder, changed)["ada"] == 100  # it was read before it was changed
    assert grade(folder)["ada"] == 0
    record, = (json.loads(path.read_text()) for path in (folder / "out" / "records").glob("ada-*.json"))
    assert base64.b64decode(before[0]).decode() == SOURCE.format("ada") and before[1] != record["graded"]["digest"]


@pytest.mark.parametrize("what", ["the submission", "the sandbox", "the file"] + ["the assignment", "again"] * ALL_CASES)
def test_a_half_is_not_kept_where_the_other_would_be_of_something_else(folder, what, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        grade(folder, broken_off_after(3))
    half, = (folder / "out" / "visible").glob("ada-*.json")
    more = {}
    if what == "the submission":
        hand_in(folder, "ada", "# better")
    elif what == "the assignment":
        with open(folder / "assignments" / "work" / "grading.py", "a") as file:
            file.write("# better")
    elif what == "the sandbox":
        monkeypatch.setattr(sandbox_here(unsafe=True), "name", "another")
    elif what == "again":
        more["again"] = [half.stem]
    else:
        half.write_text(half.read_text()[:-100])
    assert grade(folder, **more) == dict.fromkeys(NAMES, 100)
    assert judged(folder)[:2] == [("visible", "ada")] * 2 and ("visible", "ada") not in judged(folder)[2:]
    assert len(judged(folder)) == 3 + (6 if what in ("the assignment", "the sandbox") else 2)


def test_work_that_is_judged_again_shows_its_old_mark_whenever_the_run_is_broken_off(folder):
    grade(folder)
    grading = folder / "assignments" / "work" / "grading.py"
    grading.write_text(grading.read_text().replace("student.square(3.0), 9.0", "student.square(3.0), 9.5"))
    for after in (1, 4):
        with pytest.raises(KeyboardInterrupt):
            grade(folder, broken_off_after(after))
    assert grade(folder) == dict.fromkeys(NAMES, 70)
    records = [json.loads(path.read_text()) for path in (folder / "out" / "records").iterdir()]
    assert [record["before"]["points"] for record in records] == [100] * 3


def test_what_cannot_be_read_has_its_trouble_and_no_hidden_part_is_judged_of_it(folder):
    hand_in(folder, "ada", "1 / 0\n")
    (folder / "class" / "bad.zip").write_bytes(b"PK no archive")
    assert grade(folder) == {"ada": 0, "bad": 0, "bob": 100, "cleo": 100}
    assert {row[1] for row in book(folder).values()} == {100} and not [name for _, name in judged(folder) if name == "ada"]


def test_a_page_of_a_student_whose_hidden_parts_wait_tells_what_was_seen(folder):
    with pytest.raises(KeyboardInterrupt):
        grade(folder, broken_off_after(3))
    page = next((folder / "out" / "students").glob("ada-*.html")).read_text()
    assert WAITING in page and "the half" in page and "the square" not in page


def test_each_half_of_a_class_is_begun_when_the_other_has_ended_also_in_shards(folder):
    for k in (1, 2):
        grade(folder, shard=(k, 2), jobs=2)
        titles = [title for title, _ in judged(folder)]
        assert titles == sorted(titles, reverse=True)
    assert grade(folder) == dict.fromkeys(NAMES, 100) and not log(folder)
