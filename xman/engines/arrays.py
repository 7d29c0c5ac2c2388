"""The values of rows on the arrays of any library: a table G made from a namespace of the array API.

`primitive` has the functions of the standard, cast as NumPy casts. Formulas, and a user's operators, are
written in the language and run on `Carried` arrays, whose operators come from the table.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import G
from ops.arrays.indexing import written_out
from ops.arrays.rearrangements import shape_of
from ops.formulas.carried import dtype_of, through

from ..errors import XManError

# by operator that is a ufunc of NumPy: the standard's name
UFUNCS = {op: {"absolute": "abs", "power": "pow"}.get(name := value.__name__, name.replace("arc", "a"))
          for op, value in G.items() if isinstance(value, np.ufunc)}


def on(xp: Any, /, **rows: Callable) -> dict[str, Callable]:
    """The table of values on the arrays of xp, to be given to `eval`.

        >>> import array_api_strict as xp
        >>> xman.eval(steps, {"x": xp.asarray([1.0, 2.0])}, xman.export.on(xp))

    xp: a namespace of the Python array API standard, 2023.12 or later (array_api_strict, cupy, jax.numpy,
    numpy; torch by array_api_compat). rows: further rows, by operator, functions of its arrays and literals.
    Results have NumPy's shape and precision; labels and indices are not checked. Gradients are lists, so
    they need no table. An operator that xp cannot compute is in the table too: it raises XManError when it is
    called.
    """
    table: dict[str, Callable] = {}
    rows = primitive(xp, table) | rows
    for op in G:
        facts = ops.facts_of(op)
        formula = facts.elsewhere or facts.formula or (G[op] if op not in ops.table.OURS else None)
        table[op] = rows.get(op) or (through(formula, table) if formula else lacking(op, xp))
    return table


def lacking(op: str, xp: Any) -> Callable:
    def row(*args):
        raise XManError(f"{getattr(xp, '__name__', xp)} has no function for {op}")
    return row


class Standard(NamedTuple):
    """A namespace xp of the array API, called with NumPy's casts and NumPy's axis=None."""
    xp: Any

    def array(self, a: Any, dtype: Any = None) -> Any:
        """a as an array of xp, in the precision dtype if it is given."""
        xp = self.xp
        if isinstance(a, (np.ndarray, np.generic, bool, int, float)):
            a = np.asarray(a, dtype)
            return xp.asarray(a.item() if a.ndim == 0 else a, dtype=getattr(xp, a.dtype.name))
        if not hasattr(a, "dtype"):  # a is the length of an axis that is not known yet
            return xp.asarray(a, dtype=getattr(xp, np.dtype(dtype or int).name))
        return a if dtype is None or dtype_of(a) == dtype else xp.astype(a, getattr(xp, np.dtype(dtype).name))

    def alike(self, *arrays: Any) -> list:
        """The arrays in the precision that NumPy promotes them to."""
        dtype = np.result_type(*[a if isinstance(a, (int, float)) else weak(a) for a in arrays])
        return [self.array(a, dtype) for a in arrays]

    def ufunc(self, op: str) -> Callable:
        def row(*args):
            args = args if any(hasattr(a, "dtype") for a in args) else [*map(np.asarray, args)]
            *dtypes, _ = G[op].resolve_dtypes((*map(weak, args), None))
            dtypes = [bool] * len(args) if op.startswith("logical") else dtypes
            return function(*map(self.array, args, dtypes))
        function = getattr(self.xp, UFUNCS[op])
        return row

    def reduction(self, op: str) -> Callable:
        def row(x, axis=None, keepdims=False):
            if axis == ():
                return self.array(x)
            x = self.array(x, G[op](np.zeros(1, weak(x))).dtype)
            return getattr(self.xp, op)(x, axis=axis if x.ndim else None, keepdims=keepdims)
        return row

    def flat(self, x: Any, axis: int | None) -> tuple[Any, int]:
        x = self.array(x)
        return (self.xp.reshape(x, (-1,)), 0) if axis is None or not x.ndim else (x, axis)

    def along(self, function: str, x: Any, axis: int | None, **named: Any) -> Any:
        x, axis = self.flat(x, axis)
        return getattr(self.xp, function)(x, axis=axis, **named)

    def linalg(self, name: str, factor: int | None = None, **named: Any) -> Callable:
        def row(*matrices):
            matrices = [self.array(a, np.result_type(weak(a), np.float32)) for a in self.alike(*matrices)]
            factors = getattr(self.xp.linalg, name)(*matrices, **named)
            return factors if factor is None else factors[factor]
        return row


def weak(a: Any) -> Any:
    """What NumPy promotes by: the precision of an array, the type of a plain number."""
    plain = np.dtype(bool) if isinstance(a, bool) else float if isinstance(a, float) else int
    return dtype_of(a) if hasattr(a, "dtype") else plain


def primitive(xp: Any, table: dict[str, Callable]) -> dict[str, Callable]:
    """The rows that are a function of xp, on its arrays and on literals."""
    of = Standard(xp)
    array, alike, along = of.array, of.alike, of.along

    def cumsum(x, axis=None):
        return along("cumulative_sum", array(x, np.cumsum(np.zeros(1, weak(x))).dtype), axis)

    def rounded(x, decimals=0):
        if not decimals or dtype_of(x).kind != "f":
            return xp.round(array(x))
        return table["divide"](xp.round(table["mul"](x, 10.0 ** decimals)), 10.0 ** decimals)
    return {
        **(matrix_rows(of, table) if hasattr(xp, "linalg") else {}),
        **{op: of.ufunc(op) for op in UFUNCS if hasattr(xp, UFUNCS[op])},
        "dot": lambda a, b: xp.matmul(*alike(a, b)),
        **{op: of.reduction(op) for op in ("sum", "prod", "max", "min")},
        "where": lambda c, x, y: xp.where(array(c, bool), *alike(x, y)),
        "astype": lambda x, dtype: array(array(x), np.dtype(dtype[0])),
        "argmax": lambda x, axis=None: along("argmax", x, axis),
        "argsort": lambda x, axis=-1: along("argsort", x, axis, stable=True),
        "concat": lambda axis, *arrays: xp.concat(alike(*arrays), axis=axis),
        "stack": lambda axis, *arrays: xp.stack(alike(*arrays), axis=axis),
        "cumsum": cumsum, "round": rounded, **rearranging_rows(of),
        "getitem": lambda x, *keys: picked(xp, table, array(x), keys),
        "scatterAdd": lambda d, like, *keys: scattered(xp, table, array(d), like, keys),
    }


def rearranging_rows(of: Standard) -> dict[str, Callable]:
    xp, array = of.xp, of.array

    def broadcast(x, like, axis=()):
        x, shape = array(x), shape_of(like)
        if axis != ():
            missing = {a % (x.ndim + np.size(axis)) for a in np.atleast_1d(axis)}
            x = x[tuple(None if k in missing else slice(None) for k in range(x.ndim + len(missing)))]
        x = array(x, dtype_of(like) if hasattr(like, "dtype") and dtype_of(like).kind == "f" else None)
        x = xp.reshape(x, tuple(x.shape)[max(0, x.ndim - len(shape)):]) if x.ndim > len(shape) else x
        return x if tuple(x.shape) == shape else xp.broadcast_to(x, shape)

    def reshape(x, shape):
        x, shape = array(x), shape_of(shape)
        return x if tuple(x.shape) == shape else xp.reshape(x, shape)

    def transpose(x, axes=None):
        axes = range(x.ndim)[::-1] if axes is None else axes
        return xp.permute_dims(array(x), tuple(a % x.ndim for a in axes))

    def take(x, indices, axis=None):
        (x, axis), indices = of.flat(x, axis), array(indices)
        axis %= x.ndim
        shape = *tuple(x.shape)[:axis], *tuple(indices.shape), *tuple(x.shape)[axis + 1:]
        return xp.reshape(xp.take(x, xp.reshape(indices, (-1,)), axis=axis), shape)
    return {"broadcast": broadcast, "reshape": reshape, "transpose": transpose, "take": take}


def matrix_rows(of: Standard, table: dict[str, Callable]) -> dict[str, Callable]:
    linalg = of.linalg

    def symmetric(a):
        return table["half"](table["add"](a, table["mT"](a)))

    def eigenvectors(a, signs=("L",)):
        if signs != ("L",):
            raise XManError(f"eigenvectors is computed with the signs ('L',) alone here, not {signs}")
        return linalg("eigh", 1)(symmetric(a))
    return {
        **{op: linalg(op) for op in ("inv", "det", "pinv", "solve", "svdvals")},
        **{op: lambda a, op=op: linalg(op)(symmetric(a)) for op in ("cholesky", "eigvalsh")},
        "det_sign": linalg("slogdet", 0), "logabsdet": linalg("slogdet", 1), "eigenvectors": eigenvectors,
        "left_vectors": linalg("svd", 0, full_matrices=False),
        "right_vectors": lambda a: of.xp.matrix_transpose(linalg("svd", 2, full_matrices=False)(a)),
        "orthonormal": linalg("qr", 0), "upper": linalg("qr", 1),
    }


# ---- x[keys], and its adjoint ------------------------------------------------------------------------------

def picked(xp: Any, table: dict[str, Callable], x: Any, keys: Sequence) -> Any:
    """x[keys] as NumPy has it."""
    keys, lengths = [k for key in keys for k in masked(xp, key)], iter(x.shape)
    keys = [None if key is None else within(key, next(lengths)) for key in written_out(keys, x.ndim)]
    if not any(hasattr(key, "shape") for key in keys):
        return x if all(key == slice(None) for key in keys) else x[tuple(keys)]
    places = [i for i, key in enumerate(keys) if isinstance(key, int) or hasattr(key, "shape")]
    sliced = [i for i in range(len(keys)) if i not in places]
    slices = tuple(slice(None) if i in places else key for i, key in enumerate(keys))
    x = table["transpose"](x if all(key == slice(None) for key in slices) else x[slices], (*places, *sliced))
    sizes, tail = tuple(x.shape)[:len(places)], tuple(x.shape)[len(places):]
    index = keys[places[0]]
    if len(places) > 1:  # x[i, j] of 3 × 4 entries is entry 4i + j of 12
        index, *inner = [table["remainder"](keys[i], n) for i, n in zip(places, sizes, strict=True)]
        for n, k in zip(sizes[1:], inner, strict=True):
            index = table["add"](table["mul"](index, n), k)
        x = xp.reshape(x, (math.prod(sizes), *tail))
    y = table["take"](x, index, 0)
    if places != list(range(places[0], places[0] + len(places))):
        return y  # NumPy brings the axes of keys that are not neighbours to the front
    n = y.ndim - len(tail)
    before = sum(i < places[0] for i in sliced)
    return table["transpose"](y, (*range(n, n + before), *range(n), *range(n + before, y.ndim)))


def within(key: Any, n: int) -> Any:
    """The key; a slice ends where the axis ends, since the standard leaves open what lies beyond."""
    if not isinstance(key, slice) or not isinstance(n, int):  # the length may not be known yet
        return key
    low, high = (-n, n) if key.step is None or key.step > 0 else (-n - 1, n - 1)
    ends = [end if end is None else max(low, min(high, int(end))) for end in (key.start, key.stop)]
    return slice(*ends, key.step)


def masked(xp: Any, key: Any) -> list:
    """The key in a list; for a mask, the positions where it holds, one array for each axis."""
    if isinstance(key, (bool, np.bool_)) or str(getattr(key, "dtype", "")).rpartition(".")[2] != "bool":
        return [key.item() if isinstance(key, (np.generic, np.ndarray)) and not key.ndim else key]
    if not isinstance(key, np.ndarray) and not hasattr(xp, "nonzero"):
        raise XManError("no shape can depend on how many entries a computed mask picks")
    return list(np.nonzero(key) if isinstance(key, np.ndarray) else xp.nonzero(key))


def scattered(xp: Any, table: dict[str, Callable], d: Any, like: Any, keys: Sequence) -> Any:
    """Zeros in the shape and precision of like, with d added at [keys]."""
    shape = tuple(like.shape)
    size = math.prod(shape)
    index = picked(xp, table, xp.reshape(xp.arange(size), shape), keys)
    d = table["reshape"](table["broadcast"](d, tuple(index.shape)), (-1,))
    index = xp.reshape(index, (-1,))
    if hasattr(xp, "scatter_add"):
        out = xp.scatter_add(size, index, d)
    else:
        out = table["sum"](table["where"](table["equal"](index[:, None], xp.arange(size)), d[:, None], 0), 0)
    out = xp.reshape(out, shape)
    return table["unbroadcast"](out, like)  # gives it like's precision
