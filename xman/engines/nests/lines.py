"""From the lines of a list to views, lines of the tree, products and calls.

`Lines` goes through a lowered list once. Each register becomes a view of a root, or a number if all its
entries are one literal. Functions in tables say what an operator becomes: `arrangements`, `matrices`,
`entrywise`. NumPy computes an operator that no table has.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

import ops
from ops.facts import parameters, shaped_by

from ...passes.lower import has_to_be_literal
from ...wengert import Line as Step
from ..folded import folded, ordered
from ..program import GEMM, Program, held
from .applied import APPLIED
from .arrangements import ACCUMULATED, ARRANGEMENTS, ByNumPy, axes_of, need, order_of
from .entrywise import NATIVE, REDUCED, entrywise
from .matrices import CONTRACTIONS, ROUTINES, for_lapack
from .operators import ENTRYWISE, TRUTHS
from .schedule import Tree
from .tree import Call, Line, levels_of
from .views import View, row_by_row, spread, strided, whole

RULES = ARRANGEMENTS | CONTRACTIONS | ROUTINES | REDUCED  # all others are entrywise
LOOPS = {"astype", *ENTRYWISE}  # entrywise operators
SURE = {"bundle", "item"}.union(LOOPS, RULES.keys() - ROUTINES.keys())  # these refuse no values


def read_by(op: str, args: Sequence[Any]) -> list[str]:
    """The registers whose numbers a line reads."""
    return [a for k, a in enumerate(args) if isinstance(a, str) and k != shaped_by(op)]


class Lines:
    """A program on its way into the tree. tree: the nodes. views: by register. objects: registers that are
    Python's objects. scalars: roots that NumPy gets as numbers. constants: the program's own arrays. fills:
    constants of one number, which lines take as a literal. copies: for BLAS, by the view, and how many lines
    had written what it reads. bounds: (root, low, high) for whole numbers that have to be in low … high − 1.
    positions: {root: n} for whole numbers that are in 0 … n − 1. step: the present line."""

    def __init__(self, program: Program, positions: Mapping[str, int] = {}):
        self.program, self.kinds, self.tree = program, dict(program.kinds), Tree()
        self.bundles: dict[str, tuple] = {}
        self.views: dict[str, View | ACCUMULATED] = {}
        self.objects: set[str] = set()
        self.scalars: set[str] = set()
        self.constants: dict[str, np.ndarray] = {}
        self.fills: dict[str, Any] = {}
        self.copies: dict[tuple, View] = {}
        self.bounds: dict[tuple[str, int, int], None] = {}
        self.positions: dict[str, int] = dict(positions)
        self.given = list(dict.fromkeys((*program.original.inputs, *program.constants)))
        for x in self.given:
            if self.known(x):
                self.views[x] = self.tree.root(x, *self.kinds[x][:2], "given")
            else:
                self.objects.add(x)
        lines = folded(program)
        arrays = {x: kind._replace(array=True) for x, kind in self.kinds.items()}
        holds = held([(x, "alias" if op in ARRANGEMENTS else op, args) for x, op, args in lines], arrays)
        calls = {line[0] for line in lines if self.may_fail(*line)}
        self.lines, self.direct = ordered(program, lines, holds, calls)
        kept = *program.outputs, *program.inplace
        self.uses = Counter([*kept, *(a for _, op, args in self.lines for a in read_by(op, args))])
        scattered = {dst for dst, op, _ in self.lines if op == "scatterAdd" and self.uses[dst] == 1}
        self.late = {a for line in self.lines if self.adds(*line) for a in line[2] if a in scattered}
        self.orders = {x: (*range(len(self.kinds[x].shape)),) for x in kept if self.known(x)}
        self.summed: dict[tuple, set[int]] = defaultdict(set)
        for line in reversed(self.lines):
            self.wish(*line)
        for line in self.lines:
            self.take(line)
        for x in program.outputs:
            self.as_object(x)
        self.results = {x: self.result(x) for x in program.outputs if x not in self.objects}
        for y, x in program.inplace.items():
            if y not in self.direct:
                place = whole(x, self.kinds[x].shape)
                self.line(x, "copy", [self.views[y]], place.shape, target=place)
        for x in self.fills.keys() - self.tree.readers:
            del self.tree.roots[x], self.constants[x]
        self.tree.keep()

    def may_fail(self, dst: str, op: str, args: tuple) -> bool:
        """Whether a line may refuse values, as lines of NumPy and LAPACK do, and computed indices."""
        keys = args[ops.facts_of(op).keys:]
        return op not in SURE or any(isinstance(a, str) and a not in self.given for a in keys)

    def wish(self, dst: str, op: str, args: tuple) -> None:
        """Note the order that the axes of a line's arguments should have, and over which axes it adds up."""
        order = self.orders.get(dst)
        for a in filter(self.known, read_by(op, args)):
            shape = self.kinds[a].shape
            if op in REDUCED:
                axes = axes_of(args[1] if len(args) > 1 else None, len(shape)) or set()
                self.summed[shape] |= axes if len(axes) < len(shape) else set()
            elif order or op not in LOOPS:
                alike = order and len(order) == len(shape) and (op in LOOPS or op in ARRANGEMENTS)
                of = order_of(shape, *args[1:]) if op == "transpose" else range(len(shape))
                self.orders.setdefault(a, tuple(of[k] for k in (order if alike else range(len(shape)))))

    def known(self, x: str) -> bool:
        return x in self.kinds and self.kinds[x].dtype in NATIVE

    def adds(self, dst: str, op: str, args: tuple) -> bool:
        """Whether a line adds arrays of one type and shape, which may be added up in a new root."""
        if op != "add" or not self.known(dst) or self.kinds[dst].dtype.kind != "f":
            return False
        return all(a in self.kinds and self.kinds[a][:2] == self.kinds[dst][:2] for a in map(str, args))

    # ---- lines of the list ---------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        dst, op, args = self.step = step
        try:
            if op == "bundle":
                self.bundles[dst] = args
            elif op in APPLIED:
                self.bundles[dst] = (*APPLIED[op](self, dst, *args),)
            else:
                self.views[dst] = self.made(dst, op, args)
        except ByNumPy:
            self.call(step)
        if dst in self.program.inplace and dst in self.views:
            root = self.views[dst].root
            if root != self.program.inplace[dst]:
                self.direct.discard(dst)
            if dst not in self.direct and self.tree.roots[root].place == "given":  # it may be overwritten
                self.views[dst] = self.copied(dst, self.views[dst])

    def made(self, dst: str, op: str, args: tuple) -> Any:
        """The result of an operator. ByNumPy if NumPy has to compute it."""
        need(self.known(dst))
        if op == "item" and args[0] in self.bundles:
            found = self.bundles[args[0]][args[1]]
            found = self.views[found] if isinstance(found, str) else found
            return found if isinstance(found, View) else self.filled(found, *self.kinds[dst][:2])
        need((op in ops.table.OURS or op == GEMM) and all(map(self.known, read_by(op, args))))
        v = [self.views.get(a) if isinstance(a, str) else a for a in args]
        if op == GEMM or op not in RULES:
            return RULES.get(op, entrywise)(self, dst, op, *v)
        names, defaults, *_ = parameters(ops.G[op])
        v += [defaults[name] for name in names[len(v):]]
        need(not has_to_be_literal(op, [isinstance(x, View) for x in v]))
        leads = names[0] == "axis"  # arrays follow
        for k in range(len(v)) if op in CONTRACTIONS else range(leads, len(v) if leads else 1):
            if isinstance(v[k], (bool, int, float, np.generic)):
                v[k] = self.filled(v[k], (), np.dtype(type(v[k])))
        need(op not in ROUTINES or for_lapack(self, dst, *v))
        return RULES[op](self, dst, op, *v)

    def call(self, step: Step) -> None:
        dst, op, args = step
        for a in args:
            self.as_object(a)
        given = tuple(a if not isinstance(a, str) or a in self.objects else self.lying(a) for a in args)
        target = self.tree.root(dst, *self.kinds[dst][:2]) if self.known(dst) else None
        self.tree.place(Call(dst, op, given, target))
        if target is None:
            self.objects.add(dst)
        else:
            self.views[dst] = target

    def as_object(self, x: Any) -> None:
        """Make a bundle an object of Python's, for a line that needs one."""
        if isinstance(x, str) and x in self.bundles and x not in self.objects:
            entries = [self.copied(x, a) if isinstance(a, View) else a for a in self.bundles[x]]
            self.scalars.update([a.root for a in entries if isinstance(a, View) and not a.shape])
            self.call((x, "bundle", tuple(entries)))

    def lying(self, x: str) -> View:
        """The register as a whole root, in its own shape."""
        view, kind = self.views[x], self.kinds[x]
        if not self.is_whole(view, kind.shape):
            view = self.line(f"{x}.whole", "copy", [view], kind.shape, kind.dtype)
        if not kind.array:
            self.scalars.add(view.root)
        return view

    def result(self, x: str) -> View:
        """An output, as a root of its own that is given to the caller."""
        view, kind = self.views[x], self.kinds[x]
        root = self.tree.roots[view.root]
        touch = (*self.tree.readers.get(view.root, ()), *self.tree.writers.get(view.root, ()))
        by_numpy = kind.shape != root.shape and any(isinstance(node, Call) for node in touch)
        everything = view[3:] == (0, row_by_row(kind.shape), ()) and prod(kind.shape) == prod(root.shape)
        if root.place != "arena" or by_numpy or not everything:
            view = self.line(f"{x}.out", "copy", [view], kind.shape, kind.dtype)
            root = self.tree.roots[view.root]
        root.shape, root.place = kind.shape, "output" if kind.shape else "number"
        return view

    # ---- lines of the tree ---------------------------------------------------------------------------------

    def line(self, dst: str, op: str, args: Sequence[Any], shape: Sequence[int], dtype: Any = None, *,
             how: str = "set", reduced: Iterable[int] = (), keepdims: bool = False,
             target: View | None = None, computed: Any = None) -> View:
        """Add a line; give the view of its result, a new root of that dtype, or the target.

        reduced: the axes over which it adds up. computed: the type of the sum, if not that of the root.
        """
        shape, reduced = tuple(shape), set(reduced)
        args = [self.fills.get(a.root, a) if isinstance(a, View) else a for a in args]
        if target is None:
            dtype = np.dtype(dtype)
            if how == "set" and op != "copy" and not any(isinstance(a, View) for a in args):
                kind = np.dtype(computed or dtype)
                with np.errstate(all="ignore"):
                    return self.filled(ops.G[op](*(kind.type(a) for a in args)), shape, dtype)
            axes = [k for k in range(len(shape)) if keepdims or k not in reduced]
            sizes = [1 if k in reduced else shape[k] for k in axes]
            result = self.lain(dst, sizes, dtype)
            target = strided(result, axes, range(len(shape)), dict(enumerate(shape)))
        else:
            result, dtype = target, self.dtype(target)
        args = [spread(a, shape) if isinstance(a, View) else a for a in args]
        views = [a for a in args if isinstance(a, View)]
        views += [target] * (how != "set" or op == "copy" or dst in self.orders)
        levels = levels_of(shape, views, self.summed[shape])
        line = Line(op, args, shape, target, np.dtype(computed or dtype), levels, how)
        self.tree.follow(line, levels_of(shape, (), self.summed[shape]))
        self.tree.place(line)
        return result

    def lain(self, dst: str, shape: Sequence[int], dtype: Any) -> View:
        """A new root with its axes in the order that is wanted."""
        wanted, axes = self.orders.get(dst, ()), range(len(shape))
        order = wanted if len(wanted) == len(shape) else axes
        root = self.tree.root(dst, [shape[k] for k in order], dtype)
        return strided(root, order, axes, dict(enumerate(shape)))

    def compute(self, op: str, *args: Any, dtype: np.dtype | None = None) -> View:
        """Add an entrywise line over the broadcast shape, in this type, or in that of the last argument."""
        views = [a for a in args if isinstance(a, View)]
        dtype, shape = dtype or self.dtype(views[-1]), np.broadcast_shapes(*(v.shape for v in views))
        result = bool if op in TRUTHS else dtype
        return self.line(self.step[0], op, args, shape, result, computed=dtype)

    def filled(self, x: Any, shape: Sequence[int], dtype: np.dtype) -> View:
        """The view of one number for each index of a space."""
        view = self.constant(np.array(x).astype(dtype))
        self.fills[view.root] = self.constants[view.root].item()
        return spread(view, shape)

    def typed(self, dst: str, x: View, dtype: np.dtype) -> View:
        """The numbers of a view, in this type."""
        if x.root in self.fills:
            return self.filled(self.fills[x.root], x.shape, dtype)
        return x if self.dtype(x) == dtype else self.line(dst, "copy", [x], x.shape, dtype)

    def copied(self, name: str, view: View) -> View:
        """The numbers of a view, copied to a root of their own."""
        return self.line(f"{name}.copy", "copy", [view], view.shape, self.dtype(view))

    def is_whole(self, x: Any, shape: tuple[int, ...]) -> bool:
        return isinstance(x, View) and self.tree.roots[x.root].shape == shape and x == whole(x.root, shape)

    def unread(self, x: str) -> bool:
        """Whether only the present line reads the register, which is in the program's own memory."""
        x, used = self.views[x].root, self.uses[x]
        return used == 1 and self.tree.roots[x].place == "arena" and not self.tree.readers.get(x)

    def dtype(self, view: View) -> np.dtype:
        return self.tree.roots[view.root].dtype

    def constant(self, array: np.ndarray) -> View:
        """The view of an array that belongs to the program."""
        name = f"constant{len(self.constants)}.{array.dtype}"
        root = self.tree.root(name, array.shape, array.dtype, "given")
        self.constants[root.root] = np.array(array, order="C")
        return root
