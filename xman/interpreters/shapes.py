"""Shapes and precisions of all registers, found by running the list on stand-ins."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import ops

from ..wengert import Steps
from .eval import eval


def shapes(steps: Steps, likes: Mapping[str, Any], G: Mapping[str, Callable] = ops.G,
           /) -> dict[str, tuple[tuple, np.dtype]]:
    """{register: (shape, dtype)} for every register.

    steps: the list. likes: for each input an array, a number, a shape (for float64), or a pair (shape,
    dtype). G: the table of values. Raises XManError with the first line that does not fit, and its arguments'
    shapes.
    """
    values = eval(steps, {name: stand_in(like) for name, like in likes.items()}, G)
    return {name: (np.shape(x), getattr(x, "dtype", np.dtype(float))) for name, x in values.items()}


def stand_in(like: Any) -> Any:
    """An array of this shape: ones; the unit matrix if square, so that it has an inverse; 0 for integers."""
    if not isinstance(like, tuple):
        return like
    shape, dtype = like if like and isinstance(like[0], tuple) else (like, float)
    if np.dtype(dtype).kind != "f":
        return np.zeros(shape, dtype)
    square = len(shape) > 1 and shape[-1] == shape[-2]
    return np.broadcast_to(np.eye(shape[-1], dtype=dtype) if square else np.ones((), dtype), shape)
