"""The progress that a run shows."""
from __future__ import annotations

import sys
from contextlib import AbstractContextManager, suppress

LINE = {"epoch": "epoch {:3d}", "loss": "loss {:.4f}", "validation_loss": "validation {:.4f}",
        "validation_accuracy": "accuracy {:.2%}", "seconds": "{:.2f} s"}


class Progress(AbstractContextManager):
    """A context that shows a bar on a terminal, and elsewhere, or without tqdm, a line per epoch.

    The run calls step() after each minibatch and line(row) after each epoch. All goes to the error stream.
    """

    def __init__(self, visible: bool, total: int, done: int):
        self.visible, self.bar = visible, None
        if visible and sys.stderr.isatty():
            with suppress(ImportError):  # without tqdm there are lines
                from tqdm import tqdm
                self.bar = tqdm(total=total, initial=done, unit="batch", leave=False, file=sys.stderr)

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self) -> None:
        if self.bar is not None:
            self.bar.update()

    def line(self, row: dict) -> None:
        if self.visible:
            text = "  ".join(form.format(row[key]) for key, form in LINE.items() if key in row)
            (print if self.bar is None else self.bar.write)(text, file=sys.stderr)
            sys.stderr.flush()
