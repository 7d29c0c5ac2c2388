"""Arithmetic, entry by entry, with NumPy's broadcasting."""
from __future__ import annotations

import numpy as np

from .expression import f
from .table import elementwise, operator


def half(x):
    """½ x."""
    return 0.5 * x


def reciprocal(x):
    """1 / x."""
    return np.divide(1.0, x)


def alias(x):
    """x itself, under another name."""
    return x


def square(x):
    """x²."""
    return x * x


def where(c, x, y):
    """x where c holds, else y."""
    return np.where(c, x, y)


def clip(x, lo=None, hi=None):
    """x held between lo and hi (None: no bound). At the bounds the gradient passes."""
    return np.clip(x, lo, hi)


@np.errstate(all="ignore")
def scale(x, w):
    """x·w, and 0 wherever x is 0, even if w is infinite or NaN: a branch not taken sends back nothing."""
    return zero_where_zero(x, np.multiply(x, w))


@np.errstate(all="ignore")
def ratio(x, y):
    """x/y, and 0 wherever x is 0, even if y is 0, infinite or NaN."""
    return zero_where_zero(x, np.divide(x, y))


def zero_where_zero(x, result):
    total = np.add.reduce(result, axis=None)
    if total == total:  # no NaN in it: nothing to mend
        return result
    return np.where(np.equal(x, 0), np.zeros_like(result), result)[()]


#            op            value          rule per argument
elementwise("add",        np.add,        lambda d, out, x, y: d,
                                         lambda d, out, x, y: d)
elementwise("subtract",   np.subtract,   lambda d, out, x, y: d,
                                         lambda d, out, x, y: -d)
elementwise("mul",        np.multiply,   lambda d, out, x, y: d * y,
                                         lambda d, out, x, y: d * x)
elementwise("divide",     np.divide,     lambda d, out, x, y: f.ratio(d, y),
                                         lambda d, out, x, y: -f.ratio(f.ratio(d, y) * x, y))
elementwise("power",      np.power,      lambda d, out, x, y: f.scale(d * y, x ** (y - 1)),
                                         lambda d, out, x, y: f.scale(f.scale(d, out), f.log(f.where(f.equal(x, 0), 1.0, x))))
elementwise("remainder",  np.remainder,  lambda d, out, x, y: d,
                                         lambda d, out, x, y: -d * f.floor_divide(x, y))
elementwise("ratio",      ratio,         lambda d, out, x, y: f.ratio(d, y),
                                         lambda d, out, x, y: -f.ratio(f.scale(d, out), y))
elementwise("scale",      scale,         lambda d, out, x, w: f.scale(d, w),
                                         lambda d, out, x, w: f.scale(x, d))
# ties of maximum and minimum give ½ each
elementwise("maximum",    np.maximum,    lambda d, out, x, y: f.half(d * (x > y) + d * (x >= y)),
                                         lambda d, out, x, y: f.half(d * (y > x) + d * (y >= x)))
elementwise("minimum",    np.minimum,    lambda d, out, x, y: f.half(d * (x < y) + d * (x <= y)),
                                         lambda d, out, x, y: f.half(d * (y < x) + d * (y <= x)))
elementwise("where",      where,         None,
                                         lambda d, out, c, x, y: f.where(c, d, 0.0),
                                         lambda d, out, c, x, y: f.where(c, 0.0, d))
elementwise("clip",       clip,          lambda d, out, x, lo=None, hi=None: within(d, x, lo, hi),
                                         lambda d, out, x, lo=None, hi=None: d * (x < lo),
                                         lambda d, out, x, lo=None, hi=None: d * (x > hi))

elementwise("negative",   np.negative,   lambda d, out, x: -d)
elementwise("reciprocal", reciprocal,    lambda d, out, x: -f.ratio(f.ratio(d, x), x))
elementwise("square",     square,        lambda d, out, x: d * (2 * x))
elementwise("half",       half,          lambda d, out, x: f.half(d))
elementwise("alias",      alias,         lambda d, out, x: d)
elementwise("abs",        np.abs,        lambda d, out, x: d * f.sign(x))     # abs′(0) = 0
operator(   "sign",       np.sign,       None)


def within(d, x, lo, hi):
    d = d if lo is None else d * (x >= lo)
    return d if hi is None else d * (x <= hi)
