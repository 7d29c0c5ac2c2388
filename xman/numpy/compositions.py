"""NumPy's functions that are not operators, and take more than a line to write in terms of operators."""
from __future__ import annotations

import functools
import math
import operator

import numpy as np

from ops import f
from ops.facts import is_complex

from ..traced.arraylike import noted, plain
from ..traced.dispatch import cast_to, checked, with_shape
from ..traced.refusals import refuse
from .decompositions import in_floats, of_reals, refuse_deficient
from .rearrangements import axis_index, whole_axis
from .statistics import axes_first, reduction_by

# ---- products ----------------------------------------------------------------------------------------------

def dot(a, b):
    a, b = with_shape(a), with_shape(b)
    if not a.ndim or not b.ndim:
        return f.mul(a, b)
    return f.dot(a, b) if b.ndim <= 2 else tensordot(a, b, (-1, -2))


def inner(a, b):
    a, b = with_shape(a), with_shape(b)
    return f.mul(a, b) if not a.ndim or not b.ndim else tensordot(a, b, (-1, -1))


def tensordot(a, b, axes=2):
    a, b = with_shape(a), with_shape(b)
    if np.ndim(axes) == 0 and not isinstance(axes, (tuple, list)):
        axes = range(-axes, 0), range(axes)
    over_a, over_b = ([operator.index(i) for i in np.atleast_1d(over)] for over in axes)
    if [a.shape[i] for i in over_a] != [b.shape[i] for i in over_b]:
        raise ValueError("shape-mismatch for sum")
    over_a, over_b = ([i % x.ndim for i in over] for x, over in ((a, over_a), (b, over_b)))
    free_a, free_b = ([i for i in range(x.ndim) if i not in over] for x, over in ((a, over_a), (b, over_b)))
    shape = *(a.shape[i] for i in free_a), *(b.shape[i] for i in free_b)
    size = math.prod(a.shape[i] for i in over_a)
    left = np.reshape(np.transpose(a, (*free_a, *over_a)), (math.prod(a.shape[i] for i in free_a), size))
    right = np.reshape(np.transpose(b, (*over_b, *free_b)), (size, math.prod(b.shape[i] for i in free_b)))
    return np.reshape(f.dot(left, right), shape)


def vecdot(a, b):
    if with_shape(a).shape[-1] != with_shape(b).shape[-1]:
        raise ValueError(f"vecdot: the vectors have {np.shape(a)[-1]} and {np.shape(b)[-1]} entries")
    return f.sum(f.mul(np.conj(a), b), -1)


def cholesky(a, upper=False):
    if not np.allclose(matrix := noted(a), np.conj(np.swapaxes(matrix, -1, -2))):
        refuse("np.linalg.cholesky reads the lower triangle alone, and the derivative here is of a symmetric "
               "matrix", f"give it (a + {'np.conj(a.T)' if is_complex(a) else 'a.T'}) / 2")
    if is_complex(a):
        lines = f.cholesky(of_reals(a))[..., ::2]
        factor = lines[..., ::2, :] + 1j * lines[..., 1::2, :]
    else:
        factor = f.cholesky(in_floats(a))
    return np.conj(f.mT(factor)) if upper else factor


def kron(a, b):
    a, b = with_shape(a), with_shape(b)
    n = max(a.ndim, b.ndim)
    left, right = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    a = np.reshape(a, tuple(k for m in left for k in (m, 1)))
    b = np.reshape(b, tuple(k for m in right for k in (1, m)))
    return np.reshape(a * b, tuple(m * k for m, k in zip(left, right, strict=True)))


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
    return functools.reduce(dot, arrays)


def pinv(a):
    if np.linalg.matrix_rank(plain(a)).min() < min(a.shape[-2:]):
        refuse_deficient("pinv")
    return f.pinv(a)



def norm(x, ord=None, axis=None, keepdims=False):
    x, keep = with_shape(x), bool(keepdims)
    if ord is None and axis is None and not keep and x.dtype.kind == "f":  # the common case first
        return f.norm(x)
    if is_complex(x):
        if np.ndim(ord) == 0 and ord in (2, -2, "nuc") and (np.ndim(axis) or axis is None and x.ndim > 1):
            refuse("the singular values of complex matrices have no derivative here", "take another norm")
        if ord is None and axis is None and not keep:  # smooth where an entry is 0
            return f.norm(f.stack(0, f.real(x), f.imag(x)))
        x = f.modulus(x)
    x, axis = in_floats(x), whole_axis(axis)
    axes = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    euclidean = ord is None if axes not in (1, 2) else ord in ((None, 2) if axes == 1 else (None, "fro", "f"))
    if euclidean and axis != () and (x.ndim or axis is None):
        return reduction_by("norm")(x, axis, keep)
    np.linalg.norm(np.zeros([min(n, 2) for n in x.shape]), ord, axis)  # raises what NumPy does
    extreme = f.sum if not x.size else f.min if ord in (-1, -np.inf) else f.max
    if axes == 1:
        size = f.abs(x)
        if np.isinf(ord):
            return extreme(size, axis, keep)
        if ord == 0:
            return f.sum(cast_to(f.not_equal(x, 0), x.dtype), axis, keep)
        return f.sum(size if ord == 1 else size ** ord, axis, keep) ** (1.0 / ord if ord != 1 else 1)
    if ord in (1, -1, np.inf, -np.inf):
        rows, columns = (a % x.ndim for a in (axis or (-2, -1)))
        first, last = (rows, columns) if abs(ord) == 1 else (columns, rows)
        largest = extreme(f.sum(f.abs(x), first, True), last, True)
        return largest if keep else np.squeeze(largest, (rows, columns))
    sizes = f.svdvals(np.moveaxis(x, axis or (-2, -1), (-2, -1)))
    size = f.sum(sizes, -1) if ord == "nuc" else extreme(sizes, -1, False) if ord > 0 else f.min(sizes, -1)
    return np.expand_dims(size, axis or (0, 1)) if keep else size


def vector_norm(x, axis=None, keepdims=False, ord=2):
    rows, axes = axes_first(with_shape(x), axis)
    return np.expand_dims(norm(rows, ord, 0), axes) if keepdims else norm(rows, ord, 0)


# ---- polynomials, the highest power first ------------------------------------------------------------------

def polymul(a1, a2):
    size = len(np.polymul(plain(a1), plain(a2)))  # without the zeros with which they begin
    return f.convolve(np.atleast_1d(a1), np.atleast_1d(a2))[-size:]


def same_degree(a1, a2):
    """Both polynomials, the shorter one filled up with zeros at its beginning."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    longest = max(len(a1), len(a2))
    return [np.concatenate([np.zeros(longest - len(a), a.dtype), a]) for a in (a1, a2)]


def polyadd(a1, a2): return operator.add(*same_degree(a1, a2))
def polysub(a1, a2): return operator.sub(*same_degree(a1, a2))


# ---- entry by entry ----------------------------------------------------------------------------------------

@checked
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = with_shape(y)
    axis = axis_index(axis, y.ndim)
    if x is not None:
        dx = np.diff(with_shape(x), axis=axis if np.ndim(x) > 1 else -1)
        dx = np.reshape(dx, [-1 if i == axis else 1 for i in range(y.ndim)]) if np.ndim(x) == 1 else dx
    lead = (slice(None),) * axis
    return np.sum(f.half(dx * (y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))])), axis)


@checked
def interp(x, xp, fp, left=None, right=None):
    x, xp, fp = (cast_to(a, float) for a in (x, xp, fp))
    i = np.clip(np.sum(f.greater_equal(np.expand_dims(x, -1), xp), -1) - 1, 0, max(len(xp) - 2, 0))
    j = np.minimum(i + 1, len(xp) - 1)
    low, high, start, end = f.getitem(fp, i), f.getitem(fp, j), f.getitem(xp, i), f.getitem(xp, j)
    slope = (high - low) / (end - start)
    forward, backward = slope * (x - start) + low, slope * (x - end) + high
    backward = f.where(f.isnan(backward) & f.equal(low, high), low, backward)
    forward = f.where(f.isnan(forward), backward, forward)
    inside = f.where(f.equal(x, end), high, f.where(f.equal(x, start), low, forward))
    inside = f.where(x < xp[0], fp[0] if left is None else left, inside)
    inside = f.where(x > xp[-1], fp[-1] if right is None else right, inside)
    return f.where(f.isnan(x), x if len(xp) > 1 else fp[0], inside)


def mean_between(function, x):
    """∫₀¹ function(t x) dt by Gauss's rule, the mean of cos or exp between 0 and x. For |x| < 6 it and its
    derivatives of all orders are right, where those of a quotient by x lose digits as n!/xⁿ."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    return cast_to(f.dot(function(np.expand_dims(x, -1) * (0.5 + 0.5 * nodes)), 0.5 * weights), x.dtype)


def sinc(x):
    y = np.pi * x
    near = f.less(f.abs(y), 3.0)  # the zeros, at multiples of π, keep their digits
    return f.where(near, mean_between(f.cos, f.where(near, y, 0.0)), f.sin(y) / f.where(near, 1.0, y))


def piecewise(x, condlist, funclist, *args, **kw):
    """Each function gets the entries where its condition holds; the last condition that holds wins."""
    x = with_shape(x)
    if np.isscalar(condlist) or not isinstance(condlist[0], (list, np.ndarray)) and x.ndim:
        condlist = [condlist]
    conditions = [f.not_equal(c, 0) for c in map(with_shape, condlist)]
    if len(conditions) == len(funclist) - 1:
        conditions.append(f.logical_not(functools.reduce(f.logical_or, conditions)))
    elif len(conditions) != len(funclist):
        raise ValueError(f"np.piecewise takes as many functions as conditions, {len(conditions)}, or a rest")
    result = np.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        entries = x[condition]
        if not callable(function) or entries.size:
            pieces = function(entries, *args, **kw) if callable(function) else function
            pieces = f.broadcast(cast_to(with_shape(pieces), x.dtype), entries.shape)
            result = f.where(condition, f.scatterAdd(pieces, x, condition), result)
    return result


@checked
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
        refuse("positions are of an array with axes", "write np.atleast_1d(x)")
    places = f.not_equal(x, 0)
    return tuple(f.getitem(grid, places) for grid in np.indices(x.shape))
