"""Workers: the processes that one launcher started to train together, by MPI;
without one, this process alone."""
from __future__ import annotations

import functools
import math
import operator
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from ops import reductions

from ..errors import XManError, extra

SIZES = "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_MPI_SIZE"  # what launchers tell their processes
TIMEOUT = 60.0  # seconds
SLICE = 2e-5
A_MOMENT = 1000  # questions, half a millisecond, in which no thread has to be woken


class Workers:
    """rank: the number of this process, from 0, of `size`. waiting: since when this one waits for the others,
    if it does. heard: whether it was told to stop; stop: whether one of all was, before the latest sum.
    reading: what is read beside the steps, where all do so."""

    def __init__(self, comm: Any = None):
        self.comm, self.rank, self.size = comm, comm.rank if comm else 0, comm.size if comm else 1
        self.waiting, self.timeout, self.heard, self.stop = 0.0, TIMEOUT, False, False
        self.reading: Future | None = None

    def total(self, x: Any) -> Any:
        """Σ of x over all workers, in a new buffer, the same bits for each of them and whoever came first."""
        whole = np.array(x, order="C")
        self.reduce(whole)
        return whole if isinstance(x, np.ndarray) else whole[()]

    def reduce(self, buffer: np.ndarray) -> None:
        """Make of the buffer Σ of all workers' buffers."""
        if self.comm:
            from mpi4py import MPI
            self.noticed(*[self.asleep_until, self.comm.Iallreduce(MPI.IN_PLACE, buffer)] if self.reading
                         else [self.comm.Allreduce, MPI.IN_PLACE, buffer])

    def meet(self) -> None:
        """Go on when all of them are here."""
        self.noticed(*[self.asleep_until, self.comm.Ibarrier()] if self.reading else [self.comm.Barrier])

    def asleep_until(self, here: Any) -> None:
        """Wait, after a moment, as MPI does not: it would take the core from the thread that reads."""
        asked = 0
        while not here.Test():
            asked += 1
            if asked > A_MOMENT and not (self.reading and self.reading.done()):
                time.sleep(SLICE)

    def gathered(self, x: Any) -> list[Any]:
        """What each of the workers has, in their order."""
        return self.noticed(self.comm.allgather, x) if self.comm else [x]

    def exchanged(self, rows: np.ndarray, counts: Sequence[int], given: Sequence[int]) -> np.ndarray:
        """The rows that the workers have for this one, by their order.

        rows: those that this one has for each, one behind another. counts, given: how many for each of them,
        and from each.
        """
        from mpi4py import MPI
        found = np.empty((sum(given), *rows.shape[1:]), rows.dtype)
        # counted in rows, of which there are fewer than a 32-bit integer counts
        row = MPI.BYTE.Create_contiguous(rows.itemsize * math.prod(rows.shape[1:])).Commit()
        self.noticed(self.comm.Alltoallv, [rows, counts, row], [found, given, row])
        row.Free()
        return found

    def noticed(self, call: Callable, *args: Any) -> Any:
        """What a call gives in which this worker waits for the others, no longer than `timeout`."""
        self.waiting = time.monotonic()
        found = call(*args)
        self.waiting = 0.0
        return found

    def watch(self) -> None:
        """End the job when this worker has waited too long: MPI itself waits for ever."""
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
        threading.Timer(5.0, os._exit, [status]).start()  # where MPI itself hangs
        time.sleep(0.2)  # or the launcher is gone before it has handed the sentence on
        self.comm.Abort(status)
        os._exit(status)

    def uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """What a worker that fails does, in place of waiting for the others at its end, who wait for it."""
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


ALONE: list[Workers] = []  # of the calls under way that are no business of the others


@contextmanager
def by_itself() -> Iterator[None]:
    """A context in which this process is the only worker."""
    ALONE.append(Workers())
    try:
        yield
    finally:
        ALONE.pop()


def workers() -> Workers:
    """Those that this process is one of; in `by_itself` this process."""
    return ALONE[-1] if ALONE else job()


@functools.cache
def job() -> Workers:
    """The processes that one launcher started."""
    loaded = getattr(sys.modules.get("mpi4py.MPI"), "COMM_WORLD", None)
    if not loaded and all(os.environ.get(name, "1") == "1" for name in SIZES):
        return Workers()
    try:
        comm = loaded or extra("mpi4py.MPI", "mpi", "training by several workers").COMM_WORLD
    except RuntimeError as error:
        raise XManError(f"mpi4py finds no MPI ({str(error).splitlines()[0]}); pip install 'xman[mpi]', or say "
                        "where the library is, by MPI4PY_LIBMPI") from None
    found = Workers(comm if comm.size > 1 else None)
    if found.comm:
        sys.excepthook = found.uncaught
        threading.Thread(target=found.watch, daemon=True).start()
    return found


def dealt(call: Callable[[int], Any], count: int) -> Iterator[Any]:
    """call(0), …, call(count − 1), of which worker i of n calls the i-th, the (i + n)-th, ….

    In a call a worker is by itself: `fit` takes all rows there. How long one takes is not watched. Results
    are pickled, and all come when all are done; without workers each as it is. XManError where a call raises
    one, the first of them.
    """
    here, mine = workers(), {}
    if here.size == 1:
        yield from map(call, range(count))
        return
    for k in range(here.rank, count, here.size):
        try:
            with by_itself():
                mine[k] = call(k)
        except XManError as error:
            mine[k] = type(error)(str(error))  # what else it holds need not be such that it can be pickled
            break
    here.asleep_until(here.comm.Ibarrier())
    found = functools.reduce(operator.or_, here.gathered(mine))
    for k in range(count):
        if isinstance(found[k], XManError):
            raise found[k]
        yield found[k]
