"""ONNX as a library of arrays: functions of the array API that write nodes, and rows beyond them."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import G, f, facts_of
from ops.arrays.products import einsum_parts, subscripts_of
from ops.formulas.carried import through

OPSET = 18  # of ONNX 1.13, which runtimes have had since 2023
END = 2 ** 63 - 1  # of an axis, however long


class Node:
    """The result of one node: its operator, arguments and attributes, and what it makes of the example."""

    def __init__(self, xp: Nodes, op: str, args: tuple, attributes: dict[str, Any], example: np.ndarray):
        self.xp, self.op, self.args, self.attributes, self.example = xp, op, args, attributes, example
        self.line, self.graph, self.name, self.graphs = xp.line, xp.graph, "", {}

    shape = property(lambda self: self.example.shape)
    ndim = property(lambda self: self.example.ndim)
    dtype = property(lambda self: self.example.dtype)

    def __getitem__(self, keys: tuple) -> Node:
        """x[keys] of slices, whole numbers and None."""
        y, array, axis, cuts, whole, new = self, self.xp.asarray, 0, [], [], []
        for place, key in enumerate(keys):
            if key is None:
                new.append(place - len(whole))
                continue
            if isinstance(key, int):
                cuts.append((axis, key, key + 1 or END, 1))
                whole.append(axis)
            elif key != slice(None):
                step = key.step or 1
                start, end = (0, END) if step > 0 else (END, -END)
                ends = (start if key.start is None else key.start, end if key.stop is None else key.stop)
                cuts.append((axis, *ends, step))
            axis += 1
        if cuts:
            axes, *ends = zip(*cuts, strict=True)
            parts = [slice(None)] * self.ndim
            for a, *key in cuts:
                parts[a] = slice(*(None if abs(k) == END else k for k in key))
            starts, stops, steps = map(array, ends)
            y = self.xp.node("Slice", (y, starts, stops, array(axes), steps), y.example[tuple(parts)])
        if whole:
            y = self.xp.node("Squeeze", (y, array(whole)), np.squeeze(y.example, tuple(whole)))
        return self.xp.node("Unsqueeze", (y, array(new)), np.expand_dims(y.example, new)) if new else y


# functions of the array API that are one node
PLAIN = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "negative": "Neg", "equal": "Equal", "less": "Less",
         "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual", "logical_and": "And",
         "logical_or": "Or", "logical_not": "Not", "where": "Where", "matmul": "MatMul", "abs": "Abs", "sign": "Sign",
         "isnan": "IsNaN", "maximum": "Max", "minimum": "Min", "pow": "Pow", "divide": "Div",
         **{op: op.capitalize() for op in "exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()}}
ROUNDED = {"floor": "Floor", "ceil": "Ceil", "round": "Round"}
REDUCED = {"sum": "ReduceSum", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd"}


class Nodes:
    """A namespace of the array API, and what was written through it."""

    __name__ = "ONNX"

    def __init__(self) -> None:
        self.written: list[Node] = []
        self.line = 0  # of the list, that is being written
        self.graph = None  # inside of which node

    def node(self, op: str, args: tuple, example: Any, **attributes: Any) -> Node:
        out = Node(self, op, args, attributes, np.asarray(example))
        self.written.append(out)
        return out

    def asarray(self, a: Any, dtype: Any = None) -> Node:
        return self.node("Constant", (), np.asarray(a, dtype))

    def __getattr__(self, name: str) -> Any:
        """The functions that are one node, and NumPy's names of precisions."""
        if name in PLAIN:
            return lambda *xs: self.node(PLAIN[name], xs, getattr(np, name)(*[x.example for x in xs]))
        if name in ROUNDED:
            rounded = lambda x: self.node(ROUNDED[name], (x,), getattr(np, name)(x.example))
            return lambda x: rounded(x) if x.dtype.kind == "f" else x
        if name in REDUCED:
            return lambda x, axis, keepdims: self.node(
                REDUCED[name], (x, *([] if axis is None else [self.asarray(np.atleast_1d(axis))])),
                getattr(np, name)(x.example, axis, keepdims=keepdims), keepdims=int(keepdims))
        try:
            return np.dtype(name)
        except TypeError:
            raise AttributeError(name) from None

    def astype(self, x, dtype): return self.node("Cast", (x,), x.example.astype(dtype), to=np.dtype(dtype))
    def isfinite(self, x): return self.less(self.abs(x), self.asarray(np.asarray(np.inf, x.dtype)))
    def not_equal(self, x, y): return self.logical_not(self.equal(x, y))

    def reshape(self, x, shape):
        return self.node("Reshape", (x, self.asarray(np.array(shape, int))), x.example.reshape(shape),
                         allowzero=int(0 in shape))

    def permute_dims(self, x, axes):
        return self.node("Transpose", (x,), x.example.transpose(axes), perm=axes) if axes else x

    def concat(self, xs, axis):
        return self.node("Concat", tuple(xs), np.concatenate([x.example for x in xs], axis), axis=axis)

    def take(self, x, k, axis): return self.node("Gather", (x, k), x.example.take(k.example, axis), axis=axis)
    def argmax(self, x, axis): return self.node("ArgMax", (x,), x.example.argmax(axis), axis=axis, keepdims=0)
    def arange(self, n): return self.node("Range", tuple(map(self.asarray, (0, n, 1))), np.arange(n))

    def broadcast_to(self, x, shape):
        return self.node("Expand", (x, self.asarray(np.array(shape, int))), np.broadcast_to(x.example, shape))

    def stack(self, xs, axis):
        axes, wider = self.asarray([axis]), lambda x: np.expand_dims(x.example, axis)
        return self.concat([self.node("Unsqueeze", (x, axes), wider(x)) for x in xs], axis)

    def remainder(self, x, y):
        if x.dtype.kind != "f":
            return self.node("Mod", (x, y), np.remainder(x.example, y.example))
        zero = self.asarray(np.zeros((), x.dtype))
        r = self.node("Mod", (x, y), np.fmod(x.example, y.example), fmod=1)  # has x's sign, is to have y's
        return self.where(self.less(self.multiply(self.sign(r), self.sign(y)), zero), self.add(r, y), r)

    def argsort(self, x, axis, stable):
        n, example = self.asarray([x.shape[axis]]), np.argsort(x.example, axis, stable=True)
        return self.node("TopK", (x, n), example, axis=axis, largest=0)  # of equal entries the first is first

    def cumulative_sum(self, x, axis):
        return self.node("CumSum", (x, self.asarray(axis)), x.example.cumsum(axis))

    def scatter_add(self, size, index, d):
        example = np.zeros(size, d.dtype)
        np.add.at(example, index.example, d.example)
        zeros = self.broadcast_to(self.asarray(np.zeros((), d.dtype)), (size,))
        return self.node("ScatterElements", (zeros, index, d), example, axis=0, reduction="add")


def beyond(xp: Nodes) -> dict[str, Callable]:
    """The rows that are a node of ONNX and no function of the array API."""
    def array(x): return x if isinstance(x, Node) else xp.asarray(x)
    def real(x): return x if (x := array(x)).dtype.kind == "f" else xp.astype(x, np.dtype(float))

    def unary(op: str, node: str) -> Callable:
        return lambda x, *axis: xp.node(node, (x := real(x),), G[op](x.example, *axis),
                                        **dict(zip(["axis"], axis, strict=False)))

    def einsum(subscripts, *arrays):
        arrays, (equation,) = [array(a) for a in arrays], subscripts_of(subscripts)
        dtype = np.result_type(*[a.dtype for a in arrays])
        dotted = ["." in part for part in einsum_parts(subscripts)[0]]
        lead = [a.ndim - len(part.replace("...", "")) if "." in part else 0
                for a, part in zip(arrays, einsum_parts(subscripts)[0], strict=True)]
        arrays = [a if a.dtype == dtype else xp.astype(a, dtype) for a in arrays]
        arrays = tuple(a[(None,) * (max(lead) - n) + (slice(None),) * a.ndim] if dots and n < max(lead) else a
                       for a, n, dots in zip(arrays, lead, dotted, strict=True))
        return xp.node("Einsum", arrays, np.einsum(equation, *[a.example for a in arrays]),
                       equation=equation.replace(" ", ""))

    plain = {op: unary(op, op.capitalize()) for op in ("softmax", "sigmoid", "erf", "det")}
    return {"einsum": einsum} | plain


# ---- what ONNX Runtime computes in float32 alone, in terms of what it computes in float64 ------------------

LN2 = math.log(2.0)


def arctan(x):
    """What float32 says, y, and the rest by the addition theorem: so small an angle is its tangent."""
    y, x = f.astype(f.arctan(f.astype(x, ("float32",))), ("float64",)), f.minimum(f.maximum(x, -1e300), 1e300)
    return y + (x * f.cos(y) - f.sin(y)) / (f.cos(y) + x * f.sin(y))


def sinh(x):
    a = f.abs(x)
    return -f.sign(x) * f.exp(a - LN2) * f.expm1(-2.0 * a)


def arcsinh(x):
    a = f.abs(x)
    near = f.log1p(a + a * a / (1.0 + f.sqrt(1.0 + a * a)))
    return f.sign(x) * f.where(f.less(a, 1e150), near, f.log(a) + LN2)


DOUBLE: dict[str, Callable] = {
    "tan": lambda x: f.sin(x) / f.cos(x), "arctan": arctan, "sinh": sinh, "arcsinh": arcsinh,
    "det":     facts_of("det").elsewhere, "erf": facts_of("erf").elsewhere,
    "arcsin":  lambda x: arctan(x / f.sqrt((1.0 - x) * (1.0 + x))),
    "arccos":  lambda x: 2.0 * arctan(f.sqrt((1.0 - x) / (1.0 + x))),
    "cosh":    lambda x: f.exp(x - LN2) + f.exp(-x - LN2),
    "arccosh": lambda x: f.log1p(x - 1.0 + f.sqrt(x - 1.0) * f.sqrt(x + 1.0)),
    "arctanh": lambda x: f.half(f.log1p(2.0 * x / (1.0 - x))),
}


def in_either(table: dict[str, Callable], op: str) -> Callable:
    """The row of the table, which is a node, for float32, and the formula for float64."""
    single, double = table[op], through(lambda x: DOUBLE[op](f.astype(x, ("float64",))), table)
    return lambda x: (single if np.dtype(getattr(x, "dtype", float)) == np.float32 else double)(x)
