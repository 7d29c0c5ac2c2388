"""Engines turn a list into a program. `door.py` chooses one; each has a file or folder of its name."""
from ..errors import suggesting
from . import interpret, jax, llvm, numpy, tape
from .door import ENGINES, Compiled, compile, register

for _ in interpret, numpy, llvm, jax, tape:
    register(_.ENGINE)

__all__ = ["ENGINES", "Compiled", "compile", "register"]
suggesting(__name__)
