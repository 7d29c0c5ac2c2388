"""No call waits for a compiler: a program answers at once, while a thread builds better ones.

An engine's record says about how many seconds it takes to build a list (`program.Engine`). Where that is
more than a blink, the best of the quicker engines begins. From the second call on, a thread builds the
programs of the engines that rank higher, one after another; a new program and the present one take turns at
answering, and after a few turns the slower one goes.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import Any

from ..notation import shortened
from .program import WHOLE, Built

# seconds to build: too short to notice; the same if a loop is slow in Python; the most before a long run
BLINK, A_LOOP, PATIENCE = 0.25, 2.0, 20.0
TURNS = 3  # how many turns each of two programs has before the slower one goes


def players(ranks: Mapping[str, int], seconds: Mapping[str, float], most: float) -> tuple[str, list[str]]:
    """The engine that begins, and the engines to build meanwhile, the quickest to build first.

    ranks: how much each engine wants the list; the first of those that do not want it is the reference.
    seconds: to build it. most: seconds that the one that begins may take. An engine is not built if another
    one has both a higher rank and fewer seconds.
    """
    first = max((name for name in ranks if seconds[name] <= most), key=ranks.__getitem__)
    later = sorted((name for name, rank in ranks.items() if rank > ranks[first]), key=seconds.__getitem__)
    return first, [x for k, x in enumerate(later) if all(ranks[x] > ranks[y] for y in later[:k])]


class Adaptive:
    """A program that becomes faster while it is used; it is called as a `Built` is.

    built: the program that begins. better: by name, `begin` of each engine to try: a thread calls begin(),
    whose result, a function, the caller calls for the Built. takes: whether values are of these kinds.
    """

    def __init__(self, built: Built, better: Mapping[str, Callable], takes: Callable):
        self.built, self.engine, self.why, self.takes = built, built.engine, built.why, takes
        self.thread: Thread | None = None
        self.ready: list[Any] = []  # what the thread has built: a function that gives the Built, or an error
        self.lock = Lock()  # no thread waits for this lock, so a forked process may find it locked
        self.contest = self.turns(better)
        self.turn = next(self.contest)

    source = property(lambda self: self.built.source)
    plan = property(lambda self: self.built.plan)

    def run(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs, by the program whose turn it is; if that fails, by the other one."""
        if not self.takes(values):
            return None
        if not self.lock.acquire(blocking=False):
            return self.built.run(values)
        try:
            program, go_on, begun = self.turn, self.contest.send, time.perf_counter()
            try:
                found = program.run(values)
                said = time.perf_counter() - begun if found is not None else math.inf
            except Exception as error:
                if program is self.built or isinstance(error, TimeoutError):  # a limit that the user set
                    raise
                found, go_on, said = None, self.contest.throw, error
            if found is None and program is not self.built:
                found = self.built.run(values)  # raises an error if the values are at fault
            self.turn = self.built
            with suppress(StopIteration):
                self.turn = go_on(said)
            return found
        finally:
            self.lock.release()

    def turns(self, better: Mapping[str, Callable]) -> Iterator[Built]:
        """The program of each turn, until the fastest is known. The caller sends the seconds that the turn
        took, or throws the error that it met."""
        said = []
        yield self.built
        for name, begin in better.items():
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
                its, other = [], []
                for _ in range(TURNS):
                    its.append((yield rival))
                    other.append((yield self.built))
                times = f"{min(its) * 1e3:.3g} ms a call and {self.engine} {min(other) * 1e3:.3g}"
                said.append(f"{name}, built meanwhile, took {times}")
                if min(its) < min(other):
                    self.engine, self.built = name, rival
            except Exception as error:
                said.append(f"{name} cannot {doing} it: {type(error).__name__}, {shortened(str(error))}")
        self.why, self.run, self.turn = "; ".join(said), self.built.run, self.built  # the loser goes


def begun_apart(begin: Callable, ready: list) -> None:
    try:
        ready.append(begin())
    except Exception as error:
        ready.append(partial(raised_here, error))


def raised_here(error: Exception) -> None:
    raise error
