"""Many tangents at once: an array with a first axis for the directions, which rules do not notice."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ops import G, f
from ops.facts import facts_of, parameters
from ops.loops import ROWS
from ops.table import OURS
from ops.writer import Traced

from .arraylike import ArrayLike
from .dispatch import defined_in


class Directions(ArrayLike):
    """n tangents of one shape; operators compute all n, in one go if RULES says how, or else one by one.

    value: (n, *shape), an array or an ArrayLike; for bundles a list of n. has_zeros: whether there are zeros
    that stand for nothing, as in a seed (`Masked.seed`).
    """

    __slots__ = "value", "level"
    has_zeros = True

    def __init__(self, value: Any):
        self.value, self.level = value, next(Traced.levels)

    shape = property(lambda self: self.value.shape[1:])
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))

    def record(self, op: str, args: tuple) -> Any:
        reduces = op in OURS and parameters(G[op])[0][1:3] == ("axis", "keepdims")
        entrywise = facts_of(op).elementwise or isinstance(G[op], np.ufunc)
        # an operator without a rule here, or whose rule gives None for these arguments, takes one at a time
        rule = RULES.get(op) or (reduction if reduces else aligned if entrywise else None)
        value = rule(op, *args) if rule else None
        return Directions(one_by_one(op, *args) if value is None else value)


def is_many(x: Any) -> bool:
    return type(x) is Directions


def how_many(args: tuple) -> int:
    return next(len(a.value) for a in args if is_many(a))


def one_by_one(op: str, *args: Any) -> Any:
    entry_of = lambda stack, k: stack[k] if type(stack) is list else f.getitem(stack, k)
    entry = lambda a, k: entry_of(a.value, k) if is_many(a) else a
    directions = [getattr(f, op)(*[entry(a, k) for a in args]) for k in range(how_many(args))]
    return directions if op in ROWS and op != "item" else f.stack(0, *directions)


def with_axes(x: Any, ndim: int) -> Any:
    """The array inside of x, with axes of length 1 after its first one up to ndim axes."""
    if not is_many(x) or x.ndim >= ndim:
        return x.value if is_many(x) else x
    return f.reshape(x.value, (x.value.shape[0], *(1,) * (ndim - x.ndim), *x.shape))


def aligned(op: str, *args: Any) -> Any:
    ndim = max(len(np.shape(a)) for a in args if not isinstance(a, tuple))
    return getattr(f, op)(*[with_axes(a, ndim) for a in args])


def shape_like(like: Any) -> tuple:
    return like if isinstance(like, tuple) else tuple(np.shape(like))


def broadcast(op: str, x: Any, like: Any, axis: tuple = ()) -> Any:
    if not is_many(x):
        return f.broadcast(f.broadcast(x, shape_like(like), axis), (how_many((like,)), *shape_like(like)))
    if axis != ():
        shape = shape_like(like)
        gone = {a % len(shape) for a in np.atleast_1d(axis)}
        lengths = iter(x.shape)
        spread = [1 if k in gone else next(lengths) for k in range(len(shape))]
        x = Directions(f.reshape(x.value, (x.value.shape[0], *spread)))
    full = (x.value.shape[0], *shape_like(like))
    return x.value if x.value.shape == full else f.broadcast(with_axes(x, len(full) - 1), full)


def unbroadcast(op: str, x: Any, like: Any, axis: tuple = ()) -> Any:
    if axis != () or not is_many(x):
        return None
    have, want = x.shape, shape_like(like)
    extra = len(have) - len(want)
    if extra < 0:
        return broadcast(op, x, like)
    added = *range(1, extra + 1), *(1 + extra + i for i, n in enumerate(want) if n == 1 != have[extra + i])
    return f.reshape(f.sum(x.value, added, True), (x.value.shape[0], *want)) if added else x.value


def reduction(op: str, x: Any, axis: Any = None, keepdims: bool = False, *options: Any) -> Any:
    axes = range(x.ndim) if axis is None or not x.ndim else axis if isinstance(axis, tuple) else (axis,)
    return getattr(f, op)(x.value, tuple(a % x.ndim + 1 for a in axes), keepdims, *options)


def reshape(op: str, x: Any, like: Any) -> Any:
    return f.reshape(x.value, (x.value.shape[0], *shape_like(like))) if is_many(x) else None


def transpose(op: str, x: Any, axes: Any = None) -> Any:
    axes = range(x.ndim)[::-1] if axes is None else axes
    return f.transpose(x.value, (0, *(a % x.ndim + 1 for a in axes)))


def stays(keys: tuple) -> bool:
    """Whether the axes of the result keep their order with a slice put before the keys."""
    places = [k for k, key in enumerate(keys) if not isinstance(key, (slice, type(None), type(Ellipsis)))]
    arrays = any(not isinstance(keys[k], (int, np.integer)) for k in places)
    together = not arrays or places == [*range(places[0], places[-1] + 1)]
    return together and not any(map(is_many, keys))


def getitem(op: str, x: Any, *keys: Any) -> Any:
    return f.getitem(x.value, slice(None), *keys) if is_many(x) and stays(keys) else None


def scatterAdd(op: str, d: Any, like: Any, *keys: Any) -> Any:
    if not is_many(d) or not stays(keys):
        return None
    full = shape_like(like)
    d = with_axes(d, f.getitem(np.broadcast_to(0.0, full), *keys).ndim)
    return f.scatterAdd(d, f.broadcast(0.0, (d.shape[0], *full)), slice(None), *keys)


def take(op: str, x: Any, indices: Any, axis: int | None = None) -> Any:
    alone = axis is not None and is_many(x) and not is_many(indices)
    return f.take(x.value, indices, axis % x.ndim + 1) if alone else None


def joined(op: str, axis: int, *arrays: Any) -> Any:
    n, ndim = how_many(arrays), len(np.shape(arrays[0])) + (op == "stack")
    arrays = [a.value if is_many(a) else f.broadcast(a, (n, *np.shape(a))) for a in arrays]
    return getattr(f, op)(axis % ndim + 1, *arrays)


def part(op: str, x: Any, i: int, axis: int, *arrays: Any) -> Any:
    axis %= x.ndim
    sizes = [np.shape(a)[axis] for a in arrays]
    return f.getitem(x.value, *(slice(None),) * (axis + 1), slice(sum(sizes[:i]), sum(sizes[:i + 1])))


def dot(op: str, a: Any, b: Any) -> Any:
    """The products of all directions; with a matrix that they share, one product."""
    left, right = len(np.shape(a)), len(np.shape(b))
    if is_many(a) and is_many(b) or not left or not right:
        return None
    if is_many(a):
        if max(left, right) > 2:  # a vector has no axis of rows, beside which the directions would stand
            return f.dot(with_axes(a, max(left, right)), b) if left > 1 else None
        *lead, inner = a.value.shape
        return f.reshape(f.dot(f.reshape(a.value, (math.prod(lead), inner)), b), (*lead, *np.shape(b)[1:]))
    if right == 1:
        return f.dot(b.value, f.transpose(a)) if left <= 2 else None
    if max(left, right) > 2:
        return f.dot(a, with_axes(b, max(left, right)))
    # a @ b of n matrices b is one product with all of them side by side
    n, inner, columns = b.value.shape
    side = f.reshape(f.transpose(b.value, (1, 0, 2)), (inner, n * columns))
    product = f.reshape(f.dot(a, side), (*np.shape(a)[:-1], n, columns))
    return f.transpose(product, (1, 0, 2)) if left == 2 else product


# each function of this file with an operator's name computes this operator for all directions
RULES = {op: rule for op, rule in defined_in(globals()).items() if op in G} | {
    "mT": lambda op, x: f.mT(x.value), "concat": joined, "stack": joined}
