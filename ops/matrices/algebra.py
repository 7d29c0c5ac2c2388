"""Matrices, also in batches (..., n, n). Formulas: Giles, Collected matrix derivative results (2008)."""
from __future__ import annotations

import numpy as np

from ..arrays.rearrangements import mT
from ..expression import f
from ..facts import cubic, is_complex, multiplied, of_columns
from ..formulas import elimination as by_elimination
from ..table import expressed, linear, operator, traced


def through_pinv(d, out, a):
    """Golub and Pereyra, The differentiation of pseudo-inverses … (1973), transposed."""
    p, d = f.mT(out), f.mT(d)
    return -(p @ f.mT(d) @ p) + (d - a @ (out @ d)) @ out @ p + p @ out @ (d - (d @ out) @ a)


def cofactor(a):
    """The matrix of cofactors, det(a) a⁻ᵀ; by singular values if a is singular, or nearly so."""
    finite = np.isfinite(a).all((-2, -1), keepdims=True)
    if not finite.all():  # LAPACK may seek the singular values of others forever
        return np.where(finite, cofactor(np.where(finite, a, 0)), np.nan)
    size = np.linalg.det(a)
    if (inverse := safe_inverse(a, size)) is not None:
        return np.asarray(size)[..., None, None] * mT(inverse)
    u, s, vt = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s, -1)[..., :-1]], -1)
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., -2::-1], ones], -1) if s.shape[-1] else s
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return (sign[..., None, None] * ((u.conj() * (before * after)[..., None, :]) @ vt.conj())).astype(u.dtype)


def safe_inverse(a, size):
    """a⁻¹, of a determinant `size`; None if a is singular, or nearly so."""
    if not np.all(np.square(np.abs(size)) > 0):
        return None
    inverse = np.linalg.inv(a)
    safe = np.vdot(a, a).real * np.vdot(inverse, inverse).real * np.finfo(inverse.dtype).eps ** 0.5 < 1
    return inverse if safe else None


def lower_half(x):
    """The lower triangle of x with half of the diagonal: Φ of Murray, Differentiation of … Cholesky, 2016."""
    if np.ndim(x) < 2 or x.shape[-2] != x.shape[-1]:
        raise ValueError(f"lower_half takes square matrices, not an array of shape {np.shape(x)}")
    lower = np.tri(*x.shape[-2:], dtype=bool)
    return f.where(lower, x, 0) - f.half(f.where(lower & lower.T, x, 0))


def slope_by_svd(xp, t, a):
    """cofactor_slope(t, a) by singular values, for arrays of the library xp, which may be JAX's NumPy."""
    u, s, vt = xp.linalg.svd(a)
    others = np.arange(s.shape[-1]) != np.arange(s.shape[-1])[:, None]
    # the product of s without its i-th and j-th entries
    pairs = xp.where(others[:, None] & others, s[..., None, None, :], 1.0).prod(-1) * others
    m = u.mT.conj() @ t @ vt.mT.conj()
    inner = np.eye(s.shape[-1]) * xp.einsum("...ij,...jj->...i", pairs, m)[..., None] - pairs * m.mT
    sign = xp.linalg.det(u) * xp.linalg.det(vt)
    slope = sign[..., None, None] * (u.conj() @ inner @ vt.conj())
    return slope if is_complex(t) else slope.astype(u.dtype)


def cofactor_slope(t, a):
    """The derivative of cofactor(a) in the direction t, also if a is singular; it is its own adjoint."""
    return slope_by_svd(np, t, a)


def pinv(a):
    """The pseudo-inverse of a, whose rank has to stay what it is for a derivative."""
    return np.linalg.pinv(a)


def logabsdet(a):
    """log |det a|, without forming the determinant; −∞ where a is singular."""
    return np.linalg.slogdet(a)[1]


def solve(a, b):
    """x of a x = b; b is a vector or (..., n, k). LinAlgError where a is singular."""
    return np.linalg.solve(a, b)


def cholesky(a):
    """Lower triangular L of L Lᵀ = (a + aᵀ)/2. LinAlgError where that is not positive definite."""
    return np.linalg.cholesky(f.half(a + mT(a)))


def slope_by_inverse(t, a):
    """cofactor_slope in the language, for its own derivative: LinAlgError where a is singular."""
    b, c = f.mT(f.inv(a)), f.cofactor(a)
    return f.sum(t * c, (-2, -1), True) * b - c @ f.mT(t) @ b


def column(x, b):
    """x as a column if b, of the system a x = b, is a vector; else x."""
    return x[..., None] if np.ndim(b) == 1 else x


def through_cholesky(d, out, a):
    inverse = f.inv(out)
    s = f.mT(inverse) @ f.lower_half(f.mT(out) @ d) @ inverse
    return f.half(s + f.mT(s))


def symmetric(a):
    if np.ndim(a) > 1 and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrices of shape {a.shape} are not square")
    return f.half(a + mT(a))


def expm(a):
    """e^a = Σ aᵏ/k!, of matrices."""
    from scipy.linalg import expm
    if np.ndim(a) < 2:
        raise ValueError("expm takes a square matrix")
    return expm(a)


def frechet(a, e):
    """The derivative of expm at a along e: a corner of expm([[a, e], [0, a]]) (Higham, 2008, §3.2)."""
    top, bottom = f.concat(-1, a, e), f.concat(-1, f.broadcast(0.0, a), a)
    return f.part(f.part(f.expm(f.concat(-2, top, bottom)), 0, -2, top, bottom), 1, -1, a, a)


def sylvester(a, b, q):
    """The solution x of a x + x b = q."""
    from scipy.linalg import solve_sylvester
    if np.ndim(q) != 2 or [*map(np.shape, (a, b))] != [(n, n) for n in np.shape(q)]:
        raise ValueError("sylvester takes matrices a (m, m), b (n, n) and q (m, n)")
    return solve_sylvester(a, b, q)


def sqrtm(a):
    """The principal square root of a matrix. ValueError if it is complex."""
    from scipy.linalg import sqrtm
    if np.ndim(a) < 2:
        raise ValueError("sqrtm takes a square matrix")
    root = sqrtm(a)
    if np.iscomplexobj(root) and np.abs(root.imag).max() > 1e-8 * np.abs(root.real).max():
        raise ValueError("the square root of this matrix is complex")
    return root.real.astype(a.dtype)


def scalar_of_each(d, a):
    """The scalar of each matrix of the batch a, for products with the matrix."""
    return f.broadcast(d, a, (-2, -1))


# the values that are one expression, and what they are
inv          = expressed(lambda a: np.linalg.inv(a),                      "The inverse of a. LinAlgError where a is singular.")
det          = expressed(lambda a: np.linalg.det(a),                      "The determinant of a.")

def of_matrix(op, value, *rules, **facts):
    """A row of which each entry goes by all entries of its matrix; `elimination` may have its formula."""
    operator(op, value, *rules, **{"reads": "matrix", "elsewhere": getattr(by_elimination, op, None)} | facts)


#           op              value           rule per argument
of_matrix("inv",            inv,            lambda d, out, a: -(f.mT(out) @ d @ f.mT(out)),
          tangents=[lambda t, out, a: -(out @ t @ out)], flops=cubic(2), numpy="linalg.inv",
          complex=True)
of_matrix("pinv",           pinv,           through_pinv, flops=of_columns(24))
of_matrix("det",            det,            lambda d, out, a: scalar_of_each(d, a) * f.cofactor(a),
          flops=cubic(2 / 3), numpy="linalg.det", complex=True)
of_matrix("logabsdet",      logabsdet,      lambda d, out, a: scalar_of_each(d, a) * f.mT(f.inv(a)),
          flops=cubic(2 / 3))
of_matrix("cofactor",       cofactor,       lambda d, out, a: f.cofactor_slope(d, a),
          tangents=[lambda t, out, a: f.cofactor_slope(t, a)], flops=cubic(24),
          formula=by_elimination.cofactor_of_few, complex=True)
operator( "cofactor_slope", cofactor_slope, lambda d, out, t, a: f.cofactor_slope(d, a), traced(slope_by_inverse, 1),
          flops=cubic(32), elsewhere=by_elimination.cofactor_slope, complex=True)
of_matrix("solve",          solve,
          lambda d, out, a, b: -f.dot_left(f.solve(f.mT(a), f.column(d, b)), a, f.column(out, b)),
          lambda d, out, a, b: f.unbroadcast(f.reshape(f.solve(f.mT(a), f.column(d, b)), out), b),
          flops=lambda out, a, b: round(2 / 3 * a.size * a.shape[-1]) + 2 * np.size(out) * a.shape[-1], numpy="linalg.solve",
          complex=True)
of_matrix("cholesky",       cholesky,       through_cholesky, flops=cubic(1 / 3))
linear(   "column",         column,         lambda d, out, x, b: f.reshape(d, x), None, view=True, flow="moved", formula=column)
linear(   "lower_half",     lower_half,     lambda d, out, x: f.lower_half(d), flops=2, elsewhere=lower_half, reads="matrix")
of_matrix("expm",           expm,           lambda d, out, a: frechet(f.mT(a), d), tangents=[lambda t, out, a: frechet(a, t)],
          flops=cubic(20), complex=True)
operator( "sylvester",      sylvester,      lambda d, out, a, b, q: -(f.sylvester(f.mT(a), f.mT(b), d) @ f.mT(out)),
                                            lambda d, out, a, b, q: -(f.mT(out) @ f.sylvester(f.mT(a), f.mT(b), d)),
                                            lambda d, out, a, b, q: f.sylvester(f.mT(a), f.mT(b), d),
          tangents=[lambda t, out, a, b, q: -f.sylvester(a, b, t @ out), lambda t, out, a, b, q: -f.sylvester(a, b, out @ t),
                    lambda t, out, a, b, q: f.sylvester(a, b, t)],
          flops=lambda out, a, b, q: 25 * (a.size * len(a) + b.size * len(b)), entries=multiplied)
of_matrix("sqrtm",          sqrtm,          lambda d, out, a: f.sylvester(f.mT(out), f.mT(out), d),
          tangents=[lambda t, out, a: f.sylvester(out, out, t)], flops=cubic(28),
          example=np.asarray)  # SciPy warns of the root of ones
