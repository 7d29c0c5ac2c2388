"""Formulas of the operators that rearrange, spread and contract arrays whose shapes are known."""
from __future__ import annotations

import math

import numpy as np

from ops import f
from ops.linear_maps import einsum_parts, in_precision_of


def unbroadcast(x, like, axis=()):
    x, want = f.sum(x, axis) if axis != () else x, np.shape(like)
    extra = np.ndim(x) - len(want)
    if extra < 0:
        return f.broadcast(x, like)
    added = tuple(i for i, n in enumerate(np.shape(x)) if i < extra or want[i - extra] == 1 != n)
    return in_precision_of(f.reshape(f.sum(x, added), want) if added else x, like)


def last_exchanged(x):
    axes = list(range(x.ndim))
    return f.transpose(x, (*axes[:-2], axes[-1], axes[-2]))


def flip(x, axis=None):
    axes = {a % x.ndim for a in (range(x.ndim) if axis is None else np.atleast_1d(axis))}
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(x.ndim))]


def roll(x, places, axis=None):
    if axis is None:
        return f.reshape(roll(f.reshape(x, (-1,)), places, 0), x)
    for k, a in zip(np.atleast_1d(places), np.atleast_1d(axis), strict=True):
        whole = (slice(None),) * (a % x.ndim)
        if x.shape[a] and (k := int(math.fmod(k, x.shape[a]))):
            x = f.concat(int(a), x[(*whole, slice(-k, None))], x[(*whole, slice(None, -k))])
    return x


def pad(x, widths):
    for axis, (before, after) in enumerate(np.broadcast_to(widths, (x.ndim, 2)).tolist()):
        zero, shape = x.constant(np.zeros((), x.dtype)), list(x.shape)
        for n, ends in (before, 1), (after, -1):
            shape[axis] = n
            if n:
                x = f.concat(axis, *[f.broadcast(zero, tuple(shape)), x][::ends])
    return x


def diag(x, k=0):
    if x.ndim == 1:
        rows = f.pad(x, ((max(0, -k), max(0, k)),))
        return f.where(np.eye(rows.shape[0], k=k, dtype=bool), rows[:, None], 0)
    n, m = x.shape
    start, size = (k if k >= 0 else -k * m), max(0, min(n + min(k, 0), m - max(k, 0)))
    return f.reshape(x, (-1,))[start:start + size * (m + 1):m + 1]


def correlate(a, v):
    n = v.shape[0]
    return f.take(a, np.add.outer(np.arange(a.shape[0] - n + 1), np.arange(n))) @ v


# ---- Einstein's sum ----------------------------------------------------------------------------------------

def einsum(subscripts, *arrays):
    """Every array spread over all letters, multiplied, and summed over those that the result lacks."""
    inputs, out = einsum_parts(subscripts)
    letters = "".join(dict.fromkeys(out.replace(".", "") + "".join(inputs).replace(".", "")))
    product = None
    for mine, x in zip(inputs, arrays, strict=True):
        mine, dots = mine.replace(".", ""), x.ndim - len(mine.replace(".", ""))
        x, mine = letter_diagonals(x, mine, dots)
        order = [*range(dots), *(dots + mine.index(c) for c in letters if c in mine)]
        x = f.transpose(x, tuple(order))[(Ellipsis, *(slice(None) if c in mine else None for c in letters))]
        product = x if product is None else product * x
    lead = product.ndim - len(letters)
    return f.sum(product, (*range(lead * ("." not in out)),
                           *(lead + k for k, c in enumerate(letters) if c not in out)))


def letter_diagonals(x, letters, lead):
    """The diagonal over each letter that there is twice, and the letters, each once."""
    while repeated := next((c for c in letters if letters.count(c) > 1), ""):
        i, j = letters.index(repeated), letters.rindex(repeated)
        rest = [k for k in range(len(letters)) if k not in (i, j)]
        x = f.transpose(x, (*range(lead), *(lead + k for k in (*rest, i, j))))
        n = x.shape[-1]
        x = f.reshape(x, (*x.shape[:-2], n * n))[..., ::n + 1]
        letters = "".join(letters[k] for k in rest) + repeated
    return x, letters
