"""The functions of scipy.linalg on traced values."""
from __future__ import annotations

import numpy as np

from ops import f

from ..numpy import compositions as c
from ..numpy import decompositions as numpys
from ..numpy.decompositions import mirrored, triangle_mask
from ..traced.dispatch import defined_in, with_shape
from ..traced.refusals import SCIPY, refuse


def solve(a, b, lower=False, *, assume_a=None, transposed=False):
    a, b = with_shape(a), with_shape(b)
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        a = mirrored(a, lower)
    elif assume_a in ("upper triangular", "lower triangular"):
        a = f.where(triangle_mask(a, assume_a == "lower triangular"), a, 0.0)
    elif assume_a not in (None, "gen", "general"):
        refuse(f"scipy.linalg.solve with assume_a={assume_a!r} has no derivative here", "leave it out")
    return f.solve(f.mT(a) if transposed else a, b)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    a = f.where(triangle_mask(with_shape(a), lower), with_shape(a), 0.0)
    if unit_diagonal:
        a = f.where(np.eye(a.shape[-1], dtype=bool), 1.0, a)
    return f.solve(a if trans in (0, "N") else f.mT(a), with_shape(b))


def cholesky(a, lower=False):
    factor = f.cholesky(mirrored(a, lower))
    return factor if lower else f.mT(factor)


def cho_factor(a, lower=False):
    return f.where(triangle_mask(a, lower), cholesky(a, lower), a), lower


def cho_solve(c_and_lower, b):
    factor, lower = c_and_lower
    first, last = (0, 1) if lower else (1, 0)
    return solve_triangular(factor, solve_triangular(factor, b, first, lower), last, lower)


def eigh(a, *, lower=True, eigvals_only=False):
    a = mirrored(a, lower)
    if eigvals_only:
        return f.eigvalsh(a)
    return f.eigvalsh(a), f.eigenvectors(a, ("L" if lower else "U", "scipy"))


def svd(a, full_matrices=True, compute_uv=True):
    factors = numpys.svd(a, full_matrices, compute_uv)
    return tuple(factors) if compute_uv else factors


def qr(a, *, mode="full"):
    if mode not in ("economic", "full", "r") or mode != "economic" and a.shape[-2] > a.shape[-1]:
        refuse(f"scipy.linalg.qr with mode={mode!r} has no derivative here", "write mode='economic'")
    return (numpys.qr(a, "r"),) if mode == "r" else tuple(numpys.qr(a))


def lstsq(a, b, cond=None):
    x, residuals, rank, sizes = numpys.lstsq(a, b, cond)
    return x, np.squeeze(residuals, 0) if np.ndim(b) == 1 and np.size(residuals) else residuals, rank, sizes


def block_diag(*arrays):
    arrays = [np.atleast_2d(with_shape(a)) for a in arrays]
    ends = np.cumsum([a.shape[1] for a in arrays]).tolist()
    pairs = zip(arrays, ends, strict=True)
    return np.concatenate([f.pad(a, ((0, 0), (end - a.shape[1], ends[-1] - end))) for a, end in pairs])


def toeplitz(c, r=None):
    c = np.ravel(c)
    r = c if r is None else np.ravel(r)
    return np.concatenate([np.flip(r[1:]), c])[np.arange(len(c))[:, None] - np.arange(len(r)) + len(r) - 1]


LINALG = {
    "inv": lambda a, **_: f.inv(a),
    "det": f.det, "pinv": c.pinv, "svdvals": f.svdvals, "expm": f.expm, "solve_sylvester": f.sylvester,
    "norm": lambda a, ord=None, axis=None, keepdims=False: c.norm(a, ord, axis, keepdims),
    "eigvalsh": lambda a, *, lower=True: eigh(a, lower=lower, eigvals_only=True),
    "solve_continuous_lyapunov": lambda a, q: f.sylvester(a, f.mT(with_shape(a)), q),
    "sqrtm": lambda A, *_: f.sqrtm(A),
} | defined_in(globals())
SCIPY["scipy.linalg"] = LINALG
