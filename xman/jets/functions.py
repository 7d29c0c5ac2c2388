"""Taylor series of functions, and of the solutions of x′ = fn(x), by `ops.series`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ops import f
from ops.facts import is_complex
from ops.series import Expansion, Series, Termless

from ..errors import XManError
from ..functions.call import callable_or_refused, constant_output, name_of, outcome
from ..functions.transforms import like
from ..functions.trees import as_own, flattened_tree, matching, unflatten
from ..traced.arraylike import ArrayLike, as_numpys, differentiable


class ArraySeries(Series, ArrayLike):
    """A series that passes for the array of its first term."""

    value = property(lambda self: self.term(0))
    value_of = staticmethod(lambda op, value: as_numpys(value))


def order_or_refused(name: str, order: Any) -> int:
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 0:
        raise XManError(f"the order of {name} is a whole number from 0, not {order!r}")
    return int(order)


def outcome_of_series(fn: Callable, argument: Any) -> Any:
    """fn(argument). XManError where an operator has no series."""
    try:
        return outcome(fn, [argument], {})
    except Termless as error:
        raise XManError(str(error)) from error


def leaf_points(fn: Callable, x: Any) -> tuple[list, Any]:
    """The leaves of the argument x as differentiable values, copies, and their structure."""
    leaves, structure = flattened_tree(x)
    where = lambda: f"the argument of {name_of(fn)}"
    points = [as_own(differentiable(leaf, where)) for leaf in leaves]
    if any(map(is_complex, points)):
        raise XManError(f"{where()} has complex numbers, whose series are not known here; give it real ones")
    return points, structure


def taylor(fn: Callable, x: Any, v: Any, order: int) -> list:
    """[y₀, …, yₙ] of fn(x + t v) = y₀ + y₁t + … + yₙtⁿ: yₖ is the k-th derivative along v, over k!.

    fn: a function of one argument, an array or a tree of arrays. v: of the structure and the shapes of x.
    order: n, from 0. Each yₖ is like fn's result. It takes O(n²) products where `derivative(fn, n)` takes 2ⁿ
    (Griewank and Walther, Evaluating Derivatives, ch. 13). XManError as `jvp`.
    """
    callable_or_refused("taylor", fn)
    expansion = Expansion(order_or_refused("taylor", order), ArraySeries)
    points, structure = leaf_points(fn, x)
    directions = like(v, points, structure, "v", "x")
    lines = [expansion.series(*pair[:expansion.order + 1]) for pair in zip(points, directions, strict=True)]
    ends, shape = flattened_tree(outcome_of_series(fn, unflatten(structure, lines)))
    terms = []
    for end in ends:
        end = end if expansion.has(end) else constant_output("taylor", fn, end)
        terms.append(expansion.as_series(end).all_terms())
    return [unflatten(shape, map(as_own, row)) for row in zip(*terms, strict=True)]


def taylor_ode(fn: Callable, x: Any, order: int) -> list:
    """[x₀, …, xₙ], the Taylor series in t of the solution of x′(t) = fn(x(t)) with x(0) = x.

    fn: gives the derivative, in the structure and the shapes of x; time is an entry of x, with the derivative
    1. order: n, from 0. It takes O(n²) products, for all terms together: (k + 1) xₖ₊₁ is the k-th term of
    fn(x), which the terms of x up to xₖ give. XManError for a loop of `scan`; Python's are well.
    """
    callable_or_refused("taylor_ode", fn)
    expansion = Expansion(order_or_refused("taylor_ode", order), ArraySeries, grows=True)
    points, structure = leaf_points(fn, x)
    slopes: list = []

    def following(i: int) -> Callable[[int], Any]:
        def term(k: int) -> Any:
            slope = slopes[i]
            term = slope.term(k - 1) if expansion.has(slope) else slope if k == 1 else None
            return None if term is None else f.broadcast(term / k, points[i])
        return term
    solution = [expansion.series(x, following=following(i)) for i, x in enumerate(points)]
    result = outcome_of_series(fn, unflatten(structure, solution))
    ends = matching(result, structure, f"the result of {name_of(fn)}", "x")
    for slope, x in zip(ends, points, strict=True):
        slope = slope if expansion.has(slope) else constant_output("taylor_ode", fn, slope)
        if slope.shape not in ((), x.shape):
            raise XManError(f"the result of {name_of(fn)} has shape {slope.shape} where x has {x.shape}; it "
                            "has to have the shapes of x, or to be a number")
        slopes.append(slope)
    for k in range(expansion.order):
        # in the order of their lines, so that no term asks for a long chain of others
        for series, _ in [*expansion.begun.values()]:
            if expansion.has(series):
                series.term(k)
        for series in solution:
            series.term(k + 1)
    return [unflatten(structure, map(as_own, row))
            for row in zip(*(series.all_terms() for series in solution), strict=True)]

