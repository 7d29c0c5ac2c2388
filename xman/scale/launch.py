"""Starts a command as several processes, and again if killed: `xman train … --workers 2 --restarts 3`."""
from __future__ import annotations

import ctypes
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..errors import XManError

# statuses of a command that has ended, was mistyped, or was interrupted: a new start would not help
FINAL = 0, 2, 130
PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
IN_SHARED_MEMORY = 1_060_000  # bytes per worker that MPICH needs: without them it dies of a bus error


def launched(words: list[str], workers: int, restarts: int, checkpoint: str | None) -> int:
    """The exit status of `xman WORDS`, run on `workers` workers, up to 1 + restarts times."""
    if restarts and not checkpoint:
        raise XManError("--restarts goes on from a checkpoint; say where, by --checkpoint FILE")
    # if an option is given twice the last one counts
    command = [sys.executable, "-m", "xman", *words, "--workers", "1", "--restarts", "0"]
    if workers > 1:
        command = [mpiexec(), "-n", str(workers), *command]
    for left in reversed(range(restarts + 1)):
        free = shutil.disk_usage("/dev/shm").free if workers > 1 and os.path.isdir("/dev/shm") else math.inf
        if free < workers * IN_SHARED_MEMORY:
            raise XManError(f"/dev/shm has {free / 1e6:.1f} MB left, and {workers} workers share "
                            f"{workers * IN_SHARED_MEMORY / 1e6:.1f} there; killed jobs leave files "
                            "mpich_shm_…, which may be deleted when no job runs")
        started = time.monotonic()
        status, ended = waited_for(command)
        if status in FINAL or ended or not left:
            break
        ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        print(f"xman: the run {ending} after {time.monotonic() - started:.0f} s; it goes on from its "
              f"checkpoint, and may be started {left} more time{'s' * (left > 1)}", file=sys.stderr,
              flush=True)
    return status if status >= 0 else 128 - status


def waited_for(command: list[str]) -> tuple[int, bool]:
    """The exit status of a command, and whether a scheduler told this process to end, and so the command."""
    ended: list[None] = []
    before = signal.signal(signal.SIGINT, lambda *_: None)  # the run gets it too
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    before_it_runs = end_with_parent if sys.platform == "linux" else None
    job = subprocess.Popen(command, env=environment, preexec_fn=before_it_runs)
    term = signal.signal(signal.SIGTERM, lambda *_: ended.append(job.terminate()))
    status = job.wait()
    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGTERM, term)
    return status, bool(ended)


def end_with_parent() -> None:
    """Let Linux end this process, and so its workers, if the one that started it is killed or hung up."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def mpiexec() -> str:
    """The launcher of MPI: beside this Python, where a wheel puts it, or on the path."""
    path = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if not path:
        raise XManError("--workers needs MPI: pip install 'xman[mpi]', or take your cluster's own launcher")
    return path
