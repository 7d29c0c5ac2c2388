"""Transcendental functions that LLVM vectorises: only arithmetic and selects, without branches, calls or
tables.

    y = exp(Number(Function({}), "%x", np.dtype(np.float32)))  # appends instructions that compute y

A formula is a plain function of `Number`s. Its operations become LLVM instructions (`written`), which are
inlined into loops. They have a flag by which a product and a sum may become one FMA.

NaN, infinities, signed zeros, subnormals and overflow are NumPy's. The errors in the docstrings are the
largest that were found, in units in the last place, in float32 and float64, fused or not. Polynomials have
rising powers; they are minimax fits (Remez) made for this file, in which the coefficient that matters most
was rounded first and the others were fitted again.

Sources: Cody and Waite, Software Manual for the Elementary Functions (1980), and Moshier, Cephes (1992), for
exponentials; Sun Microsystems, fdlibm (1993), for logarithms; Knuth, TAOCP 2 (1997) §4.2.2, for what a sum
lost when it was rounded.
"""
from __future__ import annotations

import math

import numpy as np

from ops import f as language

from ..arithmetic import bits

where = language.where  # a select: both are computed


def number(i): return i.cast("bitcast", np.dtype(f"f{i.size}"))
def two(n): return number(n + n.bias << n.digits)  # 2ⁿ
def above(x, low): return where(x < low, low, x)  # NaN remains NaN
def below(x, high): return where(x > high, high, x)
def signed(y, x): return number(bits(y) ^ (bits(x) & -1 << 8 * x.size - 1))
def pattern(x, value): return int(np.array(value, f"f{x.size}").view(f"u{x.size}"))  # of a float like x


def horner(x, coefficients):
    y = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


# by the bytes of a float: ln 2 in two parts; the first is so short that its product with an exponent is exact
LN2 = {4: (0.693115234375, 3.1946183e-05), 8: (0.6931471805598903, 5.497923018708371e-14)}
# (eʳ − 1 − r)/r² in r, |r| ≤ ln 2/2
EXPM1 = {4: (0.49999997, 0.16666539, 0.04166776, 0.008367136, 0.0013835246),
         8: (0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321806, 0.0013888888888893673, 0.0001984126988530368,
             2.480158727949949e-05, 2.7557245196026036e-06, 2.755732852264804e-07, 2.5108671526864834e-08, 2.089441568858766e-09)}
# (log((1 + s)/(1 − s))/s − 2)/s² in s², √½ ≤ (1 + s)/(1 − s) ≤ √2
LOG = {4: (0.66666776, 0.39977577, 0.29871073),
       8: (0.6666666666666735, 0.3999999999940935, 0.2857142874368658, 0.2222219842896289, 0.18183572355999306, 0.153138321283093,
           0.1479825926763295)}
# −log(1 − erf(x))/x − 1 in x, from 0 to where erf is 1
ERF = {4: (0.12837917, 0.63661957, 0.102776304, -0.019147826, -0.00016948496, 0.001675642, -0.00063733605,
           0.00011885149, -9.386685e-06),
       8: (0.12837916709551256, 0.6366197723675836, 0.10277260330178874, -0.019128447005069795,
           -0.00020919469484828113, 0.0016962063857829204, -0.0005901255530576301, 2.5878604766381236e-05,
           6.449185984178812e-05, -2.9724044724143787e-05, 3.4072641769159616e-06, 2.8351408820633674e-06,
           -1.7415474885916763e-06, 3.3636448342935993e-07, 1.3718213653876066e-07, -1.4176185589869034e-07,
           6.573339876240677e-08, -2.0962608639214017e-08, 4.9976910896920676e-09, -9.082201136731292e-10,
           1.2484067568641361e-10, -1.2610983021493444e-11, 8.845582402671825e-13, -3.8505421786203677e-14,
           7.834251146794215e-16)}
ERF_IS_ONE = {4: 3.95, 8: 5.95}


# exponentials


def nearest_whole(x):
    """The integer nearest to x, as a number and as an integer, where |x| < 2^(digits − 1)."""
    shift = 1.5 * 2.0 ** x.digits
    t = x + shift
    return t - shift, bits(t) - pattern(x, shift)


def scaled(y, n):
    """2ⁿ y, by two factors, so that it overflows and underflows at the right places."""
    biased = n + 2 * y.bias
    half = biased >> 1
    return y * number(half << y.digits) * number(biased - half << y.digits)


def clamped(x):
    """x, or the bound next to it, where exp(x) has already overflowed or underflowed."""
    return above(below(x, (x.bias + 3) * math.log(2)), -(x.bias + x.digits + 1) * math.log(2))


def reduced(x, remainder=None):
    """n and eʳ − 1, where x + remainder = n ln 2 + r and |r| ≤ ln 2/2 (Cody and Waite), for a clamped x."""
    high, low = LN2[x.size]
    n, k = nearest_whole(x * (1 / math.log(2)))
    r = x - n * high - n * low
    terms = r * r * horner(r, EXPM1[r.size])
    return k, r + (terms if remainder is None else terms + remainder)


def exp(x):
    """1.1 and 1.0 ulp."""
    n, q = reduced(clamped(x))
    return scaled(1.0 + q, n)


def expm1(x):
    """1.7 and 2.0 ulp: 2ⁿ (eʳ − 1 + (1 − 2⁻ⁿ))."""
    limit = (x.digits + 3) * math.log(2)
    n, q = reduced(clamped(above(x, -limit)))
    return where(x == 0.0, x, scaled(q + where(x < limit, 1.0 - two(-n), 1.0), n))


def tanh(x):
    """2.6 and 2.6 ulp: with e = expm1(2|x|), e/(e + 2)."""
    a = abs(x)
    n, q = reduced(below(a + a, (x.digits + 6) * math.log(2)))
    e = q * two(n) + (two(n) - 1.0)
    return signed(e / (e + 2.0), x)


def sigmoid(x):
    """2.5 and 2.4 ulp."""
    e = exp(-abs(x))
    return where(x < 0.0, e, 1.0) / (1.0 + e)


def erf(x):
    """1.4 and 1.3 ulp: −expm1(−a − a P(a)) of a = |x|."""
    a = below(abs(x), ERF_IS_ONE[x.size])
    p = a * horner(a, ERF[x.size])
    q = a + p
    n, e = reduced(-q, (q - a) - p)
    return signed((1.0 - two(n)) - e * two(n), x)


# logarithms


def exponent(x):
    """n and m, where x = 2ⁿ m and √½ ≤ m < √2, for a normal number."""
    n = (bits(x) + (pattern(x, 1.0) - pattern(x, math.sqrt(0.5))) >> x.digits) - x.bias
    return n, number(bits(x) - (n << x.digits))


def floating(n):
    """The exponent n, a whole number, as a float."""
    return number(n + (n.bias + pattern(n, 2.0 ** n.digits))) - (2.0 ** n.digits + n.bias)


def normal_exponent(x):
    """As `exponent`, for subnormals too, with n as a number."""
    tiny, shift = x < 2.0 ** (1 - x.bias), x.digits + 1.0
    n, m = exponent(where(tiny, x * 2.0 ** shift, x))
    return floating(n) - where(tiny, x.like(shift), 0.0), m


def log_terms(f, coefficients):
    """h and t, where log(1 + f) = f − (h − t): s = f/(2 + f), h = f²/2 and t = s (h + s² P(s²)) (fdlibm)."""
    s, h = f / (2.0 + f), 0.5 * f * f
    return h, s * (h + s * s * horner(s * s, coefficients))


def log_of(n, f):
    """log(2ⁿ (1 + f))."""
    (high, low), (h, t) = LN2[f.size], log_terms(f, LOG[f.size])
    return n * high + (f - (h - (t + n * low)))


def in_domain(y, x, pole):
    """The logarithm y of x; or ∞ where x = ∞, −∞ where x is the pole, and NaN below it and for NaN."""
    return where(x > pole, where(x < math.inf, y, x), where(x == pole, y.like(-math.inf), math.nan))


def log(x):
    """0.9 and 0.9 ulp."""
    n, m = normal_exponent(x)
    return in_domain(log_of(n, m - 1.0), x, 0.0)


def log_of_sum(u, lost):
    """log(u + lost), where lost is what u = 1 + x lost when it was rounded."""
    n, m = exponent(u)
    return log_of(floating(n), m - 1.0 + where(u > 2.0 ** (u.digits + 9), 0.0, lost * two(-n)))


def log1p(x):
    """1.4 and 1.4 ulp."""
    u = 1.0 + x
    y = log_of_sum(u, (x - (u - 1.0)) + (1.0 - (u - (u - 1.0))))
    return where(x == 0.0, x, in_domain(y, x, -1.0))


def logaddexp(x, y):
    """3.8 and 3.2 ulp, but near 0, where the two cancel, of the larger argument: that plus log1p(eᵈ)."""
    top, low = where(x > y, x, y), where(x > y, y, x)
    d = low - top
    lost = (low - (d + top)) + (((d + top) - d) - top)  # d + lost is exact
    e = exp(where(x == y, 0.0, d))
    e = e + e * where(abs(lost) < 1.0, lost, 0.0)
    u = 1.0 + e
    return top + log_of_sum(u, e - (u - 1.0))
