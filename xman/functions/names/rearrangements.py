"""NumPy's functions that move entries, by the operators that there are."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ops import f

from ..arraylike import ArrayLike
from ..refusals import refuse


def array(x: Any) -> Any:
    """x as something with a shape: an ArrayLike as it is, a list as an array."""
    return x if isinstance(x, ArrayLike) else np.asarray(x)


def whole_axis(axis: Any) -> Any:
    """An axis or several as plain ints, for a list to hold."""
    return None if axis is None else tuple(map(operator.index, axis)) if isinstance(axis, (tuple, list)) else operator.index(axis)


def refuse_options(name: str, **options: Any) -> None:
    """Refuse the first of the options that was given."""
    for option, given in options.items():
        if given is not None and given is not np._NoValue:
            refuse(f"np.{name} with {option}= has no derivative here",
                   "leave out= out and use the result" if option == "out" else "write it with np.where and without that option")


def reshape(x, shape, order="C", copy=None):
    if order == "F":
        return f.transpose(f.reshape(f.transpose(x), whole_shape(shape)[::-1]))
    return f.reshape(x, whole_shape(shape))


def whole_shape(shape: Any) -> tuple:
    return whole_axis(tuple(shape)) if np.ndim(shape) else (operator.index(shape),)


def broadcast_arrays(*arrays, subok=False):
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple(f.broadcast(array(x), shape) for x in arrays)


def expand_dims(x, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    n = x.ndim + len(axes)
    new = {a % n for a in axes}
    sizes = iter(x.shape)
    return f.reshape(x, tuple(1 if i in new else next(sizes) for i in range(n)))


def squeeze(x, axis=None):
    gone = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else [a % x.ndim for a in np.ravel(axis).astype(int)]
    if any(x.shape[i] != 1 for i in gone):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return f.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone)) if gone else x


def rearranged(rearrange: Any) -> Any:
    """A rearrangement of axes by NumPy's own, which shows on an array (0, 1, 2, …) where each axis goes."""
    return lambda x, *where: f.transpose(x, rearrange(np.empty(range(x.ndim)), *where).shape)


def repeat(x, repeats, axis=None):
    x, axis = (np.ravel(x), 0) if axis is None else (x, axis)
    return f.take(x, np.repeat(np.arange(x.shape[axis]), repeats), axis)


def tile(x, reps):
    reps = tuple(np.ravel(reps).astype(int))
    x = np.reshape(x, (1,) * (len(reps) - x.ndim) + x.shape)
    for axis, n in enumerate((1,) * (x.ndim - len(reps)) + reps):
        x = x if n == 1 else f.take(x, np.tile(np.arange(x.shape[axis]), n), axis)
    return x


def array_split(x, sections, axis=0):
    ends = np.array_split(np.arange(x.shape[axis]), sections)
    return [x[(slice(None),) * (axis % x.ndim) + (slice(part[0], part[-1] + 1) if len(part) else slice(0, 0),)] for part in ends]


def split(x, sections, axis=0):
    if np.ndim(sections) == 0 and x.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, sections, axis)


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting=None):
    refuse_options("concatenate", out=out, dtype=dtype, casting=casting)
    parts = [array(a) for a in arrays]
    return f.concat(0, *map(np.ravel, parts)) if axis is None else f.concat(axis, *parts)


def stack(arrays, axis=0, out=None, *, dtype=None, casting=None):
    refuse_options("stack", out=out, dtype=dtype, casting=casting)
    return f.stack(axis, *map(array, arrays))


def pad(x, width, mode="constant", **options):
    if mode == "constant":
        pairs = tuple((int(a), int(b)) for a, b in np.broadcast_to(np.asarray(width), (x.ndim, 2)))
        rim = options.get("constant_values", 0)
        plainly = f.pad(x, pairs)
        return plainly if np.ndim(rim) == 0 and rim == 0 else plainly + np.pad(np.zeros(x.shape, x.dtype), width, **options)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or options:
        refuse(f"np.pad with mode={mode!r} has no operator here", "use constant, edge, reflect, symmetric or wrap")
    for axis, pair in enumerate(np.broadcast_to(np.asarray(width), (x.ndim, 2))):
        x = f.take(x, np.pad(np.arange(x.shape[axis]), pair, mode), axis)
    return x


def diagonal(x, offset=0, axis1=0, axis2=1):
    x = np.moveaxis(x, (axis1, axis2), (-2, -1))
    return f.diag(x, offset) if x.ndim == 2 else x[(..., *np.nonzero(np.eye(*x.shape[-2:], k=offset)))]


def triangle(mask):
    return lambda x, k=0: f.where(mask(np.ones(np.shape(x)[-2:] if np.ndim(x) > 1 else np.shape(x) * 2, bool), k), x, 0.0)


def diff(x, n=1, axis=-1):
    for _ in range(n):
        lead = (slice(None),) * (axis % x.ndim)
        x = x[(*lead, slice(1, None))] - x[(*lead, slice(None, -1))]
    return x


def meshgrid(*vectors, indexing="xy", sparse=False, copy=True):
    vectors = [np.ravel(v) for v in vectors]
    place = [1, 0, *range(2, len(vectors))] if indexing == "xy" and len(vectors) > 1 else range(len(vectors))
    grids = [np.reshape(v, tuple(-1 if p == i else 1 for i in range(len(vectors)))) for v, p in zip(vectors, place, strict=True)]
    return tuple(grids) if sparse else tuple(np.broadcast_arrays(*grids))


def take_along_axis(x, indices, axis=-1):
    x, indices = array(x), array(indices)
    if axis is None:
        return np.ravel(x)[indices]
    key: list = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    key[axis] = indices
    return f.getitem(x, *key)
