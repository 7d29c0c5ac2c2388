"""Square matrices, also in batches (..., n, n). Formulas: Giles, Collected matrix derivative results (2008)."""
from __future__ import annotations

import numpy as np

from .expression import f
from .linear_maps import mT
from .table import linear, operator, traced


def inv(a):
    """The inverse of a. LinAlgError where a is singular."""
    return np.linalg.inv(a)


def pinv(a):
    """The pseudo-inverse of a, whose rank has to stay what it is for a derivative."""
    return np.linalg.pinv(a)


def through_pinv(d, out, a):
    """Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares (1973), transposed."""
    p, d = f.mT(out), f.mT(d)
    return -(p @ f.mT(d) @ p) + (d - a @ (out @ d)) @ out @ p + p @ out @ (d - (d @ out) @ a)


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
    return np.linalg.cholesky(f.half(a + mT(a)))


def lowerHalf(x):
    """The lower triangle of x with half of the diagonal: Φ of Murray, Differentiation of the Cholesky decomposition (2016)."""
    return np.tril(x) - f.half(np.tril(np.triu(x)))


def cofactorSlope(t, a):
    """The derivative of cofactor(a) in the direction t, also where a is singular; symmetric, so its own adjoint."""
    u, s, vt = np.linalg.svd(a)
    others = np.arange(s.shape[-1]) != np.arange(s.shape[-1])[:, None]
    pairs = np.where(others[:, None] & others, s[..., None, None, :], 1.0).prod(-1) * others  # Π s without the i-th and j-th
    m = mT(u) @ t @ mT(vt)
    inner = np.eye(s.shape[-1]) * np.einsum("...ij,...jj->...i", pairs, m)[..., None] - pairs * mT(m)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return (sign[..., None, None] * (u @ inner @ vt)).astype(u.dtype)


def slope_by_inverse(t, a):
    """cofactorSlope in the language, for its own derivative: LinAlgError where a is singular."""
    b, c = f.mT(f.inv(a)), f.cofactor(a)
    return f.sum(t * c, (-2, -1), True) * b - c @ f.mT(t) @ b


def column(x, b):
    """x as a column where b, of the system a x = b, is a vector; else x."""
    return x[..., None] if np.ndim(b) == 1 else x


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
operator("pinv",       pinv,       through_pinv)
operator("det",        det,        lambda d, out, a: each(d, a) * f.cofactor(a))
operator("logabsdet",  logabsdet,  lambda d, out, a: each(d, a) * f.mT(f.inv(a)))
operator("cofactor",   cofactor,   lambda d, out, a: f.cofactorSlope(d, a),
         tangents=[lambda t, out, a: f.cofactorSlope(t, a)])
operator("cofactorSlope", cofactorSlope, lambda d, out, t, a: f.cofactorSlope(d, a), traced(slope_by_inverse, 1))
operator("solve",      solve,      lambda d, out, a, b: -f.dotLeft(f.solve(f.mT(a), f.column(d, b)), a, f.column(out, b)),
                                   lambda d, out, a, b: f.unbroadcast(f.reshape(f.solve(f.mT(a), f.column(d, b)), out), b))
operator("cholesky",   cholesky,   through_cholesky)
linear(  "column",     column,     lambda d, out, x, b: f.reshape(d, x), None)
linear(  "lowerHalf",  lowerHalf,  lambda d, out, x: f.lowerHalf(d))
