"""No call waits for a compiler: a program answers at once, while a thread builds better ones.

An engine's record says about how many seconds it takes to build a list (`program.Engine`). Where that is
more than a blink, the best of the quicker engines begins. From the second call on, a thread builds the
programs of the engines that rank higher, one after another; a new program and the present one take turns at
answering, and after a few turns the slower one goes.
"""
from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import Any

from ..notation import shortened
from .program import WHOLE, Built, Engine, Program, Values

Begin = Callable[[], Callable[[], Built]]  # an engine's `begin`, for one program

# seconds to build: too short to notice; the same if a loop is slow in Python; the most before a long run
BLINK, A_LOOP, PATIENCE = 0.25, 2.0, 20.0
TURNS = 3  # how many turns each of two programs has before the slower one goes


def starter_and_rivals(ranks: Mapping[str, int], seconds: Mapping[str, float],
                       patience: float) -> tuple[str, list[str]]:
    """The engine that begins, and the engines to build meanwhile, the quickest to build first.

    ranks: how much each engine wants the list; the first of those that do not want it is the reference.
    seconds: to build it. patience: the most seconds for the one that begins. An engine is not built if
    another one has both a higher rank and fewer seconds.
    """
    starter = max((name for name in ranks if seconds[name] <= patience), key=ranks.__getitem__)
    rivals = sorted((name for name, rank in ranks.items() if rank > ranks[starter]), key=seconds.__getitem__)
    return starter, [x for k, x in enumerate(rivals) if all(ranks[x] > ranks[y] for y in rivals[:k])]


def contest(built: Built, rivals: Iterable[Engine], program: Callable[[Engine], Program],
            takes: Callable[[Values], bool]) -> Adaptive:
    """The program that begins, and what the rivals build of the Program for them meanwhile."""
    for rival in rivals:  # not in a thread: a process that is forked must not find half a module
        importlib.import_module(rival.file)
    begin = {rival.name: lambda rival=rival: rival.begin(program(rival)) for rival in rivals}
    return Adaptive(built, begin, takes)


class Adaptive:
    """A program that becomes faster while it is used; it is called as a `Built` is.

    built: the program that begins. rivals: by name, `begin` of each engine to try: a thread calls begin(),
    whose result, a function, the caller calls for the Built. takes: whether values are of these kinds.
    """

    def __init__(self, built: Built, rivals: Mapping[str, Begin], takes: Callable[[Values], bool]):
        self.built, self.engine, self.reason, self.takes = built, built.engine, built.reason, takes
        self.thread: Thread | None = None
        self.ready: list[Callable[[], Built]] = []  # what the thread has built: it gives a Built, or an error
        self.locks: dict[int, Lock] = {}  # by process id: a fork inherits none that is held
        self.contest = self.contest_with(rivals)
        self.turn = next(self.contest)

    source = property(lambda self: self.built.source)
    plan = property(lambda self: self.built.plan)

    def run(self, values: Values) -> dict[str, Any] | None:
        """The outputs, by the program whose turn it is; if that fails, by the other one."""
        if not self.takes(values):
            return None
        lock = self.locks.setdefault(os.getpid(), Lock())
        if not lock.acquire(blocking=False):
            return self.built.run(values)
        try:
            program, go_on, begun = self.turn, self.contest.send, time.perf_counter()
            try:
                outputs = program.run(values)
                outcome = time.perf_counter() - begun if outputs is not None else math.inf
            except Exception as error:
                if program is self.built or isinstance(error, TimeoutError):  # a limit that the user set
                    raise
                outputs, go_on, outcome = None, self.contest.throw, error
            if outputs is None and program is not self.built:
                outputs = self.built.run(values)  # raises an error if the values are at fault
            self.turn = self.built
            with suppress(StopIteration):
                self.turn = go_on(outcome)
            return outputs
        finally:
            lock.release()

    def settle(self) -> None:
        """Let the last rival that can be built win, whatever the clock says; wait for it."""
        with self.locks.setdefault(os.getpid(), Lock()), suppress(StopIteration):
            while "run" not in vars(self):
                if self.thread:
                    self.thread.join()
                self.turn = self.contest.send(math.inf if self.turn is self.built else 0.0)

    def contest_with(self, rivals: Mapping[str, Begin]) -> Iterator[Built]:
        """The program of each turn, until the fastest is known. The caller sends the seconds that the turn
        took, or throws the error that it met."""
        reasons = []
        yield self.built
        for name, begin in rivals.items():
            doing, self.ready, alive = "build", [], False
            try:
                while not self.ready:
                    if not alive:  # a forked process has no such thread
                        self.thread = Thread(target=begun_apart, args=(begin, self.ready), daemon=True)
                        self.thread.start()
                    yield self.built
                    alive = self.thread.is_alive()  # asked before `ready`: its last act is to fill that
                with WHOLE:
                    rival, doing = self.ready[0](), "run"
                of_rival = of_built = math.inf
                for _ in range(TURNS):
                    of_rival, of_built = min(of_rival, (yield rival)), min(of_built, (yield self.built))
                milliseconds = f"took {of_rival * 1e3:.3g} ms a call and {self.engine} {of_built * 1e3:.3g}"
                reasons.append(f"{name}, built meanwhile, {milliseconds if of_rival else 'was to settle'}")
                if of_rival < of_built:
                    self.engine, self.built = name, rival
            except Exception as error:
                reasons.append(f"{name} cannot {doing} it: {type(error).__name__}, {shortened(str(error))}")
        self.reason, self.run, self.turn = "; ".join(reasons), self.built.run, self.built  # the loser goes


def begun_apart(begin: Begin, ready: list[Callable[[], Built]]) -> None:
    try:
        ready.append(begin())
    except Exception as error:
        ready.append(partial(raised_here, error))


def raised_here(error: Exception) -> None:
    raise error
