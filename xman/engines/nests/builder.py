"""`Builder`, by which the rules of operators add lines, copies and constants to the tree."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops

from ...wengert import Line as Step
from ..folded import FoldedLines
from ..program import Program
from .schedule import Tree
from .tree import TRUTHS, Line, levels_of, tree_text
from .views import View, broadcast_view, indexed, root_view, strided

NATIVE = {np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}


class Layout(NamedTuple):
    """What is known of a program's lines before the first is placed.

    steps: the lines, in order. direct: the updates that can overwrite their inputs at once. uses: how many
    lines read a register, or hand it out. index_adjoints: those that only one sum reads. orders: by
    register the order that its axes should have in memory. summed: by shape the axes over which lines of it
    add up.
    """
    steps: FoldedLines
    direct: set[str]
    uses: Mapping[str, int]
    index_adjoints: set[str]
    orders: dict[str, tuple[int, ...]]
    summed: Mapping[tuple, set[int]]

    def __str__(self) -> str: return str(self.steps)


class Accumulated(NamedTuple):
    """The adjoint of an index that only one sum reads: it waits to be added at the place of the sum."""
    x: View
    keys: Sequence[Any]

    def add(self, w: Builder, base: View) -> None:
        target = indexed(base, self.keys)
        w.line(base.root, "copy", [self.x], target.shape, mode="into", target=target)


def is_native(program: Program, x: str) -> bool:
    """Whether loops can compute with the numbers of a register."""
    return x in program.kinds and program.kinds[x].dtype in NATIVE


class Builder:
    """A program on its way into the tree. tree: the nodes. views: by register. objects: registers that are
    Python's objects. scalars: roots that NumPy gets as numbers. constants: the program's own arrays. fills:
    constants of one number, which lines take as a literal. copies: for BLAS, by the view, and how many lines
    had written what it reads. bounds: (root, low, high) for whole numbers that have to be in low … high − 1.
    positions: {root: n} for whole numbers that are in 0 … n − 1. results: the views of the outputs. step: the
    present line. translated: makes the Builder of a function that a line applies."""
    step: Step

    def __init__(self, program: Program, layout: Layout, translated: Callable[..., Builder],
                 positions: Mapping[str, int] = {}):
        self.program, self.layout, self.kinds, self.tree = program, layout, dict(program.kinds), Tree()
        self.direct, self.positions, self.translated = {*layout.direct}, dict(positions), translated
        self.bundles: dict[str, tuple] = {}
        self.views: dict[str, View | Accumulated] = {}
        self.objects: set[str] = set()
        self.scalars: set[str] = set()
        self.constants: dict[str, np.ndarray] = {}
        self.fills: dict[str, Any] = {}
        self.copies: dict[tuple, View] = {}
        self.bounds: dict[tuple[str, int, int], None] = {}
        self.results: dict[str, View] = {}
        self.arguments = program.arguments
        for x in self.arguments:
            if is_native(program, x):
                self.views[x] = self.tree.root(x, *self.kinds[x][:2], "given")
            else:
                self.objects.add(x)

    def __str__(self) -> str: return "\n".join(tree_text(self.tree.body, self.tree.roots))

    def line(self, dst: str, op: str, args: Sequence[Any], shape: Sequence[int], dtype: Any = None, *,
             mode: str = "set", reduced: Iterable[int] = (), keepdims: bool = False,
             target: View | None = None, computed: Any = None) -> View:
        """Add a line; give the view of its result, a new root of that dtype, or the target.

        reduced: the axes over which it adds up. computed: the type of the sum, if not that of the root.
        """
        shape, reduced = tuple(shape), set(reduced)
        args = [self.fills.get(a.root, a) if isinstance(a, View) else a for a in args]
        if target is None:
            dtype = np.dtype(dtype)
            # of numbers alone, the result is a number: it is computed now
            if mode == "set" and op != "copy" and not any(isinstance(a, View) for a in args):
                kind = np.dtype(computed or dtype)
                with np.errstate(all="ignore"):
                    return self.filled(ops.G[op](*(kind.type(a) for a in args)), shape, dtype)
            axes = [k for k in range(len(shape)) if keepdims or k not in reduced]
            sizes = [1 if k in reduced else shape[k] for k in axes]
            view = self.root_in_order(dst, sizes, dtype)
            target = strided(view, axes, range(len(shape)), dict(enumerate(shape)))
        else:
            view, dtype = target, self.dtype(target)
        args = [broadcast_view(a, shape) if isinstance(a, View) else a for a in args]
        views = [a for a in args if isinstance(a, View)]
        # a new root that is set has the order of its loops; any other target has a say in the order
        views += [target] * (mode != "set" or op == "copy" or dst in self.layout.orders)
        levels = levels_of(shape, views, self.layout.summed[shape])
        line = Line(op, args, shape, target, np.dtype(computed or dtype), levels, mode)
        self.tree.adopt_levels(line, levels_of(shape, (), self.layout.summed[shape]))
        self.tree.place(line)
        return view

    def root_in_order(self, dst: str, shape: Sequence[int], dtype: Any) -> View:
        """A new root with its axes in the order that the layout has for it."""
        order, axes = self.layout.orders.get(dst, ()), range(len(shape))
        order = order if len(order) == len(shape) else axes
        root = self.tree.root(dst, [shape[k] for k in order], dtype)
        return strided(root, order, axes, dict(enumerate(shape)))

    def compute(self, op: str, *args: Any, dtype: np.dtype | None = None) -> View:
        """Add an entrywise line over the broadcast shape, in this type, or in that of the last argument."""
        views = [a for a in args if isinstance(a, View)]
        dtype, shape = dtype or self.dtype(views[-1]), np.broadcast_shapes(*(v.shape for v in views))
        stored = bool if op in TRUTHS else dtype
        return self.line(self.step[0], op, args, shape, stored, computed=dtype)

    def filled(self, x: Any, shape: Sequence[int], dtype: np.dtype) -> View:
        """The view of one number for each index of a space."""
        view = self.constant(np.array(x).astype(dtype))
        self.fills[view.root] = self.constants[view.root].item()
        return broadcast_view(view, shape)

    def typed(self, dst: str, x: View, dtype: np.dtype) -> View:
        """The numbers of a view, in this type."""
        if x.root in self.fills:
            return self.filled(self.fills[x.root], x.shape, dtype)
        return x if self.dtype(x) == dtype else self.line(dst, "copy", [x], x.shape, dtype)

    def copied(self, name: str, view: View) -> View:
        """The numbers of a view, copied to a root of their own."""
        return self.line(f"{name}.copy", "copy", [view], view.shape, self.dtype(view))

    def is_whole(self, x: Any, shape: tuple[int, ...]) -> bool:
        return type(x) is View and self.tree.roots[x.root].shape == shape and x == root_view(x.root, shape)

    def unread(self, x: str) -> bool:
        """Whether only the present line reads the register, which is in the program's own memory."""
        root = self.views[x].root
        return (self.layout.uses[x] == 1 and self.tree.roots[root].place == "arena"
                and not self.tree.readers.get(root))

    def dtype(self, view: View) -> np.dtype:
        return self.tree.roots[view.root].dtype

    def constant(self, array: np.ndarray) -> View:
        """The view of an array that belongs to the program."""
        name = f"constant{len(self.constants)}.{array.dtype}"
        root = self.tree.root(name, array.shape, array.dtype, "given")
        self.constants[root.root] = np.array(array, order="C")
        return root
