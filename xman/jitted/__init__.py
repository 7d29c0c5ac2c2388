"""Plain functions compiled by what they do, `jit.py`, and what they read besides arguments, `reached.py`."""
from .jit import jit

__all__ = ["jit"]
