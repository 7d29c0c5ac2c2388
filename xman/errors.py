"""XManError, the one exception for what a user can mend; its message says how to mend it."""
from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable
from types import ModuleType

from ops.expression import nearest


class XManError(ValueError):
    """A list, a model, a value or a file is not what it should be."""


def refuse_unknown(names: Iterable, known: Collection, sentence: str) -> None:
    """XManError unless all names are known: the sentence, {!r} the first unknown name, and the known ones."""
    if strange := [name for name in names if name not in known]:
        first, words = strange[0], [*map(str, known)]
        raise XManError(f"{sentence.format(first)}; there are {', '.join(words)}{nearest(str(first), words)}")


def suggesting(package: str) -> None:
    """Let the package say which name is near to one that it lacks. Type checkers see no __getattr__."""
    def missing(name): raise AttributeError(f"{package} has no attribute {name!r}{nearest(name, dir(here))}")
    (here := importlib.import_module(package)).__getattr__ = missing
    del here.suggesting


def extra(module: str, name: str, purpose: str) -> ModuleType:
    """The module, imported now. If it is not installed, XManError names the extra that brings it, and why."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise XManError(f"{purpose} needs the package {module.split('.')[0]}: pip install "
                        f"'xman[{name}]'") from None
