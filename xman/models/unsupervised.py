"""Models without targets of their own: autoencoder, matrix factorization, word embeddings, mixture."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import XManError
from ..manager import XMan
from ..register import XManFunctions as f
from .layers import as_rows, glorot, targets_of
from .mlp import MLP


class Autoencoder(MLP):
    """A perceptron that gives back its rows X (n, sizes[0]) through layers of `sizes`: mean ½(outputs − X)².

    sizes: [64, 16] is 64 → 16 → 64; the register `codes` (n, sizes[-1]) is the middle layer. options: those
    of `MLP`. The targets y of a data set are not used.
    """

    def __init__(self, sizes: Sequence[int], **options: Any):
        super().__init__([*sizes, *sizes[-2::-1]], loss="squaredError", **options)
        self.codes = getattr(self, f"h{len(sizes) - 1}")
        self.setup()

    def feed(self, X: Any, y: Any = None) -> dict[str, Any]:
        """The inputs of the list: the rows X are their own targets."""
        return {"X": as_rows(X), "y": as_rows(X)}


class MatrixFactorization(XMan):
    """A table, known in some entries, as U·Vᵀ + u + vᵀ + m (Koren, Bell and Volinsky 2009, eqs. 1 to 5).

    rows, columns: of the table. rank: the columns of U (rows, rank) and V (columns, rank). X: the places of n
    entries (n, 2), whole numbers; y: the entries (n,). loss = mean ½(outputs − y)² + ½ ridge · the mean over
    the entries of Σ U² + Σ V² in their row and column. seed, dtype: of the first parameters.
    """

    def __init__(self, rows: int, columns: int, rank: int, *, ridge: float = 0.0, seed: int = 0,
                 dtype: type = np.float32):
        random = np.random.default_rng(seed)
        self.X, self.y = f.input(), f.input()
        self.U, self.V = glorot(random, rows, rank, dtype), glorot(random, columns, rank, dtype)
        self.u, self.v = (f.param(default=np.zeros((n, 1), dtype)) for n in (rows, columns))
        self.m = f.param(default=np.zeros((1, 1), dtype))
        i, j = self.X[:, 0], self.X[:, 1]
        U, V = self.U[i], self.V[j]
        self.outputs = f.sum(U * V, 1, True) + self.u[i] + self.v[j] + self.m
        self.loss = f.mean(f.squaredError(self.outputs, self.y))
        if ridge:
            self.loss = self.loss + ridge * f.half(f.mean(f.sum(U * U + V * V, 1)))
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs of the list. XManError for places that are not in the table."""
        X, size = np.asarray(X), (len(self.U.default), len(self.V.default))
        if X.ndim != 2 or X.shape[1] != 2 or X.dtype.kind not in "iu" or (X < 0).any() or (X >= size).any():
            raise XManError(f"the places of a table of {size[0]} x {size[1]} are whole numbers (n, 2) within "
                            "it, from 0")
        return {"X": X, "y": targets_of(y, 1)}


class WordEmbeddings(XMan):
    """Vectors of words that predict its neighbours: the skip-gram model (Mikolov et al. 2013, eq. 1, 2).

    words: how many there are. X: words (n,), numbers from 0; y: for each a word near it (n,). outputs =
    softmax(E[X]·C), (n, words); E (words, size) are the vectors, C (size, words) those of neighbours. seed,
    dtype: of the first parameters.
    """

    def __init__(self, words: int, size: int, *, seed: int = 0, dtype: type = np.float32):
        random = np.random.default_rng(seed)
        self.X, self.y = f.input(), f.input()
        self.E, self.C = glorot(random, words, size, dtype), glorot(random, size, words, dtype)
        self.scores = self.E[self.X] @ self.C
        self.outputs, self.loss = f.softmax(self.scores), f.mean(f.softmaxCrossEntropy(self.scores, self.y))
        self.setup()


class GaussianMixture(XMan):
    """p(x) = Σ_k π_k N(x; μ_k, Σ_k), fitted by its likelihood (Deisenroth and Ong): loss = −mean log p(x).

    X: rows (n, features). components: their number K. Parameters: mu (K, features); prec (K, features,
    features), the P of Σ⁻¹ = P Pᵀ; logits (K,) with π = softmax(logits). outputs: the responsibilities p(k |
    x), (n, K). begin: the first mu, best rows of the data, since the start decides which maximum is found
    (None: at random). seed, dtype: of the first parameters.
    """

    def __init__(self, components: int, features: int, *, begin: Any = None, seed: int = 0,
                 dtype: type = np.float64):
        random = np.random.default_rng(seed)
        middles = random.standard_normal((components, features)) if begin is None else np.asarray(begin)
        if middles.shape != (components, features):
            raise XManError(f"{components} components of {features} features begin at an array of shape "
                            f"{(components, features)}, not {middles.shape}")
        self.X = f.input()
        self.mu = f.param(default=middles.astype(dtype))
        self.prec = f.param(default=np.stack([np.eye(features, dtype=dtype)] * components))
        self.logits = f.param(default=np.zeros(components, dtype))
        apart = f.transpose(self.X[:, None] - self.mu, (1, 0, 2)) @ self.prec  # (K, n, features)
        volume = f.logabsdet(self.prec) + f.logSoftmax(self.logits) - features / 2 * np.log(2 * np.pi)
        joint = volume - f.half(f.transpose(f.squaredNorm(apart, 2)))  # (n, K)
        self.loss, self.outputs = -f.mean(f.logsumexp(joint, 1)), f.softmax(joint)
        self.setup()

    def feed(self, X: Any, y: Any = None) -> dict[str, Any]:
        """The inputs of the list for rows X; y is not used."""
        return {"X": as_rows(X)}
