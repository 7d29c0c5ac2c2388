"""Operators entry by entry, and reductions: lines of the tree, in the types in which NumPy computes."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .arrangements import axes_of, in_shape, need
from .builder import NATIVE, Accumulated, Builder
from .tree import has
from .views import View, indexed, root_view

LONG_SUM = 4096  # numbers: a longer sum in single precision is computed in double


# ---- entry by entry ----------------------------------------------------------------------------------------

def entrywise(w: Builder, dst: str, op: str, *v: Any) -> View:
    """The line of an entrywise operator, if the arithmetic has it for these types."""
    if any(isinstance(x, Accumulated) for x in v):
        return accumulated(w, dst, v)
    kind, computed = w.kinds[dst], computed_in(w, dst, op, v)
    if op == "astype":
        op, v = "copy", v[:1]
    if op == "round" and v[1:] in ((), (0,)):
        op, v = "rint", v[:1]
    x, *more_args = v = [a.item() if isinstance(a, np.generic) else a for a in v]
    numbers = all(isinstance(a, (View, int, float)) for a in v)
    need(computed and has(op, computed, kind.dtype) and numbers)
    if op == "power" and more_args[0] in (2, 3) and type(more_args[0]) is not bool and kind.dtype.kind == "f":
        square = w.compute("mul", x, x, dtype=kind.dtype)
        return square if more_args[0] == 2 else w.compute("mul", square, x, dtype=kind.dtype)
    target = root_view(w.program.inplace[dst], kind.shape) if dst in w.direct else None
    if target and any(a != target for a in v if isinstance(a, View) and a.root == target.root):
        target = None  # the line would read other places of it than it writes
    return w.line(dst, op, v, kind.shape, kind.dtype, computed=computed, target=target)


def computed_in(w: Builder, dst: str, op: str, v: Sequence[Any]) -> np.dtype | None:
    """The type in which NumPy computes a line; None if loops do not have this type."""
    dtype = w.kinds[dst].dtype
    types = [w.dtype(a) if isinstance(a, View) else a for a in v]
    if op == "astype":
        source = types[0] if isinstance(v[0], View) else np.dtype(type(v[0]))
        return dtype if source.kind != "f" or dtype.kind in "fb" else None  # C decides what others become
    if op == "where" or dtype.kind == "f":
        return dtype
    try:
        computed = np.result_type(*types) if dtype.kind == "b" else dtype
        for a in types:
            if not isinstance(a, np.dtype):
                computed.type(a)  # raises an error if the number does not fit
    except (OverflowError, TypeError, ValueError):
        return None
    signs = {t.kind for t in types if isinstance(t, np.dtype)}
    return computed if computed in NATIVE and not signs >= {"i", "u"} else None


def accumulated(w: Builder, dst: str, v: Sequence[Any]) -> View:
    """A sum with the adjoint of an index, which is added at its place, and not spread over zeros first."""
    shape = w.kinds[dst].shape
    over = w.program.inplace[dst] if dst in w.direct else None
    # d + d[::-1] in the memory of d would read what it has added
    read = {x.x.root for x in v if isinstance(x, Accumulated)}
    bases = [x for a, x in zip(w.step[2], v, strict=True) if w.is_whole(x, shape) and x.root not in read
           and (x.root == over or w.unread(a) and {node.mode for node in w.tree.writers[x.root]} == {"into"})]
    base = bases[0] if bases else w.root_in_order(dst, *w.kinds[dst][:2])
    for x in sorted(v, key=lambda x: isinstance(x, Accumulated)):  # arrays first
        if isinstance(x, Accumulated):
            x.add(w, base)
        elif not bases:
            w.line(dst, "copy", [x], shape, mode="into", target=base)
    return base


# ---- reductions --------------------------------------------------------------------------------------------

def axis_reduction(w: Builder, dst: str, op: str, x: View, axis: Any, keepdims: Any) -> View:
    """sum, prod, max and min over axes."""
    axes = axes_of(axis, len(x.shape))
    need(axes is not None and w.kinds[dst].dtype.kind != "b" and (op in ("sum", "prod") or 0 not in x.shape))
    return gathered_over(w, dst, op, x, axes, bool(keepdims))


def gathered_over(w: Builder, dst: str, mode: str, x: View, axes: set[int], keepdims: bool = False) -> View:
    """The reduction of x over axes; a long sum in single precision is computed in double."""
    dtype = w.kinds[dst].dtype
    if mode != "sum" or dtype != np.float32 or prod(x.shape[a] for a in axes) <= LONG_SUM:
        return w.line(dst, "copy", [x], x.shape, dtype, mode=mode, reduced=axes, keepdims=keepdims)
    total = w.line(f"{dst}.double", "copy", [x], x.shape, float, mode=mode, reduced=axes, keepdims=keepdims)
    return w.line(dst, "copy", [total], total.shape, dtype)


def unbroadcast(w: Builder, dst: str, op: str, x: View, like: Any, axis: Any) -> View:
    """A sum over the axes that broadcasting added; or a broadcast."""
    have, kind = x.shape, w.kinds[dst]
    axes = axes_of(axis, len(have))
    need(axes is not None and w.dtype(x) == kind.dtype and kind.dtype.kind == "f")
    axes_left = [k for k in range(len(have)) if k not in axes]
    extra = len(axes_left) - len(kind.shape)
    need(extra >= 0)
    axes |= {k for j, k in enumerate(axes_left) if j < extra or kind.shape[j - extra] == 1 != have[k]}
    summed = gathered_over(w, dst, "sum", x, axes) if any(have[k] != 1 for k in axes) else x
    return in_shape(w, summed, kind.shape)


def running_reduction(w: Builder, dst: str, op: str, x: View, axis: int | None) -> View:
    """Running sums or products: each entry is made of the entry before it."""
    kind = w.kinds[dst]
    x, root = in_shape(w, w.typed(dst, x, kind.dtype), kind.shape), w.root_in_order(dst, *kind[:2])
    before = [slice(None)] * ((axis or 0) % len(kind.shape))
    along = lambda view, *ends: indexed(view, [*before, slice(*ends)])
    first_entry, next_entries = along(root, 1), along(root, 1, None)
    w.line(dst, "copy", [along(x, 1)], first_entry.shape, mode="put", target=first_entry)
    op, args = {"cumsum": "add", "cumprod": "mul"}[op], [along(root, -1), along(x, 1, None)]
    w.line(dst, op, args, next_entries.shape, mode="put", target=next_entries)
    return root


def argmax(w: Builder, dst: str, op: str, x: View, axis: Any) -> View:
    """The first place of the maximum, or of NaN: the least index of the entries that equal it."""
    shape, dtype, axes = x.shape, w.dtype(x), axes_of(axis, len(x.shape))
    need(dtype.kind == "f" and len(axes or ()) == 1 and 0 not in shape)
    k, = axes
    top = w.line(f"{dst}.top", "copy", [x], shape, dtype, mode="max", reduced=axes, keepdims=True)
    is_top = w.compute("logical_or", w.compute("equal", x, top), w.compute("isnan", x))
    places = w.constant(np.arange(shape[k]).reshape([-1 if a == k else 1 for a in range(len(shape))]))
    place = w.compute("where", is_top, places, shape[k])
    index = w.line(dst, "copy", [place], shape, np.int64, mode="min", reduced=axes)
    w.positions[index.root] = shape[k]
    return index


REDUCED = dict.fromkeys(("sum", "prod", "max", "min"), axis_reduction)
REDUCED |= dict(argmax=argmax, cumsum=running_reduction, cumprod=running_reduction, unbroadcast=unbroadcast)
