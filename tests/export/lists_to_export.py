"""Lists of one call each of every operator, with its gradient, for what writes them down or runs them elsewhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from xman import XManError, eval, gradient

sys.path.append(str(Path(__file__).parents[1] / "ops"))
from operator_cases import CASES


def in_precision(a, dtype):
    if isinstance(a, np.ndarray):
        return a.astype(dtype) if a.dtype.kind == "f" else a
    return (dtype,) if a == ("float64",) else a


def calls(op: str, dtype: str, every: int = 1) -> Iterator[tuple[list, dict]]:
    """(list, values): every so many cases of an operator with its arrays as registers, and the gradient where there is one."""
    for k, args in enumerate(CASES[op]):
        if k % every:
            continue
        args = [in_precision(a, dtype) for a in args]
        own = lambda name, k=k: f"{op}_{k}_{name}"
        values = {own(f"x{i}"): a for i, a in enumerate(args) if isinstance(a, np.ndarray)}
        steps = [(own("out"), op, tuple(own(f"x{i}") if isinstance(a, np.ndarray) else a for i, a in enumerate(args)))]
        yield steps, values
        floats = [x for x, a in values.items() if a.dtype.kind == "f"]
        try:
            summed = gradient([*steps, (own("l"), "sum", (own("out"),))], own("l"), floats)
            eval(summed, values)
        except XManError:
            continue  # no rule
        yield list(summed), values
