"""The elementary and special functions, entry by entry. SciPy is imported
when the first of its functions runs."""
from __future__ import annotations

import functools
import math

import numpy as np

from .derived import limited
from .expression import f
from .table import elementwise


@functools.cache
def scipys(name: str):
    from scipy import special
    return getattr(special, name)


def scipy_special(name: str, doc: str, arguments: int = 1):
    """The function of scipy.special with so many arguments, in their precision."""
    def one(x): return computed(x)
    def two(a, x): return computed(a, x)
    def three(a, b, x): return computed(a, b, x)

    def computed(*args):
        dtype = getattr(args[-1], "dtype", np.dtype(float))
        real = dtype.type if dtype.kind == "f" else float  # of an order, a plain number
        return scipys(name)(*[a if hasattr(a, "dtype") else real(a) for a in args])

    value = (one, two, three)[arguments - 1]
    value.__doc__ = doc
    return value


ORDERED: set[str] = set()  # the operators with an order or a shape by which there is no derivative here


def without(op: str, argument: str):
    """The rule of such an argument: an error that says so, and not a zero."""
    ORDERED.add(op)

    def refused(d, out, *args):
        raise ValueError(f"{op} has no derivative by its argument {argument} here; give it as a plain number")
    return refused


def tail(z):
    """z Φ(−z) / φ(z) for z ≥ 20, by its series (Abramowitz and Stegun 26.2.12)."""
    sum = 1.0
    for k in 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0:
        sum = 1.0 - k / (z * z) * sum
    return sum


def mills(x, out):
    """φ(x)/Φ(x), the derivative of out = log Φ(x)."""
    far = x < -20.0
    z = f.where(far, -x, 20.0)
    return f.where(far, z / tail(z), f.exp(-f.half(x * x) - out - LOG_ROOT_TWO_PI))


def rise(a, b):
    """The derivative of log Β(a, b) by a."""
    return f.digamma(a) - f.digamma(a + b)


def gamma_density(a, x):
    """x^(a−1) e^(−x) / Γ(a)."""
    return f.exp(f.scale(a - 1.0, f.log(x)) - x - f.gammaln(a))


def beta_density(a, b, x):
    """x^(a−1) (1 − x)^(b−1) / Β(a, b)."""
    return f.exp(f.scale(a - 1.0, f.log(x)) + f.scale(b - 1.0, f.log1p(-x)) - f.betaln(a, b))


def polygamma(n, x):
    """The n-th derivative of digamma, n a literal (Abramowitz and Stegun 6.4.1)."""
    from scipy import special
    x = np.asarray(x)
    return special.polygamma(n, x).astype(x.dtype if x.dtype.kind == "f" else float)[()]


ERF = scipy_special("erf", "2/√π ∫₀ˣ exp(−t²) dt.")
LN2, LN10 = math.log(2.0), math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
ROOT_TWO_PI, LOG_ROOT_TWO_PI = math.sqrt(2.0 * math.pi), math.log(2.0 * math.pi) / 2.0

# ratio and scale, not / and *, where a derivative can be infinite: what
# where() leaves out must send back 0 and not NaN
#            op         value                      rule
elementwise("exp",      np.exp,                    limited(lambda d, out, x: d * out, grows=True), convex=True)
elementwise("expm1",    np.expm1,                  limited(lambda d, out, x: d * (out + 1.0), grows=True))
elementwise("exp2",     np.exp2,                   limited(lambda d, out, x: d * (out * LN2), grows=True))
elementwise("log",      np.log,                    lambda d, out, x: d / x)
elementwise("log1p",    np.log1p,                  lambda d, out, x: d / (1.0 + x))
elementwise("log2",     np.log2,                   lambda d, out, x: d / (x * LN2))
elementwise("log10",    np.log10,                  lambda d, out, x: d / (x * LN10))
elementwise("sqrt",     np.sqrt,                   lambda d, out, x: d / (2.0 * f.abs(out)),   squared="alias")  # sqrt′(±0) = +∞
elementwise("cbrt",     np.cbrt,                   lambda d, out, x: d / (3.0 * out * out))
elementwise("sin",      np.sin,                    lambda d, out, x: d * f.cos(x),      tame=True)
elementwise("cos",      np.cos,                    lambda d, out, x: -d * f.sin(x),     tame=True)
elementwise("tan",      np.tan,                    lambda d, out, x: d * (1.0 + out * out))
elementwise("arcsin",   np.arcsin,                 lambda d, out, x: d / f.sqrt(1.0 - x * x))
elementwise("arccos",   np.arccos,                 lambda d, out, x: -d / f.sqrt(1.0 - x * x))
elementwise("arctan",   np.arctan,                 limited(lambda d, out, x: d / (1.0 + x * x)), tame=True)
elementwise("sinh",     np.sinh,                   limited(lambda d, out, x: d * f.cosh(x), grows=True, settles=False))
elementwise("cosh",     np.cosh,                   limited(lambda d, out, x: d * f.sinh(x), grows=True, settles=False))
elementwise("tanh",     np.tanh,                   limited(lambda d, out, x: d * (1.0 - out * out)), tame=True)
elementwise("arcsinh",  np.arcsinh,                lambda d, out, x: d / f.hypot(x, 1.0), tame=True)
elementwise("arccosh",  np.arccosh,                lambda d, out, x: d / f.sqrt((x - 1.0) * (x + 1.0)))
elementwise("arctanh",  np.arctanh,                lambda d, out, x: d / ((1.0 - x) * (1.0 + x)))
elementwise("erf",      ERF,                       limited(lambda d, out, x: d * (TWO_OVER_ROOT_PI * f.exp(-x * x))), tame=True)
elementwise("gammaln",  scipy_special("gammaln", "log |Γ(x)|."), lambda d, out, x: d * f.digamma(x))
elementwise("digamma",  scipy_special("digamma", "The derivative of log Γ(x)."), lambda d, out, x: d * f.polygamma(1, x))
elementwise("polygamma", polygamma,                without("polygamma", "n"),
                                                   lambda d, out, n, x: d * f.polygamma(n + 1, x))
elementwise("arctan2",  np.arctan2,                lambda d, out, y, x: d * f.ratio(x, x * x + y * y),
                                                   lambda d, out, y, x: -d * f.ratio(y, x * x + y * y))
elementwise("hypot",    np.hypot,                  lambda d, out, x, y: d * f.ratio(x, out),   # at 0 the gradient is 0
                                                   lambda d, out, x, y: d * f.ratio(y, out))


# ---- special functions: SciPy's, under longer names where a register would want the short one --------------

def bessel(op: str, name: str, doc: str, slope) -> None:
    """A row for a function of order v: slope gives its derivative from
    those of the orders v − 1 and v + 1."""
    def rule(d, out, v, x):
        below, above = (getattr(f, op)(v + k, x) for k in (-1, 1))
        return d * slope(below, above, out, x)

    elementwise(op, scipy_special(name, doc, 2), without(op, "v"), rule)


ERFC = scipy_special("erfc", "1 − erf(x).")
ERFINV = scipy_special("erfinv", "y of erf(y) = x.")
NDTRI = scipy_special("ndtri", "x of Φ(x) = p, Φ the normal distribution function.")
LOG_NDTR = scipy_special("log_ndtr", "log Φ(x), Φ the normal distribution function.")
GAMMA = scipy_special("gamma", "Γ(x).")
BETA = scipy_special("beta", "Β(a, x) = Γ(a) Γ(x) / Γ(a + x).", 2)
BETALN = scipy_special("betaln", "log |Β(a, x)|.", 2)
GAMMAINC = scipy_special("gammainc", "∫₀ˣ t^(a−1) e^(−t) dt / Γ(a).", 2)
GAMMAINCC = scipy_special("gammaincc", "1 − gammainc(a, x).", 2)
BETAINC = scipy_special("betainc", "∫₀ˣ t^(a−1) (1 − t)^(b−1) dt / Β(a, b).", 3)

#            op           value      rule per argument
elementwise("erfc",       ERFC,      limited(lambda d, out, x: d * (-TWO_OVER_ROOT_PI * f.exp(-x * x))), tame=True)
elementwise("erfinv",     ERFINV,    lambda d, out, x: d * (f.exp(out * out) / TWO_OVER_ROOT_PI))
elementwise("ndtri",      NDTRI,     lambda d, out, p: d * (ROOT_TWO_PI * f.exp(f.half(out * out))))
elementwise("logNdtr",    LOG_NDTR,  lambda d, out, x: d * mills(x, out))
elementwise("Gamma",      GAMMA,     lambda d, out, x: d * (out * f.digamma(x)))
elementwise("Beta",       BETA,      lambda d, out, a, b: d * (out * rise(a, b)),
                                     lambda d, out, a, b: d * (out * rise(b, a)))
elementwise("betaln",     BETALN,    lambda d, out, a, b: d * rise(a, b),
                                     lambda d, out, a, b: d * rise(b, a))
elementwise("gammainc",   GAMMAINC,  without("gammainc", "a"),
                                     lambda d, out, a, x: d * gamma_density(a, x))
elementwise("gammaincc",  GAMMAINCC, without("gammaincc", "a"),
                                     lambda d, out, a, x: -d * gamma_density(a, x))
elementwise("betainc",    BETAINC,   without("betainc", "a"),
                                     without("betainc", "b"),
                                     lambda d, out, a, b, x: d * beta_density(a, b, x))

# Abramowitz and Stegun 9.1.27 and 9.6.26
#       op          SciPy's  value                                its derivative by x
bessel("besselJ",   "jv",   "J of order a, of the first kind.",   lambda below, above, out, x: f.half(below - above))
bessel("besselY",   "yv",   "Y of order a, of the second kind.",  lambda below, above, out, x: f.half(below - above))
bessel("besselI",   "iv",   "I of order a, modified J.",          lambda below, above, out, x: f.half(below + above))
bessel("besselIe",  "ive",  "besselI(a, x) e^(−|x|).", lambda below, above, out, x: f.half(below + above) - f.sign(x) * out)
bessel("besselK",   "kv",   "K of order a, modified Y.",          lambda below, above, out, x: -f.half(below + above))
bessel("besselKe",  "kve",  "besselK(a, x) eˣ.",                  lambda below, above, out, x: out - f.half(below + above))
