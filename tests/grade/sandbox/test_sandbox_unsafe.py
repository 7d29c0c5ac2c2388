"""Workers without bubblewrap: less is kept from them, but what can be."""

import os

import pytest
from scripts_inside import DAEMON, nobody_holds

from xman.grade.sandbox import Limits
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


def test_the_submission_is_a_copy_and_its_folder_stays_as_it_is(box, say, tmp_path):
    folder = tmp_path / "alice"
    folder.mkdir(mode=0o700)
    (folder / "a.py").write_text("x = 1")
    text, *_ = say(box, """
        file = os.path.join(settings["submission"], "a.py")
        print(open(file).read())
        error(lambda: open(file, "w").write("y"))
    """, submission=folder)
    assert text == (folder / "a.py").read_text() == "x = 1"


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
