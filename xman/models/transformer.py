"""A transformer that classifies sequences (Vaswani et al. 2017; with norms first, Xiong et al. 2020)."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import XManError
from ..register import Register
from ..register import XManFunctions as f
from .layers import Network, bias, glorot, normalized, refuse_other_sequences


class Transformer(Network):
    """Sequences X (n, steps, features) become outputs (n, classes), by blocks of attention and a perceptron.

        h = X·W0 + P                                        (n, steps, hidden); P tells the places apart
        h = h + attention(norm(h))·O                        heads side by side, each softmax(Q·Kᵀ/√d)·V
        h = h + relu(norm(h)·A + a)·B
        outputs = softmax(mean of norm(h) over the steps · W + b)

    features, hidden, classes, steps: the sizes above; hidden is a multiple of `heads`. blocks: how many.
    loss: as for `outputs_and_loss`. seed, dtype: of the first parameters. Raises XManError for other sizes.
    """

    def __init__(self, features: int, hidden: int, classes: int, *, steps: int = 10, heads: int = 2,
                 blocks: int = 1, loss: str = "softmaxCrossEntropy", seed: int = 0, dtype: type = np.float32):
        if heads < 1 or hidden % heads:
            raise XManError(f"{heads} heads do not divide {hidden} units: hidden is a multiple of heads")
        random = np.random.default_rng(seed)
        weights = lambda fan_in, fan_out: glorot(random, fan_in, fan_out, dtype)
        self.steps, self.heads, self.hidden = steps, heads, hidden
        super().__init__()
        self.W0, self.P = weights(features, hidden), weights(steps, hidden)
        h = self.X @ self.W0 + self.P
        for k in range(1, blocks + 1):
            self.layer(k, **{name: weights(hidden, hidden) for name in "QKVO"})
            h = h + self.attention(normalized(h, 2), k)
            A, a = weights(hidden, 2 * hidden), bias(random, 2 * hidden, dtype)
            B = weights(2 * hidden, hidden)
            h = h + f.relu(normalized(h, 2) @ A + a) @ B
            self.layer(k, A=A, a=a, B=B, h=h)
        self.W, self.b = weights(hidden, classes), bias(random, classes, dtype)
        self.score(f.mean(normalized(h, 2), 1) @ self.W + self.b, classes, loss)

    def attention(self, h: Register, k: int) -> Register:
        """softmax(Q·Kᵀ/√d)·V of each head (Vaswani et al., eq. 1), the heads side by side, times O."""
        width = self.hidden // self.heads

        def heads(name: str) -> Register:  # (n, heads, steps, width)
            return f.transpose(f.reshape(h @ getattr(self, f"{name}{k}"),
                                         (-1, self.steps, self.heads, width)), (0, 2, 1, 3))

        weights = f.softmax(heads("Q") @ f.mT(heads("K")) / width ** 0.5)
        self.layer(k, attention=weights)
        return (f.reshape(f.transpose(weights @ heads("V"), (0, 2, 1, 3)), (-1, self.steps, self.hidden))
                @ getattr(self, f"O{k}"))

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs for sequences X (n, steps, features) and targets y. XManError for other shapes."""
        refuse_other_sequences(self, X)
        return {"X": X, "y": y}
