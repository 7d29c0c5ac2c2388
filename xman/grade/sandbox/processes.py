"""The processes of a Linux machine, from /proc; and the end of sandboxes that nobody uses any more."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
HOSTNAME = "xman-worker"  # the name by which sandboxes are recognised


class Running(NamedTuple):
    """A process. state: a letter; Z and X mean that it has ended."""
    pid: int
    state: str
    parent: int
    session: int
    threads: int
    uid: int


def running_processes() -> dict[int, Running]:
    """All processes that can be seen, by number; {} without /proc."""
    processes = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        with suppress(OSError, IndexError):  # the process may have ended meanwhile
            if name.isdigit():
                fields = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
                status = Path("/proc", name, "status").read_text(errors="replace")
                uid = status.partition("\nUid:\t")[2].split()[0]
                processes[int(name)] = Running(int(name), fields[0], int(fields[1]), int(fields[3]),
                                               int(fields[17]), int(uid))
    return processes


def with_descendants(pids: Iterable[int], among: dict[int, Running]) -> set[int]:
    """These processes and all their descendants that are alive."""
    family = set(pids)
    while children := {process.pid for process in among.values() if process.parent in family} - family:
        family |= children
    return {pid for pid in family if pid in among and among[pid].state not in "ZX"}


def adopt_orphans() -> None:
    """Make processes that descend from this one its children when their parents end, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_processes(chosen: Callable[[Running], bool] = lambda process: False,
                  spared: Collection[int] = ()) -> None:
    """Kill the chosen processes, and the orphans that this one has adopted, with all their descendants.

    An orphan has left the session, as the children that this process began itself have not, but for spared.
    """
    deadline, family, orphans, before = time.monotonic() + 5, {0}, set(), -1
    # again and again: one that is not yet killed may fork, and end before it is seen: one orphan more tells
    # of it. They are waited for at the end, so that meanwhile the limit of processes bounds their number.
    while (family or len(orphans) > before) and time.monotonic() < deadline:
        before, running = len(orphans), running_processes()
        orphans |= {process.pid for process in running.values() if process.parent == os.getpid()
                    and process.session != os.getsid(0) and process.pid not in spared}
        family = with_descendants([*filter(lambda pid: chosen(running[pid]), running), *orphans], running)
        for member in family:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.001)
    for orphan in orphans:
        with suppress(ChildProcessError):
            os.waitpid(orphan, os.WNOHANG)


def end_stranded() -> int:
    """End this user's sandboxes whose grader was killed while bubblewrap made them; give their number.

    bubblewrap ends with its parent, and then cannot tell the sandbox's first process to go on, which waits
    forever (https://github.com/containers/bubblewrap/blob/main/bubblewrap.c: child_wait_fd).
    """
    count = 0
    for process in running_processes().values():
        with suppress(OSError):  # the process may have ended meanwhile
            descriptor = os.pidfd_open(process.pid)  # the number now stays with this process
            try:
                if (process.uid == os.geteuid() and is_first(process.pid)
                    and not is_bubblewrap(process.parent)):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    count += 1
            finally:
                os.close(descriptor)
    return count


def is_bubblewrap(pid: int) -> bool:
    """Whether the process is bubblewrap with a worker's sandbox."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0].endswith(b"bwrap") and HOSTNAME.encode() in words and b"/grader/worker.py" in words


def is_first(pid: int) -> bool:
    numbers = Path(f"/proc/{pid}/status").read_text().partition("\nNSpid:\t")[2].partition("\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == "1" and is_bubblewrap(pid)
