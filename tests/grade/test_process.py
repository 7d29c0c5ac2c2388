"""What a submission can do to the grader that evaluates it: nothing that ends, stops or swells the class."""

import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

from xman.errors import XManError
from xman.grade import Assignment, load_assignment, process
from xman.grade.record import IN_HIDDEN, case_record, task_record_of, with_hidden
from xman.grade.run import grade_all
from xman.grade.sandbox import sandbox_here
from xman.grade.submissions import find

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no such processes here")

CHECKS = """
from xman.grade import Assignment
assignment = Assignment("work", "Numbers", wall_seconds=20, cpu_seconds=1)
numbers, lists = assignment.task(1, "number"), assignment.task(2, "list")
"""
GRADING = """
from xman.grade import expect
from .public.checks import assignment, numbers, lists

@numbers.part("a number", points=60, cases=["first", "second"])
def a_number(student, rng, case):
    x = student.number()
    while isinstance(x, int) and case == "second":
        x = x * x
    expect(x, 1.5, "the number")

@lists.part("a list", points=40)
def a_list(student, rng):
    expect(student.numbers(), [1, 2], "the list")
"""
SOURCE = "def number(): return {0}\ndef numbers(): return [1, 2]\n"
BIG = SOURCE.format("3 ** 20")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An assignment that evaluates what comes back as no assignment should, and room for submissions."""
    monkeypatch.setattr(process, "TIMES", 1)
    monkeypatch.setattr(process, "WALL_SECONDS", 20)
    (tmp_path / "assignments" / "work" / "public").mkdir(parents=True)
    (tmp_path / "assignments" / "work" / "public" / "checks.py").write_text(CHECKS)
    (tmp_path / "assignments" / "work" / "grading.py").write_text(GRADING)
    (tmp_path / "class").mkdir()
    return tmp_path


def graded(folder, jobs=1, **sources):
    for name, source in sources.items():
        (folder / "class" / f"{name}.py").write_text(source)
    records = grade_all(load_assignment(folder / "assignments" / "work"), find([folder / "class"], "work"),
                        sandbox_here(unsafe=True), folder / "out", None, jobs)
    return {record["submission"]: record for record in records}


def test_a_number_that_grows_without_end_costs_its_task_and_nobody_else(folder):
    records = graded(folder, jobs=2, ada=SOURCE.format(1.5), bob=BIG)
    assert {name: record["points"] for name, record in records.items()} == {"ada": 100, "bob": 40}
    task, other = records["bob"]["tasks"]
    assert [case["feedback"]["came_back"] for case in task["parts"][0]["cases"]] == ["3486784401, which is off", SAID]
    assert task["trouble"] == SAID and other["trouble"] is None and "traceback" not in str(records)


SAID = "the grader stopped here: what came back took it too much processor time"


def judged(judging, tasks=(0,), stop=None):
    """What a process tells of each of the tasks."""
    before, stop = children(), stop or threading.Event()
    found = [list(process.one_apart(judging(task, Path("folder"), "a term", stop), 1, stop)) for task in tasks]
    assert children() <= before  # the orphans of earlier tests may have gone
    return found


def swells(*arguments):
    yield {"case": 1}
    kept = [bytes(1 << 20) for _ in range(1 << 20)]
    yield {"case": len(kept)}


def dies(number):
    def judging(*arguments):
        faulthandler.disable()
        yield {"case": 1}
        os.kill(os.getpid(), number)
    return judging


def sleeps(task, folder, term, stop):
    yield {"case": 1}
    stop.wait(60)


@pytest.mark.parametrize("judging, why", [
    (swells, "too much memory"), (dies(signal.SIGSEGV), "more than it can do"), (dies(signal.SIGKILL), "too much time or memory"),
    (sleeps, "too much time or memory")])
def test_a_task_that_meets_a_limit_is_told_and_the_next_one_is_judged(judging, why, monkeypatch):
    monkeypatch.setattr(process, "MEMORY", 300 << 20)
    monkeypatch.setattr(process, "WALL_SECONDS", 0.5 if judging is sleeps else 60)

    def second_is_well(task, *arguments):
        yield from judging(task, *arguments) if task == 0 else [{"case": [str(word) for word in arguments[:2]]}]
    assert judged(second_is_well, [0, 1]) == [[{"case": 1}, {"ended": why}], [{"case": ["folder", "a term"]}]]


def fails(error):
    def judging(*arguments):
        yield {"case": 1}
        raise error
    return judging


@pytest.mark.parametrize("judging, said", [
    (fails(OSError("no space left")), "OSError: no space left"), (fails(XManError("too many workers")), "^too many workers$"),
    (fails(SystemExit()), "has ended: 1"), (dies(signal.SIGTERM), "the grader was stopped"), (dies(signal.SIGUSR1), "SIGUSR1")])
def test_what_fails_in_the_machine_is_no_students_fault(judging, said):
    with pytest.raises(XManError, match=said):
        judged(judging)


def test_a_task_that_is_stopped_can_tidy_up(tmp_path):
    def judging(task, folder, term, stop):
        (tmp_path / "begun").touch()
        yield from sleeps(task, folder, term, stop)
        (tmp_path / "tidy").touch()

    def stops_it():
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        stop.set()
    stop = threading.Event()
    threading.Thread(target=stops_it, daemon=True).start()
    with pytest.raises(XManError, match="the grader was stopped"):
        judged(judging, stop=stop)
    assert (tmp_path / "tidy").exists()


def test_a_process_that_is_gone_says_so_and_the_others_are_ended():
    def work(number):
        os.kill(os.getpid(), signal.SIGKILL) if number == 1 else stop.wait(60)
    before, stop = children(), threading.Event()
    with pytest.raises(XManError, match="memory enough"):
        list(process.each_apart(work, [1, 2, 3], 3, stop))
    assert children() <= before and not stop.is_set()


def test_each_is_done_once_by_some_processes_and_none_is_left():
    before = children()
    found = list(process.each_apart(lambda number: [number, os.getpid()], range(100), 3, threading.Event()))
    assert sorted(number for number, _ in found) == [*range(100)] and len({pid for _, pid in found}) <= 3
    assert children() <= before  # the orphans of earlier tests may have gone


def test_where_a_hidden_part_met_the_limit_that_is_told_nobody():
    assignment = Assignment("work", "Work")
    task = assignment.task(1, "task")
    for title, hidden in (("seen", False), ("hidden", True), ("seen too", False)):
        task.part(title, 10, cases=["a", "b"], hidden=hidden)(None)
    events = [{"part": title, "case": case_record(name, 1.0)} for title in ("seen", "seen too") for name in "ab"]
    seen, hidden = [part for part in task.parts if not part.hidden], [part for part in task.parts if part.hidden]
    ended = {"ended": "too much processor time"}
    lost, no_import = task_record_of(task, hidden, [ended])
    record = with_hidden(task, task_record_of(task, seen, events)[0], lost)
    assert (record["points"], record["trouble"], no_import) == (20, IN_HIDDEN, None)
    record = with_hidden(task, task_record_of(task, seen, [*events[:3], ended])[0], lost)
    assert (record["points"], record["trouble"]) == (15, SAID)
    assert [part["title"] for part in record["parts"]] == ["seen", "hidden", "seen too"]


def children():
    """The processes that this one has begun and not yet taken leave of."""
    return {path.parent.name for path in Path("/proc").glob("[0-9]*/stat") if parent(path) == os.getpid()}


def parent(stat):
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):  # it has ended meanwhile
        return 0


WAITS = textwrap.dedent("""
    import sys
    from xman.cli import main
    from xman.grade import process
    process.TIMES = 1000
    sys.argv[1:] = ["grade", "run", "work", "class", "--assignments", "assignments", "--out", "out", "--unsafe", "--jobs", "2"]
    main()
    """)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL] if os.environ.get("XMAN_ALL_CASES") else
                         [signal.SIGTERM])
def test_a_signal_ends_a_grader_that_evaluates_what_has_no_end(folder, end, monkeypatch, grade_extra):
    """And all that it has begun, also if it comes from a terminal, to every process at once."""
    for name, source in {"ada": SOURCE.format(1.5), "bob": BIG}.items():
        (folder / "class" / f"{name}.py").write_text(source)
    own = Path(tempfile.mkdtemp())  # where other graders leave nothing, and other users may enter
    own.chmod(0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(own)}
    process = subprocess.Popen([sys.executable, "-c", WAITS], cwd=folder, env=environment, start_new_session=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    start = time.monotonic()
    while not list(folder.glob("out/records/ada-*.json")):
        assert time.monotonic() - start < 30 and process.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)
    if end == signal.SIGINT:
        os.killpg(process.pid, end)
    else:
        process.send_signal(end)
    said, start = process.communicate(timeout=20)[1], time.monotonic()
    assert time.monotonic() - start < 8
    assert end == signal.SIGKILL or "1 of 2 are graded" in said and process.returncode == 130
    while in_session(process.pid):
        assert time.monotonic() - start < 8
        time.sleep(0.02)
    record, = (folder / "out" / "records").iterdir()
    assert json.loads(record.read_text())["points"] == 100
    assert not list(own.iterdir())  # the processes that it made tidy up, also when it was killed itself
    own.rmdir()


def in_session(number):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == number and words[0] not in "ZX":
            found.append(path.parent.name)
    return found
