"""Loops that end on values: shapes do not tell the number of their steps, nor the length of their stacks."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ops.loops import functions_in

from ...interpreters import eval
from ...passes.examples import DependsOnValues, alongside
from ...wengert import Line, WengertList
from ..program import Values

MOST_ROOM = 2 ** 17  # rows for loops within functions


def capacity_of_loops(steps: WengertList, values: Values, before: int = 0) -> int:
    """A power of two above the number of steps of each `while_loop`; 0 where nothing is stacked.

    A program with stacks of that many rows also serves values for which the loop ends a little later. For
    loops within functions, whose steps are not counted, it begins with 256 and is 8 times that before.
    """
    counted = loops_of_counts(steps)
    loops = [k for k, (dst, _, _) in enumerate(steps) if dst in counted]
    computed = eval(steps[:loops[-1] + 1], values) if loops else {}
    capacity = 1 << max(3, *[computed[steps[k][0]][-1].bit_length() for k in loops]) if loops else 0
    if any(loops_of_counts(function[3]) for function in functions_in(steps)):
        capacity = max(capacity, min(8 * before, MOST_ROOM) or 256)
    return capacity


def loops_of_counts(lines: Iterable[Line]) -> set[str]:
    """The `while_loop` lines whose number of steps another line reads, as the way back does."""
    places = {dst: args[2] for dst, op, args in lines if op == "while_loop"}
    counts = {dst: args[0] for dst, op, args in lines if op == "item" and places.get(args[0]) == args[1]}
    return {counts[a] for _, _, args in lines for a in args if isinstance(a, str) and a in counts}


def loops_of_stacks(steps: Iterable[Line], outputs: Iterable[str] = ()) -> dict[str, str]:
    """{register: `while_loop`}, for stacks with a row for each step of the loop, and for its number of steps.

    A loop of n steps, n not known before it ran, is taken as one of `capacity` steps: its stacks have
    `capacity` rows, of which the last capacity - n mean nothing. `exp(stack)` is fine then, entry by entry,
    and so is a `scan` that takes row after row and stops at n; `sum(stack)` would count rows that mean
    nothing.
    So DependsOnValues where a stack is an output, or is read otherwise than step by step or entry by entry.
    """
    stacks_in = lambda marks: {mark for a in marks for mark in ([a] if type(a) is tuple else a or ())
                               if mark and mark[1]}
    marks: dict[Any, Any] = {}  # by register (loop, whether it is a stack); for a bundle a list of these
    for dst, op, args in steps:
        operands = [marks.get(a) if isinstance(a, str) else None for a in args]
        stacks = stacks_in(operands)
        if op == "while_loop":
            marks[dst] = [*[None] * args[2], (dst, False)]
        elif op == "bundle":
            marks[dst] = operands
        elif op == "item" and operands[0]:
            marks[dst] = operands[0][args[1]]
        elif op == "scan" and operands[3]:
            k, m, b = args[1], args[1] + args[2], operands[3]  # k carries, m - k stacks that it goes along
            along = {mark and mark[0] for mark in b[k:m]}
            if len(along) > 1 or any(mark and mark[1] for mark in b[:k] + b[m:]):
                raise DependsOnValues(op)
            marks[dst] = [*[None] * k, *[(x, True) for x in along if x] * (len(args[0][4]) - k)]
        elif stacks:
            alike = all(mark in stacks for a, mark in zip(args, operands, strict=True) if isinstance(a, str))
            if len(stacks) > 1 or not alike or not alongside(op):
                raise DependsOnValues(op)
            marks[dst] = stacks.pop()
    if stacks_in(map(marks.get, outputs)):
        raise DependsOnValues("an output")
    return {x: mark[0] for x, mark in marks.items() if type(mark) is tuple}
