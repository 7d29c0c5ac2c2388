"""NumPy's functions that are no operator and take more than a line to write with those there are."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ops import f

from ..arraylike import ArrayLike, cast, plain
from ..refusals import refuse
from .rearrangements import array, refuse_options, take_along_axis, whole_axis


def reduction(op: str) -> Any:
    """NumPy's reduction of that name: x with its options, by our operator."""
    def reduced(x, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=None, **options):
        refuse_options(op, out=out, initial=initial, where=where)
        x = cast(x, dtype) if dtype is not None else x
        return getattr(f, op)(x, axis=whole_axis(axis), keepdims=bool(keepdims), **options)
    return reduced


def extreme(op: str) -> Any:
    """np.max and np.min, which have no dtype."""
    def reduced(x, axis=None, out=None, keepdims=False, initial=None, where=None):
        refuse_options(op, out=out, initial=initial, where=where)
        return getattr(f, op)(x, axis=whole_axis(axis), keepdims=bool(keepdims))
    return reduced


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    if weights is None:
        mean = f.mean(a, axis=axis, keepdims=bool(keepdims))
        return (mean, np.full(mean.shape, a.size / max(mean.size, 1))[()]) if returned else mean
    a, weights = array(a), array(weights)
    if weights.shape != a.shape:
        weights = np.broadcast_to(np.expand_dims(weights, [i for i in range(a.ndim) if i != axis % a.ndim]), a.shape)
    total = np.sum(weights, axis, keepdims=bool(keepdims))
    mean = np.sum(a * weights, axis, keepdims=bool(keepdims)) / total
    return (mean, total) if returned else mean


def any_(x, axis=None, out=None, keepdims=False):
    refuse_options("any", out=out)
    return f.sum(f.not_equal(x, 0), axis=axis, keepdims=bool(keepdims)) > 0


def all_(x, axis=None, out=None, keepdims=False):
    refuse_options("all", out=out)
    return f.equal(f.sum(f.equal(x, 0), axis=axis, keepdims=bool(keepdims)), 0)


def arg(sign: int) -> Any:
    """np.argmax for +1, np.argmin for −1."""
    def position(x, axis=None, out=None, keepdims=False):
        refuse_options("argmax" if sign > 0 else "argmin", out=out)
        at = f.argmax(x if sign > 0 else -x if x.dtype.kind == "f" else -1.0 * x, axis=axis)
        return at if not keepdims else np.expand_dims(at, tuple(range(x.ndim)) if axis is None else axis)
    return position


def ptp(x, axis=None, out=None, keepdims=False):
    refuse_options("ptp", out=out)
    return np.max(x, axis, keepdims=keepdims) - np.min(x, axis, keepdims=keepdims)


def quantile(x, q, axis=None, keepdims=False):
    """NumPy's default, linear between the two nearest entries in order; NaN where one of them is NaN."""
    if np.ndim(q) or isinstance(q, ArrayLike):
        refuse("np.quantile and np.percentile have a derivative here for one fixed q", "call it once for each q")
    if isinstance(axis, tuple):
        refuse("a median over several axes has no operator here", "reshape them into one")
    x, along = (np.ravel(x), 0) if axis is None else (x, axis)
    ordered = np.moveaxis(np.sort(x, along), along, 0)
    position = q * (len(ordered) - 1)
    low, part = math.floor(position), position - math.floor(position)
    result = ordered[low] if part == 0 else ordered[low] * (1 - part) + ordered[low + 1] * part
    result = np.where(f.isnan(ordered[-1]), np.nan, result)
    return result if not keepdims else np.reshape(result, (1,) * x.ndim) if axis is None else np.expand_dims(result, axis)


def sort(x, axis=-1, kind=None, order=None, *, stable=None):
    if axis is None:
        x, axis = np.ravel(x), -1
    return take_along_axis(x, f.argsort(x, axis), axis)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    m = m if y is None else np.concatenate([np.atleast_2d(m), np.atleast_2d(y)])
    m = np.atleast_2d(m if rowvar or m.ndim < 2 else m.T)
    d = f.centered(m, 1)
    return np.squeeze(d @ d.T / (m.shape[1] - ((0 if bias else 1) if ddof is None else ddof)))


def corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    if not c.ndim:
        return c / c
    deviation = np.sqrt(np.diag(c))
    return c / deviation[:, None] / deviation


# ---- products -------------------------------------------------------------------------------------------------------

def dot(a, b, out=None):
    refuse_options("dot", out=out)
    a, b = array(a), array(b)
    if not a.ndim or not b.ndim:
        return f.mul(a, b)
    return f.dot(a, b) if b.ndim <= 2 else tensordot(a, b, (-1, -2))


def inner(a, b):
    a, b = array(a), array(b)
    return f.mul(a, b) if not a.ndim or not b.ndim else tensordot(a, b, (-1, -1))


def tensordot(a, b, axes=2):
    a, b = array(a), array(b)
    if np.ndim(axes) == 0:
        axes = range(a.ndim - axes, a.ndim), range(axes)
    over_a, over_b = ([i % x.ndim for i in np.ravel(over).astype(int)] for x, over in zip((a, b), axes, strict=True))
    free_a, free_b = ([i for i in range(x.ndim) if i not in over] for x, over in ((a, over_a), (b, over_b)))
    size = math.prod(a.shape[i] for i in over_a)
    shape = *(a.shape[i] for i in free_a), *(b.shape[i] for i in free_b)
    left = np.reshape(np.transpose(a, (*free_a, *over_a)), (math.prod(a.shape[i] for i in free_a), size))
    right = np.reshape(np.transpose(b, (*over_b, *free_b)), (size, math.prod(b.shape[i] for i in free_b)))
    return np.reshape(f.dot(left, right), shape)


def kron(a, b):
    a, b = array(a), array(b)
    n = max(a.ndim, b.ndim)
    left, right = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    a = np.reshape(a, tuple(k for m in left for k in (m, 1)))
    b = np.reshape(b, tuple(k for m in right for k in (1, m)))
    return np.reshape(a * b, tuple(m * k for m, k in zip(left, right, strict=True)))


def matrix_power(a, n):
    if n < 0:
        a, n = f.inv(a), -n
    result = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape) if n == 0 else None
    while n:
        if n % 2:
            result = a if result is None else f.dot(result, a)
        a, n = f.dot(a, a) if n > 1 else a, n // 2
    return result


def multi_dot(arrays, *, out=None):
    refuse_options("linalg.multi_dot", out=out)
    result = arrays[0]
    for a in arrays[1:]:
        result = dot(result, a)
    return result


def pinv(a, **options):
    refuse_options("linalg.pinv", **options)
    if np.linalg.matrix_rank(plain(a)).min() < min(a.shape[-2:]):
        refuse("np.linalg.pinv of a matrix without full rank has no derivative",
               "add a multiple of np.eye to a.T @ a, and use np.linalg.solve")
    return f.pinv(a)


def slogdet(a):
    return type(np.linalg.slogdet(np.eye(1)))(f.detSign(a), f.logabsdet(a))


def norm(x, ord=None, axis=None, keepdims=False):
    x, keep, axis = array(x), bool(keepdims), whole_axis(axis)
    if ord is None or (ord == 2 and (x.ndim == 1 or isinstance(axis, int))) or ord == "fro":
        return f.norm(x, axis=axis, keepdims=keep)
    axes = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if axes == 1 and not isinstance(ord, str):
        size = f.abs(x)
        if np.isinf(ord):
            return (f.max if ord > 0 else f.min)(size, axis=axis, keepdims=keep)
        if ord == 0:
            return f.sum(f.astype(f.not_equal(x, 0), (str(x.dtype),)), axis=axis, keepdims=keep)
        return f.sum(size if ord == 1 else size ** ord, axis=axis, keepdims=keep) ** (1.0 / ord if ord != 1 else 1)
    if axes == 2 and ord in (1, -1, np.inf, -np.inf):
        rows, columns = (a % x.ndim for a in (axis or (-2, -1)))
        first, last = (rows, columns) if abs(ord) == 1 else (columns, rows)
        largest = (f.max if ord > 0 else f.min)(f.sum(f.abs(x), first, True), last, True)
        return largest if keep else np.squeeze(largest, (rows, columns))
    if axes != 2 or ord not in (2, -2, "nuc"):
        raise ValueError(f"Invalid norm order {ord!r} for {'matrices' if axes == 2 else 'vectors'}.")
    sizes = f.svdvals(np.moveaxis(x, axis or (-2, -1), (-2, -1)))
    size = f.sum(sizes, -1) if ord == "nuc" else (f.max if ord > 0 else f.min)(sizes, -1)
    return np.expand_dims(size, axis or (0, 1)) if keep else size


# ---- entry by entry -------------------------------------------------------------------------------------------------

def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        dx = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    return np.sum(f.half((y[..., 1:] + y[..., :-1]) * dx), -1)


def interp(x, xp, fp):
    x, xp, fp = array(x), array(xp), array(fp)
    i = np.clip(np.sum(x[..., None] >= xp, -1) - 1, 0, len(xp) - 2)
    left, right = f.getitem(xp, i), f.getitem(xp, i + 1)
    part = np.clip((x - left) / (right - left), 0.0, 1.0)
    low, high = f.getitem(fp, i), f.getitem(fp, i + 1)
    return low + part * (high - low)


def sinc(x):
    y = np.pi * x
    s, near = y * y, f.less(f.abs(y), 0.1)
    series = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)))  # so that all derivatives are right at 0
    return f.where(near, series, f.sin(y) / f.where(near, 1.0, y))


def piecewise(x, conditions, functions):
    conditions = list(conditions) if isinstance(conditions, (list, tuple)) else [conditions]
    default = functions[-1] if len(functions) > len(conditions) else 0.0
    values = [g(x) if callable(g) else g for g in (*functions[:len(conditions)], default)]
    return select(conditions, values[:-1], values[-1])


def select(conditions, choices, default=0):
    result = default
    for c, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = f.where(c, choice, result)
    return result


def where(condition, *choices):
    if len(choices) != 2:
        refuse("np.where with one argument gives positions, which have no derivative",
               "write np.where(condition, x, y), or np.nonzero(condition)")
    return f.where(condition, *choices)


def nonzero(x):
    places = f.not_equal(x, 0)
    return tuple(f.getitem(grid, places) for grid in np.indices(x.shape))
