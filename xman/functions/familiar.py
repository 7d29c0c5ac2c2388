"""Names that are known from elsewhere, made of ours."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ops import G, f, operator
from ops.table import arity

from ..errors import XManError, with_habits
from .call import Argnums, callable_or_refused, is_whole, name_of
from .jacobian import jacobian
from .loops import map
from .trees import children, flattened_tree, tree_map, unflatten


@with_habits
def jacfwd(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """`jacobian` in forward mode."""
    return jacobian(fn, argnums, "forward", has_aux)


@with_habits
def jacrev(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """`jacobian` in reverse mode."""
    return jacobian(fn, argnums, "reverse", has_aux)


@with_habits
def vmap(fn: Callable, in_axes: Any = 0, out_axes: int = 0) -> Callable:
    """The function that stacks fn(…) for each place along in_axes of its arguments: a loop, by `map`.

    in_axes: the axis of all arguments, or of each, or a tree of axes where an argument is a tree; None for
        what is the same at each place.
    out_axes: the axis along which the results are stacked.
    XManError where no argument has an axis, and as `scan`.
    """
    callable_or_refused("vmap", fn)

    def mapped(*args: Any) -> Any:
        leaves, structure = flattened_tree(args)
        axes = [*leaf_axes(tuple(in_axes) if isinstance(in_axes, list) else in_axes, args)]
        if len(axes) != len(leaves) or all(axis is None for axis in axes):
            raise XManError(f"in_axes of vmap is {in_axes!r}, and {name_of(fn)} was called with {len(args)} "
                            "arguments; it has an axis for each, None for all but one at most")
        along = {i: axis for i, axis in enumerate(axes) if axis is not None}
        shapes = [np.shape(leaves[i]) for i in along]
        has_axis = all(-len(s) <= axis < len(s) for s, axis in zip(shapes, along.values(), strict=True))
        if not has_axis or len({s[axis] for s, axis in zip(shapes, along.values(), strict=True)}) > 1:
            raise XManError(f"vmap of {name_of(fn)} goes along the axes {[*along.values()]} of arguments of shapes "
                            f"{shapes}: each has such an axis, and all are of one length")
        moved = {i: np.moveaxis(leaves[i], axis, 0) for i, axis in along.items()}

        def each(places: dict) -> Any:
            return fn(*unflatten(structure, (places.get(i, leaf) for i, leaf in enumerate(leaves))))
        each.__name__ = name_of(fn)
        return tree_map(lambda y: np.moveaxis(y, 0, out_axes) if out_axes else y, map(each, moved))
    return mapped


def leaf_axes(axes: Any, tree: Any) -> Iterator[int | None]:
    """The axis of each leaf of the tree; one for a subtree is that of all its leaves."""
    if axes is None or is_whole(axes):
        yield from [axes] * len(flattened_tree(tree)[0])
    else:
        for below, subtree in zip(children(axes) or (), children(tree) or (), strict=False):
            yield from leaf_axes(below[1], subtree[1])


def place_of(fn: Callable) -> tuple:
    return getattr(fn, "__module__", ""), getattr(fn, "__qualname__", "")


class custom_vjp:
    """The decorator of a function with a way back of its own: an operator with that rule.

        >>> @xman.custom_vjp
        ... def clipped(x): return np.minimum(x, 1.0)
        >>> clipped.defvjp(lambda x: (clipped(x), x), lambda x, u: (u,))    # as if nothing were clipped

    forward, backward: forward(*args) gives (the output, residuals), and backward(residuals, u) a tuple, uᵀJ
    for each argument, written in the language as rules are (`ops.operator`). XManError before `defvjp`.
    """

    @with_habits
    def __init__(self, fn: Callable):
        callable_or_refused("custom_vjp", fn)
        functools.update_wrapper(self, fn)
        self.op = ""

    def defvjp(self, forward: Callable, backward: Callable) -> None:
        """Make the function an operator, with this way back."""
        fn, name = self.__wrapped__, name_of(self)
        while name in G and place_of(G[name]) != place_of(fn):  # another operator's name
            name += "_"
        rule = lambda i: lambda d, out, *args: backward(forward(*args)[1], d)[i]
        operator(name, fn, *[rule(i) for i in range(arity(fn)[1])])
        self.op = name

    def __call__(self, *args: Any) -> Any:
        if not self.op:
            raise XManError(f"{name_of(self)} has no way back yet: call its defvjp(forward, backward)")
        return getattr(f, self.op)(*args)
