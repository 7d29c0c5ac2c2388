"""Jacobians of many small functions, one a row, in as many passes as one of them has inputs or outputs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import XManError
from ..matrices.jacobian import passes_counted
from ..matrices.modes import entries_of
from .call import traced_call
from .derivative import Derivative, callable_or_refused, name_of
from .jacobian import blocks_by_columns, blocks_by_rows, inner
from .transforms import is_whole, positions
from .trees import tree_map, unflatten


def row_jacobian(fn: Callable, argnums: int | Sequence[int] = 0, mode: str | None = None) -> Callable:
    """The function that gives ∂output[i]/∂argument[i] for all rows i at once, of shape (n, …output[i],
    …argument[i]).

    fn: a function of n rows whose i-th row depends on the i-th rows of the arguments that argnums names, and
    of no other of their rows; bundle adjustment, pixels, samples. Trees are as in `jacobian`. mode:
    "forward", one pass for each number of a row of the arguments; "reverse", one for each of the output;
    None: whichever is fewer. The values are shared by all.
    Raises XManError as `jacobian` does, where a row is missing, and where rows depend on one another (of a
    `jit` of it at the calls that are traced) (Griewank and Walther, Evaluating Derivatives, §8.1: one seed
    for all that do not overlap).
    """
    callable_or_refused("row_jacobian", fn)
    passes_counted(1, 1, mode)

    def blocks(*args: Any, **options: Any) -> Any:
        where = positions(argnums, args, fn)
        refuse_mixed_rows(fn, tree_map(concrete, args), options, where)
        call = traced_call("row_jacobian", fn, args, options, where)
        sizes = [sum(entries_of(x[0]) for x in part) for part in (call.points, call.results)]
        forward = passes_counted(*sizes, mode).mode == "forward"
        found = (blocks_by_columns if forward else blocks_by_rows)(call, rows=1)
        trees = [inner(call, row) if is_whole(argnums)
                 else tuple(inner(call, row, k) for k in range(len(where)))
                 for row in found]
        return unflatten(call.result, trees)
    return Derivative(row_jacobian, fn, blocks, argnums, mode)


def concrete(x: Any) -> Any:
    """The number behind one that is traced, as often as it may be."""
    while hasattr(x, "tape"):
        x = x.value
    return x


def refuse_mixed_rows(fn: Callable, args: Sequence[Any], options: dict, where: Sequence[int]) -> None:
    """XManError where arguments and results are not rows of one number, or one row depends on another's.

    Where none does, J(s·v) is s·J v for any number s a row.
    """
    call = traced_call("row_jacobian", fn, args, options, where)
    counts = {np.shape(x)[:1] for x in (*call.points, *call.results)}
    if len(counts) != 1 or () in counts:
        raise XManError(f"row_jacobian of {name_of(fn)}: arguments of shapes "
                        f"{[x.shape for x in call.points]} give results of shapes "
                        f"{[x.shape for x in call.results]}; the first axis of each has to be that of the "
                        "rows")
    (rows,), = counts
    draw = np.random.default_rng(0)
    scales, vectors = draw.uniform(0.5, 2, rows), [draw.normal(size=x.shape) for x in call.points]
    scaled = lambda xs: [(x.T * scales).T for x in xs]
    pushed = zip(scaled(call.pushed(vectors)), call.pushed(scaled(vectors)), strict=True)
    for one, other in pushed:
        finite = np.isfinite(one) & np.isfinite(other)
        if not np.allclose(one[finite], other[finite], 1e-3, 1e-6 * np.max(np.abs(one[finite]), initial=0)):
            raise XManError(f"row_jacobian of {name_of(fn)}: a row of the result depends on other rows of "
                            "the arguments; use jacobian, or give what all rows share by an argument that "
                            "argnums does not name")


def sparse_rows(blocks: Sequence[Any], columns: Sequence[Any], size: int) -> Any:
    """The Jacobian that `row_jacobian` gave in blocks, as a scipy.sparse.csr_array of `size` columns.

    blocks: one for each argument, of shape (n, …output[i], …argument[i]).
    columns: for each block the columns of
    the numbers of argument[i], of shape (n, how many they are). The rows are those of the outputs, flattened.
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
