"""Engines: a list becomes a program. `door.py` says what one has to be; each has a file or folder."""
from . import interpret, jax, llvm, numpy, tape
from .door import ENGINES, Compiled, compile, register

for engine in (interpret, numpy, llvm, jax, tape):
    register(engine.ENGINE)

__all__ = ["ENGINES", "Compiled", "compile", "register"]
