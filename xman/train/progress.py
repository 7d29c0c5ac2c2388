"""What a run shows while it goes, and when it hears Ctrl-C."""
from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

from ..scale.mpi import Workers

LINE = {"epoch": "epoch {:3d}", "loss": "loss {:.4f}", "validation_loss": "validation {:.4f}",
        "validation_accuracy": "accuracy {:.2%}", "seconds": "{:.2f} s"}


class Progress:
    """A context: step() after each minibatch, line(row) after each epoch: a bar on a terminal, else lines.

    Both are on the error stream. Without tqdm a terminal gets the lines too.
    """

    def __init__(self, wanted: bool, total: int, done: int):
        self.wanted, self.bar = wanted, None
        if wanted and sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:  # the lines say the same
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
    """A context in which Ctrl-C waits while `held` is true, in a step that overwrites the parameters.

    After it `held` is set to False, and if Ctrl-C is `waiting`, deliver() does what Ctrl-C would have done.
    Of several workers one that hears it tells the others with its next sum, and all stop after that step. In
    any thread but the main one, and where Ctrl-C is not Python's, it does nothing.
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
