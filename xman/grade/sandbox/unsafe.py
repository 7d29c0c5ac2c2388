"""Workers without a sandbox: they have limits and, if possible, another user, a filter of system calls, and
Landlock (Linux 5.13), which closes all files but those that a submission may import."""
from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from xman.errors import XManError
from xman.grade.submissions.scratch import open_to_all

from . import seccomp, uids
from .box import ENVIRONMENT, Begun, Sandbox, worker_command
from .processes import adopt_orphans, end_processes, running_processes
from .view import package_paths, python, readable_files
from .worker import Limits, spawn

WINDOWS = sys.platform == "win32"


class Unsafe(Sandbox):
    """Workers that are ordinary processes. drops: whether they run as other users.

    closes: whether xman's sources are closed to them, by Landlock, or by owner and mode.
    """

    def __init__(self, drops: bool, landlock: bool = False) -> None:
        self.drops, self.landlock = drops, landlock
        self.workers: set[int] = set()  # that are running
        self.closes = landlock or drops and not any(map(open_to_others, package_paths(["xman"]).values()))
        self.stays_root = not drops and hasattr(os, "geteuid") and os.geteuid() == 0
        linux = sys.platform == "linux"
        self.filter = seccomp.program(not self.stays_root, not drops) if linux else None
        properties = ["other user"] * drops + ["as root"] * self.stays_root + ["seccomp"] * bool(self.filter)
        properties += ["Landlock"] * landlock + ["xman can be read"] * (not self.closes)
        self.name = ", ".join(["none (unsafe)", *properties])

    @classmethod
    def on_this_machine(cls) -> Unsafe:
        """The best that works here: with another user, if that user can run Python with NumPy."""
        if uid := uids.lend():
            uid.close()
        ways = [(drops, landlock) for drops in [True] * bool(uid and uid.lock) + [False]
                for landlock in [True] * (sys.platform == "linux") + [False]]
        return next((box for box in itertools.starmap(cls, ways) if not box.complaint(["numpy"])), cls(False))

    def begin(self, home: Path, packages: Sequence[str], limits: Limits, uid: uids.Uid | None) -> Begun:
        if uid and not uid.lock:
            raise XManError("too many workers at once: no user is left for one more")
        site, tmp = home / "site", home / "tmp"
        site.mkdir()
        tmp.mkdir()
        paths = package_paths(packages)
        path = link_packages(paths, site)
        open_to_all(home)
        processes: int | None = limits.processes
        if uid:
            for place in (home, *home.rglob("*")):  # other workers, who are other users, read nothing of it
                os.chown(place, uid.number if place == tmp else -1, uid.number, follow_symlinks=False)
                if not place.is_symlink():
                    place.chmod(place.stat().st_mode & 0o770)
            tmp.chmod(0o700)
        elif not WINDOWS:
            processes = None if self.stays_root else limits.processes + threads_of(os.getuid())
        environment = {**ENVIRONMENT, "HOME": str(tmp), "TMPDIR": str(tmp)}
        if WINDOWS and "SYSTEMROOT" in os.environ:
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        command = worker_command(python(), home / "grader")
        adopt_orphans()
        process = spawn(command, env=environment, cwd=tmp, start_new_session=not WINDOWS)
        self.workers.add(process.pid)
        places = {"path": path, "submission": str(home / "submission"), "grader": str(home / "grader")}
        rights = {"hidden": uid is not None, "keeps_capabilities": self.stays_root}
        rights["landlock"] = self.landlock and files_of_worker(home, paths.values())
        settings = {**places, **rights, "limits": {**asdict(limits), "processes": processes}}
        return process, lambda: self.end_worker(process.pid, uid and uid.number), settings

    def end_worker(self, pid: int, uid: int | None) -> None:
        """Kill the processes of a worker: they are found by user, session and descent."""
        if WINDOWS:
            return  # the caller kills the worker itself
        # first the processes of its group, before one of them forks again
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        end_processes(lambda each: each.uid == uid or pid in (each.pid, each.session), self.workers)
        self.workers.discard(pid)


def threads_of(uid: int) -> int:
    """The number of processes and threads of this user, and some more that it may still start."""
    if sys.platform != "linux":
        return 512  # without /proc a guess
    return 64 + sum(process.threads for process in running_processes().values() if process.uid == uid)


def files_of_worker(home: Path, packages: Iterable[Path]) -> dict[str, list[str]]:
    """The only files that Landlock leaves open to a worker."""
    listable, readable = readable_files()
    seen = [*(home / name for name in ("grader", "submission", "site")), *packages]
    return {"listable": listable, "readable": [*readable, *map(str, seen)],
            "writable": [str(home / "tmp"), os.devnull]}


def open_to_others(path: Path) -> bool:
    """Whether other users can read the file or folder: by its mode, and those of the folders above."""
    return bool(path.stat().st_mode & 0o004) and all(above.stat().st_mode & 0o001 for above in path.parents)


def link_packages(paths: Mapping[str, Path], site: Path) -> list[str]:
    """The worker's sys.path: a folder of links to the packages, or, on Windows, their folders.

    A package that is closed to other users is copied: the worker may be another, and is meant to import it.
    """
    try:
        for name, path in paths.items():
            (site / name).parent.mkdir(exist_ok=True)
            if WINDOWS or open_to_others(path):
                (site / name).symlink_to(path)
            elif path.is_dir():
                shutil.copytree(path, site / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(path, site / name)
    except OSError:
        return sorted({str(path.parents["/" in name]) for name, path in paths.items()})
    return [str(site)]
