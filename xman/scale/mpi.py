"""Workers: the processes that a launcher of MPI, JAX or an engine of yours (`joined`) put together to train;
otherwise this process alone."""
from __future__ import annotations

import functools
import itertools
import os
import pickle
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

from ops import reductions

from ..errors import XManError, extra
from .launch import MARK, end_with_parent

# what says how many processes a launcher started, where it started this one: then the second is set
SIZES = {name: name for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_MPI_SIZE")}
SIZES |= {"SLURM_NTASKS": "SLURM_STEP_ID", "WORLD_SIZE": "MASTER_ADDR"}
TIMEOUT = 60.0  # seconds that a worker waits for the others
A_MOMENT = 1000  # questions, half a millisecond, in which no thread has to be woken
ENDING = 2.0 ** 20  # what a worker adds to `heard` that was told to end, and not only to stop


class Workers:
    """comm: as `joined` takes one, or None. rank: the number of this process among `size`, from 0. waiting:
    since when this worker waits for the others, or 0. heard: what this worker was told: 0, 1 to stop, ENDING
    to end; due: 0.5 on the first worker where a checkpoint is due; stop: the latest sum of both over all.
    timeout: how many seconds to wait; the class has it for workers that are yet to come."""
    timeout = TIMEOUT

    def __init__(self, comm: Any = None):
        self.comm, self.rank, self.size = comm, comm.rank if comm else 0, comm.size if comm else 1
        self.name = f"worker {self.rank + 1} of {self.size}"
        self.waiting, self.heard, self.due, self.stop, self.over = 0.0, 0.0, 0.0, 0.0, False
        if comm:
            threading.Thread(target=self.watch, daemon=True).start()

    def total(self, x: Any) -> Any:
        """The sum of x over all workers, in a new buffer; its bits do not depend on who came first."""
        buffer = np.array(x, order="C")
        self.reduce(buffer)
        return buffer if isinstance(x, np.ndarray) else buffer[()]

    def reduce(self, buffer: np.ndarray) -> None:
        """Replace the buffer's entries by the sums over all workers."""
        if self.comm:
            buffer[...] = self.noticed(self.comm.allreduce, buffer)

    def meet(self) -> None:
        """Wait until all workers are here."""
        self.noticed(self.comm.barrier)

    def gathered(self, x: Any) -> list[Any]:
        """The x of each worker, in their order."""
        return self.noticed(self.comm.gather, x) if self.comm else [x]

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A context in which each works for itself, at whose end they wait for all, however long it takes."""
        yield
        self.comm.barrier()

    def of_first(self, call: Callable[[], Any]) -> Any:
        """What the first worker's call gives, for all workers, or the XManError that it raises."""
        try:
            answer = call() if self.rank == 0 else None
        except XManError as error:
            answer = error
        if self.size > 1:  # pickled, since some engines give arrays that are read-only, or the same to all
            answer = pickle.loads(self.gathered(pickle.dumps(answer))[0])
        if isinstance(answer, XManError):
            raise answer
        return answer

    def agree(self, facts: Mapping[str, Any], why: str = "all need the same ones", reason: str = "") -> str:
        """The first reason that a worker brings. XManError, for all workers, where one has other facts than
        the first, or an error for a fact. Floats of NumPy, such as norms, may differ by a thousandth: hosts
        may round differently."""
        answers = self.gathered((facts, reason))
        if errors := [x for facts, _ in answers for x in facts.values() if isinstance(x, XManError)]:
            raise errors[0]
        for name in dict.fromkeys(name for facts, _ in answers for name in facts):
            values = [facts.get(name) for facts, _ in answers]
            if ranks := [k for k, x in enumerate(values) if not alike(x, values[0])]:
                unlike = " and ".join(f"worker {k + 1} of {self.size}" for k in ranks)
                but = f"another {name} than the first, {values[ranks[0]]} and not {values[0]}"
                raise XManError(f"{unlike} ha{'ve' if ranks[1:] else 's'} {but}: {why}")
        return next((reason for _, reason in answers if reason), "")

    def anyone(self, due: bool) -> bool:
        """Whether a checkpoint is due: on the first worker, as of the latest sum, by which all know of it."""
        self.due = 0.5 * due
        return 0 < self.stop < 1 if self.size > 1 else due

    def crowded(self) -> bool:
        """Whether a host has fewer than two cores for each of its workers."""
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        nodes = self.gathered((platform.node(), {*cores}))
        hosts = [[cores for node, cores in nodes if node == host] for host in dict(nodes)]
        return any(len(set.union(*cores)) < 2 * len(cores) for cores in hosts)

    def noticed(self, call: Callable, *args: Any) -> Any:
        """The result of a call in which this worker waits for the others; `timeout` limits the wait."""
        self.waiting = time.monotonic()
        answer = call(*args)
        self.waiting = 0.0
        return answer

    def watch(self) -> None:
        """End the job if this worker has waited too long, since MPI itself waits forever. What counts is how
        long this thread has slept meanwhile, and not the hours for which all of the job was suspended."""
        since, seconds = 0.0, 0.0
        while not self.over:
            time.sleep(pause := min(1.0, self.timeout / 4))
            since, seconds = self.waiting, seconds + pause if self.waiting == since else 0.0
            if since and seconds > self.timeout:
                wait = f"has waited {self.timeout:g} s for the others"
                advice = "one of them hangs, or is that much slower; --timeout says how long to wait"
                return self.abort(f"{self.name} {wait}: {advice}")
            self.listen(pause)

    def listen(self, pause: float) -> None:
        """Find out whether another worker lives, where MPI can tell; `pause` seconds after the last time."""

    def abort(self, sentence: str, status: int = 1) -> None:
        """End the work of all workers at once."""
        print(f"xman: {sentence}", file=sys.stderr, flush=True)
        self.end(status)

    def end(self, status: int) -> None:
        """The same, without a word."""
        self.comm.abort(status)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context in which the operator allreduce adds up over the workers."""
        before = reductions.TOTAL.set(self.total)
        try:
            yield
        finally:
            reductions.TOTAL.reset(before)


def alike(x: Any, y: Any) -> bool:
    near = isinstance(x, np.floating) and isinstance(y, np.floating)
    return bool(np.isclose(x, y, 1e-3, 1e-3, equal_nan=True)) if near else x == y


class OfMPI(Workers):
    """Those of mpi4py's communicator `comm`."""
    beats: Any = None  # while they make trials the communicator `ring`, on which they tell that they live
    silence = 0.0      # for how many seconds the worker before this one has not done so

    def __init__(self, comm: Any):
        from mpi4py import MPI
        super().__init__(comm)
        self.ring = comm.Dup() if MPI.Query_thread() == MPI.THREAD_MULTIPLE else None
        self.in_place, sys.excepthook = MPI.IN_PLACE, self.uncaught
        if MARK in os.environ and sys.platform == "linux":
            end_with_parent()  # which is mpiexec's proxy, and may be killed

    def reduce(self, buffer: np.ndarray) -> None:
        self.noticed(self.until, self.comm.Iallreduce(self.in_place, buffer))

    def meet(self) -> None:
        self.noticed(self.until, self.comm.Ibarrier())

    def gathered(self, x: Any) -> list[Any]:
        return self.noticed(self.comm.allgather, x)

    def until(self, request: Any) -> None:
        """Wait; after a moment with sleep, since MPI would keep a core busy that another worker may need.
        MPI's Barrier and Allreduce took longer: 2.8 µs, and 1.2 ms of 941 kB, beside 1.2 µs and 0.26 ms."""
        for tries in itertools.takewhile(lambda _: not request.Test(), itertools.count()):
            if tries > A_MOMENT:
                time.sleep(2e-5)

    @contextmanager
    def apart(self) -> Iterator[None]:
        self.beats, self.silence = self.ring, 0.0
        try:
            yield
            self.until(self.comm.Ibarrier())
        finally:
            self.beats = None

    def listen(self, pause: float) -> None:
        if beats := self.beats:  # in a ring: each tells the next one
            beats.isend(None, (self.rank + 1) % self.size)
            self.silence += pause
            while beats.iprobe(before := (self.rank - 1) % self.size):
                beats.recv(source=before)
                self.silence = 0.0
            if self.silence > self.timeout:
                silence = f"no sign of life for {self.timeout:g} s, in a trial or after it: it has ended"
                self.abort(f"worker {before + 1} of {self.size} has given {silence} or was stopped")

    def end(self, status: int) -> None:
        threading.Timer(5.0, os._exit, [status]).start()  # in case MPI itself hangs
        time.sleep(0.2)  # so that the launcher can still pass the sentence on
        self.comm.Abort(status)
        os._exit(status)

    def uncaught(self, *error: Any) -> None:
        """End all workers if one fails: otherwise it would wait for the others, and they for it."""
        sys.__excepthook__(*error)
        self.abort(f"{self.name} has failed, which ends the others too")


class Comm:
    """What `joined` takes, of an engine that has gather(x) -> the list of everyone's x, for each."""

    def __init__(self, rank: int, size: int, gather: Callable[[Any], list[Any]]):
        self.rank, self.size, self.gather = rank, size, gather

    def allreduce(self, x: np.ndarray) -> np.ndarray:
        return np.add.reduce(self.gather(x))  # one after another, in the workers' order, for each the same

    def barrier(self) -> None:
        self.gather(None)

    def abort(self, status: int) -> None:
        os._exit(status)  # the engine, or the others' waits, end the others


TEAM: ContextVar[Workers | None] = ContextVar("TEAM", default=None)  # of `joined`


@contextmanager
def joined(comm: Any) -> Iterator[Workers]:
    """A context in which this process, or thread, is one of the workers that some engine has put together.

    comm: what the engine gives, with rank, size, gather(x) -> the list of everyone's x, for each,
    allreduce(array) -> the sum over all, with the same bits for each, barrier(), and abort(status); a `Comm`
    has the last three by gather. None: this process is alone. Another thread calls abort when this worker has
    waited `timeout` seconds: it has to end the job, or to make the waiting calls raise an error. An error
    that leaves the context calls it too, since the others would wait for this one.
    """
    team = Workers(comm)
    before = TEAM.set(team)
    try:
        yield team
    except BaseException as error:
        if team.size > 1:
            team.abort(f"{team.name} has failed, which ends the others too: {error}")
        raise
    finally:
        team.over = True
        TEAM.reset(before)


def workers() -> Workers:
    """The workers of which this process is one; in `joined(None)` this process alone."""
    return TEAM.get() or job()


def job() -> Workers:
    """The processes that a launcher of MPI started, or that `jax.distributed` has joined."""
    jax = sys.modules.get("jax")
    return of_jax() if jax and jax.distributed.is_initialized() and not loaded_mpi() else of_mpi()


def loaded_mpi() -> Any:
    """MPI's communicator of all processes, where it is loaded and has several."""
    comm = getattr(sys.modules.get("mpi4py.MPI"), "COMM_WORLD", None)
    return comm if comm and comm.size > 1 else None


@functools.cache
def of_jax() -> Workers:
    import jax
    from jax.experimental import multihost_utils

    def gather(x: Any) -> list[Any]:
        text = np.frombuffer(pickle.dumps(x), np.uint8)
        sizes = multihost_utils.process_allgather(np.array(len(text)))
        texts = multihost_utils.process_allgather(np.pad(text, (0, int(sizes.max()) - len(text))))
        return [pickle.loads(text[:size].tobytes()) for text, size in zip(texts, sizes, strict=True)]

    size = jax.process_count()  # JAX's service ends the others with one
    return Workers(Comm(jax.process_index(), size, gather) if size > 1 else None)


def ended_after(seconds: float) -> AbstractContextManager:
    """A context that ends this process if it takes so many seconds: MPI's beginning lets no thread run, and a
    process that was stopped runs none, so another one counts them, but no hours that both are suspended."""
    sentence = f"xman: MPI has not begun for {seconds:g} s: a worker is missing, or was stopped\n"
    left = f"any(select.select([0], [], [], {seconds / 100})[0] for _ in range(100))"
    end = f"(sys.stderr.write({sentence!r}), sys.stderr.flush(), os.kill({os.getpid()}, 9))"
    words = [sys.executable, "-ISc", f"import os, select, sys\n{left} or {end}"]
    posix = os.name == "posix"
    return subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) if posix else nullcontext()


@functools.cache
def of_mpi() -> Workers:
    comm = loaded_mpi()
    several = [x for x, sign in SIZES.items() if sign in os.environ and os.environ.get(x, "1") != "1"]
    if not comm and several:
        try:
            with ended_after(Workers.timeout):
                comm = extra("mpi4py.MPI", "mpi", "training by several workers").COMM_WORLD
        except RuntimeError as error:
            reason, *_ = str(error).splitlines()
            remedy = "pip install 'xman[mpi]', or set MPI4PY_LIBMPI to the library"
            raise XManError(f"mpi4py finds no MPI ({reason}); {remedy}") from None
        if comm.size == 1:
            name = several[0]
            raise XManError(f"the launcher says by {name} that there are {os.environ[name]} workers, and MPI that "
                            "there is one: take the launcher of mpi4py's MPI (under Slurm srun --mpi=pmi2), join "
                            f"them by xman.scale.joined, or unset {name}, so that each trains by itself")
    return OfMPI(comm) if comm else Workers()


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
    team.agree({"number of trials": count})
    with team.apart():
        for k in range(team.rank, count, team.size):
            try:
                with joined(None):
                    answers[k] = call(k)
            except XManError as error:
                answers[k] = type(error)(str(error))  # its attributes may not be picklable
                break
    outcomes = {k: outcome for answers in team.gathered(answers) for k, outcome in answers.items()}
    for k in range(count):
        if isinstance(outcomes[k], XManError):
            raise outcomes[k]
        yield outcomes[k]
