"""Products with the generalised Gauss–Newton matrix, JᵀHJ: Bishop, Deep Learning, (8.40) and (8.41)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ops
from ops import facts_of

from ..errors import XManError
from ..interpreters import eval
from ..interpreters.context import depends
from ..notation import shown
from ..wengert import Line, Steps
from .hessian import Hessian
from .jacobian import Jacobian
from .linear import DerivativeMatrix, Point, point, vectors_like
from .modes import lines_between

MULTIPLES = [("subtract", [0]), ("mul", [0]), ("mul", [1]), ("divide", [0])]  # by the places of wrt


class GaussNewton(DerivativeMatrix):
    """The Hessian as if what goes into a loss's squares or cross-entropies were linear: Schraudolph 2002.

        G = GaussNewton(steps, of="loss", wrt=["W", "b"])
        G.through                   # ("scores",), where the loss begins: it is convex in them
        G.times(values, {"W": v})   # Jᵀ H J v: forward, times the loss's own Hessian H, and back

    It is never negative, and of half the sum of squares it is JᵀJ (8.40). steps, of, wrt: as for `Hessian`,
    where `of` is made of losses that are convex in their first argument, of sums, means and multiples by what
    does not depend on wrt. Raises XManError with the line where that ends.
    """

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str]):
        super().__init__(steps, of, wrt)
        self.steps = self.primal
        self.factors: list[tuple[Line, str]] = []
        self.through = self._through()
        self.outer = Hessian(lines_between(self.steps, of, self.through), of, self.through)
        self.inner: dict[str, Jacobian] = {}
        for a in self.through:
            lines = lines_between(self.steps, a, self.wrt)
            if lines:
                self.inner[a] = Jacobian(lines, a, [w for w in self.wrt if w in lines.inputs])

    def at(self, values: Point) -> Callable[[Point], dict[str, Any]]:
        """The product at values, a function of vectors by name: what depends on values alone is done once."""
        values = eval(self.steps, point(values, self.wrt))
        for line, factor in self.factors:
            if not np.all(values[factor] >= 0):
                raise XManError(f"{shown(line)}: {factor} is negative, so that the loss is not convex in "
                                f"{', '.join(self.through)}; take the Hessian")
        outer = self.outer.at(values)
        maps = {a: (J.pushforward(values), J.pullback(values), J.wrt) for a, J in self.inner.items()}

        def times(vectors: Point) -> dict[str, Any]:
            v = vectors_like(vectors, values, self.wrt)
            moved = {a: push({w: v[w] for w in wrt}) for a, (push, _, wrt) in maps.items()}
            weighted = outer({a: moved[a] if a in moved else v[a] for a in self.through})
            result = {w: np.zeros_like(values[w]) for w in self.wrt}
            for a, u in weighted.items():
                for w, part in (maps[a][1](u) if a in maps else {a: u}).items():
                    result[w] = result[w] + part
            return result
        return times


    def _through(self) -> tuple[str, ...]:
        """The registers that the convex parts of the loss begin with."""
        moving, wanted, found = depends(self.steps, self.wrt, dict.fromkeys(self.wrt)), {self.of}, {}
        for line in reversed(self.steps):
            dst, op, args = line
            if dst in wanted and dst in moving:
                mine = [i for i, (a, rule) in enumerate(zip(args, ops.DG[op], strict=False))
                        if rule and isinstance(a, str) and a in moving]
                if op in ("half", "add") or flows(op) or (op, mine) in MULTIPLES:
                    wanted.update(args[i] for i in mine)
                    if op in ("mul", "divide"):
                        self._keep(line, args[1 - mine[0]])
                elif facts_of(op).convex and mine == [0] or squares_residual(op, args, mine):
                    found[args[0]] = None
                else:
                    known = ", ".join(sorted(op for op in ops.OURS if facts_of(op).convex))
                    raise XManError(f"{shown(line)}: this is no loss that Gauss–Newton knows to be convex: "
                                    f"those are {known}, and their sums; take the Hessian, or newton-cg")
        if self.of in self.wrt or not found:
            raise XManError(f"{self.of!r} has no part with a curvature that depends on {', '.join(self.wrt)}")
        return tuple(found)

    def _keep(self, line: Line, factor: Any) -> None:
        """A factor that has to be at least 0."""
        if isinstance(factor, str):
            self.factors.append((line, factor))
        elif not factor >= 0:
            raise XManError(f"{shown(line)}: a negative multiple of a convex loss is not; take the Hessian")


def flows(op: str) -> bool:
    """Whether its results are its arguments' entries, or sums of them: convex where those are."""
    return facts_of(op).flow in ("moved", "part", "filled")


def squares_residual(op: str, args: tuple, mine: list[int]) -> bool:
    """Whether the line is x · x, or an even power."""
    if op == "mul":
        return args[0] == args[1]
    return op == "power" and mine == [0] and isinstance(args[1], (int, float)) and args[1] > args[1] % 2 == 0
