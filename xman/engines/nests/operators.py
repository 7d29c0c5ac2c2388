"""The entrywise operators that a line of the tree may have, whichever compiler writes them."""
from __future__ import annotations

import numpy as np

from ops import facts_of

ENTRYWISE = {*"""
    equal not_equal less less_equal greater greater_equal
    logical_and logical_or logical_not isnan isfinite signbit
    add subtract mul divide negative abs sign maximum minimum where copy
    power sqrt cbrt hypot floor ceil trunc rint
    exp exp2 expm1 log log2 log10 log1p logaddexp sigmoid erf
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh
    scale ratio share""".split()}
TRUTHS = {op for op in ENTRYWISE if facts_of(op).gives is bool}
OF_FLOATS = ENTRYWISE - TRUTHS
OF_WHOLE = {"copy", "where", "negative", "add", "subtract", "mul", "maximum", "minimum"}


def has(op: str, computed: np.dtype, result: np.dtype) -> bool:
    """Whether lines compute the operator in the type `computed`, for a result of that other type."""
    if op in TRUTHS:
        return result == np.bool_ and (computed.kind == "f" or op not in ("isnan", "isfinite", "signbit"))
    operators = {"f": OF_FLOATS, "b": {"copy", "where"}}.get(computed.kind, OF_WHOLE)
    return op in operators and (op == "copy" or result == computed)
