"""Which entries of a result depend on which of an input, read off a list.

A register has a matrix of truth values: a row for each of its entries, a column for each entry of the input,
in the order of memory. It is the product of those along the lines: of

    h = sin(x)    s = getitem(h, slice(1, None))    y = mul(s, h[:-1])

each entry of h depends on that of x at its place, entry i of s on entry i + 1 of h, and so y on i and i + 1.
What a line does to places is asked of the operator itself, which is applied to numbers of places in place of
values. Where this does not tell, every entry counts as depending on every other, so that a pattern may be too
large, and never too small.
"""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array, kron, vstack

import ops
from ops.facts import facts_of, shaped_by
from ops.loops.values import length

from ..errors import XManError
from ..interpreters import shapes
from ..wengert import Line, Steps, checked_list, inputs_of, known_registers

Pattern = csr_array
Size = tuple[tuple, np.dtype]
MOST = 10 ** 8  # places of a line's own pattern, which take half a gigabyte

# they depend on all entries along the axis that their second argument names, as a sum does
REDUCTIONS = {"max", "min", "prod", "std", "var", "norm", "squaredNorm", "logsumexp", "frobeniusNorm"}
# each entry depends on all entries along the axis; None: along the last
ALONG = {"softmax": -1, "logSoftmax": -1, "centered": None, "prod_of_others": None}
RUNNING = {"cumsum", "cumprod"}  # on the entries before it
ROWWISE = {"crossEntropy", "softmaxCrossEntropy", "hinge"}  # a number for each row
# a matrix, or a number, for each matrix on the last two axes
OF_MATRICES = {"inv", "pinv", "det", "logabsdet", "cholesky", "cofactor", "lower_half", "eigvalsh", "eigenvectors",
               "svdvals", "left_vectors", "right_vectors", "orthonormal", "upper", "expm", "sqrtm", "solve"}


def sparsity(steps: Steps, of: str, wrt: str, likes: Mapping[str, Any], local: bool = False) -> Pattern:
    """Which entries of a register depend on which entries of an input: a SciPy array of truth values in CSR form.

    steps: the list. of, wrt: the register, and the input; the result has a row for each entry of the one, a
    column for each of the other. likes: an example of each input, as for `shapes`. local: whether whole numbers
    and truth values among the inputs, as indices, have the values of likes; else the pattern holds for any.
    It has every entry that is not 0 for some values of the inputs. XManError for a list that is not valid, and
    names that it does not have (Griewank and Walther, Evaluating Derivatives, §7.1).
    """
    steps = checked_list(steps)
    (of,), (wrt,) = known_registers(steps, of, "of", one=True), inputs_of(steps, [wrt])
    sizes = shapes(steps, likes)
    known = {x: likes[x] for x in steps.inputs if local and x in likes and sizes[x][1].kind in "biu"}
    n = entries(sizes[wrt])
    found = patterns(steps, {wrt: eye_array(n, dtype=bool, format="csr")}, sizes, known)
    return found.get(of, nothing(entries(sizes[of]), n))


def entries(size: Size) -> int: return int(np.prod(size[0]))
def nothing(rows: int, columns: int) -> Pattern: return csr_array((rows, columns), dtype=bool)


def patterns(lines: Sequence[Line], starts: Mapping[str, Pattern], sizes: Mapping[str, Size],
             known: Mapping[str, Any]) -> dict[str, Any]:
    """The pattern of each register that depends on the starts; of a bundle a list of them, or None.

    starts: patterns of registers to begin with. sizes: (shape, precision) of each register. known: the values
    of registers of whole numbers that are the same in any case.
    """
    pattern, known, bundles = dict(starts), dict(known), {}
    for dst, op, args in lines:
        if op == "bundle":
            bundles[dst] = [Part(pattern.get(a), sizes[a], known.get(a)) if isinstance(a, str) else
                            Part(None, (np.shape(a), np.asarray(a).dtype), a) for a in args]
        elif op in APPLYING:
            bundles[dst] = APPLYING[op](bundles[args[-1] if op in ("call", "cond") else args[3]], *args)
        elif op == "item":
            part = bundles[args[0]][args[1]]
            if part.pattern is not None:
                pattern[dst] = part.pattern
            elif part.known is not None:
                known[dst] = part.known
        elif any(isinstance(a, str) and a in pattern for a in args):
            rows = [through(op, i, args, sizes, known, sizes[dst]) @ pattern[a] for i, a in enumerate(args)
                    if isinstance(a, str) and a in pattern and depends(op, i)]
            if rows:
                pattern[dst] = functools.reduce(union, rows)
        elif sizes[dst][1].kind in "biu" and all(not isinstance(a, str) or a in known for a in args):
            known[dst] = ops.G[op](*[known[a] if isinstance(a, str) else a for a in args])
    return pattern | bundles


def depends(op: str, i: int) -> bool:
    """Whether an operator has a derivative by its argument i."""
    rules = ops.DG.get(op, ())
    return shaped_by(op) != i and (i >= len(rules) or rules[i] is not None)


# ---- what a line does to places ----------------------------------------------------------------------------

def through(op: str, i: int, args: Sequence[Any], sizes: Mapping[str, Size], known: Mapping[str, Any],
            out: Size) -> Pattern:
    """The entries of argument i on which each entry of the result may depend."""
    shape, result = sizes[args[i]][0], out[0]
    n, m = int(np.prod(result)), int(np.prod(shape))
    numbers = np.arange(1.0, m + 1).reshape(shape)
    if facts_of(op).elementwise or op == "astype":
        return selected(np.broadcast_to(numbers, result) * passed_on(op, i, args, known), m)
    if op == "dot" and (local := by_literal(i, args, shape)) is not None:
        return local
    if op in ("convolve", "correlate") and (op == "convolve" or i == 0):
        refuse_many(op, n * m)
        behind = np.subtract.outer(np.arange(n), np.arange(m)) * (1 if op == "convolve" else -1)
        return csr_array((behind >= 0) & (behind < other_length(i, args, sizes)))
    local = None
    if op in REDUCTIONS:
        local = by_places("sum", 0, [numbers, *args[1:3]])
    elif op in ALONG:
        total = by_places("sum", 0, [numbers, args[1] if len(args) > 1 else ALONG[op]])
        refuse_many(op, int(np.sum(np.diff(total.indptr).astype(float) ** 2)))
        local = total.T @ total
    elif op in ROWWISE and result == (*shape[:-1], 1):
        local = by_places("sum", 0, [numbers, -1, True])
    elif op in RUNNING:
        axis = args[1] if len(args) > 1 else None
        refuse_many(op, m * (m if axis is None else shape[axis]) // 2)
        local = running(shape, axis)
    elif op in OF_MATRICES and len(shape) > 2 and result[:len(shape) - 2] == shape[:-2]:
        matrices = numbers[..., :1, :1]
        local = selected(np.broadcast_to(np.arange(1.0, matrices.size + 1).reshape(matrices.shape[:-2] + (1,) * (
            len(result) - len(shape) + 2)), result), matrices.size) @ by_places("sum", 0, [numbers, (-2, -1)])
    elif facts_of(op).flow in ("moved", "part", "filled", "summed"):
        if not any(isinstance(a, str) and sizes[a][1].kind != "f" and a not in known for a in args):
            local = by_places(op, i, [stand_in(a, sizes, known) for a in args])
    if local is None:
        refuse_many(op, n * m)
        return csr_array(np.ones((n, m), bool))
    return local


def refuse_many(op: str, count: int) -> None:
    if count > MOST:
        raise XManError(f"every entry that {op} gives may depend on every one that it takes: {count:,} places, and a "
                        f"pattern has {MOST:,} at most")


def passed_on(op: str, i: int, args: Sequence[Any], known: Mapping[str, Any]) -> Any:
    """Where an entry of argument i goes on, by what is known of the others: a condition, or factors that are 0."""
    other = args[0] if op == "where" else args[1 - i] if op in ("mul", "divide", "scale") and i < 2 else True
    if isinstance(other, str) and other not in known:
        return True
    other = known[other] if isinstance(other, str) else other
    return np.equal(other, 0) if op == "where" and i == 2 else np.not_equal(other, 0)


def stand_in(a: Any, sizes: Mapping[str, Size], known: Mapping[str, Any]) -> Any:
    """A literal; the value of a register of whole numbers; ones in the place of floats."""
    return a if not isinstance(a, str) else known[a] if a in known else np.ones(sizes[a][0])


def by_places(op: str, i: int, operands: list) -> Pattern | None:
    """The same of an operator that is linear in argument i, with weights that are not negative.

    Either each entry of the result is one of the argument's: the operator, applied to numbers of entries, tells
    which. Or the entries of the result fall into groups that read the same entries, and no two groups read one
    in common, as the columns of a product: then the way back from one entry of each group tells it. None
    otherwise. Both are seen to be so by other, random, numbers.
    """
    shape = np.shape(operands[i])
    m, draw = int(np.prod(shape)), np.random.default_rng(0)
    apply = lambda v: np.ravel(np.asarray(ops.G[op](*operands[:i], np.reshape(v, shape), *operands[i + 1:]), float))
    labels = np.concatenate(([0.0], draw.integers(1, 2 ** 30, m)))
    ones, tagged, numbers = apply(np.ones(m)), apply(labels[1:]), apply(np.arange(1.0, m + 1))
    if np.all((numbers == np.round(numbers)) & (numbers >= 0) & (numbers <= m)):
        if np.array_equal(labels[numbers.astype(int)], tagged):
            return selected(numbers, m)
    _, first, group = np.unique(tagged, return_index=True, return_inverse=True)
    out = np.reshape(ones, np.shape(ops.G[op](*operands[:i], np.ones(shape), *operands[i + 1:])))
    def back(d):
        seeds = np.zeros(out.size)
        seeds[first] = d
        inputs = [*operands[:i], np.ones(shape), *operands[i + 1:]]
        return np.ravel(np.asarray(ops.DG[op][i](np.reshape(seeds, out.shape), out, *inputs), float))
    labels = np.concatenate(([0.0], draw.integers(1, 2 ** 30, len(first))))
    weights, numbers = back(np.ones(len(first))), back(np.arange(1.0, len(first) + 1))
    numbers = np.divide(numbers, weights, out=np.zeros(m), where=weights != 0)
    groups = np.round(numbers).astype(int)
    if not (np.allclose(numbers, groups, rtol=1e-12) and np.all((groups >= 0) & (groups <= len(first)))
            and np.allclose(back(labels[1:]), weights * labels[groups], rtol=1e-9)):
        return None
    return selected(group + 1.0, len(first)) @ selected(groups, len(first)).T.tocsr()


def selected(numbers: Any, m: int) -> Pattern:
    """A row for each number k: its one is in column k − 1, and 0 has none."""
    k = np.asarray(numbers, np.int64).ravel()
    counts = np.concatenate(([0], np.cumsum(k > 0)))
    return csr_array((np.ones(counts[-1], bool), k[k > 0] - 1, counts), shape=(len(k), m))


def by_literal(i: int, args: Sequence[Any], shape: tuple) -> Pattern | None:
    """The same for a product with a matrix in the list, whose zeros are known."""
    matrix = args[1 - i]
    if isinstance(matrix, str) or np.ndim(matrix) != 2 or len(shape) > 2:
        return None
    matrix = csr_array(matrix) != 0
    if i == 1:
        return kron(matrix, eye_array(shape[1] if len(shape) == 2 else 1, dtype=bool)).tocsr().astype(bool)
    return kron(eye_array(shape[0] if len(shape) == 2 else 1, dtype=bool), matrix.T).tocsr().astype(bool)


def running(shape: tuple, axis: int | None) -> Pattern:
    """Each entry on those before it along the axis, and on itself."""
    if axis is None:
        n = int(np.prod(shape))
        return csr_array(np.tri(n, dtype=bool))
    before, along, behind = shape[:axis], shape[axis], shape[axis:][1:]
    outer, inner = (eye_array(int(np.prod(s)), dtype=bool) for s in (before, behind))
    return kron(kron(outer, np.tri(along, dtype=bool)), inner).tocsr().astype(bool)


def other_length(i: int, args: Sequence[Any], sizes: Mapping[str, Size]) -> int:
    other = args[1 - i]
    return int(np.prod(sizes[other][0])) if isinstance(other, str) else np.size(other)


# ---- lines that apply functions ----------------------------------------------------------------------------

class Part(NamedTuple):
    """An array of a bundle. pattern: None if it does not depend on the input. known: its value, if it is a
    whole number, or whole numbers, the same in any case."""
    pattern: Pattern | None
    size: Size
    known: Any = None


def union(a: Pattern | None, b: Pattern | None) -> Pattern | None:
    return b if a is None else a if b is None else (a + b).astype(bool)


def applied(function: tuple, parts: Sequence[Part]) -> list[Part]:
    """The results of a function of these arguments."""
    _, _, parameters, lines, results = function
    arguments = dict(zip(parameters, parts, strict=True))
    sizes = {x: part.size for x, part in arguments.items()}
    sizes |= shapes(lines, {x: size for x, size in sizes.items() if reads(lines, x)})
    starts = {x: part.pattern for x, part in arguments.items() if part.pattern is not None}
    known = {x: part.known for x, part in arguments.items() if part.known is not None and part.size[1].kind in "biu"}
    found = patterns(lines, starts, sizes, known)
    return [Part(found.get(x), sizes[x], known.get(x)) for x in results]


def reads(lines: Sequence[Line], x: str) -> bool: return any(x in args for _, _, args in lines)


def through_call(parts: list[Part], function: tuple, _: str) -> list[Part]: return applied(function, parts)


def through_cond(parts: list[Part], _: Any, yes: tuple, no: tuple, __: str) -> list[Part]:
    return [Part(union(a.pattern, b.pattern), a.size) for a, b in
            zip(applied(yes, parts), applied(no, parts), strict=True)]


def through_scan(parts: list[Part], step: tuple, k: int, slices: int, _: str, reverse: bool = False) -> list[Part]:
    xs, constants = parts[k:k + slices], parts[k + slices:]
    n = max(length(part.known) if part.size[0] == () else part.size[0][0] for part in xs)
    carry, given = parts[:k], []
    for t in range(n)[::-1 if reverse else 1]:
        results = applied(step, [*carry, *[slice_of(part, t) for part in xs], *constants])
        carry = results[:k]
        given.append(results[k:])
    return [*carry, *[stack_of(parts) for parts in zip(*given[::-1 if reverse else 1], strict=True)]]


def slice_of(part: Part, t: int) -> Part:
    """The entry of a slice in step t."""
    (shape, dtype), pattern, known = part.size, part.pattern, part.known
    if shape == ():
        return Part(None, ((), dtype), np.int64(t))
    n = int(np.prod(shape[1:]))
    return Part(None if pattern is None else pattern[t * n:(t + 1) * n], (shape[1:], dtype),
                None if known is None else known[t])


def stack_of(parts: Sequence[Part]) -> Part:
    shape, dtype = parts[0].size
    size = (len(parts), *shape), dtype
    columns = next((part.pattern.shape[1] for part in parts if part.pattern is not None), None)
    if columns is None:
        return Part(None, size)
    rows = int(np.prod(shape))
    return Part(vstack([nothing(rows, columns) if part.pattern is None else part.pattern for part in parts], "csr"), size)


def through_while(parts: list[Part], _: tuple, step: tuple, k: int, __: str, most: Any = None) -> list[Part]:
    """What any number of steps may give: steps are taken until no entry is added."""
    carry, before = parts[:k], None
    while (before != (before := [part.pattern is not None and part.pattern.nnz for part in carry])):
        carry = [Part(union(a.pattern, b.pattern), b.size) for a, b in
                 zip(carry, applied(step, [*carry, *parts[k:]]), strict=True)]
    return [*carry, Part(None, ((), np.dtype(int)))]


APPLYING = {"call": through_call, "cond": through_cond, "scan": through_scan, "while_loop": through_while}
