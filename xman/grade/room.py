"""Where a submission is judged: a process that can be ended, so that nothing that a student wrote can hold up the class.

The submission itself runs in its sandbox, one process further on, and never sees a verdict. What came back from it is
evaluated, differentiated and compared here, with bounds on processor time and memory that the kernel keeps.
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
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from ..errors import XManError

Event = dict[str, Any]
Judging = Callable[[int, Path, str, threading.Event], Iterator[Event]]

CPU_SECONDS = 30     # of the grader's own for one task; the dearest task of the course takes three
WALL_SECONDS = 900   # for one task, however busy the machine
MEMORY = 2 << 30     # bytes of one task beyond what the grader has
GRACE = 3.0          # seconds in which a task that is stopped can end its worker and remove its folders
LIMITS = {"SIGXCPU": f"{CPU_SECONDS} s of processor time", "SIGKILL": "much time or memory", "SIGSEGV": "more than it can do"}


class Room:
    """A process that forks one for each task. It is made before the grader's threads have work, so that none holds a lock.

    judging(number of the task, folder, term, stop) yields plain data. others: the rooms that are there already.
    """

    def __init__(self, judging: Judging, others: Sequence[Room] = ()):
        self.pipe, inner = Pipe()
        outer = [self.pipe, *(room.pipe for room in others)]
        self.process = forked(lambda: ([pipe.close() for pipe in outer], serve(inner, judging)))
        inner.close()

    def judged(self, task: int, folder: Path, term: str, stop: threading.Event) -> Iterator[Event]:
        """What judging yields, and {"ended": why} where it met a limit. XManError where it failed, or stop is set."""
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

    def close(self) -> None:
        """End it, with the task that is in it."""
        self.pipe.close()
        os.waitpid(self.process, 0)


def rooms(number: int, judging: Judging) -> list[Room]:
    """So many rooms. None where there can be none (not on Linux): what is judged then has the bounds of its parts alone."""
    made: list[Room] = []
    while sys.platform == "linux" and len(made) < number:
        made.append(Room(judging, made))
    return made


def forked(run: Callable[[], object]) -> int:
    """The number of a process that does this, and nothing else of what this one has begun."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads that there are wait, and hold nothing
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


def serve(grader: Connection, judging: Judging) -> None:
    """Have one task done after the other, until the grader lets go or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a terminal sends them to all its processes; the grader decides
        signal.signal(number, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            order = json.loads(grader.recv_bytes())
            told, inner = Pipe(False)
            process = forked(lambda: (grader.close(), told.close(), do(inner, judging, *order)))  # noqa: B023 (it runs at once)
            inner.close()
            late = relayed(told, grader, process)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            name = signal.Signals(-code).name if code < 0 else ""
            if late or name in LIMITS:
                send(grader, {"ended": LIMITS.get(name, LIMITS["SIGKILL"])})
            elif code:
                send(grader, {"failed": f"the process that judged a task has ended ({name or code})"})
            send(grader, None)


def relayed(told: Connection, grader: Connection, process: int) -> bool:
    """Pass on what the process says to its end; whether it had to be ended, as it was late or the grader has let go."""
    listening, until = [told, grader], time.monotonic() + WALL_SECONDS
    while True:
        if told in wait(listening, max(until - time.monotonic(), 0)):
            try:
                said = told.recv_bytes()
            except (EOFError, OSError):
                return grader not in listening
            with suppress(OSError):
                grader.send_bytes(said)
        else:
            os.kill(process, signal.SIGTERM if grader in listening else signal.SIGKILL)
            listening, until = [told], time.monotonic() + GRACE


def do(grader: Connection, judging: Judging, task: int, folder: str, term: str) -> None:
    """One task, within its bounds. What fails is said, and is not the student's fault."""
    import resource
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for number, most in ((resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_AS, taken + MEMORY)):
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        for event in judging(task, Path(folder), term, stop):
            send(grader, event)
    except MemoryError:
        send(grader, {"ended": f"{MEMORY >> 20:,} MiB of memory"})
    except Exception as error:
        send(grader, {"failed": str(error) if isinstance(error, XManError) else f"{type(error).__name__}: {error}"})
