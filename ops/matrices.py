"""Square matrices, also in batches (..., n, n). Formulas: Giles, Collected matrix derivative results (2008)."""
from __future__ import annotations

import numpy as np

from .expression import f
from .table import linear, operator


def inv(a):
    """The inverse of a. LinAlgError where a is singular."""
    return np.linalg.inv(a)


def det(a):
    """The determinant of a."""
    return np.linalg.det(a)


def cofactor(a):
    """The matrix of cofactors, det(a) a⁻ᵀ, by singular values: there also where a is singular."""
    u, s, vt = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s, -1)[..., :-1]], -1)
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., -2::-1], ones], -1) if s.shape[-1] else s
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return (sign[..., None, None] * ((u * (before * after)[..., None, :]) @ vt)).astype(u.dtype)


def logabsdet(a):
    """log |det a|, without forming the determinant; −∞ where a is singular."""
    return np.linalg.slogdet(a)[1]


def solve(a, b):
    """x of a x = b; b is a vector where it has one axis, else (..., n, k). LinAlgError where a is singular."""
    return np.linalg.solve(a, b)


def cholesky(a):
    """Lower triangular L of L Lᵀ = (a + aᵀ)/2. LinAlgError where that is not positive definite."""
    return np.linalg.cholesky(f.half(a + mirrored(a)))


def mirrored(a):
    return np.swapaxes(a, -1, -2)


def lowerHalf(x):
    """The lower triangle of x with half of the diagonal: Φ of Murray, Differentiation of the Cholesky decomposition (2016)."""
    return np.tril(x) - f.half(np.tril(np.triu(x)))


def through_cofactor(d, out, a):
    b = f.mT(f.inv(a))
    return f.sum(d * out, (-2, -1), True) * b - out @ f.mT(d) @ b


def through_cholesky(d, out, a):
    inverse = f.inv(out)
    s = f.mT(inverse) @ f.lowerHalf(f.mT(out) @ d) @ inverse
    return f.half(s + f.mT(s))


def each(d, a):
    """The scalar of each matrix of the batch a, for products with the matrix."""
    return f.broadcast(d, a, (-2, -1))


#          op           value      rule per argument
operator("inv",        inv,        lambda d, out, a: -(f.mT(out) @ d @ f.mT(out)),
         tangents=[lambda t, out, a: -(out @ t @ out)])
operator("det",        det,        lambda d, out, a: each(d, a) * f.cofactor(a))
operator("logabsdet",  logabsdet,  lambda d, out, a: each(d, a) * f.mT(f.inv(a)))
operator("cofactor",   cofactor,   through_cofactor)
operator("solve",      solve,      lambda d, out, a, b: -f.dotLeft(f.solve(f.mT(a), d), a, out),
                                   lambda d, out, a, b: f.unbroadcast(f.solve(f.mT(a), d), b))
operator("cholesky",   cholesky,   through_cholesky)
linear(  "lowerHalf",  lowerHalf,  lambda d, out, x: f.lowerHalf(d))
