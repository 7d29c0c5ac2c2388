"""Kinds: what a program knows of the values that it runs on, and of the memory in which they lie."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import ops

from ...errors import XManError
from ...wengert import Line, registers
from ..program import GEMM, Kind

WIDE = {np.dtype(t) for t in ("f8", "i8", "?")}  # beside these Python's numbers act like NumPy's


def kind_of(x: Any) -> Kind | None:
    """The kind of an array or a number; None for anything else."""
    numpys = type(x) is np.ndarray or issubclass(type(x), np.generic)
    if numpys and x.dtype.kind in "biuf" and x.dtype.isnative:
        return Kind(x.shape, x.dtype, type(x) is np.ndarray)
    return Kind((), np.dtype(type(x)), False) if type(x) in (bool, int, float) else None


def same_but_number(kind: Kind | None, like: Kind | None) -> bool:
    """Whether two kinds are equal, but that a single number may be an array in one of them."""
    return kind == like or bool(kind and like) and kind[:2] == like[:2] == ((), kind.dtype)


def described(kind: Kind | None) -> str:
    return f"an array of {kind.dtype} of shape {kind.shape}" if kind and kind.array else "no array"


def check_update(x: str, y: str, before: Kind | None, after: Kind | None) -> None:
    """XManError unless the register y can overwrite the input x. before, after: the kinds of x and y."""
    if not before or not before.array or not same_but_number(before, after):
        raise XManError(f"inplace: {y} is {described(after)}, and cannot overwrite {x}, {described(before)}")


def signature(x: Any) -> tuple:
    """What a program depends on in a value: its type, its shape and its precision.

    An array's order in memory counts too, as a loop over memory is written for one order.
    """
    if issubclass(type(x), np.ndarray):  # not isinstance, which is true of a traced value
        return type(x), x.shape, x.dtype, x.flags.c_contiguous
    return type(x), np.shape(x), getattr(x, "dtype", None)


def on_host(x: Any) -> Any:
    """An array of JAX as one of NumPy; all else as it is."""
    return np.asarray(x) if hasattr(x, "addressable_shards") else x


def from_dlpack(name: str, x: Any) -> Any:
    """Another library's array as NumPy's, in the same memory (DLPack); JAX's, and all else, as it is."""
    if not hasattr(x, "__dlpack__") or isinstance(x, np.ndarray) or hasattr(x, "addressable_shards"):
        return x
    try:
        return np.from_dlpack(x)
    except (BufferError, TypeError, RuntimeError, ValueError) as error:
        raise XManError(f"the value of {name!r} is an array of {type(x).__module__.partition('.')[0]} that "
                        f"NumPy cannot read: {error}; copy it to the host's memory") from None


def memory_roots(lines: Iterable[Line], kinds: Mapping[str, Kind]) -> dict[str, frozenset[str]]:
    """For each register those in whose memory it may lie: itself, or the registers that it is a view of.

    After `s = add(x, y)` and `t = transpose(s)` the root of s is s and the root of t is s too, so that s has
    to stay in memory as long as t is read. A number has no root. A user's operator may return its argument,
    so its result counts as a view of all of them.
    """
    roots: dict[str, frozenset[str]] = {}
    for dst, op, args in lines:
        operands = [roots.setdefault(a, frozenset([a])) for a in registers(args)]
        if dst in kinds and not kinds[dst].array:
            roots[dst] = frozenset()
        elif ops.facts_of(op).view or op not in ops.table.OURS and op != GEMM:
            roots[dst] = frozenset().union(*operands)
        else:
            roots[dst] = frozenset([dst])
    return roots
