"""From nests to text: the walk through loops and lines that LLVM's writer shares with that of C.

A number that is read in the loops in which it was computed is not stored first.
"""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from .schedule import Tree
from .tree import REDUCTIONS, Line, Loop
from .views import View


class NestWriter:
    """The walk. `Number` and `place` are what a language makes of a number and of a place in memory; it says
    how by the methods up to `loop`."""

    def number_at(self, dtype: np.dtype, place: Any) -> Any: raise NotImplementedError
    def store(self, number: Any, place: Any) -> None: raise NotImplementedError
    def slot(self, dtype: np.dtype) -> Any: raise NotImplementedError
    def place_of(self, root: str, k: str) -> Any: raise NotImplementedError
    def sum(self, terms: dict[str, int], start: int) -> str: raise NotImplementedError
    def in_range(self, key: Any, n: int) -> str: raise NotImplementedError
    def stepping(self, size: Any, first: Any = 0) -> AbstractContextManager[str]: raise NotImplementedError
    def combined(self, reduction: str, x: Any, y: Any) -> Any: raise NotImplementedError
    def identity(self, reduction: str, dtype: np.dtype) -> Any: raise NotImplementedError
    def computed(self, line: Line, args: list) -> Any: raise NotImplementedError
    def loop(self, node: Loop, tile: tuple) -> None: raise NotImplementedError

    def walks(self, tree: Tree) -> None:
        """Begin to walk through a tree."""
        self.tree, self.roots = tree, tree.roots
        self.values: dict[str, Any] = {}        # the roots whose number is in a register
        self.slots: dict[Line, Any] = {}        # where lines add up
        self.index: dict[Loop, str] = {}
        self.tiles: dict[Loop, tuple] = {}      # where a tile begins, and where it ends
        self.current: Line | None = None        # the line that is being written

    def body(self, nodes: Sequence[Loop | Line], tile: tuple = ()) -> None:
        """Write loops and lines, in order; sums begin before loops, and end after them. tile: the beginning
        and end of the tile around them."""
        for node in nodes:
            if isinstance(node, Line):
                self.line(node)
                continue
            sums = [(x, *x.summed()) for x in lines_within(node) if x.mode in REDUCTIONS]
            ending = [(x, last) for x, _, last in sums if node in x.path[last:last + 1]]
            for line, _ in ending:
                self.slots[line] = self.slot(self.dtype(line))
                self.store(self.identity(line.mode, self.dtype(line)), self.slots[line])
            for line, first, last in sums:
                if first < last and line.path[first] is node:
                    self.fill(line)
            if node.size:
                self.loop(node, tile)
            for line, depth in ending:
                self.write_target(line, self.number_at(self.dtype(line), self.slots[line]), depth)

    # ---- lines ---------------------------------------------------------------------------------------------

    def line(self, line: Line) -> None:
        """Write the computation of a line's number, and put it into its target, or add it to its sum."""
        self.current = line
        number = self.computed(line, [self.read(a, line) if isinstance(a, View) else a for a in line.args])
        if line in self.slots:
            self.gather(line.mode, number, self.slots[line])
        else:
            self.write_target(line, number)

    def read(self, view: View, line: Line) -> Any:
        if view.root in self.values:
            w = self.tree.writers[view.root][-1]
            first, _ = w.summed()
            if line.path[:first] == w.path[:first]:
                return self.values[view.root]
        return self.number_at(self.roots[view.root].dtype, self.address(view, self.indices_of(line)))

    def write_target(self, line: Line, value: Any, depth: int | None = None) -> None:
        """Bring a number to its target, or add it there. If it is finished, it is known in these loops, and
        stored if other loops read it. depth: of the loops that it is computed in."""
        first, last = line.summed()
        if line.mode == "into" or line.mode in REDUCTIONS and first < last:
            reduction = "sum" if line.mode == "into" else line.mode
            self.gather(reduction, value, self.address(line.target, self.indices_of(line, depth)))
            return
        if line.mode != "put":
            self.values[line.target.root] = value
        if self.roots[line.target.root].place != "none":
            self.store(value, self.address(line.target, self.indices_of(line, depth)))

    def gather(self, reduction: str, value: Any, place: Any) -> None:
        """Add a number to a reduction in memory."""
        self.store(self.combined(reduction, self.number_at(value.dtype, place), value), place)

    def dtype(self, line: Line) -> np.dtype:
        return self.roots[line.target.root].dtype

    def fill(self, line: Line) -> None:
        """Begin sums in memory, one for each index of the inner loops."""
        first, _ = line.summed()
        indices, levels = self.indices_of(line, first), [*enumerate(line.levels)]
        tiles = {axis: self.tiles[line.path[d]] for d, (axis, kind, _) in levels[:first] if kind == "tile"}
        within = [axis for d, (axis, kind, _) in levels[first:] if kind != "tile" and not line.reduced(d)]
        if any(line.shape[axis] == 0 for axis in within):
            return
        with ExitStack() as loops:
            for axis in within:
                begin, end = tiles.get(axis, ("0", line.shape[axis]))
                indices[axis] = loops.enter_context(self.stepping(end, begin)), begin
            self.store(self.identity(line.mode, self.dtype(line)), self.address(line.target, indices))

    # ---- memory --------------------------------------------------------------------------------------------

    def indices_of(self, line: Line, depth: int | None = None) -> dict[int, tuple[str, str | None]]:
        """{axis of the line: (its index, the beginning of its tile)}."""
        indices, tile = {}, {}
        for (axis, kind, _), loop in zip(line.levels[:depth], line.path, strict=False):
            if kind == "tile":
                tile[axis] = self.index[loop]
            else:
                indices[axis] = self.index[loop], tile.get(axis)
        return indices

    def address(self, view: View, indices: dict) -> Any:
        terms, (start, steps) = {}, self.affine(view)
        for k, step, tiled in steps:
            terms[indices[k][0]] = terms.get(indices[k][0], 0) + step
            if tiled:
                terms[indices[k][1]] = terms.get(indices[k][1], 0) - step
        for stride, n, key in view.gathered:  # its number may be known only in these loops
            terms[self.in_range(self.read(key, self.current), n)] = stride
        return self.place_of(view.root, self.sum(terms, start))

    def affine(self, view: View) -> tuple[int, list[tuple[int, int, bool]]]:
        """The place of a view in what is kept of its root: where it begins, and (axis, step, tiled)."""
        root = self.roots[view.root]
        if root.depth == 0 and not any(root.tiled):
            return view.offset, [(k, s, False) for k, s in enumerate(view.strides)
                                 if s and view.shape[k] != 1]
        axes = [*zip(root.strides, root.tiled, view.index, strict=True)]
        return sum(stride * start for stride, _, (start, _) in axes), [
            (k, stride * step, tiled) for stride, tiled, (_, steps) in axes for k, step in steps if stride]


def lines_within(node: Loop | Line) -> list[Line]:
    return [node] if isinstance(node, Line) else [line for inner in node.body for line in lines_within(inner)]
