"""Jacobians of many small functions, put where they belong in the Jacobian of the whole."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import XManError


def sparse_rows(blocks: Sequence[Any], columns: Sequence[Any], size: int) -> Any:
    """The Jacobian of many small functions, as a scipy.sparse.csr_array of `size` columns.

    blocks: the Jacobians by each argument, stacked, as `map` of `jacobian` gives them: of shape
    (n, …output[i], …argument[i]). columns: for each block the columns of the numbers of argument[i],
    of shape (n, how many they are). The rows are those of the outputs, flattened.
    Raises XManError where they do not fit.
    """
    from scipy.sparse import csr_array

    columns = [np.asarray(places) for places in columns]
    if len(blocks) != len(columns) or any(x.ndim != 2 or x.dtype.kind not in "iu" for x in columns):
        raise XManError(f"sparse_rows has {len(blocks)} blocks for {len(columns)} arrays of columns; each "
                        "block has one, of whole numbers and of shape (rows, numbers of a row)")
    sizes = {(len(x), np.size(block) / max(x.size, 1)) for block, x in zip(blocks, columns, strict=True)}
    if len(sizes) != 1:
        raise XManError(f"blocks of shapes {[np.shape(block) for block in blocks]} do not fit columns of "
                        f"shapes {[x.shape for x in columns]}: each block has one number an output and a "
                        "column")
    ends = [end for x in columns if x.size for end in (x.min(), x.max())]
    if ends and not 0 <= min(ends) <= max(ends) < size:
        raise XManError(f"columns lie from {min(ends)} to {max(ends)}, and the matrix has {size}, from 0")
    n, widths = len(columns[0]), [places.shape[1] for places in columns]
    outputs, width = np.size(blocks[0]) // max(n * widths[0], 1), sum(widths)
    kind = np.int32 if max(n * outputs * width, size) < 2 ** 31 else np.int64
    data = np.empty((n, outputs, width), np.result_type(*blocks))
    indices = np.empty(data.shape, kind)
    for block, places, end in zip(blocks, columns, np.cumsum(widths), strict=True):
        part = slice(end - places.shape[1], end)
        data[..., part], indices[..., part] = np.reshape(block, (n, outputs, -1)), places[:, None]
    starts = width * np.arange(n * outputs + 1, dtype=kind)
    return csr_array((data.ravel(), indices.ravel(), starts), (n * outputs, size))
