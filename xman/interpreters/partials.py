"""Rules from partial derivatives (Cohen, Automatic Reverse-Mode Differentiation, §1.3)."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ops import f


def partials(DG: Mapping[str, Sequence[Callable | None]]) -> dict[str, list[Callable | None]]:
    """The adjoint rules that belong to a table of partial derivatives, functions of the arguments alone.

        >>> DG = {"add": [lambda a, b: 1, lambda a, b: 1], "square": [lambda a: 2 * a]}
        >>> backprop(steps, values, partials(DG), f=1.0)

    DG[op][i](*args): ∂op/∂arg_i, of an operator on numbers, or entry by entry on arrays. The notes keep such
    a table and multiply in `backprop`; a rule of `ops.DG` is given the delta and multiplies itself, since
    that of a matrix product is no multiple of it.
    """
    def rule(partial: Callable[..., Any], i: int) -> Callable[..., Any]:
        return lambda d, out, *args: f.unbroadcast(d * partial(*args), args[i])

    return {op: [p and rule(p, i) for i, p in enumerate(rules)] for op, rules in DG.items()}
