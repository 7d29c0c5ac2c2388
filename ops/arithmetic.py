"""Arithmetic, entry by entry; comparisons, logic, roundings, positions, and the stop."""
from __future__ import annotations

import numpy as np

from .expression import f
from .facts import cubic, of_input, of_power
from .flows import limited, unclear
from .formulas import elimination
from .silence import silent
from .table import elementwise, expressed, operator


def share(x, y):
    """1 where x > y, ½ where they are equal, and 0 elsewhere: the share of x in the maximum of the two."""
    dtype = np.result_type(x, y)
    twice = np.add(np.greater(x, y).view(np.int8), np.greater_equal(x, y).view(np.int8))
    return np.multiply(twice, 0.5, dtype=dtype if dtype.kind == "f" else float)


def share_of_entries(x, y):
    dtype = (np.result_type((x if hasattr(x, "dtype") else y).dtype, np.int8).name,)  # no truth values
    return f.half(f.astype(f.greater(x, y), dtype) + f.astype(f.greater_equal(x, y), dtype))


def clip_of_entries(x, lo=None, hi=None):
    x = x if lo is None else f.maximum(x, lo)
    return x if hi is None else f.minimum(x, hi)


def scale(x, w):
    """x·w, but 0 wherever x is 0, even if w is infinite or NaN: a branch that is not taken sends back 0."""
    return mended(np.multiply, x, w)


def ratio(x, y):
    """x/y, but 0 wherever x is 0, even if y is 0, infinite or NaN."""
    return x / y if isinstance(y, float) and y == y != 0 else mended(np.divide, x, y)


def scale_of_entries(x, w):
    if type(x) in (int, float) and x:
        return x * w
    truths = np.dtype(getattr(x, "dtype", float)).kind == "b"
    return f.where(x, w, 0) if truths else f.where(f.equal(x, 0), 0, x * w)


@silent
def mended(operation, x, y):
    """operation(x, y), but 0 wherever x is 0."""
    result = operation(x, y)
    return np.where(np.equal(x, 0), np.zeros_like(result), result)[()] if unclear(result) else result


def through_base(d, out, x, y):
    """d y xʸ⁻¹; for a whole y, derivatives of every order are finite at 0, without one of 0·x⁻¹."""
    if type(y) not in (int, float):
        return d * f.scale(y, x ** (y - 1))
    return f.scale(0.0, d) if y == 0 else d if y == 1 else (settled if y < 0 else plain_base)(d, out, x, y)


def overflows(rule, i=0): return limited(rule, i, settles=False)


def plain_base(d, out, x, y): return d * y * x ** (y - 1)
settled = limited(plain_base)  # for y < 0, as 1/x


def past_root(d, out, r, n):
    """d ½n rⁿ⁻²; times the derivative of r² it gives that of rⁿ, also at r = 0, where r has none."""
    return d if n == 2 else half_power(d, out, r, n)


@overflows
def half_power(d, out, r, n):
    slow = r ** (n - 2)  # at 0 the other factor, the derivative of r², is 0; so the next power may replace it
    return d * (0.5 * n * (slow if n >= 3 else f.where(f.equal(r, 0), r ** (n - 1), slow)))


# the values that are one expression, and what they are
half         = expressed(lambda x: 0.5 * x,                              "½ x.")
reciprocal   = expressed(lambda x: np.divide(1.0, x),                    "1 / x.")
alias        = expressed(lambda x: x,                                    "x itself, under another name.")
square       = expressed(lambda x: x * x,                                "x².")
where        = expressed(lambda c, x, y: np.where(c, x, y),              "x where c holds, else y.")
clip         = expressed(lambda x, lo=None, hi=None: np.clip(x, lo, hi),
                         "x held between lo and hi (None: no bound). At the bounds the gradient passes.")
argmax       = expressed(lambda x, axis=None: np.argmax(x, axis),
                         "The position of the first greatest x along axis; in the flattened x for None.")
argsort      = expressed(lambda x, axis=-1: np.argsort(x, axis, kind="stable"),
                         "The positions of the entries of x in ascending order along axis, equal ones in their own order.")
det_sign     = expressed(lambda a: np.linalg.slogdet(a)[0],              "The sign of the determinant of a: −1, 0 or 1.")
round_       = expressed(lambda x, decimals=0: np.round(x, decimals),    "x rounded to so many decimals, halves to even.")
stopGradient = expressed(lambda x: x,                                    "x, for which no adjoint is sent further.")

#            op            value          rule per argument
elementwise("add",        np.add,        lambda d, out, x, y: d,
                                         lambda d, out, x, y: d,                        commutes=True, flow="plus")
elementwise("subtract",   np.subtract,   lambda d, out, x, y: d,
                                         lambda d, out, x, y: -d,                       flow="plus")
elementwise("mul",        np.multiply,   overflows(lambda d, out, x, y: d * y),
                                         overflows(lambda d, out, x, y: d * x, 1),      commutes=True, flow="product", tame=True)
elementwise("divide",     np.divide,     overflows(lambda d, out, x, y: d / y),
                                         limited(lambda d, out, x, y: -(d * out / y), 1), flow="product")
elementwise("power",      np.power,      overflows(through_base),
                                         overflows(lambda d, out, x, y: d * f.scale(out, f.log(f.where(f.equal(x, 0), 1.0, x))),
                                                   1), flops=of_power, squared="alias")  # of x^½
elementwise("remainder",  np.remainder,  lambda d, out, x, y: d,
                                         lambda d, out, x, y: -d * f.floor_divide(x, y))
elementwise("ratio",      ratio,         lambda d, out, x, y: f.scale(f.not_equal(1.0 / y, 0.0), d / y),
                                         lambda d, out, x, y: -f.ratio(f.scale(out, d), y), flow="kept",
            elsewhere=lambda x, y: x / y if type(x) in (int, float) and x else f.where(f.equal(x, 0), 0, x / y))
elementwise("scale",      scale,         lambda d, out, x, w: d * w,
                                         lambda d, out, x, w: f.scale(x, d),            flow="kept", elsewhere=scale_of_entries)
elementwise("maximum",    np.maximum,    lambda d, out, x, y: f.scale(f.share(x, y), d),
                                         lambda d, out, x, y: f.scale(f.share(y, x), d), flow="chosen")
elementwise("minimum",    np.minimum,    lambda d, out, x, y: f.scale(f.share(y, x), d),
                                         lambda d, out, x, y: f.scale(f.share(x, y), d), flow="chosen")
elementwise("where",      where,         None,
                                         lambda d, out, c, x, y: f.where(c, d, 0.0),
                                         lambda d, out, c, x, y: f.where(c, 0.0, d),    numpy="where")
elementwise("clip",       clip,          lambda d, out, x, *to: d if all(b is None for b in to) else f.scale(f.equal(x, out), d),
                                         lambda d, out, x, lo=None, hi=None: f.scale(x < lo, d),
                                         lambda d, out, x, lo=None, hi=None: f.scale(x > hi, d), view=True,
            formula=clip_of_entries, flow="chosen")

elementwise("negative",   np.negative,   lambda d, out, x: -d,                          flow="same")
elementwise("reciprocal", reciprocal,    limited(lambda d, out, x: -(d * out / x)), formula=reciprocal)
elementwise("square",     square,        overflows(lambda d, out, x: d * (2 * x)), formula=square, tame=True, convex=True)
elementwise("half",       half,          lambda d, out, x: f.half(d),                   formula=half, flow="same")
elementwise("alias",      alias,         lambda d, out, x: d,                           flops=0, view=True, flow="moved",
            elsewhere=alias)
elementwise("abs",        np.abs,        lambda d, out, x: d * f.sign(x),
            tame=True, squared="square")     # abs′(0) = 0
operator(   "sign",       np.sign,       None,                                          flops=1)

# without derivative
for name in ("equal", "not_equal", "logical_and", "logical_or"):
    operator(name, getattr(np, name), None, None, flops=1, gives=bool, commutes=True)
for name in ("less", "less_equal", "greater", "greater_equal"):
    operator(name, getattr(np, name), None, None, flops=1, gives=bool)
elementwise("share",      share,         None, None, elsewhere=share_of_entries)
operator("logical_not",  np.logical_not, None,                                          flops=1, gives=bool)
operator("isnan",        np.isnan,       None,                                          flops=1, gives=bool)
operator("isfinite",     np.isfinite,    None,                                          flops=1, gives=bool)
operator("signbit",      np.signbit,     None,                                          flops=1, gives=bool,
         elsewhere=lambda x: f.logical_or(f.less(x, 0), f.logical_and(f.equal(x, 0), f.less(1.0 / x, 0))))
operator("floor",        np.floor,       None,                                          flops=1)
operator("ceil",         np.ceil,        None,                                          flops=1)
operator("round",        round_,         None, None,                                    flops=1, view=True, numpy="round")
operator("trunc",        np.trunc,       None,                                          flops=1,
         elsewhere=lambda x: f.where(f.less(x, 0), f.ceil(x), f.floor(x)))
operator("floor_divide", np.floor_divide, None, None,                                   flops=1,
         elsewhere=lambda x, y: f.round((x - f.remainder(x, y)) / y))
operator("argmax",       argmax,         None, None, flops=of_input(1), gives=int, numpy="argmax")
operator("argsort",      argsort,        None, None, gives=int,
         flops=lambda out, x, *_: np.size(x) * max(np.size(x) - 1, 0).bit_length())
operator("det_sign",     det_sign,       None,                                          flops=cubic(2 / 3),
         elsewhere=elimination.det_sign)
operator("stopGradient", stopGradient,   None, view=True, formula=alias)
