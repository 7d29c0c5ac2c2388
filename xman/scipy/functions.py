"""The functions of scipy.special on traced values: SciPy's ufuncs call them; `xman.scipy` has the others."""
from __future__ import annotations

import math
from functools import partial

import numpy as np

from ops import f

from ..numpy.compositions import mean_between
from ..numpy.rearrangements import whole_axis
from ..traced.arraylike import ArrayLike
from ..traced.dispatch import SPECIAL, with_shape
from ..traced.refusals import SCIPY, refuse

ROOT_HALF = math.sqrt(0.5)


def rel_entr(x, y, term=lambda x, y: 0.0):
    """x log(x/y) + term(x, y); term(x, y) where x is 0, ∞ outside the domain, NaN where x or y is NaN."""
    inside = f.logical_and(f.greater(x, 0), f.greater(y, 0))
    edge = f.logical_and(f.equal(x, 0), f.greater_equal(y, 0))
    p, q = f.where(inside, x, 1.0), f.where(inside, y, 1.0)
    outside = f.where(f.logical_or(f.isnan(x), f.isnan(y)), f.add(x, y), np.inf)
    return f.where(inside, p * f.log(p / q) + term(p, q), f.where(edge, term(x, y), outside))



def whole_order(op):
    """The function op(n, x) of a whole order n: SciPy's own truncates other orders."""
    def function(n, x):
        if isinstance(n, ArrayLike) or np.ndim(n) or not np.isfinite(n) or n != int(n):
            refuse("yn and kn have a derivative here for a whole order", "write yv or kv")
        return getattr(f, op)(int(n), x)
    return function


def vanishing(op, order, at_infinity):
    """The function of that order; it is 0 at ∞, and it is at_infinity at −∞ unless that is None."""
    def function(x):
        value = f.where(f.equal(x, np.inf), 0.0, getattr(f, op)(order, x))
        return value if at_infinity is None else f.where(f.equal(x, -np.inf), at_infinity, value)
    return function


def odd(function):
    """The odd function, which keeps the sign of 0."""
    def both(x):
        left = f.signbit(x)
        right = function(f.where(left, -x, x))
        return f.where(left, -right, right)
    return both


def gammasgn(x):
    floored = f.floor(x)
    sign = 1.0 - 2.0 * f.remainder(floored, 2.0)
    left = f.where(f.equal(x, floored), np.nan, sign)
    return f.where(x > 0, 1.0, f.where(f.equal(x, 0), np.copysign(1.0, x), left))


def rgamma(x):
    """1/Γ(x); left of ½ by Γ's reflection formula, which has derivatives where Γ has poles."""
    left = f.logical_and(f.less(x, 0.5), f.greater(x, -np.inf))
    y = f.where(left, x, 0.0)
    r = f.round(y) + 0.0  # y − r keeps the sign of 0
    sign = 1.0 - 2.0 * f.remainder(r, 2.0)
    reflected = sign * f.sin(math.pi * (y - r)) / math.pi * f.Gamma(1.0 - y)
    reflected = f.where(f.equal(x, 0), reflected, reflected + 0.0)  # 0 has a sign, poles have none
    right = f.where(left, 1.0, x)
    return f.where(left, reflected, f.where(f.equal(right, -np.inf), 0.0, f.reciprocal(f.Gamma(right))))


def lambertw(z, k, tol):
    if isinstance(k, ArrayLike) or np.any(k):
        refuse("the Lambert function has a derivative here for its principal branch", "leave out k")
    return f.lambertw(f.astype(with_shape(z), ("complex128",)))


def t_cdf(z, df):
    tail = f.half(f.betainc(f.half(df), 0.5, df / (df + z * z)))
    return f.where(z > 0, 1.0 - tail, tail)


def stdtr(df, t):
    value = f.where(f.equal(df, np.inf), f.half(f.erfc(t * -ROOT_HALF)), t_cdf(t, df))
    return f.where(f.greater(df, 0), value, np.nan)


def huber(delta, r):
    size = f.abs(r)
    value = f.where(size <= delta, f.half(r * r), delta * (size - f.half(delta)))
    return f.where(f.less(delta, 0), np.inf, value)


def pseudo_huber(delta, r):
    flat = f.logical_or(f.equal(delta, 0), f.logical_and(f.equal(r, 0), f.logical_not(f.isfinite(delta))))
    d, s = f.where(flat, 1.0, delta), f.where(flat, 1.0, r)
    value = f.where(flat, f.where(f.equal(delta, 0), 0.0, f.half(r * r)), d * d * (f.hypot(1.0, s / d) - 1.0))
    return f.where(f.less(delta, 0), np.inf, value)


def exprel(x):
    near = f.abs(x) < 6.0
    value = f.expm1(x) / f.where(f.logical_or(near, f.equal(x, np.inf)), 1.0, x)
    return f.where(near, mean_between(f.exp, f.where(near, x, 0.0)), value)


def boxcox(y, lmbda):
    """(e^(λ y) − 1)/λ; y where λ is 0."""
    u = f.scale(lmbda, y)
    near = f.abs(u) < 6.0
    inner = mean_between(f.exp, f.where(near, u, 0.0))
    return f.where(near, y * inner, f.expm1(u) / f.where(near, 1.0, lmbda))


SPECIAL.update({
    "ndtr":         lambda x: f.half(f.erfc(x * -ROOT_HALF)),
    "stdtr":        stdtr,
    "exp1":         lambda x: f.where(f.less(x, 0), np.nan, -f.expi(-x)),
    "_lambertw":    lambertw,
    "erfcinv":      lambda x: -ROOT_HALF * f.ndtri(f.half(x)),
    "loggamma":     lambda z: f.where(z >= 0, f.gammaln(z), np.nan),
    **{g.__name__: g for g in (exprel, gammasgn, huber, pseudo_huber, rel_entr, rgamma)},
    "kl_div":       lambda x, y: rel_entr(x, y, lambda x, y: f.subtract(y, x)),
    **{f"{op[-1].lower()}{order}": partial(getattr(f, op), order)
       for op in ("besselJ", "besselY", "besselI", "besselK") for order in (0, 1)},
    "j1":           odd(partial(f.besselJ, 1)),
    "yn":           whole_order("besselY"),
    "kn":           whole_order("besselK"),
    "i0e":          vanishing("besselIe", 0, 0.0),
    "i1e":          vanishing("besselIe", 1, -0.0),
    "k0e":          vanishing("besselKe", 0, None),
    "k1e":          vanishing("besselKe", 1, None),
    "exp10":        lambda x: 10.0 ** x,
    "boxcox":       lambda x, lmbda: boxcox(f.log(x), lmbda),
    "boxcox1p":     lambda x, lmbda: boxcox(f.log1p(x), lmbda),
})


# ---- what is no ufunc --------------------------------------------------------------------------------------

def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    a, axis = with_shape(a), whole_axis(axis)
    if b is None and not return_sign:
        return f.logsumexp(a, axis=axis, keepdims=bool(keepdims))
    b = with_shape(1.0 if b is None else b)
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
SCIPY["scipy.special"] = FUNCTIONS
