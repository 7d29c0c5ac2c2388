"""Products with the generalised Gauss–Newton matrix, JᵀHJ: Bishop, Deep Learning, (8.40) and (8.41)."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import ops
from ops import facts_of
from ops.facts import linear_in
from ops.silence import silent

from ..errors import XManError, refuse_unknown
from ..interpreters import eval
from ..interpreters.context import depends
from ..notation import shown
from ..wengert import Line, Steps
from .hessian import Hessian, packed
from .jacobian import Jacobian
from .linear import DerivativeMatrix, Point, point, units, vectors_like
from .modes import lines_between

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..sparse import Compressed


class Weighted(NamedTuple):
    """The sparse matrix JᵀHJ. evaluated: all values, from those of the inputs."""
    J: Compressed
    H: Compressed
    evaluated: Callable[[Point], Point]

    @property
    def passes(self) -> int: return self.J.passes + self.H.passes

    def __call__(self, values: Point) -> csr_array:
        values = self.evaluated(values)
        J = self.J(values)
        return (J.T @ (self.H(values) @ J)).tocsr()


class GaussNewton(DerivativeMatrix):
    """The Hessian of a loss whose scores (what it squares, say) are taken as linear (Schraudolph 2002).

        G = GaussNewton(steps, of="loss", wrt=["W", "b"])
        G.through                   # ("scores",), where the loss begins: it is convex in them
        G.times(values, {"W": v})   # Jᵀ H J v: forward, times the loss's own Hessian H, and back
        G(values)                   # the matrix, sparse, in as many passes as J and H have colours

    It is never negative, and for half a sum of squares it is JᵀJ (8.40). steps, of, wrt: as for `Hessian`;
    `of` consists of losses that are convex in their first argument, of their sums and means, and of multiples
    by factors that do not depend on wrt. Raises XManError with the first line that is something else.
    """

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str]):
        super().__init__(steps, of, wrt)
        self.steps = self.primal
        self.multiples: list[tuple[Line, list[int]]] = []
        self.through = self._through()
        self.outer = Hessian(lines_between(self.steps, self.of, self.through), self.of, self.through)
        self.inner: dict[str, Jacobian] = {}
        for a in self.through:
            lines = lines_between(self.steps, a, self.wrt)
            if lines:
                self.inner[a] = Jacobian(lines, a, [w for w in self.wrt if w in lines.inputs])

    def product_at(self, values: Point) -> Callable[[Point], dict[str, Any]]:
        """The product at values, a function of vectors by name; what depends on values alone is done once."""
        values = self._evaluated(values)
        outer = self.outer.product_at(values)
        maps = {a: (J.pushforward(values), J.pullback(values), J.wrt) for a, J in self.inner.items()}

        def times(vectors: Point) -> dict[str, Any]:
            v = vectors_like(vectors, values, self.wrt)
            moved = {a: push({w: v[w] for w in wrt}) for a, (push, _, wrt) in maps.items()}
            weighted = outer({a: moved[a] if a in moved else v[a] for a in self.through})
            products = {w: np.zeros_like(values[w]) for w in self.wrt}
            for a, u in weighted.items():
                for w, contribution in (maps[a][1](u) if a in maps else {a: u}).items():
                    products[w] = products[w] + contribution
            return products
        return times

    def compressed(self, values: Point) -> Weighted:
        """What makes the matrix, for values of these shapes: the lists of J and H, which are sparse matrices
        (`xman.sparse.compressed`). Whole numbers keep their values."""
        by = "columns" if len(self.through) > 1 else None
        J = self._compressed(values, self.steps, self.through, by)
        return Weighted(J, self.outer.compressed(self._evaluated(values)), self._evaluated)

    def __call__(self, values: Point) -> csr_array:
        """The matrix (n, n), for the n elements of all wrt, each flattened, in their order."""
        return self.compressed(values)(values)

    def _evaluated(self, values: Point) -> dict[str, Any]:
        """All values. XManError if the loss is not convex in its scores there."""
        values = eval(self.steps, point(values, self.wrt))
        for line, places in self.multiples:
            if not rises(line, places, values):
                raise XManError(f"{shown(line)}: its slope is negative, so that the loss is not convex in "
                                f"{', '.join(self.through)}; take the Hessian")
        return values

    def _through(self) -> tuple[str, ...]:
        """The registers in which the loss is convex, its scores.

        Back from `of`, through lines that only sum and scale, as mean and z1 + z2 do, to losses proper.
        """
        moving, summands, scores = depends(self.steps, self.wrt, dict.fromkeys(self.wrt)), {self.of}, {}
        for line in reversed(self.steps):
            dst, op, args = line
            if dst in summands and dst in moving:
                places = [i for i, (a, rule) in enumerate(zip(args, ops.DG[op], strict=False))
                          if rule and isinstance(a, str) and a in moving]
                moves = facts_of(op).flow in ("moved", "part", "filled")  # entries, or sums of them
                if moves or linear_in(op, places):
                    summands.update(args[i] for i in places)
                    self.multiples += [(line, places)] * (not moves)
                elif facts_of(op).convex and places == [0] or squares_residual(op, args, places):
                    scores[args[0]] = None
                else:
                    losses = ", ".join(sorted(op for op in ops.OURS if facts_of(op).convex))
                    raise XManError(f"{shown(line)}: this is no loss that Gauss–Newton knows to be convex: "
                                    f"those are {losses}, and their sums; take the Hessian, or newton-cg")
        if self.of in self.wrt or not scores:
            raise XManError(f"{self.of!r} has no part with a curvature that depends on {', '.join(self.wrt)}")
        return tuple(scores)


@silent
def rises(line: Line, places: list[int], values: Point) -> bool:
    """Whether no slope is negative of a line that works entry by entry, and is linear in these places."""
    dst, op, args = line
    args = [values[a] if isinstance(a, str) else a for a in args]
    return all(np.all(ops.TG[op][i](1.0, values[dst], *args) >= 0) for i in places)


def squares_residual(op: str, args: tuple, places: list[int]) -> bool:
    """Whether the line is x · x, or an even power."""
    if op == "mul":
        return args[0] == args[1]
    even = lambda n: isinstance(n, (int, float)) and n > 0 and n % 2 == 0
    return op == "power" and places == [0] and even(args[1])


# ---- by outer products, and the inverse --------------------------------------------------------------------

def half_squares(a: np.ndarray) -> np.ndarray:
    """The factor L of the Hessian L Lᵀ of ½ Σ (a − t)² by a: the unit matrix (8.40)."""
    return np.eye(a.size)


def logistic(a: np.ndarray) -> np.ndarray:
    """The factor for the cross-entropy of y = σ(a): the roots of y (1 − y) on the diagonal (8.41)."""
    from scipy.special import expit
    return np.diag(np.sqrt(expit(a) * expit(-a)))  # σ(−a) is 1 − σ(a) without cancellation


def softmax(a: np.ndarray) -> np.ndarray:
    """The factor for the cross-entropy of p = softmax(a): L Lᵀ = diag(p) − p pᵀ, L = diag(√p) − p √pᵀ."""
    p = np.exp(a - a.max())
    p /= p.sum()
    return np.diag(np.sqrt(p)) - np.outer(p, np.sqrt(p))


ERRORS = {"squares": half_squares, "logistic": logistic, "softmax": softmax}


def outer_products(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str = "softmax",
                   weight: float = 1.0) -> np.ndarray:
    """The approximate Hessian Σ_n weight · J_nᵀ L Lᵀ J_n, (W, W) for W elements of all wrt; never negative.

    J_n is the Jacobian of row n of `of`, the scores a before the last activation, of shape (n, k), (n,) or
    (). steps, wrt, values: as for `Hessian`. error: "squares" for ½ Σ (a − t)² (8.40), "logistic" for the
    cross-entropy of σ(a) (8.41), "softmax" for that of softmax(a). weight: 1/n if the loss is the mean over n
    rows. The result is the Hessian itself if a is linear in wrt, and near it if the network fits its data.
    XManError for another error.
    """
    return sum(rows.T @ rows for rows in weighted_jacobians(steps, of, wrt, values, error, weight))


def inverse_outer_products(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str = "softmax",
                           weight: float = 1.0, alpha: float = 1e-4) -> np.ndarray:
    """(alpha · 1 + outer_products)⁻¹, built one example at a time from 1/alpha on (Hassibi and Stork 1993).

    If the factor b of an example has one column, H⁻¹ becomes H⁻¹ − H⁻¹ b bᵀ H⁻¹ / (1 + bᵀ H⁻¹ b); with k
    columns the quotient solves k equations. alpha: a positive number, small next to the Hessian. steps, of,
    wrt, values, error, weight: as for `outer_products`.
    """
    if not (isinstance(alpha, (int, float, np.number)) and alpha > 0):
        raise XManError(f"alpha is a positive number, the matrix that the inverse starts from, not {alpha!r}")
    inverse = None
    for rows in weighted_jacobians(steps, of, wrt, values, error, weight):
        inverse = np.eye(rows.shape[1]) / alpha if inverse is None else inverse
        b = inverse @ rows.T
        inverse = inverse - b @ np.linalg.solve(np.eye(len(rows)) + rows @ b, b.T)
    return inverse


def weighted_jacobians(steps: Steps, of: str, wrt: Collection[str], values: Point, error: str, weight: float
                       ) -> Iterator[np.ndarray]:
    """For each example the array (k, W) of Lᵀ J_n times the root of the weight."""
    refuse_unknown([error], ERRORS, "there is no error {!r}")
    if not (isinstance(weight, (int, float, np.number)) and weight > 0):
        raise XManError(f"the weight of an example is a positive number, not {weight!r}")
    jacobian = Jacobian(steps, of, wrt)
    of, y = jacobian.of, np.asarray(eval(steps, values)[jacobian.of])
    if not y.size:
        raise XManError(f"there are no examples: {of!r} has shape {y.shape}")
    scores = y.reshape(len(y) if y.ndim else 1, -1)
    for a, rows in zip(scores.astype(float), rows_of(jacobian, values, y, *scores.shape), strict=True):
        yield np.sqrt(weight) * ERRORS[error](a).T @ rows


def rows_of(jacobian: Jacobian, values: Point, y: Any, n: int, k: int) -> Iterator[np.ndarray]:
    """J_n for each of n examples, (k, W): one by one if reverse mode is cheapest, else all at once."""
    if jacobian.count(values).mode != "reverse":
        blocks = jacobian(values)
        yield from np.concatenate([blocks[x].reshape(n, k, -1) for x in jacobian.wrt], axis=-1)
        return
    pull, adjoints = jacobian.pullback(values), units(y)
    for _ in range(n):
        yield np.stack([packed(pull(unit), jacobian.wrt) for unit in itertools.islice(adjoints, k)])
