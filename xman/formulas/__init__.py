"""Operators in terms of others, in the language: for libraries of arrays that have no function for them."""
from collections.abc import Callable

from ops import facts_of

from .formulas import FORMULAS

__all__ = ["FORMULAS", "formula_of"]


def formula_of(op: str) -> Callable | None:
    """An operator's value in the language, for arrays whose shapes are known: its own formula here,
    else that of its row."""
    return FORMULAS.get(op) or facts_of(op).formula
