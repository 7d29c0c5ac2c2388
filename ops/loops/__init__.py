"""Loops, branches and calls: functions as literals, the rows that apply them, and their rules."""
from ..expression import G
from . import rules
from .bodies import Bundle, functions_apart, functions_in, is_function

ROWS = frozenset(op for op, value in G.items() if value.__module__ == f"{__name__}.values")  # bundles go in or out
__all__ = ["ROWS", "Bundle", "functions_apart", "functions_in", "is_function"]
