"""From nests to LLVM's text: a function for each nest, whose arguments are the roots that it touches.

Nests that differ only in their roots share a function. The text promises that memory does not overlap
(`noalias`): views that share memory have one root, and so one pointer. A number that is read in the loops in
which it was computed is not stored first.
"""
from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from ops import f

from ..nests.schedule import Tree
from ..nests.tree import REDUCTIONS, Line, Loop
from ..nests.views import View
from .arithmetic import FORMULAS, INDEX, Number, combined, gathered_of_none, number_at, result_of, store
from .elementary import one_of_both, pairs_in_vectors
from .function import SHORT, Function, in_memory
from .threads import lines_within

TURNS = "sin", "cos"
# where an inner loop with at most FEW lines adds up in memory, its sums should stay in a processor's
# registers from turn to turn of the loop around it: it is written out if its turns are in the range MASKED,
# where LLVM makes vectors with masks, and above that the rest after the vectors is
FEW, MASKED = 4, (9, 16)


class Nest(Function):
    """The function of some nodes of the tree. sliced: whether it runs one loop from an index to another.
    memory: the parameter of each root that it touches."""

    def __init__(self, tree: Tree, nodes: list[Loop | Line], declared: dict[str | tuple[str, str], None],
                 sliced: bool = False):
        super().__init__(declared)
        self.tree, self.roots, self.sliced = tree, tree.roots, nodes[0] if sliced else None
        self.memory: dict[str, str] = {}
        self.stack: dict[str, str] = {}
        self.values: dict[str, Number] = {}     # the roots whose number is in a register
        self.slots: dict[Line, str] = {}        # where lines add up
        self.index: dict[Loop, str] = {}
        self.tiles: dict[Loop, tuple] = {}      # where a tile begins, and where it ends
        self.current: Line | None = None        # the line that is being written
        self.turned: dict[View | float, set[str]] = {}   # what goes into sin and cos, and into which
        for line in [line for node in nodes for line in lines_within(node) if line.op in TURNS]:
            self.turned.setdefault(line.args[0], set()).add(line.op)
        self.body(nodes, ())

    def named(self, name: str, attribute: str) -> str:
        args = [f"ptr noalias {p}" for p in self.memory.values()]
        args += ["i64 %first", "i64 %last"] * bool(self.sliced)
        return self.text(f"define internal void @{name}({', '.join(args)}) {attribute}", " ret void")

    def body(self, nodes: list[Loop | Line], tile: tuple[str, str] | tuple) -> None:
        """Write loops and lines, in order; sums begin before loops, and end after them. tile: the beginning
        and end of the tile around them."""
        for node in nodes:
            if isinstance(node, Line):
                self.line(node)
                continue
            sums = [(x, *x.summed()) for x in lines_within(node) if x.mode in REDUCTIONS]
            ending = [(x, last) for x, _, last in sums if node in x.path[last:last + 1]]
            for line, _ in ending:
                self.slots[line] = self.alloca(in_memory(self.dtype(line)))
                store(gathered_of_none(self, line.mode, self.dtype(line)), self.slots[line])
            for line, first, last in sums:
                if first < last and line.path[first] is node:
                    self.fill(line)
            if node.size:
                self.loop(node, tile)
            for line, depth in ending:
                self.write_target(line, number_at(self, self.dtype(line), self.slots[line]), depth)

    def loop(self, node: Loop, tile: tuple) -> None:
        first, last = tile if node.kind == "lane" else ("%first", "%last") if node is self.sliced else (
            0, node.size)
        while self.one_with_inner(node):  # of their indices the inner one runs through both axes
            self.index[node], (node,) = "0", node.body
            first, last = (self.sum({x: node.size}, 0) if isinstance(x, str) else x * node.size
                           for x in (first, last))
        lines = [line for line in node.body if isinstance(line, Line)]
        sums = any(line.mode in REDUCTIONS and line.summed()[0] < line.summed()[1] == len(line.levels)
                   for line in lines)
        few = isinstance(last, int) and MASKED[0] <= last <= SHORT and node.lines <= FEW
        hint = ("!1" if last < MASKED[1] else "!5") if sums and few else ""
        slow, step = any(line.op in FORMULAS for line in lines), node.width if node.kind == "tile" else 1
        with self.stepping(last, first, step, lines=node.lines, slow=slow, hint=hint) as index:
            if node.kind == "tile":
                end = f.minimum(Number(self, self.sum({index: 1}, step), INDEX), node.size)
                self.tiles[node] = tile = index, end.name
            self.index[node] = index
            self.body(node.body, tile)

    def one_with_inner(self, node: Loop) -> bool:
        """Whether a loop holds but a loop, and both go through memory as one loop over two axes would."""
        inner = node.body[0]
        alone = isinstance(inner, Loop) and len(node.body) == 1
        # a loop that is begun runs: none begins for an inner one without a turn
        if not alone or node.kind == "tile" or inner.kind != "all" or not inner.size:
            return False
        step = lambda view, line, loop: sum(
            s for k, s, _ in self.affine(view)[1] if k == line.levels[line.path.index(loop)][0])
        return all(step(v, line, node) == inner.size * step(v, line, inner)
                   for line in lines_within(inner) for v in (*line.views, line.target)
                   if self.roots[v.root].place != "none")

    # ---- lines ---------------------------------------------------------------------------------------------

    def line(self, line: Line) -> None:
        """Write the computation of a line's number, and put it into its target, or add it to its sum."""
        if line in self.slots:
            self.gather(line.mode, self.formula(line), self.slots[line])
        else:
            self.write_target(line, self.formula(line))

    def formula(self, line: Line) -> Number:
        self.current = line
        args = [self.read(a, line) if isinstance(a, View) else a for a in line.args]
        paired = line.op in TURNS and len(self.turned[line.args[0]]) == 2 and (
            not line.path or pairs_in_vectors())
        like = Number(self, "", line.dtype)
        number = one_of_both(line.op, like.like(args[0])) if paired else result_of(line.op, args, like)
        return number.to(self.dtype(line))

    def read(self, view: View, line: Line) -> Number:
        if view.root in self.values:
            w = self.tree.writers[view.root][-1]
            first, _ = w.summed()
            if line.path[:first] == w.path[:first]:
                return self.values[view.root]
        return number_at(self, self.roots[view.root].dtype, self.address(view, self.indices_of(line)))

    def write_target(self, line: Line, value: Number, depth: int | None = None) -> None:
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
            store(value, self.address(line.target, self.indices_of(line, depth)))

    def gather(self, reduction: str, value: Number, place: str) -> None:
        """Add a number to a reduction in memory."""
        store(combined(reduction, number_at(self, value.dtype, place), value), place)

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
            identity = gathered_of_none(self, line.mode, self.dtype(line))
            store(identity, self.address(line.target, indices))

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

    def address(self, view: View, indices: dict) -> str:
        root, terms, (start, steps) = self.roots[view.root], {}, self.affine(view)
        for k, step, tiled in steps:
            terms[indices[k][0]] = terms.get(indices[k][0], 0) + step
            if tiled:
                terms[indices[k][1]] = terms.get(indices[k][1], 0) - step
        for stride, n, key in view.gathered:
            k = self.read(key, self.current).to(INDEX)  # its number may be known only in these loops
            terms[f.where(k < 0, k + n, k).name] = stride
        entry = self.sum(terms, start)
        return self.do(f"getelementptr inbounds {in_memory(root.dtype)}, ptr {self.pointer(root.name)}, i64 "
                       f"{entry}")

    def affine(self, view: View) -> tuple[int, list[tuple[int, int, bool]]]:
        """The place of a view in what is kept of its root: where it begins, and (axis, step, tiled)."""
        root = self.roots[view.root]
        if root.depth == 0 and not any(root.tiled):
            return view.offset, [(k, s, False) for k, s in enumerate(view.strides)
                                 if s and view.shape[k] != 1]
        axes = [*zip(root.strides, root.tiled, view.index, strict=True)]
        return sum(stride * start for stride, _, (start, _) in axes), [
            (k, stride * step, tiled) for stride, tiled, (_, steps) in axes for k, step in steps if stride]

    def pointer(self, name: str) -> str:
        root = self.roots[name]
        if root.place == "stack":
            if name not in self.stack:
                self.stack[name] = self.alloca(f"[{root.size} x {in_memory(root.dtype)}]")
            return self.stack[name]
        return self.memory.setdefault(name, f"%p{len(self.memory)}")
