"""Arithmetic, entry by entry; comparisons, logic, roundings, positions, and the stop."""
from __future__ import annotations

import numpy as np

from .expression import f
from .facts import cubic, of_input, of_power
from .formulas import elimination
from .kinks import branch, number_within, only, over, ratio, scale
from .table import elementwise, expressed, operator


def share(x, y):
    """1 where x > y, ½ where they are equal, and 0 elsewhere: the share of x in the maximum of the two."""
    dtype = np.result_type(x, y)
    twice = np.add(np.greater(x, y).view(np.int8), np.greater_equal(x, y).view(np.int8))
    return np.multiply(twice, 0.5, dtype=dtype if dtype.kind == "f" else float)


def share_of_entries(x, y):
    dtype = (np.result_type((x if hasattr(x, "dtype") else y).dtype, np.int8).name,)  # no truth values
    return f.half(f.astype(f.greater(x, y), dtype) + f.astype(f.greater_equal(x, y), dtype))


def clip(x, lo=None, hi=None):
    """x held between lo and hi (None: no bound). At the bounds the gradient passes."""
    return np.maximum(x, x) if lo is None is hi else np.clip(x, lo, hi)  # NumPy 2.0 wants a bound


def clip_of_entries(x, lo=None, hi=None):
    x = x if lo is None else f.maximum(x, lo)
    return x if hi is None else f.minimum(x, hi)


def scale_of_entries(x, w):
    if type(x) in (int, float) and x:
        return x * w
    truths = np.dtype(getattr(x, "dtype", float)).kind == "b"
    return f.where(x, w, 0) if truths else f.where(f.equal(x, 0), 0, x * w)


def slope_by_base(out, x, y):
    """y xʸ⁻¹; for a whole y, derivatives of every order are finite at 0, without one of 0·x⁻¹."""
    if type(y) not in (int, float):
        return f.scale(y, x ** (y - 1))
    return only(0.0) if y == 0 else 1 if y == 1 else y * x ** (y - 1)


def slope_by_exponent(out, x, y):
    base = f.where(f.equal(x, 0), 1.0, x)
    if not (type(x) in (int, float) and x > 0):
        base = f.broadcast(base, out)  # complex where out is: (−2)^z has log(−2)
    return f.scale(out, f.log(base))


def negative_power(x, y):
    """The place of x, for y < 0: xʸ settles, as 1/x."""
    n = number_within(y)
    return 0 if n is not None and not isinstance(n, str) and np.all(np.less(n, 0)) else None


def argmax(x, axis=None):
    """The position of the first greatest x along axis; in the flattened x for None."""
    return np.argmax(x, axis)


def argsort(x, axis=-1):
    """The positions of the entries of x in ascending order along axis, equal ones in their own order."""
    return np.argsort(x, axis, kind="stable")


# the values that are one expression, and what they are
half         = expressed(lambda x: 0.5 * x,                              "½ x.")
reciprocal   = expressed(lambda x: np.divide(1.0, x),                    "1 / x.")
alias        = expressed(lambda x: x,                                    "x itself, under another name.")
square       = expressed(lambda x: x * x,                                "x².")
where        = expressed(lambda c, x, y: np.where(c, x, y),              "x where c holds, else y.")
det_sign     = expressed(lambda a: np.linalg.slogdet(a)[0],              "The sign of the determinant of a: −1, 0 or 1.")
round_       = expressed(lambda x, decimals=0: np.round(x, decimals),    "x rounded to so many decimals, halves to even.")
stopGradient = expressed(lambda x: x,                                    "x, for which no adjoint is sent further.")


#            op            value          slope per argument
elementwise("add",        np.add,        lambda out, x, y: 1,                lambda out, x, y: 1,   commutes=True, flow="plus")
elementwise("subtract",   np.subtract,   lambda out, x, y: 1,                lambda out, x, y: -1,  flow="plus")
elementwise("mul",        np.multiply,   lambda out, x, y: y,                lambda out, x, y: x,   commutes=True, flow="product",
            tame=True, overflows=True)
elementwise("divide",     np.divide,     lambda out, x, y: over(y),          lambda out, x, y: -over(y, out), flow="product",
            settles=1, tame=lambda x, y: type(y) in (int, float) and 1e-300 < abs(y) < np.inf)
elementwise("power",      np.power,      slope_by_base,                      slope_by_exponent,     flops=of_power,
            settles=negative_power, squared="alias", complex=True,  # the root x^½
            tame=lambda x, y: type(y) in (int, float) and y in (1, 2))
elementwise("remainder",  np.remainder,  lambda out, x, y: 1,                lambda out, x, y: -f.floor_divide(x, y))
elementwise("ratio",      ratio,         lambda out, x, y: (over(y), only(f.not_equal(np.divide(1.0, y), 0.0))),
                                         lambda out, x, y: (only(out), -over(y, or_nothing=True)), flow="kept",
            elsewhere=lambda x, y: x / y if type(x) in (int, float) and x else f.where(f.equal(x, 0), 0, x / y))
elementwise("scale",      scale,         lambda out, x, w: w,                lambda out, x, w: only(x), flow="kept",
            elsewhere=scale_of_entries)
elementwise("maximum",    np.maximum,    lambda out, x, y: only(f.share(x, y)),
                                         lambda out, x, y: only(f.share(y, x)), flow="chosen")
elementwise("minimum",    np.minimum,    lambda out, x, y: only(f.share(y, x)),
                                         lambda out, x, y: only(f.share(x, y)), flow="chosen")
elementwise("where",      where,         None,                               lambda out, c, x, y: branch(c),
                                         lambda out, c, x, y: branch(c, 0, 1), numpy="where", complex=True)
elementwise("clip",       clip,          lambda out, x, *to: 1 if all(b is None for b in to) else only(f.equal(x, out)),
                                         lambda out, x, lo=None, hi=None: only(x < lo),
                                         lambda out, x, lo=None, hi=None: only(x > hi), view=True,
            formula=clip_of_entries, flow="chosen")

elementwise("negative",   np.negative,   lambda out, x: -1,                  flow="same")
elementwise("reciprocal", reciprocal,    lambda out, x: -over(x, out),       formula=reciprocal, settles=0, complex=True)
elementwise("square",     square,        lambda out, x: 2 * x,               formula=square,
            tame=True, convex=True, overflows=True, complex=True)
elementwise("half",       half,          lambda out, x: f.half,              formula=half, flow="same")
elementwise("alias",      alias,         lambda out, x: 1,                   flops=0, view=True, flow="moved", elsewhere=alias)
elementwise("abs",        np.abs,        lambda out, x: f.sign(x),           tame=True, squared="square",  # abs′(0) = 0
            complex="modulus")
operator(   "sign",       np.sign,       None,                               flops=1)

# without derivative
for name in ("equal", "not_equal"):
    operator(name, getattr(np, name), flops=1, gives=bool, commutes=True, complex=True)
for name in ("logical_and", "logical_or"):
    operator(name, getattr(np, name), flops=1, gives=bool, commutes=True)
for name in ("less", "less_equal", "greater", "greater_equal"):
    operator(name, getattr(np, name), flops=1, gives=bool)
elementwise("share",      share,         None, None, elsewhere=share_of_entries)
operator("logical_not",  np.logical_not, flops=1, gives=bool)
operator("isnan",        np.isnan,       flops=1, gives=bool, complex=True)
operator("isfinite",     np.isfinite,    flops=1, gives=bool, complex=True)
operator("signbit",      np.signbit,     flops=1, gives=bool,
         elsewhere=lambda x: f.logical_or(f.less(x, 0), f.logical_and(f.equal(x, 0), f.less(1.0 / x, 0))))
operator("floor",        np.floor,       None,                                          flops=1)
operator("ceil",         np.ceil,        None,                                          flops=1)
operator("round",        round_,         None, None,                                    flops=1, view=True, numpy="round")
operator("trunc",        np.trunc,       None,                                          flops=1,
         elsewhere=lambda x: f.where(f.less(x, 0), f.ceil(x), f.floor(x)))
operator("floor_divide", np.floor_divide, None, None,                                   flops=1,
         elsewhere=lambda x, y: f.round((x - f.remainder(x, y)) / y))
operator("argmax",       argmax,         flops=of_input(1), gives=int, numpy="argmax")
operator("argsort",      argsort,        gives=int,
         flops=lambda out, x, *_: np.size(x) * max(np.size(x) - 1, 0).bit_length())
operator("det_sign",     det_sign,       None,                                          flops=cubic(2 / 3),
         elsewhere=elimination.det_sign)
operator("stopGradient", stopGradient,   None, view=True, formula=alias, complex=True)
