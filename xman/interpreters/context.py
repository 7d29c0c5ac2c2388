"""What the interpreters share: where they start, what has a derivative, and an error with its line."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ops import Expression, f

from ..errors import XManError, nearest
from ..notation import shown
from ..wengert import WengertList


def missing(steps: WengertList, values: Mapping[str, Any]) -> None:
    """Raise XManError unless each input of the list has a value."""
    if lacking := [name for name in steps.inputs if values.get(name) is None]:
        first = next((k, line) for k, line in enumerate(steps, 1) if lacking[0] in line[2])
        raise XManError(f"line {first[0]}, {shown(first[1])}: no value for the input {lacking[0]!r}"
                        f"{nearest(lacking[0], values)}; without a value: {', '.join(lacking)}")


def seeds(given: Mapping[str, Any], values: Mapping[str, Any], word: str) -> dict[str, Any]:
    """The deltas or tangents to start from, each a copy in the shape and the precision of its register."""
    result = {}
    for name, d in given.items():
        if name not in values:
            raise XManError(f"a {word} was given for {name!r}, which has no value{nearest(name, values)}")
        x = values[name]
        try:
            result[name] = f.broadcast(d, x)
            if not isinstance(result[name], Expression):
                like = result[name] if result[name].dtype.kind == "f" else result[name].astype(float)
                result[name] = np.array(like)[()]
        except (TypeError, ValueError):
            raise XManError(f"the {word} given for {name!r} has shape {np.shape(d)}, the register {np.shape(x)}") from None
    return result


def depends(steps: WengertList, names: Collection[str]) -> set[str]:
    """`names`, and the registers that are computed from them."""
    found = set(names)
    for dst, _, args in steps:
        if not found.isdisjoint(a for a in args if isinstance(a, str)):
            found.add(dst)
    return found


REAL = (float, np.floating, Expression)


def varies(x: Any) -> bool:
    """Whether a derivative with respect to x makes sense: a number or an array of floats. A sparse matrix is data."""
    if isinstance(x, REAL):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f" or x.ndim == 0 and x.dtype.kind in "iu"
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def own(part: Any, x: Any, others: Collection[Any]) -> Any:
    """part in the precision of x and in a buffer of its own: no view, and none of the others."""
    if isinstance(part, (np.ndarray, np.floating)):
        dtype = getattr(x, "dtype", part.dtype)
        if part.dtype != dtype and dtype.kind == "f":
            return part.astype(dtype)
        if isinstance(part, np.ndarray) and (part.base is not None or any(part is other for other in others)):
            return part.copy()
    return part


def failure(error: Exception, steps: WengertList, line: tuple, values: Mapping[str, Any], table: Mapping, word: str) -> XManError:
    """The error that an operator or a rule raised, as a sentence with the line and the shapes of its arguments."""
    dst, op, args = line
    where = f"line {steps.index(line) + 1}, {shown(line)}"
    if op not in table:
        return XManError(f"{where}: there is no {word} for the operator {op!r}{nearest(op, table)}; put it in the table")
    sizes = ", ".join(f"{a} has shape {np.shape(values[a])}" for a in dict.fromkeys(args)
                      if isinstance(a, str) and not isinstance(values.get(a), Expression | None))
    return XManError(f"{where}: {f'{sizes}: ' if sizes else ''}{error}")
