"""The engine numba: engine.py, its layout and its kernels; groups, schedule and loops; the functions that loops call."""
import importlib.util

from ..program import Engine

LONG = 1200  # lines of a list: of more Numba's compiler takes long


def wish(steps, values, inplace):
    if importlib.util.find_spec("numba") is None:
        return 0, "numba is not installed; with it, pip install 'xman[fast]', small arrays take a third of the time or less"
    if len(steps) > LONG:
        return 0, f"{len(steps):,} lines are more than {LONG:,}, and Numba would take long to compile them"
    return 20, "numba is installed, and fuses what is computed entry by entry"


ENGINE = Engine("numba", f"{__name__}.engine", wish, after="numpy", package="numba", extra="fast")
