"""What is said of a loss that is NaN."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..wengert import WengertList, all_registers
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
