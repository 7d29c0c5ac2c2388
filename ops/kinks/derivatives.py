"""The walk with plain deltas or tangents, the one with `Masked` ones, and the question to the other mode."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..expression import Expression, f
from ..facts import Facts, facts_of, is_complex, is_tame, name_or_id
from ..writer import Traced
from .masked import ARRAYS, Masked, bare, is_expression, unclear


def derivatives_by(walk: Callable, seeds: Mapping, directions: Mapping, lines: Iterable, values: Iterable,
           ends: Iterable | None = None, forward: bool = False, other: Callable | None = None) -> Any:
    """walk(seeds), a walk through the lines; or the same with masked seeds if it gives NaN at an end.

    directions: the deltas or tangents before they were spread to the seeds. values: of the lines. For
    symbols, and for numbers of which a further derivative is taken, seeds are masked if a line may exclude
    entries. ends: the registers to look at. forward: whether it is forward mode. other: the walk of the other
    mode, which is asked for what is still NaN (`either_way`).
    """
    start = lambda: {name: Masked.seed(d, directions[name], forward) for name, d in seeds.items()}
    kinds = {*map(type, values), *map(type, seeds.values())}
    if symbolic := not kinds <= ARRAYS and any(map(is_expression, kinds)):
        for x in (*values, *seeds.values()):
            if isinstance(x, Traced):
                x.tape.walked = True
    if not symbolic or not masks(lines, start().values()):
        derivatives = walk(dict(seeds))
        if not any([unclear(derivatives[x]) for x in ends or derivatives if x in derivatives]):
            return derivatives
    derivatives = {name: bare(x) for name, x in walk(start()).items()}
    if other is None:
        return derivatives
    transposed = lambda units: derivatives_by(other, units, units, lines, values, seeds, not forward)
    limit = min(ENTRIES, LINES // max(1, len([*lines])))
    at_ends = {x: derivatives[x] for x in ends if x in derivatives}
    return derivatives | either_way(at_ends, seeds, transposed, limit)


ENTRIES, IN_VAIN = 1024, 64  # that are asked of the other mode; without an answer, after which it is asked no more
LINES = 10 ** 6  # that all these walks pass at most, some seconds of work


def either_way(derivatives: dict, seeds: Mapping, transposed: Callable[[dict], Mapping], limit: int) -> dict:
    """The derivatives at the ends; entries that are NaN, each by a walk of the other mode, if it tells them.

    Both modes multiply the same slopes along each path, but from different ends, so one of them may meet 0·∞
    where the other has met a 0 that settles it: x / (sqrt(x*x) + 1e-8) at 0. transposed: the other mode. For
    a unit at one entry it gives the row or the column of the Jacobian, whose product with the seeds is this
    entry. limit: the entries that it may be asked for.
    """
    numbers = *derivatives.values(), *seeds.values()
    if any(isinstance(x, (Expression, dict)) or is_complex(x) for x in numbers):
        return derivatives
    places = [(name, tuple(place)) for name, y in derivatives.items() if unclear(y)
              for place in np.argwhere(np.isnan(y))]
    if not places or len(places) > limit:
        return derivatives
    derivatives, in_vain = {name: np.array(y) for name, y in derivatives.items()}, 0
    for name, place in places:
        if in_vain == IN_VAIN:
            break
        units = {x: np.zeros_like(y) for x, y in derivatives.items()}
        units[name][place] = 1.0
        row = transposed(units)
        derivatives[name][place] = sum(np.sum(f.scale(np.asarray(d, float), row.get(x, 0.0)))
                                       for x, d in seeds.items())
        in_vain += bool(np.isnan(derivatives[name][place]))
    return {name: y[()] for name, y in derivatives.items()}


EXCLUDING = {"part", "filled", "chosen", "kept"}  # the flows, in rows, of operators that leave entries out


def masks(lines: Iterable, seeds: Iterable[Masked]) -> bool:
    """Whether a line or a seed may exclude entries at which a slope may be infinite."""
    lines = [*lines]
    facts = {op: facts_of(op) for _, op, _ in lines}
    return "where" in facts or not all([is_tame(op, args) for _, op, args in lines]) and (
        any([fact.flow in EXCLUDING for fact in facts.values()]) or any(d.flow for d in seeds)
        or overflow_settles(lines, facts) or
        any(op == "power" and type(args[1]) in (int, float) and args[1] == 0 for _, op, args in lines))


def overflow_settles(lines: Iterable, facts: Mapping[str, Facts]) -> bool:
    """Whether a line that grows leads to one that settles."""
    grown: set = set()
    for dst, op, args in lines:
        if not grown.isdisjoint(map(name_or_id, args)):
            settles = facts[op].settles
            if (settles(*args) if callable(settles) else settles) is not None:
                return True
            grown.add(name_or_id(dst))
        elif facts[op].grows:
            grown.add(name_or_id(dst))
    return False
