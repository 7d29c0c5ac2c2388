"""Facts about Windows and macOS as far as another system can tell: xman goes on without what they lack."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xman.files import whole

pytest.importorskip("click")

ROOT = Path(__file__).parents[1]
# what the two lack of what Linux has, as Python's documentation says of each name
LACKS = {"darwin": "os.sched_getaffinity os.sched_setaffinity os.pidfd_open os.memfd_create",
         "win32": "os.sched_getaffinity os.sched_setaffinity os.pidfd_open os.memfd_create os.fork os.register_at_fork os.getuid "
                  "os.geteuid os.O_DIRECTORY os.O_NOFOLLOW os.O_NONBLOCK os.O_CLOEXEC os.mkfifo os.killpg signal.SIGKILL "
                  "signal.SIGHUP signal.SIGXCPU signal.SIGALRM signal.pthread_sigmask"}
WITHOUT = f"""
import asyncio, click, json, multiprocessing.connection, numpy, os, pkgutil, scipy, signal, subprocess, sys, tempfile, types
for name in "fcntl", "resource", "pwd", "grp":
    if sys.argv[1] == "win32":
        sys.modules[name] = None
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
for module, _, name in (place.partition(".") for place in {LACKS}[sys.argv[1]].split()):
    vars(globals()[module]).pop(name, None)
sys.platform = sys.argv[1]
"""


def without(system, code, *arguments):
    command = [sys.executable, "-W", "error", "-c", WITHOUT + code, system, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


@pytest.mark.parametrize("system", LACKS)
def test_all_of_xman_is_imported_and_a_submission_read(system, tmp_path):
    (tmp_path / "wengert.py").write_bytes(b"one = 1\r\n")
    run = without(system, """
import importlib, ops, pathlib, xman
from xman.grade.submissions.contents import bytes_or_files
for package in ops, xman:  # what a worker imports lies beside it alone there
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__") and ".engines.jax" not in module.name and "doctor.attempts" not in module.name:
            importlib.import_module(module.name)
print(bytes_or_files(pathlib.Path(sys.argv[2])))
""", str(tmp_path / "wengert.py"))
    assert (run.stdout, run.returncode) == ("b'one = 1\\r\\n'\n", 0), run.stderr[-2000:]


def test_a_folder_that_windows_does_not_open_is_asked_for_as_an_archive(tmp_path):
    run = without("win32", "from pathlib import Path; from xman.grade.submissions.contents import bytes_or_files\n"
                           "bytes_or_files(Path(sys.argv[2]))", str(tmp_path))
    assert run.stderr.splitlines()[-1].endswith("was not opened: Windows opens no folder as a file; hand in an archive of it")


def test_a_command_is_started_without_what_runs_before_it_on_posix_alone():
    run = without("win32", """
subprocess.Popen = lambda command, env, preexec_fn, **_: sys.exit(f"before it runs: {preexec_fn}")
from xman.scale.launch import launched
launched(["train"], 1, 1, "kept.xman", 60.0)
""")
    assert run.stderr == "before it runs: None\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="which files are open is read in /proc")
def test_a_file_is_closed_before_it_is_moved_or_removed_where_open_ones_stay(tmp_path, monkeypatch):
    moved = os.replace

    def as_windows(old, new):
        assert str(old) not in {os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")}
        moved(old, new)

    monkeypatch.setattr(whole, "fcntl", None)
    monkeypatch.setattr(os, "replace", as_windows)
    whole.write_whole(tmp_path / "a.txt", "one")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "one")]
