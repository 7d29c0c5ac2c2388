"""Engines: a list becomes a program. `compiled.py` has the door, then one file an engine, and what they share."""
from .compiled import ENGINES, Compiled, compile

__all__ = ["ENGINES", "Compiled", "compile"]
