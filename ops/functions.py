"""The elementary and special functions, entry by entry. SciPy is imported when the first of its functions runs."""
from __future__ import annotations

import math

import numpy as np

from .expression import f
from .table import elementwise


def scipy_special(name: str, doc: str):
    """The function of scipy.special, in the precision of its argument."""
    def value(x):
        from scipy import special
        return getattr(special, name)(x)

    value.__doc__ = doc
    return value


def polygamma(n, x):
    """The n-th derivative of digamma, n a literal (Abramowitz and Stegun 6.4.1)."""
    from scipy import special
    x = np.asarray(x)
    return special.polygamma(n, x).astype(x.dtype if x.dtype.kind == "f" else float)[()]


LN2, LN10 = math.log(2.0), math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)

# ratio and scale, not / and *, where a derivative can be infinite: what where() leaves out must send back 0 and not NaN
#            op         value                      rule
elementwise("exp",      np.exp,                    lambda d, out, x: f.scale(d, out))
elementwise("expm1",    np.expm1,                  lambda d, out, x: f.scale(d, out + 1.0))
elementwise("exp2",     np.exp2,                   lambda d, out, x: f.scale(d, out * LN2))
elementwise("log",      np.log,                    lambda d, out, x: f.ratio(d, x))
elementwise("log1p",    np.log1p,                  lambda d, out, x: f.ratio(d, 1.0 + x))
elementwise("log2",     np.log2,                   lambda d, out, x: f.ratio(d, x * LN2))
elementwise("log10",    np.log10,                  lambda d, out, x: f.ratio(d, x * LN10))
elementwise("sqrt",     np.sqrt,                   lambda d, out, x: f.ratio(d, 2.0 * f.abs(out)))   # sqrt′(±0) = +∞
elementwise("cbrt",     np.cbrt,                   lambda d, out, x: f.ratio(d, 3.0 * out * out))
elementwise("sin",      np.sin,                    lambda d, out, x: d * f.cos(x))
elementwise("cos",      np.cos,                    lambda d, out, x: -d * f.sin(x))
elementwise("tan",      np.tan,                    lambda d, out, x: f.scale(d, 1.0 + out * out))
elementwise("arcsin",   np.arcsin,                 lambda d, out, x: f.ratio(d, f.sqrt(1.0 - x * x)))
elementwise("arccos",   np.arccos,                 lambda d, out, x: -f.ratio(d, f.sqrt(1.0 - x * x)))
elementwise("arctan",   np.arctan,                 lambda d, out, x: d / (1.0 + x * x))
elementwise("sinh",     np.sinh,                   lambda d, out, x: f.scale(d, f.cosh(x)))
elementwise("cosh",     np.cosh,                   lambda d, out, x: f.scale(d, f.sinh(x)))
elementwise("tanh",     np.tanh,                   lambda d, out, x: d * (1.0 - out * out))
elementwise("arcsinh",  np.arcsinh,                lambda d, out, x: d / f.hypot(x, 1.0))
elementwise("arccosh",  np.arccosh,                lambda d, out, x: f.ratio(d, f.sqrt((x - 1.0) * (x + 1.0))))
elementwise("arctanh",  np.arctanh,                lambda d, out, x: f.ratio(d, (1.0 - x) * (1.0 + x)))
elementwise("erf",      scipy_special("erf", "2/√π ∫₀ˣ exp(−t²) dt."), lambda d, out, x: d * (TWO_OVER_ROOT_PI * f.exp(-x * x)))
elementwise("gammaln",  scipy_special("gammaln", "log |Γ(x)|."), lambda d, out, x: f.scale(d, f.digamma(x)))
elementwise("digamma",  scipy_special("digamma", "The derivative of log Γ(x)."), lambda d, out, x: f.scale(d, f.polygamma(1, x)))
elementwise("polygamma", polygamma,                None, lambda d, out, n, x: f.scale(d, f.polygamma(n + 1, x)))
elementwise("arctan2",  np.arctan2,                lambda d, out, y, x: f.ratio(d * x, x * x + y * y),
                                                   lambda d, out, y, x: -f.ratio(d * y, x * x + y * y))
elementwise("hypot",    np.hypot,                  lambda d, out, x, y: d * f.ratio(x, out),   # at 0 the gradient is 0
                                                   lambda d, out, x, y: d * f.ratio(y, out))
