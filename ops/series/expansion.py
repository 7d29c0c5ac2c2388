"""Taylor mode: every operator on power series (Griewank and Walther, Evaluating Derivatives, ch. 13).

A `Series` is x(t) = x₀ + x₁t + … + xₙtⁿ; its terms are derivatives over k!. An operator that meets one gives
the series of its result, term by term, in O(n²) products:

- what is linear is applied to the terms, a product to all pairs of them (Cauchy);
- division, constant powers and `solve` have their recurrence;
- all others go by their tangent rule, y′ = rule(x′, y, x), which is written in the language and so has a
  series: k yₖ is its term k − 1, for which the terms of y before yₖ are enough. For exp it is
  k yₖ = Σ j xⱼ yₖ₋ⱼ.

So series are lazy within rules: sin and cos read each other. Loops apply the function of their terms.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..expression import DG, FLAT, TG, Expression, G, f
from ..facts import facts_of, is_complex, operator_called
from ..silence import silent
from ..walk import STILL, rule_for
from ..writer import Traced
from .loops import LOOPS
from .recurrences import PRODUCTS, RECURRENCES, TERMWISE, cauchy_products, series_of_slope, sum_of, termwise


class Termless(ValueError):
    """An operator has no series here."""


class Expansion:
    """What the series of one call share. order: of the last term. kind: the class of the series. grows:
    whether arguments grow with their results, as in x′ = fn(x). level: as in Expression. begun: within a
    rule, and if it grows, the series that are begun, by operator and arguments; else None."""

    def __init__(self, order: int, kind: type[Series], grows: bool = False):
        self.order, self.kind, self.level, self.grows = order, kind, next(Traced.levels), grows
        self.begun: dict | None = {} if grows else None

    def series(self, *terms: Any, following: Callable[[int], Any] | None = None) -> Series:
        return self.kind(self, [*terms], following)

    def has(self, a: Any) -> bool: return isinstance(a, Expression) and getattr(a, "expansion", None) is self
    def of_symbols(self) -> Expansion: return Expansion(self.order, Series)
    def as_series(self, a: Any) -> Series: return a if self.has(a) else self.series(a)
    def first(self, a: Any) -> Any: return a.term(0) if self.has(a) else a

    @silent
    def record(self, op: str, args: Sequence, out: Any = None) -> Any:
        """The series of op(*args); what does not move is no series. out: its first term, if it is there."""
        if G.get(op) in LOOPS:
            return LOOPS[G[op]](self, *args)
        args = [np.asarray(a) if isinstance(a, list) else a for a in args]
        outermost = self.begun is None
        if outermost:
            self.begun = {}
        key = op, *((type(a), a) if type(a) in (int, float) else id(a) for a in args)
        try:
            if key not in self.begun:
                self.begun[key] = self.begin(op, args, out), args  # the arguments stay, and so do their ids
            series = self.begun[key][0]
            if outermost and self.has(series):
                series.term(self.order)
                series.following = None  # what led to it can go
            return series
        except (TypeError, ValueError) as error:
            raise Termless(f"the Taylor series of {op}: {error}") from error
        finally:
            if outermost:
                self.begun = None

    def begin(self, op: str, args: list, out: Any) -> Any:
        out = self.kind.value_of(op, operator_called(op)(*map(self.first, args))) if out is None else out
        moving = [i for i, a in enumerate(args) if self.has(a)]
        if op in FLAT or getattr(out, "dtype", np.dtype(float)).kind not in "fc":
            return out
        if is_complex(out):
            raise TypeError("complex numbers have none here")
        y = self.series(out)
        value, flow = G.get(op), facts_of(op).flow
        if flow in ("plus", "same") or value in TERMWISE:
            y.following = lambda k: termwise(op, args, moving, k)
        elif flow in ("moved", "part", "filled", "summed") or value in PRODUCTS:
            factors = [i for i in moving if i < len(DG[op]) and DG[op][i]]
            if not factors:
                return out  # only the shape of an argument is read
            y.following = lambda k: sum_of(cauchy_products(op, [*map(self.first, args)], args, factors, k))
        else:
            recurrence = RECURRENCES.get(value, type(self).by_rule)
            y.following = recurrence(self, y, op, args, moving)
        return y

    def by_rule(self, y: Series, op: str, args: list, moving: list[int]) -> Callable:
        """From y′, by the tangent rules."""
        def slope() -> Any:
            rules = [(i, rule) for i in moving if (rule := rule_for(TG[op], i, op))]
            slopes = [rule(series_of_slope(args[i]), y, *args) for i, rule in rules]
            return sum_of(s for s in slopes if s is not STILL)
        return self.by_slope(slope)

    def by_slope(self, slope: Callable[[], Any]) -> Callable:
        """From y′ = slope(): yₖ is the term k − 1 of y′, over k."""
        made: list = []

        def following(k: int) -> Any:
            if not made:
                made.append(slope())
            term = made[0].term(k - 1) if self.has(made[0]) else None  # linear in x′, so no series is 0
            return None if term is None else term / k if k > 1 else term
        return following


class Series(Expression):
    """A power series. following(k): its k-th term, once those before it are there; a term 0 is None."""

    def __init__(self, expansion: Expansion, terms: list, following: Callable[[int], Any] | None):
        self.expansion, self.terms, self.following, self.level = expansion, terms, following, expansion.level

    @staticmethod
    def value_of(op: str, value: Any) -> Any: return value

    def record(self, op: str, args: Sequence) -> Any: return self.expansion.record(op, args)

    def term(self, k: int) -> Any:
        while len(self.terms) <= k:
            self.terms.append(self.following(len(self.terms)) if self.following else None)
        return self.terms[k]

    def all_terms(self) -> list:
        """Its terms up to the order, with zeros for None."""
        terms = [self.term(k) for k in range(self.expansion.order + 1)]
        return [f.broadcast(0.0, terms[0]) if x is None else x for x in terms]
