"""Forward mode: a tangent beside each value, in the order of the list (Bishop, Deep Learning, §8.2.1)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ops
from ops import kinks, walk
from ops.silence import silent

from ..wengert import Steps, checked_list
from .context import at_line, seeds, unshared, with_numpy_reals, without_roots


@silent
def forward(steps: Steps, values: Mapping[str, Any], tangents: Mapping[str, Any] | None = None,
            TG: Mapping[str, Sequence] = ops.TG, /, **named: Any) -> dict[str, Any]:
    """The tangents, Σ ∂register/∂input · tangent, of the given registers and of all that depend on them.

    steps: the list. values: what `eval` returned for it. tangents, named: the direction, {"x": 1.0} or
    x=1.0; each spreads to its register's shape. TG: the tangent rules, TG[op][i](tangent, out, *args). A
    register that is not in the result does not depend on the given ones. Raises XManError as `backprop` does.
    """
    steps = checked_list(steps, TG)
    tangents = with_numpy_reals({} if tangents is None else tangents, (), "tangents") | named
    starts = seeds(tangents, values, "tangent")
    with ops.by_tables(TG=TG), at_line(steps, values, TG, "tangent rule"):
        lines, primals, _ = without_roots(steps, values, TG)

        # tangents[r] says how r moves when the inputs move in the given direction. Values and tangents have
        # the same order, so one pass could compute both. Each argument that moves adds to the movement of the
        # line (the chain rule), and an argument without a tangent does not move (`ops.walk.forth`):
        #     for dst, op, args in lines:
        #         for a, rule in zip(args, TG[op]):
        #             tangents[dst] += rule(tangents[a], values[dst], *inputs)
        # If this gives NaN, the walk is repeated with masks, and then reverse mode is asked (`ops.kinks`).
        def step_forth(tangents: dict[str, Any]) -> dict[str, Any]:
            return walk.forth(lines, primals, tangents, TG)
        step_back = (lambda deltas: walk.back(lines, primals, deltas, keep=True)) if TG is ops.TG else None
        tangents = kinks.derivatives_by(step_forth, starts, tangents, lines, values.values(), steps.outputs,
                                        forward=True, other=step_back)
    return unshared({name: t for name, t in tangents.items() if name in values}, values.values())
