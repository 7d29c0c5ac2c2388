"""Forward, reverse and mixed mode: how many passes a Jacobian takes in each, and the way of a mixed one.

Mixed mode is cross-country elimination (Griewank and Walther, Evaluating Derivatives, §9.1 and 10.1). The
registers of a list are the vertices, and each weighs as much as it has entries. To eliminate a register is to
let its successors depend on its predecessors directly. The registers that are left at any moment are a way to
the Jacobian: each is differentiated by those left before it, in as many passes as the narrower side has
entries, and then the matrices are multiplied. If none is left, it is forward or reverse mode. The order is
greedy, the least Markowitz degree (predecessors × successors) first, and the cheapest moment is taken.
"""
from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..interpreters.context import depends
from ..wengert import WengertList, needed

Sources = dict[str, dict[str, None]]  # for each register those that it is computed from, once and in order
MOST_NAMED = 4                        # a count names at most so many registers


class Count(NamedTuple):
    """How many passes a Jacobian takes, from the numbers of its inputs and outputs (Reps §4, Bishop 8.66).

    mixed: the passes of mixed mode, if it is the mode. through: the registers on its way, with their sizes.
    """
    inputs: int
    outputs: int
    mode: str
    mixed: int = 0
    through: tuple[tuple[str, int], ...] = ()

    @property
    def passes(self) -> int:
        return {"forward": self.inputs, "reverse": self.outputs, "mixed": self.mixed}[self.mode]

    def __str__(self) -> str:
        way = [f"{name} ({n:,})" for name, n in self.through[:MOST_NAMED]]
        way += [f"{len(self.through) - MOST_NAMED:,} more"] * (len(self.through) > MOST_NAMED)
        would = "" if way else " would take"
        passes = {"forward mode would take": self.inputs, f"reverse mode{would}": self.outputs}
        slower = [f"{mode} {n:,}" for mode, n in passes.items() if not mode.startswith(self.mode)]
        return f"{numbered(self.inputs, 'input')}, {numbered(self.outputs, 'output')}: {self.mode} mode" \
               + (f" through {', '.join(way[:-1])}{' and ' * (len(way) > 1)}{way[-1]}" if way else "") \
               + f", {numbered(self.passes, 'pass')} ({', '.join(slower)})"


def numbered(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 'es' if word.endswith('s') else 's'}"


def passes_counted(inputs: int, outputs: int, mode: str | None = None) -> Count:
    """The Count with the mode of the fewer passes, forward if they are equal; or with the mode asked for."""
    if mode not in (None, "forward", "reverse"):
        raise XManError(f"the mode is 'forward', 'reverse' or None for the cheapest, not {mode!r}")
    return Count(inputs, outputs, mode or ("forward" if inputs <= outputs else "reverse"))


def entries_of(x: Any) -> int:
    return math.prod(np.shape(x))  # not np.size, which counts a sparse matrix as one


class Route(NamedTuple):
    """The passes that a Jacobian takes by way of the registers `through`, in the order of their elimination.

    sources: for each of these, and for `of`, the registers of through and wrt that it is differentiated by.
    """
    passes: int
    through: tuple[str, ...]
    sources: Sources


def sources_of(steps: WengertList, wrt: Sequence[str], sizes: Mapping[str, int],
               stays: Callable[[str, int], bool]) -> Sources:
    """For each register that stays, the nearest ones before it that stay, or are in wrt. stays(name, n):
    whether a register stays whose nearest ones have n entries. sizes: of the registers that have a
    derivative."""
    stand_in: Sources = {x: {x: None} for x in wrt}
    sources: Sources = {}
    for dst, op, args in steps:
        before = {p: None for a, rule in zip(args, ops.DG[op], strict=False)
                  if rule and isinstance(a, str) and dst in sizes for p in stand_in.get(a, ())}
        if before and stays(dst, sum(sizes[p] for p in before)):
            sources[dst], before = before, {dst: None}
        stand_in[dst] = before
    return sources


def route(steps: WengertList, of: str, wrt: Sequence[str], sizes: Mapping[str, int]) -> Route:
    """The way of the fewest passes that the greedy order finds, never more than forward or reverse mode.

    The search gives up after as many steps as forward or reverse mode would take.
    """
    # a register that is not narrower than its sources never saves a pass: it goes first, whatever its degree
    before = sources_of(steps, wrt, sizes, lambda name, n: name == of or sizes[name] < n)
    after: Sources = {name: {} for name in (*wrt, *before)}
    useful = {of}
    for name in list(reversed(before)):
        if name in useful:
            useful.update(before[name])
            for p in before[name]:
                after[p][name] = None
        else:
            del before[name], after[name]
    size = lambda names: sum(sizes[p] for p in names)
    cost = lambda name: min(sizes[name], size(before[name]))
    degree = lambda name: size(before[name]) * size(after[name])
    order, heap, passes = [], [(degree(v), v) for v in before if v != of], sum(map(cost, before))
    heapq.heapify(heap)
    # counts[k]: the passes when k registers are gone; plain: those of forward or reverse mode
    counts, plain = [passes], min(sizes.get(of, 0), size(wrt))
    patience = max(10_000, len(steps) * plain)
    while heap and patience > 0:
        d, v = heapq.heappop(heap)
        if v not in before or d != degree(v):
            continue  # v is gone, or its degree has changed since: then it is in the heap once more
        around = {*before[v], *after[v]}
        # x → v → y becomes x → y: each successor of v depends on v's predecessors directly
        patience -= len(before[v]) * len(after[v])
        passes -= sum(map(cost, (v, *after[v])))
        for s in after[v]:
            del before[s][v]
            before[s].update(before[v])
        for p in before[v]:
            del after[p][v]
            after[p].update(after[v])
        passes += sum(map(cost, after[v]))
        del before[v], after[v]
        for u in around - {of, *wrt}:
            heapq.heappush(heap, (degree(u), u))
        order.append(v)
        counts.append(passes)
    order += [v for v in before if v != of]
    # the cheapest moment, and of equal ones the one with the fewest registers left, whose matrices cost work
    ways = [(n, len(order) - k) for k, n in enumerate(counts[:len(order)]) if n <= plain]
    passes, left = min(ways, default=(plain, 0))
    through = order[len(order) - left:]
    on_way = {of, *through}
    return Route(passes, tuple(through), sources_of(steps, wrt, sizes, lambda name, n: name in on_way))


def lines_between(steps: WengertList, of: str, sources: Sequence[str]) -> WengertList:
    """The lines by which `of` depends on the sources; all other registers are their inputs."""
    moving = depends(steps, sources, dict.fromkeys(sources))
    return WengertList(needed([line for line in steps if line[0] in moving and line[0] not in sources], [of]))


def without_registers(blocks: dict[str, dict[str, Any]], order: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The matrices blocks[v][p], ∂v/∂p, without the registers in `order`: ∂s/∂p += ∂s/∂v · ∂v/∂p for each."""
    for v in order:
        through = blocks.pop(v)
        for into in blocks.values():
            if (last := into.pop(v, None)) is not None:
                for p, first in through.items():
                    into[p] = into[p] + last @ first if p in into else last @ first
    return blocks
