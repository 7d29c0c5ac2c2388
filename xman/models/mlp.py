"""The multilayer perceptron (Bishop, Deep Learning, §8.1.2 and 8.1.3; the course's)."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import XManError
from .layers import Network, activation_called, bias, glorot


class MLP(Network):
    """h1 = tanh(X·W1 + b1), h2 = tanh(h1·W2 + b2), …, outputs = softmax(h·Wn + bn).


    sizes: the numbers of columns of X (n, sizes[0]), of each hidden layer and of the outputs.
    activation: the name of an entrywise operator, as tanh, relu, sigmoid, gelu, or a function of your own.
    last: an activation for the last layer too (None: none).
    loss: as for `outputs_and_loss`.
    seed, dtype: of the first parameters, and their precision.

    The course's is MLP([p, h, k], activation="relu", last="relu", loss="crossEntropy").
    """

    def __init__(self, sizes: Sequence[int], *, activation: str | Callable = "tanh",
                 last: str | Callable | None = None, loss: str = "softmaxCrossEntropy", seed: int = 0,
                 dtype: type = np.float32):
        if len(sizes) < 2:
            raise XManError(f"the sizes of an MLP are those of its inputs, hidden layers and outputs, as in "
                            f"[64, 32, 10]; found {list(sizes)}")
        random, act = np.random.default_rng(seed), activation_called(activation)
        super().__init__()
        h = self.X
        for k, (before, after) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
            W, b = glorot(random, before, after, dtype), bias(random, after, dtype)
            self.layer(k, W=W, b=b)
            h = h @ W + b
            if k < len(sizes) - 1:
                h = act(h)
                self.layer(k, h=h)
        self.score(activation_called(last)(h) if last else h, sizes[-1], loss)
