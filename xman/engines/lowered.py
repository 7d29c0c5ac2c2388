"""Lowering: rewrites that write an operator with simpler ones, so that an engine has to know few.

What stays is NumPy's functions entry by entry, sums, maxima and minima, products of matrices, and
rearrangements; each other operator is computed by its own function, where its row has no formula.
"""
from __future__ import annotations

from ops import Expression, f
from ops.facts import FACTS

from ..passes.patterns import Rewrite, shaped


def lowered() -> tuple[Rewrite, ...]:
    """The rewrites: to the formula of a row, and to what a rule's helper is for some shapes."""
    return (shaped("prodOfOthers", of_a_number),
            *(shaped(op, spelt(facts.formula)) for op, facts in FACTS.items() if facts.formula),
            shaped("unbroadcast", unbroadcast), shaped("dotLeft", dot_left), shaped("dotRight", dot_right))


def spelt(formula):
    """The formula, of an array of floats that has entries; whole numbers beside it do not spread."""
    def becomes(w, x, *rest):
        return formula(x, *rest) if w.real(x) and w.shape(x) is not None and 0 not in w.shape(x) else None
    return becomes


def of_a_number(w, x, axis=None):
    """A number, which an axis is said of, has no others."""
    return f.broadcast(1.0, x) if w.shape(x) == () else None


def unbroadcast(w, x, like, axis=()):
    """What remains of it when all is of one precision: a sum, and another shape."""
    have, want = w.shape(x), w.shape(like)
    if (not have or want is None or not w.real(x) or not w.one_precision or not isinstance(x, Expression)
        or axis != ()):
        return None
    extra = len(have) - len(want)
    if extra < 0:
        return None
    added = tuple(i for i in range(len(have)) if i < extra or want[i - extra] == 1 != have[i])
    return f.reshape(f.sum(x, added, True), like) if added else None


def dot_left(w, d, a, b):
    """d bᵀ, where a batch of matrices meets a batch."""
    return d @ f.mT(b) if batched(w, d, a, b) and w.shape(a)[:-2] == w.shape(d)[:-2] else None


def dot_right(w, d, a, b):
    return f.mT(a) @ d if batched(w, d, a, b) and w.shape(b)[:-2] == w.shape(d)[:-2] else None


def batched(w, *args):
    return all(len(w.shape(a) or ()) > 2 for a in args)
