"""Cholesky's factor, solutions, inverses and determinants: by LAPACK, which overwrites copies.

LAPACK knows columns: it is given the transpose, of what is not symmetric. Where it fails, a matrix is
singular or not positive definite, and the program leaves the values to the reference, which says so.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ...wengert import Line as Step
from .tree import Routine
from .views import View, exchanged, strided


def matrices(w: Any, step: Step, v: list) -> bool:
    """Whether the arguments are square matrices of one precision, with entries."""
    shapes = [w.kinds[a].shape for a in step[2] if isinstance(a, str)]
    dtypes = {w.kinds[a].dtype for a in (step[0], *step[2]) if isinstance(a, str)}
    square = (len(shapes[0]) > 1 and shapes[0][-1] == shapes[0][-2]
              and all(n > 0 for shape in shapes for n in shape))
    return (square and all(isinstance(x, View) for x in v) and len(dtypes) == 1
            and dtypes <= {*map(np.dtype, ("f4", "f8"))})


def routine(w: Any, name: str, target: View, *others: View) -> None:
    w.tree.place(Routine(name, [*others, target], target))


def in_columns(w: Any, dst: str, x: View) -> View:
    """A copy of matrices, to be overwritten, that lie column by column."""
    return w.copied(dst, exchanged(x))


def pivots(w: Any, dst: str, a: View) -> View:
    return w.tree.root(w.fresh(f"{dst}.pivots"), a.shape[:-1], np.dtype(np.int32))


def solve(w: Any, step: Step, v: list) -> View | None:
    if not matrices(w, step, v):
        return None
    (dst, _, _), (a, b) = step, v
    if len(b.shape) == 1 and len(a.shape) == 2:
        b = b._replace(shape=(*b.shape, 1), index=b.index, strides=(*b.strides, 0))
    if b.shape[:-1] != a.shape[:-1]:
        return None
    return in_shape_of(w, dst, solved(w, dst, a, in_columns(w, f"{dst}.b", b)))


def in_shape_of(w: Any, dst: str, x: View) -> View:
    """Without the last axis, where the result is a vector."""
    return x if len(x.shape) == len(w.kinds[dst].shape) else x._replace(shape=x.shape[:-1], index=x.index,
                                                                        strides=x.strides[:-1])


def solved(w: Any, dst: str, a: View, b: View) -> View:
    """x of a x = bᵀ, where b is overwritten."""
    a = in_columns(w, f"{dst}.a", a)
    routine(w, "gesv", b, a, pivots(w, dst, a))
    return exchanged(b)


def inv(w: Any, step: Step, v: list) -> View | None:
    if not matrices(w, step, v):
        return None
    (dst, _, _), (a,) = step, v
    unit = w.constant(np.eye(a.shape[-1], dtype=w.dtype(a)))
    return solved(w, dst, a, w.copied(f"{dst}.b", strided(unit, "ij", [*range(len(a.shape) - 2), "i", "j"],
                                                         {**dict(enumerate(a.shape[:-2])), "i": a.shape[-1],
                                                          "j": a.shape[-1]})))


def cholesky(w: Any, step: Step, v: list) -> View | None:
    if not matrices(w, step, v):
        return None
    (dst, _, _), (a,) = step, v
    kind = w.kinds[dst]
    twice = w.line(f"{dst}.twice", "add", [a, exchanged(a)], kind.shape, kind.dtype)
    factor = w.line(f"{dst}.factor", "mul", [twice, 0.5], kind.shape, kind.dtype)
    routine(w, "potrf", factor)
    lower = w.constant(np.tri(kind.shape[-1], dtype=bool))
    return w.line(dst, "where", [lower, factor, 0.0], kind.shape, kind.dtype)


def determinant(w: Any, step: Step, v: list) -> View | None:
    """Its logarithm, and as NumPy has it from there the determinant."""
    if not matrices(w, step, v):
        return None
    (dst, op, _), (a,) = step, v
    dtype, n, lead = w.dtype(a), a.shape[-1], [*range(len(a.shape) - 2)]
    a = w.copied(f"{dst}.a", a)
    p = pivots(w, dst, a)
    routine(w, "getrf", a, p)
    entries = strided(a, [*lead, "i", "i"], [*lead, "i"], {**dict(enumerate(a.shape[:-2])), "i": n})
    shape, last = entries.shape, {len(lead)}
    line = lambda name, op, *args, **more: w.line(name, op, args, shape, dtype, **more)
    sizes = line(f"{dst}.logs", "log", line(f"{dst}.sizes", "abs", entries))
    logarithm = line(dst if op == "logabsdet" else f"{dst}.log", "copy", sizes, how="sum", reduced=last)
    if op == "logabsdet":
        return logarithm
    place = w.constant(np.arange(1, n + 1, dtype=np.int32))
    stays = w.line(f"{dst}.stays", "equal", [p, place], shape, bool, computed=np.dtype(np.int32))
    signs = line(f"{dst}.signs", "mul", line(f"{dst}.sign", "sign", entries),
                 line(f"{dst}.turns", "where", stays, 1.0, -1.0))
    sign = line(f"{dst}.both", "copy", signs, how="prod", reduced=last)
    size = w.line(f"{dst}.size", "exp", [logarithm], shape[:-1], dtype)
    return w.line(dst, "mul", [sign, size], shape[:-1], dtype)


ROUTINES = {"solve": solve, "inv": inv, "cholesky": cholesky, "det": determinant, "logabsdet": determinant}
