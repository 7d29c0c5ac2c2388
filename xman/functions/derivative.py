"""What all derivatives of functions have: a function they are of, a name, a way to another process."""
from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from types import MethodType
from typing import Any

from ..errors import XManError


def name_of(fn: Callable) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def callable_or_refused(what: str, fn: Any) -> None:
    if not callable(fn):
        raise XManError(f"{what} takes a function, and found {type(fn).__name__}; write {what}(fn), and the "
                        "numbers after it")


class Derivative(partial):
    """A derivative of fn, with its signature; pickled and copied as what makes it, make(fn, *settings)."""

    def __new__(cls, make: Callable, fn: Callable, run: Callable, *settings: Any) -> Derivative:
        self = super().__new__(cls, run)
        self.__name__, self.__doc__ = f"{make.__name__}_{name_of(fn)}", f"{make.__name__} of {name_of(fn)}."
        self.__wrapped__, self.made = fn, (make, (fn, *settings))
        return self

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __reduce__(self) -> tuple:
        if "<" in (name := getattr(self.__wrapped__, "__qualname__", "")):
            raise XManError(f"{self.__name__} cannot be pickled: another process finds a function by its "
                            f"name in a file, and {name} has none there; write it with def at the top of a "
                            "file")
        return self.made

    def __deepcopy__(self, memo: dict) -> Derivative:
        make, parts = self.made
        return make(*deepcopy(parts, memo))
