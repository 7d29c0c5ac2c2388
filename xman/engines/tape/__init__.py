"""Lists of numbers on a coded tape: engine.py has Tape, lines.py codes a list, loops.py runs the code, lanes.py vectorises."""
from .engine import Tape

__all__ = ["Tape"]
