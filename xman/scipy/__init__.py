"""SciPy with special, linalg and stats for traced values too: `from xman.scipy.special import logsumexp`.

Of SciPy's own functions only the ufuncs (scipy.special.erf) accept traced values. The others turn them into
plain arrays, which is an error; the functions here do not. On plain arrays they are SciPy's own.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..traced.arraylike import is_traced


def both(theirs: Callable, ours: Callable) -> Callable:
    """The function that is `theirs` on plain arrays and `ours` on traced values."""
    @functools.wraps(theirs)
    def function(*args, **options):
        return (ours if is_traced((args, options)) else theirs)(*args, **options)
    return function


def room(module: str, ours: Mapping[str, Callable]) -> tuple[Callable, Callable]:
    """__getattr__ and __dir__ for a module like SciPy's of that name, with our functions on traced values."""
    def attribute(name: str) -> Any:
        theirs = getattr(importlib.import_module(module), name)
        return both(theirs, ours[name]) if name in ours else theirs

    return attribute, lambda: dir(importlib.import_module(module))


def __getattr__(name: str) -> Any:
    if name in ("special", "linalg", "stats"):
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module("scipy"), name)
