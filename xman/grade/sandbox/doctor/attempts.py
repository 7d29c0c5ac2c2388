"""The doctor runs this file in the worker's place: it attacks each promise of the sandbox."""
import ctypes
import errno
import json
import os
import platform
import signal
import socket
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec

import confine

PACKAGES = {"numpy", "scipy", "xman"}
MIB, TMP = 2 ** 20, os.environ.get("HOME", "/tmp")
CALLS = {"ptrace": (0, 0, 0, 0), "shmget": (0, 4096, 0o1600), "memfd_create": (b"x", 0), "personality": (0,),
         "prlimit": (1, 7, None, None), "setpriority": (1, 0, 0)}
NAMES = "keyctl bpf perf_event_open userfaultfd io_uring_setup".split()
NUMBERS = {"x86_64": (250, 321, 298, 323, 425), "aarch64": (219, 280, 241, 282, 425)}


def promises(host):
    """{promise: {what it refuses: a function that tries it}}. A try that is refused raises an OSError."""
    limits, number = host["limits"], min(200, 2 * (host["limits"]["processes"] or 100))
    long, files, memory = limits["file_mib"] + 1, limits["open_files"], limits["memory_mib"]
    imported = lambda names: proof(filter(find_spec, names))
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    return {
        "no network": {
            "this machine's 127.0.0.1": lambda: reach(socket.AF_INET, ("127.0.0.1", host["port"])),
            "1.1.1.1, a public address": lambda: reach(socket.AF_INET, ("1.1.1.1", 53)),
            "an abstract Unix socket of this machine": lambda: reach(socket.AF_UNIX, host["abstract"])},
        "read-only root": {
            "a file outside /tmp and /dev/shm": lambda: proof(writable()),
            "a file's mode, which stays": lambda: os.chmod(os.__file__, os.stat(os.__file__).st_mode)},
        "nothing of this machine's files": {
            "home, /etc, programs and this project": lambda: proof(filter(os.path.lexists, host["files"]))},
        "files cannot be read": {
            "the grader's sources, and files of others": lambda: proof(filter(readable, host["files"]))},
        "only the packages asked for": {
            "the lack of one": lambda: proof(PACKAGES - set(filter(find_spec, PACKAGES))),
            f"{len(host['others'])} others that are installed": lambda: imported(host["others"])},
        "the grader is not visible": {"its import": lambda: imported(["xman.grade", "xman.cli"])},
        "other processes are invisible": {
            "signals to the grader": lambda: os.kill(host["pid"], 0),
            "a look at /proc": lambda: proof(filter(str.isdigit, entries_below("/proc")))},
        "/tmp of bounded size": filled(TMP, limits["tmp_mib"] + 1),
        "/dev/shm of bounded size": filled("/dev/shm", limits["shm_mib"] + 1),
        "file size": {f"{long} MiB": lambda: write_mib(TMP, long, one=True)},
        "open files": {f"{files} more": lambda: open_files(files)},
        "memory": {f"{memory} MiB more": lambda: bytearray(memory * MIB)},
        "number of processes": {f"{number} more": lambda: fork(number)},
        "no new privileges": {"what a program brings": lambda: refused_if(libc.prctl(39, 0, 0, 0, 0) == 1)},
        "no capabilities": {"an effective, permitted or ambient one": lambda: proof(capabilities(libc))},
        "another user": {
            "the grader's own": lambda: refused_if(os.getuid() != host["user"]),
            "becoming root": lambda: os.setuid(0)},
        "environment": {"the grader's variables": lambda: proof(set(os.environ) - set(host["environment"]))},
        # PR_GET_SECCOMP
        "filter of system calls": {"all that it names": lambda: refused_if(libc.prctl(21, 0, 0, 0, 0) == 2)},
        "no terminal": {"/dev/tty": lambda: os.close(os.open("/dev/tty", os.O_RDWR))},
        # these come last: one that is not refused changes this process
        "dangerous system calls": {
            "mount": lambda: mount(libc),
            **{name: lambda name=name: system_call(getattr(libc, name), *CALLS[name]) for name in CALLS},
            **{name: partial(system_call, libc.syscall, number, 1, 0, -1, -1, 0)
               for name, number in zip(NAMES, NUMBERS.get(platform.machine(), ()))},  # noqa: B905 (or none)
            "unshare": lambda: system_call(libc.unshare, 0x00020000),
            "nested user namespaces": lambda: system_call(libc.unshare, 0x10000000)}}


def proof(names):
    """The first of the names, which prove that something is open. PermissionError if there is none."""
    names = [*names]
    refused_if(not names)
    return ", ".join(names[:5])


def readable(path):
    """Whether a file can be read; Landlock leaves it in sight, and closes it."""
    try:
        with open(path, "rb") as file:
            return file.read(1) is not None
    except OSError:
        return False


def refused_if(condition):
    if condition:
        raise PermissionError


def reach(kind, address):
    with socket.socket(kind) as end:
        end.settimeout(0.5)
        end.connect(address)


def entries_below(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def writable():
    """The first folders outside /tmp and /dev/shm that can be written to."""
    # /proc has no end
    skip = {"/dev/shm", os.path.realpath(TMP)} | ({"/proc"} if entries_below("/proc") else set())
    paths = [folder for folder in ("/tmp", "/var/tmp") if folder not in skip and os.access(folder, os.W_OK)]
    for visited, (folder, folders, _) in enumerate(os.walk("/")):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in skip]
        if os.access(folder, os.W_OK):
            paths.append(folder)
        if visited > 5_000 or len(paths) > 3:
            break
    return paths


def write_mib(folder, mib, one=False):
    """Write `mib` MiB into one file, or into a file each, since no file may be long."""
    with ExitStack() as stack:
        for k in range(mib):
            if k == 0 or not one:
                file = stack.enter_context(tempfile.TemporaryFile(dir=folder, buffering=0))
            file.write(bytes(MIB))


def filled(folder, mib):
    """The tries to fill a folder. The system says how many files fit, since it would be slow to make them."""
    return {f"{mib} MiB": lambda: write_mib(folder, mib),
            "100,000 files": lambda: refused_if(os.statvfs(folder).f_files < 100_000)}


def open_files(number):
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(open(os.devnull))


def fork(number):
    children = []
    try:
        for _ in range(number):
            if (child := os.fork()) == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def capabilities(libc):
    """The capabilities of this process, in hexadecimal digits, and the ambient ones by number."""
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    ambient = [str(k) for k in range(64) if libc.prctl(47, 1, k, 0, 0) == 1]
    return [f"{bits:08x}" for bits in sets if bits] + ambient


def system_call(function, *arguments):
    """Make a system call. PermissionError if the kernel or the filter refuses it, and for no other reason."""
    refused_if(function(*arguments) == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS))


def mount(libc):
    system_call(libc.mount, b"none", TMP.encode(), b"tmpfs", 0, 0)
    libc.umount(TMP.encode())  # without a sandbox the mount would stay


def daemon():
    """Start a process that leaves the session and its parent, ignores signals, and lives for a minute."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            print("started", flush=True)
            time.sleep(60)
        os._exit(0)
    os.wait()
    time.sleep(60)
    sys.exit()


def verdict_on(tries):
    """(whether all is refused, what was tried, or what was not refused)"""
    through = []
    for name, attempt in tries.items():
        try:
            result = attempt()
            through.append(f"{name} ({result})" if isinstance(result, str) else name)
        except (OSError, MemoryError):
            pass
        except Exception as error:  # an unexpected error proves nothing, and must not hide the other tries
            through.append(f"{name} (could not be tried: {type(error).__name__}: {error})")
    return not through, f"not refused: {', '.join(through)}" if through else f"refused: {', '.join(tries)}"


if __name__ == "__main__":
    settings = json.loads(sys.stdin.readline())
    confine.confine(settings)
    sys.path += settings["path"]
    if settings["do"] == "daemon":
        daemon()
    while settings["do"] == "spin":
        pass
    for promise, tries in [*promises(settings | settings["host"]).items()][:settings["host"]["most"]]:
        print(json.dumps([promise, *verdict_on(tries)]), flush=True)
