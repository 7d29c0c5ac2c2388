"""Plain functions compiled by what they do: `jit.py`, and what a function can read besides its arguments,
`reached.py`."""
from .jit import jit

__all__ = ["jit"]
