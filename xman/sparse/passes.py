"""The passes that find the entries of a sparse matrix, and the list that makes them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

import ops
from ops import f
from ops.writer import Symbol, fresh

from ..errors import XManError
from ..interpreters import backprop, eval, forward, shapes
from ..passes import gradient, simplify, tangent
from ..passes.differentiate import ending
from ..passes.writer import ListWriter
from ..wengert import Line, WengertList, all_registers
from .colours import COLOURINGS, fewest_colours, rows_and_columns, unique_in_line
from .patterns import entries, nothing, patterns
from .places import MOST, Size, TooManyPlaces, csr

MANY = 8  # passes, from which on colours of rows and columns together are looked for


class Passes(NamedTuple):
    """What is multiplied by a sparse matrix J so that the products have all its entries.

    columns, rows: for each colour of columns, and of rows, ones at its places: the products J v, then u J.
    places: of each entry of J, in the order of CSR, among all these products, one behind the other.
    """
    columns: list[np.ndarray]
    rows: list[np.ndarray]
    places: np.ndarray


def passes_of(pattern: csr_array, by: str | None) -> Passes:
    """The passes for a pattern. by: "columns", "rows", "both", "star", as for `colour`; None: the fewest."""
    return passes_by_bytes(pattern.shape, pattern.indptr.tobytes(), pattern.indices.tobytes(), by)


@lru_cache(8)
def passes_by_bytes(shape: tuple[int, int], indptr: bytes, indices: bytes, by: str | None) -> Passes:
    index = np.int32 if len(indptr) == 4 * (shape[0] + 1) else np.int64
    ends, indices = np.frombuffer(indptr, index), np.frombuffer(indices, index)
    pattern = csr(indices, ends, shape[1])
    row, column = rows_and_columns(pattern)
    if by is None:
        rows, columns = fewest_colours(pattern)
        if (count := (columns if rows is None else rows).max(initial=-1) + 1) > MANY:
            two_sided = COLOURINGS["both"](pattern, "largest")
            if sum(c.max(initial=-1) + 1 for c in two_sided) <= count / 2:
                rows, columns = two_sided
    else:
        colours = COLOURINGS[by](pattern, "largest")
        rows, columns = {"rows": (colours, None), "columns": (None, colours), "both": colours,
                         "star": (colours, colours)}[by]
    rows, columns = (np.full(n, -1) if c is None else c for n, c in zip(shape, (rows, columns), strict=True))
    by_column = columns[column] >= 0
    by_column[by_column] = unique_in_line(row[by_column], columns[column[by_column]])
    # the mirror image of an entry is off the same products
    count = 0 if by == "star" else columns.max(initial=-1) + 1
    seeds = lambda colours: [(colours == c).astype(float) for c in range(colours.max(initial=-1) + 1)]
    by_columns, by_rows = seeds(columns), [] if by == "star" else seeds(rows)
    return Passes(by_columns or ([] if by_rows else [np.zeros(shape[1])]), by_rows,  # one pass at least
                  np.where(by_column, columns[column] * shape[0] + row,
                           count * shape[0] + rows[row] * shape[1] + column))


class Compressed(NamedTuple):
    """A sparse derivative as a list, for inputs of the shapes for which it was made.

    steps: the list. entries: its register with the entries of the matrix. pattern: where they stand, in CSR
    form: a row for each entry of the registers that are differentiated, a column for each of the inputs, and
    ones. passes: how many tangents and adjoints the list computes. masked: a function of values that gives
    the entries by the interpreters, which know that a zero that meets an infinite slope stays zero.
    """
    steps: WengertList
    entries: str
    pattern: csr_array
    passes: int
    masked: Callable[[Mapping[str, Any]], np.ndarray]

    def __call__(self, values: Mapping[str, Any]) -> csr_array:
        """The matrix at values."""
        return self.matrix(eval(self.steps, values)[self.entries], values)

    def matrix(self, entries: np.ndarray, values: Mapping[str, Any]) -> csr_array:
        """The matrix with the entries that the list, compiled perhaps, has computed at values."""
        entries = self.masked(values) if np.isnan(entries).any() else entries
        return csr_array((entries, self.pattern.indices, self.pattern.indptr), self.pattern.shape)


def compressed(steps: WengertList, of: Sequence[str], wrt: Sequence[str], likes: Mapping[str, Any],
               by: str | None = None) -> Compressed:
    """The list that computes ∂of/∂wrt by as few tangents and adjoints as its pattern has colours.

        >>> steps = WengertList([("a", "getitem", ("u", slice(1, None))), ("y", "square", ("a",))])
        >>> compressed(steps, ["y"], ["u"], {"u": np.ones(4)}).passes
        1

    of: registers, whose entries are the rows; one, where there are adjoints. wrt: inputs, whose entries are
    the columns. likes: an example of each input; those of whole numbers keep their values. by: as for
    `passes_of`; "star" is for second derivatives, of which the pattern is that of a symmetric matrix.
    """
    sizes = shapes(steps, likes)
    if strange := [y for y in of if np.dtype(sizes[y][1]).kind == "c"]:
        raise XManError(f"{strange[0]!r} is complex, and sparse derivatives are of real numbers; differentiate "
                        "its real and imaginary parts")
    pattern = pattern_between(steps, of, wrt, sizes, likes)
    if by == "star":
        pattern = (pattern + pattern.T).astype(bool).tocsr()
    pattern.sort_indices()
    passes = passes_of(pattern, by)
    starts = np.cumsum([entries(sizes[x]) for x in wrt])[:-1]

    def entries_by(push: Callable[[dict], dict], pull: Callable[[Any], dict], registers: Mapping) -> Any:
        products = []
        for ones in passes.columns:
            pieces = zip(wrt, np.split(ones, starts), strict=True)
            images = push({x: piece.reshape(sizes[x][0]) for x, piece in pieces})
            products += [(y, images.get(y, 0.0)) for y in of]
        for ones in passes.rows:
            images = pull(ones.reshape(sizes[of[0]][0]))
            products += [(x, images.get(x, 0.0)) for x in wrt]
        flat = [f.reshape(f.broadcast(image, registers[x]), (entries(sizes[x]),)) for x, image in products]
        return f.getitem(f.concat(0, *flat), passes.places)

    def masked(values: Mapping[str, Any]) -> np.ndarray:
        registers = eval(steps, values)
        return entries_by(lambda v: forward(steps, registers, v),
                          lambda u: backprop(steps, registers, wrt=wrt, **{of[0]: u}), registers)

    writer, names = ListWriter(), {*all_registers(steps)}
    symbols, dot, bar = writer.symbols(steps), ending(steps), of[0] + ending(steps, "_bar")
    forth = tangent(steps, wrt) if passes.columns else []
    back = gradient(steps, of[0], wrt, seed=bar) if passes.rows else []

    def written(derivative: Sequence[Line], seeds: dict[str, np.ndarray]) -> dict[str, Any]:
        """The registers, as the lines of a derivative that are new are written once more, for these seeds.
        What follows from the seeds alone is a literal."""
        registers = symbols | seeds
        for dst, op, args in derivative:
            if dst not in symbols:
                like = ops.facts_of(op).like  # the argument that gives its shape alone
                operands = [registers[a] if isinstance(a, str) else a for a in args]
                known = [np.zeros(*sizes[a]) if k == like and type(a) is str and a in sizes else x
                         for k, (a, x) in enumerate(zip(args, operands, strict=True))]
                folds = not any(isinstance(a, Symbol) for a in known)
                registers[dst] = getattr(f, op)(*(known if folds else operands))
        return registers

    def push(v: dict) -> dict:
        registers = written(forth, {x + dot: seed for x, seed in v.items()})
        return {y: registers[y + dot] for y in of if y + dot in registers}

    def pull(u: Any) -> dict:
        registers = written(back, {bar: u})
        return {x: registers[f"d{of[0]}_d{x}"] for x in wrt}
    data = entries_by(push, pull, symbols)
    data.name = fresh(f"d{'_d'.join(of)}_d{'_d'.join(wrt)}", names)
    lines = simplify(WengertList([*steps, *writer.named(names)]), [data.name, *of], likes)
    return Compressed(lines, data.name, pattern, len(passes.columns) + len(passes.rows), masked)


def where_it_pays(make: Callable[[], Compressed], dense: int) -> Compressed | None:
    """What make() gives, if it takes at most a fifth of the passes of the dense matrix, else None.

    dense: the passes of the dense matrix. A pattern that would itself take long is none that pays.
    """
    if dense < 20:
        return None
    token = MOST.set(max(10 ** 6, 100 * dense))
    try:
        sparse = make()
    except TooManyPlaces:
        return None
    finally:
        MOST.reset(token)
    return sparse if 5 * sparse.passes <= dense else None


def pattern_between(steps: WengertList, of: Sequence[str], wrt: Sequence[str], sizes: Mapping[str, Size],
                    likes: Mapping[str, Any]) -> csr_array:
    """The pattern of registers, one below the other, by inputs, side by side."""
    constants = {x: likes[x] for x in steps.inputs if sizes[x][1].kind in "biu"}
    begins = np.cumsum([0, *[entries(sizes[x]) for x in wrt]]).tolist()
    starts = {x: eye_array(entries(sizes[x]), begins[-1], k=k, dtype=bool, format="csr")
              for x, k in zip(wrt, begins[:-1], strict=True)}
    by_register = patterns(steps, of, starts, sizes, constants)
    blocks = [by_register.get(y, nothing(entries(sizes[y]), begins[-1])) for y in of]
    return vstack(blocks, "csr").astype(bool)
