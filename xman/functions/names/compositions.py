"""NumPy's functions that are no operator and take more than a line to write with those there are."""
from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ops import f

from ..arraylike import ArrayLike, plain
from ..dispatch import array, cast
from ..refusals import refuse
from .rearrangements import along, axis_index, whole_axis


def reduction(op: str) -> Any:
    """A reduction by our operator of that name; it may have a dtype."""
    def reduced(a, axis=None, keepdims=False, **options):
        return getattr(f, op)(summed(op, a, **options), axis=whole_axis(axis), keepdims=bool(keepdims))
    return reduced


def spread(op: str) -> Any:
    """np.var or np.std."""
    def reduced(a, axis=None, ddof=0, keepdims=False, correction=None, **options):
        if ddof and correction is not None:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        return getattr(f, op)(
            summed(op, a, **options), axis=whole_axis(axis), keepdims=bool(keepdims), ddof=ddof if correction is None else correction)
    return reduced


def summed(op: str, a: Any, *, dtype: Any = None) -> Any:
    """a in the precision in which it is to be summed."""
    if dtype is not None and op not in ("sum", "prod", "cumsum", "cumprod") and np.dtype(dtype).kind != "f":
        refuse(f"np.{op} in whole numbers has no operator here", "take it of floats")
    return a if dtype is None else cast(a, dtype)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    a, options = array(a), {"axis": axis, "keepdims": keepdims}
    np.average(np.ones(a.shape), axis, None if weights is None else np.ones(np.shape(weights)), returned)  # raises what NumPy does
    if weights is None:
        weights, mean = np.ones(a.shape), np.mean(a, **options)
    else:
        weights = array(weights)
        if weights.shape != a.shape:
            axes = [i % a.ndim for i in np.ravel(axis)]
            weights = np.transpose(weights, np.argsort(axes).tolist())
            weights = np.broadcast_to(np.expand_dims(weights, [i for i in range(a.ndim) if i not in axes]), a.shape)
        a = cast(a, np.result_type(a.dtype, weights.dtype, *["f8"] * (a.dtype.kind != "f")))
        if not np.all(np.sum(weights, **options)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(a * weights, **options) / np.sum(cast(weights, a.dtype), **options)
    return (mean, np.sum(cast(weights, mean.dtype), **options)) if returned else mean


def argmax(a, axis=None, keepdims=False):
    at = f.argmax(a, axis if axis is None else operator.index(axis))
    return np.expand_dims(at, tuple(range(a.ndim)) if axis is None else axis) if keepdims else at


def argmin(a, axis=None, keepdims=False):
    return argmax(-a if a.dtype.kind == "f" else f.equal(a, np.min(a, axis, keepdims=True)), axis, keepdims)


def flattened(a, axis):
    """(a with `axis`, or all axes together, as its first, those axes)."""
    axes = tuple(range(a.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    a = np.moveaxis(a, axes, range(len(axes)))
    return np.reshape(a, (math.prod(a.shape[:len(axes)]), *a.shape[len(axes):])), axes


def ordered(choose: Any) -> Any:
    """choose(a in order along its first axis, …) over `axis`, NaN where an entry of the slice is."""
    def statistic(a, *args, axis=None, keepdims=False):
        a, axes = flattened(a, axis)
        a = np.sort(a, 0)
        result = choose(a, *args)
        result = f.where(f.isnan(a[-1]), np.nan, result) if len(a) and a.dtype.kind == "f" else result
        return np.expand_dims(result, axes) if keepdims else result
    return statistic


def middle(a):
    return np.mean(a[(len(a) - 1) // 2:len(a) // 2 + 1], 0)


def at_quantile(a, q):
    """NumPy's default, linear between the two nearest entries in order."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    position = q * (len(a) - 1)
    if isinstance(position, (int, np.integer)):
        return a[position]
    low = -1 if position >= len(a) - 1 else math.floor(position)
    part, below, above = position - low, a[low], a[low + (low >= 0)]
    return below + (above - below) * part if part < 0.5 else above - (above - below) * (1 - part)


def quantile(a, q, **options):
    if isinstance(q, ArrayLike) or options.get("axis") == ():
        refuse("np.quantile and np.percentile have a derivative here for a plain q, over an axis", "give q as a number")
    if not np.ndim(q):
        return ordered(at_quantile)(a, q, **options)
    parts = [quantile(a, each, **options) for each in np.ravel(q)]
    return np.reshape(np.stack(parts), (*np.shape(q), *parts[0].shape))


def percentile(a, q, **options):
    return quantile(a, q if isinstance(q, ArrayLike) else q / 100 if type(q) in (int, float) else np.true_divide(q, 100), **options)


def sort(a, axis=-1, **how):
    a, axis = (np.ravel(a), -1) if axis is None else (a, axis)
    return along(a, argsort(a, axis, **how), axis)


def argsort(a, axis=-1, **how):
    np.argsort(np.zeros(0), **how)  # raises what NumPy does
    return f.argsort(np.ravel(a), -1) if axis is None else f.argsort(a, operator.index(axis))


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    rows = [np.atleast_2d(x) for x in ((m,) if y is None else (m, y))]
    rows = [x if rowvar or np.ndim(m if not k else x) == 1 or k and len(x) == 1 else x.T for k, x in enumerate(rows)]
    if not len(rows[0]):
        return np.zeros((0, 0))
    d = f.centered(cast(np.concatenate(rows), float), 1)
    return np.squeeze(d @ d.T / np.float64(max(d.shape[1] - ((0 if bias else 1) if ddof is None else ddof), 0)))


def corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    if not c.ndim:
        return c / c
    deviation = np.sqrt(np.diag(c))
    return np.clip(c / deviation[:, None] / deviation, -1, 1)


# ---- products -------------------------------------------------------------------------------------------------------

def dot(a, b):
    a, b = array(a), array(b)
    if not a.ndim or not b.ndim:
        return f.mul(a, b)
    return f.dot(a, b) if b.ndim <= 2 else tensordot(a, b, (-1, -2))


def inner(a, b):
    a, b = array(a), array(b)
    return f.mul(a, b) if not a.ndim or not b.ndim else tensordot(a, b, (-1, -1))


def tensordot(a, b, axes=2):
    a, b = array(a), array(b)
    if np.ndim(axes) == 0 and not isinstance(axes, (tuple, list)):
        axes = range(-axes, 0), range(axes)
    over_a, over_b = ([operator.index(i) for i in np.atleast_1d(over)] for over in axes)
    if [a.shape[i] for i in over_a] != [b.shape[i] for i in over_b]:
        raise ValueError("shape-mismatch for sum")
    over_a, over_b = ([i % x.ndim for i in over] for x, over in ((a, over_a), (b, over_b)))
    free_a, free_b = ([i for i in range(x.ndim) if i not in over] for x, over in ((a, over_a), (b, over_b)))
    shape = *(a.shape[i] for i in free_a), *(b.shape[i] for i in free_b)
    size, rows, columns = (math.prod(x.shape[i] for i in some) for x, some in ((a, over_a), (a, free_a), (b, free_b)))
    left = np.reshape(np.transpose(a, (*free_a, *over_a)), (rows, size))
    return np.reshape(f.dot(left, np.reshape(np.transpose(b, (*over_b, *free_b)), (size, columns))), shape)


def vecdot(a, b):
    if array(a).shape[-1] != array(b).shape[-1]:
        raise ValueError(f"vecdot: the vectors have {np.shape(a)[-1]} and {np.shape(b)[-1]} entries")
    return f.sum(f.mul(a, b), -1)


def cholesky(a):
    if not np.allclose(plain(a), np.swapaxes(plain(a), -1, -2)):
        refuse("np.linalg.cholesky reads the lower triangle alone, and the derivative is that of a symmetric matrix",
               "give it (a + a.T) / 2")
    return f.cholesky(a if a.dtype.kind == "f" else cast(a, float))


def kron(a, b):
    a, b = array(a), array(b)
    n = max(a.ndim, b.ndim)
    left, right = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    a = np.reshape(a, tuple(k for m in left for k in (m, 1)))
    b = np.reshape(b, tuple(k for m in right for k in (1, m)))
    return np.reshape(a * b, tuple(m * k for m, k in zip(left, right, strict=True)))


def cross(a, b):
    a, b = array(a), array(b)
    if a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        refuse("np.cross has a derivative here for vectors of three", "write the product out")
    after, before = [1, 2, 0], [2, 0, 1]
    return a[..., after] * b[..., before] - a[..., before] * b[..., after]


def convolve(a, v, mode="full"):
    a, v = np.atleast_1d(array(a)), np.atleast_1d(array(v))
    if len(v) > len(a):
        a, v = v, a
    n, m = len(a), len(v)
    full = f.pad(a, m - 1)[np.arange(n + m - 1)[:, None] + np.arange(m)[::-1]] @ v
    cut = {"full": 0, "same": (m - 1) // 2, "valid": m - 1}[mode]
    return full[cut:cut + {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]]


def einsum(subscripts, *arrays, optimize=False):
    if not isinstance(subscripts, str):
        refuse("np.einsum with lists of axes has no operator here", "write its subscripts as a string, 'ij,jk'")
    return f.einsum((subscripts,), *map(array, arrays))


def matrix_power(a, n):
    n = operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        a, n = f.inv(a), -n
    result = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape) if n == 0 else None
    while n:
        if n % 2:
            result = a if result is None else f.dot(result, a)
        a, n = f.dot(a, a) if n > 1 else a, n // 2
    return result


def multi_dot(arrays):
    np.linalg.multi_dot([np.ones(np.shape(a)) for a in arrays])  # raises what NumPy does
    result = arrays[0]
    for a in arrays[1:]:
        result = dot(result, a)
    return result


def pinv(a):
    if np.linalg.matrix_rank(plain(a)).min() < min(a.shape[-2:]):
        refuse("np.linalg.pinv of a matrix without full rank has no derivative",
               "add a multiple of np.eye to a.T @ a, and use np.linalg.solve")
    return f.pinv(a)


def slogdet(a):
    return type(np.linalg.slogdet(np.eye(1)))(f.detSign(a), f.logabsdet(a))


def norm(x, ord=None, axis=None, keepdims=False):
    x, keep, axis = cast(x, float) if array(x).dtype.kind != "f" else array(x), bool(keepdims), whole_axis(axis)
    axes = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if ord is None and axis != () and (x.ndim or axis is None) or axes == 1 and ord == 2 or axes == 2 and ord in ("fro", "f"):
        return f.norm(x, axis=axis, keepdims=keep)
    np.linalg.norm(np.zeros([min(n, 2) for n in x.shape]), ord, axis)  # raises what NumPy does
    extreme = f.sum if not x.size else f.min if ord in (-1, -np.inf) else f.max
    if axes == 1:
        size = f.abs(x)
        if np.isinf(ord):
            return extreme(size, axis, keep)
        if ord == 0:
            return f.sum(cast(f.not_equal(x, 0), x.dtype), axis, keep)
        return f.sum(size if ord == 1 else size ** ord, axis, keep) ** (1.0 / ord if ord != 1 else 1)
    if ord in (1, -1, np.inf, -np.inf):
        rows, columns = (a % x.ndim for a in (axis or (-2, -1)))
        first, last = (rows, columns) if abs(ord) == 1 else (columns, rows)
        largest = extreme(f.sum(f.abs(x), first, True), last, True)
        return largest if keep else np.squeeze(largest, (rows, columns))
    refuse(f"np.linalg.norm with ord={ord!r} has no operator here", "for matrices the Frobenius norm, ±1 and ±inf have one")


def vector_norm(x, axis=None, keepdims=False, ord=2):
    rows, axes = flattened(array(x), axis)
    return np.expand_dims(norm(rows, ord, 0), axes) if keepdims else norm(rows, ord, 0)


# ---- entry by entry -------------------------------------------------------------------------------------------------

def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = array(y)
    axis = axis_index(axis, y.ndim)
    if x is not None:
        dx = np.diff(array(x), axis=axis if np.ndim(x) > 1 else -1)
        dx = np.reshape(dx, [-1 if i == axis else 1 for i in range(y.ndim)]) if np.ndim(x) == 1 else dx
    lead = (slice(None),) * axis
    return np.sum(f.half(dx * (y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))])), axis)


def interp(x, xp, fp, left=None, right=None):
    x, xp, fp = (cast(a, float) for a in (x, xp, fp))
    i = np.clip(np.sum(f.greater_equal(np.expand_dims(x, -1), xp), -1) - 1, 0, max(len(xp) - 2, 0))
    j = np.minimum(i + 1, len(xp) - 1)
    low, high, start, end = f.getitem(fp, i), f.getitem(fp, j), f.getitem(xp, i), f.getitem(xp, j)
    slope = (high - low) / (end - start)
    forward, backward = slope * (x - start) + low, slope * (x - end) + high
    forward = f.where(f.isnan(forward), f.where(f.isnan(backward) & f.equal(low, high), low, backward), forward)
    inside = f.where(f.equal(x, end), high, f.where(f.equal(x, start), low, forward))
    inside = f.where(x > xp[-1], fp[-1] if right is None else right, f.where(x < xp[0], fp[0] if left is None else left, inside))
    return f.where(f.isnan(x), x if len(xp) > 1 else fp[0], inside)


def sinc(x):
    y = np.pi * x
    s, near = y * y, f.less(f.abs(y), 0.1)
    series = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)))  # so that all derivatives are right at 0
    return f.where(near, series, f.sin(y) / f.where(near, 1.0, y))


def piecewise(x, condlist, funclist, *args, **kw):
    """Each function sees the entries where its condition holds; of several conditions the last one that holds wins."""
    x = array(x)
    if np.isscalar(condlist) or not isinstance(condlist[0], (list, np.ndarray)) and x.ndim:
        condlist = [condlist]
    conditions = [f.not_equal(c, 0) for c in map(array, condlist)]
    if len(conditions) == len(funclist) - 1:
        conditions.append(f.logical_not(functools.reduce(f.logical_or, conditions)))
    elif len(conditions) != len(funclist):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected")
    result = np.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        there = x[condition]
        if not callable(function) or there.size:
            new = cast(array(function(there, *args, **kw) if callable(function) else function), x.dtype)
            result = f.where(condition, f.scatterAdd(f.broadcast(new, there.shape), x, condition), result)
    return result


def select(condlist, choicelist, default=0):
    result = default
    for c, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = f.where(c, choice, result)
    return result


def where(condition, x=None, y=None):
    if x is None or y is None:
        refuse("np.where with one argument gives positions, which have no derivative",
               "write np.where(condition, x, y), or np.nonzero(condition)")
    return f.where(condition, x, y)


def nonzero(x):
    if not x.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    places = f.not_equal(x, 0)
    return tuple(f.getitem(grid, places) for grid in np.indices(x.shape))
