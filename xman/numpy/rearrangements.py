"""NumPy's functions that move entries, in terms of operators."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ops import f

from ..traced.arraylike import ArrayLike, noted, plain
from ..traced.dispatch import cast_to, with_shape
from ..traced.refusals import refuse


def whole_axis(axis: Any) -> Any:
    """An axis or several as plain ints, which a list can hold."""
    if isinstance(axis, (tuple, list)):
        return tuple(map(operator.index, axis))
    return None if axis is None else operator.index(axis)


axis_index = np.lib.array_utils.normalize_axis_index


def reshape(x, shape, order="C", copy=None):
    np.reshape(0, (), order=order)  # raises what NumPy does
    order = "C" if order is None else order.upper()
    if order == "A" and sum(n != 1 for n in x.shape) > 1:
        refuse(f"order={order!r} goes by the layout of an array in memory", "write order='C' or order='F'")
    if order == "F":
        return f.transpose(f.reshape(f.transpose(x), whole_shape(shape)[::-1]))
    return f.reshape(x, whole_shape(shape))


def ravel(a, order="C"):
    np.ravel(0, order)  # raises what NumPy does
    return reshape(a, -1, "A" if order in ("K", "k") else order)


def whole_shape(shape: Any) -> tuple:
    return whole_axis(tuple(shape)) if np.ndim(shape) else (operator.index(shape),)


def broadcast_arrays(*arrays, subok=False):
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple(f.broadcast(with_shape(x), shape) for x in arrays)


def reshaping(function: Any) -> Any:
    """The reshape that NumPy's function amounts to: applied to a blank array, it shows the new shape."""
    def reshaped(a, *args, **options):
        shape = function(np.broadcast_to(0, a.shape), *args, **options).shape
        return a if shape == a.shape else f.reshape(a, shape)
    return reshaped


def rearranged(rearrange: Any) -> Any:
    """The transpose that NumPy's function amounts to: a blank array shows where each axis goes."""
    return lambda a, *to, **options: f.transpose(a, rearrange(np.empty(range(a.ndim)), *to, **options).shape)


def gather(function: Any) -> Any:
    """A function that moves, repeats or drops entries: NumPy's, applied to their positions, shows which."""
    return lambda a, *args, **options: f.take(a := with_shape(a), of_positions(function, a, args, options))


def split_like(split: Any) -> Any:
    """NumPy's split function: applied to positions, it shows where each part begins."""
    def key(piece, shape):
        start = np.unravel_index(piece.flat[0], shape) if piece.size else (0,) * piece.ndim
        return tuple(slice(None) if n == length else slice(int(i), int(i) + n)
                     for i, n, length in zip(start, piece.shape, shape, strict=True))
    pieces = lambda a, *args, **options: of_positions(split, a, args, options)
    return lambda a, *args, **options: [a[key(piece, a.shape)] for piece in pieces(a, *args, **options)]


def of_positions(function: Any, a: Any, args: tuple, options: dict) -> Any:
    """NumPy's function of the positions of a's entries; what it is told in traced arrays is a constant."""
    constant = lambda x: np.asarray(x) if isinstance(x, ArrayLike) else x
    options = {name: constant(x) for name, x in options.items()}
    return function(np.arange(a.size).reshape(a.shape), *map(constant, args), **options)


def concatenate(arrays, axis=0):
    shaped = [with_shape(a) for a in arrays]
    return f.concat(0, *map(np.ravel, shaped)) if axis is None else f.concat(axis, *shaped)



def ramp(array, axis, side, width, end):
    return np.moveaxis(np.linspace(end, np.take(array, side, axis), width, endpoint=False), 0, axis)


def repeated(statistic):
    return lambda array, axis, side, width, _: np.repeat(statistic(array, axis, keepdims=True), width, axis)


# what np.pad puts beside an array along an axis, at its side 0 or −1, in such a width, from the end inwards
RIMS = {"linear_ramp": ramp, "maximum": repeated(np.max), "mean": repeated(np.mean),
        "median": repeated(np.median), "minimum": repeated(np.min)}


def pad(array, pad_width, mode="constant", **options):
    if mode in ("edge", "reflect", "symmetric", "wrap") and not options:
        return gather(np.pad)(array, pad_width, mode)
    if mode != "constant" and (mode not in RIMS or options.keys() - {"end_values" * (mode == "linear_ramp")}):
        names = "".join(f" and {name}=" for name in options)
        refuse(f"np.pad with {mode=}{names} has no operator here", "put the rims there with np.concatenate")
    if isinstance(pad_width, dict):
        widths = {axis % array.ndim: pair for axis, pair in pad_width.items()}
        pad_width = [np.broadcast_to(widths.get(axis, 0), 2) for axis in range(array.ndim)]
    pad_width = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
    pairs = tuple((operator.index(before), operator.index(after)) for before, after in pad_width)
    if not pairs:
        return array
    if mode != "constant":
        ends = np.broadcast_to(options.get("end_values", 0.0), (array.ndim, 2))
        for axis, widths in enumerate(pairs):
            if not array.shape[axis]:
                np.pad(np.zeros(0), widths, mode)  # raises what NumPy does
                continue
            rims = [RIMS[mode](array, axis, k, widths[k], ends[axis, k]) for k in (0, -1)]
            left, right = (cast_to(rim, array.dtype) for rim in rims)
            array = np.concatenate([left, array, np.flip(right, axis)], axis)
        return array
    rim = options.get("constant_values", 0)
    padded = f.pad(array, pairs)
    if np.ndim(rim) or rim != 0:
        padded = padded + np.pad(np.zeros(array.shape, array.dtype), pairs, **options)
    return padded


def positions_within(positions, n, mode):
    """Positions from 0 to n − 1 in place of those beyond, as a mode of np.take and np.choose has it."""
    np.take(np.zeros(1), 0, mode=mode)  # raises what NumPy does
    if mode == "clip":
        return np.clip(positions, 0, n - 1)
    return np.mod(positions, n) if mode == "wrap" else positions


def choose(a, choices, mode="raise"):
    np.choose(plain(a), np.zeros(len(choices)), mode=mode)  # raises what NumPy does
    a, *choices = broadcast_arrays(a, *choices)
    return take_along_axis(np.stack(choices), positions_within(a, len(choices), mode)[None], 0)[0]


def diagonal(a, offset=0, axis1=0, axis2=1):
    if a.ndim == 2 and (axis1, axis2) == (0, 1):
        return f.diag(a, offset)
    return gather(np.diagonal)(a, offset, axis1, axis2)


def upper_or_lower(function):
    """np.triu or np.tril: applied to ones, it shows what it keeps."""
    return lambda m, k=0: f.where(function(np.ones(m.shape, bool), k), m, m.dtype.type(0).item())


def diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = with_shape(a)
    lead = (slice(None),) * (axis_index(axis, a.ndim) if n else 0)
    one = *a.shape[:len(lead)], 1, *a.shape[len(lead) + 1:]  # the shape of a number beside a
    ends = [x for x in (prepend, a, append) if x is not np._NoValue]
    if n and len(ends) > 1:
        a = concatenate([x if np.ndim(x) else np.broadcast_to(x, one) for x in ends], axis)
    for _ in range(n):
        after, before = a[(*lead, slice(1, None))], a[(*lead, slice(None, -1))]
        a = f.not_equal(after, before) if a.dtype.kind == "b" else after - before
    return a


def meshgrid(*vectors, indexing="xy", sparse=False, copy=True):
    shapes = np.meshgrid(*[np.zeros(np.size(v)) for v in vectors], indexing=indexing, sparse=True)
    grids = tuple(np.reshape(v, like.shape) for v, like in zip(vectors, shapes, strict=True))
    return broadcast_arrays(*grids) if not sparse else grids if copy else [*grids]


def take_along_axis(arr, indices, axis=-1):
    positions, n = noted(with_shape(indices)), np.size(arr, axis)
    is_within = np.all(f.logical_and(positions >= -n, positions < n))
    positions = np.zeros(positions.shape, positions.dtype) if is_within else plain(positions)
    np.take_along_axis(np.broadcast_to(0, np.shape(arr)), positions, axis)  # raises what NumPy does
    return f.take(arr, indices) if axis is None else taken_along(arr, indices, axis)


def taken_along(a, indices, axis):
    """a at the indices along one axis, and at the same place along the others."""
    key: list = list(np.ogrid[tuple(slice(n) for n in a.shape)]) if a.ndim > 1 else [None]
    key[axis] = indices
    return f.getitem(a, *key)
