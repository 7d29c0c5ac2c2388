"""Generalised linear models: X·W + b, a link, its loss (Cohen's notes, §1.2; McCullagh and Nelder 1989)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..register import XManFunctions as f
from .layers import Network, bias, glorot, outputs_and_loss


class Linear(Network):
    """The base of models with scores = X·W + b (n, outputs), of rows X (n, features), dense or sparse."""

    def __init__(self, features: int, outputs: int, *, seed: int = 0, dtype: type = np.float32):
        random = np.random.default_rng(seed)
        super().__init__()
        self.W, self.b = glorot(random, features, outputs, dtype), bias(random, outputs, dtype)
        self.scores, self.width = self.X @ self.W + self.b, outputs


class LinearRegression(Linear):
    """outputs = X·W + b, loss = mean ½(outputs − y)² + ½ ridge Σ W²; ridge above 0 makes it ridge regression.

    features, outputs: the columns of X and of y. The loss is a mean over rows and targets, so ridge is what
    others call α or λ, divided by their number. options: seed and dtype, of the first parameters.
    """

    def __init__(self, features: int, outputs: int = 1, *, ridge: float = 0.0, **options: Any):
        super().__init__(features, outputs, **options)
        self.outputs, self.loss = outputs_and_loss(self.scores, self.y, "squaredError")
        if ridge:
            self.loss = self.loss + ridge * f.half(f.squaredNorm(self.W))
        self.setup()


class PoissonRegression(Linear):
    """outputs = exp(X·W + b), rates of counts y; loss = mean(outputs − y·scores), −log p(y) without log y!.

    features, outputs, options: as for `LinearRegression`. largest: outputs end there (None: nowhere), since
    a row beyond those of training may have any rate: at a score of 10 above theirs 22,000 times as large."""

    def __init__(self, features: int, outputs: int = 1, *, largest: float | None = None, **options: Any):
        super().__init__(features, outputs, **options)
        self.outputs = rates = f.exp(self.scores)
        self.loss = f.mean(rates - self.y * self.scores)
        if largest is not None:
            self.outputs = f.minimum(rates, largest)
        self.setup()


class LogisticRegression(Linear):
    """f(X, y, W) = mean crossEntropy(softmax(X·W + b), y) + penalty · frobeniusNorm(W): softmax regression.

    features: the columns of X. classes: the columns of the outputs (n, classes); a single one tells class 1
    from class 0, with the loss sigmoidCrossEntropy. loss: as for `outputs_and_loss`. penalty: the weight of
    the norm (the notes have 1). options: seed and dtype, of the first parameters.
    """

    def __init__(self, features: int, classes: int, *, loss: str | None = None, penalty: float = 0.0,
                 **options: Any):
        super().__init__(features, classes, **options)
        loss = loss or ("softmaxCrossEntropy" if classes > 1 else "sigmoidCrossEntropy")
        self.outputs, self.loss = outputs_and_loss(self.scores, self.y, loss)
        if penalty:
            self.loss = self.loss + penalty * f.frobeniusNorm(self.W)
        self.setup()
