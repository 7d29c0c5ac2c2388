"""Workers without a sandbox: they have limits and, if possible, another user and a filter of system calls."""
from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from xman.errors import XManError
from xman.grade.submissions.scratch import open_to_all

from . import seccomp, uids
from .box import ENVIRONMENT, Begun, Sandbox, worker_command
from .processes import running_processes, with_descendants
from .view import package_paths, python
from .worker import Limits, spawn

MARK = "XMAN_WORKER"  # a variable of the environment that says whose process it is
WINDOWS = sys.platform == "win32"


class Unsafe(Sandbox):
    """Workers that are ordinary processes. drops: whether they run as other users."""

    def __init__(self, drops: bool) -> None:
        self.drops = drops
        self.stays_root = not drops and hasattr(os, "geteuid") and os.geteuid() == 0
        self.filter = seccomp.program(not self.stays_root) if sys.platform == "linux" else None
        properties = ["other user"] * drops + ["as root"] * self.stays_root + ["seccomp"] * bool(self.filter)
        self.name = ", ".join(["none (unsafe)", *properties])

    @classmethod
    def on_this_machine(cls) -> Unsafe:
        """The best that works here: with another user, if that user can run Python with NumPy."""
        if uid := uids.lend():
            uid.close()
        return cls(bool(uid and uid.lock and not cls(True).complaint(["numpy"])))

    def begin(self, home: Path, packages: Sequence[str], limits: Limits, uid: uids.Uid | None) -> Begun:
        if uid and not uid.lock:
            raise XManError("too many workers at once: no user is left for one more")
        site, tmp = home / "site", home / "tmp"
        site.mkdir()
        tmp.mkdir()
        path = link_packages(package_paths(packages), site)
        open_to_all(home)
        processes: int | None = limits.processes
        if uid:
            os.chown(tmp, uid.number, uid.number)
        elif not WINDOWS:
            processes = None if self.stays_root else limits.processes + threads_of(os.getuid())
        environment = {**ENVIRONMENT, "HOME": str(tmp), "TMPDIR": str(tmp), MARK: home.name}
        if WINDOWS and "SYSTEMROOT" in os.environ:
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        command = worker_command(python(), home / "grader")
        process = spawn(command, env=environment, cwd=tmp, start_new_session=not WINDOWS)
        return process, lambda: end_worker(process.pid, home.name, uid and uid.number), {
            "path": path, "submission": str(home / "submission"), "grader": str(home / "grader"),
            "limits": {**asdict(limits), "processes": processes}, "hidden": uid is not None,
            "keeps_capabilities": self.stays_root}


def end_worker(pid: int, mark: str, uid: int | None) -> None:
    """Kill the processes of a worker that can be found by session, descent, user or environment."""
    if WINDOWS:
        return  # the caller kills the worker itself
    # first the processes of its group, before one of them forks again
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    deadline, family = time.monotonic() + 5, {pid}
    # again and again, because a process that is not yet killed may fork meanwhile
    while family and time.monotonic() < deadline:
        running = running_processes()
        pids = [proc.pid for proc in running.values() if proc.uid == uid or has_mark(proc.pid, mark)]
        pids += [proc.pid for proc in running.values() if pid in (proc.pid, proc.session)]
        family = with_descendants(pids, running)
        for member in family:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.001)


def has_mark(pid: int, mark: str) -> bool:
    """Whether the process, or the one that forked it, was started with the mark."""
    with suppress(OSError):
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def threads_of(uid: int) -> int:
    """The number of processes and threads of this user, and some more that it may still start."""
    if sys.platform != "linux":
        return 512  # without /proc a guess
    return 64 + sum(process.threads for process in running_processes().values() if process.uid == uid)


def link_packages(paths: Mapping[str, Path], site: Path) -> list[str]:
    """The worker's sys.path: a folder of links to the packages, or, on Windows, their folders."""
    try:
        for name, path in paths.items():
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).symlink_to(path)
    except OSError:
        return sorted({str(path.parents["/" in name]) for name, path in paths.items()})
    return [str(site)]
