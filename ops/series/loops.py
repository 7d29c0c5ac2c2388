"""Loops of series: the function of all terms of its arguments, written once and applied."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..expression import Expression, f
from ..facts import operator_called
from ..loops import values
from ..loops.bodies import Body, Bundle, Function, carried_on, moves, remembered
from ..writer import fresh

if TYPE_CHECKING:
    from .expansion import Expansion


class Bundled(Expression):
    """A bundle with series in it."""

    # a tape of a function within asks for these
    dtype = Bundle.dtype
    ndim = property(lambda self: len(self.entries))

    def __init__(self, expansion: Expansion, entries: Sequence):
        self.expansion, self.entries, self.level = expansion, entries, expansion.level

    def record(self, op: str, args: Sequence) -> Any: return self.expansion.record(op, args)


def of_terms(make: Callable, function: Function, moving: frozenset[int], order: int, k: int,
             every: frozenset[int]) -> tuple[Function, frozenset[int]]:
    """(the function that takes all terms of its parameters in `moving`, one after another, and gives those of
    its results that move, and of those in `every`; which these are). make: an Expansion for symbols. k: its
    carries move if either end does."""
    _, name, parameters, _, results = function
    words = {*parameters, *(dst for dst, _, _ in function[3])}
    names = [[p] + [fresh(f"{p}_{j}", words) for j in range(1, order + 1)] * (i in moving)
             for i, p in enumerate(parameters)]
    body = Body(word for group in names for word in group)
    starts, expansion = iter(body.starts), make()
    inputs = [[next(starts) for _ in group] for group in names]
    values = {p: expansion.series(*terms) if i in moving else terms[0]
              for i, (p, terms) in enumerate(zip(parameters, inputs, strict=True))}
    for dst, op, args in function[3]:
        values[dst] = operator_called(op)(*[values[a] if isinstance(a, str) else a for a in args])
    ends, moved = [], set()
    for i, r in enumerate(results):
        x = values[r]
        if expansion.has(x) or i in every or i in moving and i < k:
            moved.add(i)
            ends += [(f"{r}_{j}" if j else r, x) for j, x in enumerate(expansion.as_series(x).all_terms())]
        else:
            ends.append((r, x))
    return body.function(f"{name}_terms", ends)[0], frozenset(moved)


def terms_of_entries(expansion: Expansion, entries: Sequence, moving: frozenset[int]) -> list:
    """The entries of a bundle, those in `moving` as all their terms."""
    return [term for i, x in enumerate(entries) for term in (
        [expansion.first(x)] if i not in moving else expansion.as_series(x).all_terms())]


def entries_of_terms(expansion: Expansion, out: Any, count: int, moved: frozenset[int]) -> Bundled:
    """The bundle of series from that of all their terms."""
    places, entries = iter(range(count + expansion.order * len(moved))), []
    for i in range(count):
        terms = [f.item(out, next(places)) for _ in range(expansion.order * (i in moved) + 1)]
        entries.append(expansion.series(*terms) if i in moved else terms[0])
    return Bundled(expansion, entries)


def through_functions(expansion: Expansion, functions: Sequence[Function], k: int, slices: int,
                      bundle: Bundled, apply: Callable, counts: int = 0) -> Bundled:
    """The bundle of a row that applies functions. apply(functions of terms, carries, slices, bundle, moving).
    counts: how many results come after those of the function."""
    if expansion.grows:
        raise ValueError("an equation whose right side is a loop of a list has no series here: write the loop "
                         "in Python")
    entries, n = bundle.entries, expansion.order
    moving, _ = carried_on(functions[-1], [i for i, x in enumerate(entries) if expansion.has(x)], k, moves)
    moving, every = frozenset(moving), frozenset()
    for _ in functions:  # the branches of a cond give the same results
        settings = moving, n, k, every
        pairs = [remembered("terms", function, partial(of_terms, expansion.of_symbols, function, *settings),
                            *settings)
                 for function in functions]
        every = frozenset().union(*(moved for _, moved in pairs))
    size = lambda first, last: sum(n * (i in moving) + 1 for i in range(first, last))
    out = apply([function for function, _ in pairs], size(0, k), size(k, k + slices),
                f.bundle(*terms_of_entries(expansion, entries, moving)), moving)
    return entries_of_terms(expansion, out, len(functions[-1][4]) + counts, every)


def while_series(expansion: Expansion, test: Function, function: Function, k: int, bundle: Bundled,
             *most: Any) -> Bundled:
    def apply(functions, carries, slices, terms, moving):
        _, name, parameters, lines, results = test
        words = {*parameters, *(dst for dst, _, _ in lines)}
        longer = [word for i, p in enumerate(parameters) for word in (
            p, *(fresh(f"{p}_{j}", words) for j in range(1, expansion.order * (i in moving) + 1)))]
        test_of_terms = ("def", f"{name}_terms", tuple(longer), lines, results)
        return f.while_loop(test_of_terms, *functions, carries, terms, *most)
    return through_functions(expansion, [function], k, 0, bundle, apply, counts=1)


def bundle_series(expansion: Expansion, *entries: Any) -> Bundled: return Bundled(expansion, entries)
def item_series(expansion: Expansion, bundle: Bundled, i: int) -> Any: return bundle.entries[i]


def call_series(expansion: Expansion, function: Function, bundle: Bundled) -> Bundled:
    apply = lambda functions, k, n, terms, _: f.call(*functions, terms)
    return through_functions(expansion, [function], 0, 0, bundle, apply)


def cond_series(expansion: Expansion, c: Any, yes: Function, no: Function, bundle: Bundled) -> Bundled:
    apply = lambda functions, k, n, terms, _: f.cond(expansion.first(c), *functions, terms)
    return through_functions(expansion, [yes, no], 0, 0, bundle, apply)


def scan_series(expansion: Expansion, function: Function, k: int, slices: int, bundle: Bundled,
            *reverse: bool) -> Bundled:
    apply = lambda functions, k, n, terms, _: f.scan(*functions, k, n, terms, *reverse)
    return through_functions(expansion, [function], k, slices, bundle, apply)


LOOPS: dict[Callable, Callable] = {
    values.bundle: bundle_series, values.item: item_series, values.call: call_series, values.cond: cond_series,
    values.scan: scan_series, values.while_loop: while_series}
