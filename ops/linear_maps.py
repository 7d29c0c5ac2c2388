"""Products and rearrangements: linear in every argument that has a rule.

Where a rule needs a shape it names the array that has it (`broadcast(x, like)`, `reshape(x, like)`); where it
depends on the number of axes, an operator of its own looks when it runs (`dotLeft`, `dotRight`, `diagBack`,
`einsumBack`, `part`).
"""
from __future__ import annotations

import math

import numpy as np

from .expression import f
from .facts import by_literals, multiplied, of_adjoint, of_diagonal, of_matrices, of_product, of_sum
from .table import Each, linear, operator


def shape_of(like):
    """A literal tuple is a shape; an array stands for its own."""
    return tuple(like) if isinstance(like, (tuple, list)) else np.shape(like)


def in_precision_of(x, like):
    """x in the precision of like, where like is an array of floats."""
    dtype = getattr(like, "dtype", None)
    return x if dtype is None or dtype.kind != "f" or getattr(x, "dtype", dtype) == dtype else x.astype(dtype)


def astype(x, dtype):
    """x in another precision, a tuple of one string: ("float32",)."""
    return np.asarray(x).astype(dtype[0])[()]


def broadcast(x, like, axis=()):
    """x spread to the shape and precision of like (an array, or a shape);
    the axes in `axis` are missing in x."""
    if axis != () and np.ndim(x):
        x = np.expand_dims(x, axis)
    dtype, shape = getattr(like, "dtype", None), shape_of(like)
    if np.ndim(x) > len(shape):
        raise ValueError(f"an array of shape {np.shape(x)} does not spread to {shape}")
    result = np.empty(shape, dtype if dtype is not None and dtype.kind == "f"
                      else np.asarray(x).dtype)
    result[...] = x
    return result


def unbroadcast(x, like, axis=()):
    """x summed over `axis` and over whatever broadcasting added, to the shape and precision of like."""
    if axis != ():
        x = np.add.reduce(x, axis=axis)
    have, want = getattr(x, "shape", ()), getattr(like, "shape", ())
    if have != want:
        extra = len(have) - len(want)
        if extra < 0 or any([n not in (1, m) for n, m in zip(want, have[extra:], strict=True)]):
            raise ValueError(f"an array of shape {want} does not spread to {have}, over which a sum was "
                             "asked for")
        added = *range(extra), *(extra + i for i, n in enumerate(want) if n == 1 != have[extra + i])
        x = np.add.reduce(x, axis=added, keepdims=True)
        x = x.reshape(want) if extra else x
    return in_precision_of(x, like)


# ---- products ----------------------------------------------------------------------------------------------

def dot(a, b):
    """The matrix product a @ b: (n, k) by (k, m), a vector on either side, batches of matrices;
    a may be SciPy-sparse."""
    return a @ b


def dotLeft(d, a, b):
    """What the adjoint d of a @ b sends to a: d bᵀ, whatever the numbers of axes."""
    if np.ndim(d) == b.ndim == 2:  # the common case, at once
        return d @ b.T
    if b.ndim == 1:
        return f.unbroadcast((d[..., None] if np.ndim(d) else d) * b, a)
    return f.unbroadcast(d @ f.mT(b) if a.ndim > 1 else (d[..., None, :] @ f.mT(b))[..., 0, :], a)


def dotRight(d, a, b):
    """What the adjoint d of a @ b sends to b: aᵀ d, whatever the numbers of axes."""
    if np.ndim(d) == a.ndim == 2 or hasattr(a, "tocsr"):
        return a.T @ d
    if a.ndim == 1:
        return f.unbroadcast(a * d if b.ndim == 1 else a[:, None] * d[..., None, :], b)
    return f.unbroadcast(f.mT(a) @ d, b) if b.ndim > 1 else f.unbroadcast(f.mT(a) @ d[..., None], b[:, None])[
        :, 0]


def outer(a, b):
    """a bᵀ of two vectors; arrays with more axes are flattened first."""
    return np.outer(a, b)


def einsum(subscripts, *arrays):
    """Einstein's sum, as numpy.einsum; `...` may only lead. In a list the
    subscripts are a tuple of one string."""
    return np.einsum(*subscripts_of(subscripts), *arrays)


def subscripts_of(subscripts):
    return subscripts if isinstance(subscripts, tuple) else (subscripts,)


def einsum_parts(subscripts):
    """The letters of each argument and of the result; the result's are worked out where -> is left out."""
    inputs, arrow, out = "".join(subscripts_of(subscripts)).replace(" ", "").partition("->")
    letters = inputs.replace(",", "").replace("...", "")
    if not arrow:
        out = "..." * ("..." in inputs) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    for part in (*inputs.split(","), out):
        if "..." in part[1:]:
            raise ValueError(f"einsum({subscripts!r}): ... can only stand first in an argument; move the "
                             "axis with transpose")
    return inputs.split(","), out


def of_letters(out, subscripts, *arrays):
    """A product for each combination of letters, and its addition where a letter is summed over."""
    parts, result = einsum_parts(subscripts)
    sizes = sorted((n, c) for part, x in zip(parts, arrays, strict=True)
                   # the stretched size last
                   for c, n in zip(part.replace(".", "")[::-1], np.shape(x)[::-1], strict=False))
    terms = np.size(out) * math.prod(n for c, n in {c: n for n, c in sizes}.items() if c not in result)
    return terms * (len(arrays) - 1 + (terms > np.size(out)))


def einsum_rule(i):
    """The adjoint of argument i: the same sum with the result and the argument changed about."""
    def rule(d, out, subscripts, *arrays):
        inputs, result = einsum_parts(subscripts)
        mine, rest = inputs.pop(i), [a for j, a in enumerate(arrays) if j != i]
        found = set("".join(inputs) + result) - {"."}
        kept = "".join(dict.fromkeys(c for c in mine if c in found))
        lead = "..." if any("..." in part for part in (*inputs, result)) else ""
        product = f.einsum((",".join([result, *inputs]) + "->" + lead + kept,), d, *rest)
        return f.einsumBack(product, arrays[i], (kept, mine.replace(".", "")))
    return rule


def einsumBack(x, like, letters):
    """x, whose axes are letters[0], put back into the shape of like, whose axes are letters[1],
    in the same order.

    A letter that is missing in x is spread, one that like has twice is a diagonal, an axis of length 1 that
    the sum stretched is summed over; leading axes are those of `...`.
    """
    (kept, mine), full = letters, np.shape(like)
    x = np.asarray(x) if isinstance(x, (int, float)) else x  # a literal
    if kept == mine and x.shape == full:
        return in_precision_of(x, like)
    unique, lead = "".join(dict.fromkeys(mine)), len(full) - len(mine)
    x = x[(Ellipsis, *(slice(None) if c in kept else None for c in unique))]
    sizes = [full[lead + mine.index(c)] for c in unique]
    spread = [1 if n == 1 else m for n, m in zip(sizes, x.shape[x.ndim - len(unique):], strict=True)]
    x = f.unbroadcast(x, np.broadcast_to(np.zeros((), x.dtype), (*full[:lead], *spread)))
    x = f.broadcast(x, (*full[:lead], *sizes))
    x = x[(Ellipsis, *(slice(None) if mine.index(c) == k else None for k, c in enumerate(mine)))]
    for k, c in enumerate(mine):
        if (first := mine.index(c)) != k:
            shape = [full[lead + k] if j in (first, k) else 1 for j in range(len(mine))]
            x = f.where(np.eye(full[lead + k], dtype=bool).reshape(shape), x, 0)
    return in_precision_of(x, like)


def einsumBack_rule(d, out, x, like, letters):
    kept, mine = letters
    return f.broadcast(f.einsum((f"...{mine}->...{kept}",), d), x)


def convolve(a, v):
    """Σ a_i v_(k−i) of two vectors, at all k where they overlap."""
    return np.convolve(a, v)


def correlate(a, v):
    """Σ a_(k+i) v_i of two vectors, at all k where v lies within a. ValueError where v is longer."""
    if np.size(v) > np.size(a):
        raise ValueError(f"correlate takes the longer vector first, not {np.size(a)} numbers "
                         f"and {np.size(v)}")
    return np.correlate(np.atleast_1d(a), np.atleast_1d(v))


# ---- rearrangements ----------------------------------------------------------------------------------------

def reshape(x, shape):
    """x in another shape: a tuple, in which one −1 is worked out, or an array that has it."""
    return np.asarray(x).reshape(shape_of(shape))


def transpose(x, axes=None):
    """x with its axes in the order of `axes`, reversed for None."""
    return np.transpose(x, axes)


def mT(x):
    """x with its last two axes exchanged: the transpose of each matrix of a batch."""
    return np.swapaxes(x, -1, -2)


def keys_before(x, axis):
    """The key of all that stands before an axis of x."""
    return (slice(None),) * np.lib.array_utils.normalize_axis_index(axis, x.ndim)


def flip(x, axis=None):
    """x with its entries in reverse order along axis."""
    return x[(*keys_before(x, axis), slice(None, None, -1))] if type(axis) is int else np.flip(x, axis)


def roll(x, shift, axis=None):
    """x with its entries moved on by `shift` places along axis, those that fall off coming in again."""
    return np.roll(x, shift, axis)


def pad(x, widths):
    """x with zeros around it: widths is an int, or for each axis a pair (before, after)."""
    return np.pad(x, widths)


def unpad(x, widths):
    """x without the rim that pad(x, widths) put around it."""
    pairs = np.broadcast_to(np.asarray(widths), (np.ndim(x), 2))
    if pairs.dtype.kind not in "iu" or (pairs < 0).any() or (pairs.sum(1) > np.shape(x)).any():
        raise ValueError(f"of shape {np.shape(x)} no rim of widths {widths} can be taken off")
    key = tuple(slice(before, n - after) for (before, after), n in zip(pairs, np.shape(x), strict=True))
    return x[key] if key else x


def concat(axis, *arrays):
    """The arrays one after another along an axis that they have."""
    return np.concatenate(arrays, axis) if arrays else axis_first("concat", axis)


def part(x, i, axis, *arrays):
    """The i-th part of x along axis when x is as long as all the arrays together."""
    start = sum(np.shape(a)[axis] for a in arrays[:i])
    return x[(*keys_before(x, axis), slice(start, start + np.shape(arrays[i])[axis]))]


def alone(op, i, axis, t, arrays):
    """op (concat or stack) of t in the place of arrays[i] and zeros in the others'."""
    return op(axis, *(t if j == i else f.broadcast(0.0, a) for j, a in enumerate(arrays)))


def stack(axis, *arrays):
    """The arrays, of one shape, one after another along a new axis."""
    return np.stack(arrays, axis) if arrays else axis_first("stack", axis)


def axis_first(op, found):
    """Raise TypeError where the arrays were given as NumPy takes them."""
    raise TypeError(f"{op} takes an axis and then the arrays, {op}(0, a, b), and found "
                    f"{type(found).__name__} alone; np.{'stack' if op == 'stack' else 'concatenate'}([a, b], "
                    "axis) takes a list")


def diag(x, k=0):
    """The k-th diagonal of a matrix; of a vector the matrix that has it there."""
    return np.diag(x, k)


def diagBack(d, x, k=0):
    """d, of the shape of diag(x, k), put back into the shape of x."""
    if np.ndim(x) == 1:
        return f.diag(d, k)
    before = max(0, -k)
    rows = f.pad(d, ((before, np.shape(x)[0] - before - d.shape[0]),))
    return f.where(np.eye(*np.shape(x), k, dtype=bool), rows[:, None], 0)


def inverse(axes):
    return () if axes is None else (tuple(int(i) for i in np.argsort(np.mod(axes, len(axes)))),)


#       op             value        rule per argument
linear("broadcast",    broadcast,   lambda d, out, x, like, axis=(): f.unbroadcast(d, x, axis), None, None,
            flops=0, flow="moved", entries=multiplied)
linear("unbroadcast",  unbroadcast, lambda d, out, x, like, axis=(): f.broadcast(d, x, axis), None, None,
       flops=of_sum, view=True, flow="moved")
linear("astype",       astype,      lambda d, out, x, dtype: f.unbroadcast(d, x), None, flops=0, flow="same")
linear("dot",          dot,         lambda d, out, a, b: f.dotLeft(d, a, b),
                                    lambda d, out, a, b: f.dotRight(d, a, b),
            flops=of_product, entries=of_matrices, within=True)
linear("dotLeft",      dotLeft,     lambda u, out, d, a, b: f.dot(u, b),
                                    None,
                                    lambda u, out, d, a, b: f.dotRight(d, u, b),        flops=of_adjoint, entries=multiplied)
linear("dotRight",     dotRight,    lambda u, out, d, a, b: f.dot(a, u),
                                    lambda u, out, d, a, b: f.dotLeft(d, a, u),
                                    None,                                               flops=of_adjoint, entries=multiplied)
linear("outer",        outer,       lambda d, out, a, b: f.reshape(d @ f.reshape(b, (-1,)), a),
                                    lambda d, out, a, b: f.reshape(f.reshape(a, (-1,)) @ d, b),
            flops=1, formula=lambda a, b: f.reshape(a, (-1, 1)) * f.reshape(b, (1, -1)), numpy="outer", entries=multiplied)
linear("einsum",       einsum,      Each(lambda i: einsum_rule(i - 1), None), flops=of_letters, view=True, entries=multiplied)
linear("einsumBack",   einsumBack,  einsumBack_rule, None, None, flops=of_sum, view=True, flow="filled", entries=multiplied)
linear("convolve",     convolve,    lambda d, out, a, v: f.reshape(f.correlate(d, v), a),
                                    lambda d, out, a, v: f.reshape(f.correlate(d, a), v),
            flops=lambda out, a, v: 2 * np.size(a) * np.size(v), entries=multiplied)
linear("correlate",    correlate,   lambda d, out, a, v: f.reshape(f.convolve(d, v), a),
                                    lambda d, out, a, v: f.reshape(f.correlate(a, d), v),
            flops=lambda out, a, v: 2 * out.size * np.size(v), entries=multiplied)
linear("reshape",      reshape,     lambda d, out, x, shape: f.reshape(d, x), None,     view=True, flow="moved")
linear("transpose",    transpose,   lambda d, out, x, axes=None: f.transpose(d, *inverse(axes)), None,
            view=True, flow="moved", numpy="transpose", within=True)
linear("mT",           mT,          lambda d, out, x: f.mT(d),                          view=True, flow="moved", within=True)
linear("flip",         flip,        lambda d, out, x, axis=None: f.flip(d, axis), None, view=True, flow="moved", numpy="flip")
linear("roll",         roll,        lambda d, out, x, n, axis=None:
                                        f.roll(d, tuple(-k for k in n) if isinstance(n, tuple) else -n, axis), None, None,
            flops=0, flow="moved", numpy="roll")
linear("pad",          pad,         lambda d, out, x, widths: f.unpad(d, widths), None,
            flops=0, flow="filled", numpy="pad", entries=by_literals)
linear("unpad",        unpad,       lambda d, out, x, widths: f.pad(d, widths), None,
            view=True, flow="part", entries=by_literals)
linear("part",         part,        Each(lambda i: None, lambda d, out, x, i, axis, *arrays: alone(f.concat, i, axis, d, arrays)),
       view=True, flow="part")
linear("diag",         diag,        lambda d, out, x, k=0: f.diagBack(d, x, k), None,
            view=True, flow="part", numpy="diag", entries=of_diagonal)
linear("diagBack",     diagBack,    lambda u, out, d, x, k=0: f.diag(u, k), None, None,
            view=True, flow="filled", entries=of_diagonal)
# linear in all arguments together: the tangent of one stands among zeros
operator("concat", concat, Each(lambda i: lambda d, out, axis, *arrays: f.part(d, i - 1, axis, *arrays), None),
         tangents=Each(lambda i: lambda t, out, axis, *arrays: alone(f.concat, i - 1, axis, t, arrays), None),
            flops=0, flow="filled")
operator("stack", stack, Each(lambda i: lambda d, out, axis, *arrays: f.take(d, i - 1, axis), None),
         tangents=Each(lambda i: lambda t, out, axis, *arrays: alone(f.stack, i - 1, axis, t, arrays), None),
            flops=0, flow="filled")
