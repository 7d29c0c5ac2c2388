"""Each function draws a picture into path, a .png, .svg or .pdf, and returns the numbers that it shows.
XManError where Matplotlib is missing or the file cannot be written."""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import XManError
from ..files.figures import drawing
from ..matrices import Hessian
from ..passes import ALGEBRA, EXACT, gradient, simplify
from ..wengert import Steps, checked_list, known_registers


def confusion_picture(truth: Any, predicted: Any, path: str | Path,
                      classes: Sequence[str] | None = None) -> np.ndarray:
    """The counts (k, k) of rows of class i (row i) that were taken for class j (column j), drawn into path.

    truth, predicted: numbers of classes from 0 on, (n,). classes: their names (None: the numbers)."""
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    class_numbers = all(x.dtype.kind in "iu" and x.min(initial=0) >= 0 for x in (truth, predicted))
    if truth.shape != predicted.shape or truth.ndim != 1 or truth.size == 0 or not class_numbers:
        raise XManError("truth and predicted are numbers of classes from 0 on, one a row; found the shapes "
                        f"{truth.shape} and {predicted.shape}, of {truth.dtype} and {predicted.dtype}")
    n = max(int(max(truth.max(), predicted.max())) + 1, len(classes or ()))
    pairs = np.ravel_multi_index((truth, predicted), (n, n))
    counts = np.bincount(pairs, minlength=n * n).reshape(n, n)
    share, named = counts / np.maximum(counts.sum(1, keepdims=True), 1), list(classes or map(str, range(n)))
    with drawing(path, 1.5 + 0.5 * n, 1 + 0.5 * n) as axes:
        axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
        for i, j in np.argwhere(counts):
            colour = "white" if share[i, j] > 0.5 else "black"
            axes.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", color=colour)
        axes.set(xlabel="taken for", ylabel="is")
        axes.set_xticks(range(n), named)
        axes.set_yticks(range(n), named)
    return counts


def weight_images(W: Any, shape: tuple[int, int], path: str | Path) -> np.ndarray:
    """The columns of W (height·width, classes) as images, (classes, height, width), blue below 0.

    shape: (height, width). path: the file, in which all images share one scale."""
    W = np.asarray(W)
    if W.ndim != 2 or W.shape[0] != math.prod(shape):
        raise XManError(f"W has shape {W.shape}, and images of {shape[0]}×{shape[1]} want "
                        f"({math.prod(shape)}, classes)")
    images, strongest = W.T.reshape(-1, *shape), np.abs(W).max(initial=0) or 1.0
    across = min(5, len(images))
    down = -(-len(images) // across)
    with drawing(path, 1.6 * across, 1.8 * down, down, across, squeeze=False) as grid:
        for axes in grid.flat:
            axes.set_axis_off()
        for k, (axes, image) in enumerate(zip(grid.flat, images, strict=False)):
            axes.imshow(image, cmap="RdBu_r", vmin=-strongest, vmax=strongest)
            axes.set(title=str(k))
    return images


def decision_regions(predict: Callable[[np.ndarray], np.ndarray], X: Any, labels: Any,
                     path: str | Path) -> np.ndarray:
    """The class that `predict` gives at each point of a grid, (200, 200), drawn into path under the rows X.

    predict: from rows (m, 2) to classes (m,) or probabilities (m, k). X: rows (n, 2), with labels (n,)."""
    X, labels = np.asarray(X), np.asarray(labels)
    if X.ndim != 2 or X.shape[1] != 2 or labels.shape != X.shape[:1]:
        raise XManError(f"regions are of rows of two numbers with a label each; found the shapes {X.shape} "
                        f"and {labels.shape}")
    low, high = X.min(0), X.max(0)
    rim = 0.1 * np.where(high > low, high - low, 1)
    a, b = (np.linspace(low[k] - rim[k], high[k] + rim[k], 200) for k in (0, 1))
    predictions = np.asarray(predict(np.stack(np.meshgrid(a, b), -1).reshape(-1, 2)))
    regions = (predictions.argmax(-1) if predictions.ndim == 2 else predictions).reshape(200, 200)
    span, ends = {"cmap": "tab10", "vmin": 0, "vmax": 9}, (a[0], a[-1], b[0], b[-1])
    with drawing(path, 5, 4.5) as axes:
        axes.imshow(regions, origin="lower", extent=ends, aspect="auto", alpha=0.3, **span)
        axes.scatter(*X.T, c=labels, edgecolors="black", linewidths=0.4, s=18, **span)
    return regions


def hessian_spectrum(steps: Steps, of: str, wrt: Sequence[str], values: Mapping[str, Any],
                     path: str | Path) -> np.ndarray:
    """The eigenvalues, the least first, of the Hessian ∂²of/∂wrt² at values, drawn into path.

    steps: the list. of: a register that is a number. wrt: names of inputs. values: all inputs by name."""
    matrix = Hessian(steps, of, wrt)(values)
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    below = f"{(eigenvalues < 0).sum()} of {len(eigenvalues)} below 0"
    with drawing(path, 6, 3.5) as axes:
        axes.plot(range(1, len(eigenvalues) + 1), eigenvalues, ".")
        axes.axhline(0, color="0.6", linewidth=0.8)
        axes.set(xlabel="number", ylabel="eigenvalue", title=below)
    return eigenvalues


def growth_of_derivatives(steps: Steps, of: str, wrt: Collection[str], likes: Mapping[str, Any],
                          orders: int, path: str | Path) -> np.ndarray:
    """How many lines the lists of the derivatives 0 to `orders` have: (orders + 1, 2), drawn into path.

    Column 0 counts lines as the rules write them, column 1 lines as `simplify` leaves them. steps: the list.
    of, wrt: registers that are numbers. likes: an example of each input."""
    written, short, counts = checked_list(steps), checked_list(steps), []
    (of,) = known_registers(written, of, "of", one=True)
    (wrt,) = known_registers(written, wrt, "wrt", one=True)
    names = [of, of]
    for order in range(orders + 1):
        counts.append((len(written), len(short)))
        if order < orders:
            written, short = gradient(written, names[0], [wrt]), gradient(short, names[1], [wrt])
            names = [f"d{name}_d{wrt}" for name in names]
            short = simplify(short, [names[1]], likes, (*EXACT, *ALGEBRA))
    with drawing(path, 6, 3.5) as axes:
        axes.plot(counts, marker="o", label=["as the rules write them", "simplified"])
        axes.set(xlabel="order of the derivative", ylabel="lines", yscale="log", xticks=range(orders + 1))
        axes.legend()
    return np.array(counts)
