"""SciPy, whose special, linalg, signal and stats also take traced values: `from xman.scipy import special`.

Of SciPy's own functions only the ufuncs (scipy.special.erf) accept traced values. The others turn them into
plain arrays, which is an error; the functions here do not. On plain arrays they are SciPy's own.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..traced.arraylike import is_traced

# options of the routines that compute with arrays; of traced values they mean nothing
OF_ROUTINES = {"check_finite", "overwrite_a", "overwrite_b", "lapack_driver", "lwork"}


def plain_or_traced(on_arrays: Callable, on_traced: Callable) -> Callable:
    """A function that calls `on_traced` where an argument is traced, and else SciPy's own, `on_arrays`."""
    @functools.wraps(on_arrays)
    def function(*args, **options):
        if not is_traced((args, options)):
            return on_arrays(*args, **options)
        return on_traced(*args, **{name: x for name, x in options.items() if name not in OF_ROUTINES})
    return function


def module_like(module: str, on_traced: Mapping[str, Callable]) -> tuple[Callable, Callable]:
    """__getattr__ and __dir__ of a module like SciPy's of that name. on_traced: for traced values."""
    def attribute(name: str) -> Any:
        on_arrays = getattr(importlib.import_module(module), name)
        return plain_or_traced(on_arrays, on_traced[name]) if name in on_traced else on_arrays

    return attribute, lambda: dir(importlib.import_module(module))


def __getattr__(name: str) -> Any:
    if name in ("special", "linalg", "signal", "stats"):
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module("scipy"), name)
