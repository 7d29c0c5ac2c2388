"""Lowering: rewrites that write an operator with simpler ones, so that an engine has to know few.

What stays is NumPy's functions entry by entry, sums, maxima and minima, products of matrices, and
rearrangements; each other operator is computed by its own function, where its row has no formula.
"""
from __future__ import annotations

from ops import f
from ops.facts import FACTS

from ..passes.patterns import Rewrite, shaped


def lowered() -> tuple[Rewrite, ...]:
    """The rewrites: to the formula of a row."""
    return (shaped("prodOfOthers", of_a_number),
            *(shaped(op, spelt(facts.formula)) for op, facts in FACTS.items() if facts.formula))


def spelt(formula):
    """The formula, of an array of floats that has entries; whole numbers beside it do not spread."""
    def becomes(w, x, *rest):
        return formula(x, *rest) if w.real(x) and w.shape(x) is not None and 0 not in w.shape(x) else None
    return becomes


def of_a_number(w, x, axis=None):
    """A number, which an axis is said of, has no others."""
    return f.broadcast(1.0, x) if w.shape(x) == () else None
