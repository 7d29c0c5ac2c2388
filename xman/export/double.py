"""What ONNX Runtime computes in float32 alone, in terms of what it computes in float64."""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ops import f, facts_of
from ops.formulas.carried import through

LN2 = math.log(2.0)


def arctan(x):
    """What float32 says, y, and the rest by the addition theorem: so small an angle is its tangent."""
    y, x = f.astype(f.arctan(f.astype(x, ("float32",))), ("float64",)), f.minimum(f.maximum(x, -1e300), 1e300)
    return y + (x * f.cos(y) - f.sin(y)) / (f.cos(y) + x * f.sin(y))


def sinh(x):
    a = f.abs(x)
    return -f.sign(x) * f.exp(a - LN2) * f.expm1(-2.0 * a)


def arcsinh(x):
    a = f.abs(x)
    near = f.log1p(a + a * a / (1.0 + f.sqrt(1.0 + a * a)))
    return f.sign(x) * f.where(f.less(a, 1e150), near, f.log(a) + LN2)


DOUBLE: dict[str, Callable] = {
    "tan": lambda x: f.sin(x) / f.cos(x), "arctan": arctan, "sinh": sinh, "arcsinh": arcsinh,
    "det":     facts_of("det").elsewhere, "erf": facts_of("erf").elsewhere,
    "arcsin":  lambda x: arctan(x / f.sqrt((1.0 - x) * (1.0 + x))),
    "arccos":  lambda x: 2.0 * arctan(f.sqrt((1.0 - x) / (1.0 + x))),
    "cosh":    lambda x: f.exp(x - LN2) + f.exp(-x - LN2),
    "arccosh": lambda x: f.log1p(x - 1.0 + f.sqrt(x - 1.0) * f.sqrt(x + 1.0)),
    "arctanh": lambda x: f.half(f.log1p(2.0 * x / (1.0 - x))),
}


def in_either(table: dict[str, Callable], op: str) -> Callable:
    """The row of the table, which is a node, for float32, and the formula for float64."""
    single, double = table[op], through(lambda x: DOUBLE[op](f.astype(x, ("float64",))), table)
    return lambda x: (single if np.dtype(getattr(x, "dtype", float)) == np.float32 else double)(x)
