"""Matrices of derivatives: column by column in forward mode, or row by row in reverse mode."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ops.facts import is_complex
from ops.loops import ROWS

from ..errors import XManError, with_habits
from ..matrices.jacobian import Count, passes_counted, stacked
from ..traced.arraylike import ArrayLike
from ..traced.directions import Directions
from .call import Argnums, Derivative, TracedCall, callable_or_refused, is_whole, traced_call
from .transforms import positions, refuse_real
from .trees import flattened_tree, number_of, unflatten

AT_ONCE = 64  # so many directions at once, which bounds the memory


@with_habits
def jacobian(fn: Callable, argnums: Argnums = 0, mode: str | None = None,
             has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """The function that gives ∂output/∂argument, of shape output.shape + argument.shape, by one call of fn.

    fn: a function of arrays, or of trees of them: each leaf of its output then holds a tree like the argument
        (a tuple of them if argnums is a tuple), as in JAX.
    argnums: as in `grad`.
    mode: "forward", one pass for each input; "reverse", one for each output; None: the one of fewer passes,
        forward if they are equal.
    has_aux: fn returns (output, auxiliary), and the result is (Jacobian, auxiliary).
    holomorphic: as in `grad`, for complex outputs of complex arguments. Without it only one of them may be
        complex; the mode is reverse for a complex argument, forward for complex outputs.

    `jacobian(fn).count(*args)` gives the number of passes. XManError as `grad`, but outputs may have any
    shape (Bishop, Deep Learning, §8.1.5; Reps, Automatic Differentiation and Backpropagation, §5).
    """
    callable_or_refused("jacobian", fn, argnums)
    passes_counted(1, 1, mode)

    def call_of(args, options):
        return traced_call("jacobian", fn, args, options, positions(argnums, args, fn), has_aux)

    def matrices(*args, **options):
        call = call_of(args, options)
        forward = count_of(call, mode, holomorphic).mode == "forward"
        # within another derivative each operator costs much more than its numbers do
        traced = forward and any(isinstance(x, ArrayLike) for x in call.points)
        loops = any(op in ROWS for _, op, _ in call.lines)  # a body takes one direction
        blocks = blocks_at_once(call) if traced and not loops else blocks_one_by_one(call, forward)
        trees = [tuple(inner(call, row, k) for k in range(len(call.arguments))) for row in blocks]
        result = unflatten(call.result, [tree[0] for tree in trees] if is_whole(argnums) else trees)
        return (result, call.aux) if has_aux else result

    def count(*args: Any, **options: Any) -> Count:
        """The inputs and the outputs, the mode and its passes."""
        return count_of(call_of(args, options), mode, holomorphic)

    result = Derivative(jacobian, fn, matrices, argnums, mode, has_aux, holomorphic)
    result.count = count
    return result


def inner(call: TracedCall, row: list, k: int) -> Any:
    """The blocks of one output as a tree like the k-th argument."""
    sizes = [len(flattened_tree(structure)[0]) for structure in call.arguments]
    return unflatten(call.arguments[k], row[sum(sizes[:k]):])


def count_of(call: TracedCall, mode: str | None, holomorphic: bool) -> Count:
    real = [not any(map(is_complex, leaves)) for leaves in (call.points, call.results)]
    if holomorphic:
        refuse_real(call)
    elif real == [False, False]:
        raise XManError("complex outputs of complex arguments have a matrix of derivatives only where the function "
                        "has complex derivatives: say holomorphic=True, or differentiate real and imaginary parts")
    elif not all(real):
        if mode not in (None, which := "forward" if real[0] else "reverse"):
            raise XManError(f"mode {mode!r} moves numbers along the real axis alone, and these are complex; leave "
                            f"it out, or say {which!r}")
        mode = which
    return passes_counted(sum(x.size for x in call.points), sum(x.size for x in call.results), mode)


def passes(points: Sequence[Any], walk: Callable) -> list[list]:
    """For each entry of each point, walk's result for zeros like the points with a 1 at this entry."""
    derivatives: list[list] = [[] for _ in points]
    for k, x in enumerate(points):
        for place in np.ndindex(x.shape):
            seeds = [np.zeros(p.shape, p.dtype if p.dtype.kind in "fc" else float) for p in points]
            seeds[k][place] = 1.0
            derivatives[k].append(walk(seeds))
    return derivatives


def blocks_one_by_one(call: TracedCall, forward: bool) -> list[list]:
    """The blocks [output][input], by a pass forward for each input's entry, or back for each output's."""
    derivatives = passes(*(call.points, call.pushed) if forward else (call.results, call.pulled))

    def block(j: int, y: Any, i: int, x: Any) -> Any:
        if not (forward or y.shape):  # a gradient, which is its only row
            return derivatives[j][0][i]
        columns = [column[j] for column in derivatives[i]] if forward else [row[i] for row in derivatives[j]]
        return stacked(columns, -1 if forward else 0, (*y.shape, *x.shape), x)
    return [[block(j, y, i, x) for i, x in enumerate(call.points)] for j, y in enumerate(call.results)]


def blocks_at_once(call: TracedCall) -> list[list]:
    """The blocks [output][input], by passes forward for AT_ONCE entries of the inputs together."""
    # The inputs' entries, one after another, are the columns of the matrix. Each pass takes AT_ONCE of these
    # columns: a row of the unit matrix, cut at the ends of the inputs, has the 1 of one column.
    ends = np.cumsum([x.size for x in call.points])
    passes = []
    for start in range(0, ends[-1], AT_ONCE):
        rows = np.eye(ends[-1])[start:start + AT_ONCE]
        directions = zip(np.split(rows, ends[:-1], axis=1), call.points, strict=True)
        seeds = [Directions(direction.reshape(-1, *x.shape).astype(x.dtype)) for direction, x in directions]
        passes.append([t.value if isinstance(t, Directions) else np.broadcast_to(t, (len(rows), *t.shape))
                       for t in call.pushed(seeds)])  # zeros are the tangents of what does not move
    blocks = []
    for directions, y in zip(zip(*passes, strict=True), call.results, strict=True):
        stack = np.concatenate(directions) if len(directions) > 1 else directions[0]
        blocks.append([number_of(np.moveaxis(stack[end - x.size:end], 0, -1).reshape((*y.shape, *x.shape)))
                       for end, x in zip(ends, call.points, strict=True)])
    return blocks


@with_habits
def hessian(fn: Callable, argnums: Argnums = 0) -> Callable:
    """The function that gives ∂²fn/∂argument², (*argument.shape, *argument.shape), forward over reverse.

    fn, argnums: as for `jacobian`; for an array the result's shape begins with that of the array, so that
    `hessian(hessian(fn))` has the fourth derivatives. For trees, and if argnums is a tuple, the result is a
    tree of trees of blocks, as in JAX. Raises as `jacobian`.
    """
    callable_or_refused("hessian", fn, argnums)
    return Derivative(hessian, fn, jacobian(jacobian(fn, argnums, "reverse"), argnums, "forward"), argnums)


def sparse_rows(blocks: Sequence[Any], columns: Sequence[Any], size: int) -> Any:
    """The Jacobian of many small functions, as a scipy.sparse.csr_array of `size` columns.

    blocks: for each argument i the n Jacobians, stacked as `map` of `jacobian` gives them, (n, …output,
    …argument i). columns: for each block the numbers of the columns for the entries of argument i, (n,
    entries). size: the number of columns. The rows are the outputs, flattened. XManError if they do not fit.
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
    n, width = len(columns[0]), sum(places.shape[1] for places in columns)
    outputs = np.size(blocks[0]) // max(columns[0].size, 1)
    kind = np.int32 if max(n * outputs * width, size) < 2 ** 31 else np.int64
    data = np.concatenate([np.reshape(block, (n, outputs, -1)) for block in blocks], -1)
    indices = np.broadcast_to(np.concatenate(columns, 1, dtype=kind)[:, None], data.shape)
    starts = width * np.arange(n * outputs + 1, dtype=kind)
    return csr_array((data.ravel(), indices.ravel(), starts), (n * outputs, size))
