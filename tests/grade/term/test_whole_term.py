"""A whole term: seven assignments, handed in on four platforms and one's own, by five students; XMAN_ALL_CASES=1: by sixty.

What each student has is worked out here from the plan alone, in hours and days, and compared with the books.
"""

import csv
import datetime
import json
import math
import os
import sys
from zoneinfo import ZoneInfo

import pytest
from small import GRADING, POSITIVE, RIGHT, WRONG, write_assignment

STUDENTS = 60 if os.environ.get("XMAN_ALL_CASES") else 5
GIVEN = "Ada", "Zoë", "Jürgen", "Siobhán", "李", "Łukasz", "Мария"
SURNAMES = "Lovelace", "O'Brien", "Groß", "van Rossum", "Nguyễn", "Hopper", "Żak", "Noether", "de la Cruz"
NAMES = [f"{SURNAMES[k % 9]} {k // 9 or ''}".strip() + f", {GIVEN[k % 7]}" for k in range(STUDENTS)]
NAMES[-1] = NAMES[0]  # two of one name
IDS = [str(7000 + k) for k in range(STUDENTS)]
ZONE = ZoneInfo("Europe/Berlin")
PLATFORMS = "gradescope", "gradescope", "canvas", "canvas", "moodle", "autolab", "own"
ASSIGNMENTS = dict(zip(("a1", "a2", "b1", "b2", "c1", "d1", "e1"), PLATFORMS, strict=True))
DUES = {name: datetime.datetime(2026, 10, 2, 23, 59, tzinfo=ZONE) + datetime.timedelta(weeks=k)
        for k, name in enumerate(ASSIGNMENTS)}  # the clocks are changed after the fourth
HOURS = -50, 0, 30, 1 / 60, -3, 80, 24, 200  # after one's own deadline; the last is after the last moment
FORMS, POINTS = (RIGHT, POSITIVE, WRONG, RIGHT), (100, 60, 0, 100)
PENALTY, FREE, UNTIL = 10, 2, 5
TIMED = "gradescope", "moodle", "own"  # which tell the time


def group(k): return f"g{k // 2}"


def extension(k, name): return 2 if k % 7 == 3 and name in ("a1", "c1") else 0


def plan(k, name):
    """(points, hours after the own deadline) of what a student hands in, or None."""
    j = [*ASSIGNMENTS].index(name)
    if (k + 2 * j) % 11 == 4 or name == "e1" and k % 2:  # the second of a group hands nothing in
        return None
    return POINTS[(k + j) % 4], HOURS[(3 * k + j) % 8]


def at(k, name):
    return DUES[name] + datetime.timedelta(days=extension(k, name)) + datetime.timedelta(hours=plan(k, name)[1])


def expected(k):
    """The marks of a student, by hand: in the order of the deadlines, two days of lateness are free in the term."""
    left, marks = FREE, []
    for name, platform in ASSIGNMENTS.items():
        done = plan(k - k % 2 if platform == "own" else k, name)
        if done is None:
            marks.append(0)
            continue
        points, hours = done
        days = 0
        if platform in TIMED:  # d1 has no times; of b1 and b2 only those that are LATE, and these say no more
            own = extension(k, name)
            if hours > 24 * max(UNTIL - own, 0):
                marks.append(0)
                continue
            days = max(0, math.ceil(round(hours, 6) / 24))
        free = min(left, days)
        left -= free
        marks.append(max(0, points - PENALTY * (days - free)))
    return marks


def hand_in(place, name, platform):
    """The files of a platform's export."""
    place.mkdir()
    metadata = {}
    for k, whole in enumerate(NAMES):
        if plan(k, name) is None:
            continue
        source = FORMS[([*ASSIGNMENTS].index(name) + k) % 4]
        first, last = whole.split(", ")[::-1]
        late = "LATE_" * (plan(k, name)[1] > 0)
        joined = "".join(c for c in f"{last}{first}".lower() if c.isalnum())
        file = {"gradescope": f"submission_{k}/{name}.py", "canvas": f"{joined}_{late}{IDS[k]}_{900 + k}_{name}.py",
                "moodle": f"{first} {last}_{300 + k}_assignsubmission_file_/{name}.py",
                "autolab": f"s{k}@x.edu_1_{name}.py", "own": f"s{k}@x.edu {at(k, name):%Y-%m-%dT%H:%M:%S}.py"}[platform]
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(source)
        if platform == "autolab":
            (place / file.replace("_1_", "_0_")).write_text(WRONG)  # an earlier version
        metadata[f"submission_{k}"] = {":submitters": [{":name": f"{first} {last}", ":sid": IDS[k], ":email": f"s{k}@x.edu"}],
                                       ":created_at": at(k, name).astimezone(ZoneInfo("UTC")).isoformat(), ":score": 1.0}
    if platform == "gradescope":
        (place / "submission_metadata.yml").write_text(json.dumps(metadata))  # JSON is YAML
    elif platform == "moodle":
        rows = [["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
                 "Last modified (submission)", "Last modified (grade)", "Feedback comments"]]
        for k, whole in enumerate(NAMES):
            time = at(k, name).strftime("%A, %-d %B %Y, %-I:%M %p") if plan(k, name) else "-"
            full_name = " ".join(whole.split(", ")[::-1])
            rows.append([f"Participant {300 + k}", full_name, f"s{k}@x.edu", "", "", "20.00", "Yes", time, "-", ""])
        write(place.parent / "assignments" / "sheet.csv", rows)


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def xman(grade_command):
    """xman(*words) -> the output of `xman grade`, which succeeds."""
    def run(*words):
        status, out, errors = grade_command(*words)
        assert status == 0, errors
        return out
    return run


@pytest.mark.skipif(sys.platform == "win32", reason="%-d")
def test_a_whole_term_has_the_marks_that_the_plan_gives(xman, tmp_path):
    assignments = tmp_path / "assignments"
    for name, platform in ASSIGNMENTS.items():
        write_assignment(assignments / name)
        hand_in(tmp_path / name, name, platform)
    about = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Email", "Group"]
    titles = [f"{name} ({k})" for k, name in enumerate(ASSIGNMENTS, 500)]
    rows = [[whole, IDS[k], f"sis{k}", f"s{k}", "A", f"s{k}@x.edu", group(k)] for k, whole in enumerate(NAMES)]
    write(assignments / "roster.csv", [[*about, *titles], ["    Points Possible", *[""] * 6, *["100"] * 7],
                                       *([*row, *[""] * 7] for row in rows), ["Student, Test", "1", *[""] * 12]])
    settings = [f'zone = "Europe/Berlin"\nroster = "roster.csv"\nlate_days = {FREE}\npenalty = {PENALTY}']
    for name, title in zip(ASSIGNMENTS, titles, strict=True):
        until = DUES[name] + datetime.timedelta(days=UNTIL)
        settings.append(f'[{name}]\ndue = {DUES[name]:%Y-%m-%dT%H:%M:%S}\nuntil = {until:%Y-%m-%dT%H:%M:%S}\ncanvas = "{title}"')
        settings += ["groups = true"] * (name == "e1") + ['moodle = "sheet.csv"'] * (name == "c1")
        settings += [f"[{name}.extensions]", *(f"{IDS[k]} = 2" for k in range(STUDENTS) if extension(k, name))]
    (assignments / "term.toml").write_text("\n".join(settings), "utf-8")
    for name in ASSIGNMENTS:
        xman("run", name, name, "--assignments", "assignments", "--unsafe", "--jobs", "2")
    out = xman("book", *ASSIGNMENTS, "--assignments", "assignments")
    with open("book/book.csv", encoding="utf-8-sig", newline="") as file:
        books = {row["ids"].split()[0]: row for row in csv.DictReader(file)}
    marks = {k: [float(books[IDS[k]][name]) for name in ASSIGNMENTS] for k in range(STUDENTS)}
    assert marks == {k: expected(k) for k in range(STUDENTS)}
    assert all(float(books[IDS[k]]["total"]) == pytest.approx(sum(expected(k)) / 7, abs=1e-4) for k in range(STUDENTS))
    late = sum(plan(k, name) is not None and plan(k, name)[1] > 0 for k in range(STUDENTS) for name in ("b1", "b2"))
    assert out.count("LATE, says the platform") == late and "not in the roster" not in out and "may be of" not in out
    with open("book/canvas.csv", encoding="utf-8", newline="") as file:
        canvas = [*csv.reader(file)]
    assert canvas[0] == [*about[:5], *titles] and [row[1] for row in canvas[2:-1]] == IDS
    given = {k: [float(cell) if cell else 0 for cell in row[5:]] for k, row in enumerate(canvas[2:-1])}
    assert given == marks
    with open("book/moodle-c1.csv", encoding="utf-8", newline="") as file:
        grades = {row["Email address"]: row["Grade"] for row in csv.DictReader(file)}
    assert {k: float(grades[f"s{k}@x.edu"] or 0) * 5 for k in range(STUDENTS)} == {k: marks[k][4] for k in range(STUDENTS)}

    # a fault of the grader's is mended: all are judged again, some marks fall, and the book says whose
    write_assignment(assignments / "d1", GRADING.replace("student.square(-2.0), 4.0", "student.square(-2.0), 4.5"))
    xman("run", "d1", "d1", "--assignments", "assignments", "--unsafe", "--jobs", "2")
    out = xman("book", *ASSIGNMENTS, "--assignments", "assignments")
    fallen = sum(plan(k, "d1") is not None and plan(k, "d1")[0] == 100 for k in range(STUDENTS))
    assert out.count("d1: graded again: 100 before, and now LESS") == fallen > 0
