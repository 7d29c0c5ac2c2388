"""Pictures by matplotlib, which is imported when the first of them is drawn."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import XManError, extra


def figure(width: float, height: float) -> Any:
    """An empty figure of that size in inches. XManError where matplotlib is missing."""
    return extra("matplotlib.figure", "cli", "a plot").Figure(figsize=(width, height), layout="constrained")


def save_figure(drawn: Any, path: str | Path) -> None:
    """Write the figure to path, which ends in .png (or .svg, .pdf). XManError where that cannot be."""
    try:
        drawn.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise XManError(f"the plot {path} could not be written: {error}") from error
