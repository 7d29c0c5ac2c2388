"""Nobody waits for a compiler: a program answers at once, while a thread builds better ones.

An engine says of a list how many seconds it takes it to build a program (`program.Engine`). Where that is
more than a blink, the best of the others begins. From the second call on a thread builds what wants the list
more, one after another; it and the one that has answered take turns, and after a few the slower one goes.
"""
from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..notation import shortened
from .program import WHOLE, Built

# seconds: what nobody notices; a loop whose steps go through Python; what somebody waits for a long run
BLINK, A_LOOP, PATIENCE = 0.25, 2.0, 20.0
TURNS = 3  # of each of two programs, before the slower one goes


def players(ranks: Mapping[str, int], seconds: Mapping[str, float], reference: str,
            most: float) -> tuple[str, list[str]]:
    """The engine that begins, and those to be built beside it, the quickest first.

    ranks: of the engines, how much they want the list. seconds: what each takes to build it. most: what the
    one that begins may take. One that another is ahead of, in rank and in seconds, is not built.
    """
    at_once = [name for name, rank in ranks.items() if rank and seconds[name] <= most]
    first = max(at_once, key=ranks.__getitem__, default=reference)
    later = sorted((name for name, rank in ranks.items() if rank > ranks[first]), key=seconds.__getitem__)
    return first, [x for k, x in enumerate(later) if all(ranks[x] > ranks[y] for y in later[:k])]


class Rival(NamedTuple):
    """A program that was built meanwhile, and the seconds that its turns and the other's took."""
    name: str
    built: Built
    its: list[float]
    other: list[float]


class Adaptive:
    """A program that becomes faster while it is used; as `Built` to who calls it.

    better: (name, begin) of each engine that is to be tried: begin(), in a thread, gives a function that ends
    the work in the caller's and gives a Built. takes: whether values are of the program's kinds.
    settle(built, name, why) is called when nothing is left to be tried.
    """

    def __init__(self, name: str, built: Built, better: list[tuple[str, Callable]], takes: Callable,
                 settle: Callable[[Built, str, str], None]):
        self.name, self.built, self.todo, self.takes, self.settle = name, built, better, takes, settle
        self.thread: threading.Thread | None = None
        self.ready: list[tuple] = []  # what the thread has built: (name, end or its error)
        self.rival: Rival | None = None
        self.said: list[str] = []
        self.lock = threading.Lock()  # never waited for, so that a process that is forked may find it locked

    source = property(lambda self: self.built.source)
    plan = property(lambda self: self.built.plan)

    def run(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs, by the program whose turn it is; by the other, where the rival fails."""
        if not self.takes(values):
            return None
        rival, begun = self.rival, time.perf_counter()
        tried = rival and len(rival.its) <= len(rival.other)
        try:
            found = (rival if tried else self).built.run(values)
        except TimeoutError:
            raise  # of a clock
        except Exception as error:
            if not tried:
                raise
            found = self.built.run(values)  # raises, where the values are at fault
            if self.rival is rival:
                self.next(f"{rival.name} cannot run it: {in_short(error)}")
            return found
        seconds = time.perf_counter() - begun
        if tried:
            rival.its.append(math.inf if found is None else seconds)
            return self.built.run(values) if found is None else found
        if rival:
            rival.other.append(seconds)
        if self.lock.acquire(blocking=False):
            try:
                if rival and rival is self.rival:
                    self.decide(rival)
                elif not self.rival and self.todo:
                    self.look()
            finally:
                self.lock.release()
        return found

    def look(self) -> None:
        """Begin a thread that builds what comes next; what it has built becomes the rival."""
        if not self.ready:
            if not self.thread or not self.thread.is_alive():  # where a process is forked, it is not
                self.thread = threading.Thread(target=self.work, args=self.todo[0], daemon=True)
                self.thread.start()
            return
        name, end = self.ready.pop()
        try:
            if isinstance(end, Exception):
                raise end
            with WHOLE:
                self.rival = Rival(name, end(), [], [])
        except Exception as error:
            self.next(f"{name} cannot build it: {in_short(error)}")

    def work(self, name: str, begin: Callable) -> None:
        try:
            self.ready.append((name, begin()))
        except Exception as error:
            self.ready.append((name, error))

    def decide(self, rival: Rival) -> None:
        """After some turns, the faster one stays."""
        if min(len(rival.its), len(rival.other)) >= TURNS:
            its, other = min(rival.its), min(rival.other)
            said = (f"{rival.name}, built meanwhile, took {its * 1e3:.3g} ms a call and {self.name} "
                    f"{other * 1e3:.3g}")
            if its < other:
                self.name, self.built = rival[:2]
            self.next(said)

    def next(self, said: str) -> None:
        """The contest is over: on to the next, or to the end."""
        self.said.append(said)
        self.rival, self.thread, self.todo = None, None, self.todo[1:]
        if not self.todo:
            self.settle(self.built, self.name, "; ".join(self.said))


def in_short(error: Exception) -> str:
    return f"{type(error).__name__}, {shortened(str(error))}"
