"""What the doctor runs in the worker's place: attempts give (whether the sandbox held, what was found)."""
import ctypes
import errno
import functools
import importlib.util
import json
import os
import platform
import signal
import socket
import sys
import time

import confine

MIB, TMP = 2 ** 20, os.environ.get("HOME", "/tmp")
NUMBERS = {"x86_64": {"keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425},
           "aarch64": {"keyctl": 219, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425}}
ATTEMPTS = {}


def attempt(name):
    return lambda function: ATTEMPTS.setdefault(name, function)


def none_of(found, wrong, right):
    return not found, f"{wrong} {', '.join(found)}" if found else right


@attempt("no network")
def network(told):
    def reach(kind, address):
        with socket.socket(kind) as end:
            end.settimeout(0.5)
            end.connect(address)

    places = [("this machine's 127.0.0.1", socket.AF_INET, ("127.0.0.1", told["port"])),
              ("1.1.1.1, a public address", socket.AF_INET, ("1.1.1.1", 53)),
              ("an abstract Unix socket of this machine", socket.AF_UNIX, "\0" + told["abstract"])]
    reached = [name for name, kind, address in places if not says_no(reach, kind, address)]
    return none_of(reached, "reached", "no address of this machine or another can be reached")


@attempt("read-only root")
def writable(told):
    # the system's own has no end
    own = {"/dev/shm", os.path.realpath(TMP)} | ({"/proc"} if os.listdir("/proc") else set())
    found = [folder for folder in ("/tmp", "/var/tmp") if folder not in own and os.access(folder, os.W_OK)]
    for seen, (folder, folders, _) in enumerate(os.walk("/")):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in own]
        if os.access(folder, os.W_OK):
            found.append(folder)
        if seen > 5_000 or len(found) > 3:
            break
    return none_of(found[:3], "can write to", "it can write to /tmp and /dev/shm only")


@attempt("nothing of this machine's files")
def files(told):
    seen = [path for path in told["files"] if os.path.lexists(path)]
    return none_of(seen[:5], "sees", "no home, no /etc, no programs, no project: "
                   + " ".join(sorted("/" + name for name in os.listdir("/"))))


@attempt("only the packages asked for")
def packages(told):
    wanted = [name for name in ("numpy", "scipy", "xman") if importlib.util.find_spec(name) is None]
    others = [name for name in told["others"] if importlib.util.find_spec(name) is not None]
    if wanted or others:
        return (False, f"missing: {' '.join(wanted) or 'none'}; importable all the same: "
                f"{' '.join(others[:5]) or 'none'}")
    import numpy
    return (True, f"NumPy {numpy.__version__}, SciPy and xman; {len(told['others'])} others that are "
            "installed are not seen")


@attempt("the grader is not visible")
def grader(told):
    seen = [name for name in ("xman.grade", "xman.cli") if importlib.util.find_spec(name) is not None]
    return none_of(seen, "can import", "xman.grade and xman.cli are not there")


@attempt("other processes are invisible")
def processes(told):
    seen = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
    reached = not says_no(os.kill, told["pid"], 0)
    if seen or reached:
        can = "can" if reached else "cannot"
        return False, f"/proc shows {len(seen)} processes; the grader's own {can} be sent signals"
    return True, f"/proc is empty, and the worker is process {os.getpid()} of its own namespace"


attempt("/tmp of bounded size")(lambda told: filled_folder(TMP, told["limits"]["tmp_mib"]))
attempt("/dev/shm of bounded size")(lambda told: filled_folder("/dev/shm", told["limits"]["shm_mib"]))


def filled_folder(folder, mib):
    """Write until it is full, at most twice its size."""
    names = []

    def fill():
        with open(os.path.join(folder, f"fill{len(names)}"), "wb", buffering=0) as file:
            names.append(file.name)
            file.write(bytes(MIB))

    _, said = until_refused(fill, 2 * mib)
    written, most = sum(map(os.path.getsize, names)) / MIB, os.statvfs(folder).f_files
    for name in names:
        os.remove(name)
    return 0 < written <= mib and most < 100_000, f"{written:g} MiB, then: {said}; at most {most:,} files"


def until_refused(step, most):
    """(how often it could be done, at most so often, what was said then)"""
    for done in range(most):
        try:
            step()
        except OSError as error:
            return done, error.strerror
    return most, "no end of it"


@attempt("file size")
def file_size(told):
    most, path = told["limits"]["file_mib"], os.path.join(TMP, "long")
    with open(path, "wb", buffering=0) as file:
        _, said = until_refused(lambda: file.write(bytes(MIB)), 2 * most)
    size = os.path.getsize(path) / MIB
    os.remove(path)
    return said == os.strerror(errno.EFBIG), f"{size:g} MiB, then: {said}"


@attempt("open files")
def open_files(told):
    opened, most = [], told["limits"]["open_files"]
    done, said = until_refused(lambda: opened.append(os.open(os.devnull, os.O_RDONLY)), 2 * most)
    for file in opened:
        os.close(file)
    return done < 2 * most, f"{done} more, then: {said}"


@attempt("memory")
def memory(told):
    mib = told["limits"]["memory_mib"]
    try:
        bytearray(mib * MIB)
    except MemoryError:
        return True, f"{mib} MiB more: MemoryError"
    return False, f"{mib} MiB were to be had"


@attempt("number of processes")
def forks(told):
    most, children = min(200, 2 * (told["limits"]["processes"] or 100)), []

    def fork():
        if (child := os.fork()) == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)

    done, said = until_refused(fork, most)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return done < most, f"{done} more, then: {said}"


@attempt("no new privileges")
def privileges(told):
    return libc.prctl(39, 0, 0, 0, 0) == 1, "no program can bring privileges (PR_SET_NO_NEW_PRIVS)"


@attempt("no capabilities")
def capabilities(told):
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    ambient = sum(libc.prctl(47, 1, capability, 0, 0) == 1 for capability in range(64))
    return not any(sets) and not ambient, f"effective {sets[3]:08x}{sets[0]:08x}, ambient {ambient}"


@attempt("another user")
def user(told):
    own, same = os.getuid(), os.getuid() == told["user"]
    back = not says_no(os.setuid, 0)
    said = (f"user {own}, {'as the grader is' if same else 'not the grader'}; to become root: "
            f"{'done' if back else 'refused'}")
    return not same and not back, said


@attempt("dangerous system calls")
def calls(told):
    def call(name, *arguments):
        return libc.syscall(NUMBERS[platform.machine()][name], *arguments)

    def mount():
        done = libc.mount(b"none", TMP.encode(), b"tmpfs", 0, 0)
        return libc.umount(TMP.encode()) if done != -1 else -1  # outside a sandbox it would stay

    tries = [("ptrace", lambda: libc.ptrace(0, 0, 0, 0)), ("mount", mount),
             ("unshare", lambda: libc.unshare(0x00020000)),
             ("nested user namespaces", lambda: libc.unshare(0x10000000)),
             ("shmget", lambda: libc.shmget(0, 4096, 0o1600)),
             ("memfd_create", lambda: libc.memfd_create(b"x", 0)),
             ("personality", lambda: libc.personality(0))]
    numbered = [("keyctl", 0, -3, 1), ("bpf", 0, 0, 0), ("perf_event_open", 0, 0, -1, -1, 0),
                ("userfaultfd", 1), ("io_uring_setup", 0, 0)]
    if platform.machine() in NUMBERS:
        tries += [(name, functools.partial(call, name, *arguments)) for name, *arguments in numbered]
    done = in_child(lambda: [name for name, run in tries if run() != -1
                             or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)])
    return none_of(done, "not refused:", ", ".join(name for name, _ in tries) + ": refused")


def in_child(function):
    """What it gives in a process of its own, where that is possible: what it changes ends with it."""
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        return function()
    if child == 0:
        os.write(writing, json.dumps(function()).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    return json.loads(os.read(reading, 10_000))


@attempt("environment")
def environment(told):
    more = sorted(set(os.environ) - set(told["environment"]))
    return none_of(more, "has also", " ".join(sorted(os.environ)))


@attempt("filter of system calls")
def filtered(told):
    on = libc.prctl(21, 0, 0, 0, 0) == 2  # PR_GET_SECCOMP
    return on, "seccomp is on" if on else "there is none"


@attempt("no terminal")
def terminal(told):
    opened = not says_no(lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
    return not opened, "it has a terminal" if opened else "none can be opened"


def says_no(function, *arguments):
    """Whether the system says no."""
    try:
        function(*arguments)
    except OSError:
        return True
    return False


def daemon():
    """Start a process that leaves the session and its parent, hears no signal, and lives for a minute."""
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


if __name__ == "__main__":
    settings = json.loads(sys.stdin.readline())
    told = settings | settings.get("told", {})
    confine.confine(settings)
    sys.path += settings["path"]
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    if settings["do"] == "spin":
        while True:
            pass
    elif settings["do"] == "daemon":
        daemon()
    else:
        for name in told.get("only") or ATTEMPTS:
            try:
                result = ATTEMPTS[name](told)
            # an attempt that goes wrong tells nothing, and must not hide the others
            except Exception as error:
                result = False, f"could not be tried: {type(error).__name__}: {error}"
            print(json.dumps([name, *result]), flush=True)
