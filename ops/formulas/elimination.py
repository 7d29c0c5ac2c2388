"""Factorisations of matrices, column by column, and cofactors from the minors of small ones."""
from __future__ import annotations

import numpy as np

from ..expression import f


def eliminated(m):
    """m, (…, n, w), with its first n columns eliminated, the pivots, (…, n), each the greatest,
    and the sign of the exchanges of rows (Golub and Van Loan 2013, §3.4)."""
    n, is_unused, pivots, order = m.shape[-2], True, [], []
    for k in range(n):
        column = m[..., k]
        pivot_row = f.argmax(f.where(is_unused, f.abs(column), -1.0), -1)[..., None]
        is_pivot = f.equal(pivot_row, np.arange(n))
        row = f.sum(f.where(is_pivot[..., None], m, 0), -2, True)
        pivot = row[..., k]
        row = row / f.where(f.equal(pivot, 0), 1, pivot)[..., None]
        m = f.where(is_pivot[..., None], row, m - column[..., None] * row)
        is_unused = f.logical_and(is_unused, f.logical_not(is_pivot))
        pivots, order = [*pivots, pivot], [*order, pivot_row]
    order = f.concat(-1, *order)
    exchanged = f.where(np.tri(n, k=-1, dtype=bool), f.sign(order[..., :, None] - order[..., None, :]), 1)
    return (f.astype(f.equal(order[..., None], np.arange(n)), (m.dtype.name,)) @ m, f.concat(-1, *pivots),
            f.astype(f.prod(exchanged, (-1, -2)), (m.dtype.name,)))


def det(a):
    _, pivots, sign = eliminated(a)
    return sign * f.prod(pivots, -1)


def det_sign(a):
    _, pivots, sign = eliminated(a)
    return sign * f.prod(f.sign(pivots), -1)


def logabsdet(a):
    return f.sum(f.log(f.abs(eliminated(a)[1])), -1)


def solve(a, b):
    """x of a x = b; NaN if a has no inverse."""
    n, vectors = a.shape[-1], b.ndim == 1
    b = b[:, None] if vectors else b
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = f.broadcast(a, (*lead, *a.shape[-2:])), f.broadcast(b, (*lead, *b.shape[-2:]))
    rows, pivots, _ = eliminated(f.concat(-1, a, b))
    x = f.where(f.equal(f.prod(f.abs(f.sign(pivots)), -1), 0)[..., None, None], np.nan, rows[..., n:])
    return x[..., 0] if vectors else x


def inv(a):
    return solve(a, f.broadcast(np.eye(a.shape[-1]), a))


def cholesky(a):
    a, columns, n = f.half(a + f.mT(a)), [], a.shape[-1]
    for k in range(n):
        column = f.where(np.arange(n) < k, 0, a[..., k]) / f.sqrt(a[..., k, k])[..., None]
        a = a - column[..., None] * column[..., None, :]
        columns.append(column)
    return f.stack(-1, *columns)


def reflected(a):
    """r, (…, m, n), and the orthogonal q of a = q r, by Householder's reflections with LAPACK's signs."""
    m, n = a.shape[-2:]
    q, places = f.broadcast(np.eye(m), (*a.shape[:-2], m, m)), np.arange(m)
    q = f.astype(q, (a.dtype.name,))
    for k in range(min(n, m - 1)):
        x = f.where(places < k, 0, a[..., k])
        head, tail = x[..., k:k + 1], f.sum(f.where(places <= k, 0, x * x), -1, True)
        v = f.where(places == k, head + f.where(f.less(head, 0), -1, 1) * f.sqrt(head * head + tail), x)
        v = f.where(f.equal(tail, 0), 0, v)
        v = v[..., None] * f.sqrt(2.0 / f.where(f.equal(tail, 0), 1, f.sum(v * v, -1, True)))[..., None]
        a, q = a - v @ (f.mT(v) @ a), q - (q @ v) @ f.mT(v)
    return a, q


def orthonormal(a):
    return reflected(a)[1][..., :min(a.shape[-2:])]


def upper(a):
    r, _ = reflected(a)
    r = r[..., :min(a.shape[-2:]), :]
    return f.where(np.tri(*r.shape[-2:], k=-1, dtype=bool), 0, r)


# ---- cofactors ---------------------------------------------------------------------------------------------

def minors(a):
    """a without row i and column j, (…, n, n, n − 1, n − 1), and the sign of each."""
    n = a.shape[-1]
    indices = np.array([[k for k in range(n) if k != i] for i in range(n)], int).reshape(n, n - 1)
    signs = np.outer(*2 * [(-1.0) ** np.arange(n)])
    return a[..., indices[:, None, :, None], indices[None, :, None, :]], signs


def cofactor(a):
    if a.shape[-1] == 1:
        return f.broadcast(1.0, a)
    within, signs = minors(a)
    return f.astype(signs, (a.dtype.name,)) * f.det(within)


def cofactor_of_few(a):
    """The cofactors of matrices of up to 3 × 3, products of entries: [[d, -c], [-b, a]] of [[a, b], [c, d]];
    None for others. All are NaN where an entry is not finite: 0 · a is NaN then.

    Where NumPy has to be called for a line of a loop, Python runs all of the loop, at some 100 µs a turn in
    place of one: a Kalman filter's likelihood has such a line.
    """
    n, turned = a.shape[-1], lambda i, j: f.roll(a, (-i, -j), (-2, -1))
    if n > 3:
        return None
    if n == 3:
        size = turned(1, 1) * turned(2, 2) - turned(1, 2) * turned(2, 1)
    else:
        size = 1.0 if n == 1 else f.where(np.eye(2, dtype=bool), turned(1, 1), -turned(1, 1))
    return size + f.sum(0.0 * a, (-2, -1), True)


def cofactor_slope(t, a):
    """The derivative of cofactor(a) in the direction t: the sum of the minors' cofactors, weighted by t."""
    if a.shape[-1] == 1:
        return f.broadcast(0.0, a)
    within, signs = minors(a)
    return f.astype(signs, (a.dtype.name,)) * f.sum(cofactor(within) * minors(t)[0], (-2, -1))
