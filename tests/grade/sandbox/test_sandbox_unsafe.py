"""Workers without bubblewrap: less is kept from them, but what can be."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripts_inside import DAEMON, nobody_holds

import ops
import xman
from xman.grade.sandbox import Limits, uids
from xman.grade.sandbox.unsafe import Unsafe

pytestmark = pytest.mark.skipif(os.name != "posix", reason="these limits are Unix's")


@pytest.fixture(scope="module")
def box():
    return Unsafe.on_this_machine()


def test_the_name_says_that_it_is_unsafe(box):
    assert box.name.startswith("none (unsafe)")


@pytest.mark.parametrize("asked, not_seen", [("numpy", ["scipy", "xman", "pytest"]),
                                             ("xman", ["xman.grade", "xman.cli", "pytest"])])
def test_packages_are_those_asked_for(box, say, asked, not_seen):
    said, = say(box, "print(bool(find_spec(settings['asked'])), *[find_spec(name) for name in settings['not_seen']])", [asked],
                asked=asked, not_seen=not_seen)
    assert said == "True None None None"


def test_files_that_it_may_not_import_are_closed_to_it(box, say, tmp_path):
    if not box.landlock:
        pytest.skip("this Linux has no Landlock")
    secret = tmp_path / "other-xman-scratch"
    secret.mkdir(mode=0o755)
    (secret / "wengert.py").write_text("another student's")
    files = [xman.__file__, xman.manager.__file__, ops.__file__, np.__file__.replace("numpy", "pytest"), pytest.__file__,
             str(secret / "wengert.py"), "/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/usr/bin/env", "/etc/hostname",
             str(Path(xman.__file__).parents[1] / "setup.cfg"), "/proc/self/root/etc/passwd", "/proc/self/maps", __file__]
    said = say(box, """
        for file in settings["asked"]:
            print(error(lambda: open(file).read()))
        os.symlink(settings["asked"][0], "link")
        print(error(lambda: open("link").read()), error(os.link, settings["asked"][0], "hard"))
        print(error(os.listdir, os.path.dirname(settings["asked"][0])), error(lambda: open("/tmp/x", "w")))
        import socket
        print(error(lambda: socket.create_connection(("127.0.0.1", 9), 1)))
    """, ["numpy"], asked=[file for file in files if os.path.exists(file)])
    assert set(" ".join(said).split()) <= {"PermissionError", "OSError"}, said


def test_the_files_of_a_worker_are_closed_to_workers_of_other_users(tmp_path, monkeypatch):
    if not (uid := uids.lend()) or not uid.lock:
        pytest.skip("this process cannot become other users")
    monkeypatch.setattr("xman.grade.sandbox.unsafe.spawn", lambda command, **options: SimpleNamespace(pid=0))
    for name in ("submission", "grader"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "work.py").write_text("x = 1")
    Unsafe(True).begin(tmp_path, ["numpy"], Limits(), uid)
    for path in (tmp_path, *tmp_path.rglob("*")):
        if not path.is_symlink():
            assert path.stat().st_mode & 0o007 == 0 and path.stat().st_gid == uid.number, path
    uid.close()


def test_the_environment_has_nothing_of_the_grader_s(box, say, monkeypatch):
    monkeypatch.setenv("GRADER_SECRET", "x")
    assert say(box, "print('GRADER_SECRET' in os.environ, os.environ['HOME'] == os.getcwd())") == ["False True"]


def test_memory_and_files_are_limited(box, say):
    assert say(box, "print(error(bytearray, 300 << 20), error(lambda: open('x', 'wb').write(bytes(3 << 20))))",
               limits=Limits(memory_mib=300, file_mib=2)) == ["MemoryError OSError"]


def test_forks_come_to_an_end(box, say):
    if box.stays_root and box.filter is None:
        pytest.skip("the kernel does not count root's processes, and there is no filter")
    count, = say(box, """
        import time
        count = 0
        def fork():
            if os.fork() == 0:
                time.sleep(60)
        while count < 1000 and not error(fork):
            count += 1
        print(count, flush=True)
        os.killpg(0, 9)
    """)
    assert int(count) < 1000


def test_stop_ends_also_what_has_left_the_session(box, start):
    worker = start(box, DAEMON)
    if not worker.process.stdout.readline():
        pytest.skip("as root without another user it starts no process")
    pipe = os.dup(worker.process.stdout.fileno())
    worker.stop()
    assert nobody_holds(pipe)


def test_nothing_is_left_behind(box, say, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    say(box, "open('x', 'w').close(); print()")
    assert not list(tmp_path.glob("xman-*"))
