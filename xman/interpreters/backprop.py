"""Reverse mode: step through the list in reverse (Cohen, Automatic Reverse-Mode Differentiation, §1.3)."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ops
from ops.arithmetic import past_root
from ops.silence import silent

from ..wengert import Steps, checked_list
from .context import depends, failure, names_wanted, own, seeds, varies


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
    active = values if wrt is None else depends(steps, wrt, values, DG)
    # A power of a root, as norm(x)**3: where the root r is 0 the slope of rⁿ is 0, but r has no slope, since
    # its rule divides by r. So the delta of rⁿ skips r and goes to the square under the root: r² = Σx² is an
    # operator with a rule of its own, and rⁿ moves ½n·rⁿ⁻² (past_root) times as much. powers has r² as op and
    # args, r, and n, for each such line. It is empty if all deltas are wanted, since r would get none.
    powers = {} if wrt is None else ops.facts.past_roots(steps, DG, wrt)
    def walk(deltas):
        held = set(map(id, deltas.values()))
        # deltas[r] is the part of ∂output/∂r that is known so far. In reverse, all lines that use dst come
        # before the line that defines it. So its delta is complete, and the chain rule passes it on: a rule
        # gives the contribution to one argument. A register that is read twice gets two contributions, and
        # they add. Lines that no delta reaches are skipped.
        try:
            for dst, op, args in reversed(steps):
                if dst in deltas:
                    op, args, r, n = powers.get(dst, (op, args, dst, 2))
                    d = past_root(deltas[dst], out := values[dst], values[r], n)
                    inputs = [values[a] if isinstance(a, str) else a for a in args]
                    for a, x, rule in zip(args, inputs, DG[op], strict=False):
                        if rule and isinstance(a, str) and a in active and varies(x, a, steps):
                            part = own(rule(d, out, *inputs), x, held, (out, *inputs), a)
                            deltas[a] = deltas[a] + part if a in deltas else part
        except Exception as error:
            raise failure(error, steps, (dst, op, args), values, DG, "adjoint rule") from error
        return deltas
    # looked: if a NaN comes out, walk again with masks: what a `where` excludes sends 0, and not 0·∞
    with ops.by_tables(DG=DG):
        ends = steps.inputs if wrt is None else wrt
        return ops.flows.looked(walk, seeds(deltas, values, "delta"), deltas, steps, values.values(), ends)
