"""Rearrangements: operators that move numbers and compute none. Most are views; some write parts of a root.

A function in the tables takes the `Builder`, the register and the operator of a line of the list, and the
operator's arguments, with views in place of registers. It returns the view of the result, and raises ByNumPy
if NumPy has to compute it: for computed indices, masks, and shapes that depend on values.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ops.arrays.indexing import written_out

from .builder import Accumulated, Builder
from .views import View, broadcast_view, indexed, reshaped, root_view, transposed


class ByNumPy(Exception):
    """Loops cannot compute a line: NumPy has to."""


def need(holds: Any) -> None:
    """Leave the line to NumPy, unless this holds."""
    if not holds:
        raise ByNumPy


def axes_of(axis: Any, n: int) -> set[int] | None:
    """The axes that a literal names; None if it names none."""
    if axis is None:
        return set(range(n))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {a % n for a in axes} if all(type(a) is int for a in axes) and n or axis == () else None


def same(w: Builder, dst: str, op: str, x: View) -> View:
    """The argument itself, in the type of the result."""
    return w.typed(dst, x, w.kinds[dst].dtype)


def broadcast(w: Builder, dst: str, op: str, x: View, like: Any, axis: Any) -> View:
    shape, x = w.kinds[dst].shape, same(w, dst, op, x)
    axes = axes_of(axis, len(shape))
    need(axes is not None)
    if axes:
        x = indexed(x, [None if k in axes else slice(None) for k in range(len(shape))])
    return broadcast_view(x, shape)


def reshape(w: Builder, dst: str, op: str, x: View, like: Any) -> View:
    return in_shape(w, same(w, dst, op, x), w.kinds[dst].shape)


def in_shape(w: Builder, x: View, shape: Sequence[int]) -> View:
    """The view in another shape, of a copy if necessary."""
    view = reshaped(x, shape)
    return view if view is not None else reshaped(w.copied(x.root, x), shape)


def order_of(shape: Sequence[int], axes: Any = None) -> list[int]:
    """The order in which a transpose has the axes of an array."""
    return [*range(len(shape))][::-1] if axes is None else [a % len(shape) for a in axes]


def transpose(w: Builder, dst: str, op: str, x: View, axes: Any = None) -> View:
    return transposed(x, order_of(x.shape, axes))


def keys_of(w: Builder, keys: Sequence[Any], shape: Sequence[int]) -> list:
    """The keys of an index into an array of that shape, arrays as views."""
    sizes = iter(shape)
    return [None if key is None else single_key(w, key, next(sizes)) for key in written_out(keys, len(shape))]


def single_key(w: Builder, key: Any, n: int) -> Any:
    """The same for one key, into n entries."""
    if isinstance(key, slice):
        return key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return int(key)
    is_constant = isinstance(key, np.ndarray) and key.dtype.kind in "iu"
    view = w.constant(key) if is_constant else key
    need(isinstance(view, View) and w.dtype(view).kind in "iu")
    # a loop reads wherever it is told to: indices that are not known to lie in the array are checked at each
    # call, before anything runs, and so they have to be the caller's
    if not is_constant and w.positions.get(view.root, n + 1) > n:
        need(w.tree.roots[view.root].place == "given")
        w.bounds[view.root, -n, n] = None
    return view


def getitem(w: Builder, dst: str, op: str, x: View, *keys: Any) -> View:
    views = keys_of(w, keys, x.shape)
    if x.gathered and any(isinstance(key, View) for key in views):  # its places are no map of the new axes
        x = w.copied(dst, x)
    return indexed(x, views)


def take(w: Builder, dst: str, op: str, x: View, indices: Any, axis: Any) -> View:
    need(x.shape)
    x = in_shape(w, x, (prod(x.shape),)) if axis is None else x
    return getitem(w, dst, op, x, *[slice(None)] * ((axis or 0) % len(x.shape)), indices)


def scatter_add(w: Builder, dst: str, op: str, x: View, like: Any, *keys: Any) -> Any:
    """Zeros, to which x is added at the keys; or x itself, if the keys are all places in order."""
    kind, keys = w.kinds[dst], keys_of(w, keys, w.kinds[dst].shape)
    need(kind.dtype.kind != "b")
    place = indexed(root_view(dst, kind.shape), keys)
    need(len(x.shape) <= len(place.shape))  # NumPy drops axes of one entry
    forward = all(getattr(key, "step", None) in (None, 1) and not isinstance(key, View) for key in keys)
    everywhere = forward and place.shape == x.shape != () and prod(x.shape) == prod(kind.shape)
    if everywhere and w.dtype(x) == kind.dtype and (view := reshaped(x, kind.shape)):
        return view
    if dst in w.layout.index_adjoints:
        return Accumulated(x, keys)
    root = w.root_in_order(dst, kind.shape, kind.dtype)
    Accumulated(x, keys).add(w, root)
    return root


def concat(w: Builder, dst: str, op: str, axis: int, *arrays: View) -> View:
    """A new root, with each array written into a part of it."""
    root, start = w.root_in_order(dst, *w.kinds[dst][:2]), 0
    before = [slice(None)] * (axis % len(root.shape))
    for x in arrays:
        n = x.shape[len(before)]
        target = indexed(root, (*before, slice(start, start + n)))
        w.line(dst, "copy", [x], target.shape, mode="put", target=target)
        start += n
    return root


def stack(w: Builder, dst: str, op: str, axis: int, *arrays: View) -> View:
    before = [slice(None)] * (axis % len(w.kinds[dst].shape))
    return concat(w, dst, op, axis, *[indexed(x, (*before, None)) for x in arrays])


def one_hot(w: Builder, dst: str, op: str, y: View, like: Any) -> View:
    """Labels as rows of zeros with a single one."""
    kind, root = w.kinds[dst], w.tree.roots[y.root]
    need(root.place == "given" and root.dtype.kind in "iu" and y.shape != kind.shape and len(kind.shape) > 1)
    *rows, n = kind.shape
    need(1 != n <= np.iinfo(root.dtype).max and y.shape in ((*rows,), (*rows, 1)))
    w.bounds[root.name, 0, n] = None
    classes = w.constant(np.arange(n, dtype=root.dtype))
    args = [reshaped(y, (*rows, 1)), classes]
    return w.line(dst, "equal", args, kind.shape, kind.dtype, computed=root.dtype)


ARRANGEMENTS = {rule.__name__: rule for rule in (broadcast, reshape, transpose, getitem, take, concat, stack)}
ARRANGEMENTS |= dict(alias=same, stopGradient=same, scatterAdd=scatter_add, oneHot=one_hot)
