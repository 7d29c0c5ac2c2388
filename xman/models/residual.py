"""A perceptron with skips (He et al. 2016), norms (Ba et al. 2016) and dropout (Srivastava et al. 2014)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import XManError
from ..register import Register
from ..register import XManFunctions as f
from .layers import Network, activation_called, bias, glorot, normalized


class ResidualMLP(Network):
    """h0 = X·W0 + b0, blocks h1 = h0 + relu(norm(h0)·W1 + b1)·V1, …, and outputs = softmax(h·W + b).

    features, hidden, classes: the columns of X (n, features), of each h and of the outputs. blocks: how many.
    normalization: "layer" normalises each row by its own mean and variance; "batch" each column, by those of
    the minibatch while `fit` trains, and later by the running ones mean1, variance1, …; None does nothing.
    dropout: the share of a block's entries that a step of `fit` leaves out. activation, loss, seed, dtype: as
    for `MLP`. Values that fit draws and updates are inputs of the list; evaluation takes their defaults.
    """

    def __init__(self, features: int, hidden: int, classes: int, *, blocks: int = 2,
                 normalization: str | None = "layer", dropout: float = 0.0, activation: str = "relu",
                 loss: str = "softmaxCrossEntropy", seed: int = 0, dtype: type = np.float32):
        if normalization not in ("layer", "batch", None):
            raise XManError(f"the normalization is 'layer', 'batch' or None, not {normalization!r}")
        if not 0 <= dropout < 1:
            raise XManError(f"dropout is the share that is left out, at least 0 and below 1, not {dropout!r}")
        random, act = np.random.default_rng(seed), activation_called(activation)
        self.dropout, self.hidden, self.running = dropout, hidden, []
        super().__init__()
        if normalization == "batch":
            self.training = f.input(default=dtype(0))
        self.W0, self.b0 = glorot(random, features, hidden, dtype), bias(random, hidden, dtype)
        h = self.h0 = self.X @ self.W0 + self.b0
        for k in range(1, blocks + 1):
            W, b = glorot(random, hidden, hidden, dtype), bias(random, hidden, dtype)
            layer = {"W": W, "b": b, "V": glorot(random, hidden, hidden, dtype)}
            inside = normalized(h, 1) if normalization == "layer" else h
            if normalization == "batch":
                inside = self.over_batch(h, k, dtype)
            inside = act(inside @ layer["W"] + layer["b"])
            if dropout:
                layer["mask"] = f.input(default=np.ones((1, hidden), dtype))
                inside = inside * layer["mask"]
            h = layer["h"] = h + inside @ layer["V"]
            self.layer(k, **layer)
        self.W, self.b = glorot(random, hidden, classes, dtype), bias(random, classes, dtype)
        self.score(h @ self.W + self.b, classes, loss)

    def over_batch(self, h: Register, k: int, dtype: type, momentum: float = 0.1) -> Register:
        """h with each column normalised (Ioffe and Szegedy 2015, algorithms 1 and 2)."""
        statistics, mean, variance = [], f.mean(h, 0, True), f.var(h, 0, True)
        for name, now, begin in (f"mean{k}", mean, np.zeros), (f"variance{k}", variance, np.ones):
            running = f.input(default=begin((1, self.hidden), dtype))
            self.running.append(name)
            setattr(self, name, running)
            setattr(self, f"{name}_next", running + momentum * (now - running))
            statistics.append(running + self.training * (now - running))
        return (h - statistics[0]) / f.sqrt(statistics[1] + 1e-5)

    def draw(self, random: Any, rows: np.ndarray) -> dict[str, Any]:
        """The inputs of a training step for the rows with these numbers: a flag that it is one, and masks."""
        keep, dtype, shape = 1 - self.dropout, self.W.default.dtype, (len(rows), self.hidden)
        names = [name for name in vars(self) if name.startswith("mask")]
        masks = {name: (random.random(shape) < keep).astype(dtype) / keep for name in names}
        return masks | ({"training": dtype.type(1)} if self.running else {})
