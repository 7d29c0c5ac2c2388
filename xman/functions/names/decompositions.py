"""Decompositions and equations of numpy.linalg, and the functions of scipy.linalg."""
from __future__ import annotations

import math

import numpy as np

from ops import f

from ..arraylike import NAMES, plain
from ..refusals import refuse
from . import compositions as c
from .rearrangements import array, refuse_options

EIGH, SVD, QR, SLOGDET = (type(find(np.eye(1))) for find in (np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.slogdet))


def triangle(a, lower):
    """Where the lower triangle of a is, the diagonal in it; or the upper."""
    return (np.tril if lower else np.triu)(np.ones(a.shape[-2:], bool))


def mirrored(a, lower):
    """The symmetric matrix of which only the lower triangle of a is read, or the upper."""
    a = array(a)
    return f.where(triangle(a, lower), a, f.mT(a))


def eigh(a, UPLO="L"):
    if str(UPLO).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = mirrored(a, str(UPLO).upper() == "L")
    return EIGH(f.eigvalsh(a), f.eigenvectors(a))


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    if not compute_uv:
        return f.svdvals(a)
    if hermitian:
        refuse("svd with hermitian=True has no derivative here", "write np.linalg.eigh")
    if full_matrices and a.shape[-1] != a.shape[-2]:
        refuse("svd with full_matrices=True gives any basis of a null space, and no derivative", "write full_matrices=False")
    return SVD(f.leftVectors(a), f.svdvals(a), f.mT(f.rightVectors(a)))


def qr(a, mode="reduced"):
    rows, columns = a.shape[-2:]
    if mode not in ("reduced", "r", "complete") or mode == "complete" and rows > columns:
        refuse(f"qr with mode={mode!r} has no derivative here", "write mode='reduced'")
    left = a if rows >= columns else a[..., :rows]
    if mode == "r" and rows >= columns:
        return f.upper(a)
    q = f.orthonormal(left)
    r = f.upper(left) if left is a else np.concatenate([f.upper(left), f.mT(q) @ a[..., rows:]], -1)
    return r if mode == "r" else QR(q, r)


def lstsq(a, b, rcond=None):
    a, b = array(a), array(b)
    x, residuals, rank, sizes = np.linalg.lstsq(plain(a), plain(b), rcond)
    if rank < min(a.shape):
        refuse("np.linalg.lstsq of a matrix without full rank has no derivative",
               "add a multiple of np.eye to a.T @ a, and use np.linalg.solve")
    x = f.dot(f.pinv(a), b)
    return x, np.sum((b - a @ x) ** 2, 0, keepdims=b.ndim == 1) if residuals.size else residuals, rank, f.svdvals(a)


def cond(x, p=None):
    if p is None or p in (2, -2):
        sizes = f.svdvals(x)
        return sizes[..., -1] / sizes[..., 0] if p == -2 else sizes[..., 0] / sizes[..., -1]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(f.inv(x), p, (-2, -1))


def tensorinv(a, ind=2):
    size, shape = math.prod(a.shape[ind:]), (*a.shape[ind:], *a.shape[:ind])
    return np.reshape(f.inv(np.reshape(a, (size, -1))), shape)


def tensorsolve(a, b, axes=None):
    a, b = array(a), array(b)
    if axes is not None:
        a = np.transpose(a, [*(k for k in range(a.ndim) if k not in axes), *axes])
    shape = a.shape[b.ndim:]
    return np.reshape(f.solve(np.reshape(a, (-1, math.prod(shape))), np.ravel(b)), shape)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    refuse_options("polyfit", full=full or None, cov=cov or None)
    x, y = array(x) + 0.0, array(y)
    columns = np.vander(x, deg + 1)
    if w is not None:
        columns, y = columns * array(w)[:, None], y * np.reshape(array(w), (-1, *(1,) * (y.ndim - 1)))
    size = np.sqrt(np.sum(columns * columns, 0))
    found = lstsq(columns / size, y, len(x) * np.finfo(x.dtype).eps if rcond is None else rcond)[0]
    return f.mT(f.mT(found) / size) if y.ndim > 1 else found / size


NAMES.update({
    np.linalg.eigh:        eigh,
    np.linalg.eigvalsh:    lambda a, UPLO="L": eigh(a, UPLO)[0],
    np.linalg.svd:         svd,
    np.linalg.svdvals:     lambda x, /: f.svdvals(x),
    np.linalg.qr:          qr,
    np.linalg.lstsq:       lstsq,
    np.linalg.cond:        cond,
    np.linalg.matrix_rank: lambda A, *options, **named: np.linalg.matrix_rank(plain(A), *options, **named),
    np.linalg.tensorinv:   tensorinv,
    np.linalg.tensorsolve: tensorsolve,
    np.polyfit:            polyfit,
})


# ---- scipy.linalg: check_finite and overwrite_… change no value ---------------------------------------------------------

def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    a, b = array(a), array(b)
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        a = mirrored(a, lower)
    elif assume_a in ("upper triangular", "lower triangular"):
        a = f.where(triangle(a, assume_a == "lower triangular"), a, 0.0)
    elif assume_a not in (None, "gen", "general"):
        refuse(f"scipy.linalg.solve with assume_a={assume_a!r} has no derivative here", "leave it out")
    return f.solve(f.mT(a) if transposed else a, b)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    a = f.where(triangle(array(a), lower), array(a), 0.0)
    if unit_diagonal:
        a = f.where(np.eye(a.shape[-1], dtype=bool), 1.0, a)
    return f.solve(a if trans in (0, "N") else f.mT(a), array(b))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    factor = f.cholesky(mirrored(a, lower))
    return factor if lower else f.mT(factor)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return f.where(triangle(a, lower), cholesky(a, lower), a), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    factor, lower = c_and_lower
    first, last = (0, 1) if lower else (1, 0)
    return solve_triangular(factor, solve_triangular(factor, b, first, lower), last, lower)


def eigh_of_scipy(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, check_finite=True,
                  **options):
    refuse_options("scipy.linalg.eigh", b=b, **options)
    a = mirrored(a, lower)
    return f.eigvalsh(a) if eigvals_only else (f.eigvalsh(a), f.eigenvectors(a))


def svd_of_scipy(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    found = svd(a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def qr_of_scipy(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    refuse_options("scipy.linalg.qr", pivoting=pivoting or None)
    if mode not in ("economic", "full", "r") or mode != "economic" and a.shape[-2] > a.shape[-1]:
        refuse(f"scipy.linalg.qr with mode={mode!r} has no derivative here", "write mode='economic'")
    return (qr(a, "r"),) if mode == "r" else tuple(qr(a))


def lstsq_of_scipy(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    x, residuals, rank, sizes = lstsq(a, b, cond)
    return x, np.squeeze(residuals, 0) if np.ndim(b) == 1 and np.size(residuals) else residuals, rank, sizes


def block_diag(*arrays):
    arrays = [np.atleast_2d(array(a)) for a in arrays]
    ends = np.cumsum([a.shape[1] for a in arrays]).tolist()
    return np.concatenate([f.pad(a, ((0, 0), (end - a.shape[1], ends[-1] - end))) for a, end in zip(arrays, ends, strict=True)])


def toeplitz(c, r=None):
    c = np.ravel(c)
    r = c if r is None else np.ravel(r)
    return np.concatenate([np.flip(r[1:]), c])[np.arange(len(c))[:, None] - np.arange(len(r)) + len(r) - 1]


LINALG = {
    "inv": lambda a, overwrite_a=False, check_finite=True, **_: f.inv(a),
    "det": lambda a, overwrite_a=False, check_finite=True: f.det(a),
    "pinv": lambda a, **options: c.pinv(a, **options),
    "norm": lambda a, ord=None, axis=None, keepdims=False, check_finite=True: c.norm(a, ord, axis, keepdims),
    "eigh": eigh_of_scipy,
    "eigvalsh": lambda a, b=None, **options: eigh_of_scipy(a, b, eigvals_only=True, **options),
    "svd": svd_of_scipy,
    "svdvals": lambda a, overwrite_a=False, check_finite=True: f.svdvals(a),
    "qr": qr_of_scipy,
    "lstsq": lstsq_of_scipy,
    "solve_sylvester": lambda a, b, q: f.sylvester(array(a), array(b), array(q)),
    "solve_continuous_lyapunov": lambda a, q: f.sylvester(array(a), f.mT(array(a)), array(q)),
    "expm": lambda A: f.expm(A),
    "sqrtm": lambda A, *_: f.sqrtm(A),
} | {g.__name__: g for g in (solve, solve_triangular, cholesky, cho_factor, cho_solve, block_diag, toeplitz)}
