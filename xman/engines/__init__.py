"""Engines: a list becomes a program. `door.py` has the door, then one file an engine, and what they share."""
from .door import ENGINES, Compiled, compile

__all__ = ["ENGINES", "Compiled", "compile"]
