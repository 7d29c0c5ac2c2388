"""Adaptive basis function regression (Adams, Computing Gradients with Backpropagation, eqs. 1 to 5)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import XManError, nearest
from ..manager import XMan
from ..register import XManFunctions as f
from .parts import bias, glorot

KINDS = "polynomial", "rbf", "tanh"


class AdaptiveBasis(XMan):
    """f(x) = wᵀ Φ_θ(x) + b of one number x, with loss ½ Σ (f(x_n) − y_n)², where θ is learnt as w and b are.

        kind          Φ_θ(x), column k          θ in registers (1, functions)    where they begin
        polynomial    x^θ_k, for x > 0          exponents                        1, 2, 3, …
        rbf           exp(−(x − θ_k)²/θ′_k)     centers θ, scales θ′             cell k's middle, its width squared
        tanh          tanh(x θ_k + θ′_k)        scales θ, locations θ′           1/width, and 0 at cell k's middle

    functions: how many, the columns of Φ. low, high: the range of the data, cut into as many cells of one width; exponents
    have no use for it. seed: of w (functions, 1) and b (1, 1). The loss is a sum over the batch, not a mean, so a rate
    that serves n rows is too large for 10 n. An rbf's scale that descends below 0 is a function that grows without bound.
    """

    def __init__(self, kind: str, functions: int, *, low: float = 0.0, high: float = 1.0, seed: int = 0,
                 dtype: type = np.float32):
        if kind not in KINDS:
            raise XManError(f"there is no basis {kind!r}{nearest(str(kind), KINDS)}; the bases are {', '.join(KINDS)}")
        if not isinstance(functions, (int, np.integer)) or functions < 1:
            raise XManError(f"the functions of a basis are a whole number, at least one, not {functions!r}")
        if not -np.inf < low < high < np.inf:
            raise XManError(f"a basis is spread from low to high, two finite numbers in that order, not {low!r} and {high!r}")
        random, width = np.random.default_rng(seed), (high - low) / functions
        middles = low + width * (np.arange(functions) + 0.5)
        theta = lambda values: f.param(default=np.full((1, functions), values, dtype))
        self.X, self.y = f.input(), f.input()
        self.w, self.b = glorot(random, functions, 1, dtype), bias(random, 1, dtype)
        if kind == "polynomial":
            self.exponents = theta(np.arange(1, functions + 1))
            self.basis = self.X ** self.exponents
        elif kind == "rbf":
            self.centers, self.scales = theta(middles), theta(width ** 2)
            self.basis = f.exp(-f.square(self.X - self.centers) / self.scales)
        else:
            self.scales, self.locations = theta(1 / width), theta(-middles / width)
            self.basis = f.tanh(self.X * self.scales + self.locations)
        self.outputs = self.basis @ self.w + self.b
        self.loss = f.half(f.sum(f.square(self.outputs - self.y)))
        self.kind = kind
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs of the list for numbers X and targets y, each (n,) or (n, 1). XManError for others, and x ≤ 0 in x^θ."""
        X, y = column(X, "X"), None if y is None else column(y, "y")
        if self.kind == "polynomial" and (low := X.min(initial=np.inf)) <= 0:
            raise XManError(f"x^θ needs x > 0, found x = {low:g}; shift the data, or take the basis rbf or tanh")
        return {"X": X, "y": y}


def column(x: Any, name: str) -> np.ndarray:
    """x (n,) or (n, 1) as a column (n, 1)."""
    x = np.asarray(x)
    if x.shape not in ((x.size,), (x.size, 1)):
        raise XManError(f"this regression is of one number on another: {name} is (n,) or (n, 1), not of shape {x.shape}")
    return x.reshape(-1, 1)
