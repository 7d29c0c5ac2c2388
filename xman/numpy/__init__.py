"""`import xman.numpy as np`: NumPy, with versions of those functions that NumPy lets nobody intercept.

For traced values `array`, `asarray` and their kin, `full`, `full_like`, `r_` and `c_` make a traced array
here. For other values, and under all other names, this module is NumPy.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy

from ..traced.arraylike import ArrayLike, is_traced
from ..traced.dispatch import call_numpy, cast_to
from ..traced.refusals import refuse

__all__ = numpy.__all__
sys.modules |= {f"{__name__}.{module}": getattr(numpy, module) for module in ("linalg", "random", "fft")}


def __getattr__(name: str) -> Any:
    return getattr(numpy, name)


def array_maker(function: Callable) -> Callable:
    """NumPy's function that makes an array of a list; the list may have traced values in it."""
    def array(a: Any, dtype: Any = None, *, ndmin: int = 0, **options: Any) -> Any:
        if not is_traced(a):
            return function(a, dtype, **options | ({"ndmin": ndmin} if ndmin else {}))
        x = a.as_numpy() if isinstance(a, ArrayLike) else numpy.stack([array(entry) for entry in a])
        x = numpy.reshape(x, (1,) * (ndmin - x.ndim) + x.shape)
        return x if dtype is None else cast_to(x, dtype)
    return array


array, asarray, asanyarray, ascontiguousarray, asfortranarray = map(array_maker, (
    numpy.array, numpy.asarray, numpy.asanyarray, numpy.ascontiguousarray, numpy.asfortranarray))


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if is_traced(fill_value):
        return numpy.broadcast_to(array(fill_value, dtype), shape)
    return numpy.full(shape, fill_value, dtype, **options)


def full_like(a: Any, fill_value: Any, **options: Any) -> Any:
    if is_traced(fill_value):
        return call_numpy(numpy.full_like, (a, array(fill_value)), options)
    return numpy.full_like(a, fill_value, **options)


class Joined:
    """numpy.r_ or numpy.c_, which also takes traced values."""

    def __init__(self, plain: Any, axis: int):
        self.plain, self.axis = plain, axis

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not is_traced(items):
            return self.plain[key]
        if isinstance(items[0], str):
            refuse("the letters of np.r_ and np.c_ have no operator here", "write np.concatenate or np.stack")
        arrays = [numpy.r_[entry] if isinstance(entry, slice) else array(entry) for entry in items]
        pairs = zip(items, arrays, strict=True)
        kind = numpy.result_type(*(entry if type(entry) in (int, float) else a.dtype for entry, a in pairs))
        shape = (-1,) if self.axis == 0 else (-1, 1)
        arrays = [a if a.ndim >= len(shape) else numpy.reshape(a, shape) for a in arrays]
        return numpy.concatenate([cast_to(a, kind) for a in arrays], self.axis)


r_, c_ = Joined(numpy.r_, 0), Joined(numpy.c_, -1)
