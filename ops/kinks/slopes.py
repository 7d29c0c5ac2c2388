"""What a row may state as its slope, and `send`, the one product of a delta or a tangent with it."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..expression import f
from ..silence import silent
from .masked import unclear


class over(NamedTuple):
    """The slope times/divisor, which `send` applies by dividing: d / x has other bits than d · (1/x).

    or_nothing: 0/0 is 0 (`ratio`). negative: the sign comes last, as in -(d * out / y).
    """
    divisor: Any
    times: Any = 1
    or_nothing: bool = False
    negative: bool = False

    def __neg__(self) -> over: return self._replace(negative=not self.negative)


class only(NamedTuple):
    """The slope 1 where a condition holds, else 0, or any share of d: what is left out sends nothing."""
    share: Any


class branch(NamedTuple):
    """The slope `yes` where c holds, else `no`: a product with the other one is not even NaN."""
    c: Any
    yes: Any = 1
    no: Any = 0


def send(d: Any, slope: Any) -> Any:
    """d · slope, the one product of all entrywise rules: a delta on its way back, a tangent on its way forth.

    slope: an array, a number, one of the above, a linear operator as f.half, or a tuple of such factors,
    which are applied in order.
    """
    kind = type(slope)
    if kind is int or kind is float:  # a slope that is the same everywhere
        return d if slope == 1 else -d if slope == -1 else d * slope  # for speed alone
    if kind is over:
        d = send(d, slope.times)
        if type(d) is float:
            d = np.float64(d) if type(slope.divisor) in (int, float) else d  # 1/0 is ∞
        d = f.ratio(d, slope.divisor) if slope.or_nothing else d / slope.divisor
        return -d if slope.negative else d
    if kind is only:
        return f.scale(slope.share, d)
    if kind is branch:
        sent = [0.0 if type(s) is int and s == 0 else send(d, s) for s in (slope.yes, slope.no)]
        return f.where(slope.c, *sent)
    if callable(slope):
        return slope(d)
    if kind is tuple:
        for factor in slope:
            d = send(d, factor)
        return d
    return d * slope


# ---- products in which 0 is nothing ------------------------------------------------------------------------

def scale(x: Any, w: Any) -> Any:
    """x·w, but 0 wherever x is 0, even if w is infinite or NaN: a branch that is not taken sends back 0."""
    return mended(np.multiply, x, w)


def ratio(x: Any, y: Any) -> Any:
    """x/y, but 0 wherever x is 0, even if y is 0, infinite or NaN."""
    return x / y if isinstance(y, float) and y == y != 0 else mended(np.divide, x, y)


@silent
def mended(operation: np.ufunc, x: Any, y: Any) -> Any:
    """operation(x, y), but 0 wherever x is 0, which alone can make a NaN of numbers: 0·∞ and 0/0."""
    result = operation(x, y)
    if not unclear(result):
        return result
    return np.where(np.equal(x, 0) & np.not_equal(result, result), np.zeros_like(result), result)[()]
