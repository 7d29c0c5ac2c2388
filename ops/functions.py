"""Elementary and special functions. SciPy is imported when the first of its functions runs."""
from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .expression import f
from .facts import is_complex
from .formulas import special
from .formulas.special import LOG_ROOT_TWO_PI, in_float64
from .kinks import over
from .table import elementwise, expressed


@functools.cache
def scipys(name: str):
    return getattr(importlib.import_module("scipy.special"), name)


def scipy_special(name: str, doc: str, arguments: int = 1):
    """The function of scipy.special with this number of arguments; it computes in their precision."""
    def computed(*args):
        dtype = getattr(args[-1], "dtype", np.dtype(float))
        real = dtype.type if dtype.kind == "f" else float  # an order is a plain number
        return scipys(name)(*[a if hasattr(a, "dtype") else real(a) for a in args])

    values = (lambda x: computed(x)), (lambda a, x: computed(a, x)), (lambda a, b, x: computed(a, b, x))
    return expressed(values[arguments - 1], doc)


def of_special(op: str, name: str, doc: str, *slopes: Callable | str, **facts: Any) -> None:
    """A row for the function of scipy.special called `name`, with its formula for other libraries. Where an
    argument has no derivative, its name stands in the place of a slope."""
    slopes = [without(op, slope) if isinstance(slope, str) else slope for slope in slopes]
    formula = {"elsewhere": in_float64(getattr(special, name))} if hasattr(special, name) else {}
    elementwise(op, scipy_special(name, doc, len(slopes)), *slopes, **formula, **facts)


ORDERED: set[str] = set()  # operators with an order or a shape parameter, by which they have no derivative


def without(op: str, argument: str):
    """The slope by an argument without a derivative: an error that says so, and not a zero."""
    ORDERED.add(op)

    def refused(out, *args):
        raise ValueError(f"{op} has no derivative by its argument {argument} here; give it as a plain number")
    return refused


def decline(s):
    """t − 1 of the series t = 1 − 1/s + 3/s² − 15/s³ …, for |s| ≥ 400 (Abramowitz and Stegun 26.2.12)."""
    sum = 1.0
    for k in 13.0, 11.0, 9.0, 7.0, 5.0, 3.0:
        sum = 1.0 - k / s * sum
    return -sum / s


def less_one(product, s, far):
    """product − 1, where the product is the series t of s if x is far: there both are nearly the same."""
    return f.where(far, decline(f.where(far, s, 400.0)), product - 1.0)


def mills(x, out):
    """φ(x)/Φ(x), the derivative of out = log Φ(x)."""
    far = x < -20.0
    z = f.where(far, -x, 20.0)
    return f.where(far, z / (1.0 + decline(z * z)), f.exp(-f.half(x * x) - out - LOG_ROOT_TWO_PI))


# the derivative of log Β(a, b) by a; the densities of the Gamma and of the Beta distribution
def rise(a, b): return f.digamma(a) - f.digamma(a + b)
def gamma_density(a, x): return f.exp(f.scale(a - 1.0, f.log(x)) - x - f.gammaln(a))
def beta_density(a, b, x):
    return f.exp(f.scale(a - 1.0, f.log(x)) + f.scale(b - 1.0, f.log1p(-x)) - f.betaln(a, b))


def digamma(x):
    """The derivative of log Γ(x)."""
    value, steps = scipys("digamma")(x), np.round(x)
    distance = x - steps
    close = (np.abs(distance) < 1e-3) & (steps < 0)
    if not np.any(close):
        return value
    # by reflection (Abramowitz and Stegun 6.3.7): beside a pole SciPy rounds 1 − x before the tangent
    with np.errstate(all="ignore"):
        reflected = scipys("digamma")(1.0 - x) - np.pi / np.tan(np.pi * distance)
    return np.where(close & (distance != 0), reflected, value).astype(value.dtype)[()]


def polygamma(n, x):
    """The n-th derivative of digamma, n a literal (Abramowitz and Stegun 6.4.1)."""
    x = np.asarray(x)
    return scipys("polygamma")(n, x).astype(x.dtype if x.dtype.kind == "f" else float)[()]


def log1p_of_logs(x):
    """log(1 + x), as exact for small x as for large (Kahan; Goldberg 1991, theorem 4)."""
    u = 1.0 + x
    small = f.logical_and(f.not_equal(u, 1.0), f.less(u, math.inf))
    return f.where(f.equal(u, 1.0), x, f.log(u) * f.where(small, x / f.where(small, u - 1.0, 1.0), 1.0))


def expm1_of_logs(x):
    """eˣ − 1, as exact for small x as for large (Higham 2002, §1.14.1)."""
    u = f.exp(x)
    small = f.logical_and(f.not_equal(u, 1.0), f.less(f.abs(x), 1.0))
    exact = (u - 1.0) * (x / f.log(f.where(small, u, 2.0)))
    return f.where(f.equal(u, 1.0), x, f.where(small, exact, u - 1.0))


def hypot_of_ratios(x, y):
    x, y = f.abs(x), f.abs(y)
    most, least = f.maximum(x, y), f.minimum(x, y)
    quotient = f.where(f.equal(least, most), 1.0, f.ratio(least, most))  # 1 for two infinities
    endless = f.logical_or(f.equal(x, math.inf), f.equal(y, math.inf))  # whatever the other is, NaN too
    return f.where(endless, math.inf, most * f.sqrt(1.0 + quotient * quotient))


squared_hypot = expressed(lambda x, y: x * x + y * y, "x² + y².")
one_minus_square = expressed(lambda x: (1.0 - x) * (1.0 + x),
                             "1 − x², with all its digits near ±1; its slope has all of them near 0.")


def arctan2_of_ratios(y, x):
    turn = f.where(f.signbit(y), -math.pi, math.pi)
    straight = f.where(f.signbit(x), turn, f.where(f.signbit(y), -0.0, 0.0))
    # of ∞ too
    quotient = f.where(f.equal(f.abs(y), f.abs(x)), f.sign(y) * f.sign(x), y / f.where(f.equal(x, 0), 1.0, x))
    slope = f.arctan(quotient) + f.where(f.less(x, 0), turn, 0.0)
    angle = f.where(f.equal(y, 0), straight, f.where(f.equal(x, 0), f.half(turn), slope))
    return f.where(f.logical_or(f.isnan(x), f.isnan(y)), math.nan, angle)


def turned(z, y, x):
    """z / (x² + y²), 0 where z is 0; it divides twice, since the squares of 1e±200 are not floats."""
    far = f.hypot(x, y)
    return f.ratio(f.ratio(z, far), far)


def beside_one(x): return f.sqrt(1.0 + x * x) if is_complex(x) else f.hypot(x, 1.0)


def elliptic(m, weight, numerator, denominator):
    """numerator/denominator, the slope of π/2 Σ weight(n) cₙ mⁿ, cₙ = ((2n − 1)!!/(2n)!!)²; near 0, where
    both are small, by that series (Abramowitz and Stegun 17.3.11 and 12)."""
    near, total = f.less(f.abs(m), 0.1), 0.0
    x = f.where(near, m, 0.0)
    for n in range(17, 0, -1):
        total = x * total + math.pi / 2.0 * n * weight(n) * (math.comb(2 * n, n) / 4.0 ** n) ** 2
    return over(f.where(near, 1.0, denominator), f.where(near, total, numerator))


def lambertw(z):
    """w of w eʷ = z, the principal branch; of floats below −1/e it is NaN (Corless et al. 1996)."""
    w = scipys("lambertw")(z)
    return w if is_complex(z) else np.where(w.imag, np.nan, w.real).astype(getattr(z, "dtype", float))[()]


LN2, LN10 = math.log(2.0), math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
ROOT_PI = math.sqrt(math.pi)
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)

# ratio and scale, not / and *, if a derivative can be infinite: a value that where() leaves out sends back 0
#            op         value                      slope
elementwise("exp",      np.exp,                    lambda out, x: out,                  grows=True, settles=0, convex=True,
            complex=True)
elementwise("expm1",    np.expm1,                  lambda out, x: f.exp(x),             grows=True, settles=0,
            elsewhere=expm1_of_logs, complex=True)
elementwise("exp2",     np.exp2,                   lambda out, x: out * LN2,            grows=True, settles=0,
            elsewhere=lambda x: f.power(2.0, x), complex=True)
elementwise("log",      np.log,                    lambda out, x: over(x), complex=True)
elementwise("log1p",    np.log1p,                  lambda out, x: over(1.0 + x),        elsewhere=log1p_of_logs, complex=True)
for op, value, ln in ("log2", np.log2, LN2), ("log10", np.log10, LN10):
    elementwise(op,     value,                     lambda out, x, ln=ln: over(x * ln),
                elsewhere=lambda x, ln=ln: f.log(x) * (1.0 / ln), complex=True)
elementwise("sqrt",     np.sqrt,                   lambda out, x: over(2.0 * (out + 0.0)), squared="alias",
            complex=True)  # −0 + 0 = 0, so sqrt′(±0) = +∞
elementwise("cbrt",     np.cbrt,                   lambda out, x: (over(out), over(3.0 * out)),
            elsewhere=lambda x: f.sign(x) * f.power(f.abs(x), 1.0 / 3.0))
elementwise("sin",      np.sin,                    lambda out, x: f.cos(x),             tame=True, complex=True)
elementwise("cos",      np.cos,                    lambda out, x: -f.sin(x),            tame=True, complex=True)
elementwise("tan",      np.tan,                    lambda out, x: 1.0 + out * out, complex=True)
elementwise("arcsin",   np.arcsin,                 lambda out, x: over(f.sqrt(f.one_minus_square(x))), complex=True)
elementwise("arccos",   np.arccos,                 lambda out, x: -over(f.sqrt(f.one_minus_square(x))), complex=True)
elementwise("arctan",   np.arctan,                 lambda out, x: over(1.0 + x * x),    tame=True, settles=0, complex=True)
elementwise("sinh",     np.sinh,                   lambda out, x: f.cosh(x),            grows=True, complex=True)
elementwise("cosh",     np.cosh,                   lambda out, x: f.sinh(x),            grows=True, complex=True)
elementwise("tanh",     np.tanh,                   lambda out, x: 1.0 - out * out,      tame=True, settles=0, complex=True)
elementwise("arcsinh",  np.arcsinh,                lambda out, x: over(beside_one(x)), tame=True,
            complex=True)
elementwise("arccosh",  np.arccosh,                lambda out, x: over(f.sqrt(x - 1.0) * f.sqrt(x + 1.0)), complex=True)
elementwise("arctanh",  np.arctanh,                lambda out, x: over(f.one_minus_square(x)), complex=True)
elementwise("digamma",  digamma,                   lambda out, x: f.polygamma(1, x),
            elsewhere=in_float64(functools.partial(special.polygamma, 0)))
elementwise("polygamma", polygamma,                without("polygamma", "n"),
                                                   lambda out, n, x: f.polygamma(n + 1, x),
            elsewhere=in_float64(special.polygamma))
elementwise("arctan2",  np.arctan2,                lambda out, y, x: turned(x, y, x),
                                                   lambda out, y, x: -turned(y, y, x),
            elsewhere=arctan2_of_ratios)
elementwise("hypot",    np.hypot,                  lambda out, x, y: f.ratio(x, out),   # at 0 the gradient is 0
                                                   lambda out, x, y: f.ratio(y, out),
            elsewhere=hypot_of_ratios, squared="squared_hypot", complex=lambda x, y: np.sqrt(x * x + y * y))
elementwise("squared_hypot", squared_hypot,        lambda out, x, y: 2.0 * x,
                                                   lambda out, x, y: 2.0 * y,
            formula=squared_hypot, flops=3, commutes=True, tame=True, overflows=True)
elementwise("one_minus_square", one_minus_square,  lambda out, x: -2.0 * x,
            formula=one_minus_square, flops=3, tame=True, overflows=True, complex=True)


# ---- special functions: SciPy's, under longer names where a register would want the short one --------------

def bessel(op: str, name: str, doc: str, of_neighbours: Callable) -> None:
    """A row for a function of order v. of_neighbours(below, above, out, x): its slope; below is of v − 1."""
    def slope(out, v, x):
        below, above = (getattr(f, op)(v + k, x) for k in (-1, 1))
        return of_neighbours(below, above, out, x)

    of_special(op, name, doc, "v", slope)


#        op           SciPy's      value                               slope per argument
of_special("erf",       "erf",       "2/√π ∫₀ˣ exp(−t²) dt.",            lambda out, x: TWO_OVER_ROOT_PI * f.exp(-x * x),
         tame=True, settles=0)
of_special("erfc",      "erfc",      "1 − erf(x).",                      lambda out, x: -TWO_OVER_ROOT_PI * f.exp(-x * x),
         tame=True, settles=0)
of_special("erfinv",    "erfinv",    "y of erf(y) = x.",                 lambda out, x: f.exp(out * out) / TWO_OVER_ROOT_PI)
of_special("erfcx",     "erfcx",     "exp(x²) erfc(x).",
                                     lambda out, x: TWO_OVER_ROOT_PI * less_one(ROOT_PI * x * out, 2.0 * x * x, x > 16.0),
         overflows=True, settles=0)
of_special("dawsn",     "dawsn",     "∫₀ˣ exp(t² − x²) dt.",
                                     lambda out, x: -less_one(2.0 * x * out, -2.0 * x * x, f.abs(x) > 16.0),
         tame=True, settles=0)
of_special("expi",      "expi",      "∫ eᵗ/t dt from −∞ to x.",          lambda out, x: over(x, f.exp(x)), grows=True, settles=0)
of_special("ellipk",    "ellipk",    "∫ 1/√(1 − x sin² t) dt from 0 to π/2.",
           lambda out, x: elliptic(x, lambda n: 1.0, f.ellipe(x) - f.scale(1.0 - x, out), 2.0 * x * (1.0 - x)), settles=0)
of_special("ellipe",    "ellipe",    "∫ √(1 − x sin² t) dt from 0 to π/2.",
           lambda out, x: elliptic(x, lambda n: 1.0 / (1.0 - 2.0 * n), out - f.ellipk(x), 2.0 * x))
elementwise("lambertw", lambertw,                  lambda out, x: over(x + f.exp(out)), complex=True)
of_special("ndtri",     "ndtri",     "x of Φ(x) = p, Φ the normal distribution function.",
                                     lambda out, p: ROOT_TWO_PI * f.exp(f.half(out * out)))
of_special("logNdtr",   "log_ndtr",  "log Φ(x), Φ the normal distribution function.", lambda out, x: mills(x, out))
of_special("gammaln",   "gammaln",   "log |Γ(x)|.",                      lambda out, x: f.digamma(x))
of_special("Gamma",     "gamma",     "Γ(x).",                            lambda out, x: out * f.digamma(x))
of_special("Beta",      "beta",      "Β(a, x) = Γ(a) Γ(x) / Γ(a + x).",  lambda out, a, b: out * rise(a, b),
                                                                         lambda out, a, b: out * rise(b, a))
of_special("betaln",    "betaln",    "log |Β(a, x)|.",                   lambda out, a, b: rise(a, b),
                                                                         lambda out, a, b: rise(b, a))
of_special("gammainc",  "gammainc",  "∫₀ˣ t^(a−1) e^(−t) dt / Γ(a).",    "a", lambda out, a, x: gamma_density(a, x))
of_special("gammaincc", "gammaincc", "1 − gammainc(a, x).",              "a", lambda out, a, x: -gamma_density(a, x))
of_special("betainc",   "betainc",   "∫₀ˣ t^(a−1) (1 − t)^(b−1) dt / Β(a, b).",
                                     "a", "b", lambda out, a, b, x: beta_density(a, b, x))

# Abramowitz and Stegun 9.1.27 and 9.6.26
#       op          SciPy's  value                                its derivative by x
bessel("besselJ",   "jv",   "J of order a, of the first kind.",   lambda below, above, out, x: f.half(below - above))
bessel("besselY",   "yv",   "Y of order a, of the second kind.",  lambda below, above, out, x: f.half(below - above))
bessel("besselI",   "iv",   "I of order a, modified J.",          lambda below, above, out, x: f.half(below + above))
bessel("besselIe",  "ive",  "besselI(a, x) e^(−|x|).", lambda below, above, out, x: f.half(below + above) - f.sign(x) * out)
bessel("besselK",   "kv",   "K of order a, modified Y.",          lambda below, above, out, x: -f.half(below + above))
bessel("besselKe",  "kve",  "besselK(a, x) eˣ.",                  lambda below, above, out, x: out - f.half(below + above))
