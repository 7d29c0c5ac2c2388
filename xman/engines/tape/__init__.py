"""Lists of numbers on a coded tape: engine.py has Tape, lines.py codes a list, loops.py runs the code,
lanes.py vectorises."""
import importlib.util
import sys

import numpy as np

from ..program import Engine

MANY = 100  # lines, from which on a list of numbers is coded


def wish(steps, values, inplace):
    if (len(steps) < MANY or inplace or importlib.util.find_spec("numba") is None
        or any(np.ndim(values[x]) for x in steps.inputs)):
        return 0, ""
    return (15, f"all inputs are numbers, and {len(steps):,} lines are many: a coded tape runs them in one "
            "loop")


def seconds(steps):
    """Numba is imported once, and loads its loops from the disk or compiles them."""
    return 5e-6 * len(steps) + (0 if "numba" in sys.modules else 3)


ENGINE = Engine("tape", f"{__name__}.engine", wish, after="numpy", as_written=True, seconds=seconds)
