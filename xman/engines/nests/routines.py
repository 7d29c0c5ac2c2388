"""Cholesky's factor, solutions, inverses and determinants: by LAPACK, which overwrites copies.

LAPACK stores columns, so it is given the transpose of a matrix that is not symmetric. If it fails, a matrix
is singular or not positive definite; the program then leaves the values to the reference, which raises the
error.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .tree import Routine
from .views import View, exchanged, reshaped, spread, strided


def of_matrices(rule: Callable) -> Callable:
    """The rule, restricted to square matrices of one precision that have entries."""
    def becomes(w: Any, dst: str, op: str, a: View, *more: View) -> View | None:
        square = len(a.shape) > 1 and a.shape[-1] == a.shape[-2] and not any(0 in x.shape for x in (a, *more))
        dtypes = {w.kinds[dst].dtype, *(w.dtype(x) for x in (a, *more))}
        fits = square and len(dtypes) == 1 and dtypes <= {*map(np.dtype, ("f4", "f8"))}
        return rule(w, dst, op, a, *more) if fits else None
    return becomes


def routine(w: Any, name: str, target: View, *others: View) -> None:
    w.tree.place(Routine(name, [*others, target], target))


def in_columns(w: Any, dst: str, x: View) -> View:
    """A copy of matrices, column by column, which may be overwritten."""
    return w.copied(dst, exchanged(x))


def pivots(w: Any, dst: str, a: View) -> View:
    return w.tree.root(f"{dst}.pivots", a.shape[:-1], np.dtype(np.int32))


@of_matrices
def solve(w: Any, dst: str, op: str, a: View, b: View) -> View | None:
    if len(b.shape) == 1 and len(a.shape) == 2:
        b = reshaped(b, (*b.shape, 1))
    if b.shape[:-1] != a.shape[:-1]:
        return None
    return reshaped(solved(w, dst, a, in_columns(w, f"{dst}.b", b)), w.kinds[dst].shape)


def solved(w: Any, dst: str, a: View, b: View) -> View:
    """x of a x = bᵀ; b is overwritten."""
    a = in_columns(w, f"{dst}.a", a)
    routine(w, "gesv", b, a, pivots(w, dst, a))
    return exchanged(b)


@of_matrices
def inv(w: Any, dst: str, op: str, a: View) -> View:
    unit = w.constant(np.eye(a.shape[-1], dtype=w.dtype(a)))
    return solved(w, dst, a, w.copied(f"{dst}.b", spread(unit, a.shape)))


@of_matrices
def cholesky(w: Any, dst: str, op: str, a: View) -> View:
    factor = w.copied(dst, w.compute("mul", w.compute("add", a, exchanged(a)), 0.5))
    routine(w, "potrf", factor)
    return w.compute("where", w.constant(np.tri(a.shape[-1], dtype=bool)), factor, 0.0)


@of_matrices
def determinant(w: Any, dst: str, op: str, a: View) -> View:
    """The determinant, or the logarithm of its size, from which NumPy too computes the determinant."""
    dtype, n, lead = w.dtype(a), a.shape[-1], [*range(len(a.shape) - 2)]
    a = w.copied(f"{dst}.a", a)
    p = pivots(w, dst, a)
    routine(w, "getrf", a, p)
    entries = strided(a, [*lead, "i", "i"], [*lead, "i"], {**dict(enumerate(a.shape[:-2])), "i": n})
    last = {len(lead)}
    logs = w.compute("log", w.compute("abs", entries))
    logarithm = w.line(f"{dst}.log", "copy", [logs], logs.shape, dtype, how="sum", reduced=last)
    if op == "logabsdet":
        return logarithm
    stays = w.compute("equal", p, w.constant(np.arange(1, n + 1, dtype=np.int32)))
    turns = w.compute("where", stays, 1.0, -1.0, dtype=dtype)
    signs = w.compute("mul", w.compute("sign", entries), turns)
    sign = w.line(f"{dst}.sign", "copy", [signs], signs.shape, dtype, how="prod", reduced=last)
    return w.compute("mul", sign, w.compute("exp", logarithm))


ROUTINES = {"solve": solve, "inv": inv, "cholesky": cholesky, "det": determinant, "logabsdet": determinant}
