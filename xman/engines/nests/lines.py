"""From the lines of a list to views, lines of the tree, products and calls: the STAGES of a compiler.

Each register becomes a view of a root, or a number if all its entries are one literal. Functions in tables
say what an operator becomes: `arrangements`, `matrices`, `entrywise`, `applied`. NumPy computes an operator
that no table has.

    s = dot(X, W)           a Product into the root s, (9, 10)
    t = transpose(s)        no node: t is the view of s with entry i + 10j
    y = mul(t, 2.0)         a Line over the space (10, 9) of y, from the view t into the root y
    r = sum(y, 0)           a Line over the same space, which adds up in r[j]: it goes into y's loops
    e = argsort(r)          a Call: NumPy computes it

    s = product(1.0, X, W)
    for 10:
      for 9:
        y = mul(s, 2.0)
        r sum= copy(y)
    e = argsort(r)
"""
from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

import ops
from ops.facts import parameters

from ...errors import XManError
from ...passes.lower import has_to_be_literal
from ...wengert import Line as Step
from ...wengert import registers
from ..folded import folded
from ..program import GEMM, Program
from .applied import APPLIED
from .arrangements import ByNumPy, need
from .builder import Builder, Layout, is_native
from .entrywise import entrywise
from .layout import RULES, layout_of, read_by
from .matrices import CONTRACTIONS, ROUTINES, for_lapack
from .tree import Call
from .views import View, root_view, row_by_row


def nests_of(program: Program, positions: Mapping[str, int] = {}) -> Builder:
    """The program as nests. positions: as of a Builder."""
    return in_nests(program, layout_of(program, folded(program)), positions)


def in_nests(program: Program, layout: Layout, positions: Mapping[str, int] = {}) -> Builder:
    """The lines as nests in a tree, with the views of the outputs."""
    w = Builder(program, layout, nests_of, positions)
    for step in layout.steps:
        place_step(w, step)
    for x in program.outputs:
        as_object(w, x)
    w.results = {x: output_view(w, x) for x in program.outputs if x not in w.objects}
    # updates that could not overwrite their input at once, as it was still to be read, do so now
    for y, x in program.inplace.items():
        if y not in w.direct:
            place = root_view(x, w.kinds[x].shape)
            w.line(x, "copy", [w.views[y]], place.shape, target=place)
    for x in w.fills.keys() - w.tree.readers:
        del w.tree.roots[x], w.constants[x]
    w.tree.keep()
    return w


def place_step(w: Builder, step: Step) -> None:
    dst, op, args = w.step = step
    try:
        if op == "bundle":
            w.bundles[dst] = args
        elif op in APPLIED:
            w.bundles[dst] = (*APPLIED[op](w, dst, *args),)
        else:
            w.views[dst] = view_of(w, dst, op, args)
    except ByNumPy:
        read = [x for a in (dst, *registers(args)) for x in (a, *w.bundles.get(a, ()))]
        # NumPy would take the spare rows of the stacks for steps
        if any(isinstance(x, str) and x in w.program.counts for x in read):
            raise XManError(f"loops cannot compute {op} along a loop that ends on values") from None
        call(w, step)
    if dst in w.program.inplace and dst in w.views:
        root = w.views[dst].root
        if root != w.program.inplace[dst]:
            w.direct.discard(dst)
        if dst not in w.direct and w.tree.roots[root].place == "given":  # it may be overwritten
            w.views[dst] = w.copied(dst, w.views[dst])


def view_of(w: Builder, dst: str, op: str, args: tuple) -> Any:
    """The result of an operator. ByNumPy if NumPy has to compute it."""
    need(is_native(w.program, dst))
    if op == "item" and args[0] in w.bundles:
        entry = w.bundles[args[0]][args[1]]
        entry = w.views[entry] if isinstance(entry, str) else entry
        return entry if isinstance(entry, View) else w.filled(entry, *w.kinds[dst][:2])
    need((op in ops.table.OURS or op == GEMM) and all(is_native(w.program, a) for a in read_by(op, args)))
    v = [w.views.get(a) if isinstance(a, str) else a for a in args]
    if op == GEMM or op not in RULES:
        return RULES.get(op, entrywise)(w, dst, op, *v)
    names, defaults, *_ = parameters(ops.G[op])
    # the rules take all arguments, as views; numbers become views of one number in the kind that Python gives
    # them
    v += [defaults[name] for name in names[len(v):]]
    need(not has_to_be_literal(op, [isinstance(x, View) for x in v]))
    leads = names[0] == "axis"  # arrays follow
    for k in range(len(v)) if op in CONTRACTIONS else range(leads, len(v) if leads else 1):
        if isinstance(v[k], (bool, int, float, np.generic)):
            v[k] = w.filled(v[k], (), np.dtype(type(v[k])))
    need(op not in ROUTINES or for_lapack(w, dst, *v))
    return RULES[op](w, dst, op, *v)


def call(w: Builder, step: Step) -> None:
    dst, op, args = step
    for a in args:
        as_object(w, a)
    arguments = tuple(a if not isinstance(a, str) or a in w.objects else as_array(w, a) for a in args)
    target = w.tree.root(dst, *w.kinds[dst][:2]) if is_native(w.program, dst) else None
    w.tree.place(Call(dst, op, arguments, target))
    if target is None:
        w.objects.add(dst)
    else:
        w.views[dst] = target


def as_object(w: Builder, x: Any) -> None:
    """Make a bundle an object of Python's, for a line that needs one."""
    if isinstance(x, str) and x in w.bundles and x not in w.objects:
        entries = [w.copied(x, a) if isinstance(a, View) else a for a in w.bundles[x]]
        w.scalars.update([a.root for a in entries if isinstance(a, View) and not a.shape])
        call(w, (x, "bundle", tuple(entries)))


def as_array(w: Builder, x: str) -> View:
    """The register as a whole root, in its own shape."""
    view, kind = w.views[x], w.kinds[x]
    if not w.is_whole(view, kind.shape):
        view = w.line(f"{x}.whole", "copy", [view], kind.shape, kind.dtype)
    if not kind.array:
        w.scalars.add(view.root)
    return view


def output_view(w: Builder, x: str) -> View:
    """An output, as a root of its own that is given to the caller."""
    view, kind = w.views[x], w.kinds[x]
    root = w.tree.roots[view.root]
    # the root itself is handed out if it is the program's own, lies in the output's order and has nothing
    # else in it; NumPy, which knows a root by its shape, must not touch it under another
    touch = (*w.tree.readers.get(view.root, ()), *w.tree.writers.get(view.root, ()))
    by_numpy = kind.shape != root.shape and any(isinstance(node, Call) for node in touch)
    everything = view[3:] == (0, row_by_row(kind.shape), ()) and prod(kind.shape) == prod(root.shape)
    if root.place != "arena" or by_numpy or not everything:
        view = w.line(f"{x}.out", "copy", [view], kind.shape, kind.dtype)
        root = w.tree.roots[view.root]
    root.shape, root.place = kind.shape, "output" if kind.shape else "number"
    return view


# each takes the program and what the stage before it made
STAGES = [("folded", folded), ("layout", layout_of), ("nests", in_nests)]
