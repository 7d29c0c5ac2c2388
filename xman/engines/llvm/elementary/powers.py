"""More functions that LLVM vectorises: powers, sine and cosine. See `formulas`, for the sources too."""
from __future__ import annotations

import math

import numpy as np

from . import formulas as base
from .formulas import EXPM1, above, below, bits, horner, nearest_whole, number, signed, where

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def front(x):
    """x, cut to its first 26 bits: the product of two such numbers is exact."""
    return number(bits(x) & -(1 << x.digits + 1 - 26))


# powers

# as LOG[4], more exactly
LOG_FOR_SINGLE = (0.6666666564340009, 0.40000335700445006, 0.28537273670517876, 0.23582856369140875)
# (3 log((1 + s)/(1 − s))/2s − 3 − s²)/s⁴ in s²
CUBIC = (0.600000000000034, 0.4285714285514387, 0.3333333378089962, 0.27272676459036804, 0.23080140338552801,
         0.1988512290417904, 0.19795478590214213)


def two_to(z, remainder, coefficients):
    """y and k: 2^(z + remainder) = 2ᵏ y."""
    n, k = nearest_whole(z)
    r = above(below((z - n + remainder) * math.log(2), 1.0), -1.0)
    return 1.0 + (r + r * r * horner(r, coefficients)), k


def power_in_double(a, y):
    """aʸ for a > 0 of float32, both as float64."""
    n, m = base.exponent(a)
    f = m - 1.0
    h, t = base.log_terms(f, LOG_FOR_SINGLE)
    z = y * (base.floating(n) + (f - (h - t)) * (1 / math.log(2)))
    q, k = two_to(above(below(z, 999.0), -999.0), 0.0, EXPM1[4])
    return q * base.two(k)


def power_in_parts(a, y):
    """aʸ for a > 0, log2 a in two parts (fdlibm): log m = 2s/3 (3 + s² + s⁴ P(s²)), s = (m − 1)/(m + 1)."""
    n, m = base.normal_exponent(a)
    f = m - 1.0
    d = 2.0 + f
    s = f / d
    s1, d1 = front(s), front(d)
    s2 = ((f - s1 * d1) - s1 * (f - (d1 - 2.0))) / d
    tail = s2 * (s1 + s) + s * s * (s * s) * horner(s * s, CUBIC)
    t1 = front(3.0 + s1 * s1 + tail)
    t2 = tail - ((t1 - 3.0) - s1 * s1)
    v = s2 * t1 + t2 * s
    p1 = front(s1 * t1 + v)
    p2 = v - (p1 - s1 * t1)
    c1, c2 = 0.9617966860532761, 7.872699542894897e-09  # 2/(3 ln 2), the first of 26 bits
    l = p1 * c2 + p2 * (c1 + c2)
    l1 = front(p1 * c1 + l + n)
    l2 = l - ((l1 - n) - p1 * c1)
    y1 = front(y)
    z = above(below(y1 * l1, 1100.0), -1100.0)
    return base.scaled(*two_to(z, (y - y1) * l1 + y * l2, EXPM1[8]))


def power(x, y):
    """x to the power y, to 0.6 and 1.2 ulp."""
    a, b = abs(x), abs(y)
    enough = above(below(y, 2.0 ** 66), -2.0 ** 66)  # by these any base but 1 overflows or underflows
    z = (power_in_parts(a, enough) if x.dtype == DOUBLE else
         power_in_double(a.to(DOUBLE), enough.to(DOUBLE)).to(SINGLE))
    z = where((a > 0.0) & (a < math.inf), z, where((a < 1.0) ^ (y < 0.0), z.like(0.0), math.inf))
    unit = 2.0 ** x.digits  # from `unit` on all floats are whole numbers, and from twice `unit` on even ones
    is_whole = ((b + unit) - unit == b) | (b > unit)
    odd = is_whole & ~((0.5 * b + unit) - unit == 0.5 * b) & (b < 2.0 * unit)
    z = where(odd, signed(z, x), where((x < 0.0) & (a < math.inf) & ~is_whole, math.nan, z))
    return where((x == 1.0) | (y == 0.0), 1.0, where((x == x) & (y == y), z, math.nan))


# sine and cosine

# (sin(r)/r − 1)/r² and (cos(r) − 1 + r²/2)/r⁴ in r², |r| ≤ π/4
SIN = (-0.16666666666666632, 0.008333333333322472, -0.0001984126982983568, 2.7557313697334093e-06, -2.5050758486623442e-08,
       1.5896796026709128e-10)
COS = (0.0416666666666666, -0.0013888888888874457, 2.4801587289652865e-05, -2.7557314393872357e-07, 2.087572811176282e-09,
       -1.13598650544242e-11)


NEAR = 2.0 ** 20


def quarter_turns(a):
    """n, r and remainder, where a = (n + 4k) π/2 + r + remainder, |r| ≤ π/4, 0 ≤ a < NEAR (Cody, Waite)."""
    # π/2, the first two of 33 bits
    c1, c2, c3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
    n, k = nearest_whole(a * (2 / math.pi))
    x, y = a - n * c1, n * c2
    r = x - y
    return k, r, ((x - r) - y) - n * c3


def circular(x, quarters):
    """sin(x + quarters·π/2) for each of the quarters, 0 or 1 of them; of 0 without the sign of x."""
    a = abs(x)
    k, r, remainder = quarter_turns(a.to(DOUBLE))
    z = r * r
    h = 0.5 * z
    sin = r + (r * z * horner(z, SIN) + (remainder - remainder * h))
    cos = (1.0 - h) + (((1.0 - (1.0 - h)) - h) + (z * z * horner(z, COS) - r * remainder))
    for n in (k + q for q in quarters):
        y = number(bits(where((n & 1) == 0, sin, cos)) ^ ((n & 2) << 62))
        yield where(a < math.inf, y.to(x.dtype), math.nan)


def sin(x):
    """0.6 and 1.3 ulp."""
    y, = circular(x, [0])
    return signed(y, x)


def cos(x):
    """0.6 and 1.4 ulp."""
    y, = circular(x, [1])
    return y


def sin_and_cos(x):
    """sin and cos."""
    y, z = circular(x, [0, 1])
    return signed(y, x), z


# what serves for |x| ≥ NEAR, where the formulas do not: functions of C, one number after the other
FAR = {sin: ["sin"], cos: ["cos"], sin_and_cos: ["sin", "cos"]}
