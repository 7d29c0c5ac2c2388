"""Rules that follow from others: an operator's value, or its adjoint rule, is recorded and differentiated."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from .expression import DG, TG, Rule, f
from .flows import Masked
from .writer import Recording, Traced

STILL = object()  # a tangent rule's answer if the result does not move although the argument does


def traced(value: Callable, i: int) -> Rule:
    """The adjoint rule of an operator without one: it goes back through the operator's own value."""
    return lambda d, out, *args: pullback(lambda x: value(*args[:i], x, *args[i + 1:]), args[i], d)


def tangent_of(rule: Rule, i: int) -> Rule:
    """The tangent rule from an adjoint rule: rule(u, …) is Jᵀu, so going back through it with t gives J t."""
    return lambda t, out, *args: pullback(lambda u: rule(u, out, *args), f.broadcast(0.0, out), t)


def pullback(function: Callable, x: Any, d: Any) -> Any:
    """Jᵀd, the adjoint of x if function(x) has the adjoint d; x and d are arrays or Expressions."""
    tape = Recording()
    start = Traced(x, tape)
    end = function(start)
    deltas = back(reversed(tape.lines), tape.values, {end.name: d}, DG, tape.flat) if tape.has(end) else {}
    return deltas[start.name] if start.name in deltas else f.broadcast(0.0, x)


def back(lines: Iterable, values: Mapping[str, Any], deltas: dict[str, Any], rules: Mapping = DG,
         flat: Collection[str] = ()) -> dict[str, Any]:
    """The deltas of all registers, from those at the end, line by line. lines: from the last to the first.
    flat: registers that hand no delta on."""
    for dst, op, args in lines:
        if (d := deltas.pop(dst, None)) is not None:
            inputs = [values[a] if type(a) is str else a for a in args]
            for a, x, rule in zip(args, inputs, rules[op], strict=False):
                if rule is not None and type(a) is str and a not in flat:
                    part = rule(d, values[dst], *inputs)
                    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                        part = precise(part, x)
                    deltas[a] = deltas[a] + part if a in deltas else part
    return deltas


def forth(lines: Iterable, values: Mapping[str, Any], tangents: dict[str, Any],
          rules: Mapping = TG) -> dict[str, Any]:
    """The tangents of all registers, from those at the beginning, line by line."""
    for dst, op, args in lines:
        for a, rule in zip(args, rules[op], strict=False):
            if rule is not None and type(a) is str and a in tangents:
                inputs, x = [values[a] if type(a) is str else a for a in args], values[dst]
                if (part := rule(tangents[a], x, *inputs)) is not STILL:
                    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
                        part = precise(part, x)
                    tangents[dst] = tangents[dst] + part if dst in tangents else part
    return tangents


def precise(part: Any, x: Any, a: str = "an argument") -> Any:
    """A delta or a tangent in the precision of x, the argument `a`. TypeError if a rule gave none."""
    if part is None:
        raise TypeError(f"the rule for {a} returned None; does it lack a return?")
    if isinstance(part, Masked):
        return part.at(precise(part.value, x))
    dtype = getattr(x, "dtype", None)
    if dtype is None or not isinstance(part, (np.ndarray, np.floating)) or part.dtype is dtype:
        return part
    return part.astype(dtype if dtype.kind == "f" else float, copy=False)
