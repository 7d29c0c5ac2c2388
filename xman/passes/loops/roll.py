"""Loops that Python's `for` wrote out are found again: `roll`, the inverse of `unroll`.

Of the lines

    z1 = getitem(e, 0)    z2 = mul(a, z1)    s1 = add(1.0, z2)
    z3 = getitem(e, 1)    z4 = mul(a, z3)    s2 = add(s1, z4)
    z5 = getitem(e, 2)    z6 = mul(a, z5)    s  = add(s2, z6)

three make a *turn*: the operators repeat. What a turn reads is of five kinds. `z2` is made in the same turn.
`s1` was made in the turn before: it is a *carry*, and 1.0 is its first value. `e[0], e[1], e[2]` are places
that move along an axis: a *slice*. Literals that differ between turns are a slice too, of a table. And `a`
is the same in all turns: a *constant*. Lines that read anything else are no loop, and stay as they are.

    def step(s, e_t, a):    z1 = mul(a, e_t)    s1 = add(s, z1)    return s1
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

import ops

from ...interpreters import shapes
from ...notation import renamed
from ...wengert import Line, Size, Steps, WengertList, checked_list, known_registers, needed
from ..examples import DependsOnValues, examples
from ..simplify import differentiated_anew
from ..writer import in_order, is_temporary
from .repeats import FEWEST, Region, lines_in, places, regions_that_repeat
from .turns import NoLoop, RolledLoop

# Lines that are compiled, and differentiated, as they are. A loop that is found compiles in .1 s, where its
# 1,000 lines take 1 s and 10,000 take 20; but a call takes up to twice as long, as nothing is fused between
# turns.
WRITTEN_OUT = 1_000


def roll(steps: Steps, likes: Mapping[str, Any], keep: Collection[str] | None = None, *,
         stacked: bool = False, G: Mapping[str, Callable] = ops.G) -> WengertList:
    """The list with a `scan` in place of lines that repeat from turn to turn, as Python's `for` leaves them.

    steps: the list. likes: an example of each input, as for `shapes`; the new list is for these shapes alone.
    keep: the registers that are wanted, by name (None: the list's outputs); others may go. stacked: whether
    registers that differ from turn to turn, as the weights of layers of equal width, are stacked to make a
    loop. G: the table of values; if it lacks operators of `ops`, or redefines one, nothing is rolled, since a
    loop is a line of `ops`. A loop has four turns at least, of 4,000 lines at most; loops within loops
    are found. Every value stays the same to the last bit. XManError for a list that is not valid, likes that
    do not fit, and names in keep that the list does not have.
    """
    steps = checked_list(steps, G)
    keep = known_registers(steps, steps.outputs if keep is None else keep, "keep")
    sizes = shapes(steps, likes, G)
    if any(G.get(op) is not value for op, value in ops.G.items()):
        return WengertList(needed(steps, keep))
    return in_number_order(rolled(needed(steps, keep), keep, sizes, stacked), keep)


def in_number_order(lines: list[Line], keep: Collection[str]) -> WengertList:
    """The lines with their temporaries in order of evaluation."""
    keep = {*keep}
    named = {a for line in lines for a in (line[0], *line[2]) if isinstance(a, str)}
    free = [line for line in lines if line[0] not in keep]
    return WengertList(renamed(lines, in_order(free, named - {line[0] for line in free} | keep)))


def rolled_where_it_pays(steps: WengertList, keep: Collection[str], values: Mapping[str, Any],
                         reverse: bool = False, sizes: Mapping[str, Size] | None = None) -> WengertList:
    """The list with loops, if it is long and they take half its lines or more; else the list itself.

    Where `gradient` wrote it, this is the gradient of the list with loops. values: of the inputs, whose kinds
    the new list is for. reverse, sizes: as for `rolled`; sizes are found where they are not given.
    """
    regions = regions_that_repeat(steps) if len(steps) > WRITTEN_OUT else []
    if lines_in(regions) < len(steps) / 2 or not regions:
        return steps
    try:
        sizes = sizes or {x: (np.shape(v), getattr(v, "dtype", np.dtype(float)))
                          for x, v in examples(steps, values).items()}
    except DependsOnValues:
        return steps

    def find(lines, keep, reverse=True):
        lines = needed(lines, keep)
        again = regions if lines == steps else regions_that_repeat(lines)
        return in_number_order(rolled(lines, keep, sizes, reverse=reverse, regions=again), keep)
    short = differentiated_anew(steps, keep, find) if steps.differentiates else find(steps, keep, reverse)
    return short if len(short) <= len(steps) / 2 else steps


def rolled(lines: list[Line], keep: Collection[str], sizes: Mapping[str, Size], stacked: bool = False,
           reverse: bool = False, regions: Sequence[Region] | None = None) -> list[Line]:
    """The lines with loops. sizes: (shape, precision) of each register. reverse: whether steps return what
    their adjoints will read, and would compute again. regions: where the lines repeat, if that is known."""
    sizes, shorter = dict(sizes), True
    registers = {a for line in lines for a in (line[0], *line[2]) if isinstance(a, str)}
    last = max((int(a[1:]) for a in registers if is_temporary(a)), default=0)
    names = map("z{}".format, itertools.count(last + 1))
    while shorter:
        shorter = False
        for start, period, count in places(lines, regions or regions_that_repeat(lines)):
            try:
                loop = RolledLoop(lines, start, period, count, keep, sizes, names, stacked, reverse)
            except NoLoop:
                continue
            after = needed([*lines[:start], *loop.new, *loop.after], keep)
            if len(after) + period < len(lines):
                inner = with_inner_loops(loop, stacked, reverse)
                lines = [(dst, op, (inner, *args[1:])) if args and args[0] is loop.step else (dst, op, args)
                         for dst, op, args in after]
                sizes |= loop.sizes
                shorter, regions = True, None
                break
    return lines


def with_inner_loops(loop: RolledLoop, stacked: bool, reverse: bool) -> tuple:
    """The function of one turn, with the loops that are in it."""
    _, name, parameters, lines, results = loop.step
    if len(lines) < FEWEST:  # for speed alone
        return loop.step
    lines = rolled([*lines], results, loop.body_sizes, stacked, reverse)
    new = in_order([line for line in lines if line[0] not in parameters], parameters)
    return ("def", name, parameters, tuple(renamed(lines, new)), tuple(new.get(x, x) for x in results))
