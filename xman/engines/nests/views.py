"""Views: the places of an array's numbers, if the array is an arrangement of another one.

A *root* is a register with memory of its own, an array that is stored row by row. A view maps each index
(i, j, …) of a *space* to an entry of a root, by an affine map: entry = offset + i·stride₀ + j·stride₁ + … . A
transpose, every other column, a reversed axis, a diagonal, a row that is spread over many rows (by a stride
of 0): all are such maps. To make one is arithmetic on a few small numbers while the program is made, and
costs nothing when it runs.

    x = root_view("x", (2, 3))       entry 3i + j
    transposed(x, (1, 0))            entry i + 3j of a space (3, 2)
    indexed(x, (slice(None), 1))     entry 3i + 1 of a space (2,)
    broadcast_view(…, (4, 2))        the same for each of four rows: entry 0·i + 3j + 1
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ops.arrays.indexing import written_out

Steps = tuple[tuple[int, int], ...]  # pairs (axis of the space, the step for each index along it)


class View(NamedTuple):
    """An entry of `root` for each index of the space `shape`.

    offset, strides: the affine map, in entries of the root. index: the same map axis by axis of the root,
    (start, steps) each, by which the scheduler sees what two lines have in common; None where a reshape has
    mixed axes. gathered: what else is added to the entry, read while the program runs: (stride, n,
    view of whole numbers in −n … n−1 over the same space).
    """
    root: str
    shape: tuple[int, ...]
    index: tuple[tuple[int, Steps], ...] | None
    offset: int
    strides: tuple[int, ...]
    gathered: tuple[tuple[int, int, Any], ...] = ()


def row_by_row(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of an array without gaps; 0 for an axis of one entry."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step if n != 1 else 0)
        step *= n
    return tuple(strides[::-1])


def root_view(root: str, shape: Sequence[int]) -> View:
    """The view of a whole root."""
    index = tuple((0, ((k, 1),) if n != 1 else ()) for k, n in enumerate(shape))
    return View(root, tuple(shape), index, 0, row_by_row(shape))


def substituted(view: View, shape: Sequence[int], becomes: Sequence[tuple[int, Sequence]]) -> View:
    """The view over another space. becomes: each old index as an affine map of new ones, (start, steps)."""
    offset, steps = composed((view.offset, tuple(enumerate(view.strides))), shape, becomes)
    strides = tuple(dict(steps).get(k, 0) for k in range(len(shape)))
    index = view.index and tuple(composed(one, shape, becomes) for one in view.index)
    gathered = tuple((s, n, substituted(v, shape, becomes)) for s, n, v in view.gathered)
    return View(view.root, tuple(shape), index, offset, strides, gathered)


def composed(one: tuple[int, Steps], shape: Sequence[int],
             becomes: Sequence[tuple[int, Sequence]]) -> tuple[int, Steps]:
    """An affine map of indices, such as the index of one axis of a root, in the indices of another space."""
    total, new = one[0], {}
    for old, factor in one[1]:
        start, steps = becomes[old]
        total += factor * start
        for axis, step in steps:
            if shape[axis] != 1:
                new[axis] = new.get(axis, 0) + factor * step
    return total, tuple(sorted(new.items()))


def strided(view: View, axes: Sequence[Any], order: Sequence[Any], sizes: Mapping[Any, int]) -> View:
    """The view with letters `axes`, over a space with letters `order`; a double letter is a diagonal."""
    place = {letter: k for k, letter in enumerate(order)}
    becomes = [(0, ((place[c], 1),) if n != 1 else ()) for c, n in zip(axes, view.shape, strict=True)]
    return substituted(view, [sizes[c] for c in order], becomes)


def broadcast_view(view: View, shape: Sequence[int]) -> View:
    """The view, broadcast as by NumPy: with new axes in front, and longer axes for those of one entry."""
    n = len(shape)
    return strided(view, range(n - len(view.shape), n), range(n), dict(enumerate(shape)))


def transposed(view: View, order: Sequence[int]) -> View:
    """The view with its axes in another order: the k-th is the old order[k]-th."""
    return strided(view, range(len(order)), order, dict(enumerate(view.shape)))


def exchanged(view: View) -> View:
    """The view with its last two axes exchanged: the transpose of each matrix."""
    n = len(view.shape)
    return transposed(view, [*range(n - 2), n - 1, n - 2])


def reshaped(view: View, shape: Sequence[int]) -> View | None:
    """The view of the same numbers, row by row, in another shape; None if that takes a copy."""
    if 0 in shape:
        return View(view.root, tuple(shape), None, 0, (0,) * len(shape))
    becomes: list[tuple[int, tuple]] = []
    new = 0
    for n in view.shape:  # an old axis becomes one or several new ones
        axes, size = [], 1
        while n != 1 and size < n and new < len(shape):
            axes.append(new)
            size *= shape[new]
            new += 1
        if n != 1 and size != n:
            break
        becomes.append((0, tuple((a, prod(shape[a + 1:axes[-1] + 1])) for a in axes)))
    else:
        return substituted(view, shape, becomes)
    dense = [(s, n) for s, n in zip(view.strides, view.shape, strict=True) if n != 1]
    step = dense[-1][0] if dense else 0
    if view.gathered or any(s != step * prod(n for _, n in dense[k + 1:]) for k, (s, _) in enumerate(dense)):
        return None
    return View(view.root, tuple(shape), None, view.offset, tuple(step * s for s in row_by_row(shape)))


def indexed(view: View, keys: Sequence[Any]) -> View:
    """view[keys], as NumPy indexes: whole numbers, slices, None, an ellipsis, Views of whole numbers."""
    keys = written_out(keys, len(view.shape))
    block = np.broadcast_shapes(*(key.shape for key in keys if isinstance(key, View)))
    several = [k for k, key in enumerate(keys) if isinstance(key, (View, int))]
    # the axes of the block stand in the place of the keys that make it, or first if others are between these
    begins = several[0] if several and several == [*range(several[0], several[-1] + 1)] else 0
    shape: list[int] = []
    becomes, block_axis, of = [], 0, {}
    for k, key in enumerate(keys):
        if k == begins:
            block_axis = len(shape)
            shape += block
        if key is None:
            shape.append(1)
            continue
        start, steps, n = 0, (), view.shape[len(becomes)]
        if isinstance(key, slice):
            start, stop, step = key.indices(n)
            steps = ((len(shape), step),)
            shape.append(len(range(start, stop, step)))
        elif isinstance(key, View):
            of[len(becomes)] = key
        else:
            start = int(key) % n
        becomes.append((start, steps))
    mapped = substituted(view, shape, becomes)
    axes = [(0, ((block_axis + k, 1),)) for k in range(len(block))]
    terms = tuple((view.strides[old], view.shape[old], substituted(broadcast_view(key, block), shape, axes))
                  for old, key in of.items())
    return mapped._replace(index=None if of else mapped.index, gathered=mapped.gathered + terms)
