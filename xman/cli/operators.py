"""The command that lists the operators."""
from __future__ import annotations

import inspect
from collections.abc import Callable

import click
import numpy as np

import ops
from ops.facts import parameters_of

from ..errors import XManError, nearest
from .commands import xman


@xman.command(name="ops")
@click.argument("names", nargs=-1, metavar="[OPERATOR]...")
def ops_(names: tuple[str, ...]) -> None:
    """List the operators, or those named, with their arguments and what they compute."""
    if strange := [op for op in names if op not in ops.G]:
        raise XManError(f"there is no operator {strange[0]!r}{nearest(strange[0], ops.G)}")
    calls = {op: f"{op}({', '.join(arguments(ops.G[op]))})" for op in names or sorted(ops.G, key=str.lower)}
    for op, call in calls.items():
        paragraphs = (inspect.getdoc(ops.G[op]) or "").split("\n\n")
        # the docstring of a ufunc begins with its signature
        summary = " ".join(paragraphs[isinstance(ops.G[op], np.ufunc)].split())
        print(f"{call:<{max(map(len, calls.values()))}}  "
              f"{summary}{'' if any(ops.DG[op]) else ' No derivative.'}")


def arguments(value: Callable) -> list[str]:
    """The arguments of an operator as a reader would write them: x, y, axis=None."""
    if isinstance(value, np.ufunc):
        return ["x", "y"][:value.nin]
    names, defaults, variadic, _ = parameters_of(value)
    return [f"{x}={defaults[x]!r}" if x in defaults else x for x in names] + [f"*{variadic}"] * bool(variadic)
