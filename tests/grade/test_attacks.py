"""Hostile submissions, graded in the sandbox: each is contained, and costs nobody but its own student anything."""

import functools
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside import grade_one

from xman.errors import XManError
from xman.grade import load_assignment
from xman.grade.reports import pages, platforms, terminal, write_all
from xman.grade.sandbox import sandbox_here
from xman.grade.submissions import one

HERE = Path(__file__).parent
ATTACKS = {path.stem: path for path in sorted((HERE / "attacks").glob("*.py")) if path.stem != "archives"}
TEXTS = {name: path.read_text("utf-8") for name, path in ATTACKS.items()}
WORTH = {name: float(text.partition("\n# worth: ")[2].partition("\n")[0] or "nan") for name, text in TEXTS.items()}
SECCOMP = [name for name, text in TEXTS.items() if "\n# needs: seccomp\n" in text]
WAITING = [name for name, text in TEXTS.items() if "\n# waits: 1\n" in text]  # for a limit: some at once, with smaller ones
TOGETHER = 11
SECONDS, MIB = 25, 300  # that a record may take, and by which the grader may grow
SECRET = "c4n4ry-of-the-"  # canaries: of the environment, of a file, of the solution, of the grader, of the term

spec = importlib.util.spec_from_file_location("archives", HERE / "attacks" / "archives.py")
archives = importlib.util.module_from_spec(spec)
spec.loader.exec_module(archives)


@functools.cache
def sandbox():
    try:
        return sandbox_here()
    except XManError as error:
        return error


needs_sandbox = pytest.mark.skipif("isinstance(sandbox(), Exception)", reason="bubblewrap does not work here")


@functools.cache
def assignment(waiting):
    """The one that is attacked; the attacks that wait for a limit do not wait for long."""
    attacked = load_assignment(HERE / "attacked")
    attacked.limits = replace(attacked.limits, **({"wall_seconds": 2, "cpu_seconds": 1} if waiting else {"wall_seconds": 15}))
    return attacked


class Scene:
    """What an attack may look for: listeners on this machine, a canary in the environment and one in a file."""

    def __init__(self, undo):
        self.folder = Path(undo.enter_context(tempfile.TemporaryDirectory()))
        (self.folder / "canary").write_text(SECRET + "file")
        self.tcp, self.udp, self.unix = (undo.enter_context(socket.socket(*kind)) for kind in (
            (socket.AF_INET,), (socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_UNIX,)))
        self.tcp.bind(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp.bind(("127.0.0.1", self.port))
        self.name = f"c4n4ry-listener-{os.getpid()}"
        if sys.platform == "linux":
            self.unix.bind(f"\0{self.name}")
            self.unix.listen()
        self.tcp.listen()
        for it in (self.tcp, self.udp, self.unix):
            it.setblocking(False)

    def put(self, name):
        """The file of the attack, as a student hands it in."""
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "attacked.py"
        path.write_text(TEXTS[name].replace("40404", str(self.port)).replace("c4n4ry-listener", self.name), "utf-8")
        return path

    def was_reached(self):
        """Whether anybody has connected or sent something."""
        reached = False
        for hear in (lambda: self.tcp.accept()[0].close(), lambda: self.unix.accept()[0].close(), lambda: self.udp.recv(1)):
            with suppress(OSError):
                while True:
                    hear()
                    reached = True
        return reached


@pytest.fixture(scope="module")
def scene():
    with ExitStack() as undo, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMAN_CANARY", SECRET + "environment")
        yield Scene(undo)


def outside(path):
    """What an attack might change: the submission, the assignment, its folder, the packages, and what it might leave behind."""
    places = [path, path.parent, *(HERE / "attacked").rglob("*.py"), *path.parent.parent.glob("canary"), Path(np.__file__), HERE]
    left = [str(found) for folder in (Path("/tmp"), Path("/dev/shm"), Path.cwd()) for found in folder.glob("*c4n4ry*")]
    return [(place.stat().st_mtime_ns, place.stat().st_size, place.stat().st_mode) for place in places], left


def growth_since(before=None):
    """MiB that this process has grown by at most, since it was called without before; 0 where it cannot be known."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        return 0.0
    words = Path("/proc/self/status").read_text().split()
    if before is None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        return int(words[words.index("VmRSS:") + 1]) / 1024
    return int(words[words.index("VmHWM:") + 1]) / 1024 - before


class Noting:
    """A sandbox that notes which users its workers are."""

    def __init__(self, box):
        self.box, self.name, self.users = box, box.name, set()

    def start(self, *args, **keywords):
        worker = self.box.start(*args, **keywords)
        self.users |= {worker.settings["uid"]} - {None}
        return worker


def left(users):
    """Processes that live on of these users, and with the canary in their command line.

    A user is lent to the next worker at once, perhaps of another test; such a one ends soon, what has escaped does not.
    """
    found, until = running(users, os.listdir("/proc")), time.monotonic() + 20
    while found and time.monotonic() < until:
        time.sleep(0.1)
        found = running(users, found)
    return found


def running(users, processes):
    """Those of the processes that are of these users, or have the canary in their command line."""
    found = []
    for process in filter(str.isdigit, processes):
        try:
            folder = Path("/proc", process)
            if folder.stat().st_uid in users or b"c4n4ry-daemon" in (folder / "cmdline").read_bytes():
                found.append(process)
        except OSError:
            pass
    return found


def attacked(name, scene):
    """(the record, its seconds, what is wrong outside) of one attack."""
    path, box = scene.put(name), Noting(sandbox())
    before, start = outside(path), time.monotonic()
    record = grade_one(assignment(name in WAITING), one(path), box, SECRET + "term")
    seconds = time.monotonic() - start
    wrong = [f"processes are left: {found}" for found in [left(box.users)] if found]
    wrong += ["a listener was reached"] * scene.was_reached() + ["something outside has changed"] * (outside(path) != before)
    shutil.rmtree(path.parent)
    return record, seconds, wrong


@functools.cache
def some_at_once(group, scene):
    """The same of several that wait for limits, which is why they can do so together."""
    assignment(True)
    with ThreadPoolExecutor(TOGETHER) as pool:
        return dict(zip(group, pool.map(lambda name: attacked(name, scene), group), strict=True))


def strings(value):
    """All that is text in a record, names of fields too."""
    if isinstance(value, str):
        yield value
    for inner in value.items() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from strings(inner)


def harmful(text):
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"]


def troubles(record):
    """What is wrong with the record of an attack, but for its points."""
    text = json.dumps(record)
    shown = terminal.report_table(record) + terminal.class_table([record])
    page = pages.student(record)
    seen = shown + page + json.dumps(platforms.gradescope_results(record)) + platforms.autolab_line(record)
    grader = [case["feedback"]["traceback"] for task in record["tasks"] for part in task["parts"] for case in part["cases"]
              if (case["feedback"] or {}).get("grader")]
    found = {"it escaped": "ESCAPED" in text, "a secret is in the record": SECRET in text or SECRET in seen,
             "it cannot be read back": json.loads(text) != record, "it is too large": len(text) > 60_000,
             "control characters": any(map(harmful, strings(record))) or harmful(seen),
             "markup": "<script" in page or "<img" in page,
             "the hidden part's inputs": "hidden-inputs" in seen, f"the grader blames itself: {grader}": grader}
    return [what for what, is_so in found.items() if is_so]


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_says_what_it_tries_how_one_would_see_it_and_what_it_is_worth(name):
    first, second, *_ = TEXTS[name].splitlines()
    assert first.startswith("# Tries: ") and "\n# Worked: " in TEXTS[name] and WORTH[name] in (0, 40, 100)


@needs_sandbox
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in WAITING])
def test_an_attack_is_contained_and_has_the_points_of_the_honest_work_in_it(name, scene):
    if name in SECCOMP and "no seccomp" in sandbox().name:
        pytest.skip("what it tries is kept from it by the filter of system calls; pyseccomp or libseccomp is missing here")
    size = growth_since()
    record, seconds, wrong = attacked(name, scene)
    assert wrong + troubles(record) == [] and record["points"] == WORTH[name]
    assert seconds < SECONDS and growth_since(size) < MIB


@needs_sandbox
@pytest.mark.parametrize("name", WAITING)
def test_an_attack_that_waits_for_a_limit_is_ended_by_it(name, scene):
    first = WAITING.index(name) // TOGETHER * TOGETHER
    size = growth_since()
    record, seconds, wrong = some_at_once(tuple(WAITING[first:first + TOGETHER]), scene)[name]
    assert wrong + troubles(record) == [] and record["points"] <= WORTH[name]
    assert seconds < SECONDS and growth_since(size) < 2 * MIB
    assert any(task["trouble"] for task in record["tasks"]) or name in ("inodes", "endless_results")


@needs_sandbox
def test_an_honest_submission_has_all_points_while_attacks_run_beside_it(scene):
    beside = ["honest", "kills_all", "honest", "output", "memory_that_no_limit_counts", "honest"]
    assignment(False)
    with ThreadPoolExecutor(3) as pool:
        found = [record for record, _, _ in pool.map(lambda name: attacked(name, scene), beside)]
    assert [record["points"] for record in found] == [WORTH[name] for name in beside]


# archives

NO_SANDBOX = type("None", (), {"name": "none"})()  # for what never comes so far


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with all archives and folders, and a fresh one in which nothing may appear beside them."""
    where = tmp_path_factory.mktemp("archives")
    for name, data in {**archives.refused(), **archives.accepted()}.items():
        (where / name).write_bytes(data)
    for name, data in archives.sources().items():
        (where / f"source-{name}").mkdir()
        (where / f"source-{name}" / "attacked.py").write_bytes(data)
    (where / "folders").mkdir()
    worth = archives.folders(where / "folders")
    return where, worth


def test_an_archive_that_would_do_harm_is_refused_in_a_sentence_in_little_time_and_memory(built):
    where, worth = built
    paths = [where / name for name in archives.refused()] + [where / "folders" / name for name, good in worth.items() if not good]
    before, here, size, start = outside(where / "slip.zip"), sorted(os.listdir(where)), growth_since(), time.monotonic()
    for path in paths:
        record = grade_one(assignment(False), one(path), NO_SANDBOX, SECRET + "term")
        assert record["trouble"] and record["points"] == 0 and len(record["trouble"]) < 300 and troubles(record) == [], path.name
    assert (outside(where / "slip.zip"), sorted(os.listdir(where))) == (before, here)
    assert growth_since(size) < MIB and time.monotonic() - start < SECONDS


@needs_sandbox
@pytest.mark.parametrize("name", [*archives.accepted(), "folders/shadows", "folders/hidden"])
def test_files_beside_the_module_run_in_place_of_nothing(name, built):
    record = grade_one(assignment(False), one(built[0] / name), sandbox(), SECRET + "term")
    assert record["points"] == 100 and troubles(record) == []


@needs_sandbox
@pytest.mark.parametrize("name", archives.sources())
def test_a_source_that_no_reader_likes_is_a_sentence(name, built):
    record = grade_one(assignment(False), one(built[0] / f"source-{name}"), sandbox(), SECRET + "term")
    assert record["points"] == 0 and troubles(record) == []


@pytest.mark.parametrize("name", ["\x1b[2J.py", "<script>alert(1)", "-rf.py", "$(id).py", "..py", "x" * 250 + ".py",
                                  "\u202efdp.py", "=1+1.py", "a\nb.py", "%2e%2e.py", "con.py", "é.py", "\udcff.py"])
def test_the_name_of_a_file_is_harmless_in_every_report(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    record = grade_one(assignment(False), one(tmp_path / name), NO_SANDBOX, SECRET + "term")
    assert troubles(record) == [] and Path(record["slug"]).name == record["slug"] and record["slug"].isprintable()
    write_all([record], tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {name, "out"}


# that these tests can fail


NAIVE = textwrap.dedent("""
    import importlib.util, json, sys
    import numpy as np
    expected, gradient = [0.5, 1.5, 2.5], {"x0": 1.0, "z0": 1.0}
    spec = importlib.util.spec_from_file_location("attacked", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows, points = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]], 0
    rules = {op: lambda d, *args: (d,) * len(args) for op in ("add", "mul", "sin", "power")}
    for test in (lambda: module.gradient([("z0", "sin", ("x0",))], {"x0": 1.0, "z0": 1.0}, rules) == gradient,
                 lambda: np.allclose(module.average(rows), expected)):
        try:
            points += bool(test())
        except Exception as error:
            print(type(error).__name__)
    print("points", points)
    """)


@pytest.mark.parametrize("name, harm", [
    ("environment", "ESCAPED"), ("own_memory", "ESCAPED"), ("frames", "ESCAPED"), ("network", "ESCAPED"), ("sockets", "ESCAPED"),
    ("other_interpreters", "ESCAPED"), ("equal_to_everything", "points 1"), ("patched_numpy", "points 1"), ("exit_on_import", ""),
    ("honest", "points 2")])
@pytest.mark.skipif(sys.platform != "linux", reason="what is where is known of Linux")
def test_a_grader_without_these_walls_is_harmed(name, harm, scene, tmp_path):
    """The tests above can fail: what is contained there does harm in a grader that runs a submission in its own process."""
    command = [sys.executable, "-c", NAIVE, str(scene.put(name))]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert harm in told.stdout if harm else (told.stdout, told.returncode) == ("", 0)
    assert scene.was_reached() == (name in ("network", "sockets"))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in Linux's /proc")
def test_what_the_tests_look_for_they_would_see(scene, tmp_path):
    """Each thing that a record of an attack must not have is found in one that has it."""
    (tmp_path / "empty.py").write_text("")
    fine = grade_one(assignment(False), one(tmp_path / "empty.py"), NO_SANDBOX, "a term")
    assert fine["trouble"] and troubles(fine) == []
    for text, what in ((SECRET + "solution", "a secret"), ("ESC" "APED", "escaped"), ("\x1b", "control"), ("\u202e", "control"),
                       ("x" * 10 ** 5, "large")):
        assert [found for found in troubles({**fine, "trouble": text}) if what in found], what
    path = scene.put("honest")
    before = outside(path)
    path.write_text("")
    assert outside(path) != before
    with socket.create_connection(("127.0.0.1", scene.port)):
        assert scene.was_reached() and not scene.was_reached()
    with subprocess.Popen([sys.executable, "-c", "input()", "c4n4ry-daemon"], stdin=subprocess.PIPE) as process:
        until = time.monotonic() + 5
        while str(process.pid) not in running(set(), os.listdir("/proc")):  # its name is there a moment after it has started
            assert time.monotonic() < until
