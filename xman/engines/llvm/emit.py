"""From nests to LLVM's text: a function for each nest, whose arguments are the roots that it touches.

Nests that differ only in their roots share a function. The text promises that memory does not overlap
(`noalias`): views that share memory have one root, and so one pointer.
"""
from __future__ import annotations

import numpy as np

from ops import f

from ..nests.emission import NestWriter, lines_within
from ..nests.schedule import Tree
from ..nests.tree import REDUCTIONS, Line, Loop
from ..nests.views import View
from .arithmetic import FORMULAS, INDEX, Number, combined, gathered_of_none, number_at, result_of, store
from .elementary import one_of_both, pairs_in_vectors
from .function import SHORT, Function, in_memory

TURNS = "sin", "cos"
# where an inner loop with at most FEW lines adds up in memory, its sums should stay in a processor's
# registers from turn to turn of the loop around it: it is written out if its turns are in the range MASKED,
# where LLVM makes vectors with masks, and above that the rest after the vectors is
FEW, MASKED = 4, (9, 16)


class Nest(Function, NestWriter):
    """The function of some nodes of the tree. sliced: whether it runs one loop from an index to another.
    memory: the parameter of each root that it touches."""

    def __init__(self, tree: Tree, nodes: list[Loop | Line], declared: dict[str | tuple[str, str], None],
                 sliced: bool = False):
        Function.__init__(self, declared)
        self.walks(tree)
        self.sliced = nodes[0] if sliced else None
        self.memory: dict[str, str] = {}
        self.stack: dict[str, str] = {}
        self.turned: dict[View | float, set[str]] = {}   # what goes into sin and cos, and into which
        for line in [line for node in nodes for line in lines_within(node) if line.op in TURNS]:
            self.turned.setdefault(line.args[0], set()).add(line.op)
        self.body(nodes)

    def named(self, name: str, attribute: str) -> str:
        args = [f"ptr noalias {p}" for p in self.memory.values()]
        args += ["i64 %first", "i64 %last"] * bool(self.sliced)
        return self.text(f"define internal void @{name}({', '.join(args)}) {attribute}", " ret void")

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

    # ---- LLVM's words for the walk -------------------------------------------------------------------------

    number_at = number_at
    combined = staticmethod(combined)
    identity = gathered_of_none

    def store(self, number: Number, place: str) -> None: store(number, place)
    def slot(self, dtype: np.dtype) -> str: return self.alloca(in_memory(dtype))

    def in_range(self, key: Number, n: int) -> str:
        k = key.to(INDEX)
        return f.where(k < 0, k + n, k).name

    def place_of(self, root: str, k: str) -> str:
        T = in_memory(self.roots[root].dtype)
        return self.do(f"getelementptr inbounds {T}, ptr {self.pointer(root)}, i64 {k}")

    def computed(self, line: Line, args: list) -> Number:
        paired = line.op in TURNS and len(self.turned[line.args[0]]) == 2 and (
            not line.path or pairs_in_vectors())
        like = Number(self, "", line.dtype)
        number = one_of_both(line.op, like.like(args[0])) if paired else result_of(line.op, args, like)
        return number.to(self.dtype(line))

    def pointer(self, name: str) -> str:
        root = self.roots[name]
        if root.place == "stack":
            if name not in self.stack:
                self.stack[name] = self.alloca(f"[{root.size} x {in_memory(root.dtype)}]")
            return self.stack[name]
        return self.memory.setdefault(name, f"%p{len(self.memory)}")
