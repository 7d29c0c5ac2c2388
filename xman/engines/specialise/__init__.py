"""From a list and the values of its inputs to a `Program`: stages.py has the stages, one after another,
kinds.py what a program knows of values, loops.py what it knows of loops that end on values."""
from .stages import STAGES, program_of

__all__ = ["STAGES", "program_of"]
