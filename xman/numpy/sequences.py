"""NumPy's functions of sequences: differences, convolutions, sums over letters, blocks and insertions."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ops import f
from ops.facts import is_complex

from ..traced.arraylike import ArrayLike, plain
from ..traced.dispatch import METHODS, NAMES, blank, cast_to, checked, refuse_function, with_shape
from .decompositions import in_floats
from .rearrangements import axis_index, gather
from .spectra import TRANSFORMS

# ---- differences -------------------------------------------------------------------------------------------

def gradient(f, *spacing, axis=None, edge_order=1):
    y = with_shape(f)
    axes = range(y.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, y.ndim)
    blank = np.zeros(y.shape, y.dtype)
    np.gradient(blank, *map(plain, spacing), axis=axis, edge_order=edge_order)  # raises what NumPy does
    if len(spacing) < 2 and all(np.ndim(h) == 0 for h in spacing):
        spacing = (spacing or (1.0,)) * len(axes)
    along = lambda a, h: np.moveaxis(parabola_slopes(np.moveaxis(in_floats(y), a, 0), h, edge_order), 0, a)
    slopes = tuple(map(along, axes, map(in_floats, spacing)))
    return slopes[0] if len(slopes) == 1 else slopes


def parabola_slopes(y, h, edge_order):
    """The slopes of y along its first axis, by parabolas. h: the distance of the points, or their places."""
    h = np.diff(h) if h.ndim else h
    if h.ndim and not isinstance(h, ArrayLike) and np.all(h == h[0]):
        h = h[0]
    even, h = not h.ndim, np.broadcast_to(h, (len(y) - 1,))
    h = np.reshape(h, (-1, *(1,) * (y.ndim - 1)))
    first, last = ((y[k + 1:][:1] - y[k:][:1]) / h[k:][:1] for k in (0, len(y) - 2))
    if even:  # without the weight 0 of the middle, which an infinite entry would make NaN
        inner = (y[2:] - y[:-2]) / (2.0 * h[1:])
    else:
        inner = of_three(y, -h[1:] / h[:-1], h[1:] / h[:-1] - h[:-1] / h[1:], h[:-1] / h[1:], h[:-1] + h[1:])
    if edge_order == 2:
        near, far = h[:1], h[1:2]
        first = of_three(y[:3], -2.0 - far / near, (near + far) ** 2 / (near * far), -near / far, near + far)
        near, far = h[-1:], h[-2:-1]
        last = of_three(y[-3:], near / far, -(near + far) ** 2 / (near * far), 2.0 + far / near, near + far)
    return cast_to(np.concatenate([first, inner, last]), y.dtype)


def of_three(y, before, middle, after, over):
    """The sum of three neighbours with these weights, for each place in the middle, divided."""
    return (before * y[:-2] + middle * y[1:-1] + after * y[2:]) / over


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    p = np.moveaxis(with_shape(p), axis := axis_index(axis, np.ndim(p)), -1)
    step, p = in_floats(np.diff(p)), in_floats(p)
    low = -period / 2
    back = np.mod(step - low, period) + low
    back = f.where(f.logical_and(f.equal(back, low), step > 0), -low, back)
    least = period / 2 if discont is None else max(discont, period / 2)
    jump = f.where(f.abs(step) < least, 0.0, back - step)
    return np.moveaxis(np.concatenate([p[..., :1], p[..., 1:] + np.cumsum(jump, -1)], -1), -1, axis)


# ---- running extremes --------------------------------------------------------------------------------------

def running_extreme(extreme):
    """extreme.accumulate: the extreme of windows that end at each place, which double in length."""
    def accumulate(array, axis=0, dtype=None):
        x, width = np.moveaxis(cast_to(with_shape(array), dtype or array.dtype), axis, 0), 1
        while width < len(x):
            x, width = np.concatenate([x[:width], extreme(x[width:], x[:-width])]), 2 * width
        return np.moveaxis(x, 0, axis)
    return accumulate


METHODS["accumulate"] |= {extreme: running_extreme(extreme) for extreme in (np.maximum, np.minimum)}


# ---- methods of other ufuncs, from the left: ((a0 − a1) − a2) − … ------------------------------------------

def folds(ufunc, array, axis, dtype):
    """[a0, ufunc(a0, a1), ufunc(ufunc(a0, a1), a2), …] along axis."""
    x = np.moveaxis(cast_to(with_shape(array), dtype or np.dtype(array.dtype)), axis, 0)
    sums = [x[0]]
    for k in range(1, len(x)):
        sums.append(ufunc(sums[-1], x[k]))
    if sums[-1].dtype != x.dtype:
        refuse_function(ufunc, f"gives {sums[-1].dtype} of {x.dtype}, and so has no such method here")
    return sums


def accumulate(ufunc, array, axis=0, dtype=None):
    ufunc.accumulate(blank(array), axis)  # raises what NumPy does
    return np.stack(folds(ufunc, array, axis, dtype), axis)


# NumPy's power.reduce and arctan2.reduce are no folds where its loops read several entries at once
FOLDED = {np.subtract, np.divide, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.fmin, *METHODS["reduce"]}


def reduce(ufunc, array, axis=0, dtype=None, keepdims=False):
    if ufunc not in FOLDED:
        refuse_function(ufunc, "has no .reduce here")
    ufunc.reduce(blank(array), axis)
    n, total = np.ndim(array), array
    axes = range(n) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, n)
    for place in sorted(axes, reverse=True):
        total = folds(ufunc, total, place, dtype)[-1]
    return np.expand_dims(total, tuple(axes)) if keepdims else total


def reduceat(ufunc, array, indices, axis=0, dtype=None):
    """ufunc.reduce of array[i:j] along axis, for i and the next index j; array[i] where j is not after i."""
    ufunc.reduceat(blank(array), starts := np.asarray(plain(indices)).tolist(), axis)
    x = np.moveaxis(with_shape(array), axis, 0)
    x = x if dtype is None else cast_to(x, dtype)
    pairs = zip(starts, [*starts[1:], len(x)], strict=True)
    return np.stack([ufunc.reduce(x[i:max(j, i + 1)], axis=0) for i, j in pairs], axis)


METHODS["any"] |= {"accumulate": accumulate, "reduce": reduce, "reduceat": reduceat}


# ---- products ----------------------------------------------------------------------------------------------


def overlap(function, a, v, mode):
    """The convolution of a and v, cut as NumPy's function cuts its own."""
    a, v = with_shape(a), with_shape(v)
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        function(plain(a), plain(v), mode)  # raises what NumPy does
    full = f.convolve(a, v)
    n, m = max(len(a), len(v)), min(len(a), len(v))
    size = len(function(np.ones(n), np.ones(m), mode))
    half = (m - 1) // 2 if function is np.convolve or len(a) >= len(v) else m // 2
    cut = {n + m - 1: 0, n - m + 1: m - 1}.get(size, half)
    return full[cut:cut + size]


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    last = lambda x, axis: np.moveaxis(with_shape(x), axis_index(axis, np.ndim(x)), -1)
    a, b = last(a, axisa), last(b, axisb)
    sizes = a.shape[-1], b.shape[-1]
    if not {*sizes} <= {2, 3}:
        raise ValueError(f"incompatible dimensions for cross product (must be 2 or 3), found {sizes}")
    if sizes == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (x if x.shape[-1] == 3 else np.concatenate([x, np.zeros_like(x[..., :1])], -1) for x in (a, b))
    after, before = [1, 2, 0], [2, 0, 1]
    return np.moveaxis(a[..., after] * b[..., before] - a[..., before] * b[..., after], -1, axisc)


def cross_of_three(x1, x2, *, axis=-1):
    if with_shape(x1).shape[axis] != 3 or with_shape(x2).shape[axis] != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{np.shape(x1)[axis]} and {np.shape(x2)[axis]} dimensional instead.")
    return cross(x1, x2, axis=axis)


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(*operands, optimize=False):
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0].replace(" ", ""), operands[1:]
    else:  # einsum(a, [0, 1], b, [1, 2], [0, 2])
        pairs = len(operands) // 2 * 2
        arrays, axes = operands[:pairs:2], [*operands[1::2], *operands[pairs:]]
        terms = ["".join("..." if i is Ellipsis else LETTERS[i] for i in numbers) for numbers in axes]
        subscripts = ",".join(terms[:len(arrays)]) + "".join("->" + term for term in terms[len(arrays):])
    arrays = [with_shape(a) for a in arrays]
    if "." in subscripts:
        zeros = [np.broadcast_to(0.0, a.shape) for a in arrays]
        np.einsum(subscripts, *zeros, optimize=optimize)  # raises what NumPy does
        subscripts = letters_for_dots(subscripts, [a.ndim for a in arrays])
    return f.einsum((subscripts,), *arrays)


def letters_for_dots(subscripts, ndims):
    """The subscripts with letters in place of each `...`, aligned at the last axes."""
    inputs, arrow, result = subscripts.partition("->")
    terms = inputs.split(",")
    sizes = [n - len(term) + 3 if "..." in term else 0 for term, n in zip(terms, ndims, strict=True)]
    free = [c for c in LETTERS if c not in subscripts][:max(sizes)]
    terms = [term.replace("...", "".join(free[len(free) - n:])) for term, n in zip(terms, sizes, strict=True)]
    if not arrow:
        letters = "".join(inputs.replace("...", "").split(","))
        result = "..." + "".join(sorted(c for c in {*letters} if letters.count(c) == 1))
    return ",".join(terms) + "->" + result.replace("...", "".join(free))


# ---- arrays of arrays --------------------------------------------------------------------------------------

def block(arrays):
    ndim = np.block(blank(arrays)).ndim  # raises what NumPy does

    def depth_of(nested: Any) -> int:
        return 1 + depth_of(nested[0]) if isinstance(nested, list) else 0

    def joined(nested: Any) -> Any:
        if isinstance(nested, list):
            return np.concatenate([joined(inner) for inner in nested], -depth_of(nested))
        nested = with_shape(nested)
        return np.reshape(nested, (*(1,) * (ndim - nested.ndim), *nested.shape))
    return joined(arrays) if isinstance(arrays, list) else with_shape(arrays)


def insert(arr, obj, values, axis=None):
    # NumPy's function of the places of all entries, those of values after those of x, shows what goes where
    x, values = with_shape(arr), with_shape(values)
    first, last = np.split(np.arange(x.size + values.size), [x.size])
    inserted = np.insert(first.reshape(x.shape), plain(obj), last.reshape(values.shape), axis)
    return f.take(f.concat(0, np.ravel(x), np.ravel(cast_to(values, x.dtype))), inserted)


def bincount(x, weights=None, minlength=0):
    blank = np.zeros(len(np.bincount(plain(x), minlength=minlength)), int if weights is None else float)
    weights = np.ones(x.shape, int) if weights is None else with_shape(weights)
    return f.scatterAdd(weights, blank, cast_to(x, int))


def scaled_by_powers(x, i):
    np.ldexp(1.0, np.zeros((), with_shape(i).dtype))  # raises what NumPy does
    return x * cast_to(2.0 ** with_shape(i), with_shape(x).dtype)


@checked
def vander(x, N=None, increasing=False):
    x, powers = in_floats(x), np.arange(len(x) if N is None else N)
    products = np.cumprod(np.repeat(x[:, None], max(len(powers) - 1, 0), 1), 1)
    columns = np.concatenate([np.ones_like(x)[:, None], products], 1)
    return columns[:, powers if increasing else powers[::-1]]


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(arr, axis, -1)
    results = [func1d(rows[place], *args, **kwargs) for place in np.ndindex(rows.shape[:-1])]
    full = np.reshape(np.stack([with_shape(y) for y in results]), (*rows.shape[:-1], *np.shape(results[0])))
    k, n = np.ndim(results[0]), rows.ndim - 1
    return np.moveaxis(full, range(n, n + k), range(axis % arr.ndim, axis % arr.ndim + k))


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return base ** np.linspace(start, stop, num, endpoint)


@checked
def angle(z, deg=False):
    radians = f.angle(z) if is_complex(z) else f.arctan2(0.0, in_floats(z))
    return radians * (180.0 / math.pi) if deg else radians


def geomspace(start, stop, num=50, endpoint=True):
    if not np.all(plain(start)) or not np.all(plain(stop)):
        raise ValueError("Geometric sequence cannot include zero")
    start, stop = cast_to(start, float), cast_to(stop, float)
    return start * (stop / start) ** np.linspace(0.0 * start, 1.0 + 0.0 * stop, num, endpoint)


NAMES.update(TRANSFORMS | {
    np.convolve:         lambda a, v, mode="full": overlap(np.convolve, np.atleast_1d(a), np.atleast_1d(v), mode),
    np.correlate:        lambda a, v, mode="valid": overlap(np.correlate, a, with_shape(v)[::-1] if np.ndim(v) else v, mode),
    np.linalg.cross:     cross_of_three,
    np.fix:              lambda x: f.trunc(x),
    np.i0:               lambda x: cast_to(f.besselI(0, in_floats(x)), in_floats(x).dtype),
    np.ldexp:            scaled_by_powers,
    np.real_if_close:    lambda a, tol=100: a,
    np.iscomplex:        lambda x: f.not_equal(np.imag(x), 0),
    np.isreal:           lambda x: f.equal(np.imag(x), 0),
    **{shift: gather(shift) for shift in (np.fft.fftshift, np.fft.ifftshift)},
    np.diagflat:         lambda v, k=0: f.diag(np.ravel(v), k),
})
