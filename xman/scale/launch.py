"""Starts a command as several processes, and again if killed: `xman train … --workers 2 --restarts 3`."""
from __future__ import annotations

import contextlib
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
# by which a terminal or a scheduler tells a process to stop or to end; Windows has not all of them
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
MARK = "XMAN_MARK"  # the file that the first worker makes when it is done


def launched(words: list[str], workers: int, restarts: int, checkpoint: str | None, timeout: float) -> int:
    """The exit status of `xman WORDS`, run on `workers` workers, up to 1 + restarts times. timeout: seconds
    that a worker may be stopped, and in which what started the workers ends after them."""
    if restarts and not checkpoint:
        raise XManError("--restarts goes on from a checkpoint; say where, by --checkpoint FILE")
    # if an option is given twice the last one counts
    command = [sys.executable, "-m", "xman", *words, "--workers", "1", "--restarts", "0"]
    if workers > 1:
        command = [mpiexec(), "-n", str(workers), *command]
    for left in reversed(range(restarts + 1)):
        free = shutil.disk_usage("/dev/shm").free if workers > 1 and os.path.isdir("/dev/shm") else math.inf
        if free < (needed := workers * IN_SHARED_MEMORY):
            raise XManError(f"/dev/shm has {free / 1e6:.1f} MB left, and {workers} workers share "
                            f"{needed / 1e6:.1f} there; delete mpich_shm_… of killed jobs when no job runs")
        started = time.monotonic()
        status = waited_for(command, timeout)
        if abs(status) == signal.SIGTERM:
            print("xman: SIGTERM ended the run before it could listen", file=sys.stderr, flush=True)
        if status in FINAL:
            break
        ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        then = f"; it goes on from its checkpoint, and may be started {left} more time{'s' * (left > 1)}"
        ending += f" after {time.monotonic() - started:.0f} s{then * (left > 0)}"
        print(f"xman: the run {ending}", file=sys.stderr, flush=True)
    return status if status >= 0 else 128 - status


def waited_for(command: list[str], timeout: float) -> int:
    """The exit status of a command, which gets the signals that tell this process to end."""
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder, "done")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), MARK: str(mark)}
        before_it_runs = end_with_parent if sys.platform == "linux" else None
        # in a session of its own, so that it hears a terminal's signals once, from here
        job = subprocess.Popen(command, env=environment, preexec_fn=before_it_runs, start_new_session=True)
        orders: list[int] = []

        def pass_on(number: int, _: Any) -> None:
            orders.append(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)
            job.send_signal(orders[-1])

        before = {number: signal.signal(number, pass_on) for number in SIGNALS}
        status = until_it_ends(job, mark, timeout)
        for number, handler in before.items():
            signal.signal(number, handler)
        if orders and status not in (0, 130, ENDED):  # told twice, mpiexec ends at once with one of its own
            return 128 + orders[-1]
        # MPICH takes a worker that ends without a word for one that is done, and 143 is also its status where
        # it cannot begin
        silent = not mark.exists() and (status == 0 or status == ENDED and not orders)
        return 1 if silent else status


def until_it_ends(job: subprocess.Popen, mark: Path, timeout: float) -> int:
    """The status of a job, which ends after `timeout` seconds in which a worker was stopped, or in which the
    run was done. What is stopped and started others goes on, since these would not hear of it."""
    # how long each stopped process, or the mark, has been seen here; not the hours of a job that is suspended
    seconds: dict[Any, float] = {}
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return job.wait(pause := min(1.0, timeout / 4))
        processes = descendants(job.pid)
        stopped = [pid for pid, state in processes.items() if state == "T"]
        for pid in stopped:
            if len(descendants(pid)) > 1:
                os.kill(pid, signal.SIGCONT)
        seconds = {x: seconds.get(x, 0.0) + pause for x in [*stopped, *[mark] * mark.exists()]}
        if late := [x for x, passed in seconds.items() if passed > timeout]:
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            job.wait()
            if mark.exists():  # the run is done, and MPI does not end
                return 0
            print(f"xman: process {late[0]} was stopped for {timeout:g} s: the run ends", file=sys.stderr)
            return 1


def descendants(process: int) -> dict[int, str]:
    """{number: state} of a process, of those that it started, and so on, where Linux tells. T: stopped."""
    folder, states = Path(f"/proc/{process}"), {}
    with contextlib.suppress(OSError):  # it may end meanwhile
        states[process] = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        for children in (folder / "task").glob("*/children"):
            for child in children.read_text().split():
                states |= descendants(int(child))
    return states


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
