"""A user for each worker that root starts: the kernel counts processes by user, but does not count root's."""
from __future__ import annotations

import functools
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import NamedTuple

FIRST, MANY = 60578, 606  # Debian and systemd give 60578 to 61183 to nobody
NOBODY = 65534


class Uid(NamedTuple):
    """A number on loan: with a lock, nobody else on this machine gets it until it is closed."""
    number: int
    lock: socket.socket | None

    def close(self) -> None:
        if self.lock:
            self.lock.close()


def lend() -> Uid | None:
    """A user for one worker, or the user nobody. None if this process cannot become another user."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    # graders that start together seldom try the same number first
    start = secrets.randbelow(MANY)
    for number in filter(exists, [FIRST + (start + slot) % MANY for slot in range(MANY)]):
        lock = socket.socket(socket.AF_UNIX)
        try:
            # an abstract socket is a lock that ends with the process, and leaves no file
            lock.bind(f"\0xman worker {number}")
        except OSError:
            lock.close()
        else:
            return Uid(number, lock)
    return Uid(NOBODY, None) if exists(NOBODY) else None


@functools.cache
def exists(number: int) -> bool:
    """Whether a process may become this user (a container may map few), who is nobody, or not a person."""
    import pwd
    if number != NOBODY:
        try:
            pwd.getpwuid(number)
            return False
        except KeyError:
            pass
    return all(any(first <= number < first + count for first, _, count in mapped_ranges(kind))
               for kind in ("uid", "gid"))


@functools.cache
def mapped_ranges(kind: str) -> list[list[int]]:
    """The ranges of users in this process's user namespace: [first here, first outside, how many]."""
    return [[int(word) for word in line.split()]
            for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
