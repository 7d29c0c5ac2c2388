"""Operators that apply functions, for engines without loops of their own: the functions are compiled."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ops
from ops.facts import right_for_complex
from ops.loops import bodies

from ..wengert import WengertList
from .door import Compiled
from .specialise.kinds import WIDE


def value_of(op: str, engine: str) -> Callable:
    """The value of an operator, as in `ops.G`; the functions that it applies run on the engine."""
    value = right_for_complex(op, ops.G[op])
    applies = "program" in (getattr(value, "__kwdefaults__", None) or ())
    body = lambda function: bodies.remembered("compiled", function, lambda: body_on(engine, function), engine)
    return partial(value, program=body) if applies else value


def body_on(engine: str, function: bodies.Function) -> Callable:
    """The function, from arrays to a tuple of arrays, compiled once for each set of shapes."""
    _, _, parameters, lines, results = function
    plain = bodies.as_python(function)
    computed = list(dict.fromkeys(r for r in results if r not in parameters))
    if not computed:
        return plain
    body = Compiled(WengertList(lines), computed, engine, None)
    everything = [*lines, *(line for inner in bodies.functions_in(lines) for line in inner[3])]
    wide = lambda args: all([a.dtype in WIDE for a in args if hasattr(a, "dtype")])
    strong = all(op != "astype" and wide(args) for _, op, args in everything)

    def run(*args: Any) -> tuple:
        # elsewhere a number takes the precision of what it meets
        if any([type(a) in (int, float) for a in args]):
            if not (strong and wide(args)):
                return plain(*args)
            args = tuple([np.asarray(a)[()] if type(a) is int else a for a in args])
        values = dict(zip(parameters, args, strict=True))
        values |= body(values)
        return tuple([values[r] for r in results])
    return run
