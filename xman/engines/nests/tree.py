"""The tree of a program: loops and lines with their operators, products by BLAS, and calls of NumPy.

    for i of 64:                         a Loop over rows,
      for j of 10:
        top max= copy z[i, j]            a Line: `op` of numbers that lie in views, put into a view; here
      for j of 10:                       a maximum, as its target does not depend on j
        e = exp …
        total sum= copy e
      for j of 10:
        p = divide e total

A line runs over a *space*: it has an index for each axis of its result, and for each axis over which it adds
up.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ops import facts_of

from .views import View, row_by_row

if TYPE_CHECKING:
    from .builder import Builder

# SciPy's functions of doubles, by the names that its `cython_special` has for them
SPECIAL = {op: op for op in "gammaln erfc erfinv ndtri betaln gammainc gammaincc betainc".split()} | dict(
    digamma="psi", logNdtr="log_ndtr", Gamma="gamma", Beta="beta", besselJ="jv", besselY="yv", besselI="iv",
    besselIe="ive", besselK="kv", besselKe="kve")
ENTRYWISE = {*SPECIAL, *"""
    equal not_equal less less_equal greater greater_equal
    logical_and logical_or logical_not isnan isfinite signbit
    add subtract mul divide negative abs sign maximum minimum where copy
    power sqrt cbrt hypot remainder floor ceil trunc rint
    exp exp2 expm1 log log2 log10 log1p logaddexp sigmoid erf
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh
    scale ratio share""".split()}
TRUTHS = {op for op in ENTRYWISE if facts_of(op).gives is bool}
OF_FLOATS = ENTRYWISE - TRUTHS
OF_WHOLE = {"copy", "where", "negative", "add", "subtract", "mul", "maximum", "minimum"}


def has(op: str, computed: np.dtype, result: np.dtype) -> bool:
    """Whether lines compute the operator in the type `computed`, for a result of that other type."""
    if op in TRUTHS:
        return result == np.bool_ and (computed.kind == "f" or op not in ("isnan", "isfinite", "signbit"))
    operators = {"f": OF_FLOATS, "b": {"copy", "where"}}.get(computed.kind, OF_WHOLE)
    return op in operators and (op == "copy" or result == computed)


# an axis of LONG entries or more is cut into tiles of TILE entries, so that several loops share the cache
LONG, TILE = 2048, 1024
# entries: to the next number in another line of the cache; of a space whose order matters; of a block
FAR, MANY, BLOCK = 8, 1024, 32


class TreeNode:
    """A node of the tree, inside of the loops `path`: `op` of `args`, brought to `target`. views: those among
    its arguments. reads, writes: roots and Python's objects, by name. by: the library that computes it."""
    path: Sequence[Loop] = ()
    levels: Sequence[tuple] = ()
    rank = 0.0
    op: str
    args: Any
    target: Any
    mode, by = "", ""
    views = property(lambda self: [a for a in self.args if isinstance(a, View)])
    reads = property(lambda self: [v.root for v in self.views])
    writes = property(lambda self: [self.target.root])

    def __str__(self) -> str:
        return f"{', '.join(self.writes)} = {self.op}({', '.join(map(arg_text, self.args))})   # {self.by}"


def arg_text(a: Any) -> str:
    """The text of an argument."""
    return a.root + "[…]" * bool(a.gathered) if isinstance(a, View) else repr(a)


@dataclass(eq=False)
class Line(TreeNode):
    """`op` of `args`, computed in `dtype` for each index of the space `shape`, and brought to `target`.

    args: views over the space, and numbers. mode: `set` where each entry of the target is written once; `put`
    where the target is a part of its root; `into` where it is added to what is there; `sum`, `prod`, `max`,
    `min` over the axes along which the target stands still. levels: its loops from the outermost, (axis,
    "all" | "tile" | "lane", how many of them at once).
    """
    op: str
    args: list
    shape: tuple[int, ...]
    target: View
    dtype: np.dtype
    levels: list
    mode: str = "set"

    @property
    def views(self) -> list[View]:
        views = TreeNode.views.fget(self)
        return views + [v for a in (*views, self.target) for _, _, v in a.gathered]

    def __str__(self) -> str:
        mode = self.mode.replace("set", "")
        return f"{self.target.root} {mode}= {self.op}({', '.join(map(arg_text, self.args))})"

    def size(self, depth: int) -> tuple[int, str, int]:
        """(entries of the axis, what it runs over, how many entries at once) of its loop at that depth."""
        axis, *kind = self.levels[depth]
        return self.shape[axis], *kind

    def reduced(self, depth: int) -> bool:
        return self.mode in REDUCTIONS and self.target.strides[self.levels[depth][0]] == 0

    def scatters(self, depth: int) -> bool:
        """Whether it adds to other places at each turn of its innermost loop, the one at that depth."""
        axis = self.levels[depth][0]
        return depth == len(self.levels) - 1 and any(key.strides[axis] for *_, key in self.target.gathered)

    def summed(self) -> tuple[int, int]:
        """The depth of the outermost loop along which it adds up, and that from which on it does in all:
        these need but one number, which stays in a processor's register. Each tile has a sum of its own."""
        n = len(self.levels)
        first = next((d for d in range(n) if self.reduced(d)), n)
        last = n
        while last > 0 and self.reduced(last - 1) and self.levels[last - 1][1] != "tile":
            last -= 1
        return first, last


REDUCTIONS = {"sum", "prod", "max", "min"}
PARTLY = {"put", "into"}


def of_none(reduction: str, dtype: np.dtype) -> Any:
    """The reduction of no numbers, with which it begins."""
    if reduction not in ("max", "min"):
        return reduction == "prod"
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return low if reduction == "max" else high


def levels_of(shape: tuple[int, ...], views: Sequence[View],
              summed: Collection[int]) -> list[tuple[int, str, int]]:
    """The loops over a space, so that the innermost goes from each number to the next one in memory.

    If views disagree on the best innermost axis, the last axis is cut into blocks, and a block of both axes
    fits into the cache, as in the transpose of a matrix. summed: the axes over which lines of this shape add
    up; the tiles of other axes are around them, since each tile is then computed by itself.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    # for each axis the views in which a step along it leaves the line of the cache. In y[i, j] = x[j, i],
    # with rows of 100, a step along j is far in x alone, and one along i in y alone
    far = {k: {j for j, v in enumerate(views) if abs(v.strides[k]) >= FAR} for k in axes}
    if prod(shape) >= MANY and far[last := axes[-1]]:
        # the axis, of those that help a view that the last one does not, along which fewest views are far
        near = min((k for k in reversed(axes) if far[last] - far[k]), key=lambda k: len(far[k]), default=last)
        axes = [*(k for k in axes if k not in (near, last)), near]
        if near != last and far[near]:
            blocks = [(last, "tile", BLOCK)] * (shape[last] >= 2 * BLOCK)
            inner = last, "lane" if blocks else "all", BLOCK
            return [*((k, "all", shape[k]) for k in axes[:-1]), *blocks, (near, "all", shape[near]), inner]
        axes[-1:-1] = [last] * (near != last)
    levels: list[tuple[int, str, int]] = []
    for k in axes:
        if shape[k] < LONG or any(kind == "tile" for _, kind, _ in levels):
            levels.append((k, "all", shape[k]))
        else:
            # tiles go outside of the first sum: a tile of the other axis keeps its sums in the cache
            within = [j for j, (axis, *_) in enumerate(levels) if axis in summed and k not in summed]
            levels.insert(min(within, default=len(levels)), (k, "tile", TILE))
            levels.append((k, "lane", TILE))
    return levels


@dataclass(eq=False)
class Loop:
    """A loop over an axis, over its tiles, or over the lane of a tile. body: Loops and Lines, in order."""
    size: int
    kind: str
    width: int                                    # how many entries at once
    body: list[Loop | TreeNode] = field(default_factory=list)
    lines: int = 0                                # how many lines are in it, at any depth
    targets: dict[str, View] = field(default_factory=dict)  # by root, the part that is written here
    scatters: bool = False                        # whether its lines do; vectors are made of others alone
    rank: float = 0.0

    level = property(lambda self: (self.size, self.kind, self.width))

    def __str__(self) -> str:
        return f"for {self.size}{f' ({self.kind} of {self.width:,})' * (self.kind != 'all')}:"


@dataclass(eq=False)
class Product(TreeNode):
    """target = alpha·s·a@b by BLAS, for each matrix of a batch. added: add the product to the target."""
    target: View
    a: View
    b: View
    alpha: float = 1.0
    s: View | None = None
    added: bool = False

    op, by = "product", "BLAS"
    args = property(lambda self: [self.alpha, self.a, self.b,
                                  *filter(None, (self.s, self.added and self.target))])


@dataclass(eq=False)
class Routine(TreeNode):
    """A routine of LAPACK, for each matrix of a batch. args: views that it overwrites, the target last."""
    op: str
    args: list[View]
    target: View
    by = "LAPACK"
    writes = TreeNode.reads


@dataclass(eq=False)
class Call(TreeNode):
    """An operator that NumPy computes. args: views of whole roots, literals, and names of Python's objects.

    target: the place of the result; None if the result is Python's object `dst`, such as a sparse matrix.
    """
    dst: str
    op: str
    args: tuple
    target: View | None
    by = "NumPy"
    reads = property(lambda self: [a.root if isinstance(a, View) else a for a in self.args
                                   if isinstance(a, (View, str))])
    writes = property(lambda self: [self.target.root if self.target else self.dst])


@dataclass(eq=False)
class FunctionRun:
    """The nests of a function, as one step. places: for each root that is an argument or a result, the view
    of the first step, and by how many entries it moves on; None for the number of the step."""
    nests: Builder
    places: dict[str, tuple[View, int] | None]

    def written(self) -> list[View]:
        out = {x for x, root in self.nests.tree.roots.items() if root.place == "output"}
        out.update(self.nests.program.inplace.values())
        return [place[0] for x, place in self.places.items() if place and x in out]


@dataclass(eq=False)
class Applied(TreeNode):
    """Runs of functions. op: `scan` runs one `size` times, for the steps first, first + way, …; `cond` runs
    one of two, as the number `test` says; `while` runs the first, and as long as it writes a true `test`, the
    second, at most `size` times. count: gets the number of steps; for a scan, has it."""
    op: str
    runs: list[FunctionRun]
    targets: list[View]
    size: int
    test: View | None = None
    count: View | None = None
    first: int = 0
    way: int = 1

    target = property(lambda self: self.targets[0])
    writes = property(lambda self: [v.root for v in self.targets])

    by = property(lambda self: f"{self.size:,} steps at most")
    passed = property(lambda self: [place[0] for run in self.runs for place in run.places.values() if place])
    args = property(lambda self: [*self.passed, *self.targets, *filter(None, (self.test, self.count))])


@dataclass
class Root:
    """A register with memory of its own.

    place: `given` by the caller, a new `output`, a `number` that is handed out, in the program's `arena`, on
    the `stack`, or `none` where its numbers never leave a processor's registers. depth: the loops that all
    who touch it share: it is kept for those within alone. strides, size: of what is kept, in entries. tiled:
    the axes of which only a tile is kept.
    """
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    place: str = "arena"
    depth: int = 0
    strides: tuple[int, ...] = ()
    tiled: tuple[bool, ...] = ()
    size: int = 0

    bytes = property(lambda self: self.size * self.dtype.itemsize)

    def keeps(self, sizes: Sequence[int], tiled: Sequence[bool]) -> None:
        self.strides, self.tiled, self.size = row_by_row(sizes), tuple(tiled), prod(sizes)


def tree_text(body: Sequence[Loop | TreeNode], roots: dict[str, Root], indent: str = "") -> list[str]:
    """The tree as text, with a line for each node."""
    text = []
    for node in body:
        root = roots[node.target.root] if isinstance(node, Line) else None
        memory = f"   # {root.place}, {root.size:,} of {root.dtype}" if root and root.place != "none" else ""
        text.append(f"{indent}{node}{memory}")
        if isinstance(node, Loop):
            text += tree_text(node.body, roots, indent + "  ")
        for run in node.runs if isinstance(node, Applied) else ():
            text += tree_text(run.nests.tree.body, run.nests.tree.roots, indent + "  ")
    return text
