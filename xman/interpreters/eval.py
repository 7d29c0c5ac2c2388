"""Evaluation: step through the list in order (Cohen, Automatic Reverse-Mode Differentiation, §1.3)."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ops
from ops.facts import TableOfComplex
from ops.silence import silent

from ..wengert import Steps, checked_list
from .context import failure, has_complex, with_numpy_reals


@silent
def eval(steps: Steps, values: Mapping[str, Any], G: Mapping[str, Callable] = ops.G, /) -> dict[str, Any]:
    """The values of all registers: the given ones, and the value of each line.

    steps: a list (dst, op, args). XManError, with the line, where it is not valid or an operator fails.
    values: the inputs by name, arrays or numbers; int and float are float64. XManError where one is missing.
    G: the table of values, G[op](*args) -> value. An overflow gives infinity or NaN, without a warning.
    """
    steps = checked_list(steps, G)
    values = with_numpy_reals(values, steps.inputs)
    table = TableOfComplex(G) if has_complex(steps, values) else G  # some take real numbers alone
    try:
        # A line reads only registers above it, so one pass in order is enough. A string in args names a
        # register, whose value is looked up; anything else, a number or an axis, is the argument itself. Each
        # register is assigned once and never overwritten, so backprop can use all these values afterwards.
        with ops.by_tables(G=table):  # the functions that lines apply use it too
            for dst, op, args in steps:
                values[dst] = out = table[op](*[values[a] if isinstance(a, str) else a for a in args])
                if out is None:
                    raise TypeError(f"the function of {op!r} returned None; does it lack a return?")
    except Exception as error:
        raise failure(error, steps, (dst, op, args), values, G, "value") from error
    return values
