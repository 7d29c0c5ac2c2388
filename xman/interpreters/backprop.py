"""Reverse mode: step through the list in reverse (Cohen, Automatic Reverse-Mode Differentiation, §1.3)."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.arithmetic import past_root
from ops.silence import silent

from ..errors import XManError
from ..wengert import Steps, checked_list
from .context import depends, failure, own, seeds, varies


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
    if (not isinstance(DG, Mapping) or isinstance(wrt, np.ndarray)
        or not isinstance(wrt, (Collection, type(None)))):
        word, said = (("wrt", "names registers") if isinstance(DG, Mapping)
                      else ("DG", "is the table of adjoint rules"))
        raise XManError(f"{word}=… {said}, and is no delta: a register called {word} needs another name, as "
                        "by r.name = 'x'")
    steps = checked_list(steps, DG)
    active = values if wrt is None else depends(steps, wrt, values, DG)
    powers = {} if wrt is None else ops.facts.past_roots(steps, DG, wrt)  # for norm(x)**3 at 0
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
