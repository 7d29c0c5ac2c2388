"""`jit.py` compiles plain functions by what they do; `reached.py` finds what they read besides arguments."""
from .jit import jit

__all__ = ["jit"]
