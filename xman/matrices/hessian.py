"""The Hessian of a list, forward over reverse mode: Bishop, Deep Learning, §8.1.6 and §8.2.2."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interpreters import eval
from ..passes import gradient, tangent
from ..passes.differentiate import ending
from ..wengert import Steps
from .jacobian import stacked
from .linear import DerivativeMatrix, LinearMap, Point, point, refuse_arrays, units

if TYPE_CHECKING:
    from ..sparse import Compressed


class Hessian(DerivativeMatrix):
    """∂²of/∂wrt² of a list, for any values; `of` is a number.

        H = Hessian(steps, of="loss", wrt=["W", "b"])
        H.times(values, {"W": v})   # H v, by name, in the time of about two gradients (Pearlmutter 1994)
        H(values)                   # the matrix (n, n), n the elements of W and b, in that order (8.37)
        H.blocks(values)            # {("W", "b"): an array of the shape of W followed by that of b, …}
        H.diagonal(values)          # {"W": in the shape of W, …}, without the matrix, but in as many products
        H.steps                     # the list that computes a product

    steps: the list. of: a register that is a number. wrt: names of inputs. sparse: whether H(values) is a
    SciPy array, in as many products as `compressed` needs. XManError for other names, and if `of` has several
    elements.
    """

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str], sparse: bool = False):
        super().__init__(steps, of, wrt)
        self.sparse, of = sparse, self.of
        self.gradient = slopes = gradient(self.primal, of, self.wrt)
        dot = ending(slopes)
        self.steps = tangent(slopes, self.wrt)
        self.dots = {x: x + dot for x in self.wrt}
        products = {x: f"d{of}_d{x}{dot}" for x in self.wrt}
        self.map = LinearMap(self.steps, self.dots, products, self._refuse_arrays)

    def product_at(self, values: Point) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """The product at values, a function of vectors by name; what depends on values alone is done once."""
        return self.map.product_at(point(values, self.wrt))

    def compressed(self, values: Point) -> Compressed:
        """The list of the sparse matrix, for values of these shapes: as few products as a star colouring of
        its pattern has colours (`xman.sparse.compressed`). Whole numbers keep their values."""
        self._refuse_arrays(values)
        return self._compressed(values, self.gradient, [f"d{self.of}_d{x}" for x in self.wrt], "star")

    def __call__(self, values: Point) -> Any:
        """The matrix (n, n), for the n elements of all wrt, each flattened, in their order."""
        if self.sparse:
            return self.compressed(values)(point(values, self.wrt))
        columns = [packed(column, self.wrt) for _, _, column in self._columns(values)]
        return stacked(columns, -1, (len(columns), len(columns)), values[self.wrt[0]])

    def picture(self, values: Point) -> Any:
        """The matrix as a heat map, which notebooks show."""
        return self._heat_map(self(values))

    def blocks(self, values: Point) -> dict[tuple[str, str], Any]:
        """For each pair (x, y) of wrt the array ∂²of/∂x∂y, of the shape of x followed by that of y."""
        columns = {y: [column for x, _, column in self._columns(values) if x == y] for y in self.wrt}
        shape = lambda x, y: np.shape(values[x]) + np.shape(values[y])
        block = lambda x, y: stacked([column[x] for column in columns[y]], -1, shape(x, y), values[x])
        return {(x, y): block(x, y) for x in self.wrt for y in self.wrt}

    def diagonal(self, values: Point) -> dict[str, Any]:
        """For each register ∂²of/∂x² for its elements x, in its shape: it takes n products, but no matrix."""
        entries: dict[str, list] = {x: [] for x in self.wrt}
        for x, unit, column in self._columns(values):
            entries[x].append(np.sum(column[x] * unit))
        return {x: stacked(entries[x], 0, np.shape(values[x]), values[x]) for x in self.wrt}

    def _refuse_arrays(self, values: Point) -> None:
        refuse_arrays(self.of, eval(self.primal, values)[self.of])

    def _columns(self, values: Point) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """For each element of all wrt: its register, its unit vector, and the product with this vector."""
        times, values = self.product_at(values), point(values, self.wrt)
        for x in self.wrt:
            for unit in units(values[x]):
                yield x, unit, times({x: unit})


def packed(arrays: Mapping[str, Any], wrt: Sequence[str]) -> Any:
    """The arrays of all wrt as one vector, in the order of wrt."""
    return np.concatenate([np.reshape(arrays[x], (-1,)) for x in ([wrt] if isinstance(wrt, str) else wrt)])


def unpacked(vector: Any, values: Point, wrt: Sequence[str]) -> dict[str, Any]:
    """The vector as arrays of the shapes of values[x], for x in wrt: the inverse of `packed`."""
    wrt = [wrt] if isinstance(wrt, str) else wrt
    pieces = np.split(np.asarray(vector), np.cumsum([np.size(values[x]) for x in wrt])[:-1])
    return {x: piece.reshape(np.shape(values[x])) for x, piece in zip(wrt, pieces, strict=True)}
