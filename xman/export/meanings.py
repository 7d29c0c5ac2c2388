"""The operators of ONNX that can be read, as formulas in the language; of constants they are computed."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from inspect import isfunction
from itertools import pairwise
from typing import Any

import numpy as np

from ops import Expression, f

from ..errors import XManError
from .nodes import NAMES, pairs

MOST = 2 ** 27  # the most entries of an array


def within_bounds(shape: Iterable[int]) -> tuple[int, ...]:
    """The shape. XManError where it has too many entries."""
    if (n := math.prod(shape)) > MOST:
        raise XManError(f"an array of {n:,} entries is more than the {MOST:,} that are read")
    return tuple(shape)


def fixed_value(a: Any, role: str) -> np.ndarray:
    """a as an array. XManError where it is not a constant of the file."""
    if getattr(a, "constant", False):
        return a.value
    if isinstance(a, Expression):
        raise XManError(f"its {role} come from the model's inputs, and in a list they are literals")
    return np.asarray(a)


def wholes(a: Any, role: str = "axes") -> tuple[int, ...] | None:
    return None if a is None else tuple(np.ravel(fixed_value(a, role)).tolist())


def as_dtype(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else f.astype(x, (numeric(dtype).name,))


def operators(names: Mapping[str, Any]) -> dict[str, Callable]:
    """The functions that are named like an operator of ONNX, with a capital."""
    return {name: of for name, of in names.items() if isfunction(of) and name[0].isupper()}


def numeric(dtype: Any) -> np.dtype:
    """The dtype. XManError where it is not one of NumPy's for numbers."""
    if (dtype := np.dtype(dtype)).kind not in "biuf" or dtype.isbuiltin != 1:
        raise XManError(f"there are no arrays of {dtype} here")
    return dtype


def Div(x, y):
    if x.dtype.kind == "f":
        return x / y
    return as_dtype(f.trunc(f.divide(x, y)), x.dtype)


def Mod(x, y, fmod=0):
    r, signs_differ = f.remainder(x, y), f.not_equal(f.less(x, 0), f.less(y, 0))
    return f.where(f.logical_and(f.not_equal(r, 0), signs_differ), r - y, r) if fmod else r


def reduction_node(op: str):
    def reduce(x, axes=None, *, keepdims=1, noop_with_empty_axes=0, **old):
        axes = wholes(old.pop("axes", axes))
        if not axes and noop_with_empty_axes:
            return f.alias(x)
        return getattr(f, op)(x, axes or None, bool(keepdims))
    return reduce


def Gemm(a, b, c=None, alpha=1.0, beta=1.0, transA=0, transB=0):
    product = f.dot(f.transpose(a) if transA else a, f.transpose(b) if transB else b)
    product = product if alpha == 1 else alpha * product
    return product if c is None else product + (c if beta == 1 else beta * c)


def Reshape(x, shape, allowzero=0):
    shape = wholes(shape, "lengths")
    return f.reshape(x, tuple(np.shape(x)[k] if n == 0 and not allowzero else n for k, n in enumerate(shape)))


def Squeeze(x, axes=None):
    ones = [k for k, n in enumerate(np.shape(x)) if n == 1]
    drop = {k % np.ndim(x) for k in (ones if axes is None else wholes(axes))}
    return f.getitem(x, *(0 if k in drop else slice(None) for k in range(np.ndim(x))))


def Unsqueeze(x, axes):
    new = {k % (np.ndim(x) + len(wholes(axes))) for k in wholes(axes)}
    return f.getitem(x, *(None if k in new else slice(None) for k in range(np.ndim(x) + len(new))))


def Slice(x, starts, ends, axes=None, steps=None):
    starts, ends = wholes(starts, "ends"), wholes(ends, "ends")
    keys = [slice(None)] * np.ndim(x)
    axes, steps = wholes(axes) or range(len(starts)), wholes(steps) or [1] * len(starts)
    for a, i, j, step in zip(axes, starts, ends, steps, strict=True):
        n = np.shape(x)[a]
        begin = None if i == 0 and step > 0 or i >= n and step < 0 else i
        keys[a] = slice(begin, None if j >= n or j < -n else j, step)
    return f.getitem(x, *keys)


def Split(x, sizes=None, *, axis=0, outputs, num_outputs=0):
    n = np.shape(x)[axis]
    size = -(-n // outputs)
    sizes = wholes(sizes, "parts") or [size] * (outputs - 1) + [n - size * (outputs - 1)]
    ends = np.cumsum([0, *sizes]).tolist()
    before = (slice(None),) * (axis % np.ndim(x))
    return [f.getitem(x, *before, slice(i, j)) for i, j in pairwise(ends)]


def Expand(x, shape):
    shape = np.broadcast_shapes(np.shape(x), wholes(shape, "lengths"))
    return f.alias(x) if shape == np.shape(x) else f.broadcast(x, shape)


def Pad(x, pads, fill=None, axes=None, mode="constant"):
    pads, axes = wholes(pads, "widths"), wholes(axes) or range(np.ndim(x))
    widths = [(0, 0)] * np.ndim(x)
    for a, before, after in zip(axes, pads, pads[len(pads) // 2:], strict=False):
        widths[a] = before, after
    if min(pads, default=0) < 0:
        raise XManError("a negative pad is not read")
    within_bounds(n + sum(width) for n, width in zip(np.shape(x), widths, strict=True))
    if mode != "constant":  # 'edge', 'reflect' and 'wrap' mean the same in NumPy
        for axis, width in enumerate(widths):
            x = f.take(x, np.pad(np.arange(np.shape(x)[axis]), width, mode), axis) if any(width) else x
        return x
    padded, fill = f.pad(x, tuple(widths)), 0 if fill is None else fixed_value(fill, "rims").item()
    rim = np.pad(np.zeros(np.shape(x), bool), widths, constant_values=True)
    return padded if fill == 0 else f.where(rim, fill, padded)


def downwards(x):
    """An array that is least where x is greatest; −x could be out of the range of whole numbers."""
    dtype = x.dtype
    return -x if dtype.kind == "f" else np.array(-1 if dtype.kind == "i" else np.iinfo(dtype).max, dtype) - x


def TopK(x, k, *, axis=-1, largest=1, sorted=1, outputs=2):
    order = f.argsort(downwards(x) if largest else x, axis)
    if (n := int(fixed_value(k, "numbers").item())) != np.shape(x)[axis]:
        order = f.getitem(order, *(slice(None),) * (axis % np.ndim(x)), slice(0, n))
    values = f.max(x, axis, True) if n == 1 and largest else f.getitem(x, *keys_along(order, x, axis))
    return [values, order]


def keys_along(indices, x, axis):
    """The keys that take indices along axis."""
    axis, places = axis % np.ndim(x), [np.arange(n) for n in np.shape(indices)]
    grid = np.ix_(*places)
    return tuple(indices if k == axis else grid[k] for k in range(np.ndim(x)))


def ScatterElements(x, indices, updates, axis=0, reduction="none"):
    if reduction != "add":
        raise XManError(f"only reduction='add' is read, and here it is {reduction!r}")
    keys = (indices,) if np.ndim(x) == 1 else keys_along(indices, x, axis)
    return x + f.scatterAdd(updates, x, *keys)


def CumSum(x, axis, exclusive=0, reverse=0):
    axis = int(fixed_value(axis, "axes").item())
    y = f.cumsum(f.flip(x, axis) if reverse else x, axis)
    y = f.shift(y, axis) if exclusive else y
    return as_dtype(f.flip(y, axis) if reverse else y, x.dtype)


def index_of(op):
    def find(x, axis=0, keepdims=1, select_last_index=0):
        x = x if op == "max" else downwards(x)
        position = f.argmax(f.flip(x, axis) if select_last_index else x, axis)
        position = np.shape(x)[axis] - 1 - position if select_last_index else position
        return Unsqueeze(position, axis) if keepdims else position
    return find


def OneHot(indices, depth, values, axis=-1):
    off, on = fixed_value(values, "values").tolist()
    depth = int(fixed_value(depth, "depths").item())
    within_bounds((*np.shape(indices), depth))
    classes = np.arange(depth).reshape(-1, *[1] * (-axis - 1 if axis < 0 else np.ndim(indices) - axis))
    indices = Unsqueeze(indices, axis)
    is_class = f.logical_or(f.equal(indices, classes), f.equal(indices, classes - depth))
    return as_dtype(f.where(is_class, on, off), values.dtype)


def BatchNormalization(x, scale, bias, mean, var, epsilon=1e-5, momentum=0.9, training_mode=0):
    if training_mode:
        raise XManError("only its form for predictions is read")
    channels = lambda a: f.reshape(a, (-1, *(1,) * (np.ndim(x) - 2)))
    return (x - channels(mean)) / f.sqrt(channels(var) + epsilon) * channels(scale) + channels(bias)


def LayerNormalization(x, scale, bias=None, axis=-1, epsilon=1e-5, stash_type=1):
    axes = tuple(range(axis % np.ndim(x), np.ndim(x)))
    d = x - f.mean(x, axes, True)
    deviation = 1.0 / f.sqrt(f.mean(d * d, axes, True) + epsilon)
    y = d * deviation * scale
    return [y if bias is None else y + bias, f.mean(x, axes, True), deviation]


def Dropout(x, ratio=None, training=None, seed=0):
    if training is not None and fixed_value(training, "modes"):
        raise XManError("only its form for predictions is read")
    return [f.alias(x), np.ones(np.shape(x), bool)]


def Pow(x, y):
    return as_dtype(f.power(x, as_dtype(y, dtype) if (dtype := x.dtype).kind == "f" else y), dtype)


def Constant(**value):
    (kind, a), = value.items()
    return a if kind == "value" else np.array(a, np.float32 if "float" in kind else int)


def Gelu(x, approximate="none"):
    if approximate == "none":
        return f.gelu(x)
    return 0.5 * x * (1.0 + f.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def Flatten(x, axis=1):
    axis = axis % np.ndim(x) if axis != np.ndim(x) else axis
    return f.reshape(x, (-1, math.prod(np.shape(x)[axis:])))


def Range(*ends):
    start, limit, step = (fixed_value(a, "ends").item() for a in ends)
    within_bounds([max(0, math.ceil((limit - start) / step))])
    return np.arange(start, limit, step).astype(ends[0].dtype)


ZERO = np.zeros(1, np.float32)
READ_ALONE = pairs("""Det=det Elu=elu Erf=erf Identity=alias LogSoftmax=logSoftmax Reciprocal=reciprocal Relu=relu
    Sigmoid=sigmoid Softmax=softmax Softplus=softplus Xor=not_equal""")

MEANINGS: dict[str, Callable] = {
    **{op: getattr(f, ours) for op, ours in (NAMES | READ_ALONE).items()},
    "Max": lambda *xs: reduce(f.maximum, xs), "Min": lambda *xs: reduce(f.minimum, xs),
    "Sum": lambda *xs: reduce(operator.add, xs), "Mean": lambda *xs: reduce(operator.add, xs) / len(xs),
    "Clip": lambda x, lo=None, hi=None: f.clip(x, *(None if a is None else fixed_value(a, "bounds").item() for a in (lo, hi))),
    "LeakyRelu": lambda x, alpha=0.01: f.leakyRelu(x, alpha),
    "Selu": lambda x, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875: gamma * f.elu(x, alpha),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: f.clip(alpha * x + beta, 0.0, 1.0),
    "HardSwish": lambda x: x * f.clip(x / 6.0 + 0.5, 0.0, 1.0), "Softsign": lambda x: x / (1.0 + f.abs(x)),
    "PRelu": lambda x, slope: f.where(f.greater(x, 0), x, slope * x),
    **{f"Reduce{op}": reduction_node(op.lower()) for op in "Sum Max Min Mean Prod LogSumExp".split()},
    "ReduceL2": reduction_node("norm"), "ReduceSumSquare": reduction_node("squaredNorm"),
    "ReduceL1": lambda x, *axes, **options: MEANINGS["ReduceSum"](f.abs(x), *axes, **options),
    "ReduceLogSum": lambda x, *axes, **options: f.log(MEANINGS["ReduceSum"](x, *axes, **options)),
    "Cast": lambda x, to, saturate=1: as_dtype(x, to), "CastLike": lambda x, like, saturate=1: as_dtype(x, like.dtype),
    "Shape": lambda x, start=0, end=None: np.array(np.shape(x)[start:end], int),
    "Size": lambda x: np.array(math.prod(np.shape(x))),
    "ConstantOfShape": lambda shape, value=ZERO: np.broadcast_to(value, within_bounds(wholes(shape, "lengths"))),
    "Transpose": lambda x, perm=None: f.transpose(x, *([tuple(perm)] if perm else [])),
    "Concat": lambda *xs, axis: f.concat(axis, *xs), "Gather": lambda x, k, axis=0: f.take(x, k, axis),
    "GatherElements": lambda x, k, axis=0: f.getitem(x, *keys_along(k, x, axis)),
    "ArgMax": index_of("max"), "ArgMin": index_of("min"),
    "Einsum": lambda *arrays, equation: f.einsum((equation,), *arrays), **operators(vars())}
