"""The processes of a Linux machine, as /proc tells of them, and an end of those that nobody will ever use."""
from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

HOSTNAME = "xman-worker"  # by which sandboxes are known


class Running(NamedTuple):
    """A process; state is a letter, Z and X those that have ended."""
    pid: int
    state: str
    parent: int
    session: int
    threads: int
    uid: int


def running_processes() -> dict[int, Running]:
    """All that can be seen, by number; none where there is no /proc."""
    found = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        with suppress(OSError, IndexError):  # it has ended meanwhile
            if name.isdigit():
                said = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
                uid = Path("/proc", name, "status").read_text(errors="replace").partition("\nUid:\t")[
                    2].split()[0]
                found[int(name)] = Running(int(name), said[0], int(said[1]), int(said[3]), int(said[17]),
                                           int(uid))
    return found


def with_descendants(pids: Iterable[int], among: dict[int, Running]) -> set[int]:
    """These processes, what they have started, and what that has started, of those that live."""
    family = set(pids)
    while more := {process.pid for process in among.values() if process.parent in family} - family:
        family |= more
    return {pid for pid in family if pid in among and among[pid].state not in "ZX"}


def end_stranded() -> int:
    """End this user's sandboxes whose grader was killed while bubblewrap made them. How many there were.

    bubblewrap ends with its parent, and then cannot tell the sandbox's first process to go on: it waits for
    ever (https://github.com/containers/bubblewrap/blob/main/bubblewrap.c: child_wait_fd).
    """
    count = 0
    for process in running_processes().values():
        with suppress(OSError):  # it has ended meanwhile
            held = os.pidfd_open(process.pid)  # what is looked at is what is ended
            try:
                if (process.uid == os.geteuid() and is_first(process.pid)
                    and not is_bubblewrap(process.parent)):
                    signal.pidfd_send_signal(held, signal.SIGKILL)
                    count += 1
            finally:
                os.close(held)
    return count


def is_bubblewrap(pid: int) -> bool:
    """Whether it is bubblewrap, on behalf of a worker."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0].endswith(b"bwrap") and HOSTNAME.encode() in words and b"/grader/worker.py" in words


def is_first(pid: int) -> bool:
    numbers = Path(f"/proc/{pid}/status").read_text().partition("\nNSpid:\t")[2].partition("\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == "1" and is_bubblewrap(pid)
