"""Sandboxes that nobody will ever use: their grader was killed while bubblewrap was still making them."""
from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from .processes import running_processes

HOSTNAME = "xman-worker"  # by which they are known


def end_stranded() -> int:
    """End those of this user. How many there were.

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
    """Whether it is bubblewrap as the first process of a sandbox."""
    numbers = Path(f"/proc/{pid}/status").read_text().partition("\nNSpid:\t")[2].partition("\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == "1" and is_bubblewrap(pid)
