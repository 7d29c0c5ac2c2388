"""The table of what a line costs in operations, by operator and shapes.

One operation is + − × ÷, a comparison, whichever of its three outcomes, or one of the functions of one argument that a
processor's library has (exp, sin, tanh, xᶜ …) of one entry, as Griewank and Walther, Evaluating Derivatives, §2.2, count
elemental functions. An operator made of several counts them all: x^y is exp(y log x), and takes as long. Rearranging,
indexing and copying are none. Matrices: Golub and Van Loan, Matrix Computations.
"""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ops.linear_maps import einsum_parts
from ops.table import ELEMENTWISE, OURS

Count = Callable[..., int]


def per_entry(flops: int, *names: str) -> dict[str, Count]:
    """So many operations for each entry of the result."""
    return dict.fromkeys(names, lambda out, *_: flops * np.size(out))


def per_input(flops: int, *names: str) -> dict[str, Count]:
    """So many operations for each entry of the first argument."""
    return dict.fromkeys(names, lambda out, x, *_: flops * np.size(x))


def cubic(n3: float, *names: str) -> dict[str, Count]:
    """n3·n³ operations for each n×n matrix of the argument."""
    return dict.fromkeys(names, lambda out, *args: round(n3 * np.size(args[-1]) * args[-1].shape[-1]))


def summed(out: Any, x: Any, *_: Any) -> int:
    """One for each entry of x, where there is anything to add."""
    return np.size(x) if np.size(x) > np.size(out) else 0


def power(out: Any, x: Any, y: Any) -> int:
    """One an entry where the exponent is a literal; three, those of exp(y log x), where it is a register."""
    return np.size(out) * (1 if type(y) in (int, float) else 3)


def product_flops(out: Any, a: Any, b: Any) -> int:
    """2nmk of (n, k) by (k, m), vectors and batches too; of a sparse a two for each entry that is stored and each column."""
    return 2 * a.nnz * prod(b.shape[1:]) if hasattr(a, "nnz") else 2 * np.size(out) * prod(np.shape(a)[-1:])


def einsum(out: Any, subscripts: Any, *arrays: Any) -> int:
    """A product for each combination of letters, and its addition where a letter is summed over."""
    parts, result = einsum_parts(subscripts)
    sizes = sorted((n, c) for part, x in zip(parts, arrays, strict=True)
                   for c, n in zip(part.replace(".", "")[::-1], np.shape(x)[::-1], strict=False))  # the stretched size last
    terms = np.size(out) * prod(n for c, n in {c: n for n, c in sizes}.items() if c not in result)
    return terms * (len(arrays) - 1 + (terms > np.size(out)))


FLOPS: dict[str, Count] = {
    **per_entry(1, *ELEMENTWISE & OURS),  # but for those that follow
    **per_entry(0, "alias", "stopGradient", "reshape", "transpose", "mT", "flip", "roll", "pad", "unpad", "concat", "part",
                "stack", "shift", "diag", "diagBack", "column", "getitem", "take", "broadcast", "count", "oneHot", "astype",
                "codes", "characters", "words", "days"),
    **per_entry(1, "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
                "logical_not", "isnan", "isfinite", "signbit", "floor", "ceil", "trunc", "floor_divide", "round", "sign", "outer",
                "cumsum", "cumprod"),
    **per_entry(2, "leakyRelu", "silu", "expDifference", "scan", "lowerHalf", "inverseGaps"),
    **per_entry(3, "elu", "softplus", "logSigmoid", "squaredError", "ties"),
    **per_entry(5, "gelu", "logaddexp", "softmax", "logSoftmax"),
    **per_entry(11, "sigmoidCrossEntropy"),
    **dict.fromkeys(["sum", "unbroadcast", "einsumBack"], summed),
    "mean": lambda out, x, *_: summed(out, x) + np.size(out),
    "trace": lambda out, x: min(x.shape),
    **per_input(1, "max", "min", "prod", "argmax", "scatterAdd"),
    **per_input(2, "norm", "squaredNorm", "frobeniusNorm", "centered"),
    **per_input(3, "crossEntropy"),
    **per_input(4, "var", "std", "logsumexp"),
    **per_input(7, "softmaxCrossEntropy"),
    **per_input(8, "hinge"),
    "dot": product_flops,
    "power": power,
    "dotLeft": lambda out, d, a, b: product_flops(d, a, b),
    "dotRight": lambda out, d, a, b: product_flops(d, a, b),
    "einsum": einsum,
    **cubic(1 / 3, "cholesky"),
    "argsort": lambda out, x, *_: np.size(x) * max(np.size(x) - 1, 0).bit_length(),  # comparisons
    **cubic(2 / 3, "det", "logabsdet", "detSign"),
    **cubic(2, "inv"),
    "solve": lambda out, a, b: round(2 / 3 * a.size * a.shape[-1]) + 2 * np.size(out) * a.shape[-1],
    **{op: lambda out, a, *_, k=k: k * np.size(a) * min(a.shape[-2:])  # k·mn² of a matrix (m, n), §5.4 and §8.6
       for op, k in {"upper": 2, "orthonormal": 4, "svdvals": 4, "leftVectors": 14, "rightVectors": 14,
                     "eigenvectors": 9, "pinv": 24}.items()},
    **cubic(4 / 3, "eigvalsh"), **cubic(20, "expm"), **cubic(28, "sqrtm"),
    "sylvester": lambda out, a, b, q: 25 * (a.size * len(a) + b.size * len(b)),
    "convolve": lambda out, a, v: 2 * a.size * v.size,
    "correlate": lambda out, a, v: 2 * out.size * v.size,
    **cubic(24, "cofactor"),       # singular values with both bases are 21n³
    **cubic(32, "cofactorSlope"),
}


def operations(op: str) -> Count | None:
    """How the operator is counted: by its row, else as one an entry if it works entry by entry; None where nothing says."""
    return FLOPS.get(op) or (per_entry(1, op)[op] if op in ELEMENTWISE else None)
