"""NumPy's functions in terms of the operators of `ops`: what np.<name>(x) is for a traced value x."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import f
from ops.expression import SAME
from ops.facts import FACTS, is_complex

from ..traced.arraylike import ArrayLike, plain
from ..traced.dispatch import COMPLEX, NAMES, cast_to, checked, defined_in, with_shape
from ..traced.refusals import IN_PLACE, refuse
from . import compositions as c
from . import decompositions, sequences
from . import rearrangements as r
from . import statistics as s

LN2, DEGREE = math.log(2.0), math.pi / 180.0


def bitwise(op: Callable) -> Callable:
    """A bitwise function, which takes booleans alone."""
    def on_booleans(*args):
        if any(with_shape(a).dtype.kind != "b" for a in args):
            refuse("bitwise functions of whole numbers are no operators", "use booleans, or plain integers")
        return op(*args)
    return on_booleans


def without_nan(filler: float, reduced: Callable) -> Callable:
    """A reduction that skips NaN, by the filler in its place; the maximum of NaNs alone is NaN."""
    def over_the_rest(a, **options):
        if a.dtype.kind != "f":
            return reduced(a, **options)
        alone = np.isinf(filler) and np.isnan(options.get("initial", np.nan))  # without an initial number
        first = {"initial": filler} if alone and "initial" in options else {}
        result = reduced(f.where(f.isnan(a), filler, a), **options | first)
        options.pop("initial", None)
        return f.where(np.all(f.isnan(a), **options), np.nan, result) if alone else result
    return over_the_rest


def nanmean(a, dtype=None, **options):
    a = s.in_summing_precision("mean", a, dtype=dtype)
    if a.dtype.kind != "f":
        return np.mean(a, **options)
    return np.nansum(a, **options) / cast_to(np.sum(f.logical_not(f.isnan(a)), **options), a.dtype)


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    a, b = with_shape(a), with_shape(b)
    size = cast_to(b, np.result_type(b.dtype, 1.0))
    close = f.abs(a - size) <= atol + rtol * f.abs(size)
    same = f.logical_or(f.logical_and(close, f.isfinite(size)), f.equal(a, size))
    return f.logical_or(same, f.logical_and(f.isnan(a), f.isnan(b))) if equal_nan else same


def array_equal(a1, a2, equal_nan=False):
    if np.shape(a1) != np.shape(a2):
        return False
    same = f.equal(a1, a2)
    return bool(np.all(f.logical_or(same, f.logical_and(f.isnan(a1), f.isnan(a2))) if equal_nan else same))


def nan_to_num(x, copy=True, **numbers):
    return checked(without_nan_or_infinity, np.nan_to_num)(x, **numbers) if copy else refuse(*IN_PLACE)


def without_nan_or_infinity(x, nan=0.0, posinf=None, neginf=None):
    if x.dtype.kind != "f":
        return x
    top = np.finfo(x.dtype).max
    x = f.where(f.isnan(x), nan, f.where(f.equal(x, np.inf), top if posinf is None else posinf, x))
    return f.where(f.equal(x, -np.inf), -top if neginf is None else neginf, x)


def fmod(x, y):
    x = with_shape(x)
    size = f.remainder(f.abs(x), f.abs(y))
    return f.where(f.signbit(x) if x.dtype.kind == "f" else f.less(x, 0), f.negative(size), size)


def modf(x):
    integral = f.trunc(x)
    fraction = f.where(f.signbit(x), -(integral - x), x - integral)  # −0.0 for −2.0, as NumPy has it
    return f.where(f.equal(f.abs(x), np.inf), f.reciprocal(x), fraction), integral


def full_of(number: Any) -> Callable:
    return lambda a, dtype=None, order="K", subok=True, shape=None, device=None: np.full(
        a.shape if shape is None else shape, number, a.dtype if dtype is None else dtype)[()]


def each_reshaped(function: Callable) -> Callable:
    """A function that changes the shape of each of its arrays, as NumPy's does."""
    def changed(*arrays):
        results = tuple(r.reshaping(function)(with_shape(a)) for a in arrays)
        return results[0] if len(results) == 1 else results
    return changed


@checked
def linspace(start, stop, num=50, endpoint=True):
    start, stop = (a if type(a) in (int, float) else with_shape(a) * 1.0 for a in (start, stop))
    span, count = stop - start, num - 1 if endpoint else num
    steps = np.reshape(np.arange(num, dtype=with_shape(span).dtype), (-1, *(1,) * np.ndim(span)))
    result = start + (steps * (span / count) if count > 0 else steps * span)
    last = f.broadcast(with_shape(stop), result[-1:].shape)
    return np.concatenate([result[:-1], last]) if endpoint and num > 1 else result


def polyval(p, x):
    p, x = with_shape(p), with_shape(x)
    result = np.zeros_like(x)
    for coefficient in p:
        result = result * x + coefficient
    return result


def take(a, indices, axis=None, mode="raise"):
    indices = r.positions_within(with_shape(indices), np.size(a, axis), mode)
    return f.take(a, indices if indices.size else cast_to(indices, int), r.whole_axis(axis))


def clip(a, *ends, **bounds):
    bounds |= zip(("a_min", "a_max"), ends, strict=False)  # NumPy 2.0 requires both
    if bounds.keys() != {"a_min", "a_max"}:
        blank_bounds = {side: bound if bound is None else 0.0 for side, bound in bounds.items()}
        np.clip(0.0, **blank_bounds)  # raises what NumPy does
    low, high = (bounds.get(f"a_{side}", bounds.get(side)) for side in ("min", "max"))
    return np.positive(a) if low is None is high else f.clip(a, low, high)


def on_plain(function: Callable) -> Callable:
    """NumPy's function of the plain values: texts and positions have no derivative."""
    return lambda *args, **options: function(*map(plain, args), **options)


THEIRS = {**vars(np.linalg), **vars(np)}
# what its row calls NumPy's function, arguments and all; ours take more options of some
NAMES.update((operator.attrgetter(row.numpy)(np), getattr(f, op)) for op, row in FACTS.items() if row.numpy)
for module in (*map(vars, (c, decompositions, r, s, sequences)), globals()):
    NAMES.update((THEIRS[name], ours) for name, ours in defined_in(module).items() if name in THEIRS)
NAMES.update({
    # rearrangements that NumPy's own function shows
    **{move: r.rearranged(move) for move in (np.moveaxis, np.rollaxis, np.swapaxes)},
    **{move: r.gather(move) for move in (np.delete, np.repeat, np.rot90, np.tile, np.lib.stride_tricks.sliding_window_view)},
    **{shape: r.reshaping(shape) for shape in (np.expand_dims, np.squeeze)},
    **{triangle: r.upper_or_lower(triangle) for triangle in (np.tril, np.triu)},
    **dict.fromkeys((np.empty_like, np.zeros_like), full_of(0)),
    np.positive:      lambda x: x,
    np.conjugate:     lambda x: f.conj(x) if is_complex(x) else x,
    np.real:          lambda x: f.real(x) if is_complex(x) else x,
    np.imag:          lambda val: f.imag(val) if is_complex(val) else np.zeros(val.shape, val.dtype)[()],
    # entry by entry
    np.copy:          lambda a, order="K", subok=False: a,
    np.float_power:   f.power,
    np.fmax:          lambda x, y: f.where(f.isnan(x), y, f.where(f.isnan(y), x, f.maximum(x, y))),
    np.fmin:          lambda x, y: f.where(f.isnan(x), y, f.where(f.isnan(y), x, f.minimum(x, y))),
    np.divmod:        lambda x, y: (f.floor_divide(x, y), f.remainder(x, y)),
    np.logaddexp2:    lambda x, y: f.logaddexp(x * LN2, y * LN2) / LN2,
    **dict.fromkeys((np.deg2rad, np.radians), lambda x: x * DEGREE),
    **dict.fromkeys((np.degrees, np.rad2deg), lambda x: x / DEGREE),
    np.heaviside:     lambda x, half: f.where(f.equal(x, 0), half, f.half(f.sign(x) + 1)),
    np.isinf:         lambda x: f.equal(f.abs(x), np.inf),
    np.isposinf:      lambda x: f.equal(x, np.inf),
    np.isneginf:      lambda x: f.equal(x, -np.inf),
    np.logical_xor:   lambda x, y: f.not_equal(f.not_equal(x, 0), f.not_equal(y, 0)),
    np.bitwise_and:   bitwise(f.logical_and),
    np.bitwise_or:    bitwise(f.logical_or),
    np.bitwise_xor:   bitwise(f.not_equal),
    np.invert:        bitwise(f.logical_not),
    np.copysign:      lambda x, y: f.where(f.signbit(y), -f.abs(x), f.abs(x)),
    np.around:        f.round,
    np.allclose:      lambda a, b, **near: bool(np.all(isclose(a, b, **near))),
    # reductions
    **{getattr(np, name): s.reduction_by(SAME.get(name, name)) for name in ("sum", "mean", "prod", "max", "min", "amax", "amin")},
    **{getattr(np, op): s.var_or_std(op) for op in ("var", "std")},
    np.any:           lambda a, **options: np.sum(f.not_equal(a, 0), **options) > 0,
    np.all:           lambda a, **options: f.equal(np.sum(f.equal(a, 0), **options), 0),
    np.count_nonzero: lambda a, **options: np.sum(f.not_equal(a, 0), **options),
    np.ptp:           lambda a, **options: np.max(a, **options) - np.min(a, **options),
    np.median:        lambda a, overwrite_input=False, **options: s.along_order(s.middle)(a, **options),
    np.nansum:        without_nan(0.0, np.sum),
    np.nanprod:       without_nan(1.0, np.prod),
    np.nancumsum:     without_nan(0.0, np.cumsum),
    np.nancumprod:    without_nan(1.0, np.cumprod),
    np.nanmax:        without_nan(-np.inf, np.max),
    np.nanmin:        without_nan(np.inf, np.min),
    **{getattr(np, op): s.running_total(op) for op in ("cumsum", "cumprod")},
    np.ediff1d:       lambda ary: f.subtract(np.ravel(ary)[1:], np.ravel(ary)[:-1]),
    # products
    np.vdot:          lambda a, b: f.dot(np.ravel(np.conj(a) if is_complex(a) else a), np.ravel(b)),
    np.linalg.outer:  checked(lambda a, b: f.outer(a, b), np.linalg.outer),
    np.linalg.matmul: lambda a, b: f.dot(a, b),
    np.linalg.vecdot: lambda a, b, axis=-1: np.vecdot(*(np.moveaxis(x, operator.index(axis), -1) for x in (a, b))),
    np.linalg.tensordot: lambda a, b, axes=2: c.tensordot(a, b, axes),
    np.linalg.trace:  lambda x, offset=0: np.trace(x, offset, -2, -1),
    np.linalg.diagonal: lambda x, offset=0: np.diagonal(x, offset, -2, -1),
    np.linalg.matrix_transpose: lambda x: f.mT(x),
    np.linalg.matrix_norm: lambda x, keepdims=False, ord="fro": c.norm(x, ord, (-2, -1), keepdims),
    # rearrangements
    np.transpose:     lambda x, axes=None: f.transpose(x, axes=r.whole_axis(axes)),
    np.matrix_transpose: f.mT,
    **{at_least: each_reshaped(at_least) for at_least in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
    np.broadcast_to:  lambda a, shape, subok=False: f.broadcast(a, r.whole_shape(shape)),
    np.stack:         lambda arrays, axis=0: f.stack(axis, *map(with_shape, arrays)),
    np.vstack:        lambda tup: r.concatenate([np.atleast_2d(a) for a in tup]),
    np.hstack:        lambda tup: r.concatenate(arrays := [np.atleast_1d(a) for a in tup], int(np.ndim(arrays[0]) > 1)),
    np.dstack:        lambda arrays: r.concatenate([np.atleast_3d(a) for a in arrays], 2),
    np.column_stack:  lambda arrays: r.concatenate([np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else a for a in arrays], 1),
    np.append:        lambda x, values, axis=None: r.concatenate([x, values], axis),
    **{cut: r.split_like(cut) for cut in (np.split, np.array_split, np.vsplit, np.hsplit, np.dsplit)},
    np.flipud:        lambda x: f.flip(x, 0),
    np.fliplr:        lambda x: f.flip(x, 1),
    np.resize:        lambda a, new_shape: r.gather(np.resize)(a if np.size(a) else np.zeros(1, with_shape(a).dtype), new_shape),
    np.trace:         lambda x, offset=0, axis1=0, axis2=1: f.sum(r.diagonal(x, offset, axis1, axis2), -1),
    np.compress:      lambda condition, a, axis=None: r.gather(lambda i, holds: np.compress(holds, i, axis))(a, condition),
    np.flatnonzero:   lambda x: c.nonzero(np.ravel(x))[0],
    # functions of the shape or the dtype alone
    np.shape:         lambda x: x.shape,
    np.ndim:          lambda x: x.ndim,
    np.size:          lambda x, axis=None: np.size(np.broadcast_to(0, x.shape), axis),
    np.ones_like:     full_of(1),
    np.full_like:     checked(lambda a, fill, **_: fill, np.full_like),
    np.iscomplexobj:  is_complex,
    np.isrealobj:     lambda x: not is_complex(x),
    np.result_type:   lambda *xs: np.result_type(*(x.dtype if isinstance(x, ArrayLike) else x for x in xs)),
    # functions of the numbers alone
    **{THEIRS[name]: on_plain(THEIRS[name]) for name in """
        array2string array_repr array_str array_equiv matrix_rank
        diag_indices_from tril_indices_from triu_indices_from""".split()},
})

COMPLEX.update(getattr(module, name) for name in """
    sum mean prod cumsum cumprod average var std diff ediff1d dot inner tensordot vdot vecdot outer kron einsum convolve polyval
    trace diag diagonal diagflat reshape ravel transpose matrix_transpose swapaxes moveaxis rollaxis expand_dims squeeze tril triu
    concatenate stack vstack hstack dstack column_stack append split array_split vsplit hsplit dsplit flip flipud fliplr roll
    rot90 repeat tile resize where take take_along_axis compress pad broadcast_to broadcast_arrays atleast_1d atleast_2d
    atleast_3d copy positive conjugate real imag angle iscomplexobj isrealobj iscomplex isreal isinf isclose allclose array_equal
    any all count_nonzero result_type shape ndim size zeros_like empty_like ones_like full_like array2string array_repr array_str
    det slogdet inv solve cholesky eigvalsh matmul matrix_power multi_dot
    norm""".split() for module in (np, np.linalg) if hasattr(module, name))
COMPLEX.update(sequences.TRANSFORMS, (np.fft.fftshift, np.fft.ifftshift))
