"""The schedule: the place of each line in the tree, and the memory that roots then need.

There is one rule. From the outermost of its axes inwards, a line goes into the first loop over the same
number of indices that is *late enough*: after everything that it waits for, or in the same loop, if both
touch what they share only at the loop's own index. If there is no such loop a new one begins, as early as
possible. So the softmax of rows becomes one loop over rows with three loops inside, and an optimizer's update
becomes one loop for all its lines, without special cases.

A root is kept only inside of the innermost loop that all lines share which touch it: it is one number in a
processor's register if they share all loops, and a row if they share the loop over rows.
"""
from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from operator import is_
from typing import Any

import numpy as np

from .tree import PARTLY, REDUCTIONS, Line, Loop, Product, Root, TreeNode
from .views import View, root_view

ON_STACK = 8  # a root that keeps at most this many numbers inside of loops is on the stack
MOST = 100    # the most lines of a nest: more would take long to compile


class Tree:
    """The nodes of a program in order, and its roots."""

    def __init__(self) -> None:
        self.body: list[Loop | TreeNode] = []
        self.roots: dict[str, Root] = {}
        self.writers: dict[str, list[TreeNode]] = defaultdict(list)  # by root
        self.readers: dict[str, list[TreeNode]] = defaultdict(list)
        self.calls: list[TreeNode] = []  # those that may refuse the values

    def root(self, name: str, shape: Sequence[int], dtype: Any, place: str = "arena") -> View:
        """The view of a whole new root, with this name or one like it."""
        while name in self.roots:
            name += "'"
        self.roots[name] = Root(name, tuple(shape), np.dtype(dtype), place)
        return root_view(name, shape)

    # ---- placing -------------------------------------------------------------------------------------------

    def waits(self, node: TreeNode) -> list[TreeNode]:
        """The nodes that have to run before: those that write what it reads, or touch what it overwrites."""
        overwrites = any(self.roots[x].place == "given" for x in node.writes if x in self.roots)
        nodes = [w for x in node.reads for w in self.writers.get(x, ())]
        if overwrites or node.mode not in PARTLY:
            nodes += [w for x in node.writes for w in (*self.writers.get(x, ()), *self.readers.get(x, ()))]
        # it writes to the caller's own array: first no call may refuse the values any more
        return nodes + self.calls * overwrites

    def place(self, node: TreeNode) -> None:
        """Put the node at the place that the rule gives."""
        waits, body, depth = self.waits(node), self.body, 0
        while True:
            first = 0  # the place in this body from which on the node may stand
            for w in waits:
                # what it waits for is here or somewhere inside of a neighbour, which may take it in (+ 0) or
                # has to end before (+ 1)
                neighbour = w.path[depth] if depth < len(w.path) else w
                position = bisect_left(body, neighbour.rank, key=lambda x: x.rank)
                first = max(first, position + (not together(node, depth, w, neighbour)))
            if depth == len(node.levels):
                insert(body, first, node)
                break
            loop = next((x for x in islice(body, first, None) if accepts(x, node, depth)), None)
            if loop is None:
                loop = Loop(*node.size(depth), scatters=node.scatters(depth))
                insert(body, first, loop)
            loop.lines += 1
            if node.mode in PARTLY:
                loop.targets[node.target.root] = node.target
            node.path = (*node.path, loop)
            # inside of the loop, only what is in it too is still to be waited for
            waits = [w for w in waits if depth < len(w.path) and w.path[depth] is loop]
            body, depth = loop.body, depth + 1
        for x in node.reads:
            self.readers[x].append(node)
        for x in node.writes:
            self.writers[x].append(node)
        if not isinstance(node, (Line, Product)):
            self.calls.append(node)

    def adopt_levels(self, line: Line, any_order: list) -> None:
        """If a line's axes may have any order, it takes the loops of a line that it reads at one index."""
        for v in line.args if line.levels == any_order else ():
            w = self.writers.get(v.root, [None])[-1] if isinstance(v, View) else None
            if w and w.mode == "set" and v == w.target and w.levels != line.levels:
                line.levels = w.levels

    # ---- keeping -------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Decide how much memory each root needs."""
        for root in self.roots.values():
            root.keeps(root.shape, [False] * len(root.shape))
            w, *more_writers = self.writers.get(root.name) or [None]
            if root.place == "arena" and not more_writers and isinstance(w, Line) and w.mode not in PARTLY:
                self.narrow(root, w)

    def narrow(self, root: Root, w: Line) -> None:
        """Keep only the part of a root, which one line computes, that its readers need at a time."""
        first, last = w.summed()
        home = w.path[:first] if first == last else ()  # where its number is in a processor's register
        outside = [r for r in self.readers.get(root.name, ()) if not home or r.path[:first] != home]
        if home and not outside:
            root.place = "none"
            return
        depth = min([first, *(sum(map(is_, r.path, w.path)) for r in outside)])  # the loops that all share
        root.depth, sizes, tiled = depth, [], []
        # for each axis of the root, how much of it the loops inside of `depth` run over: all, a tile, or one
        # entry
        for _, steps in w.target.index:
            depths = [d for d, (axis, *_) in enumerate(w.levels) if steps and axis == steps[0][0]]
            within = [d for d in depths if d >= depth]
            n = w.shape[steps[0][0]] if within else 1
            tiled.append(bool(within) and len(within) < len(depths))
            sizes.append(min(w.levels[within[0]][2], n) if tiled[-1] else n)
        root.keeps(sizes, tiled)
        if depth and root.size <= ON_STACK:
            root.place = "stack"


    def narrow_numbers(self, group: Sequence[Loop | TreeNode]) -> None:
        """Keep no memory for numbers that are written and read by neighbours at the top of the tree alone, as
        `narrow` has it for loops."""
        lines = {*group}
        for x in [node.target.root for node in group if isinstance(node, Line) and node.mode not in PARTLY]:
            alone = len(self.writers[x]) == 1 and lines.issuperset(self.readers[x])
            if alone and self.roots[x].place == "arena":
                self.roots[x].place = "none"


def accepts(loop: Loop | TreeNode, line: Line, depth: int) -> bool:
    """Whether the loop is over this axis of the line, and has room for it. Two sums into parts of one root go
    into different loops, so that LLVM sees that their entries differ, unless one is between entries of the
    other."""
    if not isinstance(loop, Loop) or loop.level != line.size(depth) or loop.lines >= MOST:
        return False
    if loop.scatters != line.scatters(depth):
        return False
    target, neighbour = line.target, loop.targets.get(line.target.root, line.target)
    if depth < len(line.levels) - 1 or line.mode not in PARTLY:
        return True
    # x[2i] and x[2i + 1], parts with the same strides and less than a step apart, never meet
    step = max(1, abs(target.strides[line.levels[depth][0]]))
    # from the fourth field on: strides, and what is gathered
    return neighbour[4:] == target[4:] and abs(neighbour.offset - target.offset) < step


def together(line: TreeNode, depth: int, w: TreeNode, loop: Loop | TreeNode) -> bool:
    """Whether the line may be in the loop of a node that it waits for: written roots meet at one index."""
    if depth >= min(len(line.levels), len(w.levels)) or w.mode in PARTLY or not accepts(loop, line, depth):
        return False
    axis, other_axis = line.levels[depth][0], w.levels[depth][0]
    if w.mode in REDUCTIONS and w.target.strides[other_axis] == 0 or line.target.root == w.target.root:
        return False
    shared = [(w.target, v) for v in line.views if v.root == w.target.root]
    shared += [(v, line.target) for v in w.views if v.root == line.target.root]
    return all(at_one_index(other_view, other_axis, view, axis) for other_view, view in shared)


def at_one_index(other: View, axis: int, view: View, view_axis: int) -> bool:
    """Whether two views of a root meet only where the index of one's axis equals that of the other's."""
    if other.index is None or view.index is None:
        return False
    return any(len(steps) == 1 and steps[0][0] == axis and mapped == (start, ((view_axis, steps[0][1]),))
               for (start, steps), mapped in zip(other.index, view.index, strict=True))


def insert(body: list[Loop | TreeNode], k: int, node: Loop | TreeNode) -> None:
    """Put a node into a body, which is sorted by rank."""
    low = body[k - 1].rank if k else body[0].rank - 2.0 if body else 0.0
    high = body[k].rank if k < len(body) else low + 2.0
    node.rank = (low + high) / 2
    body.insert(k, node)
    if not low < node.rank < high:  # floats between the two have run out
        for rank, x in enumerate(body):
            x.rank = float(rank)
