"""Special functions in terms of elementary ones, computed in float64."""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable

import numpy as np

from ..expression import f

ROOT_HALF, LOG_ROOT_TWO_PI, TERMS, SHIFT = math.sqrt(0.5), math.log(2.0 * math.pi) / 2.0, 8, 10


def in_float64(formula: Callable) -> Callable:
    """The formula, computed in float64, with the result in the arguments' precision."""
    @functools.wraps(formula)
    def row(*args):
        dtype = np.result_type(*[a.dtype for a in args if hasattr(a, "dtype")])
        args = [f.astype(a, ("float64",)) if hasattr(a, "dtype") else a for a in args]
        return f.astype(formula(*args), (dtype.name if dtype.kind == "f" else "float64",))
    return row


@functools.cache
def interpolant(name: str) -> tuple[float, float, list[float]]:
    """(two ends, the coefficients of a polynomial on −1 to 1) for a function without poles nearby."""
    from numpy.polynomial import Chebyshev, Polynomial
    from scipy import special
    function, low, high, degree = {
        "erf":    (lambda s: special.erf(np.sqrt(s)) / np.sqrt(s), 0.0, 1.0, 11),
        "erfc":   (lambda t: np.log(special.erfcx(2 / t - 2) / t), 0.0, 1.0, 23),  # Press et al. 2007, §6.2.2
        "erfinv": (lambda s: special.erfinv(np.sqrt(s)) / np.sqrt(s), 0.0, 0.25, 11),
        # right down to p = 5e-324
        "ndtri":  (lambda r: special.ndtri_exp(-np.exp(2 * r) / 2) / np.exp(r), 0.16, 3.67, 23),
    }[name]
    series = Chebyshev.interpolate(function, degree, (low, high))
    return low, high, series.convert(kind=Polynomial, domain=series.domain, window=(-1, 1)).coef.tolist()


def interpolated(name, x):
    low, high, coefficients = interpolant(name)
    u = (2.0 * x - (low + high)) / (high - low)
    return functools.reduce(lambda total, c: total * u + c, coefficients[::-1])


def log_erfc(z):
    """log erfc(z) for z ≥ 0."""
    t = 1.0 / (1.0 + f.half(z))
    return f.log(t) + interpolated("erfc", t) - z * z


def erfc(x):
    far = f.exp(log_erfc(f.minimum(f.abs(x), 30.0)))
    return f.where(f.less(x, 0), 2.0 - far, far)


def erf(x):
    near = f.less(f.abs(x), 1.0)
    return f.where(near, x * interpolated("erf", f.where(near, x * x, 0.0)), 1.0 - erfc(x))


def log_ndtr(x):
    below = log_erfc(f.maximum(-x, 0.0) * ROOT_HALF) - math.log(2.0)
    return f.where(f.less(x, 0), below, f.log1p(-f.half(erfc(x * ROOT_HALF))))


def lower_quantile(p):
    """The x with Φ(x) = p ≤ 1/2."""
    root = f.sqrt(-2.0 * f.log(p))
    return f.where(f.equal(p, 0), -math.inf, root * interpolated("ndtri", f.log(root)))


def ndtri(p):
    x = lower_quantile(f.minimum(p, 1.0 - p))
    return f.where(f.greater(p, 0.5), -x, x)


def erfinv(x):
    near = f.less(f.abs(x), 0.5)
    far = -f.sign(x) * ROOT_HALF * lower_quantile(f.half(1.0 - f.abs(x)))
    return f.where(near, x * interpolated("erfinv", f.where(near, x * x, 0.0)), far)


# ---- the Gamma function: asymptotic series beyond SHIFT, and reflection (Abramowitz and Stegun 6) ----------

@functools.cache
def bernoulli_numbers():
    from scipy import special
    return special.bernoulli(2 * TERMS).tolist()


def bernoulli_series(n, z):
    """Σ B₂ₖ (2k + n − 1)! / (2k)! / z^(2k + n)."""
    total, square = 0.0, 1.0 / (z * z)
    for k in range(TERMS, 0, -1):
        ratio = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        total = (total + bernoulli_numbers()[2 * k] * ratio) * square
    return total / z ** n if n else total


def by_reflection(function, x):
    """function(x, the greater of x and 1 − x, x less the nearest whole number)."""
    low = f.less(x, 0.5)
    return f.where(low, *function(f.where(low, 1.0 - x, x), math.pi * (x - f.round(x))))


def gammaln(x):
    def left_and_right(x, angle):
        near = f.less(x, SHIFT)
        z = f.where(near, x + SHIFT, x)
        product = functools.reduce(operator.mul, [x + k for k in range(SHIFT)])
        series = (z - 0.5) * (f.log(z) - 1.0) + LOG_ROOT_TWO_PI - 0.5 + bernoulli_series(-1, z)
        right = series - f.where(near, f.log(product), 0.0)
        return f.log(math.pi / f.abs(f.sin(angle))) - right, right
    return by_reflection(left_and_right, x)


def polygamma(n, x):
    from numpy.polynomial import Polynomial

    def left_and_right(x, angle):
        z = x + SHIFT
        before = functools.reduce(operator.add, [(x + k) ** -(n + 1.0) for k in range(SHIFT)])
        lead = -f.log(z) if n == 0 else math.factorial(n - 1) * z ** -float(n)
        series = lead + math.factorial(n) * (f.half(z ** -(n + 1.0)) + before) + bernoulli_series(n, z)
        right, cot = (-1.0) ** (n + 1) * series, Polynomial([0, math.pi])  # π cot(πx), then its derivatives
        for _ in range(n):
            cot = -math.pi * cot.deriv() * Polynomial([1, 0, 1])
        c = f.cos(angle) / f.sin(angle)
        slope = functools.reduce(lambda total, a: total * c + a, cot.coef[::-1].tolist())
        return (-1.0) ** n * right - slope, right
    return by_reflection(left_and_right, x)


def sign_of_gamma(x):
    odd = f.equal(f.remainder(f.floor(x), 2.0), 1.0)
    return f.where(f.logical_and(f.less(x, 0), odd), -1.0, 1.0)


def gamma(x): return sign_of_gamma(x) * f.exp(gammaln(x))
def beta(a, b): return sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b) * f.exp(betaln(a, b))
def betaln(a, b): return gammaln(a) + gammaln(b) - gammaln(a + b)
