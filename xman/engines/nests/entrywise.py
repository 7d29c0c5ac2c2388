"""Operators entry by entry, and reductions: lines of the tree, in the types in which NumPy computes."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...wengert import Line as Step
from ..llvm import arithmetic
from .arrangements import ACCUMULATED, axes_of, spread_to
from .tree import Line
from .views import View, reshaped, whole

NATIVE = {np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
LONG_SUM = 4096  # numbers, from which on single precision is added up in double


# ---- entry by entry ----------------------------------------------------------------------------------------

def entrywise(w: Any, step: Step, v: list) -> Any:
    """An operator entry by entry; None where the arithmetic does not have it for these types."""
    dst, op, args = step
    kind, computed = w.kinds[dst], computed_in(w, step)
    if any(isinstance(a, ACCUMULATED) for a in v):
        return accumulated(w, step, v)
    if op == "astype":
        op, v = "copy", v[:1]
    if computed is None or not arithmetic.has(op, computed, kind.dtype) or not all(
            isinstance(a, (View, int, float)) or isinstance(a, np.generic) and a.dtype in NATIVE for a in v):
        return None
    v = [a.item() if isinstance(a, np.generic) else a for a in v]
    if (op == "power" and type(v[1]) in (int, float) and v[1] in (2, 3) and kind.dtype.kind == "f"
        and isinstance(v[0], View)):
        square = w.line(f"{dst}.square" if v[1] == 3 else dst, "mul", [v[0], v[0]], kind.shape, kind.dtype)
        return square if v[1] == 2 else w.line(dst, "mul", [square, v[0]], kind.shape, kind.dtype)
    target = None
    if dst in w.direct and meets_itself(w.program.inplace[dst], v, kind.shape):
        target = whole(w.program.inplace[dst], kind.shape)
    return w.line(dst, op, v, kind.shape, kind.dtype, computed=computed, target=target)


def meets_itself(x: str, v: list, shape: tuple[int, ...]) -> bool:
    """Whether x is read at the places alone that are to be written."""
    return all(a == whole(x, shape) for a in v if isinstance(a, View) and a.root == x)


def computed_in(w: Any, step: Step) -> np.dtype | None:
    """The type in which NumPy computes a line; None where loops have no such type."""
    dst, op, args = step
    dtype = w.kinds[dst].dtype
    if op == "astype":
        source = w.kinds[args[0]].dtype if isinstance(args[0], str) else np.dtype(type(args[0]))
        return dtype if source.kind != "f" or dtype.kind in "fb" else None  # what does not fit is C's affair
    types = [w.kinds[a].dtype if isinstance(a, str) else a for a in args]
    if op == "where" or dtype.kind == "f":
        return dtype
    try:
        found = np.result_type(*types) if dtype.kind == "b" else dtype
        for a in types:
            if not isinstance(a, np.dtype):
                found.type(a)  # a number that fits
    except (OverflowError, TypeError, ValueError):
        return None
    signs = {t.kind for t in types if isinstance(t, np.dtype)}
    return found if found in NATIVE and not signs >= {"i", "u"} else None


def accumulated(w: Any, step: Step, v: list) -> View:
    """A sum with what an index alone brings back: added in its place, not spread over zeros first."""
    dst, _, args = step
    shape, dtype = w.kinds[dst].shape, w.kinds[dst].dtype
    late, others = ([x for x in v if isinstance(x, ACCUMULATED)],
                    [x for x in v if not isinstance(x, ACCUMULATED)])
    over = w.program.inplace[dst] if dst in w.direct else None
    base = next((x for a, x in zip(args, v, strict=True) if isinstance(x, View) and w.is_whole(x, shape)
                 and (x.root == over or w.uses[a] == 1 and collects(w, x.root))), None)
    if base is None:
        base = w.tree.root(w.fresh(dst), shape, dtype)
        for x in others:
            w.line(dst, "copy", [x], shape, how="into", target=base)
    for x in late:
        x.add(w, base)
    return base


def collects(w: Any, root: str) -> bool:
    """Whether all that is written to a root is added there."""
    writers = w.tree.writers.get(root, ())
    return w.tree.roots[root].place == "arena" and not w.tree.readers.get(root) and bool(writers) and all(
        isinstance(node, Line) and node.how == "into" for node in writers)


# ---- reductions --------------------------------------------------------------------------------------------

def reduction(w: Any, step: Step, v: list) -> View | None:
    """sum, prod, max and min over axes."""
    dst, op, args = step
    shape, kind = spread_to(w, args[0]), w.kinds[dst]
    axes = axes_of(args[1] if len(args) > 1 else None, len(shape))
    if (axes is None or not isinstance(args[0], str) or kind.dtype.kind == "b" or op in ("max", "min")
        and 0 in shape):
        return None
    return gathered_over(w, dst, op, v[0], shape, axes, bool(len(args) > 2 and args[2]))


def gathered_over(w: Any, dst: str, how: str, x: Any, shape: tuple[int, ...], axes: set[int],
                  keepdims: bool = False) -> View:
    """What is gathered of x over axes; a long sum of single precision in double."""
    dtype = w.kinds[dst].dtype
    if how != "sum" or dtype != np.float32 or prod(shape[a] for a in axes) <= LONG_SUM:
        return w.line(dst, "copy", [x], shape, dtype, how=how, reduced=axes, keepdims=keepdims)
    found = w.line(f"{dst}.double", "copy", [x], shape, float, how=how, reduced=axes, keepdims=keepdims)
    return w.line(dst, "copy", [found], found.shape, dtype)


def unbroadcast(w: Any, step: Step, v: list) -> View | None:
    """A sum over what broadcasting added, and another shape; or what spreads."""
    dst, _, args = step
    have, kind = spread_to(w, args[0]), w.kinds[dst]
    axes = axes_of(args[2] if len(args) > 2 else (), len(have))
    if (axes is None or not isinstance(args[0], str) or w.kinds[args[0]].dtype != kind.dtype
        or kind.dtype.kind != "f"):
        return None
    rest = [k for k in range(len(have)) if k not in axes]
    extra = len(rest) - len(kind.shape)
    if extra < 0:
        return None
    axes |= {k for j, k in enumerate(rest) if j < extra or kind.shape[j - extra] == 1 != have[k]}
    if not any(have[k] != 1 for k in axes):
        return reshaped(v[0], kind.shape) if isinstance(v[0], View) else v[0]
    return reshaped(gathered_over(w, dst, "sum", v[0], have, axes), kind.shape)


def ties(w: Any, step: Step, v: list) -> Any:
    """The share of each entry in the extreme value of its slice: 1 / how many are equal, NaNs too."""
    dst, _, args = step
    kind = w.kinds[dst]
    axes = axes_of(args[2] if len(args) > 2 else None, len(kind.shape))
    dtypes = {w.kinds[a].dtype for a in args[:2] if isinstance(a, str)}
    if axes is None or dtypes != {kind.dtype} or kind.dtype.kind != "f":
        return None
    truth = lambda name, op, *of, dtype=kind.dtype: w.line(f"{dst}.{name}", op, of, kind.shape, bool,
                                                           computed=dtype)
    strange = truth("strange", "logical_and", truth("x", "isnan", v[0]), truth("y", "isnan", v[1]),
                    dtype=np.dtype(bool))
    equal = truth("equal", "logical_or", truth("same", "equal", *v[:2]), strange, dtype=np.dtype(bool))
    count = w.line(f"{dst}.count", "copy", [equal], kind.shape, kind.dtype, how="sum", reduced=axes,
                   keepdims=True)
    some = w.line(f"{dst}.some", "maximum", [count, 1.0], count.shape, kind.dtype)
    return w.line(dst, "divide", [equal, some], kind.shape, kind.dtype)


def argmax(w: Any, step: Step, v: list) -> View | None:
    """The first place of the maximum, or of NaN: the least index of those entries that are equal to it."""
    dst, _, (x, *axis) = step
    shape = spread_to(w, x)
    axes = axes_of(axis[0] if axis else None, len(shape))
    if not isinstance(v[0], View) or w.dtype(v[0]).kind != "f" or len(axes or ()) != 1 or 0 in shape:
        return None
    (k,), dtype = axes, w.dtype(v[0])
    top = w.line(f"{dst}.top", "copy", v, shape, dtype, how="max", reduced=axes, keepdims=True)
    flag = lambda op, *of, computed=dtype: w.line(f"{dst}.{op}", op, of, shape, bool, computed=computed)
    there = flag("logical_or", flag("equal", v[0], top), flag("isnan", v[0]), computed=np.dtype(bool))
    places = w.constant(np.arange(shape[k]).reshape([-1 if a == k else 1 for a in range(len(shape))]))
    place = w.line(f"{dst}.place", "where", [there, places, shape[k]], shape, np.int64)
    found = w.line(dst, "copy", [place], shape, np.int64, how="min", reduced=axes)
    w.positions[found.root] = shape[k]
    return found


TABLE = {**dict.fromkeys(("sum", "prod", "max", "min"), reduction), "argmax": argmax, "unbroadcast": unbroadcast,
         "ties": ties}
