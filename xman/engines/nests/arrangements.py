"""Rearrangements: operators that move numbers and compute none. Most are views; some write parts of a root.

A function of the table takes the `Lines`, a line of the list and what its arguments are, and returns the view
of the result; or None, where NumPy has to: computed indices, masks, and what depends on values.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ops import G

from ...wengert import Line as Step
from .views import View, diagonal, exchanged, indexed, reshaped, spread, substituted, transposed, whole


class ACCUMULATED(NamedTuple):
    """What an index brings back, and one sum alone reads: it waits to be added where that sum lies."""
    x: Any
    keys: Sequence[Any]

    def add(self, w: Any, base: View) -> None:
        target = indexed(base, self.keys)
        w.line(base.root, "copy", [self.x], target.shape, how="into", target=target)


def spread_to(w: Any, a: Any) -> tuple[int, ...]:
    """The shape of an argument."""
    return w.kinds[a].shape if isinstance(a, str) else np.shape(a)


def axes_of(axis: Any, n: int) -> set[int] | None:
    """The axes that a literal names; None where it is none."""
    if axis is None:
        return set(range(n))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {a % n for a in axes} if all(type(a) is int for a in axes) and n or axis == () else None


def same(w: Any, step: Step, v: list) -> Any:
    """The argument itself, in the type of the result."""
    x, dtype = v[0].item() if isinstance(v[0], np.generic) else v[0], w.kinds[step[0]].dtype
    if isinstance(x, View) and w.dtype(x) != dtype:
        return w.line(step[0], "copy", [x], x.shape, dtype)
    return x if isinstance(x, (View, int, float)) else None


def broadcast(w: Any, step: Step, v: list) -> Any:
    dst, _, args = step
    shape, x = w.kinds[dst].shape, same(w, step, v)
    if not isinstance(x, View):
        return x
    axes = args[2] if len(args) > 2 else ()
    if axes != () and not shape:
        return None
    axes = {a % len(shape) for a in (axes if isinstance(axes, tuple) else (axes,))}
    if axes:
        kept = [k for k in range(len(shape)) if k not in axes]
        x = substituted(x, [1 if k in axes else x.shape[kept.index(k)] for k in range(len(shape))],
                        [(0, ((k, 1),)) for k in kept])
    return spread(x, shape)


def reshape(w: Any, step: Step, v: list) -> Any:
    x = same(w, step, v)
    return in_shape(w, x, w.kinds[step[0]].shape) if isinstance(x, View) else x


def in_shape(w: Any, x: View, shape: Sequence[int]) -> View:
    """The view in another shape, of a copy where it has to be."""
    found = reshaped(x, shape)
    return found if found is not None else reshaped(w.copied(x.root, x), shape)


def transpose(w: Any, step: Step, v: list) -> View:
    (x, axes), n = (*v, None)[:2], len(v[0].shape)
    return transposed(x, [*range(n)][::-1] if axes is None else [a % n for a in axes])


def mT(w: Any, step: Step, v: list) -> View:
    return exchanged(v[0])


def flip(w: Any, step: Step, v: list) -> View | None:
    x, axes = v[0], axes_of((*v, None)[1], len(v[0].shape))
    return None if axes is None else indexed(x, [slice(None, None, -1 if k in axes else 1)
                                                 for k in range(len(x.shape))])


def keys_of(w: Any, keys: Sequence[Any], shape: Sequence[int]) -> list | None:
    """The keys of an index into that shape, arrays as views; None where loops cannot follow them."""
    found, axis = [], 0
    taken = sum(key is not None and key is not Ellipsis for key in keys)
    for key in keys:
        if key is Ellipsis:
            axis += len(shape) - taken
        elif isinstance(key, (np.ndarray, str)):
            view = (w.views.get(key) if isinstance(key, str) else w.constant(key) if key.dtype.kind in "iu"
                    else None)
            if not isinstance(view, View) or w.dtype(view).kind not in "iu":
                return None
            fits = w.positions.get(view.root, shape[axis] + 1) <= shape[axis]
            if not fits and w.tree.roots[view.root].place != "given":
                return None
            if isinstance(key, str) and not fits:
                w.bounds[view.root, -shape[axis], shape[axis]] = None
            key, axis = view, axis + 1
        elif isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            key, axis = int(key), axis + 1
        elif isinstance(key, slice):
            axis += 1
        elif key is not None:
            return None
        found.append(key)
    return found


def getitem(w: Any, step: Step, v: list) -> Any:
    keys = keys_of(w, step[2][1:], spread_to(w, step[2][0]))
    return None if keys is None else indexed(v[0], keys) if isinstance(v[0], View) else v[0]


def take(w: Any, step: Step, v: list) -> Any:
    x, axis = v[0], step[2][2] if len(step[2]) > 2 else None
    if not x.shape:
        return None
    x = in_shape(w, x, (prod(x.shape),)) if axis is None else x
    keys = keys_of(w, [*[slice(None)] * ((axis or 0) % len(x.shape)), step[2][1]], x.shape)
    return None if keys is None else indexed(x, keys)


def scatter_add(w: Any, step: Step, v: list) -> Any:
    """Zeros, to which x is added at the keys; x itself, where these are all places in order."""
    dst, _, args = step
    kind, keys = w.kinds[dst], keys_of(w, args[2:], w.kinds[dst].shape)
    if keys is None or kind.dtype.kind == "b":
        return None
    place = indexed(whole(dst, kind.shape), keys)
    forward = all(key is None or key is Ellipsis or isinstance(key, int) or isinstance(key, slice)
                  and key.step in (None, 1)
                  for key in keys)
    if forward and place.shape and prod(place.shape) == prod(kind.shape) and isinstance(v[0], View) and (
            v[0].shape == place.shape and w.dtype(v[0]) == kind.dtype
            and (found := reshaped(v[0], kind.shape))):
        return found
    if dst in w.late:
        return ACCUMULATED(v[0], keys)
    root = w.tree.root(w.fresh(dst), kind.shape, kind.dtype)
    ACCUMULATED(v[0], keys).add(w, root)
    return root


def put(w: Any, dst: str, parts: Sequence[tuple], how: str = "put") -> View:
    """A new root of which each part (keys, x) is written; `into`: and the rest is 0."""
    root = w.tree.root(w.fresh(dst), w.kinds[dst].shape, w.kinds[dst].dtype)
    for keys, x in parts:
        target = indexed(root, keys) if isinstance(keys, tuple) else keys(root)
        w.line(dst, "copy", [x], target.shape, how=how, target=target)
    return root


def along(axis: int, key: Any) -> tuple:
    return *[slice(None)] * axis, key


def concat(w: Any, step: Step, v: list) -> View:
    dst, _, (axis, *arrays) = step
    axis, start, parts = axis % len(w.kinds[dst].shape), 0, []
    for a, x in zip(arrays, v[1:], strict=True):
        n = spread_to(w, a)[axis]
        parts.append((along(axis, slice(start, start + n)), x))
        start += n
    return put(w, dst, parts)


def stack(w: Any, step: Step, v: list) -> View:
    dst, _, (axis, *_) = step
    return put(w, dst, [(along(axis % len(w.kinds[dst].shape), k), x) for k, x in enumerate(v[1:])])


def part(w: Any, step: Step, v: list) -> View:
    x, i, axis, *arrays = step[2]
    axis %= len(spread_to(w, x))
    sizes = [spread_to(w, a)[axis] for a in arrays]
    return indexed(v[0], along(axis, slice(sum(sizes[:i]), sum(sizes[:i + 1]))))


def roll(w: Any, step: Step, v: list) -> View | None:
    (dst, _, (_, by, *more)), shape = step, w.kinds[step[0]].shape
    axes = axes_of(more[0] if more else None, len(shape))
    if len(axes or ()) != 1 or 0 in shape or not isinstance(by, int) or more and isinstance(more[0], tuple):
        return None
    axis, = axes
    n, by = shape[axis], by % shape[axis]
    ends = ((slice(by, None), slice(n - by)), (slice(by), slice(n - by, None)))
    return put(w, dst, [(along(axis, to), indexed(v[0], along(axis, of))) for to, of in ends]) if by else v[0]


def shift(w: Any, step: Step, v: list) -> Any:
    dst, _, (x, axis, *first) = step
    shape = w.kinds[dst].shape
    if first and not isinstance(first[0], (int, float)) or 0 in shape:
        return None
    axis %= len(shape)
    return put(w, dst, [(along(axis, slice(1, None)), indexed(v[0], along(axis, slice(-1)))),
                        (along(axis, slice(1)), first[0] if first else 0.0)])


def rim(w: Any, widths: Any, shape: Sequence[int]) -> tuple:
    """The keys of what pad puts a rim around, in an array of that shape."""
    pairs = np.broadcast_to(np.asarray(widths), (len(shape), 2)).tolist()
    return tuple(slice(before, n - after) for (before, after), n in zip(pairs, shape, strict=True))


def pad(w: Any, step: Step, v: list) -> View:
    dst, _, (_, widths) = step
    return put(w, dst, [(rim(w, widths, w.kinds[dst].shape), v[0])], "into")


def unpad(w: Any, step: Step, v: list) -> View:
    return indexed(v[0], rim(w, step[2][1], v[0].shape))


def diag(w: Any, step: Step, v: list) -> View:
    """diag, and diagBack, whose second argument is of the shape of the result."""
    dst, op, args = step
    k = [*args[1 + (op == "diagBack"):], 0][0]
    return (diagonal(v[0], k) if len(v[0].shape) == 2
            else put(w, dst, [(lambda root: diagonal(root, k), v[0])], "into"))


def one_hot(w: Any, step: Step, v: list) -> Any:
    """Labels as rows of zeros with a single one, where they are given and are labels."""
    dst, _, (y, like) = step
    kind, have = w.kinds[dst], spread_to(w, y)
    if not isinstance(v[0], View) or w.dtype(v[0]).kind == "f" or have == kind.shape or len(kind.shape) < 2:
        return None
    root = w.tree.roots[v[0].root]
    n, rows = kind.shape[-1], kind.shape[:-1]
    if n == 1 or root.place != "given" or root.dtype.kind == "b" or have not in (rows, (*rows, 1)) or (
            n > np.iinfo(root.dtype).max):
        return None
    w.bounds[root.name, 0, n] = None
    classes = w.constant(np.arange(n, dtype=root.dtype))
    return w.line(dst, "equal", [reshaped(v[0], (*rows, 1)), classes], kind.shape, kind.dtype,
                  computed=root.dtype)


def count(w: Any, step: Step, v: list) -> Any:
    return G["count"](np.broadcast_to(0.0, spread_to(w, step[2][0])), *step[2][1:])


MOVED = {"transpose", "mT", "flip", "part", "roll", "unpad"}  # a number for all entries stays it
OF_VIEWS = {"take", "shift", "diag", "diagBack"}
ARRANGEMENTS = {
    "alias": same, "stopGradient": same, "broadcast": broadcast, "reshape": reshape, "transpose": transpose, "mT": mT,
    "flip": flip, "getitem": getitem, "take": take, "scatterAdd": scatter_add, "concat": concat, "stack": stack, "part": part,
    "roll": roll, "shift": shift, "pad": pad, "unpad": unpad, "diag": diag, "diagBack": diag, "oneHot": one_hot, "count": count,
}
