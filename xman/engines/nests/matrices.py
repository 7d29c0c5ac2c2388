"""Matrices: products by BLAS or in loops; factors, solutions, inverses and determinants by LAPACK.

A product is a sum over axes that two arrays share. Each axis gets a letter, as in Einstein's sums: a product
of matrices is "mk,kn->mn", of batches "bmk,bkn->bmn", and the adjoint of a weight that a batch shares is
"bmk,bmn->kn". There are four kinds of letters: those in all three are a batch, those in one factor and the
result are rows (M) or columns (N), those that the result lacks are summed over (K). Axes of one entry have no
letter.

LAPACK overwrites copies. It stores columns, so it is given the transpose of a matrix that is not symmetric.
If it fails, a matrix is singular or not positive definite; the program then leaves the values to the
reference, which raises the error.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ops.arrays.products import einsum_parts

from ..folded import TINY
from .arrangements import in_shape, need
from .builder import Builder
from .tree import Line, Product, Routine
from .views import View, broadcast_view, exchanged, reshaped, root_view, strided, transposed

LARGE = 4096    # entries of a matrix, from which on BLAS multiplies it by a vector


def contract(w: Builder, dst: str, views: Sequence[View], letters: Sequence[Sequence],
             out: Sequence) -> View:
    """The sum of products of views over the letters that `out` lacks, or has for an axis of one entry."""
    shape, dtype, _ = w.kinds[dst]
    need(dtype.kind != "b" and {w.dtype(x).kind for x in views} != {"b"})  # their product is a truth value
    factors = [one_each(x, axes) for x, axes in zip(views, letters, strict=True)]
    sizes = {c: n for x, axes in factors for c, n in zip(axes, x.shape, strict=True)}
    out = [c for c, n in zip(out, shape, strict=True) if n != 1 and c in sizes]
    letters_in = lambda factors: {c for _, axes in factors for c in axes}
    while len(factors) > 2:  # first the two with which all take least
        splits = [([factors[j], factors[k]], [*factors[:j], *factors[j + 1:k], *factors[k + 1:]])
                  for j, k in combinations(range(len(factors)), 2)]
        cost = lambda letters: prod(sizes[c] for c in letters)
        pair, outside = min(splits, key=lambda s: cost(letters_in(s[0])) + cost(letters_in(s[1]).union(out)))
        shared = [c for c in sizes if c in letters_in(pair) and c in letters_in(outside).union(out)]
        factors = [*outside, (multiplied(w, f"{dst}.{len(outside)}", pair, shared, dtype), shared)]
    return reshaped(multiplied(w, dst, factors, out, dtype), shape)


def multiplied(w: Builder, dst: str, factors: Sequence[tuple], out: list, dtype: np.dtype) -> View:
    """The sum of products of one or two factors, (view, letters of its axes)."""
    sizes = {c: n for x, letters in factors for c, n in zip(letters, x.shape, strict=True)}
    product = by_blas(w, dst, factors, out, sizes, dtype) if len(factors) == 2 and dtype.kind == "f" else None
    return product if product else in_loops(w, dst, factors, out, sizes, dtype)


def one_each(x: View, letters: Sequence) -> tuple[View, list]:
    """The view without axes of one entry, and with one axis per letter: a double letter is a diagonal."""
    long_axes = [c for c, n in zip(letters, x.shape, strict=True) if n != 1]
    x, unique = reshaped(x, [n for n in x.shape if n != 1]), list(dict.fromkeys(long_axes))
    return strided(x, long_axes, unique, dict(zip(long_axes, x.shape, strict=True))), unique


def in_loops(w: Builder, dst: str, factors: Sequence[tuple], out: list, sizes: dict, dtype: np.dtype) -> View:
    """The product as a line that adds up."""
    summed = [c for c in sizes if c not in out]
    along = lambda c: sum(x.strides[letters.index(c)] == 1 for x, letters in factors if c in letters)
    order = [*out, *summed]
    if out and summed and sizes[out[-1]] >= 4 and along(out[-1]) >= along(summed[-1]):
        order = [*out[:-1], *summed, out[-1]]  # so that the innermost loop goes through memory in order
    root = w.tree.root(dst, [sizes[c] for c in out], dtype)
    args = [strided(x, letters, order, sizes) for x, letters in factors]
    target = strided(root, out, order, sizes)
    op, mode = "mul" if len(args) == 2 else "copy", "sum" if summed else "set"
    w.line(dst, op, args, target.shape, computed=dtype, mode=mode, target=target)
    return root


def by_blas(w: Builder, dst: str, factors: Sequence[tuple], out: list, sizes: dict,
            dtype: np.dtype) -> View | None:
    """The product as products of matrices; None if loops are better."""
    (x, xs), (y, ys) = factors
    kinds = (True, True), (True, False), (False, True)
    batch, rows, columns = ([c for c in out if (c in xs, c in ys) == kind] for kind in kinds)
    summed = [c for c in xs if c in ys and c not in out]
    if set(xs) | set(ys) != {*batch, *rows, *columns, *summed}:
        return None  # a factor is summed alone
    m, n, k = (prod(sizes[c] for c in letters) for letters in (rows, columns, summed))
    no_vector = 1 in (m, n) and (m * k * n < LARGE or batch or not lies(w, x if n == 1 else y))
    if k == 1 or m * n * k <= TINY or no_vector:
        return None
    lead = [sizes[c] for c in batch]
    a = matrices(w, dst, x, xs, [*batch, *rows, *summed], [*lead, m, k], dtype)
    b = matrices(w, dst, y, ys, [*batch, *summed, *columns], [*lead, k, n], dtype)
    root = w.tree.root(dst, [*lead, m, n], dtype)
    w.tree.place(Product(root, a, b))
    product, order = reshaped(root, [sizes[c] for c in (*batch, *rows, *columns)]), [*batch, *rows, *columns]
    return transposed(product, [order.index(c) for c in out])


def lies(w: Builder, x: View) -> bool:
    """Whether a matrix is in memory in any case, so that BLAS can take it; other products stay in loops."""
    return w.tree.roots[x.root].place == "given" or not isinstance(w.tree.writers[x.root][0], Line)


def matrices(w: Builder, dst: str, x: View, letters: list, order: list, shape: list[int],
             dtype: np.dtype) -> View:
    """A factor as matrices that BLAS can read: in its type, and with a stride of 1 along rows or columns."""
    x = in_shape(w, transposed(x, [letters.index(c) for c in order]), shape)
    return for_blas(w, w.typed(f"{dst}.typed", x, dtype))


def for_blas(w: Builder, x: View) -> View:
    """The matrices, or a copy of them, which serves for their transposes too."""
    if leading(x) and not x.gathered:
        return x
    written = [len(w.tree.writers.get(v.root, ())) for v in (x, *(places for _, _, places in x.gathered))]
    if copy := w.copies.get((exchanged(x), *written)):
        return exchanged(copy)
    return w.copies.get((x, *written)) or w.copies.setdefault((x, *written), w.copied(x.root, x))


def leading(x: View) -> tuple[str, int] | None:
    """A matrix in BLAS's terms: (n or t, the step from one row or column to the next); None if impossible."""
    (rows, columns), (r, c) = x.shape[-2:], x.strides[-2:]
    if (c == 1 or columns == 1) and (r >= columns or rows == 1):
        return "n", max(r, columns, 1)
    if (r == 1 or rows == 1) and (c >= rows or columns == 1):
        return "t", max(c, rows, 1)
    return None


# ---- operators ---------------------------------------------------------------------------------------------

def gemm(w: Builder, dst: str, op: str, alpha: float, s: Any, a: View, ta: bool, b: View, tb: bool,
         c: Any) -> View:
    """alpha·s·a@b + c, as `folded` writes it."""
    kind, over = w.kinds[dst], w.program.inplace.get(dst) if dst in w.direct else None
    a, b = (exchanged(x) if t else x for x, t in ((a, ta), (b, tb)))
    if over in (a.root, b.root):
        over = None
    a, b = for_blas(w, a), for_blas(w, b)
    name = w.step[2][6]
    if c is None:
        target = root_view(over, kind.shape) if over else w.tree.root(dst, kind.shape, kind.dtype)
    elif w.is_whole(c, kind.shape) and (c.root == over or c.root == name and w.unread(name)):
        target = c  # no other line needs it
    else:
        target = w.line(f"{dst}.lies", "copy", [c], kind.shape, kind.dtype)
    w.tree.place(Product(target, a, b, alpha, s, c is not None))
    return target


def matrix_product(w: Builder, dst: str, op: str, *v: View) -> View:
    """dot, and its adjoints d bᵀ and aᵀ d, summed over batch axes that an argument lacks."""
    na, nb = [len(x.shape) for x in v][-2:]
    a, b, d = "mk"[-na:], "kn"[:nb], "m" * (na > 1) + "n" * (nb > 1)
    a, b, d = lettered(a, na), lettered(b, nb), lettered(d, max(na - 2, nb - 2, 0) + len(d))
    of = {"dot": ((0, 1), a, b, d), "dot_left": ((0, 2), d, b, a), "dot_right": ((1, 0), a, d, b)}
    places, *letters, out = of[op]
    return contract(w, dst, [v[k] for k in places], letters, out)


def einsum(w: Builder, dst: str, op: str, subscripts: str, *arrays: View) -> View:
    inputs, result = einsum_parts(subscripts)
    letters = [lettered(axes, len(x.shape)) for axes, x in zip(inputs, arrays, strict=True)]
    return contract(w, dst, arrays, letters, lettered(result, len(w.kinds[dst].shape)))


def lettered(subscript: str, n: int) -> list:
    """The letters of n axes, as in `part`; each axis under the … of it gets a number, the last one 0."""
    letters = subscript.replace(".", "")
    return [*range(n - len(letters))][::-1] + [*letters]


CONTRACTIONS = dict.fromkeys(("dot", "dot_left", "dot_right"), matrix_product)
CONTRACTIONS |= {"gemm()": gemm, "einsum": einsum}


# ---- LAPACK ------------------------------------------------------------------------------------------------

def for_lapack(w: Builder, dst: str, a: View, *right: View) -> bool:
    """Whether these are square matrices of one precision that have entries, and what stands beside them."""
    square = len(a.shape) > 1 and a.shape[-1] == a.shape[-2] and not any(0 in x.shape for x in (a, *right))
    dtypes = {w.kinds[dst].dtype, *(w.dtype(x) for x in (a, *right))}
    return square and len(dtypes) == 1 and dtypes <= {*map(np.dtype, ("f4", "f8"))}


def routine(w: Builder, name: str, target: View, *inputs: View) -> None:
    w.tree.place(Routine(name, [*inputs, target], target))


def pivots(w: Builder, dst: str, a: View) -> View:
    return w.tree.root(f"{dst}.pivots", a.shape[:-1], np.dtype(np.int32))


def solve(w: Builder, dst: str, op: str, a: View, b: View) -> View:
    if len(b.shape) == 1 and len(a.shape) == 2:
        b = reshaped(b, (*b.shape, 1))
    need(b.shape[:-1] == a.shape[:-1])
    return reshaped(solved(w, dst, a, w.copied(f"{dst}.b", exchanged(b))), w.kinds[dst].shape)


def solved(w: Builder, dst: str, a: View, b: View) -> View:
    """x of a x = bᵀ; b is overwritten, and so is a copy of a, column by column."""
    a = w.copied(f"{dst}.a", exchanged(a))
    routine(w, "gesv", b, a, pivots(w, dst, a))
    return exchanged(b)


def inv(w: Builder, dst: str, op: str, a: View) -> View:
    unit = w.constant(np.eye(a.shape[-1], dtype=w.dtype(a)))
    return solved(w, dst, a, w.copied(f"{dst}.b", broadcast_view(unit, a.shape)))


def cholesky(w: Builder, dst: str, op: str, a: View) -> View:
    factor = w.copied(dst, w.compute("mul", w.compute("add", a, exchanged(a)), 0.5))
    routine(w, "potrf", factor)
    return w.compute("where", w.constant(np.tri(a.shape[-1], dtype=bool)), factor, 0.0)


def determinant(w: Builder, dst: str, op: str, a: View) -> View:
    """The determinant, or the logarithm of its size, from which NumPy too computes the determinant."""
    dtype, n, lead = w.dtype(a), a.shape[-1], [*range(len(a.shape) - 2)]
    a = w.copied(f"{dst}.a", a)
    p = pivots(w, dst, a)
    routine(w, "getrf", a, p)
    entries = strided(a, [*lead, "i", "i"], [*lead, "i"], {**dict(enumerate(a.shape[:-2])), "i": n})
    last = {len(lead)}
    logs = w.compute("log", w.compute("abs", entries))
    logarithm = w.line(f"{dst}.log", "copy", [logs], logs.shape, dtype, mode="sum", reduced=last)
    if op == "logabsdet":
        return logarithm
    stays = w.compute("equal", p, w.constant(np.arange(1, n + 1, dtype=np.int32)))
    flips = w.compute("where", stays, 1.0, -1.0, dtype=dtype)
    signs = w.compute("mul", w.compute("sign", entries), flips)
    sign = w.line(f"{dst}.sign", "copy", [signs], signs.shape, dtype, mode="prod", reduced=last)
    return w.compute("mul", sign, w.compute("exp", logarithm))


ROUTINES = {"solve": solve, "inv": inv, "cholesky": cholesky, "det": determinant, "logabsdet": determinant}
