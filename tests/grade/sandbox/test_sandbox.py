"""A worker under bubblewrap: what it sees, what it may use, what is kept from it."""

import os
import subprocess
import sys
import tempfile

import pytest

from xman.errors import XManError
from xman.grade.sandbox import Limits, sandbox_here
from xman.grade.sandbox.bubblewrap import Bubblewrap

HIDDEN = ["/root", "/home", "/etc/passwd", "/bin/sh", "/usr/bin/env", "/proc/self", "/sys/kernel", __file__]
ENVIRONMENT = {"PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
               "HOME", "LANG"}
ROOT = os.name == "posix" and os.geteuid() == 0


def test_the_name_says_what_the_sandbox_is_made_of(box):
    assert box.name.startswith("bubblewrap ") and ", " in box.name and sandbox_here() is box


def test_a_worker_sees_python_its_packages_the_submission_and_nothing_else(box, say):
    top, site, grader, *seen = say(box, """
        for folder in ("/", "/site", "/grader"):
            print(*sorted(os.listdir(folder)))
        print(*[path for path in settings["hidden_here"] if os.path.lexists(path)])
    """, ["numpy"], hidden_here=HIDDEN)
    assert set(top.split()) <= {"dev", "etc", "grader", "lib", "lib64", "proc", "python", "site", "submission", "tmp", "usr"}
    assert set(site.split()) <= {"numpy", "numpy.libs"} and grader.split() == ["confine.py", "plain.py", "shapes.py", "worker.py"]
    assert seen == [""]


def test_xman_is_seen_without_its_grader(box, say):
    assert say(box, """
        print(all(find_spec(name) for name in ("xman", "xman.wengert", "ops", "numpy", "scipy")))
        print(*[find_spec(name) for name in ("xman.grade", "xman.cli", "pytest")])
    """, ["xman"]) == ["True", "None None None"]


def test_other_packages_of_this_python_are_not_seen_where_it_keeps_them(box, say):
    assert not any(say(box, """
        import sysconfig
        for path in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "/usr/lib/python3/dist-packages"}:
            if os.path.isdir(path):
                print(*os.listdir(path))
    """, ["numpy"]))


def test_the_filter_leaves_numpy_and_scipy_their_work(box, say):
    assert say(box, """
        import subprocess, tempfile, threading
        import numpy as np, scipy.linalg
        a = np.random.default_rng(0).standard_normal((50, 50))
        print(np.allclose(a @ np.linalg.inv(a), np.eye(50)), np.fft.fft(a).shape, scipy.linalg.expm(a).shape)
        np.save(tempfile.mkdtemp() + "/a.npy", a)
        thread = threading.Thread(target=print, args=("thread",))
        thread.start()
        thread.join()
        print(subprocess.run([sys.executable, "-S", "-c", "print(1)"], capture_output=True, text=True).stdout, end="")
    """, ["scipy"]) == ["True (50, 50) (50, 50)", "thread", "1"]


def test_a_submission_is_read_and_cannot_be_changed(box, say):
    assert say(box, """
        file = "/submission/a.py"
        print(open(file).read())
        print(error(open, "/submission/b", "w"), error(open, file, "w"), error(os.remove, file))
    """, submission={"a.py": b"x = 1"}) == ["x = 1", "OSError OSError OSError"]


def test_nobody_looks_into_a_worker(box, say):
    assert say(box, "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))") == ["0"]  # PR_GET_DUMPABLE


def test_the_environment_is_the_sandbox_s_own(box, say, monkeypatch):
    monkeypatch.setenv("GRADER_SECRET", "x")
    assert set(say(box, "print(*os.environ, sep='\\n')")) - {"PWD", "LD_LIBRARY_PATH", "LC_CTYPE"} == ENVIRONMENT


def test_nothing_that_the_grader_has_open_is_inherited(box, say):
    with tempfile.TemporaryFile() as file:
        os.set_inheritable(file.fileno(), True)
        assert say(box, "print([number for number in range(64) if not error(os.fstat, number)])") == ["[0, 1, 2]"]


@pytest.mark.parametrize("attempt", [
    "bytearray(200 << 20)",
    "open('/tmp/x', 'wb').write(bytes(3 << 20))",
    "[open('/dev/null') for _ in range(30)]",
    "[open(f'/tmp/{n}', 'wb').write(bytes(1 << 20)) for n in range(10)]",
    "[open(f'/dev/shm/{n}', 'wb').write(bytes(1 << 20)) for n in range(10)]",
    "[open(f'/tmp/{n}', 'wb').close() for n in range(20_000)]",
    "[os.mkdir(f'/dev/shm/{n}') for n in range(20_000)]",
    "open('/x', 'w')", "open('/site/x', 'w')", "open('/grader/x', 'w')", "open('/dev/x', 'w')", "open('/proc/x', 'w')",
    "os.chmod('/', 0o777)", "os.chmod('/grader/plain.py', 0o777)", "os.remove('/grader/plain.py')",
    "__import__('socket').create_connection(('127.0.0.1', 22), 1)",
    "os.setuid(0)", "os.kill(settings['pid'], 9)", "os.open('/dev/tty', os.O_RDWR)",
    "resource.setrlimit(resource.RLIMIT_NPROC, (99, 99))", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
])
def test_it_is_refused(box, say, attempt):
    limits = Limits(memory_mib=200, open_files=20, file_mib=2, tmp_mib=4, shm_mib=4)
    said, = say(box, f"import resource, warnings\nwarnings.simplefilter('ignore')\nprint(error(lambda: {attempt}))",
                limits=limits, pid=os.getpid())
    assert said in ("OSError", "MemoryError", "ValueError")


def test_a_package_that_is_not_offered_or_not_there_is_refused_in_a_sentence(box, tmp_path, monkeypatch):
    with pytest.raises(XManError, match="no package 'torch'; it has numpy, scipy and xman"):
        box.start({}, ["torch"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(XManError, match="pip install ops"):
        box.start({}, ["ops"])


def test_without_bubblewrap_it_says_what_to_install_and_what_unsafe_does(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(XManError, match="not installed here. Install it: apt install bubblewrap .*; --unsafe grades it"):
        sandbox_here.__wrapped__()
    assert sandbox_here.__wrapped__(unsafe=True).name.startswith("none (unsafe)")


def test_bubblewrap_that_does_not_work_is_told_in_its_own_words(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(broken))
    with pytest.raises(XManError, match="does not work here: it says 'bwrap: No permissions to create new namespace'"):
        Bubblewrap.on_this_machine()


@pytest.mark.skipif(not ROOT, reason="this is an ordinary user already")
def test_an_ordinary_user_has_the_same_sandbox(box):
    def as_nobody(program):
        path = os.pathsep.join(path for path in sys.path if path)
        return subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": path, "PATH": os.environ["PATH"]}, cwd="/",
                              user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
    try:
        if as_nobody("import xman, scipy").returncode:
            pytest.skip("nobody cannot read this Python's packages")
    except PermissionError:
        pytest.skip("nobody cannot run this Python")
    said = as_nobody("from xman.grade.sandbox.doctor import examined; print([found for found in examined() if not found.ok])")
    assert (said.stdout, said.stderr) == ("[]\n", "")
