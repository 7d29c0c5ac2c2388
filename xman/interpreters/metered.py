"""A table of values for a list from elsewhere: it asks before each line and after it, in functions too."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ops
from ops.loops.bodies import as_python
from ops.loops.values import length, one_step

from ..wengert import WengertList

RUN = 100_000  # lines that the functions of a list may run


def metered(steps: WengertList, before: Callable[[str, tuple], None],
            after: Callable[[str, tuple, Any], Any]) -> Mapping[str, Callable]:
    """The table for these steps: before(op, args), the value of ops.G, and after(op, args, out), whose
    result it is.

    Where op applies functions, their own lines are asked in its place, once they are run, and of a scan what
    it will stack. Raises ValueError where the functions have run more than RUN lines.
    """
    left = RUN

    def program(function: tuple) -> Callable:
        run = as_python(function)

        def counted(*args: Any) -> tuple:
            nonlocal left
            left -= 1 + len(function[3])
            if left < 0:
                raise ValueError(f"the functions that it applies have run {RUN:,} lines, the last {function[1]}: "
                                 "too many")
            return run(*args)
        return counted

    def value(op: str) -> Callable:
        def entrywise(*args: Any) -> Any:
            before(op, args)
            return after(op, args, ops.G[op](*args))

        def applying(*args: Any) -> Any:
            if op == "scan" and ops.is_function(args[0]):
                n, lines = length(args[3][args[1]]), 1 + len(args[0][3])
                if not isinstance(n, float):  # which scan refuses
                    if n * lines > left:
                        raise ValueError(f"{n:,} steps of {args[0][1]} run {n * lines:,} lines: too many")
                    after("stack", (), one_step(*args, program=program))
            return ops.Bundle(ops.G[op](*args, program=program))  # whose derivatives go by ops.G
        if "program" in (getattr(ops.G[op], "__kwdefaults__", None) or ()):
            return applying
        return ops.G[op] if op == "bundle" else entrywise

    return {op: value(op) for lines in (steps, *[function[3] for function in ops.loops.functions_in(steps)])
            for _, op, _ in lines}
