"""Lowering: each operator becomes its row's formula, so that an engine has to know few operators."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import ops
from ops import f
from ops.facts import FACTS, parameters
from ops.writer import Symbol

from .patterns import Rewrite, shaped

HALF_IS_ROOT = bool(np.signbit(np.power(-0.0, 0.5)))  # as newer NumPys have it; C's power of −0 is 0
LITERAL = {"axis", "axes", "keepdims", "widths", "subscripts", "letters", "shift", "first", "less", "i", "k"}


def lowered() -> tuple[Rewrite, ...]:
    """The rewrites of operators to their row's formula, so that an engine has to know few operators.

    What is left is NumPy's entrywise functions, sums, maxima and minima, products of matrices, and
    rearrangements; an operator without a formula is computed by its own function.
    """
    return (shaped("prod_of_others", of_a_number), shaped("power", as_root),
            *(shaped(op, spelt(op, facts)) for op, facts in FACTS.items() if facts.formula))


def spelt(op, facts):
    """The formula's rewrite, for a nonempty array of floats; whole numbers beside it do not spread."""
    def becomes(w, *args):
        symbols, shape = [isinstance(a, Symbol) for a in args], w.shape(args[0])
        if (not w.real(args[0]) or shape is None or 0 in shape or has_to_be_literal(op, symbols)
            or not symbols[0] and not facts.elementwise):
            return None
        return facts.formula(*args)
    return becomes


def has_to_be_literal(op: str, symbols: Iterable[bool]) -> bool:
    """Whether an engine needs a literal where op has a symbol. symbols: whether each argument is one."""
    names = parameters(ops.G[op])[0]
    return any(symbol and name in LITERAL for name, symbol in zip(names, symbols, strict=False))


def as_root(w, x, y):
    """The rewrite of x^½, if NumPy takes the root for it."""
    return f.sqrt(x) if type(y) is float and y == 0.5 and HALF_IS_ROOT and w.real(x) else None


def of_a_number(w, x, axis=None):
    """The rewrite of a reduction of a single number, which is the number."""
    return f.broadcast(1.0, x) if w.shape(x) == () else None
