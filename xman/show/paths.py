"""The derivative as a path problem on the computation graph (Reps,
Automatic Differentiation and Backpropagation, §3 to 5).

The graph has an edge from each argument of a line to its result, labelled with the partial derivative. A path
is worth the product of its labels (extend is ×), a derivative is the sum over all paths (combine is +),
and one traversal finds it.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..formulas.polynomial import constant_term, formula_text, polynomial, polynomials
from ..formulas.slopes import names_in
from ..interpreters import eval
from ..notation import table_as_text
from ..wengert import Steps, WengertList, checked_list, known_registers
from . import graph
from .graph import EDGES, Edge, PathWork, Solution, between, edges_between, edges_of, paths_listed, solve

PATHS_SHOWN = 10  # so many paths, or fewer, are printed one by one


def paths(steps: Steps, of: str | Collection[str], wrt: str | Collection[str],
          values: Mapping[str, Any] | None = None) -> Paths:
    """The computation graph of steps, and on it the derivatives of each `of` with respect to each wrt.

        >>> print(paths([("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))], "f", "x", {"x": 5.0}))
        x → z1   x    5
        x → z1   x    5
        z1 → f   x    5
        x → f    z1   25
        forward from x: x = 1, z1 = 10, f = 75   (4 extends, 2 combines)
        backward from f: f = 1, x = 75, z1 = 5   (4 extends, 2 combines)
        path x → z1 → f   x·x = 25
        path x → z1 → f   x·x = 25
        path x → f        z1 = 25

    steps: the list. of, wrt: a register's name, or several. values: of the inputs, so that labels are
    numbers; for arrays a label is the matrix of partial derivatives of their elements, in C order. Without
    values all registers are taken for numbers, and labels are formulas alone. Raises XManError for a name
    that the list does not have, for an input without a value, and for matrices of more than a million
    entries.
    """
    steps = checked_list(steps, ops.G)
    of, wrt = tuple(known_registers(steps, of, "of")), tuple(known_registers(steps, wrt, "wrt"))
    if not (of and wrt):
        raise XManError(f"{'wrt' if of else 'of'} is empty; name a register of the list")
    if not isinstance(values, Mapping | None):
        raise XManError(f"values is a {type(values).__name__}; wanted the value of each input by its name, "
                        f"as in {{'x': 3.0}}")
    values = None if values is None else eval(steps, values)
    return Paths(steps, edges_of(steps, of, wrt, values), of, wrt, values)


class Path(NamedTuple):
    """A path from wrt to of. text: the product of its labels. value: the same in numbers, or None."""
    edges: tuple[Edge, ...]
    text: str
    value: Any

    @property
    def nodes(self) -> str:
        return " → ".join([self.edges[0].source, *(edge.target for edge in self.edges)] if self.edges else [])


class Paths:
    """A computation graph and its path problems, made by `paths` with its arguments; it prints itself."""

    def __init__(self, steps: WengertList, edges: list[Edge], of: tuple[str, ...], wrt: tuple[str, ...],
                 values: Mapping | None):
        self.steps, self.edges, self.of, self.wrt, self.values = steps, edges, of, wrt, values

    def forward(self, source: str | None = None) -> Solution:
        """∂register/∂source for each register that depends on the source: single source, all targets.

        source: one of wrt; it may be left out if wrt is a single register. Raises XManError without values.
        """
        return self._solved(self._one(source, self.wrt, "wrt"), False)

    def backward(self, target: str | None = None) -> Solution:
        """∂target/∂register for each register that the target depends on: all sources, single target.

        target: one of `of`; it may be left out if `of` is a single register. Raises XManError without values.
        """
        return self._solved(self._one(target, self.of, "of"), True)

    def solve(self, extend: Callable[[Any, Any], Any], combine: Callable[[Any, Any], Any], one: Any,
              label: Callable[[Edge], Any] = lambda edge: edge.value, start: str | None = None,
              back: bool = False) -> Solution:
        """A path problem in your own algebra: extend joins labels of a path, combine joins paths (Reps §3).

            graph.solve(operator.add, min, 0, lambda edge: 1)     # how long the shortest path to each is

        extend(x, y): the worth of a path from those of its parts, x nearer to the start. combine(x, y): the
        worth of two paths; extend distributes over it. one: the worth of the path without edges. label: from
        an edge to its worth. start: one of wrt, or of `of` if back. back: go against the edges.
        """
        start = self._one(start, self.of if back else self.wrt, "of" if back else "wrt")
        return solve(self.edges, start, back, one, lambda edge, x: extend(x, label(edge)), combine)

    @property
    def derivative(self) -> Any:
        """∂of/∂wrt: a number, or a matrix with a row for each element of `of`; for several {(of, wrt): …}."""
        adjoints = {y: self.backward(y) for y in self.of}
        return self._each(lambda y, x: adjoints[y][x] if x in adjoints[y] else self._zero(y, x))

    @property
    def work(self) -> PathWork:
        """The numbers of extends and combines in all forward passes, and in all backward passes."""
        def summed(ends: Sequence[str], back: bool) -> tuple[int, int, int]:
            way = [between(self.edges, x, back) for x in ends]
            return len(way), sum(s.extends for s in way), sum(s.combines for s in way)
        return PathWork(*summed(self.wrt, False), *summed(self.of, True))

    @property
    def count(self) -> int:
        """The number of paths from wrt to of, found without listing them."""
        ways = [solve(self.edges, x, False, 1, lambda edge, n: n) for x in self.wrt]
        return sum(counts.get(y, 0) for counts in ways for y in self.of)

    def all(self, limit: int = 100) -> list[Path]:
        """All paths from wrt to of. Raises XManError for more than `limit` paths."""
        if (n := self.count) > limit:
            digits = f"{n:,}" if n < 10 ** 15 else f"more than 10^{(n.bit_length() - 1) * 3 // 10}"
            raise XManError(f"there are {digits} paths, and {limit:,} is the limit; forward() and backward() "
                            "sum over them without listing them")
        ends = [(edges_between(self.edges, x, y), x, y) for y in self.of for x in self.wrt]
        worth = lambda path: reduce(lambda x, e: graph.times(e.value, x), path, 1.0)
        listed = [path for way in ends for path in paths_listed(*way)]
        values = [None if self.values is None else worth(path) for path in listed]
        return [Path(path, "·".join(map(factor, path)), x) for path, x in zip(listed, values, strict=True)]

    def symbolic(self, direction: str = "forward") -> Any:
        """∂of/∂wrt as a formula in the inputs, a sum of products (Reps, Example 4.1); for several a dict.

        direction: "forward" or "backward". Raises XManError for another one, and for too long a formula.
        """
        if direction not in ("forward", "backward"):
            raise XManError(f"the direction is 'forward' or 'backward', not {direction!r}")
        return self._each(lambda y, x: self._formula(y, x, direction == "backward"))

    def __str__(self) -> str:
        rows = [(f"{edge.source} → {edge.target}", edge.label, edge.number) for edge in self.edges[:EDGES]]
        lines = table_as_text(rows, 3, gap="   ").splitlines()
        if len(self.edges) > EDGES:
            lines.append(f"… and {len(self.edges) - EDGES:,} edges more")
        if self.values is not None:
            lines += [f"forward from {x}: {self.forward(x)}" for x in self.wrt]
            lines += [f"backward from {y}: {self.backward(y)}" for y in self.of]
        if 1 < self.count <= PATHS_SHOWN and not any(np.ndim(edge.value) for edge in self.edges):
            listed = self.all()
            width = max(len(path.nodes) for path in listed)
            number = lambda path: "" if path.value is None else f" = {graph.compact(path.value)}"
            lines += [f"path {path.nodes:<{width}}   {path.text}{number(path)}" for path in listed]
        lines += [str(self.work)] * (self.values is None or len(self.of + self.wrt) > 2)
        return "\n".join(lines)

    __repr__ = __str__

    # ---- parts ---------------------------------------------------------------------------------------------

    def _each(self, derivative: Callable[[str, str], Any]) -> Any:
        each = {(y, x): derivative(y, x) for y in self.of for x in self.wrt}
        return each if len(each) > 1 else next(iter(each.values()))

    def _one(self, name: str | None, choices: Sequence[str], word: str) -> str:
        name = name[0] if isinstance(name, (list, tuple)) and len(name) == 1 else name
        if name is None and len(choices) == 1:
            return choices[0]
        if name not in choices:
            raise XManError(f"name one of the registers in {word}, {', '.join(choices)}"
                            + ("" if name is None else f", not {name!r}; for others make other paths"))
        return name

    def _solved(self, start: str, back: bool) -> Solution:
        if self.values is None:
            raise XManError("these paths have no numbers: give paths the values of the inputs, as in "
                            "paths(steps, 'f', 'x', {'x': 3.0}); symbolic() needs none")
        with np.errstate(all="ignore"):
            extend = lambda edge, x: graph.times(*(x, edge.value) if back else (edge.value, x))
            solution = solve(self.edges, start, back, graph.identity(self.values[start]), extend)
        for name, x in solution.items():
            if np.ndim(x) and np.shape(self.values[name]) == np.shape(self.values[start]) == ():
                solution[name] = x.item()  # a number that went through an array
        return solution

    def _zero(self, y: str, x: str) -> Any:
        """∂y/∂x = 0, in the right shape, if no path leads from x to y."""
        y, x = self.values[y], self.values[x]
        return np.zeros((graph.entries_of(y), graph.entries_of(x))) if np.ndim(y) or np.ndim(x) else 0.0

    def _formula(self, y: str, x: str, back: bool) -> str:
        edges = edges_between(self.edges, x, y)
        if arrays := [edge.label for edge in edges if any("/" in name for name in names_in(edge.slope))]:
            raise XManError(f"the label {arrays[0]} is a matrix, and formulas are of numbers; `derivative` "
                            "has the matrix")
        inner = polynomials(self.steps, *(name for edge in edges for name in names_in(edge.slope)))
        try:
            start, end = (y, x) if back else (x, y)
            extend = lambda edge, p: polynomial(edge.slope, inner) * p
            solution = solve(edges, start, back, constant_term(1), extend)
        except OverflowError as error:
            raise XManError(f"d{y}/d{x}, {error}; print the graph, or give numbers") from None
        return formula_text(solution.get(end, constant_term(0)))


def factor(edge: Edge) -> str:
    """The label of an edge, in brackets if a product needs them."""
    match edge.slope:
        case ast.Name() | ast.Constant() | ast.Call() | ast.BinOp(op=ast.Mult() | ast.Pow()):
            return edge.label
    return f"({edge.label})"
