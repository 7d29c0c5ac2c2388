"""What is said of a loss that is NaN, and of one that sums over pairs of rows."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from ops.walk import live_forth

from ..errors import XManError
from ..notation import shown
from ..wengert import WengertList, all_registers, registers
from .why import why


def reason_of_loss(steps: WengertList, values: Mapping[str, Any], loss: str, wrt: Iterable[str]) -> str:
    """The reason why a loss, or else its derivative by one of wrt, is NaN or infinite; "" where none is."""
    names = loss, *(f"d{loss}_d{w}" for w in wrt if w in steps.inputs)
    reasons = (why(steps, values, name) for name in names)
    return next((f"; {reason}" for reason in reasons if reason.sign in ("NaN", "infinite")), "")


def first_nan(steps: WengertList, values: dict[str, Any]) -> str:
    """A sentence on the first register with a NaN, an input or a line's; "" if there is none."""
    for name in all_registers(steps):
        if isinstance(values[name], (np.ndarray, np.floating)) and np.isnan(values[name]).any():
            line = next((WengertList([line]) for line in steps if line[0] == name), name)
            return f"the first register with a NaN is {name!r} ({line})"
    return ""


def refuse_pairs_of_rows(steps: WengertList, values: Mapping[str, Any], parameters: Collection[str],
                         fed: Collection[str], rows: int) -> None:
    """XManError for a line where predictions (rows,) meet targets (rows, 1), or the other way round: it would
    take each prediction with each target. fed: the inputs that have a row each, of so many rows."""
    learnt, by_row = live_forth(steps, parameters), live_forth(steps, fed)
    for line in steps if rows > 1 else ():
        dst, _, args = line
        named = {getattr(values[a], "shape", ()): a for a in registers(args) if a in by_row}
        vector, column = named.get((rows,)), named.get((rows, 1))
        if (vector and column and getattr(values[dst], "shape", ()) == (rows, rows)
                and (vector in learnt) != (column in learnt)):
            raise XManError(f"{shown(line)}: {vector} has shape ({rows},) and {column} ({rows}, 1), of which NumPy "
                            "makes each number of the one with each of the other; give predictions and targets "
                            f"one shape, as f.reshape({vector}, (-1, 1)) does")
