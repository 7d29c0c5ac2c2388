"""The table of the JAX engine: each operator as a function of jax.numpy, most under its name there, the others below.

What is not here the engine hands to the operator's own function. What an operator cannot refuse while JAX computes, a
label out of range or a singular matrix, stands in `indices` and `FINITE`, to be looked at.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ops import G
from ops.linear_maps import cast, shape_of, subscripts_of
from ops.reductions import count

from .program import Kind


class Later:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self.name), attribute)


MODULES = {"jnp": Later("jax.numpy"), "nn": Later("jax.nn"), "special": Later("jax.scipy.special")}
jnp, nn, lax = MODULES["jnp"], MODULES["nn"], Later("jax.lax")


# ---- entry by entry -------------------------------------------------------------------------------------------------

def scale(x, w):
    return zero_where_zero(x, jnp.multiply(x, w))


def ratio(x, y):
    return zero_where_zero(x, jnp.divide(x, y))


def zero_where_zero(x, result):
    return jnp.where(jnp.equal(x, 0) & jnp.isnan(result), 0, result)


def expDifference(x, y):
    e = jnp.exp(jnp.subtract(x, y))
    return jnp.where(jnp.equal(x, y) & jnp.isnan(e), jnp.not_equal(x, -np.inf), e)


def astype(x, dtype):
    return jnp.asarray(x).astype(dtype[0])


# ---- linear maps ----------------------------------------------------------------------------------------------------

def broadcast(x, like, axis=()):
    return cast(jnp.broadcast_to(jnp.expand_dims(x, axis), shape_of(like)), like)


def unbroadcast(x, like, axis=()):
    x, want = jnp.sum(x, axis) if axis != () else x, np.shape(like)
    extra = x.ndim - len(want)
    if extra < 0:
        return broadcast(x, like)
    added = *range(extra), *(extra + i for i, n in enumerate(want) if n == 1 != x.shape[extra + i])
    return cast(jnp.sum(x, added, keepdims=True).reshape(want) if added else x, like)


def dotLeft(d, a, b):
    if b.ndim == 1:
        return unbroadcast(d[..., None] * b, a)
    return unbroadcast(d @ b.mT if a.ndim > 1 else (d[..., None, :] @ b.mT)[..., 0, :], a)


def dotRight(d, a, b):
    if a.ndim == 1:
        return unbroadcast(a * d if b.ndim == 1 else a[:, None] * d[..., None, :], b)
    return unbroadcast(a.mT @ d, b) if b.ndim > 1 else unbroadcast(a.mT @ d[..., None], b[:, None])[:, 0]


def einsum(subscripts, *arrays):
    return jnp.einsum(subscripts_of(subscripts)[0], *arrays)


def einsumBack(x, like, letters):
    kept, mine = letters
    forth = lambda y: jnp.broadcast_to(jnp.einsum(f"...{mine}->...{kept}", y), x.shape)
    return cast(lax.linear_transpose(forth, jnp.zeros(like.shape, x.dtype))(x)[0], like)


def reshape(x, shape):
    return jnp.reshape(x, shape_of(shape))


def concat(axis, *arrays):
    return jnp.concatenate(arrays, axis)


def part(x, i, axis, *arrays):
    start = sum(a.shape[axis] for a in arrays[:i])
    return lax.slice_in_dim(x, start, start + arrays[i].shape[axis], axis=axis)


def stack(axis, *arrays):
    return jnp.stack(arrays, axis)


def diagBack(d, x, k=0):
    if x.ndim == 1:
        return jnp.diag(d, k)
    rows = np.arange(len(d)) + max(0, -k)
    return jnp.zeros(x.shape, d.dtype).at[rows, rows + k].set(d)


def scatterAdd(d, like, *keys):
    return cast(jnp.zeros(like.shape, d.dtype).at[keys].add(d), like)


def take(x, indices, axis=None):
    return jnp.take(x, indices, axis, mode="wrap")


# ---- reductions -----------------------------------------------------------------------------------------------------

def mean(x, axis=None, keepdims=False):
    return jnp.sum(x, axis, keepdims=keepdims) / (count(x, axis) or np.nan)


def centered(x, axis=None):
    m = mean(x, axis, True)
    d = x - m
    return jnp.where(jnp.abs(d) <= 2 * float(np.finfo(d.dtype).eps) * jnp.abs(m), 0, d)


def var(x, axis=None, keepdims=False, ddof=0):
    d = centered(x, axis)
    return jnp.sum(d * d, axis, keepdims=keepdims) / (count(x, axis) - ddof)


def std(x, axis=None, keepdims=False, ddof=0):
    return jnp.sqrt(var(x, axis, keepdims, ddof))


def ties(x, out, axis=None):
    equal = jnp.equal(x, out) | jnp.isnan(x) & jnp.isnan(out)
    return equal.astype(x.dtype) / jnp.maximum(jnp.sum(equal, axis, keepdims=True), 1).astype(x.dtype)


def shift(x, axis, first=0.0):
    moved = jnp.moveaxis(x, axis, 0)
    return jnp.moveaxis(jnp.roll(moved, 1, 0).at[:1].set(first), 0, axis)


def scan(x, a, axis):
    def step(y, xa):
        y = xa[0] + xa[1] * y
        return y, y

    x, a = jnp.moveaxis(x, axis, 0), jnp.moveaxis(a, axis, 0)
    return jnp.moveaxis(jnp.concatenate([x[:1], lax.scan(step, x[0], (x[1:], a[1:]))[1]]) if len(x) > 1 else x, 0, axis)


# ---- matrices -------------------------------------------------------------------------------------------------------

def pinv(a):
    return jnp.linalg.pinv(a, 1e-15)  # NumPy's bound on small singular values


def detSign(a):
    return jnp.linalg.slogdet(a)[0]


def logabsdet(a):
    return jnp.linalg.slogdet(a)[1]


def lowerHalf(x):
    return jnp.tril(x) - 0.5 * jnp.tril(jnp.triu(x))


def cofactor(a):
    u, s, vt = jnp.linalg.svd(a)
    return turned(u, vt) * ((u * leaving_out(s, 1)[..., None, :]) @ vt)


def cofactorSlope(t, a):
    u, s, vt = jnp.linalg.svd(a)
    pairs = leaving_out(s, 2)
    m = u.mT @ t @ vt.mT
    inner = jnp.eye(s.shape[-1], dtype=a.dtype) * jnp.einsum("...ij,...jj->...i", pairs, m)[..., None] - pairs * m.mT
    return turned(u, vt) * (u @ inner @ vt)


def turned(u, vt):
    return (jnp.linalg.det(u) * jnp.linalg.det(vt))[..., None, None]


def leaving_out(s, two):
    """The products of all s but the i-th, or (two = 2) but the i-th and the j-th, which is 0 for i = j."""
    others = ~np.eye(s.shape[-1], dtype=bool)
    if two == 1:
        return jnp.where(others, s[..., None, :], 1.0).prod(-1)
    return jnp.where(others[:, None] & others, s[..., None, None, :], 1.0).prod(-1) * others.astype(s.dtype)


# ---- losses: those that lowering leaves -----------------------------------------------------------------------------

def oneHot(y, like):
    if y.dtype.kind == "f":
        return y
    rows = like.shape[:-1]
    if y.shape != like.shape and like.shape[-1] > 1:
        y = y.reshape(*rows, 1) == np.arange(like.shape[-1])
    return y.reshape(*rows, -1).astype(like.dtype)


def hinge(z, y):
    target = oneHot(y, z)
    margins = 1.0 + z - jnp.sum(scale(target, z), -1, keepdims=True)
    return jnp.sum((1 - target) * jnp.maximum(margins, 0), -1, keepdims=True)


# ---- the table ------------------------------------------------------------------------------------------------------

CALLED = {
    **{op: f"jnp.{op}" for op in (
        "abs add arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argsort cbrt ceil clip cos cosh cumprod cumsum diag "
        "divide equal exp exp2 expm1 flip floor floor_divide greater greater_equal hypot isfinite isnan less less_equal log log10 "
        "log1p log2 logaddexp logical_and logical_not logical_or max maximum min minimum negative not_equal outer pad power prod "
        "remainder roll round sign sin sinh sqrt subtract sum tan tanh trace transpose trunc where").split()},
    **{op: f"jnp.linalg.{op}" for op in ("cholesky", "det", "inv", "solve")},
    **{op: f"special.{op}" for op in ("digamma", "erf", "gammaln", "polygamma")},
    "mul": "jnp.multiply", "dot": "jnp.matmul", "mT": "jnp.matrix_transpose", "sigmoid": "nn.sigmoid",
}
NAMED = dict.fromkeys(("sum", "max", "min", "prod"), ("axis", "keepdims"))  # the names of arguments after the first
HERE = {function.__name__: function for function in (
    astype, broadcast, centered, cofactor, cofactorSlope, concat, detSign, diagBack, dotLeft, dotRight, einsum, einsumBack,
    expDifference, hinge, logabsdet, lowerHalf, mean, oneHot, part, pinv, ratio, reshape, scale, scan, scatterAdd, shift, stack,
    std, take, ties, unbroadcast, var)}
AS_THEY_ARE = {op: G[op] for op in ("alias", "column", "count", "getitem", "half", "square", "stopGradient", "unpad")}
FUNCTIONS: dict[str, Callable] = {**HERE, **AS_THEY_ARE}  # the latter use nothing but what arrays of JAX have too

FINITE = {"cholesky", "cofactor", "cofactorSlope", "inv", "pinv", "solve"}  # NumPy raises where these are infinite or NaN
COMPARED = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or"}
REFUSED = {"power", "floor_divide", "remainder"}  # of whole numbers, which NumPy refuses for some or rounds otherwise
LABELS = {"oneHot": (0, 1), "hinge": (1, 0)}      # the places of labels and predictions
KEYS = {"getitem": 1, "scatterAdd": 2}            # where keys begin, after the array or its likeness
OWN_PRECISION = {"unbroadcast", "scatterAdd"}     # they add up in the precision of their first argument


def function_of(op: str) -> Callable | None:
    """The function that computes op of arrays of JAX, the arguments by their places; None where there is none."""
    if op not in CALLED:
        return FUNCTIONS.get(op)
    module, *path = CALLED[op].split(".")
    found = MODULES[module]
    for name in path:
        found = getattr(found, name)
    return (lambda x, *rest: found(x, **dict(zip(NAMED[op], rest, strict=False)))) if op in NAMED else found


def indices(op: str, args: tuple, kinds: Mapping[str, Kind]) -> Iterator[tuple[Any, int, int]]:
    """(argument, least, beyond): each argument that is an index or a label, and the range that it has to lie in."""
    shape = lambda a: kinds[a].shape if isinstance(a, str) else np.shape(a)
    if op in LABELS:
        y, like = (args[i] for i in LABELS[op])
        if isinstance(y, str) and kinds[y].dtype.kind != "f" and shape(y) != shape(like) and shape(like)[-1] > 1:
            yield y, 0, shape(like)[-1]
    elif op == "take":
        n = count(np.empty(0)) if False else shape(args[0])
        n = n[args[2]] if len(args) > 2 and args[2] is not None else int(np.prod(n))
        yield args[1], -n, n
    elif op in KEYS:
        sizes, keys = shape(args[KEYS[op] - 1]), args[KEYS[op]:]
        width = [0 if key is None or key is ... else np.ndim(key) if getattr(key, "dtype", None) == bool else 1 for key in keys]
        axis = 0
        for key, n in zip(keys, width, strict=True):
            if isinstance(key, str):
                yield key, -sizes[axis], sizes[axis]
            axis += len(sizes) - sum(width) if key is ... else n
