"""The functions of scipy.special on traced values: its ufuncs hand them over by themselves, the others by xman.scipy."""
from __future__ import annotations

import math

import numpy as np

from ops import f

from ..functions.dispatch import SPECIAL, array
from ..functions.refusals import SCIPY, refuse
from ..numpy.rearrangements import whole_axis

ROOT_HALF = math.sqrt(0.5)


def of_order(op, order):
    return lambda x: getattr(f, op)(order, x)


def within(inside, value, edge, at_edge):
    """value where inside holds, at_edge on the edge, beyond it ∞; NaN where value is NaN."""
    return f.where(inside, value, f.where(edge, at_edge, f.where(f.isnan(value), value, np.inf)))


def rel_entr(x, y):
    inside = f.logical_and(x > 0, y > 0)
    return within(inside, f.scale(x, f.log(f.ratio(x, y))), f.logical_and(f.equal(x, 0), y >= 0), 0.0)


def kl_div(x, y):
    inside = f.logical_and(x > 0, y > 0)
    return within(inside, f.scale(x, f.log(f.ratio(x, y))) - x + y, f.logical_and(f.equal(x, 0), y >= 0), y)


def gammasgn(x):
    whole = f.floor(x)
    sign = 1.0 - 2.0 * f.remainder(whole, 2.0)
    return f.where(x > 0, 1.0, f.where(f.equal(x, 0), np.copysign(1.0, x), f.where(f.equal(x, whole), np.nan, sign)))


def huber(delta, r):
    size = f.abs(r)
    value = f.where(size <= delta, f.half(r * r), delta * (size - f.half(delta)))
    return f.where(f.less(delta, 0), np.inf, value)


def pseudo_huber(delta, r):
    value = delta * delta * (f.hypot(1.0, r / delta) - 1.0)
    return f.where(f.less(delta, 0), np.inf, value)


def exprel(x):
    near, series = f.abs(x) < 0.1, 1.0
    for k in 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0:
        series = 1.0 + x / k * series
    return f.where(near, series, f.expm1(x) / f.where(near, 1.0, x))  # so that all derivatives are right at 0


SPECIAL.update({
    "ndtr":         lambda x: f.half(f.erfc(x * -ROOT_HALF)),
    "log_ndtr":     lambda x: f.logNdtr(x),
    "erfcinv":      lambda x: -ROOT_HALF * f.ndtri(f.half(x)),
    "gamma":        lambda x: f.Gamma(x),
    "loggamma":     lambda z: f.where(z > 0, f.gammaln(z), np.nan),
    "rgamma":       lambda x: f.where(f.logical_and(x <= 0, f.equal(x, f.floor(x))), 0.0, f.reciprocal(f.Gamma(x))),
    "gammasgn":     gammasgn,
    "beta":         f.Beta,
    **{name: getattr(f, op) for name, op in (
        ("jv", "besselJ"), ("jn", "besselJ"), ("yv", "besselY"), ("yn", "besselY"), ("iv", "besselI"), ("ive", "besselIe"),
        ("kv", "besselK"), ("kn", "besselK"), ("kve", "besselKe"))},
    **{f"{letter.lower()}{order}{e}": of_order(f"bessel{letter}{e}", order) for letter, e in (
        ("J", ""), ("Y", ""), ("I", ""), ("I", "e"), ("K", ""), ("K", "e")) for order in (0, 1)},
    "rel_entr":     rel_entr,
    "kl_div":       kl_div,
    "exprel":       exprel,
    "exp10":        lambda x: 10.0 ** x,
    "boxcox":       lambda x, lmbda: f.log(x) * exprel(lmbda * f.log(x)),
    "boxcox1p":     lambda x, lmbda: f.log1p(x) * exprel(lmbda * f.log1p(x)),
    "huber":        huber,
    "pseudo_huber": pseudo_huber,
})


# ---- what is no ufunc -----------------------------------------------------------------------------------------------

def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    a, axis = array(a), whole_axis(axis)
    if b is None and not return_sign:
        return f.logsumexp(a, axis=axis, keepdims=bool(keepdims))
    b = array(1.0 if b is None else b)
    top = f.stopGradient(f.max(f.where(f.equal(b, 0), -np.inf, a), axis=axis, keepdims=True))
    top = f.where(f.isfinite(top), top, 0.0)
    total = f.sum(f.scale(b, f.exp(a - top)), axis=axis, keepdims=True)
    result = f.log(f.abs(total) if return_sign else total) + top
    result, sign = (x if keepdims else np.squeeze(x, axis) for x in (result, f.sign(total)))
    return (result, sign) if return_sign else result


def softmax(x, axis=None):
    if axis is None or isinstance(axis, tuple):
        return f.exp(log_softmax(x, axis))
    return f.softmax(x, axis)


def log_softmax(x, axis=None):
    if axis is None or isinstance(axis, tuple):
        return x - f.logsumexp(x, axis=whole_axis(axis), keepdims=True)
    return f.logSoftmax(x, axis)


def multigammaln(a, d):
    if d < 1:
        raise ValueError("d should be a positive integer (dimension)")
    return sum(f.gammaln(a - f.half(j)) for j in range(d)) + d * (d - 1) * 0.25 * math.log(math.pi)


def polygamma(n, x):
    return f.digamma(x) if np.ndim(n) == 0 and n == 0 else f.polygamma(n, x)


def factorial(n, exact=False, extend="zero"):
    if exact or extend != "zero":
        refuse("factorial with exact=True is of whole numbers", "leave it out")
    return f.where(n < 0, 0.0, f.Gamma(f.where(n < 0, 0.0, n) + 1.0))


FUNCTIONS = {g.__name__: g for g in (logsumexp, softmax, log_softmax, multigammaln, polygamma, factorial)}
SCIPY["special"] = FUNCTIONS
