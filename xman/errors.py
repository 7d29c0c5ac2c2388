"""XManError, the one exception for what a user can mend; its message says how to mend it."""
from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Iterable
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ops.expression import habit, nearest

F = TypeVar("F", bound=Callable[..., Any])


class XManError(ValueError):
    """A list, a model, a value or a file is not what it should be."""


def refuse_unknown(names: Iterable, choices: Collection, sentence: str) -> None:
    """XManError unless all names are choices: the sentence, {!r} the first that is none, and the choices."""
    if strange := [name for name in names if name not in choices]:
        first, words = strange[0], [*map(str, choices)]
        raise XManError(f"{sentence.format(first)}; there are {', '.join(words)}{nearest(str(first), words)}")


def at_least(name: str, value: Any, least: float, whole_number: bool = False) -> None:
    """XManError unless the value is a finite number, or a whole number, that is at least `least`."""
    kinds = (int, np.integer) if whole_number else (int, float, np.number)
    if not isinstance(value, kinds) or not least <= value < np.inf:
        raise XManError(f"{name} is a {'whole ' * whole_number}number of at least {least}, not {value!r}")


def suggesting(package: str) -> None:
    """Let the package say which name is near to one that it lacks. Type checkers see no __getattr__."""
    def missing(name):
        hint = habit(name) or nearest(name, dir(module))
        raise AttributeError(f"{package} has no attribute {name!r}{hint}")
    module = importlib.import_module(package)
    module.__getattr__ = missing
    del module.suggesting  # it is no name of the package's


def with_habits(function: F) -> F:
    """The function; an option that JAX or PyTorch has and it lacks is answered with what it is here."""
    parameters = inspect.signature(function).parameters
    names = frozenset(parameters)
    places = () if "VAR_POSITIONAL" in [p.kind.name for p in parameters.values()] else tuple(
        [name for name, p in parameters.items() if p.kind is not p.KEYWORD_ONLY])

    # not in a closure, which jit would compare at each call of a function that names this one
    @functools.wraps(function)
    def call(*args, _of=function, _names=names, _places=places, **options):
        if _places and len(args) > len(_places):
            raise TypeError(f"{_of.__name__} takes {' and '.join(_places)} by position, and all else by name")
        for name in options.keys() - _names:
            here = habit(name + "=") or nearest(name, _names)
            raise TypeError(f"{_of.__qualname__.removesuffix('.__init__')} takes no {name}={here}")
        return _of(*args, **options)
    return call


def extra(module: str, name: str, purpose: str) -> ModuleType:
    """The module, imported now. If it is not installed, XManError names the extra that brings it, and why."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise XManError(f"{purpose} needs the package {module.split('.')[0]}: pip install "
                        f"'xman[{name}]'") from None
