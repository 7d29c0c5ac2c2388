"""The one exception of xman for what a user can mend; its message is the sentence that says how."""
from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType


class XManError(ValueError):
    """A list, a model, a value or a file that is not what it should be."""


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean …?' where a known name is close to this one, else nothing."""
    import difflib  # wanted in an error alone
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def extra(module: str, name: str, purpose: str) -> ModuleType:
    """The module, imported now. XManError names the extra that brings it where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise XManError(f"{purpose} needs the package {module.split('.')[0]}: pip install 'xman[{name}]'") from None
