"""Adaptive basis function regression (Adams, Computing Gradients with Backpropagation, eqs. 1 to 5)."""
from __future__ import annotations

from itertools import chain, combinations_with_replacement, count, islice
from typing import Any

import numpy as np

from ..errors import XManError, refuse_unknown
from ..manager import XMan
from ..register import XManFunctions as f
from .layers import bias, glorot

KINDS = "polynomial", "rbf", "tanh"


class AdaptiveBasis(XMan):
    """f(x) = wᵀ Φ_θ(x) + b of a row x, with loss ½ Σ (f(x_n) − y_n)², where θ is learnt as w and b are.

        kind        Φ_θ(x), column k               θ, (columns, functions) where they begin
        polynomial  Π_d x_d^θ_dk, for x > 0        exponents               monomials by degree: 1, 2, …
        rbf         exp(−Σ_d (x_d − θ_dk)²/θ′_dk)  centers θ, scales θ′    cell k's middle, width squared
        tanh        tanh(Σ_d x_d θ_dk + θ′_k)      scales θ, locations θ′  1/width, 0 at cell k's middle

    kind: as above. functions: how many, the columns of Φ. columns: those of a row x; the notes have one, d =
    1. low, high: the range of the data, or of each column, which is cut into one cell per function; where low
    < 0, a polynomial is one of (x − low)/(high − low) + 1/functions, and x below low counts as low. With
    several columns each has its cells in an order of its own (a Latin hypercube), a width is (high −
    low)/functions^(1/columns), a scale of rbf is its square times the columns, and tanh rises in a random
    direction. seed: of all this, and of w (functions, 1) and b (1, 1). dtype: of the parameters. mean:
    whether the loss is the mean over rows; the notes' is a sum, for which a rate that is right for n rows is
    too large for 10 n. With the mean, a scale of rbf counts as a hundredth of its first value at least;
    without, one that falls below 0 lets the function grow without bound.
    """

    def __init__(self, kind: str, functions: int, *, columns: int = 1, low: Any = 0.0, high: Any = 1.0,
                 seed: int = 0, dtype: type = np.float32, mean: bool = False):
        refuse_unknown([kind], KINDS, "there is no basis {!r}")
        for word, n in ("functions", functions), ("columns", columns):
            if not isinstance(n, (int, np.integer)) or n < 1:
                raise XManError(f"the {word} of a basis are a whole number, at least one, not {n!r}")
        low, high = ends = [np.ravel(end)[:, None] for end in (low, high)]  # (1, 1) or (columns, 1)
        fit = all(len(end) in (1, columns) and np.isfinite(end).all() for end in ends)
        if not (fit and np.all(low < high)):
            raise XManError("a basis is spread from low to high, two finite numbers in that order, or two "
                            f"for each column, not {low.ravel().tolist()} and {high.ravel().tolist()}")
        random, one = np.random.default_rng(seed), columns == 1
        cells = [np.arange(functions), *(random.permutation(functions) for _ in range(columns - 1))]
        middles = low + (high - low) / functions * (np.array(cells) + 0.5)
        width = (high - low) / functions ** (1 / columns)
        theta = lambda values, rows=columns: f.param(
            default=np.array(np.broadcast_to(values, (rows, functions)), dtype))
        self.X, self.y = f.input(), f.input()
        self.w, self.b = glorot(random, functions, 1, dtype), bias(random, 1, dtype)
        x, over = self.X if one else self.X[:, :, None], lambda reduced, e: e if one else reduced(e, 1)
        self.shifted = bool(np.any(low < 0))
        if kind == "polynomial":
            if self.shifted:
                x = f.maximum((x - low) / (high - low), 0.0) + 1 / functions
            monomials = chain.from_iterable(combinations_with_replacement(range(columns), degree)
                                            for degree in count(1))
            self.exponents = theta(np.transpose([np.bincount(m, minlength=columns)
                                                 for m in islice(monomials, functions)]))
            self.basis = over(f.prod, x ** self.exponents)
        elif kind == "rbf":
            self.centers, self.scales = theta(middles), theta(columns * width ** 2)
            least = np.asarray(columns * width ** 2 / 100, dtype)
            scales = f.maximum(self.scales, least) if mean else self.scales
            self.basis = f.exp(over(f.sum, -f.square(x - self.centers) / scales))
        else:
            directions = np.ones((1, functions)) if one else random.standard_normal((columns, functions))
            slopes = directions / np.linalg.norm(directions, axis=0) / width
            self.scales, self.locations = theta(slopes), theta(-np.sum(middles * slopes, 0), 1)
            self.basis = f.tanh(self.X @ self.scales + self.locations)
        self.outputs = self.basis @ self.w + self.b
        self.loss = f.half((f.mean if mean else f.sum)(f.square(self.outputs - self.y)))
        self.kind, self.columns = kind, columns
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs for rows X (n, columns) or (n,), and targets y, (n,) or (n, 1). XManError for others."""
        X, y = as_columns(X, self.columns, "X"), None if y is None else as_columns(y, 1, "y")
        checked = self.kind == "polynomial" and not self.shifted and isinstance(X, np.ndarray)
        if checked and (low := X.min(initial=np.inf)) <= 0:
            raise XManError(f"x^θ needs x > 0, found x = {low:g}; shift the data, or take the basis rbf or "
                            "tanh")
        return {"X": X, "y": y}


def as_columns(x: Any, columns: int, name: str) -> np.ndarray:
    """x, an array, a sparse matrix, or (n,) for one column, as an array (n, columns). name: for the error."""
    x = x.toarray() if hasattr(x, "toarray") else x if hasattr(x, "shape") else np.asarray(x)
    if x.shape[1:] != (columns,) and (columns != 1 or x.ndim != 1):
        raise XManError(f"this regression is of one number on a row of them: {name} is "
                        f"{'(n,) or (n, 1)' if columns == 1 else f'(n, {columns})'}, not of shape {x.shape}")
    return x.reshape(-1, columns) if len(x.shape) == 1 else x
