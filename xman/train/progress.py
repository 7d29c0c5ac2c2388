"""What a run shows while it goes: a bar on a terminal, plain lines elsewhere, both on the error stream."""
from __future__ import annotations

import sys


class Progress:
    """A context: step() after each minibatch, line(row) after each epoch. Without tqdm a terminal gets the lines too."""

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
