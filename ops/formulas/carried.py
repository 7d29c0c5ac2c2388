"""The arrays of any library as values of the language, so that formulas run on them."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..writer import Shaped, Writer


class Library(Writer):
    """The operators of a library of arrays, by a table: what is written is computed at once."""

    def __init__(self, table: Mapping[str, Callable]): self.table = table

    def write(self, op: str, args: Iterable[Any]) -> Any:
        return self.carried(self.table[op](*[a.value if isinstance(a, Carried) else a for a in args]))

    def carried(self, a: Any) -> Any:
        """An array as Carried; a literal as it is."""
        return Carried(a, self) if hasattr(a, "shape") and not isinstance(a, (np.generic, Carried)) else a


class Carried(Shaped):
    """An array of another library, which a formula takes for one of NumPy's."""

    __slots__ = ("value",)

    def __init__(self, value: Any, library: Library):
        super().__init__(library)
        self.value = value

    shape = property(lambda self: tuple(self.value.shape))
    dtype = property(lambda self: dtype_of(self.value))

    def constant(self, a: np.ndarray) -> Any: return self.record("astype", (a, (a.dtype.name,)))

def dtype_of(a: Any) -> np.dtype:
    """The dtype of an array of any library, as NumPy's."""
    return a.dtype if isinstance(a.dtype, np.dtype) else np.dtype(str(a.dtype).rpartition(".")[2])


def through(formula: Callable, table: Mapping[str, Callable]) -> Callable:
    """A formula of the language as a function of the library's arrays."""
    library = Library(table)

    @functools.wraps(formula)
    def row(*args):
        result = formula(*map(library.carried, args))
        return result.value if isinstance(result, Carried) else result
    return row
