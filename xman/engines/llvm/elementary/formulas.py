"""Transcendental functions that LLVM vectorises: straight arithmetic, with selects, no branch, call or table.

    y = exp(Lane(f, 1, "float32", "%x"))  # appends instructions that compute y to the function f

A formula is a plain function of `Lane`s. What it does with them becomes LLVM instructions (`written`), which
a loop that calls them takes in. By a flag of theirs a product and a sum may become one FMA (`FUSED`).

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
from typing import Any, NamedTuple

import numpy as np

from ..function import literal, llvm_type

FUSED = "contract "


class Lane:
    """A number in a function that is being written, or `lanes` of them at once: arithmetic on it appends an
    instruction of LLVM's to the function f. A Python number is a literal.

    kind: the name of its type. name: its own.
    """
    def __init__(self, f: Any, lanes: int, kind: str, name: str):
        self.f, self.lanes, self.kind, self.name = f, lanes, kind, name
        self.format, self.float = SINGLE if kind.endswith("32") else DOUBLE, kind.startswith("float")
        one = llvm_type(np.dtype(kind))
        self.type = one if lanes == 1 else f"<{lanes} x {one}>"

    def __str__(self) -> str: return f"{self.type} {self.name}"
    def of(self, name: str, kind: str = "") -> Lane: return Lane(self.f, self.lanes, kind or self.kind, name)

    def like(self, x: Any) -> Lane:
        if isinstance(x, Lane):
            return x
        dtype = np.dtype(self.kind)
        each = literal(x, dtype)
        return self.of(each if self.lanes == 1
                       else f"<{', '.join([f'{llvm_type(dtype)} {each}'] * self.lanes)}>")

    def cast(self, instruction: str, kind: str) -> Lane:
        return self.of(self.f.do(f"{instruction} {self} to {self.of('', kind).type}"), kind)

    def emit(self, instruction: str, x: Any) -> Lane:
        word = f"f{instruction} {FUSED}" if self.float else f"{instruction} "
        return self.of(self.f.do(f"{word}{self}, {self.like(x).name}"))

    def compare(self, sign: str, x: Any) -> Lane:
        """False where one is NaN. Integers have no sign."""
        word = f"fcmp {FUSED}o{sign}" if self.float else f"icmp {'' if sign == 'eq' else 'u'}{sign}"
        return self.of(self.f.do(f"{word} {self}, {self.like(x).name}"), "bool")

    def __add__(x, y): return x.emit("add", y)
    def __radd__(x, y): return x.like(y) + x
    def __sub__(x, y): return x.emit("sub", y)
    def __rsub__(x, y): return x.like(y) - x
    def __mul__(x, y): return x.emit("mul", y)
    def __rmul__(x, y): return x.like(y) * x
    def __truediv__(x, y): return x.emit("div", y)
    def __rtruediv__(x, y): return x.like(y) / x
    def __neg__(x): return x.like(0) - x
    def __invert__(x): return x ^ -1
    def __and__(x, y): return x.emit("and", y)
    def __or__(x, y): return x.emit("or", y)
    def __xor__(x, y): return x.emit("xor", y)
    def __lshift__(x, y): return x.emit("shl", y)
    def __rshift__(x, y): return x.emit("lshr", y)
    def __lt__(x, y): return x.compare("lt", y)
    def __gt__(x, y): return x.compare("gt", y)
    def __eq__(x, y): return x.compare("eq", y)


def where(condition: Lane, x: Any, y: Any) -> Lane:
    """The select: both are computed."""
    x, y = (x, x.like(y)) if isinstance(x, Lane) else (y.like(x), y)
    return x.of(x.f.do(f"select {condition}, {x}, {y}"))


def bits(x): return x.cast("bitcast", x.kind.replace("float", "int"))
def number(i): return i.cast("bitcast", i.kind.replace("int", "float"))
def two(n): return number(n + n.format.bias << n.format.digits)  # 2ⁿ
def above(x, low): return where(x < low, low, x)  # NaN stays
def below(x, high): return where(x > high, high, x)
def magnitude(x): return number(bits(x) & ~x.format.sign)
def signed(y, x): return number(bits(y) ^ (bits(x) & x.format.sign))


def polynomial(x, coefficients):
    y = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


class Format(NamedTuple):
    """What the formulas know of float32 and float64."""
    digits: int                 # of the significand, after the first
    bias: int                   # of the exponent
    sign: int                   # its bit, as a signed integer
    # in two parts; the first is so short that its product with an exponent is exact
    ln2: tuple[float, float]
    expm1: tuple[float, ...]    # (eʳ − 1 − r)/r² in r, |r| ≤ ln 2/2
    log: tuple[float, ...]      # (log((1 + s)/(1 − s))/s − 2)/s² in s², √½ ≤ (1 + s)/(1 − s) ≤ √2
    erf: tuple[float, ...]      # erf(x)/x − 1 in x², |x| ≤ 1
    erfc: tuple[float, ...]     # log erfc(1 + t) in t, from 0 to where erf is 1
    erf_is_one: float

    def pattern(self, x: float) -> int:
        size = self.sign.bit_length() // 8
        return int(np.array(x, f"f{size}").view(f"u{size}"))


SINGLE = Format(23, 127, -1 << 31, (0.693115234375, 3.1946183e-05), erf_is_one=3.95,
                expm1=(0.49999997, 0.16666539, 0.04166776, 0.008367136, 0.0013835246),
                log=(0.66666776, 0.39977577, 0.29871073),
                erf=(0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.005187162, -0.0007997853, 7.806903e-05),
                erfc=(-1.8496056, -2.6389627, -0.8431724, -0.041264545, 0.0094643105, -0.0014966545, 9.558297e-05))
DOUBLE = Format(52, 1023, -1 << 63, (0.6931471805598903, 5.497923018708371e-14), erf_is_one=5.95,
                expm1=(0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321806, 0.0013888888888893673,
                       0.0001984126988530368, 2.480158727949949e-05, 2.7557245196026036e-06, 2.755732852264804e-07,
                       2.5108671526864834e-08, 2.089441568858766e-09),
                log=(0.6666666666666735, 0.3999999999940935, 0.2857142874368658, 0.2222219842896289, 0.18183572355999306,
                     0.153138321283093, 0.1479825926763295),
                erf=(0.12837916709551256, -0.37612638903183343, 0.11283791670936949, -0.02686617064195857, 0.005223977596727199,
                     -0.0008548325484316674, 0.0001205528046538631, -1.4924464776320754e-05, 1.6444136007433723e-06,
                     -1.6183845388090624e-07, 1.3615904556638834e-08, -7.605996613534366e-10),
                erfc=(-1.8496055099332482, -2.6389675142347837, -0.8431072563591072, -0.04156109803021729, 0.010033825226080005,
                      -0.0019779014781963642, 0.00023731739801823774, 2.6293891484979937e-05, -2.7194595547317232e-05,
                      9.665669205784815e-06, -2.1264764337362307e-06, 2.0095918400716844e-07, 6.000397595455943e-08,
                      -3.413570827010826e-08, 8.713912389072472e-09, -1.353072428375922e-09, 1.2284591764443657e-10,
                      -5.029058295762138e-12))


# exponentials


def nearest(x):
    """The integer nearest to x, as a number and as an integer, where |x| < 2^(digits − 1)."""
    shift = 1.5 * 2.0 ** x.format.digits
    t = x + shift
    return t - shift, bits(t) - x.format.pattern(shift)


def scaled(y, n):
    """2ⁿ y in two halves, so that it overflows and underflows as it should."""
    half = (n + 2 * y.format.bias >> 1) - y.format.bias
    return y * two(half) * two(n - half)


def bounded(x, octave):
    """x, but no further than where 2^(x/octave) overflows and underflows."""
    return above(below(x, (x.format.bias + 3) * octave), -(x.format.bias + x.format.digits + 1) * octave)


def small_expm1(r):
    return r + r * r * polynomial(r, r.format.expm1)


def reduced(x):
    """n and eʳ − 1, where x = n ln 2 + r and |r| ≤ ln 2/2 (Cody and Waite)."""
    high, low = x.format.ln2
    x = bounded(x, math.log(2))
    n, k = nearest(x * (1 / math.log(2)))
    return k, small_expm1(x - n * high - n * low)


def exp(x):
    """1.1 and 1.0 ulp."""
    n, q = reduced(x)
    return scaled(1.0 + q, n)


def expm1_parts(x):
    """y and n, where expm1(x) = 2ⁿ y: y = eʳ − 1 + (1 − 2⁻ⁿ)."""
    most = (x.format.digits + 3) * math.log(2)
    n, q = reduced(above(x, -most))
    return q + where(x < most, 1.0 - two(-n), 1.0), n


def expm1(x):
    """1.7 and 2.0 ulp."""
    return where(x == 0.0, x, scaled(*expm1_parts(x)))


def tanh(x):
    """2.6 and 2.6 ulp: with e = expm1(2|x|), e/(e + 2)."""
    a = magnitude(x)
    n, q = reduced(below(a + a, (x.format.digits + 6) * math.log(2)))
    e = q * two(n) + (two(n) - 1.0)
    return signed(e / (e + 2.0), x)


def sigmoid(x):
    """2.5 and 2.4 ulp."""
    e = exp(-magnitude(x))
    return where(x < 0.0, e, 1.0) / (1.0 + e)


def erf(x):
    """1.2 and 1.4 ulp: a + a P(a²) to a = |x| = 1, then 1 − erfc(a), whose logarithm is a polynomial."""
    p, a = x.format, magnitude(x)
    tail = exp(polynomial(below(a, p.erf_is_one) - 1.0, p.erfc))
    return signed(where(a < 1.0, a + a * polynomial(a * a, p.erf), 1.0 - tail), x)


# logarithms


def exponent(x):
    """n and m, where x = 2ⁿ m and √½ ≤ m < √2, for a normal number."""
    p = x.format
    n = (bits(x) + (p.pattern(1.0) - p.pattern(math.sqrt(0.5))) >> p.digits) - p.bias
    return n, number(bits(x) - (n << p.digits))


def floating(n):
    """An exponent as a number."""
    p = n.format
    return number(n + (p.bias + p.pattern(2.0 ** p.digits))) - (2.0 ** p.digits + p.bias)


def normal_exponent(x):
    """As `exponent`, for subnormals too, with n as a number."""
    tiny, shift = x < 2.0 ** (1 - x.format.bias), x.format.digits + 1.0
    n, m = exponent(where(tiny, x * 2.0 ** shift, x))
    return floating(n) - where(tiny, x.like(shift), 0.0), m


def log_terms(f, coefficients):
    """h and t, where log(1 + f) = f − (h − t): s = f/(2 + f), h = f²/2 and t = s (h + s² P(s²)) (fdlibm)."""
    s, h = f / (2.0 + f), 0.5 * f * f
    return h, s * (h + s * s * polynomial(s * s, coefficients))


def log_of(n, f):
    """log(2ⁿ (1 + f))."""
    (high, low), (h, t) = f.format.ln2, log_terms(f, f.format.log)
    return n * high + (f - (h - (t + n * low)))


def in_domain(y, x, pole):
    """y, or what a logarithm is at infinity, at its pole, below it and of NaN."""
    return where(x > pole, where(x < math.inf, y, x), where(x == pole, y.like(-math.inf), math.nan))


def log(x):
    """0.9 and 0.9 ulp."""
    n, m = normal_exponent(x)
    return in_domain(log_of(n, m - 1.0), x, 0.0)


def log_of_sum(u, lost):
    """log(u + lost), where lost is what u = 1 + x lost when it was rounded."""
    n, m = exponent(u)
    return log_of(floating(n), m - 1.0 + where(u > 2.0 ** (u.format.digits + 9), 0.0, lost * two(-n)))


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
    e = e + e * where(magnitude(lost) < 1.0, lost, 0.0)
    u = 1.0 + e
    return top + log_of_sum(u, e - (u - 1.0))
