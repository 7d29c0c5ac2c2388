"""Workers without a sandbox: limits, another user and a filter where they can be had, and no more."""
from __future__ import annotations

import base64
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from xman.errors import XManError
from xman.grade.submissions.scratch import copy_regular, open_to_all, scratch

from . import seccomp, uids
from .box import NOTHING, Sandbox
from .bubblewrap import ENVIRONMENT
from .processes import running_processes, with_descendants
from .view import package_paths, python, worker_files
from .worker import Limits, Worker, spawn

MARK = "XMAN_WORKER"  # in its environment: whose process it is
WINDOWS = sys.platform == "win32"


class Unsafe(Sandbox):
    """Workers that are ordinary processes. drops: whether they run as other users."""

    def __init__(self, drops: bool) -> None:
        self.drops = drops
        self.stays_root = not drops and hasattr(os, "geteuid") and os.geteuid() == 0
        self.filter = seccomp.program(not self.stays_root) if sys.platform == "linux" else None
        parts = ["other user"] * drops + ["as root"] * self.stays_root + ["seccomp"] * bool(self.filter)
        self.name = ", ".join(["none (unsafe)", *parts])

    @classmethod
    def found(cls) -> Unsafe:
        """What can be had here: another user, if that one can run Python with NumPy."""
        if uid := uids.lend():
            uid.close()
        return cls(bool(uid and uid.own and not cls(True).complaint(["numpy"])))

    def start(self, submission: Path, packages: Sequence[str], limits: Limits = Limits(),  # noqa: B008
              extra_files: Mapping[str, Path] = NOTHING) -> Worker:
        with ExitStack() as undo:
            if uid := uids.lend() if self.drops else None:
                undo.callback(uid.close)
            if uid and not uid.own:
                raise XManError("too many workers at once: no user is left for one more")
            home = undo.enter_context(scratch())
            grader, site, tmp = home / "grader", home / "site", home / "tmp"
            for folder in (grader, site, tmp):
                folder.mkdir()
            copy_regular(submission, home / "submission")
            for name, path in worker_files(extra_files).items():
                shutil.copyfile(path, grader / name)
            path = linked(package_paths(packages), site)
            open_to_all(home)
            if uid:
                os.chown(tmp, uid.number, uid.number)
            settings = {"path": path, "submission": str(home / "submission"), "grader": str(grader),
                        "limits": asdict(limits), "uid": uid and uid.number, "in_memory": {},
                        "hidden": uid is not None, "keeps_capabilities": self.stays_root,
                        "seccomp": self.filter and base64.b64encode(self.filter).decode()}
            if not uid and not WINDOWS:
                settings["limits"]["processes"] = (None if self.stays_root
                                                   else limits.processes + threads_of(os.getuid()))
            environment = {**ENVIRONMENT, "HOME": str(tmp), "TMPDIR": str(tmp), MARK: home.name}
            if WINDOWS:
                environment |= {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
            process = spawn([str(python()), "-s", "-S", "-B", str(grader / "worker.py")], env=environment,
                            cwd=tmp, **({} if WINDOWS else {"start_new_session": True}))
            trace = Trace(process.pid, home.name, uid and uid.number)
            return Worker(process, settings, trace.end, undo.pop_all())


class Trace(NamedTuple):
    """How a worker's processes are known: by session, descent, the mark in their environment, user."""
    pid: int
    mark: str
    uid: int | None

    def end(self) -> None:
        """Kill them all, as far as they can be found."""
        if WINDOWS:
            return  # the worker itself is killed by whoever calls this
        # those that have not left its group, before any of them forks again
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        until = time.monotonic() + 5
        while sys.platform == "linux" and time.monotonic() < until and (found := self.found()):
            for process in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.001)

    def found(self) -> set[int]:
        all_of_them = running_processes()
        return with_descendants([process.pid for process in all_of_them.values()
                                 if self.pid in (process.pid, process.session)
                                 or process.uid == self.uid or self.marked(process.pid)], all_of_them)

    def marked(self, pid: int) -> bool:
        """Whether the process, or whoever forked it, was started with the mark."""
        with suppress(OSError):
            return f"{MARK}={self.mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        return False


def threads_of(uid: int) -> int:
    """How many processes and threads this user has, and some room for what else it starts."""
    if sys.platform != "linux":
        return 512  # it cannot be known so simply
    return 64 + sum(process.threads for process in running_processes().values() if process.uid == uid)


def linked(paths: Mapping[str, Path], site: Path) -> list[str]:
    """The worker's sys.path: a folder of links to the packages, else (Windows) their folders."""
    try:
        for name, path in paths.items():
            (site / name).parent.mkdir(exist_ok=True)
            (site / name).symlink_to(path)
    except OSError:
        return sorted({str(path.parents["/" in name]) for name, path in paths.items()})
    return [str(site)]
