"""The learning curve as a picture."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import XManError, extra


def check_plot(path: str | Path) -> None:
    """Raise XManError now where `learning_curve` would after hours: matplotlib is missing, or the folder is."""
    extra("matplotlib.figure", "cli", "a plot")
    if not Path(path).parent.is_dir() or Path(path).is_dir():
        raise XManError(f"the plot {path} cannot be written: there is no such folder, or a folder has that name")


def learning_curve(history: Sequence[dict], path: str | Path) -> None:
    """Draw loss, and accuracy where there is one, against the epoch; path ends in .png (or .svg, .pdf).

    XManError where matplotlib is missing or the file cannot be written.
    """
    figure = extra("matplotlib.figure", "cli", "a plot").Figure(figsize=(7, 4), layout="constrained")
    axes, epochs = figure.add_subplot(), [row["epoch"] for row in history]
    axes.plot(epochs, [row["loss"] for row in history], marker=".", label="training loss")
    if history and "validation_loss" in history[0]:
        axes.plot(epochs, [row["validation_loss"] for row in history], marker=".", label="validation loss")
        best = min(history, key=lambda row: row["validation_loss"])
        axes.plot(best["epoch"], best["validation_loss"], "o", fillstyle="none", markersize=12, color="C1", label="best")
    axes.set(xlabel="epoch", ylabel="loss")
    if axes.get_ylim()[0] > 0 or all(row["loss"] >= 0 for row in history):
        axes.set_ylim(0, None)
    handles, labels = axes.get_legend_handles_labels()
    if history and "validation_accuracy" in history[0]:
        right = axes.twinx()
        handles += right.plot(epochs, [100 * row["validation_accuracy"] for row in history], "--", color="C2")
        labels.append("validation accuracy")
        right.set(ylabel="accuracy, %")
    axes.legend(handles, labels, loc="center right")
    axes.grid(alpha=0.3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise XManError(f"the plot {path} could not be written: {error}") from error
