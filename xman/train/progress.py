"""What a run shows while it goes, and when it hears Ctrl-C."""
from __future__ import annotations

import signal
import sys
import threading
from types import FrameType


class Progress:
    """A context: step() after each minibatch, line(row) after each epoch: a bar on a terminal, plain lines elsewhere.

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
        if not self.wanted:
            return
        text = f"epoch {row['epoch']:3d}  loss {row['loss']:.4f}"
        if "validation_loss" in row:
            text += f"  validation {row['validation_loss']:.4f}"
        if "validation_accuracy" in row:
            text += f"  accuracy {row['validation_accuracy']:.2%}"
        text += f"  {row['seconds']:.2f} s"
        if self.bar is not None:
            self.bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)


class CtrlC:
    """A context in which Ctrl-C waits while `held` is true, as a step is that overwrites the parameters where they are.

    After it `held` is set to False, and if Ctrl-C is `waiting`, deliver() does what Ctrl-C would have done. Python hears
    signals in the main thread alone: in any other, and where Ctrl-C is not handled by Python, this context does nothing.
    """

    def __init__(self) -> None:
        self.held = self.waiting = False
        self.before = None

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread() and callable(before := signal.getsignal(signal.SIGINT)):
            self.before = before
            signal.signal(signal.SIGINT, self.hear)
        return self

    def __exit__(self, *_) -> None:
        if self.before and signal.getsignal(signal.SIGINT) == self.hear:
            signal.signal(signal.SIGINT, self.before)

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.held:
            self.waiting = True
        else:
            self.before(number, frame)

    def deliver(self) -> None:
        self.waiting = False
        self.before(signal.SIGINT, None)
