"""Values without derivative: comparisons, logic, roundings, positions, and the stop."""
from __future__ import annotations

import numpy as np

from .table import operator


def argmax(x, axis=None):
    """The position of the first greatest x along axis; in the flattened x for None."""
    return np.argmax(x, axis)


def round_(x, decimals=0):
    """x rounded to so many decimals, halves to even."""
    return np.round(x, decimals)


def stopGradient(x):
    """x, for which no adjoint is sent further."""
    return x


for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or"):
    operator(name, getattr(np, name), None, None)
operator("logical_not",  np.logical_not, None)
operator("isnan",        np.isnan,       None)
operator("isfinite",     np.isfinite,    None)
operator("floor",        np.floor,       None)
operator("ceil",         np.ceil,        None)
operator("round",        round_,         None, None)
operator("argmax",       argmax,         None, None)
operator("stopGradient", stopGradient,   None)
