"""Loops, branches and calls of Python functions that a list has as one line."""
from .applied import call, cond, map, scan, while_loop

__all__ = ["call", "cond", "map", "scan", "while_loop"]
