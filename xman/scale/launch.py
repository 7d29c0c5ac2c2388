"""Starts a command as several processes, and again if killed: `xman train … --workers 2 --restarts 3`."""
from __future__ import annotations

import ctypes
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..errors import XManError

ENDED = 143  # the status of a process that was told to end, as after SIGTERM
# statuses of a command that has ended, was mistyped, interrupted or told to end, and of mpiexec for a worker
# that was told so before it could listen: a new start would not help
FINAL = 0, 2, 130, ENDED, -15, 15
PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
IN_SHARED_MEMORY = 1_060_000  # bytes per worker that MPICH needs: without them it dies of a bus error
MARK = "XMAN_MARK"  # the file that the first worker makes when it is done


def launched(words: list[str], workers: int, restarts: int, checkpoint: str | None, timeout: float) -> int:
    """The exit status of `xman WORDS`, run on `workers` workers, up to 1 + restarts times. timeout: seconds
    in which what started the workers ends after them."""
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
        status = waited_for(command, timeout)
        if status in FINAL:
            break
        ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        then = f"; it goes on from its checkpoint, and may be started {left} more time{'s' * (left > 1)}"
        took = f"after {time.monotonic() - started:.0f} s"
        print(f"xman: the run {ending} {took}{then * (left > 0)}", file=sys.stderr, flush=True)
        if not left:
            break
    return status if status >= 0 else 128 - status


def waited_for(command: list[str], timeout: float) -> int:
    """The exit status of a command, which gets the signals that tell this process to end."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                                    MARK: (mark := os.path.join(folder, "done"))}
        before_it_runs = end_with_parent if sys.platform == "linux" else None
        # in a session of its own, so that it hears a terminal's signals once, from here
        job = subprocess.Popen(command, env=environment, preexec_fn=before_it_runs, start_new_session=True)
        told: list[int] = []
        ended = math.inf

        def pass_on(number: int, _: Any) -> None:
            told.append(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)
            job.send_signal(told[-1])

        before = {number: signal.signal(number, pass_on) for name in ("SIGINT", "SIGTERM", "SIGHUP")
                  if (number := getattr(signal, name, None))}
        while (status := job.poll()) is None:
            # who wants the run to stop stops this process; of a stopped mpiexec nobody else would hear
            if sys.platform == "linux" and os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WNOHANG):
                job.send_signal(signal.SIGCONT)
            ended = min(ended, time.monotonic()) if os.path.exists(mark) else math.inf
            if time.monotonic() - ended > timeout:
                for process in descendants(job.pid):  # the run is done, and MPI does not end
                    os.kill(process, signal.SIGKILL)
                status = 0
                break
            time.sleep(0.02)
        for number, handler in before.items():
            signal.signal(number, handler)
        if told and status not in FINAL:  # told twice, mpiexec ends at once, with a status of its own
            return 128 + told[-1]
        # MPICH takes a worker that ends without a word for one that is done, and 143 is also its status where
        # it cannot begin
        silent = not os.path.exists(mark) and (status == 0 or status == ENDED and not told)
        return 1 if silent else status


def descendants(process: int) -> list[int]:
    """A process, those that it has started, and those that these have, where Linux tells."""
    children = (path.read_text().split() for path in Path(f"/proc/{process}/task").glob("*/children"))
    return [process, *(pid for words in children for child in words for pid in descendants(int(child)))]


def report_end() -> None:
    """Tell the one who launched this process that it has come to its end."""
    if path := os.environ.get(MARK):
        Path(path).touch()


def end_with_parent() -> None:
    """Let Linux end this process, and so its workers, if the one that started it is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def mpiexec() -> str:
    """The launcher of MPI: beside this Python, where a wheel puts it, or on the path."""
    path = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if not path:
        raise XManError("--workers needs MPI: pip install 'xman[mpi]', or take your cluster's own launcher")
    return path
