"""The doctor of the sandbox: each promise of this machine's sandbox is tried from inside."""
from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from xman.errors import XManError
from xman.grade.submissions.scratch import scratch

from .. import sandbox_here
from ..box import ENVIRONMENT, Sandbox
from ..bubblewrap import Bubblewrap
from ..processes import running_processes, with_descendants
from ..view import BRINGS
from ..worker import Limits, Worker

LIMITS = Limits(open_files=32, file_mib=2, tmp_mib=8, shm_mib=4)
ATTEMPTS = Path(__file__).with_name("attempts.py")
ROOT = Path(__file__).resolve().parents[4]  # the folder that has xman
SECCOMP = "pip install pyseccomp (or xman[grade]), and its library: apt install libseccomp2"
BUBBLEWRAP = "apt install bubblewrap: without it this cannot be kept"
FILES = "/root /home /etc/passwd /etc/hostname /var /bin /usr/bin/env /sys /run /opt".split()
MORE_ENVIRONMENT = "PWD", "LD_LIBRARY_PATH", "TMPDIR"
REPORT = "this should hold with bubblewrap: please report it, with this table"


class Finding(NamedTuple):
    """A promise of the sandbox, "no network", whether it holds, what was found, what to do if it fails."""
    name: str
    ok: bool
    found: str
    todo: str = ""


def examined(unsafe: bool = False) -> list[Finding]:
    """The findings on the sandbox that sandbox_here(unsafe) gives; or on what it lacks."""
    program = shutil.which("bwrap")
    try:
        box: Sandbox = Bubblewrap.on_this_machine()
        namespaces = "root makes its namespaces" if box.drops else "in a user namespace of its own"
        first = Finding("bubblewrap", True, f"{program} {box.version}, {namespaces}")
    except XManError as error:
        state = f"{program} does not work" if program else "not installed"
        first = Finding("bubblewrap", False, state, str(error))
        if not unsafe:
            return [first]
        box = sandbox_here(unsafe=True)
    with ThreadPoolExecutor(4) as threads:  # each of them waits for a worker
        looks = [from_inside, processor_time, nothing_stays, ends_with_the_grader]
        findings = [finding for each in threads.map(lambda look: [*look(box)], looks) for finding in each]

    def with_todo(finding: Finding) -> Finding:
        todo = REPORT if isinstance(box, Bubblewrap) else BUBBLEWRAP
        if finding.name in ("dangerous system calls", "filter of system calls") and not box.filter:
            todo = SECCOMP
        return finding if finding.ok else finding._replace(todo=todo)

    from .trial import of_the_grader  # not at the top: it imports the grader, which imports the sandbox
    findings += [Finding(*tried) for tried in of_the_grader(box)]
    return [first, *map(with_todo, findings)]


def from_inside(box: Sandbox) -> Iterator[Finding]:
    """The findings of the attempts; the network is tried without the filter too, to test its namespace."""
    local = getattr(socket, "AF_UNIX", socket.AF_INET)
    with scratch() as folder, socket.socket() as port, socket.socket(local) as unix:
        port.bind(("127.0.0.1", 0))
        port.listen()
        abstract = f"\0xman doctor {os.getpid()} {port.getsockname()[1]}"  # a socket without a file
        if sys.platform == "linux":
            unix.bind(abstract)
            unix.listen()
        (folder / "secret").write_text("not for the worker")
        files = [folder / "secret", Path(__file__).resolve(), ROOT, Path.home(), *FILES]
        host = {"port": port.getsockname()[1], "abstract": abstract, "pid": os.getpid(), "most": None}
        host["user"] = os.getuid() if hasattr(os, "getuid") else None
        host["others"], host["environment"] = other_packages(), [*ENVIRONMENT, *MORE_ENVIRONMENT]
        host["files"] = [path for path in dict.fromkeys(map(str, files)) if path not in ("/", "/tmp")]
        network, *further = answers(box, host)
        if network.ok and isinstance(box, Bubblewrap) and box.filter:
            unfiltered = Bubblewrap(box.program, box.version, box.way)
            unfiltered.filter = None
            network, = answers(unfiltered, {**host, "most": 1})
        yield from [network, *further]


def answers(box: Sandbox, host: dict) -> Iterator[Finding]:
    """The findings that the attempts report."""
    with started(box, "try all", host) as worker:
        try:
            out, err = worker.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            out, err = b"", b"they took more than 20 s"
    yield from (Finding(*json.loads(line)) for line in out.decode(errors="replace").splitlines())
    if worker.process.returncode or not out:
        yield Finding("attempts", False, f"they ended early: {err.decode(errors='replace').strip()[-300:]}")


def processor_time(box: Sandbox) -> Iterator[Finding]:
    with started(box, "spin") as worker:
        number = worker.signal(20)  # on a busy machine a second of processor time takes long
    name = signal.Signals(number).name if number else "nothing"
    yield Finding("processor time", bool(number), f"a limit of 1 s: {name} ended an endless loop")


def nothing_stays(box: Sandbox) -> Iterator[Finding]:
    """Whether a daemon that left its session and its parent ends: it holds a pipe, which ends with it."""
    with started(box, "daemon") as worker:
        line = worker.process.stdout.readline()
        pipe = os.dup(worker.process.stdout.fileno())
    with os.fdopen(pipe, "rb", 0) as reader:  # it ends when nobody holds the other end
        ended = not line or bool(select.select([reader], [], [], 0.5)[0]) and not reader.read()
    yield Finding("daemons end with the worker", ended, "a process that leaves its session and its parent "
                  + ("cannot be started" if not line else "has ended" if ended else "lives on"))


def ends_with_the_grader(box: Sandbox) -> Iterator[Finding]:
    """Whether workers end with a grader that is killed, and so cannot clear up."""
    # -I: what lies in the current folder, say a student's numpy.py, is not imported
    code = (f"import sys; sys.path[:0] = {[str(ROOT), *filter(os.path.isabs, sys.path)]}; "
            "from xman.grade.sandbox.doctor import left_alone; "
            f"left_alone({not isinstance(box, Bubblewrap)})")
    with subprocess.Popen([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE) as grader:
        family = {int(pid) for pid in grader.stdout.readline().split()}
        grader.kill()
    until = time.monotonic() + 2
    while (left := with_descendants(family, running_processes())) and time.monotonic() < until:
        time.sleep(0.01)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    yield Finding("workers end with the grader", bool(family) and not left,
                  f"it was killed; of {len(family)} processes {len(left) or 'none'} lived on")


def left_alone(unsafe: bool) -> None:
    with started(sandbox_here(unsafe), "daemon") as worker:
        worker.process.stdout.readline()
        print(*with_descendants([worker.process.pid], running_processes()), flush=True)
        time.sleep(60)


def started(box: Sandbox, do: str, host: dict | None = None) -> Worker:
    """A worker that runs the attempts that `do` names."""
    limits = replace(LIMITS, cpu_seconds=1) if do == "spin" else LIMITS
    worker = box.start({}, ["xman"] if host else [], limits, {"worker.py": ATTEMPTS})
    with suppress(BrokenPipeError):
        worker.process.stdin.write(json.dumps({**worker.settings, "do": do, "host": host}).encode() + b"\n")
    return worker


def other_packages() -> list[str]:
    """Packages that are installed here and that a submission must not see."""
    import importlib.metadata  # not at the top: it is slow
    names = importlib.metadata.packages_distributions().keys() - sys.stdlib_module_names - BRINGS.keys()
    return sorted(name for name in names if name.isidentifier() and not name.startswith("_"))[:50]
