"""NumPy's functions by the operators of `ops`: what `np.<name>(x)` is where x is an ArrayLike."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import f

from ..arraylike import NAMES, ArrayLike, cast, plain
from ..refusals import refuse
from . import compositions as c
from . import rearrangements as r

LN2, DEGREE = math.log(2.0), math.pi / 180.0
BITWISE = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "not_equal", "invert": "logical_not",
           "bitwise_not": "logical_not"}


def bits(op: str) -> Callable:
    """A bitwise function, of booleans alone."""
    def on_booleans(*args):
        if any(r.array(a).dtype.kind != "b" for a in args):
            refuse("bitwise functions of whole numbers have no operator here", "use them on booleans, or on plain integers")
        return getattr(f, op)(*args)
    return on_booleans


def nan_as(filler: float, reduced: Callable) -> Callable:
    return lambda x, axis=None, **options: reduced(f.where(f.isnan(x), filler, x), axis, **options)


def nanmean(x, axis=None, keepdims=False):
    here = f.logical_not(f.isnan(x))
    return np.sum(f.where(here, x, 0.0), axis, keepdims=keepdims) / np.sum(here, axis, keepdims=keepdims)


def near(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    same = f.logical_or(f.equal(x, y), f.abs(x - y) <= atol + rtol * f.abs(y))
    return f.logical_or(same, f.logical_and(f.isnan(x), f.isnan(y))) if equal_nan else same


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    top = np.finfo(x.dtype).max
    x = f.where(f.isnan(x), nan, x)
    x = f.where(f.equal(x, np.inf), top if posinf is None else posinf, x)
    return f.where(f.equal(x, -np.inf), -top if neginf is None else neginf, x)


def filled(number: Any) -> Callable:
    return lambda x, dtype=None, order="K", subok=True, shape=None, **_: np.full(x.shape if shape is None else shape, number,
                                                                                 x.dtype if dtype is None else dtype)[()]


def full_like(x, fill, dtype=None, **_):
    return cast(f.broadcast(fill, np.shape(x)), np.dtype(dtype or r.array(x).dtype))


def at_least(n: int, place: Callable) -> Callable:
    def raised(*arrays):
        results = tuple(x if np.ndim(x) >= n else np.reshape(x, place(np.shape(x))) for x in map(r.array, arrays))
        return results[0] if len(results) == 1 else results
    return raised


def rot90(x, k=1, axes=(0, 1)):
    first, second = axes
    if k % 4 == 2:
        return np.flip(np.flip(x, first), second)
    return x if k % 4 == 0 else np.flip(np.swapaxes(x, *axes), first) if k % 4 == 1 else np.swapaxes(np.flip(x, first), *axes)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    steps = np.linspace(0.0, 1.0, num, endpoint).reshape(-1, *(1,) * max(np.ndim(start), np.ndim(stop)))
    r.refuse_options("linspace", retstep=retstep or None, dtype=dtype, axis=axis or None)
    return start * (1.0 - steps) + stop * steps


def polyval(p, x):
    result = 0.0 * x
    for coefficient in p:
        result = result * x + coefficient
    return result


def take(x, indices, axis=None, out=None, mode="raise"):
    r.refuse_options("take", out=out, mode=None if mode == "raise" else mode)
    return f.take(x, np.asarray(indices) if isinstance(indices, list) else indices, axis)


def delete(x, where, axis=None):
    x, axis = (np.ravel(x), 0) if axis is None else (x, axis)
    return f.take(x, np.delete(np.arange(x.shape[axis]), where), axis)


def clip(x, a_min=None, a_max=None, out=None, *, min=None, max=None):
    r.refuse_options("clip", out=out)
    return f.clip(x, a_min if min is None else min, a_max if max is None else max)


def running(op: str) -> Callable:
    def sums(x, axis=None, dtype=None, out=None):
        r.refuse_options(op, out=out)
        return getattr(f, op)(x if dtype is None else cast(x, dtype), axis)
    return sums


NAMES.update({
    # entry by entry
    np.positive:      lambda x: x,
    np.conjugate:     lambda x: x,
    np.real:          lambda x: x,
    np.copy:          lambda x, *_, **__: x,
    np.float_power:   lambda x, y: f.power(1.0 * x, y),
    np.fmax:          lambda x, y: f.where(f.isnan(x), y, f.where(f.isnan(y), x, f.maximum(x, y))),
    np.fmin:          lambda x, y: f.where(f.isnan(x), y, f.where(f.isnan(y), x, f.minimum(x, y))),
    np.fmod:          lambda x, y: f.sign(x) * f.remainder(f.abs(x), f.abs(y)),
    np.divmod:        lambda x, y: (f.floor_divide(x, y), f.remainder(x, y)),
    np.modf:          lambda x: (x - f.trunc(x), f.trunc(x)),
    np.logaddexp2:    lambda x, y: f.logaddexp(x * LN2, y * LN2) / LN2,
    np.deg2rad:       lambda x: x * DEGREE,
    np.radians:       lambda x: x * DEGREE,
    np.rad2deg:       lambda x: x / DEGREE,
    np.degrees:       lambda x: x / DEGREE,
    np.heaviside:     lambda x, half: f.where(f.equal(x, 0), half, 1.0 * (x > 0)),
    np.isinf:         lambda x: f.equal(f.abs(x), np.inf),
    np.isposinf:      lambda x, out=None: f.equal(x, np.inf),
    np.isneginf:      lambda x, out=None: f.equal(x, -np.inf),
    np.logical_xor:   lambda x, y: f.not_equal(f.not_equal(x, 0), f.not_equal(y, 0)),
    np.sinc:          c.sinc,
    np.copysign:      lambda x, y: f.where(y < 0, -f.abs(x), f.abs(x)),
    np.nan_to_num:    nan_to_num,
    np.round:         lambda x, decimals=0, out=None: f.round(x, decimals) if decimals else f.round(x),
    np.around:        lambda x, decimals=0, out=None: np.round(x, decimals),
    np.clip:          clip,
    np.where:         c.where,
    np.select:        c.select,
    np.piecewise:     c.piecewise,
    np.interp:        c.interp,
    np.polyval:       polyval,
    np.isclose:       near,
    np.allclose:      lambda x, y, *near_, **options: bool(np.all(near(x, y, *near_, **options))),
    np.array_equal:   lambda x, y, equal_nan=False: np.shape(x) == np.shape(y) and bool(np.all(near(x, y, 0, 0, equal_nan))),
    # reductions
    **{getattr(np, op): c.reduction(op) for op in ("sum", "mean", "prod", "var", "std")},
    **{getattr(np, name): c.extreme(op) for name, op in (("max", "max"), ("min", "min"), ("amax", "max"), ("amin", "min"))},
    np.any:           c.any_,
    np.all:           c.all_,
    np.count_nonzero: lambda x, axis=None, keepdims=False: f.sum(f.not_equal(x, 0), axis=axis, keepdims=bool(keepdims)),
    np.argmax:        c.arg(1),
    np.argmin:        c.arg(-1),
    np.ptp:           c.ptp,
    np.average:       c.average,
    np.median:        lambda x, axis=None, keepdims=False: c.quantile(x, 0.5, axis, keepdims),
    np.quantile:      c.quantile,
    np.percentile:    lambda x, q, axis=None, keepdims=False: c.quantile(x, q / 100, axis, keepdims),
    np.nansum:        nan_as(0.0, np.sum),
    np.nanprod:       nan_as(1.0, np.prod),
    np.nanmax:        nan_as(-np.inf, np.max),
    np.nanmin:        nan_as(np.inf, np.min),
    np.nanmean:       nanmean,
    np.cov:           c.cov,
    np.corrcoef:      c.corrcoef,
    np.trapezoid:     c.trapezoid,
    np.cumsum:        running("cumsum"),
    np.cumprod:       running("cumprod"),
    np.diff:          r.diff,
    np.ediff1d:       lambda x: r.diff(np.ravel(x)),
    # products
    np.dot:           c.dot,
    np.inner:         c.inner,
    np.vecdot:        lambda a, b: f.sum(f.mul(a, b), -1),
    np.vdot:          lambda a, b: f.dot(np.ravel(a), np.ravel(b)),
    np.outer:         lambda a, b, out=None: f.outer(r.array(a), r.array(b)),
    np.tensordot:     c.tensordot,
    np.kron:          c.kron,
    np.linalg.outer:  lambda a, b: f.outer(a, b),
    np.linalg.matmul: lambda a, b: f.dot(a, b),
    np.linalg.vecdot: lambda a, b, axis=-1: np.sum(a * b, axis),
    np.linalg.tensordot: lambda a, b, axes=2: c.tensordot(a, b, axes),
    np.linalg.trace:  lambda x, offset=0: np.trace(x, offset, -2, -1),
    np.linalg.diagonal: lambda x, offset=0: np.diagonal(x, offset, -2, -1),
    np.linalg.matrix_transpose: lambda x: f.mT(x),
    np.linalg.vector_norm: lambda x, axis=None, keepdims=False, ord=2:
                          c.norm(np.ravel(x) if axis is None else x, ord, axis, keepdims),
    np.linalg.matrix_norm: lambda x, keepdims=False, ord="fro": c.norm(x, ord, (-2, -1), keepdims),
    np.linalg.inv:    f.inv,
    np.linalg.det:    f.det,
    np.linalg.solve:  lambda a, b: f.solve(r.array(a), r.array(b)),
    np.linalg.cholesky: lambda a: f.cholesky(a),
    np.linalg.slogdet: c.slogdet,
    np.linalg.norm:   c.norm,
    np.linalg.pinv:   c.pinv,
    np.linalg.multi_dot: c.multi_dot,
    np.linalg.matrix_power: c.matrix_power,
    # rearrangements
    np.reshape:       r.reshape,
    np.ravel:         lambda x, order="C": r.reshape(x, -1, order),
    np.transpose:     lambda x, axes=None: f.transpose(x) if axes is None else f.transpose(x, r.whole_axis(axes)),
    np.matrix_transpose: f.mT,
    np.swapaxes:      r.rearranged(np.swapaxes),
    np.moveaxis:      r.rearranged(np.moveaxis),
    np.rollaxis:      r.rearranged(np.rollaxis),
    np.expand_dims:   r.expand_dims,
    np.squeeze:       r.squeeze,
    np.atleast_1d:    at_least(1, lambda shape: (1,)),
    np.atleast_2d:    at_least(2, lambda shape: (1, *(shape or (1,)))),
    np.atleast_3d:    at_least(3, lambda shape: (1, *(shape or (1,)), 1) if len(shape) < 2 else (*shape, 1)),
    np.broadcast_to:  lambda x, shape, subok=False: f.broadcast(x, r.whole_shape(shape)),
    np.broadcast_arrays: r.broadcast_arrays,
    np.concatenate:   r.concatenate,
    np.stack:         r.stack,
    np.vstack:        lambda arrays, **_: r.concatenate([np.atleast_2d(a) for a in arrays]),
    np.hstack:        lambda arrays, **_: r.concatenate(parts := [np.atleast_1d(a) for a in arrays], int(np.ndim(parts[0]) > 1)),
    np.dstack:        lambda arrays: r.concatenate([np.atleast_3d(a) for a in arrays], 2),
    np.column_stack:  lambda arrays: r.concatenate([np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else a for a in arrays], 1),
    np.append:        lambda x, more, axis=None: r.concatenate([x, more], axis),
    np.split:         r.split,
    np.array_split:   r.array_split,
    np.vsplit:        lambda x, sections: r.split(x, sections, 0),
    np.hsplit:        lambda x, sections: r.split(x, sections, 1 if x.ndim > 1 else 0),
    np.dsplit:        lambda x, sections: r.split(x, sections, 2),
    np.flip:          lambda x, axis=None: f.flip(x) if axis is None else f.flip(x, axis),
    np.flipud:        lambda x: f.flip(x, 0),
    np.fliplr:        lambda x: f.flip(x, 1),
    np.rot90:         rot90,
    np.roll:          lambda x, shift, axis=None: f.roll(x, shift, axis),
    np.pad:           r.pad,
    np.repeat:        r.repeat,
    np.tile:          r.tile,
    np.meshgrid:      r.meshgrid,
    np.diag:          lambda x, k=0: f.diag(x, k),
    np.diagonal:      r.diagonal,
    np.trace:         lambda x, offset=0, axis1=0, axis2=1: np.sum(r.diagonal(x, offset, axis1, axis2), -1),
    np.triu:          r.triangle(np.triu),
    np.tril:          r.triangle(np.tril),
    np.take:          take,
    np.delete:        delete,
    np.compress:      lambda condition, x, axis=None: take(x, np.flatnonzero(condition), axis),
    np.take_along_axis: r.take_along_axis,
    np.sort:          c.sort,
    np.argsort:       lambda x, axis=-1, **_: f.argsort(x, axis) if axis is not None else f.argsort(np.ravel(x)),
    np.nonzero:       c.nonzero,
    np.flatnonzero:   lambda x: c.nonzero(np.ravel(x))[0],
    # what does not depend on the numbers
    np.shape:         lambda x: x.shape,
    np.ndim:          lambda x: x.ndim,
    np.size:          lambda x, axis=None: x.size if axis is None else math.prod(x.shape[a] for a in np.ravel(axis).astype(int)),
    np.zeros_like:    filled(0),
    np.empty_like:    filled(0),
    np.ones_like:     filled(1),
    np.full_like:     full_like,
    np.iscomplexobj:  lambda x: False,
    np.isrealobj:     lambda x: True,
    np.result_type:   lambda *args: np.result_type(*(a.dtype if isinstance(a, ArrayLike) else a for a in args)),
    np.linspace:      linspace,
    np.array2string:  lambda x, *args, **options: np.array2string(plain(x), *args, **options),
    np.array_repr:    lambda x, *args, **options: np.array_repr(plain(x), *args, **options),
    np.array_str:     lambda x, *args, **options: np.array_str(plain(x), *args, **options),
})
NAMES.update({getattr(np, name): bits(op) for name, op in BITWISE.items()})
