"""The progress that a run shows, and its handling of Ctrl-C."""
from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

from ..scale.mpi import Workers

LINE = {"epoch": "epoch {:3d}", "loss": "loss {:.4f}", "validation_loss": "validation {:.4f}",
        "validation_accuracy": "accuracy {:.2%}", "seconds": "{:.2f} s"}


class Progress:
    """A context that shows a bar on a terminal, and elsewhere, or without tqdm, a line per epoch.

    The run calls step() after each minibatch and line(row) after each epoch. All goes to the error stream.
    """

    def __init__(self, wanted: bool, total: int, done: int):
        self.wanted, self.bar = wanted, None
        if wanted and sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:  # without tqdm there are lines
                return
            self.bar = tqdm(total=total, initial=done, unit="batch", leave=False, file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self) -> None:
        if self.bar is not None:
            self.bar.update()

    def line(self, row: dict) -> None:
        if self.wanted:
            text = "  ".join(form.format(row[key]) for key, form in LINE.items() if key in row)
            (print if self.bar is None else self.bar.write)(text, file=sys.stderr)
            sys.stderr.flush()


class CtrlC:
    """A context in which Ctrl-C waits while `held` is true: during a step, which overwrites the parameters.

    After the step the run sets `held` to False, and if Ctrl-C is `waiting`, deliver() does what Ctrl-C would
    have done. A worker that hears Ctrl-C tells the others with its next sum, and all stop after this step.
    The context does nothing outside of the main thread, and where Ctrl-C does not call Python's handler.
    """

    def __init__(self, workers: Workers | None = None) -> None:
        self.held = self.waiting = False
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
        elif self.held:
            self.waiting = True
        else:
            self.before(number, frame)

    def deliver(self) -> None:
        self.waiting = self.workers.heard = self.workers.stop = False
        self.before(signal.SIGINT, None)
