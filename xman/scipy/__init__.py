"""SciPy, but special, linalg and stats take traced values: `from xman.scipy.special import logsumexp`.

SciPy hands traced values over only from its ufuncs (scipy.special.erf). Its other functions turn them into
plain arrays, which is refused; the same functions from here do not. On plain arrays they are SciPy's own.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..traced.arraylike import is_traced


def both(theirs: Callable, ours: Callable) -> Callable:
    """SciPy's function on plain arrays, ours on traced values."""
    @functools.wraps(theirs)
    def function(*args, **options):
        return (ours if is_traced((args, options)) else theirs)(*args, **options)
    return function


def room(module: str, ours: Mapping[str, Callable]) -> tuple[Callable, Callable]:
    """__getattr__ and __dir__ of a module that is SciPy's of that name, with ours on traced values."""
    def found(name: str) -> Any:
        theirs = getattr(importlib.import_module(module), name)
        return both(theirs, ours[name]) if name in ours else theirs

    return found, lambda: dir(importlib.import_module(module))


def __getattr__(name: str) -> Any:
    if name in ("special", "linalg", "stats"):
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module("scipy"), name)
