"""Decompositions of matrices, also in batches: one operator for each of their results."""
from __future__ import annotations

import math

import numpy as np

from ..arrays.rearrangements import mT
from ..expression import f
from ..facts import cubic, of_columns
from ..kinks import Masked, bare
from ..kinks.masked import share_of
from ..table import operator
from .algebra import of_matrix, symmetric


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


def rounding(gap):
    """What a sum along a side of the matrix loses, as a share of its terms."""
    return max(*gap.shape[-2:], 4) * float(np.finfo(gap.dtype).eps)


def inverse_of(gap, scale, share, size, blur=1.0):
    """1/gap, by which a turn is divided; 0 where nothing turns, and NaN where rounding decides the turn.

    scale: the greatest of the values with these gaps. share: the turn, divided by the terms that it is a sum
    of. size: of these terms. blur: how many times the rounding of one sum these terms have lost already. A
    gap that is 0 up to rounding still counts if the terms are small as well, as those of u·s are where s is
    0: their quotient is precise.
    """
    eps = rounding(gap)
    distance, turns = f.abs(gap), f.greater(share, eps * blur)
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
    """1/(w_j − w_i) at [..., i, j], by which m = vᵀ d, with d for vectors v, is divided (see inverse_of).

    A vector is known up to eps·scale/gap, by its nearest neighbour that is not its equal (Golub and Van Loan,
    Matrix Computations, 8.1).
    """
    share, size = share_of_columns(m, d, sent)
    share, size = f.maximum(share, f.mT(share)), f.maximum(size, f.mT(size))
    between = 1.0 - np.eye(w.shape[-1], dtype=w.dtype)
    gap, scale = w[..., None, :] - w[..., :, None], f.max(f.abs(w), -1, True)[..., None]
    distance = f.abs(gap)
    nearest = f.min(f.where(f.greater(distance, rounding(gap) * scale), distance, scale), -2, True)
    blur = f.ratio(scale, f.minimum(nearest, f.mT(nearest)))  # 0 where all are 0
    return inverse_of(gap, scale, between * share, size, blur)


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
    """u diag(d) vᵀ, without the vectors to which nothing is sent: they may have no derivative."""
    d = d[..., None, :]
    sent = columns_sent(d)
    return u * d @ f.mT(v if sent is True else f.where(sent, v, 0.0))


def eigvalsh(a):
    """The eigenvalues of (a + aᵀ)/2 in ascending order."""
    return np.linalg.eigvalsh(symmetric(a))


def svdvals(a):
    """The singular values of a (..., m, n), the greatest first, as many as the lesser of m and n."""
    return np.linalg.svd(a, compute_uv=False)


def right_vectors(a):
    """The right singular vectors of a, as columns, signed as left_vectors(a): a = l diag(svdvals) rᵀ."""
    return mT(np.linalg.svd(a, full_matrices=False)[2])


def orthonormal(a):
    """Q of a = Q R, orthonormal and upper triangular, a (..., m, n) of rank n ≤ m, with LAPACK's signs."""
    return np.linalg.qr(tall(a))[0]


def upper(a):
    """R of a = orthonormal(a) R."""
    return np.linalg.qr(tall(a))[1]


#           op              value           rule per argument
of_matrix("eigvalsh",       eigvalsh,       lambda d, out, a: spanned(d, f.eigenvectors(a), f.eigenvectors(a)),
          flops=cubic(4 / 3))
of_matrix("eigenvectors",   eigenvectors,   through_eigenvectors, tangents=[along_eigenvectors], flops=of_columns(9))
operator( "inverse_gaps",   inverse_gaps,   through_inverse_gaps, None, None, None, flops=20, elsewhere=inverse_gaps)
operator( "inverse_values", inverse_values, lambda d, out, s, *_: f.unbroadcast(-f.sum(d * out * out, -2), s), None, None, None,
          flops=20, elsewhere=inverse_values)
of_matrix("svdvals",        svdvals,        lambda d, out, a: spanned(d, f.left_vectors(a), f.right_vectors(a)),
          flops=of_columns(4))
of_matrix("left_vectors",   left_vectors,   lambda d, out, a: through_vectors(d, out, f.right_vectors(a), f.svdvals(a)),
          tangents=[lambda t, out, a: along_vectors(t, out, f.right_vectors(a), f.svdvals(a))], flops=of_columns(14))
of_matrix("right_vectors",  right_vectors,  lambda d, out, a: f.mT(through_vectors(d, out, f.left_vectors(a), f.svdvals(a))),
          tangents=[lambda t, out, a: along_vectors(f.mT(t), out, f.left_vectors(a), f.svdvals(a))], flops=of_columns(14))
of_matrix("orthonormal",    orthonormal,    lambda d, out, a: through_qr(d, out, f.upper(a), -f.mT(d) @ out),
          flops=of_columns(4))
of_matrix("upper",          upper,          lambda d, out, a: through_qr(0.0, f.orthonormal(a), out, out @ f.mT(d)),
          flops=of_columns(2))
