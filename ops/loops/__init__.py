"""Loops, branches and calls: functions as literals, the rows that apply them, and their rules."""
from ..expression import G
from . import rules
from .bodies import Bundle, functions_apart, functions_in, is_function

# bundles go in or out of these; a ufunc of NumPy before 2.2 is of no module
ROWS = frozenset(op for op, value in G.items() if getattr(value, "__module__", "") == f"{__name__}.values")
__all__ = ["ROWS", "Bundle", "functions_apart", "functions_in", "is_function"]
