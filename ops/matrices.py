"""Matrices, also in batches (..., n, n). Formulas: Giles, Collected matrix derivative results (2008)."""
from __future__ import annotations

import numpy as np

from .arrays.rearrangements import mT
from .expression import f
from .facts import cubic, multiplied, of_columns, of_diagonal
from .formulas import elimination as by_elimination
from .table import expressed, linear, operator, traced


def through_pinv(d, out, a):
    """Golub and Pereyra, The differentiation of pseudo-inverses … (1973), transposed."""
    p, d = f.mT(out), f.mT(d)
    return -(p @ f.mT(d) @ p) + (d - a @ (out @ d)) @ out @ p + p @ out @ (d - (d @ out) @ a)


def cofactor(a):
    """The matrix of cofactors, det(a) a⁻ᵀ; by singular values if a is singular, or nearly so."""
    size = np.linalg.det(a)
    if np.all(size * size > 0):
        inverse = np.linalg.inv(a)
        if np.vdot(a, a) * np.vdot(inverse, inverse) * np.finfo(inverse.dtype).eps ** 0.5 < 1:
            return np.asarray(size)[..., None, None] * mT(inverse)
    u, s, vt = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s, -1)[..., :-1]], -1)
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., -2::-1], ones], -1) if s.shape[-1] else s
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return (sign[..., None, None] * ((u * (before * after)[..., None, :]) @ vt)).astype(u.dtype)


def lower_half(x):
    """The lower triangle of x with half of the diagonal: Φ of Murray, Differentiation of … Cholesky, 2016."""
    lower = np.tri(*x.shape[-2:], dtype=bool)
    return f.where(lower, x, 0) - f.half(f.where(lower & lower.T, x, 0))


def slope_by_svd(xp, t, a):
    """cofactor_slope(t, a) by singular values, for arrays of the library xp, which may be JAX's NumPy."""
    u, s, vt = xp.linalg.svd(a)
    others = np.arange(s.shape[-1]) != np.arange(s.shape[-1])[:, None]
    # the product of s without its i-th and j-th entries
    pairs = xp.where(others[:, None] & others, s[..., None, None, :], 1.0).prod(-1) * others
    m = u.mT @ t @ vt.mT
    inner = np.eye(s.shape[-1]) * xp.einsum("...ij,...jj->...i", pairs, m)[..., None] - pairs * m.mT
    sign = xp.linalg.det(u) * xp.linalg.det(vt)
    return (sign[..., None, None] * (u @ inner @ vt)).astype(u.dtype)


cofactor_slope = expressed(lambda t, a: slope_by_svd(np, t, a), "The derivative of cofactor(a) in the "
                           "direction t, also if a is singular; it is its own adjoint.")


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


# ---- decompositions: one operator for each of their results ------------------------------------------------

def symmetric(a):
    if np.ndim(a) > 1 and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrices of shape {a.shape} are not square")
    return f.half(a + mT(a))


def eigenvectors(a, signs=("L",)):
    """The orthonormal eigenvectors of (a + aᵀ)/2, as columns in the order of eigvalsh(a).

    Their signs are NumPy's when it reads the triangle ("L",) or ("U",), or SciPy's, ("L", "scipy"). For equal
    eigenvalues any basis of their space would do; the derivative is that of a basis which does not turn, and
    so right for all results that do not depend on the basis.
    """
    if len(signs) == 1:
        return np.linalg.eigh(symmetric(a), signs[0])[1]
    from scipy.linalg import eigh
    return eigh(symmetric(a), lower=signs[0] == "L")[1]


def inverse_gaps(w):
    """1/(w_j − w_i) for all entries of w (..., n), at [..., i, j]; 0 if they are equal up to rounding."""
    gap = w[..., None, :] - w[..., :, None]
    least = w.shape[-1] * np.finfo(w.dtype).eps * np.abs(w).max(-1, keepdims=True, initial=0)[..., None]
    apart = np.abs(gap) > least
    return apart / np.where(apart, gap, 1).astype(w.dtype)


def inverse_gaps_of_entries(w):
    gap = w[..., None, :] - w[..., :, None]
    least = w.shape[-1] * float(np.finfo(w.dtype).eps) * f.max(f.abs(w), -1, True)[..., None]
    apart = f.greater(f.abs(gap), least)
    return f.where(apart, 1.0 / f.where(apart, gap, 1.0), 0.0)


def through_inverse_gaps(d, out, w):
    h = d * out * out
    return f.sum(h, -1) - f.sum(h, -2)


def left_vectors(a):
    """The left singular vectors of a, as columns in the order of svdvals(a), with LAPACK's signs.

    For equal singular values, and for those that are 0, the derivative does not turn them: see eigenvectors.
    """
    return np.linalg.svd(a, full_matrices=False)[0]


def through_vectors(d, u, v, a):
    """The adjoint of a from that of u, its vectors on one side (Townsend, 2016, transposed). v: others."""
    s = f.svdvals(a)
    m = f.ratio(f.inverse_gaps(s), s[..., None, :] + s[..., :, None]) * (f.mT(u) @ d)
    return (u @ ((m + f.mT(m)) * s[..., None, :]) @ f.mT(v) + (d - u @ (f.mT(u) @ d))
            @ (f.mT(u) @ f.mT(f.pinv(a))))


def tall(a):
    if a.shape[-2] < a.shape[-1]:
        raise ValueError(f"a matrix of shape {a.shape} has more columns than rows; decompose its first "
                         f"{a.shape[-2]} columns")
    return a


def through_qr(d, q, r, m):
    """(d + q (the lower triangle of m, and its mirror image)) r⁻ᵀ (Walter and Lehmann, 2012, §3)."""
    lower = f.lower_half(m)
    return f.mT(f.solve(r, f.mT(d + q @ (lower + f.mT(lower)))))


def through_eigenvectors(d, out, a, signs=("L",)):
    turn = out @ (f.inverse_gaps(f.eigvalsh(a)) * (f.mT(out) @ d)) @ f.mT(out)
    return f.half(turn + f.mT(turn))


def spanned(d, u, v):
    """u diag(d) vᵀ."""
    return u * d[..., None, :] @ f.mT(v)


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
pinv         = expressed(lambda a: np.linalg.pinv(a),
                         "The pseudo-inverse of a, whose rank has to stay what it is for a derivative.")
det          = expressed(lambda a: np.linalg.det(a),                      "The determinant of a.")
logabsdet    = expressed(lambda a: np.linalg.slogdet(a)[1],
                         "log |det a|, without forming the determinant; −∞ where a is singular.")
solve        = expressed(lambda a, b: np.linalg.solve(a, b),
                         "x of a x = b; b is a vector or (..., n, k). LinAlgError where a is singular.")
cholesky     = expressed(lambda a: np.linalg.cholesky(f.half(a + mT(a))),
                         "Lower triangular L of L Lᵀ = (a + aᵀ)/2. LinAlgError where that is not positive definite.")
eigvalsh     = expressed(lambda a: np.linalg.eigvalsh(symmetric(a)),      "The eigenvalues of (a + aᵀ)/2 in ascending order.")
svdvals      = expressed(lambda a: np.linalg.svd(a, compute_uv=False),
                         "The singular values of a (..., m, n), the greatest first, as many as the lesser of m and n.")
right_vectors = expressed(lambda a: mT(np.linalg.svd(a, full_matrices=False)[2]),
                         "The right singular vectors of a, as columns, signed as left_vectors(a): a = l diag(svdvals) rᵀ.")
orthonormal  = expressed(lambda a: np.linalg.qr(tall(a))[0],
                         "Q of a = Q R, orthonormal and upper triangular, a (..., m, n) of rank n ≤ m, with LAPACK's signs.")
upper        = expressed(lambda a: np.linalg.qr(tall(a))[1],              "R of a = orthonormal(a) R.")

#          op           value      rule per argument
operator("inv",        inv,        lambda d, out, a: -(f.mT(out) @ d @ f.mT(out)),
         tangents=[lambda t, out, a: -(out @ t @ out)],                                 flops=cubic(2), numpy="linalg.inv",
         elsewhere=by_elimination.inv)
operator("pinv",       pinv,       through_pinv,                                        flops=of_columns(24))
operator("det",        det,        lambda d, out, a: scalar_of_each(d, a) * f.cofactor(a),
            flops=cubic(2 / 3), numpy="linalg.det", elsewhere=by_elimination.det)
operator("logabsdet",  logabsdet,  lambda d, out, a: scalar_of_each(d, a) * f.mT(f.inv(a)),       flops=cubic(2 / 3),
         elsewhere=by_elimination.logabsdet)
operator("cofactor",   cofactor,   lambda d, out, a: f.cofactor_slope(d, a),
         tangents=[lambda t, out, a: f.cofactor_slope(t, a)],                           flops=cubic(24),
         elsewhere=by_elimination.cofactor)
operator("cofactor_slope", cofactor_slope, lambda d, out, t, a: f.cofactor_slope(d, a), traced(slope_by_inverse, 1),
         flops=cubic(32), elsewhere=by_elimination.cofactor_slope)
operator("solve",      solve,      lambda d, out, a, b: -f.dot_left(f.solve(f.mT(a), f.column(d, b)), a, f.column(out, b)),
                                   lambda d, out, a, b: f.unbroadcast(f.reshape(f.solve(f.mT(a), f.column(d, b)), out), b),
         flops=lambda out, a, b: round(2 / 3 * a.size * a.shape[-1]) + 2 * np.size(out) * a.shape[-1], numpy="linalg.solve",
         elsewhere=by_elimination.solve)
operator("cholesky",   cholesky,   through_cholesky,                                    flops=cubic(1 / 3),
         elsewhere=by_elimination.cholesky)
linear(  "column",     column,     lambda d, out, x, b: f.reshape(d, x), None,          view=True, flow="moved", formula=column)
linear(  "lower_half", lower_half, lambda d, out, x: f.lower_half(d),                    flops=2, elsewhere=lower_half)
#          op              value          rule per argument
operator("eigvalsh",     eigvalsh,     lambda d, out, a: spanned(d, f.eigenvectors(a), f.eigenvectors(a)), flops=cubic(4 / 3))
operator("eigenvectors", eigenvectors, through_eigenvectors, None,                      flops=of_columns(9))
operator("inverse_gaps", inverse_gaps, through_inverse_gaps,                            flops=2, entries=of_diagonal,
         elsewhere=inverse_gaps_of_entries)
operator("svdvals",      svdvals,      lambda d, out, a: spanned(d, f.left_vectors(a), f.right_vectors(a)), flops=of_columns(4))
operator("left_vectors", left_vectors, lambda d, out, a: through_vectors(d, out, f.right_vectors(a), a), flops=of_columns(14))
operator("right_vectors", right_vectors, lambda d, out, a: f.mT(through_vectors(d, out, f.left_vectors(a), f.mT(a))),
         flops=of_columns(14))
operator("orthonormal",  orthonormal,  lambda d, out, a: through_qr(d, out, f.upper(a), -f.mT(d) @ out), flops=of_columns(4),
         elsewhere=by_elimination.orthonormal)
operator("upper",        upper,        lambda d, out, a: through_qr(0.0, f.orthonormal(a), out, out @ f.mT(d)),
         flops=of_columns(2), elsewhere=by_elimination.upper)
operator("expm",         expm,         lambda d, out, a: frechet(f.mT(a), d),
         tangents=[lambda t, out, a: frechet(a, t)],                                    flops=cubic(20))
operator("sylvester",    sylvester,    lambda d, out, a, b, q: -(f.sylvester(f.mT(a), f.mT(b), d) @ f.mT(out)),
                                       lambda d, out, a, b, q: -(f.mT(out) @ f.sylvester(f.mT(a), f.mT(b), d)),
                                       lambda d, out, a, b, q: f.sylvester(f.mT(a), f.mT(b), d),
         tangents=[lambda t, out, a, b, q: -f.sylvester(a, b, t @ out), lambda t, out, a, b, q: -f.sylvester(a, b, out @ t),
                   lambda t, out, a, b, q: f.sylvester(a, b, t)],
         flops=lambda out, a, b, q: 25 * (a.size * len(a) + b.size * len(b)), entries=multiplied)
operator("sqrtm",        sqrtm,        lambda d, out, a: f.sylvester(f.mT(out), f.mT(out), d),
         tangents=[lambda t, out, a: f.sylvester(out, out, t)],                         flops=cubic(28))
