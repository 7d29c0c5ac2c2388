"""Pictures by matplotlib, which is imported when the first of them is drawn."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import XManError, extra


@contextmanager
def drawing(path: str | Path | IO[bytes], width: float, height: float, *grid: int,
            **how: Any) -> Iterator[Any]:
    """The axes of a figure of that size in inches, which is written to path, .png, .svg or .pdf, at the end.

    grid, how: for several axes, as Matplotlib's `subplots` has them. XManError where that cannot be.
    """
    figure = extra("matplotlib.figure", "cli", "a plot").Figure(figsize=(width, height), layout="constrained")
    yield figure.subplots(*grid, **how)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise XManError(f"the plot {path} could not be written: {error}") from error
