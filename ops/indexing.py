"""r[...] and its adjoint: the scatter-add. A key is a literal (int, slice, None, ..., array) or itself a register."""
from __future__ import annotations

import numpy as np

from .expression import f
from .linear_maps import cast
from .table import Each, linear


def getitem(x, *keys):
    """x[keys]: slices, integers, integer arrays and boolean masks, as NumPy does."""
    return x[keys]


def scatterAdd(d, like, *keys):
    """Zeros in the shape and precision of like, with d added at [keys]; what is named twice receives twice."""
    result = np.zeros(np.shape(like), np.asarray(d).dtype)
    if all(isinstance(key, (int, slice, type(None), type(Ellipsis))) for key in keys):
        result[keys] = d  # names no place twice
    else:
        np.add.at(result, keys, d)
    return cast(result, like)


def take(x, indices, axis=None):
    """x at indices along axis; of the flattened x for None."""
    return np.take(x, indices, axis)


def through_take(d, out, x, indices, axis=None):
    if axis is None:
        return f.reshape(f.scatterAdd(d, f.reshape(x, (-1,)), indices), x)
    before = (slice(None),) * axis if axis >= 0 else (Ellipsis,)
    return f.scatterAdd(d, x, *before, indices, *(slice(None),) * (-1 - axis))


linear("getitem",    getitem,    Each(lambda i: None, lambda d, out, x, *keys: f.scatterAdd(d, x, *keys)))
linear("scatterAdd", scatterAdd, Each(lambda i: None, lambda u, out, d, like, *keys: f.getitem(u, *keys), None))
linear("take",       take,       through_take, None, None)
