"""Rules that follow from others: an operator's value, or its adjoint rule, is recorded and differentiated."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .expression import DG, Rule, f
from .walk import back
from .writer import Recording, Traced


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
    deltas = back(tape.lines, tape.values, {end.name: d}, DG, tape.flat) if tape.has(end) else {}
    return deltas[start.name] if start.name in deltas else f.broadcast(0.0, x)
