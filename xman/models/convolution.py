"""A small convolutional network (LeCun et al. 1998): it gathers windows of the image and multiplies them."""
from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..errors import XManError
from ..register import XManFunctions as f
from .layers import Network, activation_called, bias, glorot


class ConvolutionalNetwork(Network):
    """Images X (n, height·width) become outputs (n, classes): windows, filters, maxima, a linear layer.

        windows = X[:, places]                  (n, positions, window²), of the image with a rim of zeros
        h1 = relu(windows·W1 + b1)              (n, positions, filters)
        h2 = max of h1 over pool x pool         (n, positions/pool²·filters)
        outputs = softmax(h2·W2 + b2)

    shape: (height, width), multiples of `pool`. classes, filters: how many. window: an odd number of pixels
    each way. activation, loss, seed, dtype: as for `MLP`. Raises XManError for other sizes.
    """

    def __init__(self, shape: tuple[int, int], classes: int, *, filters: int = 16, window: int = 3,
                 pool: int = 2, activation: str = "relu", loss: str = "softmaxCrossEntropy", seed: int = 0,
                 dtype: type = np.float32):
        height, width = shape
        if window % 2 != 1 or window < 1:
            raise XManError(f"a window has a pixel in its middle, so its side is an odd number of pixels, 1, 3, 5, …, not "
                            f"{window!r}")
        if height % pool or width % pool:
            raise XManError(f"pools of {pool} x {pool} do not divide an image of {height} x {width}")
        random, rim = np.random.default_rng(seed), window // 2
        wide = width + 2 * rim
        places = np.arange((height + 2 * rim) * wide).reshape(-1, wide)
        places = sliding_window_view(places, (window, window)).reshape(height * width, window ** 2)
        super().__init__()
        self.W1, self.b1 = glorot(random, window ** 2, filters, dtype), bias(random, filters, dtype)
        pooled = height // pool * (width // pool) * filters
        self.W2, self.b2 = glorot(random, pooled, classes, dtype), bias(random, classes, dtype)
        image = f.pad(f.reshape(self.X, (-1, height, width)), ((0, 0), (rim, rim), (rim, rim)))
        self.windows = f.reshape(image, (-1, (height + 2 * rim) * wide))[:, places]
        self.h1 = activation_called(activation)(self.windows @ self.W1 + self.b1)
        pools = f.reshape(self.h1, (-1, height // pool, pool, width // pool, pool, filters))
        self.h2 = f.reshape(f.max(pools, (2, 4)), (-1, pooled))
        self.score(self.h2 @ self.W2 + self.b2, classes, loss)
