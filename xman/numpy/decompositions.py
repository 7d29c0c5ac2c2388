"""Decompositions and equations of numpy.linalg."""
from __future__ import annotations

import math

import numpy as np

from ops import f
from ops.facts import is_complex

from ..traced.arraylike import plain
from ..traced.dispatch import NAMES, cast_to, with_shape
from ..traced.refusals import refuse

EIGH, SVD, QR, SLOGDET = [type(getattr(np.linalg, name)(np.eye(1))) for name in "eigh svd qr slogdet".split()]


def in_floats(x):
    """x as floats."""
    x = with_shape(x)
    return x if x.dtype.kind == "f" else cast_to(x, float)


def refuse_deficient(function):
    refuse(f"np.linalg.{function} of a matrix without full rank has no derivative",
           "add a multiple of np.eye to a.T @ a, and use np.linalg.solve")


def triangle_mask(a, lower):
    """A mask of the lower triangle of a, with its diagonal; or of the upper triangle."""
    return (np.tril if lower else np.triu)(np.ones(a.shape[-2:], bool))


def mirrored(a, lower):
    """The symmetric matrix, or Hermitian one, with the lower triangle of a; or with the upper."""
    a = a if is_complex(a) else in_floats(a)
    return f.where(triangle_mask(a, lower), a, np.conj(f.mT(a)))


def of_reals(a):
    """The real matrix with [[x, −y], [y, x]] for x + iy: its products and triangles are those of a."""
    turn = np.array([[0.0, -1.0], [1.0, 0.0]], a.real.dtype)
    return np.kron(a.real, turn.T @ turn) + np.kron(a.imag, turn)


def slogdet(a):
    if not is_complex(a):
        return SLOGDET(f.det_sign(a), f.logabsdet(a))
    size = f.half(f.logabsdet(of_reals(a)))
    scale = f.exp(f.where(f.isfinite(size), size, 0.0) / -max(a.shape[-1], 1))
    return SLOGDET(f.det(a * scale[..., None, None]), size)


def eigvalsh(a, UPLO="L"):
    if not is_complex(a):
        return eigh(a, UPLO)[0]
    np.linalg.eigvalsh(np.eye(1), UPLO)  # raises what NumPy does
    values = f.eigvalsh(of_reals(mirrored(a, UPLO in ("L", "l"))))  # each twice
    return f.half(values[..., ::2] + values[..., 1::2])


def eigh(a, UPLO="L"):
    if str(UPLO).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = mirrored(a, str(UPLO).upper() == "L")
    return EIGH(f.eigvalsh(a), f.eigenvectors(a, (str(UPLO).upper(),)))


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        refuse("svd with hermitian=True has no derivative here", "write np.linalg.eigh")
    if not compute_uv:
        return f.svdvals(a)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        refuse(f"svd with full_matrices=True fills the vectors of a matrix of shape {a.shape} up to any basis, which "
               "has no derivative", "write full_matrices=False, or np.linalg.svdvals for the values alone")
    return SVD(f.left_vectors(a), f.svdvals(a), f.mT(f.right_vectors(a)))


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
    a, b = with_shape(a), with_shape(b)
    x, residuals, rank, sizes = np.linalg.lstsq(plain(a), plain(b), rcond)
    if rank < min(a.shape):
        refuse_deficient("lstsq")
    x = f.dot(f.pinv(a), b)
    residuals = np.sum((b - a @ x) ** 2, 0, keepdims=b.ndim == 1) if residuals.size else residuals
    return x, residuals, rank, f.svdvals(a)


def cond(x, p=None):
    if np.isinf(value := np.linalg.cond(plain(x), p)).all():
        return value
    if p is None or p in (2, -2):
        sizes = f.svdvals(x)
        return sizes[..., -1] / sizes[..., 0] if p == -2 else sizes[..., 0] / sizes[..., -1]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(f.inv(x), p, (-2, -1))


def tensorinv(a, ind=2):
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    size, shape = math.prod(a.shape[ind:]), (*a.shape[ind:], *a.shape[:ind])
    return np.reshape(f.inv(np.reshape(a, (size, -1))), shape)


def tensorsolve(a, b, axes=None):
    a, b = with_shape(a), with_shape(b)
    if axes is not None:
        a = np.transpose(a, [*(k for k in range(a.ndim) if k not in axes), *axes])
    shape = a.shape[b.ndim:]
    return np.reshape(f.solve(np.reshape(a, (-1, math.prod(shape))), np.ravel(b)), shape)


def polyfit(x, y, deg, rcond=None, w=None):
    np.polyfit(plain(x), plain(y), deg, rcond, w=plain(w))  # raises what NumPy does
    x, y = cast_to(x, float), cast_to(y, float)
    columns = np.vander(x, deg + 1)
    if w is not None:
        w = with_shape(w)
        columns, y = columns * w[:, None], y * np.reshape(w, (-1, *(1,) * (y.ndim - 1)))
    size = np.sqrt(np.sum(columns * columns, 0))
    scaled_solution = lstsq(columns / size, y, len(x) * np.finfo(x.dtype).eps if rcond is None else rcond)[0]
    return f.mT(f.mT(scaled_solution) / size) if y.ndim > 1 else scaled_solution / size


NAMES[np.linalg.svdvals] = lambda x: f.svdvals(x)
