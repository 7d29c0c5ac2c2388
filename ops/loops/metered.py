"""A table of values for a list from elsewhere: it asks before each line and after it, in functions too."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..expression import G
from .bodies import Bundle, as_python, functions_in, is_function
from .values import length, one_step

RUN = 100_000  # lines that the functions of a list may run


def metered(steps: Sequence, before: Callable[[str, tuple], None],
            after: Callable[[str, tuple, Any], Any]) -> Mapping[str, Callable]:
    """The table for these steps: before(op, args), the value of G, after(op, args, out), whose result it is.

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
            return after(op, args, G[op](*args))

        def applying(*args: Any) -> Any:
            if op == "scan" and is_function(args[0]):
                n, lines = length(args[3][args[1]]), 1 + len(args[0][3])
                if not isinstance(n, float):  # which scan refuses
                    if n * lines > left:
                        raise ValueError(f"{n:,} steps of {args[0][1]} run {n * lines:,} lines: too many")
                    after("stack", (), one_step(*args, program=program))
            return Bundle(G[op](*args, program=program))  # whose derivatives go by G
        if "program" in (getattr(G[op], "__kwdefaults__", None) or ()):
            return applying
        return G[op] if op == "bundle" else entrywise

    return {op: value(op) for lines in (steps, *[function[3] for function in functions_in(steps)])
            for _, op, _ in lines}
