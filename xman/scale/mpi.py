"""Workers: the processes that a launcher of MPI started to train together; otherwise this process alone."""
from __future__ import annotations

import functools
import itertools
import operator
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from ops import reductions

from ..errors import XManError, extra

SIZES = "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_MPI_SIZE"  # set by launchers
TIMEOUT = 60.0  # seconds that a worker waits for the others
SLICE = 2e-5
A_MOMENT = 1000  # questions, half a millisecond, in which no thread has to be woken


class Workers:
    """rank: the number of this process among `size`, from 0. waiting: since when this worker waits for the
    others, or 0. heard: whether this worker was told to stop; stop: whether any worker was told so before
    the latest sum. beside: the work that a worker does bit by bit while it waits, or None."""

    def __init__(self, comm: Any = None):
        self.comm, self.rank, self.size = comm, comm.rank if comm else 0, comm.size if comm else 1
        self.waiting, self.timeout, self.heard, self.stop = 0.0, TIMEOUT, False, False
        self.beside: Callable[[], None] | None = None

    def total(self, x: Any) -> Any:
        """The sum of x over all workers, in a new buffer; its bits do not depend on who came first."""
        buffer = np.array(x, order="C")
        self.reduce(buffer)
        return buffer if isinstance(x, np.ndarray) else buffer[()]

    def reduce(self, buffer: np.ndarray) -> None:
        """Replace the buffer's entries by the sums over all workers."""
        if self.comm:
            from mpi4py import MPI
            self.noticed(*[self.until, self.comm.Iallreduce(MPI.IN_PLACE, buffer)] if self.beside
                         else [self.comm.Allreduce, MPI.IN_PLACE, buffer])

    def meet(self) -> None:
        """Wait until all workers are here."""
        self.noticed(*[self.until, self.comm.Ibarrier()] if self.beside else [self.comm.Barrier])

    def until(self, request: Any) -> None:
        """Wait, and work meanwhile; after a moment sleep between the tests, since MPI would keep the core
        busy, which others need."""
        for tries in itertools.count():
            if self.beside:
                self.beside()
            if request.Test():
                return
            if tries > A_MOMENT:
                time.sleep(SLICE)

    def crowded(self) -> bool:
        """Whether a host has fewer than two cores for each of its workers."""
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        nodes = self.gathered((platform.node(), {*cores}))
        hosts = [[cores for node, cores in nodes if node == host] for host in dict(nodes)]
        return any(len(set.union(*cores)) < 2 * len(cores) for cores in hosts)

    def gathered(self, x: Any) -> list[Any]:
        """The x of each worker, in their order."""
        return self.noticed(self.comm.allgather, x) if self.comm else [x]

    def noticed(self, call: Callable, *args: Any) -> Any:
        """The result of a call in which this worker waits for the others; `timeout` limits the wait."""
        self.waiting = time.monotonic()
        answer = call(*args)
        self.waiting = 0.0
        return answer

    def watch(self) -> None:
        """End the job if this worker has waited too long, since MPI itself waits for ever."""
        while True:
            time.sleep(min(1.0, self.timeout / 4))
            since = self.waiting
            if since and time.monotonic() - since > self.timeout:
                self.abort(f"worker {self.rank + 1} of {self.size} has waited {self.timeout:g} s for the "
                           "others: one of them hangs, or is that much slower; --timeout says how long to "
                           "wait")

    def abort(self, sentence: str, status: int = 1) -> None:
        """End the processes of all workers at once."""
        print(f"xman: {sentence}", file=sys.stderr, flush=True)
        threading.Timer(5.0, os._exit, [status]).start()  # in case MPI itself hangs
        time.sleep(0.2)  # so that the launcher can still pass the sentence on
        self.comm.Abort(status)
        os._exit(status)

    def uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """End all workers if one fails: otherwise it would wait for the others, and they for it."""
        sys.__excepthook__(kind, error, trace)
        self.abort(f"worker {self.rank + 1} of {self.size} has failed, which ends the others too")

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context in which the operator allreduce adds up over the workers."""
        reductions.TOTALS.append(self.total)
        try:
            yield
        finally:
            reductions.TOTALS.pop()


ALONE: list[Workers] = []  # one for each `by_itself` that is running


@contextmanager
def by_itself() -> Iterator[None]:
    """A context in which this process is the only worker."""
    ALONE.append(Workers())
    try:
        yield
    finally:
        ALONE.pop()


def workers() -> Workers:
    """The workers of which this process is one; in `by_itself` this process alone."""
    return ALONE[-1] if ALONE else job()


@functools.cache
def job() -> Workers:
    """The processes that the launcher started."""
    loaded = getattr(sys.modules.get("mpi4py.MPI"), "COMM_WORLD", None)
    if not loaded and all(os.environ.get(name, "1") == "1" for name in SIZES):
        return Workers()
    try:
        comm = loaded or extra("mpi4py.MPI", "mpi", "training by several workers").COMM_WORLD
    except RuntimeError as error:
        raise XManError(f"mpi4py finds no MPI ({str(error).splitlines()[0]}); pip install 'xman[mpi]', or "
                        "say where the library is, by MPI4PY_LIBMPI") from None
    processes = Workers(comm if comm.size > 1 else None)
    if processes.comm:
        sys.excepthook = processes.uncaught
        threading.Thread(target=processes.watch, daemon=True).start()
    return processes


def dealt(call: Callable[[int], Any], count: int) -> Iterator[Any]:
    """The results call(0), …, call(count − 1); worker i of n makes the calls i, i + n, ….

    During a call a worker is by itself: `fit` takes all rows there, and has no time limit. Results are
    pickled, and come when all are done; without workers they come one by one. XManError if a call raises one,
    the first.
    """
    team, answers = workers(), {}
    if team.size == 1:
        yield from map(call, range(count))
        return
    for k in range(team.rank, count, team.size):
        try:
            with by_itself():
                answers[k] = call(k)
        except XManError as error:
            answers[k] = type(error)(str(error))  # its attributes may not be picklable
            break
    team.until(team.comm.Ibarrier())
    everyone = functools.reduce(operator.or_, team.gathered(answers))
    for k in range(count):
        if isinstance(everyone[k], XManError):
            raise everyone[k]
        yield everyone[k]


class CtrlC:
    """A context in which Ctrl-C waits while `deferred` is true: a step overwrites the parameters.

    After the step release() lets it take effect, if it is `waiting`; after an error nobody calls that, since
    such a state must not be saved. deliver() does what Ctrl-C would have done. A worker that hears Ctrl-C
    tells the others with its next sum, and all stop after this step. The context does nothing outside of the
    main thread, and where Ctrl-C does not call Python's handler.
    """

    def __init__(self, workers: Workers | None = None) -> None:
        self.deferred = self.waiting = False
        self.before, self.workers = signal.default_int_handler, workers or Workers()

    def __enter__(self) -> CtrlC:
        if (threading.current_thread() is threading.main_thread()
            and callable(before := signal.getsignal(signal.SIGINT))):
            self.before = before
            signal.signal(signal.SIGINT, self.hear)
        return self

    def __exit__(self, *_) -> None:
        if signal.getsignal(signal.SIGINT) == self.hear:
            signal.signal(signal.SIGINT, self.before)

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.workers.size > 1:
            self.workers.heard = True
        elif self.deferred:
            self.waiting = True
        else:
            self.before(number, frame)

    def release(self) -> None:
        self.deferred = False
        if self.waiting or self.workers.stop:
            self.deliver()

    def deliver(self) -> None:
        self.waiting = self.workers.heard = self.workers.stop = False
        self.before(signal.SIGINT, None)
