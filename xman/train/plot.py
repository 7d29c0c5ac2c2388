"""Pictures of training: the learning curve, and a fitted curve with the basis functions that it sums."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from ..files.figures import drawing
from ..interpreters import eval
from ..manager import XMan
from .evaluation import feed, list_of, rows_and_labels


def learning_curve(history: Sequence[dict], path: str | Path | IO[bytes]) -> None:
    """Draw the losses, and the accuracy, over the epochs into path, a .png, .svg or .pdf.

    history: that of a `Result`. XManError without Matplotlib."""
    epochs, losses, validation, accuracy = ([row[name] for row in history if name in row] for name in (
        "epoch", "loss", "validation_loss", "validation_accuracy"))
    with drawing(path, 7, 4) as axes:
        axes.plot(epochs, losses, marker=".", label="training loss")
        if validation:
            best = int(np.argmin(validation))
            axes.plot(epochs, validation, marker=".", label="validation loss")
            axes.plot(epochs[best], validation[best], "o", fillstyle="none", ms=12, color="C1", label="best")
        axes.set(xlabel="epoch", ylabel="loss")
        if axes.get_ylim()[0] > 0 or min(losses, default=0) >= 0:
            axes.set_ylim(0, None)
        handles, labels = axes.get_legend_handles_labels()
        if accuracy:
            right = axes.twinx()
            handles += right.plot(epochs, 100 * np.array(accuracy), "--", color="C2")
            labels.append("validation accuracy")
            right.set(ylabel="accuracy, %")
        axes.legend(handles, labels, loc="center right")
        axes.grid(alpha=0.3)
        axes.xaxis.get_major_locator().set_params(integer=True)


def basis_curve(model: XMan, parameters: dict[str, np.ndarray], data: tuple, path: str | Path) -> None:
    """Draw the rows, the fitted curve and, faintly, the functions wₖ φₖ(x) whose sum, with the bias, it is.

    model: an AdaptiveBasis, or a model with its registers basis (n, k), w (k, 1) and outputs (n, 1).
    parameters: by name, as a `Result` has them. data: a pair (X, y), each (n,) or (n, 1). path: a .png, .svg
    or .pdf. XManError as for `learning_curve`.
    """
    X, y = rows_and_labels(data, "data")
    steps, x = list_of(model, "outputs", "basis"), np.linspace(X.min(), X.max(), 400)[:, None]
    values = eval(steps, {**model.inputDict(), **parameters, **feed(model, x, None)})
    with drawing(path, 7, 4) as axes:
        axes.plot(X, y, ".", color="0.5", label="data")
        axes.plot(x, values["outputs"], color="C1", linewidth=2, label="fit")
        axes.margins(y=0.5)
        axes.set_ylim(axes.get_ylim())  # functions drawn after this may leave the picture, as x⁴ and −x⁴ do
        faint = axes.plot(x, values["basis"] * values["w"].T, color="C0", alpha=0.4, linewidth=1)
        faint[0].set_label(r"$w_k\,\phi_k(x)$")
        axes.set(xlabel="x", ylabel="y")
        axes.legend()
        axes.grid(alpha=0.3)
