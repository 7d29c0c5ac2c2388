"""The formulas of elementary functions, for loops that Numba compiles."""
from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import extra
from ..llvm import formulas, powers
from ..llvm.formulas import Lane


def vectorised(*formulas: Callable[..., Lane]) -> dict[str, dict[str, Callable]]:
    """By name and by precision, functions that loops compiled by Numba can call."""
    extending = extra("numba.extending", "fast", "a vectorised function")
    from numba import types

    def compiled(formula: Callable[..., Lane], kind: str) -> Callable:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = {k: context.get_value_type(getattr(types, k))
                     for k in ("boolean", "int32", "int64", "float32", "float64")}
            return formula(*(Lane(builder, kinds, kind, x) for x in args)).value

        real = getattr(types, kind)
        unary, binary = lambda typing, x: (real(real), emit), lambda typing, x, y: (real(real, real), emit)
        typed = unary if formula.__code__.co_argcount == 1 else binary
        typed.__name__ = formula.__name__
        return extending.intrinsic(typed)

    return {formula.__name__: {kind: compiled(formula, kind) for kind in ("float32", "float64")}
            for formula in formulas}


VECTORISED = vectorised(*(getattr(formulas, name) for name in (
    "exp", "expm1", "tanh", "sigmoid", "erf", "log", "log1p", "logaddexp")), powers.power, powers.sin, powers.cos)


@functools.cache
def edition() -> str:
    """A word for these functions as they are: what was compiled with others is of no use."""
    files = sorted(Path(path.__file__) for path in (formulas, powers))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
