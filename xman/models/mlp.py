"""The multilayer perceptron (Bishop, Deep Learning, §8.1.2 and 8.1.3; the course's)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import XManError
from ..register import XManFunctions as f
from .layers import Network, activation_called, bias, glorot


class MLP(Network):
    """h1 = tanh(X·W1 + b1), h2 = tanh(h1·W2 + b2), …, outputs = softmax(h·Wn + bn).


    sizes: the numbers of columns of X (n, sizes[0]), of each hidden layer and of the outputs.
    activation: the name of an entrywise operator, as tanh, relu, sigmoid, gelu, or a function of your own.
    last: an activation for the last layer too (None: none).
    loss: as for `outputs_and_loss`.
    dropout: the share of a hidden layer's entries that a step of `fit` leaves out.
    seed, dtype: of the first parameters, and their precision.

    The course's is MLP([p, h, k], activation="relu", last="relu", loss="crossEntropy").
    """

    def __init__(self, sizes: Sequence[int], *, activation: str | Callable = "tanh",
                 last: str | Callable | None = None, loss: str = "softmaxCrossEntropy", dropout: float = 0.0,
                 seed: int = 0, dtype: type = np.float32):
        if len(sizes) < 2:
            raise XManError(f"the sizes of an MLP are those of its inputs, hidden layers and outputs, as in "
                            f"[64, 32, 10]; found {list(sizes)}")
        if not 0 <= dropout < 1:
            raise XManError(f"dropout is the share that is left out, at least 0 and below 1, not {dropout!r}")
        random, act = np.random.default_rng(seed), activation_called(activation)
        self.dropout, self.masked = dropout, []
        super().__init__()
        h = self.X
        for k, (before, after) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
            W, b = glorot(random, before, after, dtype), bias(random, after, dtype)
            self.layer(k, W=W, b=b)
            h = h @ W + b
            if k < len(sizes) - 1:
                h = act(h)
                self.layer(k, h=h)
                if dropout:
                    mask = f.input(default=np.ones((1, after), dtype))
                    self.layer(k, mask=mask)
                    self.masked.append((f"mask{k}", after, dtype))
                    h = h * mask
        self.score(activation_called(last)(h) if last else h, sizes[-1], loss)

    def draw(self, random: Any, rows: np.ndarray) -> dict[str, Any]:
        """The masks of a training step for the rows with these numbers."""
        keep = 1 - self.dropout
        return {name: (random.random((len(rows), size)) < keep).astype(dtype) / dtype(keep)
                for name, size, dtype in self.masked}
