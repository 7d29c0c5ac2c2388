"""The arrays of any library as values of the language, so that formulas run on them."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..expression import Expression


class Carried(Expression):
    """An array of another library; its operators come from a table."""

    __slots__ = "table", "value"
    def __init__(self, value: Any, table: dict[str, Callable]): self.value, self.table = value, table
    shape = property(lambda self: tuple(self.value.shape))
    ndim = property(lambda self: len(self.value.shape))
    dtype = property(lambda self: dtype_of(self.value))

    def constant(self, a): return carried(self.table["astype"](a, (a.dtype.name,)), self.table)
    def astype(self, dtype): return self.record("astype", (self, (np.dtype(dtype).name,)))

    def record(self, op, args):
        return carried(self.table[op](*[a.value if isinstance(a, Carried) else a for a in args]), self.table)

    def __array_function__(self, function, types, args, options):
        if function in (np.shape, np.ndim):
            return self.shape if function is np.shape else self.ndim
        return super().__array_function__(function, types, args, options)


def carried(a: Any, table: dict[str, Callable]) -> Any:
    """An array as Carried; a literal as it is."""
    return Carried(a, table) if hasattr(a, "shape") and not isinstance(a, (np.generic, Carried)) else a


def dtype_of(a: Any) -> np.dtype:
    """The dtype of an array of any library, as NumPy's."""
    return a.dtype if isinstance(a.dtype, np.dtype) else np.dtype(str(a.dtype).rpartition(".")[2])


def through(formula: Callable, table: dict[str, Callable]) -> Callable:
    """A formula of the language as a function of arrays."""
    @functools.wraps(formula)
    def row(*args):
        result = formula(*[carried(a, table) for a in args])
        return result.value if isinstance(result, Carried) else result
    return row
