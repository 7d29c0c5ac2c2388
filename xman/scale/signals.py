"""Ctrl-C, and a scheduler that tells a run to end: both wait until the present step is done."""
from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

from .launch import ENDED, SIGNALS, report_end
from .mpi import ENDING, Workers


class Ending(KeyboardInterrupt):
    """A scheduler told this process to end, by SIGTERM or SIGHUP."""


def end_as_told(sentence: str, workers: Workers) -> NoReturn:
    """End this process, as it was told to."""
    if not workers.rank:
        print(f"xman: told to end: {sentence}", file=sys.stderr)
        report_end()
    sys.exit(ENDED)


class CtrlC:
    """A context in which Ctrl-C waits while `deferred` is true: a step overwrites the parameters.

    After the step release() lets it take effect, if it is `waiting`; after an error nobody calls that, since
    such a state must not be saved. deliver() does what Ctrl-C would have done. So with SIGTERM and SIGHUP
    where nobody handles them, but they raise Ending. A worker that hears one tells the others with its next
    sum, and all stop after this step. The context does nothing outside of the main thread, and where Ctrl-C
    does not call Python's handler.
    """

    def __init__(self, workers: Workers | None = None) -> None:
        self.deferred, self.waiting, self.workers = False, 0.0, workers or Workers()
        self.before: dict[int, Any] = {}

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler) if number == signal.SIGINT else handler == signal.SIG_DFL:
                    self.before[number] = signal.signal(number, self.hear)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self.before.items():
            if signal.getsignal(number) == self.hear:
                signal.signal(number, handler)

    def hear(self, number: int, frame: FrameType | None) -> None:
        weight = 1.0 if number == signal.SIGINT else ENDING
        if self.workers.size > 1:
            self.workers.heard = max(weight, self.workers.heard)
        elif self.deferred:
            self.waiting = max(weight, self.waiting)
        else:
            self.deliver(weight)

    def release(self) -> None:
        self.deferred = False
        if (weight := max(self.waiting, self.workers.stop)) >= 1:
            self.deliver(weight)

    def deliver(self, weight: float = 1.0) -> None:
        self.waiting = self.workers.heard = self.workers.stop = 0.0
        if weight >= ENDING:
            raise Ending
        self.before.get(signal.SIGINT, signal.default_int_handler)(signal.SIGINT, None)
