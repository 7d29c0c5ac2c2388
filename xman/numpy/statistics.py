"""NumPy's reductions, order statistics and covariances, in terms of operators."""
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ops import f
from ops.facts import is_complex

from ..traced.arraylike import ArrayLike, plain
from ..traced.dispatch import NAMES, cast_to, checked, with_shape
from ..traced.refusals import refuse
from .decompositions import in_floats
from .rearrangements import take_along_axis, taken_along, whole_axis

# how a reduction joins two parts, and the number that it begins with (None: the caller has to give one)
JOINED = {"sum": (f.add, 0), "prod": (f.mul, 1), "max": (f.maximum, None), "min": (f.minimum, None)}


def reduction_by(op: str) -> Any:
    """A reduction by our operator of that name; it takes a dtype, a mask and a number to begin with."""
    over = getattr(f, op)

    def reduced(a, axis=None, keepdims=False, **options):
        if not options.keys() <= {"dtype"}:
            return checked(over_some, getattr(np, op))(a, axis=axis, keepdims=keepdims, **options)
        if op == "mean" and not a.ndim:
            np.mean(0.0, axis)  # raises what NumPy does, though not for a sum
        a = in_summing_precision(op, a, **options) if options else a
        arguments = (whole_axis(axis), True) if keepdims else () if axis is None else (whole_axis(axis),)
        return over(a, *arguments)

    def over_some(a, axis, keepdims, where=True, initial=None, **options):
        if op == "mean":
            total = np.sum(in_summing_precision(op, a, **options), axis, keepdims=keepdims, where=where)
            return total / np.sum(np.broadcast_to(where, a.shape), axis, keepdims=keepdims)
        join, neutral = JOINED[op]
        initial = initial if initial is None or neutral is not None else cast_to(initial, a.dtype)
        if neutral is None and not a.size:
            return initial
        summands = a if where is True else f.where(where, a, initial if neutral is None else neutral)
        total = reduced(summands, axis, keepdims, **options)
        return total if initial is None else join(total, cast_to(initial, total.dtype))
    return reduced


def var_or_std(op: str) -> Any:
    """np.var or np.std."""
    spread, simple = checked(spread_by(op), getattr(np, op)), reduction_by(op)

    def reduced(a, axis=None, ddof=0, keepdims=False, correction=None, **options):
        if ddof and correction is not None:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        less = ddof if correction is None else correction
        if is_complex(a) or options.keys() - {"dtype"}:
            return spread(a, axis=axis, ddof=less, keepdims=keepdims, **options)
        if not a.ndim:
            np.var(0.0, axis)  # raises what NumPy does
        a = in_summing_precision(op, a, **options)
        if less:
            return getattr(f, op)(a, whole_axis(axis), bool(keepdims), less)
        return simple(a, axis, keepdims)
    return reduced


def spread_by(op: str, of_none: float = 0.0) -> Any:
    """np.var or np.std where a mask holds. of_none: in place of the count less ddof where that is below 1."""
    def over_mask(a, axis=None, dtype=None, ddof=0, keepdims=False, mean=None, correction=None, where=True):
        x = in_summing_precision(op, a, dtype=dtype)
        x = x if is_complex(x) else in_floats(x)
        if np.ndim(mean) > x.ndim:
            refuse(f"np.{op} about a mean of more axes than the array has no operator here",
                   "take the mean's entries")
        every = axis is None or not x.ndim
        axes = np.lib.array_utils.normalize_axis_tuple(range(x.ndim) if every else axis, x.ndim)
        n = np.sum(np.broadcast_to(where, x.shape), axes, keepdims=True)
        mean = f.sum(f.where(where, x, 0.0), axes, True) / n if mean is None else mean
        deviation = f.where(where, x - mean, 0.0)
        # |z|² is x² + y², which is smooth at 0; and the norm has a gradient where all entries are equal
        sides = (f.real(deviation), f.imag(deviation)) if is_complex(deviation) else (deviation,)
        summed = f.norm if op == "std" else f.squaredNorm
        sums = summed(f.stack(0, *sides), (0, *(i + 1 for i in axes)), True)[0]
        n = n - (ddof if correction is None else correction)
        n = f.where(n > 0, n, of_none)
        spread = sums / (np.sqrt(n) if op == "std" else n)
        return spread if keepdims else np.squeeze(spread, axes)
    return over_mask


def in_summing_precision(op: str, a: Any, *, dtype: Any = None) -> Any:
    """a in the precision in which NumPy sums it."""
    if dtype is not None and op not in ("sum", "prod", "cumsum", "cumprod") and np.dtype(dtype).kind != "f":
        refuse(f"np.{op} in whole numbers has no operator here", "take it of floats")
    return a if dtype is None else cast_to(a, dtype)


def running_total(op: str) -> Any:
    """np.cumsum or np.cumprod."""
    return lambda a, axis=None, **options: getattr(f, op)(in_summing_precision(op, a, **options), axis)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    a, options = with_shape(a), {"axis": axis, "keepdims": keepdims}
    ones = None if weights is None else np.ones(np.shape(weights))
    np.average(np.ones(a.shape), axis, ones, returned)  # raises what NumPy does
    if weights is None:
        weights, mean = np.ones(a.shape), np.mean(a, **options)
    else:
        weights = with_shape(weights)
        if weights.shape != a.shape:
            axes = [i % a.ndim for i in np.ravel(axis)]
            weights = np.transpose(weights, np.argsort(axes).tolist())
            other_axes = [i for i in range(a.ndim) if i not in axes]
            weights = np.broadcast_to(np.expand_dims(weights, other_axes), a.shape)
        a = cast_to(a, np.result_type(a.dtype, weights.dtype, *["f8"] * (a.dtype.kind != "f")))
        if not np.all(np.sum(weights, **options)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(a * weights, **options) / np.sum(cast_to(weights, a.dtype), **options)
    return (mean, np.sum(cast_to(weights, mean.dtype), **options)) if returned else mean


def argmax(a, axis=None, keepdims=False):
    position = f.argmax(a, axis if axis is None else operator.index(axis))
    return np.expand_dims(position, tuple(range(a.ndim)) if axis is None else axis) if keepdims else position


def argmin(a, axis=None, keepdims=False):
    return argmax(-a if a.dtype.kind == "f" else f.equal(a, np.min(a, axis, keepdims=True)), axis, keepdims)


def axes_first(a, axis):
    """(a with `axis`, or all axes in one, as its first axis; the axes that this joins)."""
    axes = tuple(range(a.ndim)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    a = np.moveaxis(a, axes, range(len(axes)))
    return np.reshape(a, (math.prod(a.shape[:len(axes)]), *a.shape[len(axes):])), axes


def along_order(choose: Any) -> Any:
    """The statistic over `axis` that `choose` makes of a slice in ascending order; NaN if an entry is NaN."""
    def statistic(a, *args, axis=None, keepdims=False):
        if axis == () and not a.size:
            raise ValueError("a statistic over no axis of an array without entries")  # as in NumPy
        a, axes = axes_first(a, axis)
        a = np.sort(a, 0)
        result = choose(a, *args)
        result = f.where(f.isnan(a[-1]), np.nan, result) if len(a) and a.dtype.kind == "f" else result
        return np.expand_dims(result, axes) if keepdims else result
    return statistic


def middle(a):
    return np.mean(a[(len(a) - 1) // 2:len(a) // 2 + 1], 0)


def at_quantile(a, q, method="linear"):
    """The quantile q, between two neighbours in order: NumPy's own quantile of the positions says where."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    position = q * (len(a) - 1)
    if method != "linear":
        position = np.quantile(np.arange(len(a)), q, method=method).item()
    if isinstance(position, (int, np.integer)):
        return a[position]
    low = -1 if position >= len(a) - 1 else math.floor(position)
    fraction, below, above = position - low, a[low], a[low + (low >= 0)]
    return below + (above - below) * fraction if fraction < 0.5 else above - (above - below) * (1 - fraction)


def quantile(a, q, method="linear", **options):
    if isinstance(q, ArrayLike) or options.get("axis") == ():
        refuse("np.quantile is for a plain q here, over an axis", "give q as a number")
    if not np.ndim(q):
        return along_order(at_quantile)(a, q, method, **options)
    quantiles = [quantile(a, each, method, **options) for each in np.ravel(q)]
    return np.reshape(np.stack(quantiles), (*np.shape(q), *quantiles[0].shape))


def percentile(a, q, **options):
    q = q / 100 if isinstance(q, (int, float, ArrayLike)) else np.true_divide(q, 100)
    return quantile(a, q, **options)


def sort(a, axis=-1, **options):
    a, axis = (np.ravel(a), -1) if axis is None else (a, axis)
    return taken_along(a, argsort(a, axis, **options), axis)


def argsort(a, axis=-1, **options):
    if options:
        np.argsort(np.zeros(0), **options)  # raises what NumPy does
    return f.argsort(np.ravel(a), -1) if axis is None else f.argsort(a, operator.index(axis))


@checked
def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    rows = [np.atleast_2d(x) for x in ((m,) if y is None else (m, y))]
    if not rowvar:  # a vector m counts as one row, and so does y
        rows = [x if np.ndim(m) == 1 and not k or k and len(x) == 1 else x.T for k, x in enumerate(rows)]
    if not len(rows[0]):
        return np.zeros((0, 0))
    d = f.centered(cast_to(np.concatenate(rows), float), 1)
    count = d.shape[1] - (not bias if ddof is None else ddof)
    return np.squeeze(d @ d.T / np.float64(max(count, 0)))


@checked
def corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    if not c.ndim:
        return c / c
    deviation = np.sqrt(np.diag(c))
    return np.clip(c / deviation[:, None] / deviation, -1, 1)


# ---- partitions, positions, and statistics that pass over NaN ----------------------------------------------

def partition(a, kth, axis=-1, kind="introselect"):
    """a, fully sorted: NumPy leaves open in which order the entries below and above the kth are."""
    np.partition(np.zeros(np.shape(a)), kth, axis, kind)  # raises what NumPy does
    return np.sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect"):
    np.argpartition(np.zeros(np.shape(a)), kth, axis, kind)  # raises what NumPy does
    return np.argsort(a, axis)


def nan_spread(op):
    """np.nanvar or np.nanstd."""
    def over_numbers(a, where=True, **options):
        return spread_by(op, np.nan)(a, where=f.logical_and(where, f.logical_not(f.isnan(a))), **options)
    return checked(over_numbers, getattr(np, f"nan{op}"))


@checked
def nanquantile(a, q, axis=None, overwrite_input=False, keepdims=False):
    """Linear between the two nearest entries in order."""
    def quantile_at(q):
        quantile_rows = quantile_of_numbers(rows, q)
        return np.expand_dims(quantile_rows, axes) if keepdims else quantile_rows

    rows, axes = axes_first(in_floats(a), axis)
    rows = rows if len(rows) else np.full((1, *rows.shape[1:]), np.nan, rows.dtype)
    if not np.ndim(q):
        return quantile_at(q)
    rows = cast_to(rows, np.result_type(rows.dtype, np.asarray(q).dtype))
    return np.stack([quantile_at(probability) for probability in q])


def nanpercentile(a, q, **options):
    return nanquantile(a, q / 100 if isinstance(q, (int, float)) else np.true_divide(q, 100), **options)


def quantile_of_numbers(a, q):
    """The quantile q of the numbers along the first axis, where NaNs come last."""
    if not 0 <= plain(q) <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    count = f.sum(f.logical_not(f.isnan(a)), axis=0, keepdims=True)
    place = f.maximum(q * cast_to(count - 1.0, np.result_type(with_shape(q).dtype, np.float16)), 0.0)
    low = f.floor(place)
    fraction = cast_to(place - low, a.dtype)
    below, above = (take_along_axis(np.sort(a, 0), f.astype(i, ("int64",)), 0) for i in (low, f.ceil(place)))
    return f.where(f.equal(fraction, 0), below, below * (1.0 - fraction) + above * fraction)[0]


def nanposition(position):
    """np.nanargmax or np.nanargmin, by np.argmax or np.argmin."""
    def where_it_is(a, axis=None, keepdims=False):
        function = np.nanargmax if position is np.argmax else np.nanargmin
        like = function(plain(a), axis, keepdims=keepdims)  # raises what NumPy does
        filled = f.where(f.isnan(a), -np.inf if position is np.argmax else np.inf, a)
        return np.reshape(position(filled, axis), like.shape)
    return where_it_is


def searchsorted(a, v, side="left", sorter=None):
    a, v = with_shape(a) if sorter is None else np.take(a, sorter), with_shape(v)[..., None]
    if a.ndim != 1:
        raise ValueError("object too deep for desired array" if a.ndim
                         else "object of too small depth for desired array")
    before = a < v if side == "left" else a <= v  # NaN comes last, equal to other NaNs
    last = f.isnan(v) if side != "left" else f.logical_and(f.isnan(v), f.logical_not(f.isnan(a)))
    return f.sum(f.logical_or(before, last), axis=-1)


def digitize(x, bins, right=False):
    np.digitize(0.0, plain(bins))  # raises what NumPy does
    bins, side = with_shape(bins), "left" if right else "right"
    if len(bins) > 1 and plain(bins)[0] > plain(bins)[-1]:
        return len(bins) - searchsorted(np.flip(bins), x, side)
    return searchsorted(bins, x, side)


def cumulative(function, number):
    def sums(x, axis=None, dtype=None, include_initial=False):
        x = np.atleast_1d(x)
        axis = 0 if axis is None and x.ndim == 1 else axis
        if isinstance(axis, tuple) and not include_initial:
            axis, = axis
        if axis is None:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        total = function(x, axis, dtype)
        return np.insert(total, 0, number, axis) if include_initial else total
    return sums


NAMES.update({
    np.nanvar:           nan_spread("var"),
    np.nanstd:           nan_spread("std"),
    np.nanmedian:        checked(lambda a, **options: nanquantile(in_floats(a), 0.5, **options), np.nanmedian),
    np.nanargmax:        nanposition(np.argmax),
    np.nanargmin:        nanposition(np.argmin),
    np.extract:          lambda condition, arr: np.ravel(arr)[np.flatnonzero(condition)],
    np.argwhere:         lambda a: np.transpose(np.stack(np.nonzero(a))),
})
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    NAMES[np.cumulative_sum] = cumulative(np.cumsum, 0)
    NAMES[np.cumulative_prod] = cumulative(np.cumprod, 1)
    NAMES[np.unstack] = lambda x, axis=0: tuple(np.moveaxis(x, axis, 0))
