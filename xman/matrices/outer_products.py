"""The Hessian approximated by outer products, and its inverse: Bishop, Deep Learning, eqs. 8.38 to 8.41."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ..errors import XManError
from ..interpreters import eval
from ..wengert import Steps
from .hessian import packed
from .jacobian import Jacobian
from .linear import Point


def half_squares(a: np.ndarray) -> np.ndarray:
    """½ Σ (a − t)²: the unit matrix (8.40)."""
    return np.eye(a.size)


def logistic(a: np.ndarray) -> np.ndarray:
    """Cross-entropy of σ(a): the roots of y (1 − y) on the diagonal (8.41)."""
    from scipy.special import expit
    return np.diag(np.sqrt(expit(a) * expit(-a)))  # 1 − σ(a) = σ(−a), which does not cancel


def softmax(a: np.ndarray) -> np.ndarray:
    """Cross-entropy of p = softmax(a): L of L Lᵀ = diag(p) − p pᵀ, diag(√p) − p √pᵀ (as 8.41)."""
    p = np.exp(a - a.max())
    p /= p.sum()
    return np.diag(np.sqrt(p)) - np.outer(p, np.sqrt(p))


ERRORS = {"squares": half_squares, "logistic": logistic, "softmax": softmax}


def outer_products(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str = "softmax",
                   weight: float = 1.0) -> np.ndarray:
    """H ≈ Σ_n weight · J_nᵀ L Lᵀ J_n, (W, W) with the elements of all wrt in order; never negative.

    J_n is the Jacobian of the n-th row of `of`, the scores a_n before the last activation, of shape (n, k),
    (n,) or (). error: "squares" for ½ Σ (a − t)² (8.40), "logistic" for the cross-entropy of σ(a) (8.41),
    "softmax" for that of softmax(a). weight: 1/n where the loss is the mean over n rows. It is the Hessian
    itself where a is linear in wrt, and near it where the network fits its data. XManError for another error.
    """
    return sum(rows.T @ rows for rows in weighted_jacobians(steps, of, wrt, values, error, weight))


def inverse_outer_products(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str = "softmax",
                           weight: float = 1.0, alpha: float = 1e-4) -> np.ndarray:
    """(alpha · 1 + outer_products)⁻¹, built one example at a time from 1/alpha on (Hassibi and Stork 1993).

    With b the factor of an example, of one column, H⁻¹ becomes H⁻¹ − H⁻¹ b bᵀ H⁻¹ / (1 + bᵀ H⁻¹ b); with k of
    them the quotient solves k equations. alpha: a positive number, small next to the Hessian.
    """
    if not (isinstance(alpha, (int, float, np.number)) and alpha > 0):
        raise XManError(f"alpha is a positive number, the matrix that the inverse starts from, not {alpha!r}")
    inverse = None
    for rows in weighted_jacobians(steps, of, wrt, values, error, weight):
        inverse = np.eye(rows.shape[1]) / alpha if inverse is None else inverse
        b = inverse @ rows.T
        inverse = inverse - b @ np.linalg.solve(np.eye(len(rows)) + rows @ b, b.T)
    return inverse


def weighted_jacobians(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str, weight: float
                       ) -> Iterator[np.ndarray]:
    """For each example Lᵀ J_n times the root of its weight, an array (k, W)."""
    if error not in ERRORS:
        raise XManError(f"there is no error {error!r}; there are {', '.join(ERRORS)}")
    if not (isinstance(weight, (int, float, np.number)) and weight > 0):
        raise XManError(f"the weight of an example is a positive number, not {weight!r}")
    jacobian = Jacobian(steps, of, wrt)
    y = np.asarray(eval(steps, values)[of])
    if not y.size:
        raise XManError(f"there are no examples: {of!r} has shape {y.shape}")
    scores = y.reshape(len(y) if y.ndim else 1, -1)
    for a, rows in zip(scores.astype(float), rows_of(jacobian, values, y.shape, scores.shape), strict=True):
        yield np.sqrt(weight) * ERRORS[error](a).T @ rows


def rows_of(jacobian: Jacobian, values: Point, shape: tuple, rows: tuple) -> Iterator[np.ndarray]:
    """J_n for each example, (k, W): one after another where reverse mode is cheapest, else all at once."""
    if jacobian.count(values).mode != "reverse":
        blocks = jacobian(values)
        yield from np.concatenate([blocks[x].reshape(*rows, -1) for x in jacobian.wrt], axis=-1)
        return
    pull = jacobian.pullback(values)
    for places in np.arange(math.prod(rows)).reshape(rows):
        units = [np.bincount([place], minlength=math.prod(rows)).reshape(shape) for place in places]
        yield np.stack([packed(pull(unit), jacobian.wrt) for unit in units])
