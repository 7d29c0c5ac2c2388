"""Precisions, shapes, the order of axes and entries, and parts: linear in every argument that has a rule.

A rule that needs a shape names the array that has it (`broadcast(x, like)`, `reshape(x, like)`). A rule that
depends on the number of axes is an operator of its own, which sees them when it runs (`diag_back`, `part`).
"""
from __future__ import annotations

import math

import numpy as np

from ..expression import f
from ..facts import is_complex, of_diagonal, of_shape, of_sum, of_widths
from ..table import Each, linear, operator


def shape_of(like):
    """The shape that like means: a literal tuple itself, or the shape of an array."""
    return tuple(like) if isinstance(like, (tuple, list)) else np.shape(like)


def in_precision_of(x, like):
    """x in the precision of like, if like is an array of floats; the real part of x, if like is real.

    The one place where the adjoint of a real argument, as 2.0 in 2.0·exp(iφ), loses its imaginary part.
    """
    dtype = getattr(like, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return x
    if type(x) is float:
        return dtype.type(x)
    x = np.asarray(x)[()] if type(x) in (bool, int, complex) else x
    if getattr(x, "dtype", dtype) == dtype:
        return x
    return (x.real if is_complex(x) and dtype.kind == "f" else x).astype(dtype)


def none_of(axis):
    """Whether axis is (). Not axis == (): an axis may be a register, or a number of NumPy's."""
    return type(axis) is tuple and not axis


def broadcast(x, like, axis=()):
    """x spread to the shape and precision of like (an array, or a shape); x lacks the axes `axis`."""
    if not none_of(axis) and np.ndim(x):
        x = np.expand_dims(x, axis)
    dtype, shape = getattr(like, "dtype", None), shape_of(like)
    if np.ndim(x) > len(shape):
        raise ValueError(f"an array of shape {np.shape(x)} does not spread to {shape}")
    result = np.empty(shape, dtype if dtype is not None and dtype.kind in "fc" else np.asarray(x).dtype)
    result[...] = x if not is_complex(x) or is_complex(result) else np.real(x)
    return result


def spread_hollow(x, like, axis=()):
    plain = none_of(axis) and type(x) is np.ndarray and getattr(like, "dtype", x.dtype) == x.dtype
    return np.broadcast_to(x, shape_of(like)) if plain else broadcast(x, like, axis)


def unbroadcast(x, like, axis=()):
    """x summed over `axis` and over whatever broadcasting added, to the shape and precision of like."""
    if not none_of(axis):
        x = np.add.reduce(x, axis=axis)
    have, want = getattr(x, "shape", ()), getattr(like, "shape", ())
    if have != want:
        extra = len(have) - len(want)
        if extra < 0 or any([n not in (1, m) for n, m in zip(want, have[extra:], strict=True)]):
            raise ValueError(f"an array of shape {want} does not spread to {have}, of which a sum is wanted")
        added = *range(extra), *(extra + i for i, n in enumerate(want) if n == 1 != have[extra + i])
        x = np.add.reduce(x, axis=added, keepdims=True)
        x = x.reshape(want) if extra else x
    return in_precision_of(x, like)


def unbroadcast_of_sums(x, like, axis=()):
    x, want = x if none_of(axis) else f.sum(x, axis), np.shape(like)
    extra = np.ndim(x) - len(want)
    added = tuple(i for i, n in enumerate(np.shape(x)) if i < extra or want[i - extra] == 1 != n)
    return in_precision_of(f.reshape(f.sum(x, added), want) if added else x, like)


def mT_of_axes(x):
    axes = list(range(x.ndim))
    return f.transpose(x, (*axes[:-2], axes[-1], axes[-2]))


def keys_before(x, axis):
    """The part of a key for all axes before this axis of x."""
    return (slice(None),) * np.lib.array_utils.normalize_axis_index(axis, x.ndim)


def flip(x, axis=None):
    """x with its entries in reverse order along axis."""
    return x[(*keys_before(x, axis), slice(None, None, -1))] if type(axis) is int else np.flip(x, axis)


def flip_of_slices(x, axis=None):
    axes = {a % x.ndim for a in (range(x.ndim) if axis is None else np.atleast_1d(axis))}
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(x.ndim))]


def roll_of_parts(x, places, axis=None):
    if axis is None:
        return f.reshape(roll_of_parts(f.reshape(x, (-1,)), places, 0), x)
    for k, a in np.broadcast(places, axis):
        before = (slice(None),) * (a % x.ndim)
        if x.shape[a] and (k := int(math.fmod(k, x.shape[a]))):
            x = f.concat(int(a), x[(*before, slice(-k, None))], x[(*before, slice(None, -k))])
    return x


def pad_of_parts(x, widths):
    for axis, (before, after) in enumerate(np.broadcast_to(widths, (x.ndim, 2)).tolist()):
        zero, shape = x.constant(np.zeros((), x.dtype)), list(x.shape)
        for n, ends in (before, 1), (after, -1):
            shape[axis] = n
            if n:
                x = f.concat(axis, *[f.broadcast(zero, tuple(shape)), x][::ends])
    return x


def unpad(x, widths):
    """x without the rim that pad(x, widths) put around it."""
    pairs = np.broadcast_to(np.asarray(widths), (np.ndim(x), 2))
    if pairs.dtype.kind not in "iu" or (pairs < 0).any() or (pairs.sum(1) > np.shape(x)).any():
        raise ValueError(f"of shape {np.shape(x)} no rim of widths {widths} can be taken off")
    key = tuple(slice(before, n - after) for (before, after), n in zip(pairs, np.shape(x), strict=True))
    return x[key] if key else x


def part(x, i, axis, *arrays):
    """The part of x along axis that belongs to the i-th array, where x is as long as all arrays together."""
    start = sum(np.shape(a)[axis] for a in arrays[:i])
    return x[(*keys_before(x, axis), slice(start, start + np.shape(arrays[i])[axis]))]


def alone(op, i, axis, t, arrays):
    """op (concat or stack) of t in place of arrays[i], and zeros in place of the others."""
    return op(axis, *(t if j == i else f.broadcast(0.0, a) for j, a in enumerate(arrays)))


def axis_first(op, found):
    """Raise TypeError if the arrays were given as for NumPy, in a list before the axis."""
    raise TypeError(f"{op} takes an axis and then the arrays, {op}(0, a, b), and found "
                    f"{type(found).__name__} alone; np.{'stack' if op == 'stack' else 'concatenate'}([a, b], "
                    "axis) takes a list")


def diag_of_entries(x, k=0):
    if x.ndim == 1:
        rows = f.pad(x, ((max(0, -k), max(0, k)),))
        return f.where(np.eye(rows.shape[0], k=k, dtype=bool), rows[:, None], 0)
    return f.reshape(x, (-1,))[diagonal_places(*x.shape, k)]


def diagonal_places(n, m, k):
    """The places of the k-th diagonal in a flattened matrix of n rows and m columns."""
    start, size = (k if k >= 0 else -k * m), max(0, min(n + min(k, 0), m - max(k, 0)))
    return slice(start, start + size * (m + 1), m + 1)


def diag_back(d, x, k=0):
    """d, of the shape of diag(x, k), put back into the shape of x."""
    if np.ndim(x) == 1:
        return f.diag(d, k)
    places = diagonal_places(*np.shape(x), k)
    size = len(range(*places.indices(math.prod(np.shape(x)))))
    if np.shape(d) != (size,):
        raise ValueError(f"diag_back takes the {size} numbers of a diagonal, and found an array of shape "
                         f"{np.shape(d)}")
    return f.reshape(f.scatterAdd(d, f.reshape(x, (-1,)), places), x)


def inverse(axes):
    return () if axes is None else (tuple(int(i) for i in np.argsort(np.mod(axes, len(axes)))),)


def astype(x, dtype):
    """x in another precision, a tuple of one string: ("float32",)."""
    return np.asarray(x).astype(dtype[0])[()]


def reshape(x, shape):
    """x in another shape: a tuple, in which one −1 is worked out, or an array that has it."""
    return np.asarray(x).reshape(shape_of(shape))


def transpose(x, axes=None):
    """x with its axes in the order of `axes`, reversed for None."""
    return np.transpose(x, axes)


def mT(x):
    """x with its last two axes exchanged: the transpose of each matrix of a batch."""
    return np.swapaxes(x, -1, -2)


def roll(x, shift, axis=None):
    """x with its entries moved on by `shift` places along axis, those that fall off coming in again."""
    return np.roll(x, np.asarray(shift, int), axis)


def pad(x, widths):
    """x with zeros around it: widths is an int, or for each axis a pair (before, after)."""
    return np.pad(x, widths)


def concat(axis, *arrays):
    """The arrays one after another along an axis that they have."""
    return np.concatenate(arrays, axis) if arrays else axis_first("concat", axis)


def stack(axis, *arrays):
    """The arrays, of one shape, one after another along a new axis."""
    return np.stack(arrays, axis) if arrays else axis_first("stack", axis)


def diag(x, k=0):
    """The k-th diagonal of a matrix; of a vector the matrix that has it there."""
    return np.diag(x, k)


#       op             value        rule per argument
linear("broadcast",    broadcast,   lambda d, out, x, like, axis=(): f.unbroadcast(d, x, axis),
            flow="moved", entries=of_shape, like=1, example=spread_hollow)
linear("unbroadcast",  unbroadcast, lambda d, out, x, like, axis=(): f.broadcast(d, x, axis),
            flops=of_sum, view=True, flow="moved", like=1, elsewhere=unbroadcast_of_sums)
linear("astype",       astype,      lambda d, out, x, dtype: f.unbroadcast(d, x), None, flops=0, flow="same")
linear("reshape",      reshape,     lambda d, out, x, shape: f.reshape(d, x), view=True, flow="moved", shape=1)
linear("transpose",    transpose,   lambda d, out, x, axes=None: f.transpose(d, *inverse(axes)),
            view=True, flow="moved", numpy="transpose", within=True)
linear("mT",           mT,          lambda d, out, x: f.mT(d),                          view=True, flow="moved", within=True,
            formula=mT_of_axes)
linear("flip",         flip,        lambda d, out, x, axis=None: f.flip(d, axis), view=True, flow="moved", numpy="flip",
            formula=flip_of_slices)
linear("roll",         roll,        lambda d, out, x, n, axis=None:
                                        f.roll(d, tuple(-k for k in n) if isinstance(n, tuple) else -n, axis), None,
            flow="moved", numpy="roll", formula=roll_of_parts)
linear("pad",          pad,         lambda d, out, x, widths: f.unpad(d, widths), None,
            flow="filled", numpy="pad", entries=of_widths, formula=pad_of_parts)
linear("unpad",        unpad,       lambda d, out, x, widths: f.pad(d, widths), None,
            view=True, flow="part", formula=unpad)
linear("part",         part,        Each(lambda i: None, lambda d, out, x, i, axis, *arrays: alone(f.concat, i, axis, d, arrays)),
            view=True, flow="part", formula=part)
linear("diag",         diag,        lambda d, out, x, k=0: f.diag_back(d, x, k), None,
            view=True, flow="part", numpy="diag", entries=of_diagonal, formula=diag_of_entries)
linear("diag_back",    diag_back,   lambda u, out, d, x, k=0: f.diag(u, k), None, None,
            view=True, flow="filled", shape=1, formula=diag_back,
            entries=lambda d, x, k=0: max(np.size(x), of_diagonal(d, k)))


def joining(op, value, taken_apart):
    """A row that is linear in all arrays together: the tangent of one is joined with zeros for the others.
    taken_apart(d, i, axis, *arrays): what belongs to the i-th array."""
    adjoint = lambda i: lambda d, out, axis, *arrays: taken_apart(d, i - 1, axis, *arrays)
    tangent = lambda i: lambda t, out, axis, *arrays: alone(getattr(f, op), i - 1, axis, t, arrays)
    operator(op, value, Each(adjoint, None), tangents=Each(tangent, None), flow="filled")


joining("concat", concat, lambda d, i, axis, *arrays: f.part(d, i, axis, *arrays))
joining("stack", stack, lambda d, i, axis, *_: f.take(d, i, axis))
