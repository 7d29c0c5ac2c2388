"""Lists of numbers on a coded tape: engine.py has Tape, lines.py codes a list, loops.py runs the code."""
import numpy as np

from ..program import Engine, is_installed

MANY = 100  # lines: a list of numbers with at least these goes to the tape


def preference(steps, values, inplace):
    if len(steps) < MANY or inplace or not is_installed("llvmlite"):
        return 0, ""
    if any(np.ndim(values[x]) for x in steps.inputs) or any(op == "bundle" for _, op, _ in steps):
        return 0, ""
    many = f"{len(steps):,} lines are many: a coded tape runs them in one loop"
    return 15, f"all inputs are numbers, and {many}"


seconds = lambda steps: 0.3 + 1e-5 * len(steps)
ENGINE = Engine("tape", f"{__name__}.engine", preference, after="numpy", as_written=True, seconds=seconds)
