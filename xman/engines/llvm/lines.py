"""From the lines of a list to views, lines of the tree, products and calls.

`Lines` goes through a lowered list once. Each register becomes a view of a root, or a number where all its entries are one
literal. What an operator becomes is said by a function in a table: of rearrangements (`arrangements`), of products
(`contractions`), or here: operators entry by entry and reductions. What no table has is left to NumPy.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

import ops

from ...wengert import Line as Step
from ..folded import folded, ordered
from ..program import GEMM, Program, held
from . import arithmetic
from .arrangements import ACCUMULATED, ARRANGEMENTS, spread_to
from .contractions import CONTRACTIONS, gemm
from .nests import Call, Line, Product
from .schedule import Tree
from .views import View, exchanged, reshaped, spread, strided, whole

NATIVE = {np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
SHAPE_ALONE = {"reshape": 1, "broadcast": 1, "scatterAdd": 1, "unbroadcast": 1, "diagBack": 1, "einsumBack": 1}
# the places of arguments that have to be literals
LITERAL = {**dict.fromkeys(("concat", "stack", "einsum"), (0,)), **dict.fromkeys(("flip", "pad", "unpad", "transpose", "diag"), (1,)),
           **dict.fromkeys(("sum", "prod", "max", "min", "roll", "shift", "part"), (1, 2)), "broadcast": (2,), "unbroadcast": (2,),
           "take": (2,), "diagBack": (2,), "ties": (2,), "einsumBack": (2,), "count": (1,)}
LONG_SUM = 4096  # numbers, from which on single precision is added up in double


class Lines:
    """What a program becomes. tree: the nodes. views: by register. objects: those that are Python's. scalars: roots that
    NumPy is given as numbers. constants: arrays that
    the program brings along. bounds: roots of whole numbers that have to lie in low … high − 1, as (root, low, high)."""

    def __init__(self, program: Program):
        self.program, self.kinds, self.tree = program, dict(program.kinds), Tree()
        self.views: dict[str, Any] = {}
        self.objects: set[str] = set()
        self.scalars: set[str] = set()
        self.constants: dict[str, np.ndarray] = {}
        self.bounds: dict[tuple[str, int, int], None] = {}
        self.given = [x for x in dict.fromkeys((*program.original.inputs, *program.constants))]
        for x in self.given:
            if self.known(x):
                self.views[x] = self.tree.root(x, self.kinds[x].shape, self.kinds[x].dtype, "given")
            else:
                self.objects.add(x)
        lines = [self.halved(line) for line in folded(program, rows=False)]
        lines = [part for line in lines for part in line]
        holds = held([(dst, "alias" if op in ARRANGEMENTS else op, args) for dst, op, args in lines], self.kinds)
        self.lines, self.direct = ordered(lines, program.inplace, program.outputs, holds, self.kinds)
        self.uses = Counter(a for _, op, args in self.lines for k, a in enumerate(args)
                            if isinstance(a, str) and k != SHAPE_ALONE.get(op))
        self.uses.update((*program.outputs, *program.inplace))
        reader = {a: line for line in self.lines for a in line[2] if isinstance(a, str)}
        self.late = {dst for dst, op, _ in self.lines if op == "scatterAdd" and self.uses[dst] == 1 and dst in reader
                     and self.adds(reader[dst])}
        for line in self.lines:
            self.take(line)
        self.results = {x: self.result(x) for x in program.outputs if x not in self.objects}
        for y, x in program.inplace.items():
            if y not in self.direct:
                self.line(x, "copy", [self.views[y]], self.kinds[x].shape, target=whole(x, self.kinds[x].shape))
        self.tree.keep()

    def halved(self, line: Step) -> list[Step]:
        """A product whose factor is computed, as two lines: a product, and the rest."""
        dst, op, args = line
        if op != GEMM or args[1] is None or args[1] in self.given:
            return [line]
        alpha, s, a, ta, b, tb, c = args
        self.kinds |= {f"{dst}.{part}": self.kinds[dst] for part in ("product", "scaled")}
        return [(f"{dst}.product", GEMM, (alpha, None, a, ta, b, tb, None)),
                *([(f"{dst}.scaled", "mul", (f"{dst}.product", s)), (dst, "add", (f"{dst}.scaled", c))] if c else
                  [(dst, "mul", (f"{dst}.product", s))])]

    def known(self, x: str) -> bool:
        """Whether a register is an array or a number that loops can compute with."""
        return x in self.kinds and self.kinds[x].dtype in NATIVE

    def adds(self, step: Step) -> bool:
        """Whether a line adds arrays of one type and shape, which a new root may collect."""
        dst, op, args = step
        return op == "add" and dst not in self.direct and self.known(dst) and self.kinds[dst].dtype.kind == "f" and all(
            isinstance(a, str) and a in self.kinds and self.kinds[a][:2] == self.kinds[dst][:2] for a in args)

    # ---- lines of the list ------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Bring one line of the list into the tree."""
        dst, op, args = step
        found = None
        if self.known(dst) and all(self.known(a) for k, a in enumerate(args) if isinstance(a, str) and k != SHAPE_ALONE.get(op)):
            make = ARRANGEMENTS.get(op) or CONTRACTIONS.get(op) or TABLE.get(op) or entrywise
            literal = all(type(args[k]) is not str for k in LITERAL.get(op, ()) if k < len(args))
            if literal and (op in ops.table.OURS or op == GEMM):
                found = make(self, step, [self.views.get(a) if isinstance(a, str) else a for a in args])
        if found is None:
            self.call(step)
        else:
            self.views[dst] = found
            if dst in self.direct and (not isinstance(found, View) or found.root != self.program.inplace[dst]):
                self.direct.discard(dst)
            if dst in self.program.inplace and dst not in self.direct and isinstance(found, View) and (
                    self.tree.roots[found.root].place == "given"):
                self.views[dst] = self.copied(dst, found)  # what it is a view of may be overwritten

    def call(self, step: Step) -> None:
        """Leave a line to NumPy."""
        dst, op, args = step
        given = tuple(a if not isinstance(a, str) or a in self.objects else self.lying(a) for a in args)
        target = self.tree.root(dst, self.kinds[dst].shape, self.kinds[dst].dtype) if self.known(dst) else None
        self.tree.place(Call(dst, op, given, target))
        if target is None:
            self.objects.add(dst)
        else:
            self.views[dst] = target

    def lying(self, x: str) -> View:
        """The register as all of a root, in its own shape."""
        view, kind = self.views[x], self.kinds[x]
        if not self.is_whole(view, kind.shape):
            view = self.line(f"{x}.whole", "copy", [view], kind.shape, kind.dtype)
        if not kind.array:
            self.scalars.add(view.root)
        return view

    def result(self, x: str) -> View:
        """An output, as a root of its own that is handed out."""
        view, kind = self.views[x], self.kinds[x]
        if not self.is_whole(view, kind.shape) or self.tree.roots[view.root].place != "arena":
            view = self.line(self.fresh(f"{x}.out"), "copy", [view], kind.shape, kind.dtype)
        self.tree.roots[view.root].place = "output" if kind.shape else "number"
        return view

    # ---- lines of the tree ------------------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        """The name, or one like it that no root has yet."""
        while name in self.tree.roots:
            name += "'"
        return name

    def line(self, dst: str, op: str, args: Sequence[Any], shape: Sequence[int], dtype: Any = None, *, how: str = "set",
             reduced: Iterable[int] = (), keepdims: bool = False, target: View | None = None, computed: Any = None) -> Any:
        """A line, and the view of what it computes: of a new root of that dtype, or of the target. A number where all is one.

        reduced: the axes of the space over which it adds up. computed: the type in which it does, if not that of the root.
        """
        shape, reduced = tuple(shape), set(reduced)
        if target is None:
            dtype = np.dtype(dtype)
            if how == "set" and op != "copy" and not any(isinstance(a, View) for a in args):
                return self.number(op, args, dtype, np.dtype(computed or dtype))
            kept = [k for k in range(len(shape)) if k not in reduced]
            sizes = [1 if k in reduced else n for k, n in enumerate(shape)] if keepdims else [shape[k] for k in kept]
            root = self.tree.root(self.fresh(dst), tuple(sizes), dtype)
            target = strided(root, range(len(shape)) if keepdims else kept, range(len(shape)), dict(enumerate(shape)))
            result = root
        else:
            result = target
            dtype = self.tree.roots[target.root].dtype
        args = [spread(a, shape) if isinstance(a, View) else a for a in args]
        self.tree.place(Line(op, args, shape, target, how, np.dtype(computed or dtype)))
        return result

    def number(self, op: str, args: Sequence[Any], dtype: np.dtype, computed: np.dtype) -> Any:
        """What an operator makes of literals."""
        with np.errstate(all="ignore"):
            return dtype.type(ops.G[op](*(computed.type(a) for a in args))).item()

    def copied(self, name: str, view: Any, shape: Sequence[int] | None = None) -> View:
        """The numbers of a view in a root of their own."""
        dtype = self.dtype(view)
        return self.line(self.fresh(f"{name}.copy"), "copy", [view], view.shape if shape is None else shape, dtype)

    def is_whole(self, x: Any, shape: tuple[int, ...]) -> bool:
        """Whether it is all of a root, as it lies."""
        return isinstance(x, View) and self.tree.roots[x.root].shape == shape and x == whole(x.root, shape)

    def dtype(self, view: View) -> np.dtype:
        return self.tree.roots[view.root].dtype

    def constant(self, array: np.ndarray) -> View:
        """An array that the program brings along."""
        name = self.fresh(f"constant{len(self.constants)}.{array.dtype}")
        self.constants[name] = np.array(array, order="C")
        return self.tree.root(name, array.shape, array.dtype, "given")


# ---- entry by entry -------------------------------------------------------------------------------------------------

def entrywise(w: Lines, step: Step, v: list) -> Any:
    """An operator entry by entry; None where the arithmetic does not have it for these types."""
    dst, op, args = step
    kind, computed = w.kinds[dst], computed_in(w, step)
    if any(isinstance(a, ACCUMULATED) for a in v):
        return accumulated(w, step, v)
    if op == "astype":
        op, v = "copy", v[:1]
    if computed is None or not arithmetic.has(op, computed, kind.dtype) or not all(
            isinstance(a, (View, int, float)) or isinstance(a, np.generic) and a.dtype in NATIVE for a in v):
        return None
    v = [a.item() if isinstance(a, np.generic) else a for a in v]
    if op == "power" and type(v[1]) in (int, float) and v[1] in (2, 3) and kind.dtype.kind == "f" and isinstance(v[0], View):
        square = w.line(f"{dst}.square" if v[1] == 3 else dst, "mul", [v[0], v[0]], kind.shape, kind.dtype)
        return square if v[1] == 2 else w.line(dst, "mul", [square, v[0]], kind.shape, kind.dtype)
    target = None
    if dst in w.direct and meets_itself(w.program.inplace[dst], v, kind.shape):
        target = whole(w.program.inplace[dst], kind.shape)
    return w.line(dst, op, v, kind.shape, kind.dtype, computed=computed, target=target)


def meets_itself(x: str, v: list, shape: tuple[int, ...]) -> bool:
    """Whether x is read at the places alone that are to be written."""
    return all(a == whole(x, shape) for a in v if isinstance(a, View) and a.root == x)


def computed_in(w: Lines, step: Step) -> np.dtype | None:
    """The type in which NumPy computes a line; None where loops have no such type."""
    dst, op, args = step
    dtype = w.kinds[dst].dtype
    if op == "astype":
        source = w.kinds[args[0]].dtype if isinstance(args[0], str) else np.dtype(type(args[0]))
        return dtype if source.kind != "f" or dtype.kind in "fb" else None  # what does not fit is C's affair
    types = [w.kinds[a].dtype if isinstance(a, str) else a for a in args]
    if op == "where":
        return dtype
    if dtype.kind == "f":
        return dtype
    try:
        found = np.result_type(*types) if dtype.kind == "b" else dtype
        for a in types:
            if not isinstance(a, np.dtype):
                found.type(a)  # a number that fits
    except (OverflowError, TypeError, ValueError):
        return None
    signs = {t.kind for t in types if isinstance(t, np.dtype)}
    return found if found in NATIVE and not signs >= {"i", "u"} else None


def accumulated(w: Lines, step: Step, v: list) -> View:
    """A sum with what an index alone brings back: it is added in its place, and not spread over zeros first."""
    dst, _, args = step
    shape, dtype = w.kinds[dst].shape, w.kinds[dst].dtype
    late, others = [x for x in v if isinstance(x, ACCUMULATED)], [x for x in v if not isinstance(x, ACCUMULATED)]
    base = next((x for a, x in zip(args, v, strict=True) if isinstance(x, View) and w.uses[a] == 1
                 and w.is_whole(x, shape) and collects(w, x.root)), None)
    if base is None:
        base = w.tree.root(w.fresh(dst), shape, dtype)
        for x in others:
            w.line(dst, "copy", [x], shape, how="into", target=base)
    for x in late:
        x.add(w, base)
    return base


def collects(w: Lines, root: str) -> bool:
    """Whether all that is written to a root is added there."""
    writers = w.tree.writers.get(root, ())
    return w.tree.roots[root].place == "arena" and not w.tree.readers.get(root) and bool(writers) and all(
        isinstance(node, Line) and node.how == "into" for node in writers)


# ---- reductions -----------------------------------------------------------------------------------------------------

def axes_of(axis: Any, n: int) -> set[int] | None:
    """The axes that a literal names; None where it is none."""
    if axis is None:
        return set(range(n))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {a % n for a in axes} if all(type(a) is int for a in axes) and n or axis == () else None


def reduction(w: Lines, step: Step, v: list) -> View | None:
    """sum, prod, max and min over axes."""
    dst, op, args = step
    shape, kind = spread_to(w, args[0]), w.kinds[dst]
    axes = axes_of(args[1] if len(args) > 1 else None, len(shape))
    if axes is None or not isinstance(args[0], str) or kind.dtype.kind == "b" or op in ("max", "min") and 0 in shape:
        return None
    long = op == "sum" and kind.dtype == np.float32 and prod(shape[a] for a in axes) > LONG_SUM
    found = w.line(f"{dst}.double" if long else dst, "copy", [v[0]], shape, np.float64 if long else kind.dtype, how=op,
                   reduced=axes, keepdims=bool(len(args) > 2 and args[2]))
    return w.line(dst, "copy", [found], kind.shape, kind.dtype) if long else found


def unbroadcast(w: Lines, step: Step, v: list) -> View | None:
    """A sum over what broadcasting added, and another shape; or what spreads."""
    dst, _, args = step
    have, kind = spread_to(w, args[0]), w.kinds[dst]
    axes = axes_of(args[2] if len(args) > 2 else (), len(have))
    if axes is None or not isinstance(args[0], str) or w.kinds[args[0]].dtype != kind.dtype or kind.dtype.kind != "f":
        return None
    rest = [k for k in range(len(have)) if k not in axes]
    extra = len(rest) - len(kind.shape)
    if extra < 0:
        return None
    axes |= {k for j, k in enumerate(rest) if j < extra or kind.shape[j - extra] == 1 != have[k]}
    if not any(have[k] != 1 for k in axes):
        return reshaped(v[0], kind.shape) if isinstance(v[0], View) else v[0]
    found = w.line(dst, "copy", [v[0]], have, kind.dtype, how="sum", reduced=axes)
    return reshaped(found, kind.shape)


def ties(w: Lines, step: Step, v: list) -> Any:
    """The share of each entry in the extreme value of its slice: 1 / how many are equal to it. NaNs share among themselves."""
    dst, _, args = step
    kind = w.kinds[dst]
    axes = axes_of(args[2] if len(args) > 2 else None, len(kind.shape))
    dtypes = {w.kinds[a].dtype for a in args[:2] if isinstance(a, str)}
    if axes is None or dtypes != {kind.dtype} or kind.dtype.kind != "f":
        return None
    truth = lambda name, op, *of, dtype=kind.dtype: w.line(f"{dst}.{name}", op, of, kind.shape, bool, computed=dtype)
    strange = truth("strange", "logical_and", truth("x", "isnan", v[0]), truth("y", "isnan", v[1]), dtype=np.dtype(bool))
    equal = truth("equal", "logical_or", truth("same", "equal", *v[:2]), strange, dtype=np.dtype(bool))
    count = w.line(f"{dst}.count", "copy", [equal], kind.shape, kind.dtype, how="sum", reduced=axes, keepdims=True)
    some = w.line(f"{dst}.some", "maximum", [count, 1.0], count.shape, kind.dtype)
    return w.line(dst, "divide", [equal, some], kind.shape, kind.dtype)


TABLE = {"sum": reduction, "prod": reduction, "max": reduction, "min": reduction, "unbroadcast": unbroadcast, "ties": ties}
