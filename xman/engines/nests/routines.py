"""Cholesky's factor, solutions, inverses and determinants: by LAPACK, which overwrites copies.

LAPACK knows columns: it is given the transpose, of what is not symmetric. Where it fails, a matrix is
singular or not positive definite, and the program leaves the values to the reference, which says so.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .tree import Routine
from .views import View, exchanged, reshaped, spread, strided


def of_matrices(rule: Callable) -> Callable:
    """The rule, for square matrices of one precision, with entries."""
    def becomes(w: Any, dst: str, op: str, a: View, *more: View) -> View | None:
        square = len(a.shape) > 1 and a.shape[-1] == a.shape[-2] and not any(0 in x.shape for x in (a, *more))
        dtypes = {w.kinds[dst].dtype, *(w.dtype(x) for x in (a, *more))}
        fits = square and len(dtypes) == 1 and dtypes <= {*map(np.dtype, ("f4", "f8"))}
        return rule(w, dst, op, a, *more) if fits else None
    return becomes


def routine(w: Any, name: str, target: View, *others: View) -> None:
    w.tree.place(Routine(name, [*others, target], target))


def in_columns(w: Any, dst: str, x: View) -> View:
    """A copy of matrices, to be overwritten, that lie column by column."""
    return w.copied(dst, exchanged(x))


def pivots(w: Any, dst: str, a: View) -> View:
    return w.tree.root(w.fresh(f"{dst}.pivots"), a.shape[:-1], np.dtype(np.int32))


@of_matrices
def solve(w: Any, dst: str, op: str, a: View, b: View) -> View | None:
    if len(b.shape) == 1 and len(a.shape) == 2:
        b = reshaped(b, (*b.shape, 1))
    if b.shape[:-1] != a.shape[:-1]:
        return None
    return reshaped(solved(w, dst, a, in_columns(w, f"{dst}.b", b)), w.kinds[dst].shape)


def solved(w: Any, dst: str, a: View, b: View) -> View:
    """x of a x = bᵀ, where b is overwritten."""
    a = in_columns(w, f"{dst}.a", a)
    routine(w, "gesv", b, a, pivots(w, dst, a))
    return exchanged(b)


@of_matrices
def inv(w: Any, dst: str, op: str, a: View) -> View:
    unit = w.constant(np.eye(a.shape[-1], dtype=w.dtype(a)))
    return solved(w, dst, a, w.copied(f"{dst}.b", spread(unit, a.shape)))


@of_matrices
def cholesky(w: Any, dst: str, op: str, a: View) -> View:
    kind = w.kinds[dst]
    twice = w.line(f"{dst}.twice", "add", [a, exchanged(a)], kind.shape, kind.dtype)
    factor = w.line(f"{dst}.factor", "mul", [twice, 0.5], kind.shape, kind.dtype)
    routine(w, "potrf", factor)
    lower = w.constant(np.tri(kind.shape[-1], dtype=bool))
    return w.line(dst, "where", [lower, factor, 0.0], kind.shape, kind.dtype)


@of_matrices
def determinant(w: Any, dst: str, op: str, a: View) -> View:
    """Its logarithm, and as NumPy has it from there the determinant."""
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
