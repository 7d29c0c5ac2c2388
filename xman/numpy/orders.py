"""NumPy's functions of order: partitions, positions, and statistics that pass over NaN."""
from __future__ import annotations

import numpy as np

from ops import f

from ..traced.arraylike import plain
from ..traced.dispatch import NAMES, cast_to, checked, under_its_name, with_shape
from .decompositions import real
from .rearrangements import take_along_axis
from .statistics import axes_first, spread_by


def partition(a, kth, axis=-1, kind="introselect"):
    """All in order: how the entries below and above the kth lie, NumPy leaves open."""
    np.partition(np.zeros(np.shape(a)), kth, axis, kind)  # raises what NumPy does
    return np.sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect"):
    np.argpartition(np.zeros(np.shape(a)), kth, axis, kind)  # raises what NumPy does
    return np.argsort(a, axis)


def nan_spread(op):
    """np.nanvar or np.nanstd."""
    def over_numbers(a, where=True, **options):
        return spread_by(op, np.nan)(a, where=f.logical_and(where, f.logical_not(f.isnan(a))), **options)
    return checked(getattr(np, f"nan{op}"), over_numbers)


def nanquantile(a, q, axis=None, overwrite_input=False, keepdims=False):
    """Linear between the two nearest entries in order."""
    def at(q):
        found = quantile_of_numbers(rows, q)
        return np.expand_dims(found, axes) if keepdims else found

    rows, axes = axes_first(real(a), axis)
    rows = rows if len(rows) else np.full((1, *rows.shape[1:]), np.nan, rows.dtype)
    if not np.ndim(q):
        return at(q)
    rows = cast_to(rows, np.result_type(rows.dtype, np.asarray(q).dtype))
    return np.stack([at(part) for part in q])


def quantile_of_numbers(a, q):
    """The quantile q along the first axis, along which NaNs stand last in order."""
    if not 0 <= plain(q) <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    count = f.sum(f.logical_not(f.isnan(a)), axis=0, keepdims=True)
    place = f.maximum(q * cast_to(count - 1.0, np.result_type(with_shape(q).dtype, np.float16)), 0.0)
    low = f.floor(place)
    part = cast_to(place - low, a.dtype)
    below, above = (take_along_axis(np.sort(a, 0), f.astype(i, ("int64",)), 0) for i in (low, f.ceil(place)))
    return f.where(f.equal(part, 0), below, below * (1.0 - part) + above * part)[0]


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
    before = a < v if side == "left" else a <= v
    return f.sum(f.logical_or(before, f.logical_and(f.isnan(v), f.logical_not(f.isnan(a)))), axis=-1)


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
    **under_its_name(argpartition, digitize, partition, searchsorted),
    np.nanvar:           nan_spread("var"),
    np.nanstd:           nan_spread("std"),
    np.nanquantile:      checked(np.nanquantile, nanquantile),
    np.nanpercentile:    checked(np.nanpercentile, lambda a, q, **options: nanquantile(a, np.true_divide(q, 100), **options)),
    np.nanmedian:        checked(np.nanmedian, lambda a, **options: nanquantile(a, 0.5, **options)),
    np.nanargmax:        nanposition(np.argmax),
    np.nanargmin:        nanposition(np.argmin),
    np.extract:          lambda condition, arr: np.ravel(arr)[np.flatnonzero(condition)],
    np.argwhere:         lambda a: np.transpose(np.stack(np.nonzero(a))),
    np.tril_indices_from: lambda arr, k=0: np.tril_indices_from(plain(arr), k),
    np.triu_indices_from: lambda arr, k=0: np.triu_indices_from(plain(arr), k),
    np.diag_indices_from: lambda arr: np.diag_indices_from(plain(arr)),
    np.array_equiv:      lambda a1, a2: np.array_equiv(plain(a1), plain(a2)),
})
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    NAMES.update({np.cumulative_sum: cumulative(np.cumsum, 0), np.cumulative_prod: cumulative(np.cumprod, 1),
                  np.unstack: lambda x, axis=0: tuple(np.moveaxis(x, axis, 0))})
