"""Engines: a list becomes a program. `door.py` says what an engine has to be;
then comes a file or folder for each."""
from . import interpret, jax, llvm, numpy, tape
from .door import ENGINES, Compiled, compile, register

for engine in (interpret, numpy, llvm, jax, tape):
    register(engine.ENGINE)

__all__ = ["ENGINES", "Compiled", "compile", "register"]
