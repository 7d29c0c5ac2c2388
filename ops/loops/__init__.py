"""Loops, branches and calls: functions as literals, the rows that apply them, and their rules."""
from . import rules
from .bodies import Bundle, functions_apart, functions_in, is_function

ROWS = frozenset({"bundle", "item", "call", "cond", "scan", "while_loop"})
__all__ = ["ROWS", "Bundle", "functions_apart", "functions_in", "is_function"]
