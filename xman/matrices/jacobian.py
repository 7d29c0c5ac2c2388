"""The Jacobian of a list, ∂of/∂wrt: products with it, and the matrix by forward, reverse or mixed mode."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ops import Expression

from ..errors import XManError
from ..interpreters import eval
from ..passes import gradient, tangent
from ..passes.differentiate import ending
from ..wengert import Steps
from .linear import DerivativeMatrix, LinearMap, Point, columns_apart, point, units
from .modes import Count, Route, entries_of, lines_between, passes_counted, route, without_registers

if TYPE_CHECKING:
    from ..sparse import Compressed


class Jacobian(DerivativeMatrix):
    """∂of/∂wrt of a list, for any values: Bishop, Deep Learning, §8.1.5; Adams, Computing Gradients, eq. 6.

        J = Jacobian(steps, of="y", wrt=["x"])
        J.count(values)         # 784 inputs, 10 outputs: reverse mode, 10 passes (forward mode would take 784)
        J(values)               # {"x": an array of the shape of y followed by that of x}
        J.jv(values, {"x": v})  # J v in one forward pass (8.67)
        J.vj(values, u)         # {"x": u J} in one reverse pass

    steps: the list. of: the register to differentiate. wrt: the names of inputs to differentiate by. mode:
    "forward", "reverse", "mixed" (`xman.matrices.modes`), which is one of the first two where no register is
    narrower, or None for the fewest passes. sparse: whether J(values) has SciPy's sparse arrays, a row for
    each entry of `of` and a column for each of x, in as many passes as `compressed` needs. XManError for
    other names.
    """

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str], mode: str | None = None,
                 sparse: bool = False):
        super().__init__(steps, of, wrt)
        self.steps, self.mode, self.sparse, of = self.primal, mode, sparse, self.of
        if mode not in (None, "forward", "reverse", "mixed"):
            wrong = "a dictionary: call the result with values" if isinstance(mode, Mapping) else repr(mode)
            raise XManError(f"mode is 'forward', 'reverse', 'mixed' or None for the cheapest, not {wrong}")
        dot = ending(self.steps)
        seed = of + ending(self.steps, "_bar")
        dots = {x: x + dot for x in self.wrt}
        self.forward = LinearMap(tangent(self.steps, self.wrt), dots, {of: of + dot})
        adjoint = gradient(self.steps, of, self.wrt, seed=seed)
        self.reverse = LinearMap(adjoint, {of: seed}, {x: f"d{of}_d{x}" for x in self.wrt})
        self._routes: dict[tuple, Route] = {}
        self._blocks: dict[tuple, Jacobian] = {}  # on the way of mixed mode

    def count(self, values: Point) -> Count:
        """The numbers of inputs and outputs at values, the mode that follows from them, and its passes."""
        return self._count(*self._evaluated(values))[0]

    def jv(self, values: Point, vectors: Point) -> Any:
        """J v, in the shape of `of`. vectors: by name, each in the shape of its x; else zeros."""
        return self.pushforward(values)(vectors)

    def vj(self, values: Point, u: Any) -> dict[str, Any]:
        """u J, an array for each x in wrt, of its shape. u: in the shape of `of`."""
        return self.pullback(values)(u)

    def pushforward(self, values: Point) -> Callable[[Point], Any]:
        """The function v → J v at values; work that depends on values alone is done once."""
        push = self.forward.product_at(self._evaluated(values)[0])
        return lambda vectors: push(vectors)[self.of]

    def pullback(self, values: Point) -> Callable[[Any], dict[str, Any]]:
        """The function u → u J at values; work that depends on values alone is done once."""
        pull = self.reverse.product_at(self._evaluated(values)[0])
        return lambda u: pull({self.of: u})

    def compressed(self, values: Point) -> Compressed:
        """The list of the sparse matrix ∂of/∂wrt, for values of these shapes: as few tangents and adjoints as
        its pattern has colours (`xman.sparse.compressed`). Whole numbers keep their values."""
        by = {None: None, "forward": "columns", "reverse": "rows", "mixed": "both"}[self.mode]
        return self._compressed(values, self.steps, [self.of], by)

    def __call__(self, values: Point) -> dict[str, Any]:
        """For each x in wrt an array of the shape of `of` followed by that of x."""
        if self.sparse:
            return columns_apart(self.compressed(values)(point(values, self.wrt)), self.wrt, values)
        values, y = self._evaluated(values)
        shapes = {x: np.shape(y) + np.shape(values[x]) for x in self.wrt}
        count, way = self._count(values, y)
        if count.mode == "mixed":
            blocks = {v: self._block(v, tuple(sources), values) for v, sources in way.sources.items()}
            matrices = without_registers(blocks, way.through)[self.of]
            return {x: stacked([matrices[x]] if x in matrices else [], 0, shapes[x], y) for x in self.wrt}
        if count.mode == "reverse":
            rows = [*map(self.pullback(values), units(y))]
            return {x: stacked([row[x] for row in rows], 0, shapes[x], y) for x in self.wrt}
        push = self.pushforward(values)
        columns = {x: [push({x: v}) for v in units(values[x])] for x in self.wrt}
        return {x: stacked(columns[x], -1, shapes[x], y) for x in self.wrt}

    def picture(self, values: Point) -> Any:
        """The matrix as a heat map for notebooks: a row for each entry of `of`, a column for each of wrt."""
        rows = entries_of(self._evaluated(values)[1])
        blocks = [np.reshape(block, (rows, -1)) for block in self(values).values()]
        return self._heat_map(np.concatenate(blocks, -1))

    def _block(self, of: str, wrt: tuple[str, ...], values: Point) -> dict[str, Any]:
        """∂of/∂wrt, for registers on the way, as matrices, by the mode of the fewer passes."""
        n, sizes = entries_of(values[of]), [entries_of(values[x]) for x in wrt]
        key = of, wrt, passes_counted(sum(sizes), n).mode
        if key not in self._blocks:
            self._blocks[key] = Jacobian(lines_between(self.steps, of, wrt), *key)
        return {x: np.reshape(J, (n, entries_of(values[x]))) for x, J in self._blocks[key](values).items()}

    def _count(self, values: Point, y: Any) -> tuple[Count, Route | None]:
        mixed, way = self.mode == "mixed", None
        inputs = sum(entries_of(values[x]) for x in self.wrt)
        count = passes_counted(inputs, entries_of(y), None if mixed else self.mode)
        # with two passes there is nothing to save; symbols have no sizes
        if not isinstance(y, Expression) and (mixed or self.mode is None and count.passes > 2):
            sizes = {r: np.size(x) for r, x in values.items() if getattr(x, "dtype", y.dtype).kind == "f"}
            key = tuple(sizes.items())
            way = self._routes[key] = self._routes.get(key) or route(self.steps, self.of, self.wrt, sizes)
            if way.through and (mixed or way.passes < count.passes):
                through = tuple((name, sizes[name]) for name in way.sources if name != self.of)
                count = count._replace(mode="mixed", mixed=way.passes, through=through)
        return count, way

    def _evaluated(self, values: Point) -> tuple[dict[str, Any], Any]:
        """All values, with floats in wrt, and the value of `of`. XManError if it holds whole numbers."""
        values = eval(self.steps, point(values, self.wrt))
        y = values[self.of]
        if not isinstance(y, Expression) and y.dtype.kind != "f":
            raise XManError(f"{self.of!r} holds {y.dtype}, and only floats have derivatives")
        return values, y


def stacked(slices: list, axis: int, shape: tuple, like: Any) -> Any:
    """The slices along a new axis, reshaped. like: gives the precision where there are no slices."""
    dtype = getattr(like, "dtype", float)
    array = np.stack(slices, axis).reshape(shape) if slices else np.zeros(shape, dtype)
    return array[()] if isinstance(array, np.ndarray) else array
