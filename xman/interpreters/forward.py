"""Forward mode: a tangent beside each value, in the order of the list (Bishop, Deep Learning, §8.2.1)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ops
from ops.arithmetic import past_root
from ops.derived import STILL
from ops.flows import looked
from ops.silence import silent

from ..wengert import Steps, checked_list
from .context import failure, own, seeds, with_numpy_reals


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
    powers = ops.facts.past_roots(steps, TG)  # norm(x)**3 goes past its root, as in backprop
    def walk(tangents):
        held = set(map(id, tangents.values()))
        # tangents[r] says how r moves when the inputs move in the given direction. Values and tangents have
        # the same order, so one pass could compute both. Each argument that moves adds to the movement of the
        # line (the chain rule). An argument without a tangent does not move, and is skipped. A rule answers
        # STILL if the result does not move although the argument does: it takes one array out of a bundle of
        # which others move.
        try:
            for dst, op, args in steps:
                op, args, r, n = powers.get(dst, (op, args, dst, 2))
                if any(isinstance(a, str) and a in tangents for a in args):
                    out, inputs = values[dst], [values[a] if isinstance(a, str) else a for a in args]
                    for a, rule in zip(args, TG[op], strict=False):
                        if (rule and isinstance(a, str) and a in tangents
                            and (part := rule(tangents[a], out, *inputs)) is not STILL):
                            part = own(past_root(part, out, values[r], n), out, held, (out, *inputs), a)
                            tangents[dst] = tangents[dst] + part if dst in tangents else part
        except Exception as error:
            raise failure(error, steps, (dst, op, args), values, TG, "tangent rule") from error
        return tangents
    with ops.by_tables(TG=TG):
        return looked(walk, seeds(tangents, values, "tangent"), tangents, steps, values.values(),
                      steps.outputs, True)
