"""What notebooks show of an object is written by the explorer, which is imported when an object is shown."""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any


def in_notebooks(name: str) -> Callable[[Any], str | None]:
    """A method `_repr_html_`: what the explorer's function of that name writes; without Jinja2, nothing."""
    return lambda self: (importlib.util.find_spec("jinja2")
                         and getattr(importlib.import_module("xman.explorer.display"), name)(self))
