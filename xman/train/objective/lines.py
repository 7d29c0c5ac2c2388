"""Weights and penalties as lines: passes from the list of one loss to the list of another."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ops.facts import facts_of, linear_in

from ...errors import XManError, at_least, refuse_unknown
from ...interpreters import eval
from ...interpreters.context import depends
from ...notation import shown
from ...wengert import WengertList, all_registers, fresh, registers


def weighted(steps: WengertList, loss: str, inputs: Mapping[str, Any], rows: Iterable[str],
             average: float) -> tuple[WengertList, str]:
    """The list whose loss has Σ w v for each sum, and Σ w v / Σ w for each mean, over rows; and the input w.

    steps, loss: the list without weights, and its register. inputs: values of all inputs for one row. rows:
    the names of inputs that belong to rows. average: the mean weight of all rows; means are divided by it, so
    that over all minibatches they are right. A term that does not depend on rows, such as a penalty, has no
    weight. XManError, with the line, where the loss is not such a sum.
    """
    values, moving = eval(steps, inputs), depends(steps, rows := {*rows}, dict.fromkeys(rows))
    unused = partial(fresh, taken={*all_registers(steps)})
    summands, over = {loss}, {}
    for line in reversed(steps):
        dst, op, args = line
        if dst not in summands or dst not in moving:
            continue
        places = [k for k, a in enumerate(args) if a in moving]
        if op in ("mean", "sum") and len(args) == 1 and np.shape(values[args[0]])[:1] == (1,):
            over[dst] = np.ndim(values[args[0]])
        elif linear_in(op, places):
            summands.update(args[k] for k in places)
        else:
            raise XManError(f"{shown(line)}: weights are for a loss that is a mean or a sum over the rows, "
                            "or several added up")
    if not over:
        raise XManError(f"{loss!r} depends on no rows that could have weights")
    w = unused("sample_weight")
    shaped = {axes: unused(f"{w}_{axes}") for axes in {*over.values()} - {1}}
    lines = [(name, "reshape", (w, (-1, *[1] * (axes - 1)))) for axes, name in shaped.items()]
    for dst, op, args in steps:
        if dst in over:
            terms, total = unused(f"{dst}_rows"), unused(f"{dst}_weighted") if op == "mean" else dst
            lines += [(terms, "mul", (args[0], shaped.get(over[dst], w))), (total, op, (terms,))]
            lines += [(dst, "divide", (total, average))] if op == "mean" else []
        else:
            lines.append((dst, op, args))
    return WengertList(lines), w


def penalised(steps: WengertList, loss: str, l1: Mapping[str, float],
              l2: Mapping[str, float]) -> tuple[WengertList, str]:
    """The list with l1 Σ|w| + ½ l2 Σw² added to its loss, for each w named; and the name of the new loss."""
    lines, total, unused = list(steps), loss, partial(fresh, taken={*all_registers(steps)})
    for word, factors, op in ("l1", l1, "abs"), ("l2", {w: factor / 2 for w, factor in l2.items()}, "square"):
        for w, factor in factors.items():
            entries, norm, term, after = map(unused, (f"{op}_{w}", f"{op}_sum_{w}", f"{word}_{w}",
                                                      f"{loss}_{word}_{w}"))
            lines += [(entries, op, (w,)), (norm, "sum", (entries,)), (term, "mul", (factor, norm)),
                      (after, "add", (total, term))]
            total = after
    return WengertList(lines), total


def penalty_factors(word: str, penalty: float | Mapping[str, float] | None, steps: WengertList,
                    names: Collection[str]) -> dict:
    """Each parameter's factor of a penalty, which is a dict by name, or one factor for all but biases."""
    if isinstance(penalty, Mapping):
        refuse_unknown(penalty, names, f"{word} has a penalty for {{!r}}, which is no parameter of the loss")
        factors = dict(penalty)
    else:
        read = {a for _, op, args in steps if facts_of(op).flow != "plus" for a in registers(args)}
        factors = dict.fromkeys([name for name in names if name in read] or names, 0.0 if penalty is None
                                else penalty)
    for x in factors.values():
        at_least(word, x, 0)
    return {name: float(x) for name, x in factors.items() if x}
