"""Small functions that loops call, compiled by Numba: sums and maxima that may run in parallel, and products by BLAS."""
from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

import ops

from ...errors import extra

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
def numba_itself() -> ModuleType:
    """Numba, told that a loop is worth checking for overlaps however many arrays it has: those of a program have none."""
    numba = extra("numba", "fast", "the engine numba")
    from llvmlite import binding
    binding.set_option("xman", "-vectorize-memory-check-threshold=100000")
    return numba


@functools.cache
def edition() -> str:
    """A word for these functions as they are: what was compiled with others is of no use."""
    files = [Path(__file__), *sorted((Path(__file__).parents[1] / "llvm").glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


@functools.cache
def function(op: str, dtype: str) -> Callable:
    """The operator for numbers of a precision, as a function that Numba has compiled and can put in place."""
    numba = numba_itself()
    if numba.config.DISABLE_JIT:
        return PLAIN[op] if op in LIBERTIES else ops.G[op]
    from .vectorised import VECTORISED
    if dtype in VECTORISED.get(op, ()):
        return VECTORISED[op][dtype]
    if op in PLAIN:
        return numba.njit(PLAIN[op], error_model="numpy", fastmath=LIBERTIES.get(op, False))
    return getattr(np, op)


@functools.cache
def product() -> Callable:
    """product(c, a, b, alpha, coefficients, table, row): c = alpha·a@b + beta·c, of matrices that lie in flat arrays row by row.

    A row of the table says: the letter of BLAS for the precision; where c begins, and its columns; where a begins, its columns,
    and n, or t where it is transposed; the same of b; the rows of c; the terms of a sum; and beta. alpha and beta are handed
    to BLAS in the first two numbers of coefficients.
    """
    numba = numba_itself()
    if numba.config.DISABLE_JIT:
        return product_in_python
    import numba.np.linalg  # brings BLAS
    types = numba.types
    byte, address, size = types.int8, types.uintp, types.intp
    blas = types.ExternalFunction("numba_xxgemm", types.int32(
        byte, byte, byte, size, size, size, address, address, size, address, size, address, address, size))

    @numba.njit(error_model="numpy")
    def product(c, a, b, alpha, coefficients, table, row):
        kind, c0, n, a0, lda, ta, b0, ldb, tb, m, k, beta = table[row]
        coefficients[0] = alpha
        coefficients[1] = beta
        each = c.itemsize
        return blas(np.int8(kind), np.int8(tb), np.int8(ta), n, m, k, coefficients.ctypes.data,  # rows are columns to BLAS:
                    b.ctypes.data + b0 * each, ldb, a.ctypes.data + a0 * each, lda,                 # cᵀ = bᵀ aᵀ
                    coefficients.ctypes.data + each, c.ctypes.data + c0 * each, n)

    return product


def product_in_python(c, a, b, alpha, coefficients, table, row) -> None:
    """The same, for NUMBA_DISABLE_JIT."""
    _, c0, n, a0, lda, ta, b0, ldb, tb, m, k, beta = table[row]
    left = a[a0:a0 + m * k].reshape(-1, lda)
    right = b[b0:b0 + k * n].reshape(-1, ldb)
    out = c[c0:c0 + m * n].reshape(m, n)
    out[...] = alpha * ((left.T if ta == ord("t") else left) @ (right.T if tb == ord("t") else right)) + (out if beta else 0)
