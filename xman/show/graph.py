"""The computation graph of a list, labelled with partial derivatives, and its path problem (Reps, §3, 4)."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..formulas.expressions import formula, mathematical
from ..formulas.slopes import Rules, slopes_of
from ..interpreters import backprop
from ..matrices.modes import entries_of
from ..notation import shown
from ..wengert import Line, Steps, WengertList, needed, registers

MATRIX_ENTRIES = 1_000_000  # the most of a matrix
EDGES = 40                  # the most that are printed


class Edge(NamedTuple):
    """An edge. value: its label in numbers, a Jacobian matrix if an end is an array; None without values."""
    source: str
    target: str
    slope: ast.expr
    value: Any

    label = property(lambda self: mathematical(self.slope),
                     doc="The partial derivative, in the registers of the list.")
    @property
    def number(self) -> str:
        """The value in brief, if there is one."""
        return "" if self.value is None else compact(self.value)

    def __repr__(self) -> str:
        return f"<{self.source} → {self.target}: {self.label}{self.number and ' = '}{self.number}>"


class Solution(dict):
    """The sum over all paths from one register to each of the others, and how many operations it took."""
    extends = combines = 0

    def __str__(self) -> str:
        sums = [f"{name} = {compact(x)}" for name, x in self.items()]
        text = ", ".join(sums[:EDGES] + ["…"] * (len(sums) > EDGES))
        return f"{text}   ({work_text(self.extends, self.combines)})"


class PathWork(NamedTuple):
    """The work of all derivatives, by a forward pass per wrt or a backward pass per `of` (Reps, Fig. 5)."""
    forward_passes: int
    forward_extends: int
    forward_combines: int
    backward_passes: int
    backward_extends: int
    backward_combines: int

    def __str__(self) -> str:
        return "\n".join(f"{n} {way} pass{'es' * (n != 1)}: {work_text(*counts)}"
                         for way, (n, *counts) in (("forward", self[:3]), ("backward", self[3:])))


def solve(edges: Sequence[Edge], start: str, back: bool, one: Any, extend: Callable[[Edge, Any], Any],
          combine: Callable[[Any, Any], Any] = operator.add) -> Solution:
    """The path problem from start along the edges, which are in topological order, or, if back, against them.

    one: the worth of the empty path. extend(edge, x): the worth of a path of worth x with this edge more.
    combine(x, y): the worth of two sets of paths together.
    """
    worths = Solution({start: one})
    for edge in reversed(edges) if back else edges:
        near, far = (edge.target, edge.source) if back else (edge.source, edge.target)
        if near in worths:
            worth = extend(edge, worths[near])
            worths.extends += 1
            worths.combines += far in worths
            worths[far] = combine(worths[far], worth) if far in worths else worth
    return worths


def between(edges: Sequence[Edge], start: str, back: bool) -> Solution:
    """The derivatives of registers on paths from start, with the operations that this took."""
    return solve(edges, start, back, 0, lambda edge, x: x)


def edges_between(edges: Sequence[Edge], source: str, target: str) -> list[Edge]:
    """The edges on paths from source to target."""
    below, above = between(edges, source, False), between(edges, target, True)
    return [edge for edge in edges if edge.source in below and edge.target in above]


def paths_listed(edges: Sequence[Edge], source: str, target: str) -> Iterator[tuple[Edge, ...]]:
    """The paths from source to target, one by one. edges: those that `edges_between` gives."""
    leaving: dict[str, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge)
    todo: list[tuple[str, tuple[Edge, ...]]] = [(source, ())]
    while todo:
        node, path = todo.pop()
        if node == target:
            yield path
        else:
            todo += [(edge.target, (*path, edge)) for edge in reversed(leaving.get(node, []))]


# ---- edges -------------------------------------------------------------------------------------------------

def edges_of(steps: Steps, of: Collection[str], wrt: Collection[str], values: Mapping | None) -> list[Edge]:
    """The edges of the lines that some `of` depends on, or that depend on some wrt."""
    above, below = {dst for dst, _, _ in needed(steps, of)}, set(wrt)
    edges: list[Edge] = []
    rules: Rules = {}
    for line, alone in lines_folded(steps):
        dst, op, args = line
        if not below.isdisjoint(registers(args)):
            below.add(dst)
        if dst in above or dst in below:
            symbolic = edge_labels(line, values, rules)
            numeric = {} if values is None else jacobians(line, values, alone)
            edges += [Edge(a, dst, symbolic[i], numeric.get(i)) for i, a in enumerate(args)
                      if isinstance(a, str)]
    return edges


def lines_folded(steps: Steps) -> Iterator[tuple[Line, list[Line]]]:
    """Each line with the lines that compute it; a bundle, its reader and an item count as one line.

    So `b = bundle(x, n)`, `r = scan(step, 1, 1, b)`, `y = item(r, 0)` is the one line `y = item(x, n)`, with
    an edge from x and one from n: a bundle is no number, and an edge to it would have no label.
    """
    defined = {line[0]: line for line in steps}
    for line in steps:
        if line[1] == "item" and line[2][0] in defined:
            applied = defined[line[2][0]]
            bundle = defined.get(next((a for a in applied[2][::-1] if isinstance(a, str)), ""), applied)
            if "bundle" in (applied[1], bundle[1]):
                lines = [applied] if applied[1] == "bundle" else [bundle, applied]
                yield (line[0], "item", lines[0][2]), [*lines, line]
                continue
        if line[1] not in ops.loops.ROWS:
            yield line, [line]


def edge_labels(line: Line, values: Mapping[str, Any] | None, rules: Rules) -> dict[int, ast.expr]:
    """For each argument the formula of the partial derivative; for other than entrywise lines d(x @ W)/dW."""
    dst, op, args = line
    places = {i: a for i, a in enumerate(args) if isinstance(a, str)}
    if op == "item":
        return {i: ast.Name(f"d{dst}/d{a}") for i, a in places.items()}
    numbers = values is None or not any(np.shape(values[a]) for a in (dst, *places.values()))
    slopes = slopes_of(op, args, dst, rules) if numbers or ops.facts_of(op).elementwise else None
    return slopes or {i: ast.Name(f"d({mathematical(formula(op, args))})/d{a}") for i, a in places.items()}


def jacobians(line: Line, values: Mapping[str, Any], alone: list[Line]) -> dict[int, Any]:
    """For each argument the matrix of partial derivatives, by backprop of `alone` from each unit vector."""
    dst, op, args = line
    # each place has a register of its own: x + x has two edges, with a derivative each
    holes = {i: f"x{i}" for i, a in enumerate(args) if isinstance(a, str)}
    new = {register: f"y{k}" for k, (register, *_) in enumerate(alone)} | {dst: "out"}
    inside = lambda a: new.setdefault(a, f"other{len(new)}") if isinstance(a, str) else a
    first = (new[alone[0][0]], alone[0][1], tuple(holes.get(i, a) for i, a in enumerate(args)))
    alone = WengertList([first, *((new[a], op, tuple(map(inside, args))) for a, op, args in alone[1:])])
    point = {name: values[a] for a, name in new.items()} | {x: values[args[i]] for i, x in holes.items()}
    rows, columns = entries_of(point["out"]), {i: entries_of(point[x]) for i, x in holes.items()}
    check_readable(rows, max(rows, *columns.values(), 1), shown(line))
    units = np.eye(rows).reshape(rows, *np.shape(point["out"]))
    deltas_of = [backprop(alone, point, ops.DG, out=unit) for unit in units] if holes else []
    result = {}
    for i, x in holes.items():
        matrix = np.array([np.ravel(deltas.get(x, np.zeros(columns[i]))) for deltas in deltas_of])
        number = np.shape(point[x]) == np.shape(point["out"]) == ()
        result[i] = matrix.item() if number else matrix.reshape(rows, columns[i])
    return result


def times(a: Any, b: Any) -> Any:
    """The product of two labels, numbers or matrices."""
    if np.ndim(a) and np.ndim(b):
        check_readable(len(a), b.shape[1], "a product of labels")
        return a @ b
    return a * b


def identity(x: Any) -> Any:
    """∂x/∂x."""
    if np.shape(x) == ():
        return 1.0
    check_readable(entries_of(x), entries_of(x), "the derivative of an array by itself")
    return np.eye(entries_of(x))


def check_readable(rows: int, columns: int, matrix: str) -> None:
    if rows * columns > MATRIX_ENTRIES:
        raise XManError(f"{matrix}: a matrix of {rows:,} × {columns:,} partial derivatives, and {MATRIX_ENTRIES:,} is "
                        "the limit; take smaller arrays, or `backprop`, which needs no matrix")


def compact(x: Any) -> str:
    """A number in six digits, a matrix by its shape."""
    return f"{x:.6g}" if np.ndim(x) == 0 else f"{x.shape[0]}×{x.shape[1]} matrix"


def work_text(extends: int, combines: int) -> str:
    return f"{extends:,} extend{'s' * (extends != 1)}, {combines:,} combine{'s' * (combines != 1)}"
