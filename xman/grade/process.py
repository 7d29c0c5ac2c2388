"""Where a submission is judged: processes that can be ended, so that no student holds up the class.

The submission itself runs in its sandbox, one process further on, and never sees a verdict. What came back is
evaluated, differentiated and compared here, in processor time and memory that the kernel bounds.
"""
from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from ..errors import XManError
from .record import Event
from .sandbox.inside.confine import PR_SET_PDEATHSIG

# the processor time that the submission has; the dearest task of the course takes the grader 0.3 s
TIMES = 2
WALL_SECONDS = 900   # for one task, however busy the machine
MEMORY = 2 << 30     # bytes of one task beyond what the grader has
GRACE = 1.5          # seconds in which a task that is stopped can end its worker and remove its folders
LIMITS = {"SIGXCPU": "too much processor time", "SIGKILL": "too much time or memory", "SIGSEGV": "more than it can do"}
STOPPED = "the grader was stopped"


def each_apart(work: Callable[[Any], Any], items: Sequence[Any], jobs: int,
               stop: threading.Event) -> Iterator[Any]:
    """work(item) of all items as they come, plain data, from so many processes (threads, if not on Linux).

    stop: set in them all when this ends early. XManError where one fails.
    """
    if sys.platform != "linux":
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for done in as_completed([pool.submit(work, item) for item in items]):
                    yield done.result()
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        return
    running = {}
    try:
        # all of them first: an interrupt that comes while one is made is lost in Python's own hooks of fork
        with tempfile.TemporaryFile(buffering=0) as numbers:
            numbers.write(b"".join(k.to_bytes(4, "big") for k in range(len(items))))
            numbers.seek(0)
            for _ in range(min(jobs, len(items))):
                number, pipe = forked(done_here(work, items, numbers.fileno(), stop), stop)
                running[pipe] = number
        while running:
            for pipe in wait(running):
                try:
                    yield received(pipe)
                except (EOFError, OSError):
                    if os.waitpid(running.pop(pipe), 0)[1]:
                        raise XManError("a process that judges has ended: is there memory enough?") from None
    finally:
        for number in running.values():
            os.kill(number, signal.SIGTERM)
        for number in running.values():
            os.waitpid(number, 0)


def done_here(work: Callable[[Any], Any], items: Sequence[Any], numbers: int,
          stop: threading.Event) -> Iterator[Any]:
    """work(item) of those that this process takes. numbers: a file whose place it shares with others."""
    while not stop.is_set() and (number := os.read(numbers, 4)):
        yield work(items[int.from_bytes(number, "big")])


def one_apart(events: Iterable[Event], cpu_seconds: int, stop: threading.Event) -> Iterator[Event]:
    """The events, as a process of their own comes to them, and {"ended": why} where it met a limit.

    cpu_seconds: that the submission has for them. XManError where the process failed, or stop is set.
    """
    number, pipe = forked(within_limits(events, TIMES * cpu_seconds), stop)
    until = time.monotonic() + WALL_SECONDS
    try:
        with pipe:
            while True:
                if pipe.poll(0.1):
                    yield received(pipe)
                if stop.is_set():
                    os.kill(number, signal.SIGTERM)
                    until = min(until, time.monotonic() + GRACE)
                if time.monotonic() > until:
                    os.kill(number, signal.SIGKILL)
    except (EOFError, OSError):  # it has ended
        pass
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    name = signal.Signals(-code).name if code < 0 else str(code)
    if stop.is_set():
        raise XManError(STOPPED)
    if name in LIMITS:
        yield {"ended": LIMITS[name]}
    elif code:
        raise XManError(f"what judged a task has ended: {name}")


def forked(told: Iterable[Any], stop: threading.Event) -> tuple[int, Connection]:
    """The number of a process that goes through this, and the pipe on which it tells what comes of it.

    In it stop is set by SIGTERM, which it also gets when this process ends.
    """
    inner, own = Pipe(False)
    parent = os.getpid()
    # until the process has its own handlers
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    with warnings.catch_warnings():
        # of Python and of JAX: the threads that there are wait, and hold nothing
        warnings.simplefilter("ignore")
        process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        own.close()
        return process, inner
    try:
        # a terminal sends it to all its processes; the grader decides
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # while it sleeps, the threads that end workers need not wait for what is evaluated
        signal.signal(signal.SIGTERM, lambda *_: stop.is_set() or (stop.set(), time.sleep(GRACE / 3)))
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            stop.set()
        try:
            for said in told:
                send(own, said)
            if stop.is_set():  # what was judged since is worth nothing
                raise XManError(STOPPED)
        except Exception as error:  # it is said, and is not the student's fault
            send(own, {"failed": str(error) if isinstance(error, XManError)
                       else f"{type(error).__name__}: {error}"})
        os._exit(0)
    finally:
        os._exit(1)


def send(pipe: Connection, said: Any) -> None:
    """As JSON: what comes from where submissions are judged is data, whatever has happened there."""
    pipe.send_bytes(json.dumps(said).encode())


def received(pipe: Connection) -> Any:
    """The next that the process of a pipe says. XManError where it failed, EOFError where it has ended."""
    said = json.loads(pipe.recv_bytes())
    if "failed" in said:
        raise XManError(said["failed"])
    return said


def within_limits(events: Iterable[Event], seconds: int) -> Iterator[Event]:
    """The events, and from the first on the limits of this process."""
    import resource
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for number, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, taken + MEMORY)):
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield from events
    except MemoryError:
        yield {"ended": "too much memory"}
