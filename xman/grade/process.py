"""Where a submission is judged: a process that can be ended, so that no student holds up the class.

The submission itself runs in its sandbox, one process further on, and never sees a verdict. What came back is
evaluated, differentiated and compared here, in processor time and memory that the kernel bounds.
"""
from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..errors import XManError
from .record import Event

Judging = Callable[[int, Path, str, threading.Event], Iterator[Event]]

# the processor time that the submission has; the dearest task of the course takes the grader 0.3 s
TIMES = 2
WALL_SECONDS = 900   # for one task, however busy the machine
MEMORY = 2 << 30     # bytes of one task beyond what the grader has
GRACE = 1.0          # seconds in which a task that is stopped can end its worker and remove its folders
LIMITS = {"SIGXCPU": "too much processor time", "SIGKILL": "too much time or memory", "SIGSEGV": "more than it can do"}


class JudgingProcess:
    """A process that forks one for each task, made before the grader's threads work and hold locks.

    judging(number of the task, folder, term, stop) yields plain data. cpu_seconds: that the submission has
    for a task. others: those that are there already.
    """

    def __init__(self, judging: Judging, cpu_seconds: int, others: Sequence[JudgingProcess] = ()):
        self.pipe, inner = Pipe()
        outer = [self.pipe, *(other.pipe for other in others)]
        self.number = forked(lambda: ([pipe.close() for pipe in outer],
                                      serve(inner, judging, TIMES * cpu_seconds)))
        inner.close()

    def judged(self, task: int, folder: Path, term: str, stop: threading.Event) -> Iterator[Event]:
        """What judging yields, and {"ended": why} at a limit. XManError where it failed, or stop is set."""
        try:
            send(self.pipe, [task, str(folder), term])
            while not stop.is_set():
                if self.pipe.poll(0.1):
                    event = json.loads(self.pipe.recv_bytes())
                    if event is None:
                        return
                    if "failed" in event:
                        raise XManError(event["failed"])
                    yield event
        except (EOFError, OSError):
            raise XManError("the process that judges has ended: is there memory enough?") from None
        raise XManError("the grader was stopped")


@contextmanager
def judging_processes(number: int, judging: Judging,
                      cpu_seconds: int) -> Iterator[SimpleQueue[JudgingProcess | None]]:
    """A queue of so many processes; of None where there can be none (not on Linux): parts run in this one."""
    made, free = [], SimpleQueue()
    try:
        for _ in range(number):
            if sys.platform == "linux":
                made.append(JudgingProcess(judging, cpu_seconds, made))
            free.put(made[-1] if made else None)
        yield free
    finally:
        for one in made:  # each ends the task that is in it
            one.pipe.close()
        for one in made:
            os.waitpid(one.number, 0)


def forked(run: Callable[[], object]) -> int:
    """The number of a process that does this, and nothing else of what this one has begun."""
    with warnings.catch_warnings():
        # of Python and of JAX: the threads that there are wait, and hold nothing
        warnings.simplefilter("ignore")
        process = os.fork()
    if process:
        return process
    try:
        run()
        os._exit(0)
    finally:
        os._exit(1)


def send(pipe: Connection, said: Any) -> None:
    """As JSON: what comes from where submissions are judged is data, whatever has happened there."""
    pipe.send_bytes(json.dumps(said).encode())


def serve(grader: Connection, judging: Judging, seconds: int) -> None:
    """Have one task done after the other, until the grader lets go or is gone."""
    # a terminal sends them to all its processes; the grader decides
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            order = json.loads(grader.recv_bytes())
            inner, own = Pipe(False)
            process = forked(lambda inner=inner, own=own, order=order: (
                grader.close(), inner.close(), do(own, judging, seconds, *order)))
            own.close()
            relay(inner, grader, process)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            name = signal.Signals(-code).name if code < 0 else str(code)
            if code:
                send(grader, {"ended": LIMITS[name]} if name in LIMITS
                     else {"failed": f"what judged a task has ended: {name}"})
            send(grader, None)


def relay(inner: Connection, grader: Connection, process: int) -> None:
    """Pass on what the process says to its end, which comes at once where it is late."""
    listening, until = [inner, grader], time.monotonic() + WALL_SECONDS
    while True:
        ready = wait(listening, max(until - time.monotonic(), 0))
        if inner in ready:
            try:
                said = inner.recv_bytes()
            except (EOFError, OSError):
                return
            with suppress(OSError):
                grader.send_bytes(said)
        else:
            os.kill(process, signal.SIGTERM if ready else signal.SIGKILL)
            listening, until = [inner], time.monotonic() + GRACE


def do(grader: Connection, judging: Judging, seconds: int, task: int, folder: str, term: str) -> None:
    """One task, within its bounds. What fails is said, and is not the student's fault."""
    import resource
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for number, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, taken + MEMORY)):
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        for event in judging(task, Path(folder), term, stop):
            send(grader, event)
        if stop.is_set():  # what was judged since is worth nothing
            raise XManError("the grader was stopped")
    except MemoryError:
        send(grader, {"ended": "too much memory"})
    except Exception as error:
        send(grader, {"failed": str(error) if isinstance(error, XManError)
                      else f"{type(error).__name__}: {error}"})
