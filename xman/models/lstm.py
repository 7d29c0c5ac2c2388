"""The course's LSTM, unrolled and many-to-one (Hochreiter and Schmidhuber 1997, with forget gates)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import XManError
from ..manager import XMan
from ..register import XManFunctions as f
from .parts import activation_called, bias, glorot, outputs_and_loss


class LSTM(XMan):
    """Reads `steps` inputs X1, X2, … (n, features) and gives outputs (n, classes) from the last hidden state.

        i = sigmoid(h·Ui + X·Wi + bi)       what comes in
        f = sigmoid(h·Uf + X·Wf + bf)       what is kept
        o = sigmoid(h·Uo + X·Wo + bo)       what goes out
        g = tanh(   h·Uc + X·Wc + bc)       what is new
        c = i*g + f*c,   h = o*tanh(c),   and at the end outputs = softmax(relu(h·W2 + b2))

    The states h0 and c0 begin as zeros (1, hidden), which serve every batch size. last: the activation before the
    softmax (None: none). loss: as `outputs_and_loss`.
    """

    def __init__(self, features: int, hidden: int, classes: int, *, steps: int = 10, last: str | None = "relu",
                 loss: str = "crossEntropy", seed: int = 0, dtype: type = np.float32):
        if not isinstance(steps, int) or steps < 1:
            raise XManError(f"the steps of an LSTM are a whole number, at least one, not {steps!r}")
        random = np.random.default_rng(seed)
        self.y = f.input()
        h = self.h0 = f.input(default=np.zeros((1, hidden), dtype))
        c = self.c0 = f.input(default=np.zeros((1, hidden), dtype))
        for gate in "ifoc":
            setattr(self, f"W{gate}", glorot(random, features, hidden, dtype))
            setattr(self, f"U{gate}", glorot(random, hidden, hidden, dtype))
            setattr(self, f"b{gate}", bias(random, hidden, dtype))
        self.W2, self.b2 = glorot(random, hidden, classes, dtype), bias(random, classes, dtype)
        self.steps = steps
        for t in range(1, steps + 1):
            X = f.input()
            i = f.sigmoid(h @ self.Ui + X @ self.Wi + self.bi)
            keep = f.sigmoid(h @ self.Uf + X @ self.Wf + self.bf)
            o = f.sigmoid(h @ self.Uo + X @ self.Wo + self.bo)
            g = f.tanh(h @ self.Uc + X @ self.Wc + self.bc)
            c = i * g + keep * c
            h = o * f.tanh(c)
            for name, register in (("X", X), ("c", c), ("h", h)):
                setattr(self, f"{name}{t}", register)
        scores = h @ self.W2 + self.b2
        self.scores = activation_called(last)(scores) if last else scores
        self.outputs, self.loss = outputs_and_loss(self.scores, self.y, loss)
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs of the list for sequences X (n, steps, features) and targets y. XManError for other shapes."""
        if np.ndim(X) != 3 or X.shape[1] != self.steps:
            raise XManError(f"this LSTM reads sequences (n, {self.steps}, features), not an array of shape {np.shape(X)}")
        return {**{f"X{t}": X[:, t - 1] for t in range(1, self.steps + 1)}, "y": y}
