"""The rewrites of matrix calculus: what the rules of operators amount to for vectors, matrices and numbers.

A vector is a column, as in books: x @ A of an array x of one axis is Aᵀ·x.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ops import f
from ops.writer import defining_line

from ..passes.patterns import Rewrite, Rewrites, rewrite, shaped
from ..passes.sized import SizedWriter
from .slopes import LEGIBLE


def axes(w: SizedWriter, *arrays: Any) -> tuple:
    """The numbers of axes of the arrays; −1 where it is not known."""
    return tuple(-1 if w.shape(a) is None else len(w.shape(a)) for a in arrays)


def by_axes(op: str, becomes: Mapping[tuple, Callable]) -> Rewrite:
    """The rewrite of op(…) by the numbers of axes of its last arguments."""
    def attempt(w, *args):
        form = becomes.get(axes(w, *args)[-len(next(iter(becomes))):])
        return form and form(*args)
    return shaped(op, attempt, f"{op} of vectors and matrices")


def row(form: Callable, becomes: Callable, where: Callable | None = None) -> Rewrite:
    return rewrite(form, becomes, "where nothing is infinite", where)


def anything(w, *_): return True  # truth values among them
def is_scalar(w, c, *_): return type(c) in (int, float) or axes(w, c) == (0,)
def vector(w, x): return axes(w, x) == (1,)
def of_square(w, c, v, a, b): return axes(w, c) == (0,) and len({*w.shape(a)}) == 1
def of_one(w, c, y, a, k): return w.shape(y) == (1, 1) and not k and a in (None, (0, 1))
def vectors(w, x, y, *_): return axes(w, x, y) == (1, 1)
def is_condition(w, c, *_): return getattr(w.value(c), "dtype", np.dtype(float)).kind == "b"
def one_along(w, x, s, a): return type(a) is int and axes(w, x) == axes(w, s) and w.shape(s)[a] == 1
def spread_as(w, c, x, y): return is_scalar(w, c) and w.shape(x) == w.shape(y)
def same_shape(w, x, y, *_): return w.shape(y) is not None and w.shape(x) == w.shape(y)


MATRICES = Rewrites((
    *(row for row in LEGIBLE if row.title != "count with shapes known"),  # a count stays n
    by_axes("dot",       {(1, 2): lambda x, a: a.T @ x}),
    by_axes("dot_left",  {(1, 2): lambda d, x, a: a @ d,    (1, 1): lambda d, x, y: d * y}),
    by_axes("dot_right", {(2, 1): lambda d, a, x: a.T @ d,  (1, 1): lambda d, x, y: d * x}),
    by_axes("mT",        {(2,): lambda a: a.T}),
    by_axes("column",    {(2,): lambda x, b: x}),
    shaped("reshape", lambda w, x, to: x if vector(w, x) and to == (-1,) else None),
    shaped("softmax", lambda w, x, axis=-1: f.softmax(x) if axis == len(w.shape(x) or ()) - 1 else None),
    shaped("sum", lambda w, x, axis=None, k=False: f.sum(x) if axis is not None and vector(w, x) and not k else None),
    #   found                                           becomes                                  where
    row(lambda a: f.cofactor(a),                    lambda a: f.det(a) * f.inv(a).T),
    row(lambda a, b: (a @ b).T,                     lambda a, b: b.T @ a.T),
    row(lambda x, y: f.transpose(f.outer(x, y)),    lambda x, y: f.outer(y, x)),
    row(lambda a: f.inv(a.T),                       lambda a: f.inv(a).T),
    row(lambda x, y, a: a @ f.outer(x, y),          lambda x, y, a: f.outer(a @ x, y),       vectors),
    row(lambda x, y, a: f.outer(x, y) @ a,          lambda x, y, a: f.outer(x, a.T @ y),     vectors),
    row(lambda c, v, a, b: f.diag_back(f.broadcast(c, v), a) @ b, lambda c, v, a, b: c * b,      of_square),
    row(lambda c, v, a, b: b @ f.diag_back(f.broadcast(c, v), a), lambda c, v, a, b: c * b,      of_square),
    row(lambda c, y, a, k: f.sum(f.broadcast(c, y), a, k), lambda c, y, a, k: c,                 of_one),
    row(lambda a: f.inv(a.T @ a).T,                 lambda a: f.inv(a.T @ a)),
    row(lambda a, b: f.solve(a, b),                 lambda a, b: f.inv(a) @ b),
    # of vectors, which the rule of solve makes columns
    row(lambda a, x, b: a @ f.column(x, b),         lambda a, x, b: f.column(a @ x, b)),
    row(lambda x, y, b: f.column(x, b) @ f.column(y, b).T, lambda x, y, b: f.outer(x, y),        vectors),
    row(lambda x, y, b: f.reshape(f.column(x, b), y),   lambda x, y, b: x,                       vectors),
    # numbers in front of what is linear
    row(lambda c, a, x: a @ (c * x),                lambda c, a, x: c * (a @ x),             is_scalar),
    row(lambda c, a, x: (c * a) @ x,                lambda c, a, x: c * (a @ x),             is_scalar),
    row(lambda c, a, x: a @ (x / c),                lambda c, a, x: (a @ x) / c,             is_scalar),
    row(lambda c, x, y: f.outer(c * x, y),          lambda c, x, y: c * f.outer(x, y),       is_scalar),
    row(lambda c, x, y: f.outer(x, c * y),          lambda c, x, y: c * f.outer(x, y),       is_scalar),
    row(lambda c, x: f.transpose(c * x),            lambda c, x: c * x.T,                    is_scalar),
    row(lambda c, x: f.transpose(x / c),            lambda c, x: x.T / c,                    is_scalar),
    row(lambda c, x, a, k: f.sum(c * x, a, k),      lambda c, x, a, k: c * f.sum(x, a, k),   is_scalar),
    row(lambda c, x, a, k: f.sum(x / c, a, k),      lambda c, x, a, k: f.sum(x, a, k) / c,   is_scalar),
    row(lambda x, s, a: f.sum(x / s, a, True),      lambda x, s, a: f.sum(x, a, True) / s,   one_along),
    row(lambda x, a, k: f.sum(-x, a, k),            lambda x, a, k: -f.sum(x, a, k)),
    row(lambda c, x: f.square(x / c),               lambda c, x: f.square(x) / f.square(c),  is_scalar),
    row(lambda c, x, y: f.broadcast(c, x) * y,      lambda c, x, y: c * y,                   spread_as),
    row(lambda c, y: f.sum(f.broadcast(c, y)),      lambda c, y: c * f.count(y),             is_scalar),
    row(lambda x, y: f.sum(x * y),                  lambda x, y: x @ y,                      vectors),
    row(lambda x: f.sqrt(x @ x),                    lambda x: f.norm(x),                     vector),
    row(lambda x: f.sqrt(f.squaredNorm(x)),         lambda x: f.norm(x),                     vector),
    row(lambda x: f.transpose(-x),                  lambda x: -x.T),
    row(lambda x, y: f.outer(-x, y),                lambda x, y: -f.outer(x, y)),
    row(lambda x, y: f.outer(x, -y),                lambda x, y: -f.outer(x, y)),
    # what rules do for infinite numbers and for 0/0
    row(lambda x, c, y: f.where(f.logical_or(f.isfinite(x), c), y, 0), lambda x, c, y: y,    anything),
    row(lambda x: x + f.stopGradient(f.equal(x, 0) / x),  lambda x: x),
    row(lambda c, x: f.where(c, x, 0),              lambda c, x: c * x,                      is_condition),
    row(lambda c, x: f.where(c, 0, x),              lambda c, x: f.logical_not(c) * x,       is_condition),
    row(lambda c: f.not_equal(c, 0),                    lambda c: c,                             is_condition),
    row(lambda d, x: f.not_equal(d, 0) * (d * x),   lambda d, x: d * x,                      anything),
    row(lambda d: f.not_equal(d, 0) * d,            lambda d: d,                             anything),
    # the quotients of logarithms and of softmax
    row(lambda x, y: (y / x) * x,                   lambda x, y: y,                          same_shape),
    row(lambda x, y, n: (y / x / n) * x,                lambda x, y, n: y / n,                   same_shape),
    row(lambda x, y, n: (n * (y / x)) * x,              lambda x, y, n: n * y,                   same_shape),
    row(lambda x, a: f.exp_difference(x, f.logsumexp(x, a, True)), lambda x, a: f.softmax(x, a)),
    row(lambda x: f.exp_difference(x, f.logsumexp(x)), lambda x: f.softmax(x),              vector),
    row(lambda x, a, k: f.sum(f.softmax(x, a), a, k), lambda x, a, k: 1.0),
    row(lambda x: f.sum(f.softmax(x)),              lambda x: 1.0,                           vector),
    row(lambda x: f.exp(x) / (1 + f.exp(x)),        lambda x: f.sigmoid(x)),
    row(lambda x, y: -x + y,                        lambda x, y: y - x),
))


def summing_to_one(targets: Collection[str]) -> Rewrite:
    """The rewrite to 1 of the sum over each row of a target: of probabilities, or of labels, one-hot."""
    def attempt(w, x, axis=None, keepdims=False):
        labels = [y for y in defining_line(x)[1][:1] if w.discrete(y)]  # of oneHot
        target = any(getattr(y, "name", None) in targets for y in (x, *labels))
        last = axis in (-1, len(w.shape(x) or ()) - 1) or axis is None and axes(w, x) == (1,)
        return 1.0 if target and last else None
    return shaped("sum", attempt, "the sum of a target", "where each row of the target sums to 1")
