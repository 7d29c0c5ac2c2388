"""The processes of a Linux machine, as /proc tells of them."""
from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Running(NamedTuple):
    """A process; state is a letter, Z and X those that have ended."""
    pid: int
    state: str
    parent: int
    session: int
    threads: int
    uid: int


def running_processes() -> dict[int, Running]:
    """All that can be seen, by number."""
    found = {}
    for name in os.listdir("/proc"):
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
