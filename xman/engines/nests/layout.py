"""The layout: the order of a program's lines, and what their results should be like in memory."""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import ops
from ops.facts import shaped_by

from ...wengert import Line as Step
from ..folded import FoldedLines, ordered
from ..program import Program
from ..specialise.kinds import memory_roots
from .arrangements import ARRANGEMENTS, axes_of, order_of
from .builder import Layout, is_native
from .entrywise import REDUCED
from .matrices import CONTRACTIONS, ROUTINES
from .tree import ENTRYWISE

RULES = ARRANGEMENTS | CONTRACTIONS | ROUTINES | REDUCED  # all others are entrywise
LOOPS = {"astype", *ENTRYWISE}
SURE = {"bundle", "item"}.union(LOOPS, RULES.keys() - ROUTINES.keys())  # these refuse no values


def layout_of(program: Program, steps: list[Step]) -> Layout:
    """The layout of a program with these lines."""
    arrays = {x: kind._replace(array=True) for x, kind in program.kinds.items()}
    holds = memory_roots([(x, "alias" if op in ARRANGEMENTS else op, args) for x, op, args in steps], arrays)
    arguments = program.arguments
    steps, direct = ordered(program, steps, holds, {step[0] for step in steps if may_fail(step, arguments)})
    outputs = *program.outputs, *program.inplace
    uses = Counter([*outputs, *(a for _, op, args in steps for a in read_by(op, args))])
    scattered = {dst for dst, op, _ in steps if op == "scatterAdd" and uses[dst] == 1}
    index_adjoints = {a for step in steps if adds(program, step) for a in step[2] if a in scattered}
    return Layout(FoldedLines(steps), direct, uses, index_adjoints, *orders_of(program, steps, outputs))


def read_by(op: str, args: Sequence[Any]) -> list[str]:
    """The registers whose numbers a line reads."""
    return [a for k, a in enumerate(args) if isinstance(a, str) and k != shaped_by(op)]


def may_fail(step: Step, arguments: list[str]) -> bool:
    """Whether a line may refuse values, as lines of NumPy and LAPACK do, and computed indices."""
    _, op, args = step
    keys = args[ops.facts_of(op).keys:]
    return op not in SURE or any(isinstance(a, str) and a not in arguments for a in keys)


def adds(program: Program, step: Step) -> bool:
    """Whether a line adds arrays of one type and shape, which may be added up in a new root."""
    (dst, op, args), kinds = step, program.kinds
    if op != "add" or not is_native(program, dst) or kinds[dst].dtype.kind != "f":
        return False
    return all(a in kinds and kinds[a][:2] == kinds[dst][:2] for a in map(str, args))


def orders_of(program: Program, steps: list[Step], outputs: Sequence[str]) -> tuple[dict, dict]:
    """The `orders` and `summed` of a Layout: outputs lie row by row, and arguments as their result does.

    With y = sin(t), t = transpose(x) and y an output, t lies row by row as y does, and x column by column.
    """
    shapes = {x: kind.shape for x, kind in program.kinds.items()}
    orders = {x: (*range(len(shapes[x])),) for x in outputs if is_native(program, x)}
    summed: dict[tuple, set[int]] = defaultdict(set)
    for dst, op, args in reversed(steps):
        order = orders.get(dst)
        for a in read_by(op, args):
            if not is_native(program, a):
                continue
            shape = shapes[a]
            if op in REDUCED:
                axes = axes_of(args[1] if len(args) > 1 else None, len(shape)) or set()
                summed[shape] |= axes if len(axes) < len(shape) else set()
            elif order or op not in LOOPS:
                alike = order and len(order) == len(shape) and (op in LOOPS or op in ARRANGEMENTS)
                of = order_of(shape, *args[1:]) if op == "transpose" else range(len(shape))
                orders.setdefault(a, tuple(of[k] for k in (order if alike else range(len(shape)))))
    return orders, summed
