"""Many submissions: nothing is lost, nothing is judged twice, one process a folder, also when the grader is killed half way."""

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from inside import grade_one, write_assignment

import xman
from xman.errors import XManError
from xman.grade import folder_of, load_assignment, run
from xman.grade.run import grade_all, locked
from xman.grade.sandbox import sandbox_here
from xman.grade.submissions import find
from xman.grade.submissions import submission as submission_module
from xman.grade.submissions.scratch import PREFIX, scratch

CHECKS = """
from xman.grade import Assignment, expect
assignment = Assignment("work", "Squares", wall_seconds=20)
squares = assignment.task(1, "square")
"""
GRADING = """
from xman.grade import expect
from .public.checks import assignment, squares

@squares.part("the square", points=100)
def the_square(student, rng):
    x = rng.standard_normal()
    expect(student.square(x), x * x, "the square")
"""
RIGHT, WRONG = "def square(x): return x * x\n", "def square(x): return 2 * x\n"
LONG_AGO = "2001-01-01T00:00:00+00:00"
SLOW = "import time\ntime.sleep(0.3)\n" + RIGHT


@pytest.fixture
def folder(tmp_path):
    """An assignment, and room for submissions."""
    write_assignment(tmp_path, CHECKS, GRADING)
    return tmp_path


def hand_in(folder, **sources):
    for name, source in sources.items():
        (folder / "class" / f"{name}.py").write_text(source)


def grade(folder, done=lambda record, share: None, jobs=2, term=None, names=None):
    found = [submission for submission in find([folder / "class"], "work") if names is None or submission.name in names]
    return grade_all(load_assignment(folder / "assignments" / "work"), found, sandbox_here(unsafe=True),
                     folder / "out", term, jobs, done)


def book(folder):
    with open(folder / "out" / "gradebook.csv", newline="", encoding="utf-8-sig") as file:
        return {row["name"]: float(row["points"]) for row in csv.DictReader(file)}


def test_each_submission_has_a_record_a_page_and_a_row_whatever_it_is(folder):
    hand_in(folder, ada=RIGHT, bob=WRONG, eve="import os; os._exit(0)", void="")
    with zipfile.ZipFile(folder / "class" / "zoe.zip", "w") as archive:
        archive.writestr("homework/work.py", RIGHT)
    (folder / "class" / "bad.zip").write_bytes(b"PK no archive")
    seen = []
    records = grade(folder, lambda record, share: seen.append(record["submission"]))
    assert {record["submission"]: record["points"] for record in records} == book(folder) == {
        "ada": 100, "bad": 0, "bob": 0, "eve": 0, "void": 0, "zoe": 100}
    assert sorted(seen) == sorted(book(folder))
    assert {path.stem.rpartition("-")[0] for path in (folder / "out" / "students").iterdir()} == set(book(folder))
    assert "archive" in next(record["trouble"] for record in records if record["submission"] == "bad")
    assert (folder / "out" / "class.html").is_file() and not list((folder / "out").rglob(".*.part"))


def record_file(folder, name):
    """Where the record of the submission of that name lies: its digest is in the file's name."""
    path, = (folder / "out" / "records").glob(f"{name}-*.json")
    return path


def when(folder, name):
    return json.loads(record_file(folder, name).read_text("utf-8"))["graded"]["when"]


def test_a_second_run_judges_what_is_new_or_has_changed_and_keeps_the_inputs(folder):
    hand_in(folder, ada=RIGHT, bob=WRONG)
    first = grade(folder)
    for record in first:
        path = folder / "out" / "records" / f"{record['slug']}.json"
        path.write_text(json.dumps({**record, "graded": {**record["graded"], "when": LONG_AGO}}))
    hand_in(folder, bob=RIGHT, cleo=RIGHT)
    second = grade(folder)
    assert [when(folder, name) == LONG_AGO for name in ("ada", "bob", "cleo")] == [True, False, False]
    assert {record["graded"]["term"] for record in first + second} == {first[0]["graded"]["term"]}
    assert book(folder) == {"ada": 100, "bob": 100, "cleo": 100}


@pytest.mark.parametrize("spoil", ["", "{", "[]", "{}", '{"graded": 3}', "\udcff",
                                   json.dumps({"slug": "../../../escaped", "graded": {"xman": xman.__version__}})])
def test_a_record_that_cannot_be_read_or_is_of_another_name_is_made_again(folder, spoil):
    hand_in(folder, ada=RIGHT)
    grade(folder)
    record_file(folder, "ada").write_bytes(spoil.encode("utf-8", "surrogateescape"))
    assert grade(folder)[0]["points"] == 100 and not list(folder.rglob("escaped*"))


def test_a_new_version_of_the_assignment_and_another_term_judge_again(folder):
    hand_in(folder, ada=RIGHT)
    first = grade(folder)[0]
    with open(folder / "assignments" / "work" / "grading.py", "a") as file:
        file.write("# better\n")
    second, third = grade(folder)[0], grade(folder, term="spring in a far year")[0]
    versions = [(record["graded"]["assignment"], record["graded"]["term"]) for record in (first, second, third)]
    assert versions[0][0] != versions[1][0] == versions[2][0] and versions[0][1] == versions[1][1] != versions[2][1]


def test_who_hands_in_late_is_added_to_the_reports(folder):
    hand_in(folder, ada=RIGHT, bob=WRONG)
    grade(folder)
    hand_in(folder, zoe=RIGHT)
    assert [record["submission"] for record in grade(folder, names=["zoe"])] == ["zoe"]
    assert book(folder) == {"ada": 100, "bob": 0, "zoe": 100}
    hand_in(folder, bob=RIGHT)
    (folder / "out" / "records" / "broken.json").write_text("{}")
    grade(folder, names=["bob"])
    assert book(folder) == {"ada": 100, "bob": 100, "zoe": 100}


LONG = "course-4711-0815-homework-1-submission-of-the-student-"  # as a learning platform names files


@pytest.mark.parametrize("first, second", [
    ("bob.py", "bob.PY"), ("bob.py", "Bob.py"), ("bob.py", "bob-2.py"), ("bob.py", "bob.zip"), ("bob", "bob.py"),
    (f"{LONG}bob.py", f"{LONG}eve.py"), ("b\u00f6b.py", "bo\u0308b.py")])
def test_a_record_is_never_replaced_by_that_of_another_file_whatever_its_name_and_whenever_it_comes(folder, first, second):
    (folder / "class" / first).write_text("") if first.endswith(".py") else (folder / "class" / first).mkdir()
    grade(folder)
    mine, = (folder / "out" / "records").iterdir()
    kept = mine.read_bytes()
    for name in os.listdir(folder / "class"):
        os.rename(folder / "class" / name, folder / name)
    (folder / "class" / second).write_text("")
    grade(folder)
    files = {json.loads(path.read_bytes())["file"] for path in (folder / "out" / "records").iterdir()}
    assert mine.read_bytes() == kept and files == {first, second}
    with open(folder / "out" / "gradebook.csv", newline="", encoding="utf-8-sig") as file:
        assert {row["file"] for row in csv.DictReader(file)} == files
    assert len(list((folder / "out" / "students").iterdir())) == 2


def test_a_students_file_of_the_modules_name_is_graded_beside_all_others(folder):
    hand_in(folder, ada=RIGHT, work="import ada\n" + RIGHT)
    (folder / "class" / "bob").mkdir()
    (folder / "class" / "bob" / "work.py").write_text(RIGHT)
    grade(folder, jobs=4)
    assert book(folder) == {"ada": 100, "bob": 100, "work": 0}


def test_a_submission_is_read_once_to_be_judged_and_its_record_has_the_digest_of_what_was(folder, monkeypatch):
    hand_in(folder, ada="")
    submission, = find([folder / "class"], "work")
    read, reads = submission_module.bytes_or_files, []

    def changed_behind(path):
        reads.append(path)
        data = read(path)
        path.write_text(RIGHT)
        return data
    monkeypatch.setattr(submission_module, "bytes_or_files", changed_behind)
    record = grade_one(load_assignment(folder / "assignments" / "work"), submission, sandbox_here(unsafe=True),
                       "a term of some length")
    assert len(reads) == 1 and "is empty" in record["trouble"] and record["graded"]["digest"] == hashlib.sha256(b"").hexdigest()


def test_a_run_sweeps_up_after_graders_that_were_killed(folder):
    left = Path(tempfile.mkdtemp(prefix=PREFIX))
    (left / "a submission").mkdir()
    hand_in(folder, ada="")
    with scratch() as held:
        grade(folder)
        assert held.is_dir() and not left.exists()


def test_a_term_that_can_be_guessed_is_refused(folder):
    hand_in(folder, ada=RIGHT)
    with pytest.raises(XManError, match="students could guess 'fall2026'"):
        grade(folder, term="fall2026")
    assert not (folder / "out").exists()


def test_two_processes_do_not_grade_into_one_folder(folder):
    hand_in(folder, ada=RIGHT)
    with locked(folder / "out"), pytest.raises(XManError, match="another process grades into"):
        grade(folder)
    assert grade(folder)[0]["points"] == 100


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_judged(folder):
    hand_in(folder, ada=RIGHT)
    (folder / "out").write_text("a file")
    with pytest.raises(XManError, match="came to a stop"):
        grade(folder, done=lambda record, share: pytest.fail("it was judged"))


def test_an_assignment_is_found_by_its_name_among_the_assignments(folder):
    assert folder_of("work", folder / "assignments") == folder / "assignments" / "work"
    with pytest.raises(XManError, match="did you mean 'work'"):
        folder_of("wrok", folder / "assignments")
    with pytest.raises(XManError, match="--assignments DIR"):
        folder_of("work", folder / "class")


@pytest.mark.parametrize("path", ["./work", "work/", "class/../work", ".", "..", "{here}/work", "~/work", "work/grading.py"])
def test_a_path_is_no_name_and_what_lies_there_does_not_run(folder, path, monkeypatch):
    """It may lie beside what was handed in; who means it names its place by an option."""
    (folder / "work").mkdir()
    (folder / "work" / "grading.py").write_text("raise SystemExit('a student ran this')")
    monkeypatch.chdir(folder)
    path = path.format(here=folder)
    for place in (None, folder / "assignments"):
        with pytest.raises(XManError, match=r"is no name of an assignment.* --assignments /"):
            folder_of(path, place)


@pytest.mark.parametrize("where", ["class/work", "class/assignments/work", "class/public", "assignments/work", "work"])
@pytest.mark.parametrize("stands", ["class", "class/assignments", "."])
def test_a_folder_among_submissions_is_never_taken_for_the_assignment(folder, monkeypatch, where, stands):
    (folder / where).mkdir(parents=True, exist_ok=True)
    (folder / where / "grading.py").write_text("raise SystemExit('a student ran this')")
    (folder / stands).mkdir(exist_ok=True)
    monkeypatch.chdir(folder / stands)
    with pytest.raises(XManError, match="no assignment 'work'"):
        folder_of("work")
    with pytest.raises(XManError, match="no assignment 'work'"):
        folder_of("work", folder / "absent")


@pytest.mark.parametrize("out", ["class", "class/out", "assignments/../class/out"])
def test_no_student_hands_in_the_folder_of_grades(folder, grade_extra, out):
    """Its term would be known, and its records would be kept for what was judged."""
    hand_in(folder, ada=WRONG)
    process = command(folder, "--out", out)
    assert "could be a student's; keep the two apart" in process.communicate()[1] and process.returncode == 2


@pytest.mark.parametrize("name", ["work", "link"])
def test_an_assignment_in_what_is_graded_is_refused_before_it_is_loaded(folder, monkeypatch, name):
    pytest.importorskip("click", reason="needs click")
    from xman.cli.grade import assignment_of
    monkeypatch.chdir(folder)
    (folder / "class" / "work").mkdir()
    (folder / "class" / "work" / "grading.py").write_text("raise SystemExit('a student ran this')")
    (folder / "class" / "link").symlink_to("work")
    with pytest.raises(XManError, match="could be a student's"):
        assignment_of(name, Path("class"), (Path("class"),))
    with pytest.raises(XManError, match="could be a student's"):
        assignment_of(name, folder / "class", (folder / "class",))


def test_a_folder_of_grades_that_no_run_has_made_is_not_taken_by_itself(folder, monkeypatch):
    """A student who hands it in knows its secret, and its records are whatever they wish."""
    monkeypatch.chdir(folder)
    grades = folder / "work-grades"
    assert run.grades_here("work") == Path("work-grades")
    with locked(grades):
        run.kept_term(grades, None)
    assert run.grades_here("work") == Path("work-grades")
    for text in ("", "0" * 32, run.own_mark()[:-1]):
        (grades / run.MARK).write_text(text)
        with pytest.raises(XManError, match="it could be a student's.* --out DIR"):
            run.grades_here("work")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "another"))
    with locked(grades):  # by its path it is trusted, and then marked
        assert run.grades_here("work")
    monkeypatch.setattr(run, "own_mark", lambda: None)
    with pytest.raises(XManError, match="it could be a student's"):
        run.grades_here("work")


@pytest.mark.parametrize("words", [("run", "class"), ("book",), ("sheets", "--out", "paper")])
def test_no_command_takes_a_folder_of_grades_from_the_current_folder(folder, grade_extra, words):
    (folder / "work-grades" / "records").mkdir(parents=True)
    grading = folder / "assignments" / "work" / "grading.py"
    grading.write_text(grading.read_text().replace("points=100", "personal=lambda rng: ([], {}), points=100"))
    (folder / "assignments" / "term.toml").write_text('roster = "roster.csv"')
    (folder / "assignments" / "roster.csv").write_text("name\nAda Lovelace\n")
    process = called(folder, words[0], "work", *words[1:], "--assignments", "assignments")
    assert "it could be a student's" in process.communicate()[1] and process.returncode == 2


@pytest.mark.parametrize("spoil, said", [
    (("points=100", "points=90"), "90 points"), (("from xman", "from xmen"), "No module named 'xmen'"),
    (("import assignment", "import assignment as homework"), "grading.py has no variable assignment that is an Assignment"),
    (('"the square", points', '"", points'), None)])
def test_an_assignment_that_is_wrong_is_said_when_it_is_loaded(folder, spoil, said):
    path = folder / "assignments" / "work" / "grading.py"
    path.write_text(path.read_text().replace(*spoil))
    if said:
        with pytest.raises(XManError, match=said):
            load_assignment(path.parent)
    else:
        load_assignment(path.parent)


def command(folder, *more):
    options = "--assignments", "assignments", "--out", "out", "--unsafe", "--jobs", "2"
    return called(folder, "run", "work", "class", *options, *more)


def called(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, "-m", "xman", "grade", *words],
                            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_no_report_has_the_old_record_of_a_changed_submission_when_a_run_is_broken_off(folder, monkeypatch):
    def broken_off(*_):
        raise KeyboardInterrupt
        yield
    hand_in(folder, ada=RIGHT, bob=WRONG)
    grade(folder)
    hand_in(folder, bob=RIGHT)
    monkeypatch.setattr(run, "each_apart", broken_off)
    with pytest.raises(KeyboardInterrupt):
        grade(folder)
    assert book(folder) == {"ada": 100}


@pytest.mark.parametrize("end", [signal.SIGKILL] + [signal.SIGTERM] * bool(os.environ.get("XMAN_ALL_CASES")))
def test_a_run_that_is_broken_off_keeps_what_is_judged_and_a_second_run_does_the_rest(folder, end, grade_extra):
    hand_in(folder, **{f"s{k:02}": SLOW if k % 3 else WRONG for k in range(10)})
    process = command(folder)
    start = time.monotonic()
    while len(list((folder / "out" / "records").glob("*.json"))) < 3 if (folder / "out").exists() else True:
        assert time.monotonic() - start < 60 and process.poll() is None
        time.sleep(0.02)
    process.send_signal(end)
    said = process.communicate(timeout=30)[1]
    kept = {path.stem: path.read_bytes() for path in (folder / "out" / "records").glob("*.json")}
    assert 3 <= len(kept) < 10 and all(json.loads(text) for text in kept.values())
    if end != signal.SIGKILL:
        assert "graded and kept in out; the same command goes on" in said and process.returncode == 130
        assert set(book(folder)) <= {name.partition("-")[0] for name in kept} and len(book(folder)) >= 3
    out, err = command(folder).communicate(timeout=60)
    assert book(folder) == {f"s{k:02}": 100 if k % 3 else 0 for k in range(10)}, err
    assert {name: (folder / "out" / "records" / f"{name}.json").read_bytes() for name in kept} == kept
    assert not list((folder / "out").rglob(".*.part"))


def test_the_command_prints_one_table_for_one_and_a_line_each_for_many(folder, grade_extra):
    hand_in(folder, ada=RIGHT)
    out, err = command(folder).communicate(timeout=60)
    assert "the square" in out and "100" in out and "class.html" in out
    hand_in(folder, bob=WRONG)
    out, err = command(folder, "--json").communicate(timeout=60)
    assert [record["points"] for record in json.loads(out)] == [100, 0]


def test_autolabs_line_is_the_last_and_gradescopes_file_is_written(folder, grade_extra):
    hand_in(folder, ada=RIGHT)
    out, err = command(folder, "--autolab", "--gradescope", "results.json").communicate(timeout=60)
    assert json.loads(out.splitlines()[-1])["scores"] == {"1. square": 100.0}
    assert json.loads((folder / "results.json").read_text())["score"] == 100
    out, err = command(folder, "class", "--autolab").communicate(timeout=60)
    assert "are for one submission; here are 2" in err and out == ""


def test_shards_that_grade_at_once_lose_nothing_and_judge_nothing_twice(folder, grade_extra):
    hand_in(folder, **{f"student{k}": WRONG if k % 5 == 0 else RIGHT for k in range(12)})
    command = [sys.executable, "-m", "xman", "grade", "run", "work", str(folder / "class"),
               "--assignments", str(folder / "assignments"), "--unsafe", "--out", str(folder / "grades")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    shards = [subprocess.Popen([*command, "--shard", f"{k}/3"], **pipes) for k in (1, 2, 3)]
    assert not any(b"Traceback" in b"".join(shard.communicate()) or shard.returncode for shard in shards)
    records = {path: path.stat().st_mtime_ns for path in (folder / "grades" / "records").iterdir()}
    assert len(records) == 12 and not (folder / "grades" / "gradebook.csv").exists()
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in records} == records
    with open(folder / "grades" / "gradebook.csv") as file:
        assert len({tuple(row) for row in csv.reader(file)}) == 13
