"""The diagonal of the Hessian: approximate in O(W), exact in O(W²) (Bishop, Deep Learning, §8.1.6).

Becker and LeCun (1989) send second derivatives back through the network like first ones, and drop all that is
off the diagonal on the way. If y = op(x) has the adjoint δ and the curvature κ, then x gets the curvature
(∂y/∂x)² κ + ∂²y/∂x² δ, entry by entry, summed over the places where x is used. It costs a few gradients.
"""
from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import f
from ops.reductions import gathered
from ops.table import pullback

from ..errors import XManError
from ..interpreters import backprop, eval
from ..interpreters.context import depends
from ..notation import shown
from ..passes.differentiate import inputs_of
from ..wengert import Line, Steps, checked_list, known_registers, registers
from .hessian import Hessian
from .linear import Point, point, refuse_arrays


class Diagonals(NamedTuple):
    """A Hessian's diagonal, exact and approximate (Becker and LeCun): by name, in the registers' shapes."""
    exact: dict[str, Any]
    approximate: dict[str, Any]

    @property
    def difference(self) -> dict[str, Any]:
        """The approximate diagonal less the exact one."""
        return {x: self.approximate[x] - d for x, d in self.exact.items()}

    def __str__(self) -> str:
        """A row for each register: the norms of both diagonals and of their difference."""
        width = max(map(len, self.exact), default=0)
        rows = [f"{'':<{width}}{'exact':>14}{'Becker–LeCun':>14}{'difference':>14}"]
        columns = self.exact, self.approximate, self.difference
        for x in self.exact:
            norms = [np.linalg.norm(np.ravel(column[x])) for column in columns]
            rows.append(f"{x:<{width}}" + "".join(f"{norm:>14.4g}" for norm in norms))
        return "\n".join(rows)


def diagonals(steps: Steps, of: str, wrt: Collection[str], values: Point) -> Diagonals:
    """∂²of/∂x² for each entry x of each register in wrt, exact, and by `becker_lecun`.

    steps, of, wrt, values: as for `becker_lecun`."""
    return Diagonals(Hessian(steps, of, wrt).diagonal(values), becker_lecun(steps, of, wrt, values))


@np.errstate(all="ignore")
def becker_lecun(steps: Steps, of: str, wrt: Collection[str], values: Point) -> dict[str, Any]:
    """An approximate ∂²of/∂x² for each entry x of each register in wrt, by one pass after the gradient.

    It is exact where no two entries of a register on the way meet again: for one layer of weights with any
    loss; for two if the loss is a sum over outputs (squaredError, sigmoidCrossEntropy) or has one output; for
    chains of numbers. steps: a feed-forward network and its loss `of`, a number. values: all inputs by name.
    Raises XManError for a line without such a rule: a product of a register with itself, a matrix function.
    """
    steps = checked_list(steps)
    (of,) = known_registers(steps, of, "of", one=True)
    wrt = inputs_of(steps, wrt)
    values = eval(steps, point(values, wrt))
    refuse_arrays(of, values[of])
    moving, curvatures = depends(steps, wrt, values), {of: np.zeros_like(values[of])}
    deltas = backprop(steps, values, ops.DG, moving, **{of: 1.0})
    for line in reversed(steps):
        dst, _, args = line
        if dst in curvatures and dst in deltas:
            for x in dict.fromkeys(a for a in registers(args) if a in moving):
                places = [i for i, a in enumerate(args) if isinstance(a, str) and a == x]
                contribution = sent_back(line, places, curvatures[dst], deltas[dst], values)
                curvatures[x] = curvatures[x] + contribution if x in curvatures else contribution
    zero = {x: np.zeros_like(values[x]) for x in wrt}
    return {x: np.asarray(curvatures.get(x, zero[x]), zero[x].dtype)[()] for x in wrt}


def sent_back(line: Line, places: list[int], k: Any, d: Any, values: Point) -> Any:
    """What a line with adjoint d and curvature k adds to the curvature of its arguments at these places."""
    dst, op, args = line
    out, args, rules = values[dst], [values[a] if isinstance(a, str) else a for a in args], ops.DG[op]
    places, facts = [i for i in places if rules[i]], ops.facts_of(op)
    if not places:
        return 0.0
    if facts.elementwise:
        x = args[places[0]]

        def slope(x: Any, d: Any) -> Any:
            """d · ∂out/∂x, in the shape of out."""
            with_x = [x if i in places else a for i, a in enumerate(args)]
            return sum(ops.TG[op][i](d, getattr(f, op)(*with_x), *with_x) for i in places)

        ones = np.ones_like(out)
        return f.unbroadcast(k * slope(x, ones) ** 2, x) + pullback(lambda x: slope(x, d), x, ones)
    curvature = facts.curvature or facts.flow == "same" and gathered()
    if curvature and places == [0]:
        return curvature(lambda d: rules[0](d, out, *args), k, d, out, *args)
    if facts.flow == "summed" and len(places) == 1 and len(args) == 2 and type(args[0]) is not tuple:
        # a product: y = Σ w x has ∂y/∂x = w, so x gets Σ w² κ, the same rule with the factor squared
        factor = args[1 - places[0]]
        args[1 - places[0]] = factor.multiply(factor) if hasattr(factor, "tocsr") else np.square(factor)
        return rules[places[0]](k, out, *args)
    if facts.flow in ("moved", "part", "filled"):
        return sum(rules[i](k, out, *args) for i in places)  # the operator sums entries, each once
    culprit = f"{op} of a register and itself" if len(places) > 1 else f"the operator {op!r}"
    raise XManError(f"{shown(line)}: the diagonal after Becker and LeCun is not defined for {culprit}; take the "
                    "exact one, Hessian(…).diagonal")
