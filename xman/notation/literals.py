"""Literals as text, and the arrays that the text and the JSON form make of their entries."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

import ops


def literal_text(a: Any) -> str:
    """A literal as text, which Python reads back to the same literal, of the same type."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return repr(a) if math.isfinite(a) else f"float('{a}')"
    if ops.is_function(a):
        return a[1]
    if isinstance(a, list):  # the entries of an array
        return f"[{', '.join(map(literal_text, a))}]"
    if isinstance(a, tuple):
        entries = [repr(entry) if isinstance(entry, str) else literal_text(entry) for entry in a]
        return f"({', '.join(entries)}{',' * (len(a) == 1)})"
    if isinstance(a, slice):
        return f"slice({literal_text(a.start)}, {literal_text(a.stop)}, {literal_text(a.step)})"
    if isinstance(a, (np.ndarray, np.generic)):
        shape = f", {a.shape}" if a.size == 0 and a.ndim > 1 else ""
        return f"array({literal_text(a.tolist())}, '{a.dtype}'{shape})"
    return "..." if a is Ellipsis else repr(a)


def array_literal(entries: Any, dtype: str, shape: tuple | None = None) -> np.ndarray:
    """An array literal. ValueError unless its dtype is a kind of number."""
    if not isinstance(dtype, str) or np.dtype(dtype).kind not in "biuf":
        raise ValueError(f"{dtype!r} is not a dtype of numbers")
    array = np.array(entries, dtype)
    array = array if shape is None else array.reshape(shape)
    array.flags.writeable = False  # a literal belongs to the list: nobody changes it behind its back
    return array
