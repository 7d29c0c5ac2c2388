"""Pictures by matplotlib, which is imported when the first of them is drawn."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import XManError, extra
from .whole import refuse_unwritable


def refuse_undrawable(path: str | Path) -> None:
    """XManError where no picture could be drawn into path: said before what takes time."""
    extra("matplotlib.figure", "cli", "a plot")
    formats = extra("matplotlib.backend_bases", "cli", "a plot").FigureCanvasBase.get_supported_filetypes()
    if not isinstance(path, (str, Path)) or Path(path).suffix[1:].lower() not in formats:
        raise XManError(f"the plot {path} cannot be written: the ending says the format, as .png, .svg "
                         "or .pdf")
    refuse_unwritable(path)


@contextmanager
def drawing(path: str | Path | IO[bytes], width: float, height: float, *grid: int,
            **options: Any) -> Iterator[Any]:
    """A context with the axes of a figure, width × height inches; its end writes path, a .png, .svg or .pdf.

    grid, options: for several axes, as for Matplotlib's `subplots`. XManError where the file cannot be
    written.
    """
    figure = extra("matplotlib.figure", "cli", "a plot").Figure(figsize=(width, height), layout="constrained")
    yield figure.subplots(*grid, **options)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise XManError(f"the plot {path} could not be written: {error}") from error
