"""scipy.stats with distributions that also take traced values: norm.logpdf, gamma.pdf …"""
from __future__ import annotations

import importlib
from typing import Any

from . import plain_or_traced
from .distributions import DISTRIBUTIONS


class Distribution:
    """SciPy's distribution of that name, or the frozen one with its parameters; ours for traced values."""

    def __init__(self, name: str, *args: Any, **options: Any):
        self.__dict__.update(name=name, args=args, options=options)

    def __call__(self, *args: Any, **options: Any) -> Distribution:
        return Distribution(self.name, *args, **options)

    def __getattr__(self, method: str) -> Any:
        if method.startswith("__"):
            raise AttributeError(method)
        attribute = getattr(getattr(importlib.import_module("scipy.stats"), self.name), method)
        if not callable(attribute):
            return attribute
        on_traced = DISTRIBUTIONS[self.name].get(method)
        function = plain_or_traced(attribute, on_traced) if on_traced else attribute
        return lambda *args, **options: function(*args, *self.args, **self.options | options)


def __getattr__(name: str) -> Any:
    scipy_stats = importlib.import_module("scipy.stats")
    return Distribution(name) if name in DISTRIBUTIONS else getattr(scipy_stats, name)


def __dir__() -> list[str]:
    return dir(importlib.import_module("scipy.stats"))
