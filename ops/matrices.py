"""Matrices, also in batches (..., n, n). Formulas: Giles, Collected matrix derivative results (2008)."""
from __future__ import annotations

import math

import numpy as np

from .arrays.rearrangements import mT
from .expression import f
from .facts import cubic, is_complex, multiplied, of_columns
from .formulas import elimination as by_elimination
from .kinks import Masked, bare
from .kinks.masked import share_of
from .table import expressed, linear, operator, traced


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
    if np.all(np.square(np.abs(size)) > 0):
        inverse = np.linalg.inv(a)
        if np.vdot(a, a).real * np.vdot(inverse, inverse).real * np.finfo(inverse.dtype).eps ** 0.5 < 1:
            return np.asarray(size)[..., None, None] * mT(inverse)
    u, s, vt = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s, -1)[..., :-1]], -1)
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., -2::-1], ones], -1) if s.shape[-1] else s
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return (sign[..., None, None] * ((u.conj() * (before * after)[..., None, :]) @ vt.conj())).astype(u.dtype)


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
    eigenvalues any basis of their space would do. The derivative is right for all results that do not depend
    on the basis; it is NaN where these vectors do not tell it, and where the result depends on the basis.
    """
    if len(signs) == 1:
        return np.linalg.eigh(symmetric(a), signs[0])[1]
    from scipy.linalg import eigh
    return eigh(symmetric(a), lower=signs[0] == "L")[1]


def inverse_of(gap, scale, share, size):
    """1/gap, by which a turn is divided; 0 where nothing turns, and NaN where rounding decides the turn.

    scale: the greatest of the values with these gaps. share: the turn, divided by the terms that it is a sum
    of. size: of these terms. A gap that is 0 up to rounding still counts if the terms are small as well, as
    those of u·s are where s is 0: their quotient is precise.
    """
    eps = max(*gap.shape[-2:], 4) * float(np.finfo(gap.dtype).eps)
    distance, turns = f.abs(gap), f.greater(share, eps)
    clear = f.greater(distance, eps * scale)
    precise = f.greater(distance * f.max(size, (-2, -1), True), eps ** 0.5 * size * scale)
    divided = f.logical_or(clear, f.logical_and(precise, turns))
    inverse = f.where(divided, 1.0 / f.where(divided, gap, 1.0), math.nan)
    return f.where(f.logical_or(clear, turns), inverse, 0.0)


def share_of_columns(m, d, sent):
    """|m|, as part of the columns of d, and the greatest entries of these columns, (..., 1, n).

    A column of zeros that is sent may hide a turn: the delta of v in v·log w, where w is 1.
    """
    size = f.max(f.abs(d), -2, True)
    hidden = f.logical_and(sent, f.equal(size, 0.0))
    return f.where(hidden, 1.0, f.ratio(f.abs(m), size)), size


def inverse_gaps(w, d, m, sent):
    """1/(w_j − w_i) at [..., i, j], by which m = vᵀ d, with d for vectors v, is divided (see inverse_of)."""
    share, size = share_of_columns(m, d, sent)
    share, size = f.maximum(share, f.mT(share)), f.maximum(size, f.mT(size))
    between = 1.0 - np.eye(w.shape[-1], dtype=w.dtype)
    gap, scale = w[..., None, :] - w[..., :, None], f.max(f.abs(w), -1, True)[..., None]
    return inverse_of(gap, scale, between * share, size)


def inverse_values(s, d, m, sent):
    """1/s as a row, by which m, the part of d beside all singular vectors, is divided (see inverse_of)."""
    if d.shape[-2] <= d.shape[-1]:
        return 0.0 * s[..., None, :]  # nothing is beside them
    share, size = share_of_columns(m, d, sent)
    return inverse_of(s[..., None, :], f.max(s, -1, True)[..., None], f.max(share, -2, True), size)


def over_gaps(d, w, m):
    """m = vᵀ d, divided by the gaps of w; d is the delta or the tangent of vectors v."""
    return f.inverse_gaps(w, bare(d), bare(m), columns_sent(d)) * m


def over_values(d, s, m):
    """m, the part of d beside all singular vectors, divided by the values s."""
    return f.inverse_values(s, bare(d), bare(m), columns_sent(d)) * m


def columns_sent(d):
    """Which columns of d anything is sent to, (..., 1, n); all, unless d knows its flow."""
    if not isinstance(d, Masked) or not d.flow:
        return True
    return f.greater(f.max(share_of(d, "flow")(), -2, True), 0.0)


def through_inverse_gaps(d, out, w, *_):
    h = d * out * out
    return f.unbroadcast(f.sum(h, -1) - f.sum(h, -2), w)


def left_vectors(a):
    """The left singular vectors of a, as columns in the order of svdvals(a), with LAPACK's signs.

    For equal singular values, and for those that are 0, the derivative is right or NaN: see eigenvectors.
    """
    return np.linalg.svd(a, full_matrices=False)[0]


def through_vectors(d, u, v, s):
    """The adjoint of u s vᵀ from that of u (Townsend, 2016, transposed)."""
    m = f.mT(u) @ d
    beside = d - u @ m
    m = f.ratio(over_gaps(d, s, m), s[..., None, :] + s[..., :, None])
    return (u @ ((m + f.mT(m)) * s[..., None, :]) + over_values(d, s, beside)) @ f.mT(v)


def along_vectors(t, u, v, s):
    """The tangent of u from that of u s vᵀ."""
    d = t @ v
    m = f.mT(u) @ d
    beside = d - u @ m
    m = m * s[..., None, :] + f.mT(m) * s[..., :, None]
    m = f.ratio(over_gaps(d * s[..., None, :], s, m), s[..., None, :] + s[..., :, None])
    return u @ m + over_values(d, s, beside)


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
    m = f.mT(out) @ d
    turn = out @ over_gaps(d, f.eigvalsh(a), m) @ f.mT(out)
    return f.half(turn + f.mT(turn))


def along_eigenvectors(t, out, a, signs=("L",)):
    d = f.half(t + f.mT(t)) @ out
    m = f.mT(out) @ d
    return out @ over_gaps(d, f.eigvalsh(a), m)


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
         elsewhere=by_elimination.inv, reads="matrix", complex=True)
operator("pinv",       pinv,       through_pinv,                                        flops=of_columns(24), reads="matrix")
operator("det",        det,        lambda d, out, a: scalar_of_each(d, a) * f.cofactor(a),
            flops=cubic(2 / 3), numpy="linalg.det", elsewhere=by_elimination.det, reads="matrix", complex=True)
operator("logabsdet",  logabsdet,  lambda d, out, a: scalar_of_each(d, a) * f.mT(f.inv(a)),       flops=cubic(2 / 3),
         elsewhere=by_elimination.logabsdet, reads="matrix")
operator("cofactor",   cofactor,   lambda d, out, a: f.cofactor_slope(d, a),
         tangents=[lambda t, out, a: f.cofactor_slope(t, a)],                           flops=cubic(24),
         formula=by_elimination.cofactor_of_few, elsewhere=by_elimination.cofactor, reads="matrix", complex=True)
operator("cofactor_slope", cofactor_slope, lambda d, out, t, a: f.cofactor_slope(d, a), traced(slope_by_inverse, 1),
         flops=cubic(32), elsewhere=by_elimination.cofactor_slope, complex=True)
operator("solve",      solve,      lambda d, out, a, b: -f.dot_left(f.solve(f.mT(a), f.column(d, b)), a, f.column(out, b)),
                                   lambda d, out, a, b: f.unbroadcast(f.reshape(f.solve(f.mT(a), f.column(d, b)), out), b),
         flops=lambda out, a, b: round(2 / 3 * a.size * a.shape[-1]) + 2 * np.size(out) * a.shape[-1], numpy="linalg.solve",
         elsewhere=by_elimination.solve, reads="matrix", complex=True)
operator("cholesky",   cholesky,   through_cholesky,                                    flops=cubic(1 / 3),
         elsewhere=by_elimination.cholesky, reads="matrix")
linear(  "column",     column,     lambda d, out, x, b: f.reshape(d, x), None,          view=True, flow="moved", formula=column,
            complex=True)
linear(  "lower_half", lower_half, lambda d, out, x: f.lower_half(d),                    flops=2, elsewhere=lower_half,
         reads="matrix")
#          op              value          rule per argument
operator("eigvalsh",     eigvalsh,     lambda d, out, a: spanned(d, f.eigenvectors(a), f.eigenvectors(a)), flops=cubic(4 / 3),
         reads="matrix")
operator("eigenvectors", eigenvectors, through_eigenvectors, None,
         tangents=[along_eigenvectors, None],                                           flops=of_columns(9), reads="matrix")
operator("inverse_gaps", inverse_gaps, through_inverse_gaps, None, None, None,          flops=20, elsewhere=inverse_gaps)
operator("inverse_values", inverse_values, lambda d, out, s, *_: f.unbroadcast(-f.sum(d * out * out, -2), s), None, None, None,
         flops=20, elsewhere=inverse_values)
operator("svdvals",      svdvals,      lambda d, out, a: spanned(d, f.left_vectors(a), f.right_vectors(a)), flops=of_columns(4),
         reads="matrix")
operator("left_vectors", left_vectors, lambda d, out, a: through_vectors(d, out, f.right_vectors(a), f.svdvals(a)),
         tangents=[lambda t, out, a: along_vectors(t, out, f.right_vectors(a), f.svdvals(a))],     flops=of_columns(14),
         reads="matrix")
operator("right_vectors", right_vectors, lambda d, out, a: f.mT(through_vectors(d, out, f.left_vectors(a), f.svdvals(a))),
         tangents=[lambda t, out, a: along_vectors(f.mT(t), out, f.left_vectors(a), f.svdvals(a))],
         flops=of_columns(14), reads="matrix")
operator("orthonormal",  orthonormal,  lambda d, out, a: through_qr(d, out, f.upper(a), -f.mT(d) @ out), flops=of_columns(4),
         elsewhere=by_elimination.orthonormal, reads="matrix")
operator("upper",        upper,        lambda d, out, a: through_qr(0.0, f.orthonormal(a), out, out @ f.mT(d)),
         flops=of_columns(2), elsewhere=by_elimination.upper, reads="matrix")
operator("expm",         expm,         lambda d, out, a: frechet(f.mT(a), d),
         tangents=[lambda t, out, a: frechet(a, t)],                                    flops=cubic(20), reads="matrix",
         complex=True)
operator("sylvester",    sylvester,    lambda d, out, a, b, q: -(f.sylvester(f.mT(a), f.mT(b), d) @ f.mT(out)),
                                       lambda d, out, a, b, q: -(f.mT(out) @ f.sylvester(f.mT(a), f.mT(b), d)),
                                       lambda d, out, a, b, q: f.sylvester(f.mT(a), f.mT(b), d),
         tangents=[lambda t, out, a, b, q: -f.sylvester(a, b, t @ out), lambda t, out, a, b, q: -f.sylvester(a, b, out @ t),
                   lambda t, out, a, b, q: f.sylvester(a, b, t)],
         flops=lambda out, a, b, q: 25 * (a.size * len(a) + b.size * len(b)), entries=multiplied)
operator("sqrtm",        sqrtm,        lambda d, out, a: f.sylvester(f.mT(out), f.mT(out), d),
         tangents=[lambda t, out, a: f.sylvester(out, out, t)], flops=cubic(28), reads="matrix",
         example=np.asarray)  # SciPy warns of the root of ones
