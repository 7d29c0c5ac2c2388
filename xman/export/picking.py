"""x[keys] and its adjoint from what the array API has: slices, whole numbers, and `take` along one axis."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import XManError


def picked(xp: Any, table: dict[str, Callable], x: Any, keys: Sequence) -> Any:
    """x[keys] as NumPy has it."""
    keys = [k for key in keys for k in masked(xp, key)]
    used = sum(key is not None and key is not Ellipsis for key in keys)
    at = next((i for i, key in enumerate(keys) if key is Ellipsis), len(keys))
    keys = [*keys[:at], *[slice(None)] * (x.ndim - used), *keys[at + 1:]]
    keys = [within(key, n) if isinstance(key, slice) else key
            for key, n in zip(keys, lengths(keys, x.shape), strict=True)]
    if not any(hasattr(key, "shape") for key in keys):
        return x if all(key == slice(None) for key in keys) else x[tuple(keys)]
    places = [i for i, key in enumerate(keys) if isinstance(key, int) or hasattr(key, "shape")]
    rest = [i for i in range(len(keys)) if i not in places]
    basic = tuple(slice(None) if i in places else key for i, key in enumerate(keys))
    x = table["transpose"](x if all(key == slice(None) for key in basic) else x[basic], (*places, *rest))
    sizes, others = tuple(x.shape)[:len(places)], tuple(x.shape)[len(places):]
    index = keys[places[0]]
    if len(places) > 1:
        index, *more = [table["where"](table["less"](keys[i], 0), table["add"](keys[i], n), keys[i])
                        for i, n in zip(places, sizes, strict=True)]
        for n, k in zip(sizes[1:], more, strict=True):
            index = table["add"](table["mul"](index, n), k)
        x = xp.reshape(x, (math.prod(sizes), *others))
    y = table["take"](x, index, 0)
    if places != list(range(places[0], places[0] + len(places))):
        return y  # keys that stand apart bring their axes to the front
    n = y.ndim - len(others)
    before = sum(i < places[0] for i in rest)
    return table["transpose"](y, (*range(n, n + before), *range(n), *range(n + before, y.ndim)))


def lengths(keys: Sequence, shape: Sequence[int]) -> list[int | None]:
    """Of the axis that each key is for."""
    left = iter(shape)
    return [None if key is None else next(left) for key in keys]


def within(key: slice, n: int) -> slice:
    """The slice with its ends where the axis ends: the standard leaves open what lies beyond."""
    if not isinstance(n, int):
        return key  # the length is not known yet
    low, high = (-n, n) if key.step is None or key.step > 0 else (-n - 1, n - 1)
    ends = [end if end is None else max(low, min(high, int(end))) for end in (key.start, key.stop)]
    return slice(*ends, key.step)


def masked(xp: Any, key: Any) -> list:
    """The key, and for a mask the positions where it holds, one array an axis."""
    if isinstance(key, (bool, np.bool_)) or str(getattr(key, "dtype", "")).rpartition(".")[2] != "bool":
        return [key.item() if isinstance(key, (np.generic, np.ndarray)) and not key.ndim else key]
    if not isinstance(key, np.ndarray) and not hasattr(xp, "nonzero"):
        raise XManError("a mask that is computed picks as many entries as hold: no shape can depend on that")
    return list(np.nonzero(key) if isinstance(key, np.ndarray) else xp.nonzero(key))


def scattered(xp: Any, table: dict[str, Callable], d: Any, like: Any, keys: Sequence) -> Any:
    """Zeros in the shape and precision of like, with d added at [keys]."""
    shape = tuple(like.shape)
    size = math.prod(shape)
    index = picked(xp, table, xp.reshape(xp.arange(size), shape), keys)
    d = table["reshape"](table["broadcast"](d, tuple(index.shape)), (-1,))
    index = xp.reshape(index, (-1,))
    if hasattr(xp, "scatter_add"):
        out = xp.scatter_add(size, index, d)
    else:
        out = table["sum"](table["where"](table["equal"](index[:, None], xp.arange(size)), d[:, None], 0), 0)
    out = xp.reshape(out, shape)
    return table["unbroadcast"](out, like)  # in its precision
