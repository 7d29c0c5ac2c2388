"""What one line of a list does to places: the entries of an argument that each entry of the result reads."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array, kron

import ops
from ops.arrays.indexing import axes_taken, written_out
from ops.facts import facts_of, parameters_of

from ..errors import XManError

Size = tuple[tuple, np.dtype]


class TooManyPlaces(XManError):
    """A pattern is larger than `MOST` allows."""


MOST = ContextVar("how many places a line's pattern has at most", default=10 ** 8)  # half a gigabyte


def entries_read(op: str, i: int, args: Sequence[Any], sizes: Mapping[str, Size],
                 constants: Mapping[str, Any], out: Size) -> np.ndarray | csr_array | None:
    """The entries of argument i on which each entry of the result may depend: numbers, of one each, as of
    `selected`; a matrix, of several; or None, that at its place."""
    shape, result, facts = sizes[args[i]][0], out[0], facts_of(op)
    n, m = math.prod(result), math.prod(shape)
    if facts.elementwise or facts.flow == "same":
        passes = passed_on(op, i, args, constants)
        same = shape == result and np.all(passes)
        return None if same else np.asarray(np.broadcast_to(entry_numbers(shape), result) * passes)
    if (op, i) in LITERAL_FACTOR and (local := by_literal(op, i, args, shape)) is not None:
        return local
    # a convolution: entry k of the result reads the entries k, k − 1, … of a signal, as many as the other has
    if facts.reads == "window" and (n > m or i == 0):
        refuse_many(op, n * m)
        behind = np.subtract.outer(np.arange(n), np.arange(m)) * (1 if n >= m else -1)
        return csr_array((behind >= 0) & (behind < other_length(i, args, sizes)))
    local, axis = None, args[1] if len(args) > 1 else parameters_of(ops.G[op])[1].get("axis")
    if facts.reads == "axis":
        local = entries_summed(shape, axis)
    elif facts.reads == "line":
        total = entries_summed(shape, axis)
        refuse_many(op, int(np.sum(np.diff(total.indptr).astype(float) ** 2)))
        local = total.T @ total
    elif facts.reads == "row" and result == (*shape[:-1], 1):
        local = entries_summed(shape, -1)
    elif facts.reads == "before":
        refuse_many(op, m * (m if axis is None else shape[axis]) // 2)
        local = lower_triangles(shape, axis)
    # a matrix of a stack gives what stands at its place, whatever the operator does inside
    elif facts.reads == "matrix" and len(shape) > 2 and result[:len(shape) - 2] == shape[:-2]:
        axes = (1,) * (len(result) - len(shape) + 2)
        matrix = entry_numbers(shape[:-2] + axes)
        local = selected(np.broadcast_to(matrix, result), matrix.size) @ entries_summed(shape, (-2, -1))
    elif facts.flow in ("moved", "part", "filled", "summed"):
        unknown = {sizes[a][1].kind for a in args if isinstance(a, str) and a not in constants} - {"f"}
        if not unknown:
            operands = [ones_in_place(a, sizes, constants) for a in args]
            local = by_places(op, i, operands)
            if local is None and facts.flow == "summed":  # the factors that are literals may be unequal, or 0
                ones = lambda a: np.ones_like(a) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
                local = by_places(op, i, [*map(ones, operands)])
        elif unknown <= {"i", "u"} and op in ("getitem", "take", "scatterAdd") and i == 0 and n * m:
            local = by_unknown_keys(op, args, shape, result, sizes, constants)
    if local is None:
        refuse_many(op, n * m)
        return csr_array(np.ones((n, m), bool))
    return local


def entry_numbers(shape: tuple, first: float = 1.0) -> np.ndarray:
    """The numbers of the entries, in the order of memory."""
    return np.arange(first, first + math.prod(shape)).reshape(shape)


def entries_summed(shape: tuple, axis: Any) -> csr_array:
    """The entries that each sum along these axes reads."""
    sums = np.zeros(shape).sum(axis, keepdims=True).shape
    return selected(np.broadcast_to(entry_numbers(sums), shape), math.prod(sums)).T.tocsr()


def pattern_behind(op: str, places: np.ndarray | csr_array | None, pattern: csr_array) -> csr_array:
    """The pattern behind a line: which entries those places may depend on."""
    if places is None:
        return pattern
    if isinstance(places, np.ndarray):
        return rows_taken(op, pattern, places)
    refuse_many(op, int(np.diff(pattern.indptr)[places.indices].sum()))
    return (places @ pattern).tocsr()


def rows_taken(op: str, pattern: csr_array, numbers: np.ndarray) -> csr_array:
    """The rows of these numbers, as of `selected`: k is row k − 1, and 0 an empty one."""
    ends, k = pattern.indptr, numbers.ravel().astype(np.intp)
    starts = ends[k - 1]
    counts = np.maximum(ends[k] - starts, 0)  # that of 0 is negative: less the last row's end
    refuse_many(op, int(counts.sum()))
    ends = np.concatenate(([0], np.cumsum(counts)), dtype=ends.dtype)
    places = np.arange(ends[-1]) - np.repeat(ends[:-1] - starts, counts)
    return csr(pattern.indices[places], ends, pattern.shape[1])


def csr(indices: np.ndarray, ends: np.ndarray, columns: int, data: np.ndarray | None = None) -> csr_array:
    """The matrix of these arrays, as they are: SciPy's own checks may take longer than what is in it.
    data: of a pattern, ones."""
    matrix = csr_array.__new__(csr_array)
    data = np.ones(len(indices), bool) if data is None else data
    vars(matrix).update(settings_of(len(ends) - 1, columns), data=data, indices=indices, indptr=ends)
    return matrix


@lru_cache
def settings_of(*shape: int) -> dict[str, Any]:
    """What SciPy keeps of a matrix of this shape besides its arrays."""
    return {name: x for name, x in vars(csr_array(shape)).items() if not isinstance(x, np.ndarray)}


def refuse_many(op: str, count: int) -> None:
    if count > MOST.get():
        raise TooManyPlaces(f"every entry that {op} gives may depend on every one that it takes: {count:,} places, and a "
                        f"pattern has {MOST.get():,} at most")


def passed_on(op: str, i: int, args: Sequence[Any], constants: Mapping[str, Any]) -> Any:
    """Where an entry of argument i goes on, by what is known of the others: a condition, or factors that
    are 0."""
    factor = args[0] if op == "where" else args[1 - i] if op in ("mul", "divide", "scale") and i < 2 else True
    if isinstance(factor, str) and factor not in constants:
        return True
    factor = constants[factor] if isinstance(factor, str) else factor
    return np.equal(factor, 0) if op == "where" and i == 2 else np.not_equal(factor, 0)


def ones_in_place(a: Any, sizes: Mapping[str, Size], constants: Mapping[str, Any]) -> Any:
    """A literal; the value of a register of whole numbers; ones in the place of floats."""
    return a if not isinstance(a, str) else constants[a] if a in constants else np.ones(sizes[a][0])


def by_places(op: str, i: int, operands: list) -> np.ndarray | csr_array | None:
    """The same of an operator that is linear in argument i, with weights that are not negative.

    Either each entry of the result is one of the argument's: the operator, applied to numbers of entries,
    tells which. Or the entries of the result fall into groups that read the same entries, and no two groups
    read one in common, as the columns of a product: then the way back from one entry of each group tells it.
    None otherwise. Both are seen to be so by other, random, numbers.
    """
    shape = np.shape(operands[i])
    m = math.prod(shape)
    value = lambda v: np.asarray(ops.G[op](*operands[:i], np.reshape(v, shape), *operands[i + 1:]), float)
    apply = lambda v: np.ravel(value(v))
    # getitem(x, 1:) of the numbers 2, 3, 4 is 3, 4: its entries are those of these numbers; of labels 7, 5, 9
    # it has to be 5, 9 then. 0 and 1 are no entries of x, but what is filled in, and the others' ones
    labels = np.concatenate(([0.0, 1.0], random_labels(m)))
    tagged, places = apply(labels[2:]), apply(entry_numbers(shape, 2.0))
    if np.all((places == np.round(places)) & (places >= 0) & (places < m + 2)):
        if np.array_equal(labels[places.astype(int)], tagged):
            return np.maximum(places - 1, 0)
    # of 50,000 labels two are often equal, and hardly ever two pairs of them
    pairs = tagged + 1j * apply(random_labels(2 * m)[m:])
    _, first, group = np.unique(pairs, return_index=True, return_inverse=True)
    out = value(np.ones(m))
    def back(d):
        seeds = np.zeros(out.size)
        seeds[first] = d
        inputs = [*operands[:i], np.ones(shape), *operands[i + 1:]]
        return np.ravel(np.asarray(ops.DG[op][i](np.reshape(seeds, out.shape), out, *inputs), float))
    labels = np.concatenate(([0.0], random_labels(len(first))))
    weights, weighted = back(np.ones(len(first))), back(np.arange(1.0, len(first) + 1))
    quotients = np.divide(weighted, weights, out=np.zeros(m), where=weights != 0)
    groups = np.round(quotients).astype(int)
    if not (np.allclose(quotients, groups, rtol=1e-12) and np.all((groups >= 0) & (groups <= len(first)))
            and np.allclose(back(labels[1:]), weights * labels[groups], rtol=1e-9)):
        return None
    sizes = np.bincount(groups, minlength=len(first) + 1)[1:].astype(float)  # of what each group reads
    refuse_many(op, int(sizes @ np.bincount(group, minlength=len(first))))
    return selected(group + 1.0, len(first)) @ selected(groups, len(first)).T.tocsr()


def random_labels(m: int) -> np.ndarray:
    """Whole numbers of 2 and above for m entries, the same at every call."""
    return labels_kept(1 << (m - 1).bit_length())[:m]


@lru_cache(4)
def labels_kept(m: int) -> np.ndarray: return np.random.default_rng(0).integers(2, 2 ** 30, m).astype(float)


def selected(numbers: Any, m: int) -> csr_array:
    """A row for each number k: its one is in column k − 1, and 0 has none."""
    index = np.int32 if max(np.size(numbers), m) < 2 ** 31 else np.int64  # as SciPy chooses
    k = np.asarray(numbers, index).ravel()
    return csr(k[k > 0] - 1, np.concatenate(([0], np.cumsum(k > 0)), dtype=index), m)


def by_unknown_keys(op: str, args: Sequence[Any], shape: tuple, result: tuple, sizes: Mapping[str, Size],
                    constants: Mapping[str, Any]) -> csr_array | None:
    """The same of x[keys] and its adjoint, where a key is a register of unknown whole numbers: all along its
    axis, as of x[k, 1:] every row."""
    keys = [constants.get(a, a) if isinstance(a, str) else a for a in args[facts_of(op).keys:]]
    if op == "take":
        shape = shape if keys[1:] and keys[1] is not None else (int(np.prod(shape)),)
        keys = [*[slice(None)] * (keys[1] % len(shape) if len(shape) > 1 else 0), keys[0]]
    of_x = result if op == "scatterAdd" else shape
    places = first = entry_numbers(of_x)
    axis = 0
    for key in written_out(keys, len(of_x)):
        if isinstance(key, str):  # the first entry stands for all along the axis
            first = np.broadcast_to(np.take(first, [0], axis), of_x)
        axis += axes_taken(key)
    read = places[tuple(np.zeros(sizes[key][0], int) if isinstance(key, str) else key for key in keys)]
    refuse_many(op, read.size * places.size // len(np.unique(first)))
    local = selected(read, places.size) @ selected(first, places.size).T.tocsr()
    if op == "scatterAdd":  # from d, of one number perhaps, to the places
        return local.T.tocsr() if read.shape == shape else None
    return local


# by operator and factor: of which factor the product is a matrix, and whether that is transposed
LITERAL_FACTOR = {("dot", 0): (1, False), ("dot", 1): (0, False),
                  ("dot_left", 0): (2, True), ("dot_right", 0): (1, True)}


def by_literal(op: str, i: int, args: Sequence[Any], shape: tuple) -> csr_array | None:
    """The same for a product with a matrix in the list, whose zeros are known."""
    place, transposed = LITERAL_FACTOR[op, i]
    matrix = args[place]
    if isinstance(matrix, str) or np.ndim(matrix) != 2 or len(shape) > 2:
        return None
    matrix = csr_array(matrix.T if transposed else matrix) != 0
    if op == "dot_right" or i == 1:
        return kron(matrix, eye_array(shape[1] if len(shape) == 2 else 1, dtype=bool)).tocsr().astype(bool)
    return kron(eye_array(shape[0] if len(shape) == 2 else 1, dtype=bool), matrix.T).tocsr().astype(bool)


def lower_triangles(shape: tuple, axis: int | None) -> csr_array:
    """Each entry on those before it along the axis, and on itself."""
    if axis is None:
        n = int(np.prod(shape))
        return csr_array(np.tri(n, dtype=bool))
    before, along, behind = shape[:axis], shape[axis], shape[axis:][1:]
    outer, inner = (eye_array(int(np.prod(s)), dtype=bool) for s in (before, behind))
    return kron(kron(outer, np.tri(along, dtype=bool)), inner).tocsr().astype(bool)


def other_length(i: int, args: Sequence[Any], sizes: Mapping[str, Size]) -> int:
    factor = args[1 - i]
    return int(np.prod(sizes[factor][0])) if isinstance(factor, str) else np.size(factor)
