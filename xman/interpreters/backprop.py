"""Reverse mode: step through the list in reverse (Cohen, Automatic Reverse-Mode Differentiation, §1.3)."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ops
from ops import kinks, walk
from ops.silence import silent

from ..wengert import Steps, checked_list
from .context import at_line, depends, names_wanted, seeds, still_in, unshared, without_roots


@silent
def backprop(steps: Steps, values: Mapping[str, Any], /, DG: Mapping[str, Sequence] = ops.DG,
             wrt: Collection[str] | None = None, **deltas: Any) -> dict[str, Any]:
    """The deltas, ∂/∂register of Σ delta·output: of the outputs, and of all registers that they depend on.

    steps, values: the list, and what `eval` returned for it. XManError where the list is not valid.
    DG: the adjoint rules, DG[op][i](delta, out, *args). XManError where one is missing or fails.
    wrt: the name or names of the wanted registers; products for others are not computed (None: all).
    deltas: the first deltas, by name, as in backprop(steps, values, loss=1.0); each spreads to its register's
        shape. A delta has its register's shape and precision, in memory of its own; integers have no delta.
    """
    wrt = names_wanted(wrt, DG)
    steps = checked_list(steps, DG)
    starts, ends = seeds(deltas, values, "delta"), steps.inputs if wrt is None else wrt
    still = still_in(steps, values, values if wrt is None else depends(steps, wrt, values, DG))
    with ops.by_tables(DG=DG), at_line(steps, values, DG, "adjoint rule"):
        lines, primals, powers = without_roots(steps, values, DG)

        # deltas[r] is the part of ∂output/∂r that is known so far. In reverse, all lines that use dst come
        # before the line that defines it, so its delta is complete, and the chain rule passes it on: a rule
        # gives the contribution to one argument, and the contributions add (`ops.walk.back`):
        #     for dst, op, args in reversed(lines):
        #         for a, rule in zip(args, DG[op]):
        #             deltas[a] += rule(deltas[dst], values[dst], *inputs)
        # If this gives NaN, the walk is repeated with masks, and then forward mode is asked (`ops.kinks`).
        def step_back(deltas: dict[str, Any]) -> dict[str, Any]:
            return walk.back(lines, primals, deltas, DG, still, keep=True)
        step_forth = (lambda tangents: walk.forth(lines, primals, tangents)) if DG is ops.DG else None
        deltas = kinks.derivatives_by(step_back, starts, deltas, lines, values.values(), ends,
                                      other=step_forth)
        if powers and (wrt is None or any(dst in wrt or r in wrt for dst, (*_, r, _) in powers.items())):
            deltas = kinks.with_roots(walk.back, deltas, steps, powers, values, DG)
    return unshared({name: d for name, d in deltas.items() if name in values}, values.values())
