"""Values without derivative: comparisons, logic, roundings, positions, and the stop."""
from __future__ import annotations

import numpy as np

from .table import operator


def argmax(x, axis=None):
    """The position of the first greatest x along axis; in the flattened x for None."""
    return np.argmax(x, axis)


def argsort(x, axis=-1):
    """The positions of the entries of x in ascending order along axis, equal ones in their own order."""
    return np.argsort(x, axis, kind="stable")


def detSign(a):
    """The sign of the determinant of a: −1, 0 or 1."""
    return np.linalg.slogdet(a)[0]


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
operator("signbit",      np.signbit,     None)
operator("floor",        np.floor,       None)
operator("ceil",         np.ceil,        None)
operator("round",        round_,         None, None)
operator("trunc",        np.trunc,       None)
operator("floor_divide", np.floor_divide, None, None)
operator("argmax",       argmax,         None, None)
operator("argsort",      argsort,        None, None)
operator("detSign",      detSign,        None)
operator("stopGradient", stopGradient,   None)
