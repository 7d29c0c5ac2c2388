"""Products, linear in each factor.

A rule that depends on the number of axes is an operator of its own, which sees them when it runs (`dot_left`,
`dot_right`, `einsum_back`).
"""
from __future__ import annotations

import math

import numpy as np

from ..expression import f
from ..facts import multiplied, of_adjoint, of_matrices, of_product, of_sum
from ..table import Each, linear
from .rearrangements import in_precision_of


def dot_left(d, a, b):
    """The contribution of the adjoint d of a @ b to a: d bᵀ, for any numbers of axes."""
    if np.ndim(d) == b.ndim == 2 or hasattr(b, "tocsr"):  # the common case first
        product = d @ b.T
        return in_precision_of(product, a) if product.dtype.kind == "c" else product
    if b.ndim == 1:
        return f.unbroadcast((d[..., None] if np.ndim(d) else d) * b, a)
    return f.unbroadcast(d @ f.mT(b) if a.ndim > 1 else (d[..., None, :] @ f.mT(b))[..., 0, :], a)


def dot_right(d, a, b):
    """The contribution of the adjoint d of a @ b to b: aᵀ d, for any numbers of axes."""
    if np.ndim(d) == a.ndim == 2 or hasattr(a, "tocsr"):
        product = a.T @ d
        return in_precision_of(product, b) if product.dtype.kind == "c" else product
    if a.ndim == 1:
        return f.unbroadcast(a * d if b.ndim == 1 else a[:, None] * d[..., None, :], b)
    if b.ndim == 1:
        return f.unbroadcast(f.mT(a) @ d[..., None], b[:, None])[:, 0]
    return f.unbroadcast(f.mT(a) @ d, b)


def subscripts_of(subscripts):
    return subscripts if isinstance(subscripts, tuple) else (subscripts,)


def einsum_parts(subscripts):
    """The letters of each argument and of the result; without -> the result's follow from the others."""
    inputs, arrow, out = "".join(subscripts_of(subscripts)).replace(" ", "").partition("->")
    letters = inputs.replace(",", "").replace("...", "")
    if not arrow:
        out = "..." * ("..." in inputs) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    for labels in (*inputs.split(","), out):
        if "..." in labels[1:]:
            raise ValueError(f"einsum({subscripts!r}): ... can only stand first in an argument; move the "
                             "axis with transpose")
    return inputs.split(","), out


def of_letters(out, subscripts, *arrays):
    """A product for each combination of letters, and its addition where a letter is summed over."""
    inputs, result = einsum_parts(subscripts)
    sizes = sorted((n, c) for labels, x in zip(inputs, arrays, strict=True)
                   # a size 1 that is stretched is overwritten by the larger one
                   for c, n in zip(labels.replace(".", "")[::-1], np.shape(x)[::-1], strict=False))
    terms = np.size(out) * math.prod(n for c, n in {c: n for n, c in sizes}.items() if c not in result)
    return terms * (len(arrays) - 1 + (terms > np.size(out)))


def einsum_of_products(subscripts, *arrays):
    """Every array spread over all letters, multiplied, and summed over those that the result lacks."""
    inputs, out = einsum_parts(subscripts)
    letters = "".join(dict.fromkeys(out.replace(".", "") + "".join(inputs).replace(".", "")))
    product = None
    for labels, x in zip(inputs, arrays, strict=True):
        labels, dots = labels.replace(".", ""), x.ndim - len(labels.replace(".", ""))
        x, labels = letter_diagonals(x, labels, dots)
        order = [*range(dots), *(dots + labels.index(c) for c in letters if c in labels)]
        x = f.transpose(x, tuple(order))[(Ellipsis, *(slice(None) if c in labels else None for c in letters))]
        product = x if product is None else product * x
    lead = product.ndim - len(letters)
    return f.sum(product, (*range(lead * ("." not in out)),
                           *(lead + k for k, c in enumerate(letters) if c not in out)))


def letter_diagonals(x, letters, lead):
    """The diagonal over each letter that occurs twice, and the letters, each once."""
    while repeated := next((c for c in letters if letters.count(c) > 1), ""):
        i, j = letters.index(repeated), letters.rindex(repeated)
        unrepeated = [k for k in range(len(letters)) if k not in (i, j)]
        x = f.transpose(x, (*range(lead), *(lead + k for k in (*unrepeated, i, j))))
        n = x.shape[-1]
        x = f.reshape(x, (*x.shape[:-2], n * n))[..., ::n + 1]
        letters = "".join(letters[k] for k in unrepeated) + repeated
    return x, letters


def einsum_rule(i):
    """The adjoint of argument i: the same sum, with result and argument exchanged."""
    def rule(d, out, subscripts, *arrays):
        inputs, result = einsum_parts(subscripts)
        labels, factors = inputs.pop(i), [a for j, a in enumerate(arrays) if j != i]
        letters = set("".join(inputs) + result) - {"."}
        shared = "".join(dict.fromkeys(c for c in labels if c in letters))
        lead = "..." if "..." in "".join([*inputs, result]) else ""
        product = f.einsum((",".join([result, *inputs]) + "->" + lead + shared,), d, *factors)
        return f.einsum_back(product, arrays[i], (shared, labels.replace(".", "")))
    return rule


def einsum_back(x, like, letters):
    """x, with axes letters[0], put back into the shape of like, with axes letters[1], in the same order.

    A letter that x lacks is spread; a letter that like has twice is a diagonal; an axis of length 1 that the
    sum stretched is summed over. Leading axes belong to `...`.
    """
    (letters_of_x, labels), full = letters, np.shape(like)
    x = np.asarray(x) if isinstance(x, (int, float)) else x
    if letters_of_x == labels and x.shape == full:
        return in_precision_of(x, like)
    unique, lead = "".join(dict.fromkeys(labels)), len(full) - len(labels)
    x = x[(Ellipsis, *(slice(None) if c in letters_of_x else None for c in unique))]
    sizes = [full[lead + labels.index(c)] for c in unique]
    spread = [1 if n == 1 else m for n, m in zip(sizes, x.shape[x.ndim - len(unique):], strict=True)]
    x = f.unbroadcast(x, np.broadcast_to(np.zeros((), x.dtype), (*full[:lead], *spread)))
    x = f.broadcast(x, (*full[:lead], *sizes))
    x = x[(Ellipsis, *(slice(None) if labels.index(c) == k else None for k, c in enumerate(labels)))]
    for k, c in enumerate(labels):
        if (first := labels.index(c)) != k:
            shape = [full[lead + k] if j in (first, k) else 1 for j in range(len(labels))]
            x = f.where(np.eye(full[lead + k], dtype=bool).reshape(shape), x, 0)
    return in_precision_of(x, like)


def einsum_back_rule(d, out, x, like, letters):
    letters_of_x, labels = letters
    return f.broadcast(f.einsum((f"...{labels}->...{letters_of_x}",), d), x)


def correlate(a, v):
    """Σ_i a_(k+i) v_i of two vectors, for all k at which v fits into a. ValueError if v is longer."""
    if np.size(v) > np.size(a):
        raise ValueError(f"correlate takes the longer vector first, not {len(a)} numbers and {len(v)}")
    return np.correlate(np.atleast_1d(a), np.atleast_1d(v).conj())  # NumPy's has the conjugate of v


def as_vector(x):
    """x as a vector, of one entry if it is a number."""
    return x if x.ndim else f.reshape(x, (1,))


def convolve_of_correlate(a, v):
    v = as_vector(v)
    return f.correlate(f.pad(as_vector(a), v.shape[0] - 1), f.flip(v))


def correlate_of_windows(a, v):
    a, v = as_vector(a), as_vector(v)
    n = v.shape[0]
    return f.take(a, np.add.outer(np.arange(a.shape[0] - n + 1), np.arange(n))) @ v


def shape_of_hollow(a, b):
    """The shape of a @ b, of matrices of one precision; None where none is hollow, each of one number."""
    plain = all(type(x) is np.ndarray and x.ndim > 1 and x.dtype == b.dtype for x in (a, b))
    if not plain or a.shape[-1] != b.shape[-2] or any(a.strides) and any(b.strides):  # for speed alone
        return None
    return *np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]


def dot_of_hollow(a, b):
    return a @ b if (shape := shape_of_hollow(a, b)) is None else np.broadcast_to(np.ones((), a.dtype), shape)


def hollow_adjoint(value, i):
    return lambda d, *ab: (ab[i] if shape_of_hollow(*ab) == np.shape(d) and d.dtype == ab[i].dtype
                           else value(d, *ab))


def dot(a, b):
    """The matrix product a @ b: (n, k) by (k, m), vectors, batches of matrices; a may be SciPy-sparse."""
    return a @ b


def outer(a, b):
    """a bᵀ of two vectors; arrays with more axes are flattened first."""
    return np.outer(a, b)


def einsum(subscripts, *arrays):
    """numpy.einsum; `...` may only lead. In a list subscripts are a tuple of one string."""
    return np.einsum(*subscripts_of(subscripts), *arrays)


def convolve(a, v):
    """Σ a_i v_(k−i) of two vectors, at all k where they overlap."""
    return np.convolve(a, v)


#      op              value        rule per argument
linear("dot",          dot,         lambda d, out, a, b: f.dot_left(d, a, b),
                                    lambda d, out, a, b: f.dot_right(d, a, b),
            flow="summed", flops=of_product, entries=of_matrices, within=True, example=dot_of_hollow)
linear("dot_left",     dot_left,    lambda u, out, d, a, b: f.dot(u, b),
                                    None,
                                    lambda u, out, d, a, b: f.dot_right(d, u, b),
            flow="summed", flops=of_adjoint, elsewhere=dot_left, example=hollow_adjoint(dot_left, 0))
linear("dot_right",    dot_right,   lambda u, out, d, a, b: f.dot(a, u),
                                    lambda u, out, d, a, b: f.dot_left(d, a, u),
                                    None,
            flow="summed", flops=of_adjoint, elsewhere=dot_right, example=hollow_adjoint(dot_right, 1))
linear("outer",        outer,       lambda d, out, a, b: f.reshape(d @ f.reshape(b, (-1,)), a),
                                    lambda d, out, a, b: f.reshape(f.reshape(a, (-1,)) @ d, b),
            flow="summed", flops=1, numpy="outer",
            formula=lambda a, b: f.reshape(a, (-1, 1)) * f.reshape(b, (1, -1)))
linear("einsum",       einsum,      Each(lambda i: einsum_rule(i - 1), None),
            flow="summed", flops=of_letters, view=True, elsewhere=einsum_of_products)
linear("einsum_back",  einsum_back, einsum_back_rule, None, None,
            flops=of_sum, view=True, flow="filled", like=1, entries=multiplied, formula=einsum_back)
linear("convolve",     convolve,    lambda d, out, a, v: f.reshape(f.correlate(d, v), a),
                                    lambda d, out, a, v: f.reshape(f.correlate(d, a), v),
            flow="summed", flops=lambda out, a, v: 2 * np.size(a) * np.size(v),
            elsewhere=convolve_of_correlate, reads="window")
linear("correlate",    correlate,   lambda d, out, a, v: f.reshape(f.convolve(d, v), a),
                                    lambda d, out, a, v: f.reshape(f.correlate(a, d), v),
            flow="summed", flops=lambda out, a, v: 2 * out.size * np.size(v),
            elsewhere=correlate_of_windows, reads="window")
