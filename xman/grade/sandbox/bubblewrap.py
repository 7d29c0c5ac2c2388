"""The sandbox that bubblewrap makes: its own namespaces, a root with Python alone, a filter of calls."""
from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO

from xman.errors import XManError

from . import seccomp, uids
from .box import ENVIRONMENT, Begun, Sandbox, worker_command
from .processes import HOSTNAME, end_stranded
from .view import SandboxView, package_paths, show_libraries, show_python
from .worker import Limits, spawn

NAMESPACES = ("--unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try "
              f"--hostname {HOSTNAME} --die-with-parent --new-session --clearenv").split()
# the worker keeps this right until it has bounded the number of files in /tmp
BOUND = "--cap-add CAP_SYS_ADMIN".split()
# it keeps these until it is another user
AS_ROOT = [*"--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID".split(), *BOUND]
AS_USER = ["--unshare-user", "--uid", str(uids.FIRST), "--gid", str(uids.FIRST)]
FILES = 10_000  # the most files in /tmp, and in /dev/shm
DEVICES = "null", "zero", "full", "random", "urandom"
TO_INSTALL = "Install it: apt install bubblewrap (dnf install bubblewrap, pacman -S bubblewrap)."


class Bubblewrap(Sandbox):
    """Workers under bubblewrap, a program of that version. way: AS_ROOT, or AS_USER and more."""

    def __init__(self, program: str, version: str, way: Sequence[str]) -> None:
        self.program, self.version, self.way = program, version, list(way)
        self.drops = self.way == AS_ROOT
        # without a user namespace of its own, or as root, the kernel does not
        # count processes: then none at all may be started
        self.counts = self.drops and uids.exists(uids.NOBODY) or os.geteuid() != 0
        self.filter = seccomp.program(self.counts)
        self.name = f"bubblewrap {version}, {'seccomp' if self.filter else 'no seccomp'}"
        self._view = functools.cache(self._show)

    @classmethod
    def on_this_machine(cls) -> Bubblewrap:
        """Bubblewrap on this machine; Python is run in it as a test. XManError says why it does not work."""
        program = shutil.which("bwrap")
        if sys.platform != "linux":
            raise XManError(f"The sandbox is made by bubblewrap, for Linux only; this is {sys.platform}.")
        if not program:
            raise XManError(f"The sandbox is made by bubblewrap, which is not installed here. {TO_INSTALL}")
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()
        complaint = ""
        # a filter or bubblewrap's option forbids user namespaces inside
        ways = [[*AS_USER, *BOUND]] if seccomp.program() else [[*AS_USER, "--disable-userns"], AS_USER]
        for way in ([AS_ROOT] if os.geteuid() == 0 else []) + ways:
            box = cls(program, version[-1] if version else "of no version", way)
            if not (complaint := box.complaint()):
                end_stranded()
                return box
        raise XManError(f"bubblewrap is installed and does not work here: it says {complaint!r}. {remedy()}")

    def begin(self, home: Path, packages: Sequence[str], limits: Limits, uid: uids.Uid | None) -> Begun:
        python, arguments = self._view(tuple(packages))
        view = SandboxView()
        for name in ("grader", "submission"):
            view.show(home / name, f"/{name}")
        for folder, mib in (in_memory := {"/tmp": limits.tmp_mib, "/dev/shm": limits.shm_mib}).items():
            view.memory(folder, mib)
        reader, writer = os.pipe()
        with open(reader, "rb", 0) as info:
            with open(writer, "wb"):
                options = [*NAMESPACES, *self.way, *arguments, *view.arguments, "--remount-ro", "/"]
                options += ["--chdir", "/tmp", "--info-fd", str(writer), "--"]
                command = [self.program, *options, *worker_command(python, "/grader")]
                process = spawn(command, env={}, pass_fds=[writer])
            first = first_process(info)
        # one more: bubblewrap's first process inside has the same user
        processes = limits.processes + (not self.drops and os.geteuid() != 0)
        bounds = {folder: f"size={mib}m,nr_inodes={FILES}" for folder, mib in in_memory.items()}
        places = {"path": ["/site"], "submission": "/submission", "grader": "/grader", "in_memory": bounds}
        settings = {**places, "limits": {**asdict(limits), "processes": processes}}
        return process, lambda: end_sandbox(first), settings

    def _show(self, packages: tuple[str, ...]) -> tuple[str, list[str]]:
        """(Python's path inside, bubblewrap's arguments that show it and the packages)."""
        view = SandboxView()
        show_libraries(view)
        python, environment = show_python(view)
        view.folder("/site")
        for name, path in package_paths(packages).items():
            view.show(path, f"/site/{name}")
        # an empty folder: a real /proc would show the host's folders (mountinfo), and could be attacked
        view.folder("/proc")
        view.folder("/dev")
        for device in DEVICES:
            view.arguments += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        for name, value in {**ENVIRONMENT, **environment}.items():
            view.arguments += ["--setenv", name, value]
        return python, view.arguments


def first_process(info: IO[bytes]) -> int | None:
    """A descriptor of the sandbox's first process, with which all others end; None if it did not start."""
    text = b""
    while b"}" not in text and (chunk := info.read(4096)):  # one object of JSON
        text += chunk
    with suppress(ValueError, KeyError, OSError):  # bubblewrap may have failed and ended
        return os.pidfd_open(json.loads(text)["child-pid"])
    return None


def end_sandbox(first: int | None) -> None:
    """Kill its first process, and wait until the sandbox is empty."""
    if first is not None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(first, signal.SIGKILL)
        wait([first], 10)
        os.close(first)


FORBIDDEN = {  # settings of the kernel that forbid user namespaces, and how to allow them
    ("kernel/apparmor_restrict_unprivileged_userns", "1"):
        "AppArmor keeps user namespaces from programs that it does not know: sudo sysctl -w "
        "kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap a profile (apt install apparmor-profiles).",
    ("kernel/unprivileged_userns_clone", "0"):
        "User namespaces are switched off for ordinary users: sudo sysctl -w kernel.unprivileged_userns_clone=1.",
    ("user/max_user_namespaces", "0"):
        "User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=10000."}


def remedy() -> str:
    """A sentence on what this machine forbids, and how to allow it."""
    if os.geteuid() == 0:
        return ("This is root in a container that may not make namespaces: start the container with "
                "--cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined, "
                "or grade outside containers.")
    for (name, value), sentence in FORBIDDEN.items():
        with suppress(OSError):
            if Path("/proc/sys", name).read_text().strip() == value:
                return sentence
    return "It needs user namespaces, and Python and its packages in folders that this user can read."
