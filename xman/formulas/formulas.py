"""Operators in terms of others: what the array API has no function for, in the language,
for arrays whose shapes are known.

What depends on the number of rows is written so that it could be any: no table is as long as a batch.
"""
from __future__ import annotations

import math

import numpy as np

from ops import G, f
from ops.reductions import count

from . import rearranged as to
from .elimination import ELIMINATION
from .special import SPECIAL

# ---- entry by entry ----------------------------------------------------------------------------------------

def scale(x, w):
    if type(x) in (int, float) and x:
        return x * w
    return (f.where(x, w, 0) if np.dtype(getattr(x, "dtype", float)).kind == "b"
            else f.where(f.equal(x, 0), 0, x * w))


def ratio(x, y):
    return x / y if type(x) in (int, float) and x else f.where(f.equal(x, 0), 0, x / y)


def share(x, y):
    dtype = (np.dtype((x if hasattr(x, "dtype") else y).dtype).name,)
    return f.half(f.astype(f.greater(x, y), dtype) + f.astype(f.greater_equal(x, y), dtype))


def log1p(x):
    """As exact for small x as for great (Kahan; Goldberg 1991, theorem 4)."""
    u = 1.0 + x
    small = f.logical_and(f.not_equal(u, 1.0), f.less(u, math.inf))
    return f.where(f.equal(u, 1.0), x, f.log(u) * f.where(small, x / f.where(small, u - 1.0, 1.0), 1.0))


def expm1(x):
    """The same for the exponential (Higham 2002, §1.14.1)."""
    u = f.exp(x)
    small = f.logical_and(f.not_equal(u, 1.0), f.less(f.abs(x), 1.0))
    return f.where(f.equal(u, 1.0), x, f.where(small, (u - 1.0) * (x / f.log(f.where(small, u, 2.0))),
                                               u - 1.0))


def hypot(x, y):
    x, y = f.abs(x), f.abs(y)
    most, least = f.maximum(x, y), f.minimum(x, y)
    quotient = f.where(f.equal(least, most), 1.0, f.ratio(least, most))  # of two infinities too
    return most * f.sqrt(1.0 + quotient * quotient)


def arctan2(y, x):
    turn = f.where(f.signbit(y), -math.pi, math.pi)
    straight = f.where(f.signbit(x), turn, f.where(f.signbit(y), -0.0, 0.0))
    # of ∞ too
    quotient = f.where(f.equal(f.abs(y), f.abs(x)), f.sign(y) * f.sign(x), y / f.where(f.equal(x, 0), 1.0, x))
    slope = f.arctan(quotient) + f.where(f.less(x, 0), turn, 0.0)
    return f.where(f.equal(y, 0), straight, f.where(f.equal(x, 0), f.half(turn), slope))


def logaddexp(x, y):
    most, least = f.maximum(x, y), f.minimum(x, y)
    return most + f.log1p(f.exp(f.where(f.equal(x, y), 0.0, least - most)))


# ---- reductions --------------------------------------------------------------------------------------------

def centered(x, axis=None):
    same = f.equal(f.max(x, axis, True), f.min(x, axis, True))
    return f.where(same, 0.0, x - f.mean(x, axis, True))


def var(x, axis=None, keepdims=False, ddof=0):
    return f.sum(f.square(centered(x, axis)), axis, keepdims) / (max(count(x, axis) - ddof, 0) or math.nan)


def logsumexp(x, axis=None, keepdims=False):
    if not count(x, axis):
        return f.log(f.sum(f.exp(x), axis, keepdims))
    top = f.max(x, axis, True)
    top = f.where(f.isfinite(top), top, 0.0)
    result = f.log(f.sum(f.exp(x - top), axis, True)) + top
    return result if keepdims else f.sum(result, axis)


def ties(x, out, axis=None):
    equal = f.logical_or(f.equal(x, out), f.logical_and(f.isnan(x), f.isnan(out)))
    dtype = (np.dtype(x.dtype).name,)
    shared = f.astype(equal, dtype)
    return f.astype(shared / f.maximum(f.sum(shared, axis, True), 1), dtype)


def moved(x, axis, places, first):
    """So many places on along axis."""
    whole = (slice(None),) * (axis % x.ndim)
    border = x[(*whole, slice(0, places))]
    return f.concat(axis, f.broadcast(f.astype(first, (np.dtype(x.dtype).name,)), border),
                    x[(*whole, slice(None, -places))])


def recurrence(x, a, axis):
    """The recurrence by doubling: after k rounds each entry knows of the 2ᵏ
    before it (Hillis and Steele 1986)."""
    places, n = 1, x.shape[axis]
    while places < n:
        x, a, places = x + a * moved(x, axis, places, 0.0), a * moved(a, axis, places, 0.0), 2 * places
    return x


def cumprod(x, axis=None):
    x, axis, places = (f.reshape(x, (-1,)), 0, 1) if axis is None else (x, axis, 1)
    while places < x.shape[axis]:
        x, places = x * moved(x, axis, places, 1.0), 2 * places
    return x


# ---- matrices ----------------------------------------------------------------------------------------------

def inverse_gaps(w):
    gap = w[..., None, :] - w[..., :, None]
    least = w.shape[-1] * float(np.finfo(w.dtype).eps) * f.max(f.abs(w), -1, True)[..., None]
    apart = f.greater(f.abs(gap), least)
    return f.where(apart, 1.0 / f.where(apart, gap, 1.0), 0.0)


# ---- losses ------------------------------------------------------------------------------------------------

def one_hot(y, like):
    y = np.asarray(y) if not hasattr(y, "dtype") else y
    dtype, shape = (np.dtype(getattr(like, "dtype", float)).name,), np.shape(like)
    if y.dtype.kind == "f" or np.shape(y) == shape:
        return y if y.dtype.kind == "f" else f.astype(y, dtype)
    y = f.reshape(y, (*shape[:-1], 1))
    return f.astype(y if shape[-1] == 1 else f.equal(y, np.arange(shape[-1])), dtype)


FORMULAS = {  # beside those that stand in the rows
    **{op: G[op] for op in  # these are written in the language
       "alias column count unpad part diagBack dotLeft dotRight einsumBack lowerHalf hinge".split()},
    "allreduce": G["alias"],  # of one worker
    "share": share, "scale": scale, "ratio": ratio,
    "exp2":     lambda x: f.power(2.0, x),
    "cbrt":     lambda x: f.sign(x) * f.power(f.abs(x), 1.0 / 3.0),
    "log1p": log1p, "expm1": expm1, "hypot": hypot, "arctan2": arctan2, "logaddexp": logaddexp,
    "log2":     lambda x: f.log(x) * (1.0 / math.log(2.0)),
    "log10":    lambda x: f.log(x) * (1.0 / math.log(10.0)),
    "trunc":    lambda x: f.where(f.less(x, 0), f.ceil(x), f.floor(x)),
    "floor_divide": lambda x, y: f.round((x - f.remainder(x, y)) / y),
    "signbit":  lambda x: f.logical_or(f.less(x, 0), f.logical_and(f.equal(x, 0), f.less(1.0 / x, 0))),
    "sigmoid":  lambda x: 1.0 / (1.0 + f.exp(-x)),
    "centered": centered, "var": var, "logsumexp": logsumexp, "ties": ties, "recurrence": recurrence, "cumprod": cumprod,
    "shift":    lambda x, axis, first=0.0: moved(x, axis, 1, first),
    "std":      lambda x, axis=None, keepdims=False, ddof=0: f.sqrt(var(x, axis, keepdims, ddof)),
    "unbroadcast": to.unbroadcast, "mT": to.last_exchanged, "flip": to.flip, "roll": to.roll, "pad": to.pad, "diag": to.diag,
    "correlate": to.correlate, "einsum": to.einsum, "oneHot": one_hot, "inverseGaps": inverse_gaps,
    "convolve": lambda a, v: f.correlate(f.pad(a, v.shape[0] - 1), f.flip(v)),
    "trace":    lambda x: f.sum(f.diag(x)),
    **ELIMINATION, **SPECIAL,
}
