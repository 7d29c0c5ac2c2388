"""ONNX in the role of an array library: functions of the array API that write nodes, and some more rows."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ops import Bundle, G, f, facts_of
from ops.arrays.products import einsum_parts, subscripts_of
from ops.formulas.carried import through

from ..engines.arrays import UFUNCS, Standard, on
from ..errors import XManError
from ..notation import shown
from ..wengert import Line

DOMAINS = ("", 18), ("ai.onnx.ml", 3)  # the operator sets of ONNX 1.13, which runtimes have had since 2023
END = 2 ** 63 - 1  # stands for the end of an axis, however long


def with_inner(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes, and those of the graphs inside of them."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from with_inner(attribute.g.node)


class OnnxArray:
    """An array in a file: its name there, and its value for the example."""

    def __init__(self, xp: Nodes, name: str, example: Any):
        self.xp, self.name, self.example = xp, name, np.asarray(example)

    shape = property(lambda self: self.example.shape)
    ndim = property(lambda self: self.example.ndim)
    dtype = property(lambda self: self.example.dtype)

    def __getitem__(self, keys: tuple) -> OnnxArray:
        """x[keys]. keys: slices, whole numbers and None."""
        xp, y, old = self.xp, self, [key for key in keys if key is not None]
        ranges = [key if isinstance(key, slice) else slice(key, key + 1 or None) for key in old]
        if cuts := [(axis, *ends(key)) for axis, key in enumerate(ranges) if key != slice(None)]:
            axes, starts, stops, steps = zip(*cuts, strict=True)
            y = xp.node("Slice", (y, starts, stops, axes, steps), self.example[tuple(ranges)])
        dropped = tuple(axis for axis, key in enumerate(old) if isinstance(key, int))
        new = [axis for axis, key in enumerate(k for k in keys if not isinstance(k, int)) if key is None]
        y = xp.squeeze(y, dropped) if dropped else y
        return xp.expand_dims(y, new) if new else y


def ends(key: slice) -> tuple[int, int, int]:
    """Where a slice begins and ends, and its step, all said."""
    step = key.step or 1
    start, stop = (0, END) if step > 0 else (END, -END)
    return start if key.start is None else key.start, stop if key.stop is None else key.stop, step


def pairs(text: str) -> dict[str, str]:
    """{a: b} from words a=b."""
    return dict(pair.split("=") for pair in text.split())


# operators of ONNX that are one of ours: this table serves to write and to read
NAMES = pairs("""
    Abs=abs Acos=arccos Acosh=arccosh Add=add And=logical_and Asin=arcsin Asinh=arcsinh Atan=arctan Atanh=arctanh
    Ceil=ceil Cos=cos Cosh=cosh Div=divide Equal=equal Exp=exp Floor=floor Greater=greater
    GreaterOrEqual=greater_equal IsNaN=isnan Less=less LessOrEqual=less_equal Log=log MatMul=dot Max=maximum
    Min=minimum Mul=mul Neg=negative Not=logical_not Or=logical_or Pow=power Round=round Sign=sign Sin=sin
    Sinh=sinh Sqrt=sqrt Sub=subtract Tan=tan Tanh=tanh Where=where""")


def reduction_row(op: str) -> Callable:
    def row(x, axis, keepdims):
        return op, [x] if axis is None else [x, np.atleast_1d(axis)], {"keepdims": int(keepdims)}
    return row


# functions of the array API that are one node: its operator, arguments and attributes
API: dict[str, Callable] = {
    **{UFUNCS.get(ours, ours): lambda *xs, op=op: (op, xs, {}) for op, ours in NAMES.items()},
    "matmul":       lambda a, b: ("MatMul", (a, b), {}),
    "reshape":      lambda x, shape: ("Reshape", (x, shape), {"allowzero": int(0 in shape)}),
    "concat":       lambda xs, axis: ("Concat", xs, {"axis": axis}),
    "expand_dims":  lambda x, axis: ("Unsqueeze", (x, np.atleast_1d(axis)), {}),
    "squeeze":      lambda x, axis: ("Squeeze", (x, axis), {}),
    "take":         lambda x, k, axis: ("Gather", (x, k), {"axis": axis}),
    "argmax":       lambda x, axis: ("ArgMax", (x,), {"axis": axis, "keepdims": 0}),
    "arange":       lambda n: ("Range", (0, n, 1), {}),
    "broadcast_to": lambda x, shape: ("Expand", (x, shape), {}),
    **{name: reduction_row(f"Reduce{name.capitalize()}") for name in ("sum", "max", "min", "prod")},
}


class Nodes:
    """A namespace of the array API that writes the nodes of one graph after the other, from the innermost.

    sized: whether the file says the lengths of arrays within loops and branches.
    """

    __name__ = "ONNX"

    def __init__(self, onnx: Any, sized: bool, further_rows: Callable):
        self.onnx, self.sized = onnx, sized
        self.dst, self.doc = "", ""  # the line that is being written: its register, its text
        self.written: list[Any] = []  # the nodes of the graph that is being written
        self.constants: dict[str, np.ndarray] = {}
        self.arrays: dict[str, Any] = {}  # by register
        self.names: dict[str, str] = {}  # in the file, by those in the nodes
        self.counter = itertools.count()
        self.table = on(self, **beyond(self))  # one dict, to which its own rows refer
        self.table |= further_rows(self) | {op: in_either(self.table, op) for op in DOUBLE}

    def results(self, op: str, args: Iterable, examples: Sequence, **attributes: Any) -> list[OnnxArray]:
        """The results of a new node. args: anything but an array becomes a constant of whole numbers."""
        names = [self.array(a, int).name for a in args]
        name = f"{self.dst}/{op}_{next(self.counter)}"
        outs = [OnnxArray(self, f"{name}/{k}" if k else name, example) for k, example in enumerate(examples)]
        words = [names, [out.name for out in outs], name, self.doc]
        self.written.append(self.onnx.helper.make_node(op, *words, **attributes))
        return outs

    def node(self, op: str, args: Iterable, example: Any, **attributes: Any) -> OnnxArray:
        return self.results(op, args, [example], **attributes)[0]

    def asarray(self, a: Any, dtype: Any = None) -> OnnxArray:
        out = OnnxArray(self, f"{self.dst}/constant_{next(self.counter)}", np.asarray(a, dtype))
        self.constants[out.name] = out.example
        return out

    def array(self, a: Any, dtype: Any = None) -> OnnxArray:
        return a if isinstance(a, OnnxArray) else self.asarray(a, dtype)

    def like(self, a: Any, example: Any) -> OnnxArray:
        """a in the precision and the shape of the example."""
        a, example = self.array(a), np.asarray(example)
        a = a if a.dtype == example.dtype else self.astype(a, example.dtype)
        return a if a.shape == example.shape else self.broadcast_to(a, example.shape)

    def write(self, numbered: Iterable[tuple[int, Line]], arrays: dict[str, Any],
              examples: Mapping[str, Any]) -> None:
        """Write numbered lines, and add their registers to arrays."""
        for k, line in numbered:
            dst, op, args = line
            try:
                out = self.table[op](*[arrays[a] if isinstance(a, str) else a for a in args])
                if not isinstance(out, Bundle):
                    if np.shape(getattr(out, "example", out)) != (shape := np.shape(examples[dst])):
                        raise XManError(f"its nodes make another shape than {shape}")
                    out = self.like(out, examples[dst])
            except Exception as error:  # any error means that the line cannot be written
                raise XManError(f"line {k}, {shown(line)}: {error}") from error
            arrays[dst] = out

    def graph(self, inputs: Mapping[str, Any], results: Mapping[str, Any]) -> Any:
        """The graph of the nodes that the results need. inputs, results: (dtype, shape) by name."""
        nodes, live = [], {*results}
        for node in reversed(self.written):
            if live.intersection(node.output):
                nodes.append(node)
                live.update(x for inner in with_inner([node]) for x in inner.input)
        info, code = self.onnx.helper.make_tensor_value_info, self.code
        infos = [[info(name, code(dtype), shape) for name, (dtype, shape) in kinds.items()]
                 for kinds in (inputs, results)]
        return self.onnx.helper.make_graph(nodes[::-1], self.dst or "xman", *infos)

    def code(self, dtype: np.dtype) -> int: return self.onnx.helper.np_dtype_to_tensor_dtype(dtype)

    def __getattr__(self, name: str) -> Any:
        """A function that is one node, or a precision by NumPy's name."""
        if name in API:
            return functools.partial(self.one_node, name)
        try:
            return np.dtype(name)
        except TypeError:
            raise AttributeError(name) from None

    def one_node(self, name: str, *args: Any, **options: Any) -> OnnxArray:
        op, inputs, attributes = API[name](*args, **options)
        if op in ("Floor", "Ceil", "Round") and args[0].dtype.kind != "f":
            return args[0]
        of = lambda a: list(map(of, a)) if isinstance(a, list) else getattr(a, "example", a)
        return self.node(op, inputs, getattr(np, name)(*map(of, args), **options), **attributes)

    def astype(self, x, dtype): return self.node("Cast", (x,), x.example.astype(dtype), to=self.code(dtype))
    def isfinite(self, x): return self.less(self.abs(x), self.asarray(np.asarray(np.inf, x.dtype)))
    def not_equal(self, x, y): return self.logical_not(self.equal(x, y))
    def argsort(self, x, axis, stable):  # equal entries keep their order
        examples = np.sort(x.example, axis), np.argsort(x.example, axis, stable=True)
        return self.results("TopK", (x, [x.shape[axis]]), examples, axis=axis, largest=0)[1]

    def stack(self, xs, axis): return self.concat([self.expand_dims(x, axis) for x in xs], axis)
    def cumulative_sum(self, x, axis): return self.node("CumSum", (x, axis), x.example.cumsum(axis))

    def permute_dims(self, x, axes):
        return self.node("Transpose", (x,), x.example.transpose(axes), perm=axes) if axes else x

    def remainder(self, x, y):
        if x.dtype.kind != "f":
            return self.node("Mod", (x, y), np.remainder(x.example, y.example))
        zero = self.asarray(np.zeros((), x.dtype))
        r = self.node("Mod", (x, y), np.fmod(x.example, y.example), fmod=1)  # r has x's sign, and needs y's
        return self.where(self.less(self.multiply(self.sign(r), self.sign(y)), zero), self.add(r, y), r)

    def scatter_add(self, size, index, d):
        example = np.zeros(size, d.dtype)
        np.add.at(example, index.example, d.example)
        zeros = self.broadcast_to(self.asarray(np.zeros((), d.dtype)), (size,))
        return self.node("ScatterElements", (zeros, index, d), example, axis=0, reduction="add")


def beyond(xp: Nodes) -> dict[str, Callable]:
    """The rows that are a node of ONNX but not a function of the array API."""
    array = xp.array
    def real(x): return x if (x := array(x)).dtype.kind == "f" else xp.astype(x, np.dtype(float))

    def unary(op: str, node: str) -> Callable:
        return lambda x, *axis: xp.node(node, (x := real(x),), G[op](x.example, *axis),
                                        **dict(zip(["axis"], axis, strict=False)))

    def einsum(subscripts, *arrays):
        arrays, (equation,) = Standard(xp).alike(*arrays), subscripts_of(subscripts)
        lead = [a.ndim - len(letters.replace("...", "")) if "." in letters else None
                for a, letters in zip(arrays, einsum_parts(subscripts)[0], strict=True)]
        dots = max([n for n in lead if n is not None], default=0)  # the axes that the dots stand for
        arrays = [a if n in (None, dots) else a[(None,) * (dots - n) + (slice(None),) * a.ndim]
                  for a, n in zip(arrays, lead, strict=True)]
        example = np.einsum(equation, *[a.example for a in arrays])
        return xp.node("Einsum", arrays, example, equation=equation.replace(" ", ""))

    def codes(x, categories):
        n, example = len(categories), G["codes"](x.example, categories)
        codes = {"keys_strings": categories, "values_int64s": range(n), "default_int64": n}
        return xp.node("LabelEncoder", (x,), example, domain="ai.onnx.ml", **codes)

    def softmax(x, axis=-1):
        if np.ndim(getattr(x, "example", x)):
            return rows["softmax"](x, axis)
        return xp.squeeze(rows["softmax"](xp.reshape(real(x), (1,)), axis), (0,))  # ONNX has none of a number

    rows = {op: unary(op, op.capitalize()) for op in ("softmax", "sigmoid", "erf", "det")}
    return rows | {"einsum": einsum, "codes": codes, "softmax": softmax}


# ---- what ONNX Runtime computes in float32 alone, in terms of what it computes in float64 ------------------

LN2 = math.log(2.0)


def arctan(x):
    """y from float32, plus a correction by the addition theorem: so small an angle is its tangent."""
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
    **{op: facts_of(op).elsewhere for op in ("det", "erf")},
    "arcsin":  lambda x: arctan(x / f.sqrt((1.0 - x) * (1.0 + x))),
    "arccos":  lambda x: 2.0 * arctan(f.sqrt((1.0 - x) / (1.0 + x))),
    "cosh":    lambda x: f.exp(x - LN2) + f.exp(-x - LN2),
    "arccosh": lambda x: f.log1p(x - 1.0 + f.sqrt(x - 1.0) * f.sqrt(x + 1.0)),
    "arctanh": lambda x: f.half(f.log1p(2.0 * x / (1.0 - x))),
}


def in_either(table: dict[str, Callable], op: str) -> Callable:
    """The operator's row: the table's node for float32, the formula above for float64."""
    single, double = table[op], through(lambda x: DOUBLE[op](f.astype(x, ("float64",))), table)
    return lambda x: (single if np.dtype(getattr(x, "dtype", float)) == np.float32 else double)(x)
