"""The slope of each function of one number against mpmath's in 60 digits: from 1e±300 to the ends of its domain."""
import numpy as np
import pytest
from operator_cases import slope_by

from ops import G

mp = pytest.importorskip("mpmath", reason="the oracle is mpmath")
mp.mp.dps = 60


def logistic(x): return 1 / (1 + mp.exp(-x))
def edge(x): return mp.sqrt((1 - x) * (1 + x))


SLOPES = {
    "exp": mp.exp, "expm1": mp.exp, "exp2": lambda x: mp.log(2) * mp.power(2, x), "log": lambda x: 1 / x, "log1p": lambda x: 1 / (1 + x),
    "log2": lambda x: 1 / (x * mp.log(2)), "log10": lambda x: 1 / (x * mp.log(10)), "sqrt": lambda x: 1 / (2 * mp.sqrt(x)),
    "cbrt": lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2), "sin": mp.cos, "cos": lambda x: -mp.sin(x), "tan": lambda x: mp.sec(x) ** 2,
    "arcsin": lambda x: 1 / edge(x), "arccos": lambda x: -1 / edge(x), "arctan": lambda x: 1 / (1 + x * x), "sinh": mp.cosh, "cosh": mp.sinh,
    "tanh": lambda x: mp.sech(x) ** 2, "arcsinh": lambda x: 1 / mp.sqrt(1 + x * x), "arccosh": lambda x: 1 / mp.sqrt((x - 1) * (x + 1)),
    "arctanh": lambda x: 1 / ((1 - x) * (1 + x)), "erf": lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    "erfc": lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x), "gammaln": mp.digamma, "digamma": lambda x: mp.polygamma(1, x),
    "Gamma": lambda x: mp.gamma(x) * mp.digamma(x), "sigmoid": lambda x: logistic(x) * logistic(-x), "logSigmoid": lambda x: logistic(-x),
    "softplus": logistic, "silu": lambda x: logistic(x) * (1 + x * logistic(-x)), "gelu": lambda x: mp.ncdf(x) + x * mp.npdf(x),
    "elu": lambda x: 1 if x > 0 else mp.exp(x), "logNdtr": lambda x: mp.npdf(x) / mp.ncdf(x), "reciprocal": lambda x: -1 / (x * x),
    "erfcx": lambda x: 2 * x * mp.exp(x * x) * mp.erfc(x) - 2 / mp.sqrt(mp.pi), "expi": lambda x: mp.exp(x) / x,
    "dawsn": lambda x: 1 - x * mp.sqrt(mp.pi) * mp.exp(-x * x) * mp.erfi(x), "lambertw": lambda x: 1 / (x + mp.exp(mp.lambertw(x))),
    "ellipk": lambda x: mp.pi / 8 * mp.hyp2f1(1.5, 1.5, 2, x), "ellipe": lambda x: -mp.pi / 8 * mp.hyp2f1(.5, 1.5, 2, x),
    "square": lambda x: 2 * x, "one_minus_square": lambda x: -2 * x}
# what is right to 1e-12 of 1 alone, and why: a slope from the result is the notes' own, and saves an exponential an entry
OF_ONE = {"tanh": "1 − out²", "sigmoid": "out (1 − out)", "elu": "out + alpha", "gelu": "Φ of erf"}
SATURATING = {*OF_ONE, "silu", "logNdtr", "softplus", "logSigmoid", "erf", "erfc", "exp", "expm1", "exp2", "sinh", "cosh", "erfcx", "dawsn", "expi"}
DECADES = np.array([s * m * 10.0 ** k for k in [*range(-300, 301, 75), -155, 153, *range(-20, 21, 4), -1, 1] for m in (1.0, 3.3) for s in (1, -1)])
NEAR = 10.0 ** -np.arange(1.0, 16.0, 1.5)
ENDS = [end + side * NEAR for end in (1.0, -1.0, -2.0) for side in (1, -1)]
POINTS = np.unique(np.concatenate([DECADES, np.linspace(-40, 40, 33) + 0.013, np.linspace(-700, 700, 15), *ENDS]))


@pytest.mark.parametrize("op", SLOPES)
def test_a_slope_is_right_to_twelve_digits_wherever_the_function_is_a_number(op):
    x = POINTS[abs(POINTS) < 1e5] if op in SATURATING else POINTS
    if op in ("gammaln", "Gamma", "digamma"):  # not at the poles, nor where there is one in each gap of floats
        x = x[(x > 0) | (x > -1e3) & (x != np.round(x))]
    with np.errstate(all="ignore"):
        out = G[op](x)
        slopes = np.broadcast_to(slope_by(op, 0)(out, x), x.shape)
    number = ~np.isnan(out)
    for place, slope in zip(x[number], slopes[number], strict=True):
        try:
            wanted = SLOPES[op](mp.mpf(float(place)))
        except ZeroDivisionError:
            continue
        if abs(wanted) > 1e308 or abs(wanted) < 1e-305:  # beyond what floats hold in all their digits
            assert abs(slope) > 1e307 or abs(slope) < 1e-303, place
        else:
            assert abs(mp.mpf(float(slope)) - wanted) <= 1e-12 * (max(abs(wanted), 1) if op in OF_ONE else abs(wanted)), place
