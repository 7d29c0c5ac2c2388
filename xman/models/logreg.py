"""Softmax regression (Cohen, Automatic Reverse-Mode Differentiation, §1.2)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..manager import XMan
from ..register import XManFunctions as f
from .parts import bias, column, glorot, outputs_and_loss, rows


class LogisticRegression(XMan):
    """f(X, y, W) = mean crossEntropy(softmax(X·W + b), y) + penalty · frobeniusNorm(W).

    features, classes: the columns of X (n, features), dense or SciPy-sparse, and of the outputs (n, classes).
    loss: as `outputs_and_loss`; penalty: the weight of the norm, which the notes set to 1 and is left out at 0.
    """

    def __init__(self, features: int, classes: int, *, loss: str = "softmaxCrossEntropy", penalty: float = 0.0,
                 seed: int = 0, dtype: type = np.float32):
        random = np.random.default_rng(seed)
        self.X, self.y = f.input(), f.input()
        self.W, self.b = glorot(random, features, classes, dtype), bias(random, classes, dtype)
        self.scores = self.X @ self.W + self.b
        self.outputs, self.loss = outputs_and_loss(self.scores, self.y, loss)
        if penalty:
            self.loss = self.loss + penalty * f.frobeniusNorm(self.W)
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs of the list for rows X, (n, …) flattened to (n, features), and targets y."""
        return {"X": rows(X), "y": column(y)}
