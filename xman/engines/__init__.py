"""Engines turn a list into a program. `door.py` chooses one; each has a file or folder of its name."""
from . import interpret, jax, llvm, numpy, tape
from .door import ENGINES, Compiled, compile, register

for engine in (interpret, numpy, llvm, jax, tape):
    register(engine.ENGINE)

__all__ = ["ENGINES", "Compiled", "compile", "register"]
