"""What notebooks show of an object is written by the explorer, which is imported when an object is shown."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def in_notebooks(name: str) -> Callable[[Any], str]:
    """A method `_repr_html_`: what the explorer's function of that name writes of an object."""
    return lambda self: getattr(importlib.import_module("xman.explorer.display"), name)(self)
