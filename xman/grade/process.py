"""Submissions are judged in processes that can be ended, so that no student holds up the class.

The submission itself runs in its sandbox, in a process of its own, and never sees a verdict. The judging
process evaluates, differentiates and compares its answers; the kernel limits its processor time and memory.
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
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from ..errors import XManError
from .record import Event
from .sandbox.inside.confine import PR_SET_PDEATHSIG
from .sandbox.processes import adopt_orphans, end_processes

# judging a task may take this multiple of the submission's processor time; the course needs 0.3 s at most
TIMES = 2
WALL_SECONDS = 900   # of one task, on a machine however busy
MEMORY = 2 << 30     # bytes of one task beyond those of the grader
GRACE = 1.5          # seconds for a task that is stopped to end its worker and remove its folders
LIMITS = {"SIGXCPU": "too much processor time", "SIGKILL": "too much time or memory", "SIGSEGV": "more than it can do"}
STOPPED = "the grader was stopped"


def each_apart(work: Callable[[Any], Any], items: Sequence[Any], jobs: int,
               stop: threading.Event) -> Iterator[Any]:
    """The results work(item), plain data, as they come from `jobs` processes (threads, if not on Linux).

    stop: is set in all of them when this generator ends early. XManError where a process fails.
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
        # fork all of them first: Python's hooks of fork would lose an interrupt during one
        with tempfile.TemporaryFile(buffering=0) as numbers:
            numbers.write(b"".join(k.to_bytes(4, "big") for k in range(len(items))))
            numbers.seek(0)
            for _ in range(min(jobs, len(items))):
                pid, pipe = forked(results_here(work, items, numbers.fileno(), stop), stop)
                running[pipe] = pid
        while running:
            for pipe in wait(running):
                try:
                    yield received_message(pipe)
                except (EOFError, OSError):
                    if os.waitpid(running.pop(pipe), 0)[1]:
                        raise XManError("a process that judges has ended: is there memory enough?") from None
    finally:
        for pid in running.values():
            os.kill(pid, signal.SIGTERM)
        for pid in running.values():
            os.waitpid(pid, 0)


def results_here(work: Callable[[Any], Any], items: Sequence[Any], numbers: int,
                 stop: threading.Event) -> Iterator[Any]:
    """work(item) for the items that this process takes. numbers: a file whose position they all share."""
    # a read moves the position for all processes at once, so that no item is taken twice
    while not stop.is_set() and (number := os.read(numbers, 4)):
        yield work(items[int.from_bytes(number, "big")])


def one_apart(events: Iterable[Event], cpu_seconds: int, stop: threading.Event) -> Iterator[Event]:
    """The events, from a process of their own; and {"ended": why} if it reached a limit.

    cpu_seconds: the submission's processor time. XManError if the process fails, or stop is set.
    """
    adopt_orphans()
    pid, pipe = forked(within_limits(events, TIMES * cpu_seconds), stop)
    until = time.monotonic() + WALL_SECONDS
    try:
        with pipe:
            while True:
                if pipe.poll(0.1):
                    yield received_message(pipe)
                if stop.is_set():
                    os.kill(pid, signal.SIGTERM)
                    until = min(until, time.monotonic() + GRACE)
                if time.monotonic() > until:
                    os.kill(pid, signal.SIGKILL)
    except (EOFError, OSError):  # the process has ended
        pass
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(ChildProcessError):  # there is one if a limit ended what judges before its worker
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            end_processes()
    name = signal.Signals(-code).name if code < 0 else str(code)
    if stop.is_set():
        raise XManError(STOPPED)
    if name in LIMITS:
        yield {"ended": LIMITS[name]}
    elif code:
        raise XManError(f"what judged a task has ended: {name}")


def forked(messages: Iterable[Any], stop: threading.Event) -> tuple[int, Connection]:
    """The number of a new process that iterates over the messages, and the pipe on which it sends each item.

    SIGTERM sets stop in the new process; it also gets SIGTERM when this process ends.
    """
    receiver, sender = Pipe(False)
    parent = os.getpid()
    # signals wait until the process has its own handlers
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    with warnings.catch_warnings():
        # Python and JAX warn of a fork beside threads; but these threads wait, and hold no lock
        warnings.simplefilter("ignore")
        process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        sender.close()
        return process, receiver
    try:
        # a terminal sends SIGINT to all processes; the grader decides what to do
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # the handler sleeps, so that threads that end workers get the processor
        signal.signal(signal.SIGTERM, lambda *_: stop.is_set() or (stop.set(), time.sleep(GRACE / 3)))
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            stop.set()
        try:
            for message in messages:
                send_message(sender, message)
            if stop.is_set():  # results from now on are not used
                raise XManError(STOPPED)
        except Exception as error:  # the grader reports it: it is not the student's fault
            known = isinstance(error, XManError)
            send_message(sender, {"failed": str(error) if known else f"{type(error).__name__}: {error}"})
        os._exit(0)
    finally:
        os._exit(1)


def send_message(pipe: Connection, message: Any) -> None:
    """Send it as JSON, so that only data come from a process that judges, whatever happened in it."""
    pipe.send_bytes(json.dumps(message).encode())


def received_message(pipe: Connection) -> Any:
    """The next message of the process. XManError if the process failed, EOFError if it has ended."""
    message = json.loads(pipe.recv_bytes())
    if "failed" in message:
        raise XManError(message["failed"])
    return message


def within_limits(events: Iterable[Event], seconds: int) -> Iterator[Event]:
    """The events; before the first this process gets its limits."""
    import resource
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for number, maximum in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, used + MEMORY)):
        hard = resource.getrlimit(number)[1]
        resource.setrlimit(number, (maximum if hard == resource.RLIM_INFINITY else min(maximum, hard), hard))
    try:
        yield from events
    except MemoryError:
        yield {"ended": "too much memory"}
