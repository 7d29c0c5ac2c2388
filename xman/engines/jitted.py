"""Small functions that loops call, compiled by Numba: sums and maxima that may run in parallel, and products by BLAS."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ..errors import extra

# for operators that Numba's own library has under another name, or not
PLAIN: dict[str, Callable] = {
    "plus": lambda x, y: x + y,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "larger": lambda x, y: x if x > y else y,
    "smaller": lambda x, y: x if x < y else y,
    "erf": lambda x: math.erf(x),
    "power": lambda x, y: x ** y,
    "hypot": lambda x, y: math.hypot(x, y),
    "arctan2": lambda x, y: math.atan2(x, y),
}
# a sum may be taken in another order, a maximum as if there were no NaN: only so do they run in parallel
LIBERTIES = {"plus": {"reassoc"}, "larger": {"nnan", "nsz"}, "smaller": {"nnan", "nsz"}}


@functools.cache
def function(op: str, dtype: str) -> Callable:
    """The operator for numbers of a precision, as a function that Numba has compiled and can put in place."""
    numba = extra("numba", "fast", "the engine numba")
    try:
        from .vectorised import VECTORISED
    except ImportError:
        VECTORISED = {}
    if dtype in VECTORISED.get(op, ()):
        return VECTORISED[op][dtype]
    if op in PLAIN:
        return numba.njit(PLAIN[op], error_model="numpy", fastmath=LIBERTIES.get(op, False))
    return getattr(np, op)


@functools.cache
def product() -> Callable:
    """product(kind, c, c0, n, a, a0, lda, ta, b, b0, ldb, tb, m, k, coefficients, first): c = alpha·a@b + beta·c.

    c is (m, n), a (m, k), b (k, n), stored row by row in flat arrays from c0, a0 and b0 on, a and b the other way round where
    ta and tb hold. kind: the letter of BLAS for the precision. alpha and beta stand in coefficients from `first` on.
    """
    numba = extra("numba", "fast", "the engine numba")
    import numba.np.linalg  # noqa: F401  brings BLAS
    types = numba.types
    byte, address, size = types.int8, types.uintp, types.intp
    blas = types.ExternalFunction("numba_xxgemm", types.int32(
        byte, byte, byte, size, size, size, address, address, size, address, size, address, address, size))

    @numba.njit
    def product(kind, c, c0, n, a, a0, lda, ta, b, b0, ldb, tb, m, k, coefficients, first):
        bytes_ = c.itemsize  # rows are columns to BLAS: cᵀ = bᵀ aᵀ
        return blas(np.int8(kind), np.int8(tb), np.int8(ta), n, m, k, coefficients.ctypes.data + first * bytes_,
                    b.ctypes.data + b0 * bytes_, ldb, a.ctypes.data + a0 * bytes_, lda,
                    coefficients.ctypes.data + (first + 1) * bytes_, c.ctypes.data + c0 * bytes_, n)

    return product
