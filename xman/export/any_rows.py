"""One list for any number of rows, from three lists for three numbers of rows."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ops.loops.bodies import is_function

from ..errors import XManError
from ..wengert import Line


def general(readings: list[Any], sizes: list[int]) -> list[Line]:
    """The lines for n rows. Where the lists differ there is a shape, or a computed number a·n + b."""
    first, lines, names = readings[0], [], list(readings[0].known_inputs)
    fresh = (name for k in itertools.count(1) if (name := f"rows{k}") not in first.shapes)
    rows = next((x, k) for x in names for k, n in enumerate(first.shapes[x]) if n != readings[1].shapes[x][k])
    alike = itertools.zip_longest(*(reading.lines for reading in readings), fillvalue=("", "", ()))
    for (dst, op, args), *twins in alike:
        if any(op != twin[1] or len(args) != len(twin[2]) for twin in twins):
            raise only_one_number(dst)
        new_args = []
        for versions in zip(args, *(twin[2] for twin in twins), strict=True):
            a = versions[0]
            if not all(equal(a, b) for b in versions):
                if is_function(a):
                    raise only_one_number(dst)
                if isinstance(a, (tuple, np.ndarray)):
                    shapes = versions if isinstance(a, tuple) else tuple(map(np.shape, versions))
                    like = next((x for x in names if tuple(r.shapes[x] for r in readings) == shapes), None)
                    if isinstance(a, tuple):
                        a = shape(op, versions, like)
                    else:  # one number, repeated for all entries
                        numbers = {x for reading in versions for x in np.ravel(reading).tolist()}
                        a, of = next(fresh), (*numbers, like)
                        if len(numbers) != 1 or like is None or first.dtypes[like] != versions[0].dtype:
                            raise only_one_number(dst)
                        lines.append((a, "broadcast", of))
                else:
                    a = affine_register(versions, sizes, rows, first.dtypes[dst], fresh, lines)
                if a is None:
                    raise only_one_number(dst)
            new_args.append(a)
        lines.append((dst, op, tuple(new_args)))
        names.append(dst)
    return lines


def shape(op: str, versions: tuple, like: str | None) -> Any:
    """The argument that takes the place of a shape; None where none can."""
    differing = [k for k, lengths in enumerate(zip(*versions, strict=False)) if len({*lengths}) > 1]
    if op == "reshape" and len(differing) == 1:
        return tuple(-1 if k in differing else n for k, n in enumerate(versions[0]))
    return like


def affine_register(versions: tuple, sizes: list[int], rows: tuple, dtype: np.dtype, fresh: Any,
            lines: list[Line]) -> str | None:
    """The register of a number a·n + b, after its lines are written; None for other numbers."""
    coefficients = straight(versions, sizes) if all(isinstance(b, (int, float)) for b in versions) else None
    if coefficients:
        count, product, total, cast = (next(fresh) for _ in range(4))
        a, b = map(int, coefficients)
        lines += [(count, "count", rows), (product, "mul", (count, a)), (total, "add", (product, b))]
        lines.append((cast, "astype", (total, (dtype.name if dtype.kind == "f" else "int64",))))
    return cast if coefficients else None


def straight(several: Sequence, sizes: list[int]) -> tuple[np.ndarray, np.ndarray] | None:
    """(a, b), whole numbers, if three numbers or arrays are a·n + b for n in sizes; else None."""
    x, y, z = (np.asarray(one, float) for one in several)
    if not x.shape == y.shape == z.shape:
        return None
    a = (y - x) / (sizes[1] - sizes[0])
    b = x - a * sizes[0]
    is_whole = np.array_equal(a * sizes[2] + b, z) and np.array_equal([a, b], np.rint([a, b]))
    return (a.astype(int), b.astype(int)) if is_whole else None


def equal(a: Any, b: Any) -> bool:
    """Whether two arguments are the same."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    return a == b or a != a and b != b


def only_one_number(dst: str) -> XManError:
    return XManError(f"{dst} depends on the number of rows in a way that a list cannot say; read the model "
                     "for one number of rows, with sizes={…: 32}")
