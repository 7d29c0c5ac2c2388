"""The arguments of a function: how many it takes, their names, and their defaults."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

MANY = 2 ** 31 - 1  # arguments, of an operator that takes any number
missing = object()      # in the place of an argument that was not given


def arity(function: Callable) -> tuple[int, int]:
    """The least and the greatest number of arguments that a function takes by position, (0, MANY) if it does not say."""
    if isinstance(function, np.ufunc):
        return function.nin, function.nin
    code = getattr(function := undecorated(function), "__code__", None)
    if code is None:
        return 0, MANY
    most = code.co_argcount - hasattr(function, "__self__")
    return most - len(function.__defaults__ or ()), MANY if code.co_flags & 4 else most


def undecorated(function: Callable) -> Callable:
    """The function without its decorators, which take anything."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def takes(function: Callable) -> str:
    """'2 arguments', '1 to 3 arguments', 'at least 1 argument': what `arity` says, in words."""
    least, most = arity(function)
    count = f"{least}" if least == most else f"at least {least}" if most == MANY else f"{least} to {most}"
    return f"{count} argument{'s' * (count not in ('1', 'at least 1'))}"


def positional(op: str, value: Callable, args: tuple, named: dict) -> tuple:
    """The arguments by position alone, as a list holds them: f.sum(x, keepdims=True) is sum(x, None, True)."""
    names, defaults = parameters(value)
    given, rest = [*args], names[len(args):]
    for name in rest:
        given.append(named.pop(name) if name in named else defaults.get(name, missing))
    if named:
        raise TypeError(f"{op} has no argument {next(iter(named))!r}; it takes {', '.join(names) or takes(value)}")
    while len(given) > len(args) and given[-1] is defaults.get(names[len(given) - 1], missing):
        given.pop()
    if lacking := [name for name, a in zip(names, given, strict=False) if a is missing]:
        raise TypeError(f"{op} needs its argument {lacking[0]!r}")
    return tuple(given)


@functools.cache
def parameters(function: Callable) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of a function's arguments by position, and their defaults."""
    code = getattr(function := undecorated(function), "__code__", None)
    names = code.co_varnames[:code.co_argcount] if code else ()
    defaults = code and function.__defaults__ or ()
    return names, dict(zip(names[len(names) - len(defaults):], defaults, strict=True))
