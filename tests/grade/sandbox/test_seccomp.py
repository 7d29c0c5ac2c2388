"""The filter of system calls, as a program and in the worker."""

import platform
import sys

import pytest

from xman.grade.sandbox import seccomp

CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}.get(platform.machine(), -1)
SCRIPT = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for call in settings["calls"]:
    result = eval(call)
    print(call, "done" if result != -1 else errno.errorcode[ctypes.get_errno()], sep=": ")
"""
CALLS = ["libc.ptrace(0, 0, 0, 0)", "libc.process_vm_readv(1, None, 0, None, 0, 0)", "libc.personality(0xffffffff)",
         "libc.unshare(0x10000000)", "libc.unshare(0x20000)", "libc.setns(0, 0)", "libc.chroot(b'/tmp')",
         "libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)", "libc.shmget(0, 4096, 0o1600)", "libc.msgget(0, 0o1600)",
         "libc.semget(0, 1, 0o1600)", "libc.memfd_create(b'x', 0)", "libc.setxattr(b'/tmp', b'user.x', b'y', 1, 0)",
         "libc.socket(1, 1, 0)", "libc.socket(2, 1, 0)", "libc.socket(16, 3, 0)",
         "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())",
         "libc.prlimit(1, 0, None, None)", "libc.setpriority(0, 1, 5)", "libc.setpriority(1, 0, 19)",
         "libc.setpriority(2, 0, 19)",
         f"libc.syscall({IOPRIO_SET}, 2, 0, 0)", f"libc.syscall({IOPRIO_SET}, 3, 0, 0)", "libc.sched_setaffinity(1, 8, b'x' * 8)",
         "libc.splice(0, None, 1, None, 1, 0)", "libc.inotify_init1(0)", "libc.ioctl(0, 0x5412, b'x')",
         "libc.ioctl(0, ctypes.c_ulong(0x100005412), b'x')"]


@pytest.fixture
def filtered(box):
    if box.filter is None:
        pytest.skip("pyseccomp or libseccomp is missing")
    return box


def test_what_no_submission_needs_is_refused(filtered, say):
    assert dict(line.split(": ") for line in say(filtered, SCRIPT, calls=CALLS)) == dict.fromkeys(CALLS, "EPERM")


def test_calls_newer_than_the_filter_do_not_exist(filtered, say):
    calls = [f"libc.syscall({number}, 0, 0, 0, 0, 0, 0)" for number in (435, 452, 467, 599)]
    assert [line.split(": ")[1] for line in say(filtered, SCRIPT, calls=calls)] == ["ENOSYS"] * 4


def test_limits_and_priority_of_its_own_are_its_own_matter(filtered, say):
    assert say(filtered, "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1)); print(os.nice(1))") == ["1"]


def test_who_grades_as_the_owner_of_files_lets_no_worker_change_their_modes_owners_and_times(filtered, say, monkeypatch):
    """Landlock, which closes them otherwise, leaves these open."""
    calls = ["chmod('x', 0o777)", "chown('x', 0, 0)", "lchown('x', 0, 0)", "utime('x', (1, 1))", "fchmod(3, 0o777)",
             "fchown(3, 0, 0)", "utime(3, (1, 1))", "removexattr('x', 'user.x')"]
    script = """
        with open("x", "w") as file:
            os.dup2(file.fileno(), 3)
            for call in settings["asked"]:
                print(error(lambda: eval("os." + call)))
    """
    assert say(filtered, script, asked=calls[:1]) == ["None"]
    monkeypatch.setattr(filtered, "filter", seccomp.program(owner=True))
    assert say(filtered, script, asked=calls) == ["OSError"] * len(calls)


@pytest.mark.skipif(CLONE is None, reason="the number of clone is not known here")
def test_a_process_in_new_namespaces_is_refused_and_one_without_is_not(filtered, say):
    calls = [f"libc.syscall({CLONE}, {flag | 17}, 0, 0, 0, 0)" for flag in (0x20000, 0x10000000, 0x20000000, 0x40000000)]
    assert [line.split(": ")[1] for line in say(filtered, SCRIPT, calls=calls)] == ["EPERM"] * 4
    assert say(filtered, "if os.fork() == 0: os._exit(0)\nprint(os.wait()[1])") == ["0"]


def test_where_processes_cannot_be_counted_there_are_none_but_threads(filtered, say, monkeypatch):
    monkeypatch.setattr(filtered, "filter", seccomp.program(forks=False))
    assert say(filtered, """
        import threading
        print(error(os.fork))
        thread = threading.Thread(target=print, args=("thread",))
        thread.start()
        thread.join()
    """) == ["OSError", "thread"]


def test_without_the_package_there_is_no_filter(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    assert seccomp.program.__wrapped__() is None
