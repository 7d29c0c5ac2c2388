"""Lines that apply functions: each function becomes nests of its own, which run step by step in place.

A bundle is a Python list of entries. Arguments and results of a step are views: a slice moves on by a stride
from step to step, a stack is written at its final place, and a carry is overwritten in place. `scan`, `call`,
`cond` and `while_loop` give the results of a line as views, and raise ByNumPy if NumPy has to run a body: the
line is then a call, and its bundle is Python's.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ops import G
from ops.loops.bodies import Function

from ...wengert import WengertList, fresh
from ..specialise import program_of
from .arrangements import ByNumPy, need
from .builder import Builder, is_native
from .tree import Applied, Call, FunctionRun
from .views import View, indexed, row_by_row

WIDE = {np.dtype(t) for t in ("f8", "i8", "?")}  # beside these Python's numbers act like NumPy's
ENDLESS = 2 ** 62  # steps: more than any loop takes


class Made(NamedTuple):
    """A function as nests. names: the register of each result; None for a carry that does not change. k: how
    many results are carries."""
    nests: Builder
    names: list
    parameters: tuple[str, ...]
    k: int

    def kinds(self) -> list[tuple]:
        """The shapes and types of the results that are no carries."""
        return [self.nests.kinds[y][:2] for y in self.names[self.k:]]


def entries_in(w: Builder, b: str, function: Function) -> list[View]:
    """The entries of a bundle, one for each parameter."""
    given = w.bundles.get(b, ())
    need(all(type(a) in (bool, int, float) or isinstance(a, str) and is_native(w.program, a) for a in given))
    need(len(given) == len(function[2]))
    return [w.views[a] if isinstance(a, str) else w.filled(a, (), np.dtype(type(a))) for a in given]


def lines_of_function(w: Builder, function: Function, entries: Sequence[View], k: int = 0,
                      moving: Mapping[int, int] = {}) -> Made:
    """The function as nests, for these entries, of which the first k are carries. ByNumPy if loops cannot run
    it, or if a step returns a carry of another kind than it gets.

    moving: {the place of a slice: the number of steps if the slice is the number of the step, else 0}.
    """
    _, _, parameters, lines, results = function
    there = {*G, *parameters, *(x for x, _, _ in lines)}
    names = [None if (r,) == parameters[i:i + 1] and i < k else fresh(f"{r}_out", there)
             for i, r in enumerate(results)]
    steps = WengertList([*lines, *((y, "alias", (r,)) for y, r in zip(names, results, strict=True) if y)])
    over = {p: y for p, y in zip(parameters, names[:k], strict=False) if y and p in steps.inputs}
    wanted = tuple(y for y in names if y and y not in over.values())
    blanks = [blank_of(w.dtype(x), x.shape[i in moving:]) for i, x in enumerate(entries)]
    try:
        program = program_of(steps, dict(zip(parameters, blanks, strict=True)), wanted, over)
        carried = zip(names[:k], blanks, strict=False)
        need(all(program.kinds[y][:2] == (x.shape, x.dtype) for y, x in carried if y))
        found = w.translated(program, {p: moving[i] for i, p in enumerate(parameters) if moving.get(i)})
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception:  # the list is interpreted, and the interpreter raises the error
        raise ByNumPy from None
    numbers = any(x.root in w.fills and i not in moving for i, x in enumerate(entries))
    weak = numbers and not {kind.dtype for kind in program.kinds.values()} <= WIDE
    need(not (found.objects or program.others or weak or any(isinstance(x, Call) for x in found.tree.calls)))
    for y in wanted:
        found.tree.roots[found.results[y].root].place = "output"
    return Made(found, names, parameters, k)


def blank_of(dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
    """An array of that kind: all arguments of a step are in memory, numbers too."""
    return np.broadcast_to(np.asarray(dtype.kind == "f", dtype), shape)


def lying_rows(w: Builder, x: View, axis: int = 0) -> View:
    """The view, or that of a copy, that lies in memory row by row from this axis on."""
    lies = not x.gathered and x.strides[axis:] == row_by_row(x.shape[axis:])
    return x if lies else w.copied(x.root, x)


def steps_of(w: Builder, dst: str, made: Made, entries: Sequence[View], parts: dict,
             outs: list, looked_at: bool = False) -> tuple[list[View], FunctionRun]:
    """Where the carries are afterwards, and what runs the steps. parts, outs: of entries that are slices and
    of results that are no carries the places, as of a FunctionRun. looked_at: the carries, by a test before."""
    carry, places, nests = [], dict(zip(made.names[made.k:], outs, strict=True)), made.nests
    for i, (p, x) in enumerate(zip(made.parameters, entries, strict=True)):
        if i in parts:
            places[p] = parts[i]
            continue
        over, written = p in nests.program.inplace.values(), i < made.k and made.names[i]
        x = w.copied(dst, x) if over or written and looked_at else lying_rows(w, x)
        places[p] = x, 0
        if written and not over:
            x = x if looked_at else w.tree.root(f"{dst}.{i}", *nests.kinds[written][:2])
            places[written] = x, 0
        carry += [x] * (i < made.k)
    own, given = nests.program.constants | nests.constants, {}
    for x, root in nests.tree.roots.items():
        if root.place == "given":
            given[x] = (w.constant(np.array(own[x], root.dtype)), 0) if x in own else places[x]
    return carry, FunctionRun(nests, given | {view.root: places[y] for y, view in nests.results.items()})


# ---- the operators -----------------------------------------------------------------------------------------

def scan_in_place(w: Builder, dst: str, function: Function, k: int, slices: int, b: str,
                  reverse: bool = False) -> list[View]:
    entries = entries_in(w, b, function)
    along = [*zip(w.bundles[b], entries, strict=True)][k:k + slices]
    loops = {w.program.counts.get(a) for a, _ in along}
    loop = loops.pop() if len(loops) == 1 else None
    count = w.bundles[loop][-1] if loop in w.bundles else None  # its stacks may have spare rows
    sizes = {x.shape[0] if x.shape else w.program.room if count else a if type(a) is int else 0
             for a, x in along}
    n = sizes.pop() if len(sizes) == 1 else 0
    need(n and (count or not loop))  # the number of steps may be wrong, unknown, or 0
    first, way = (n - 1, -1) if reverse else (0, 1)
    moving = {i: n * (not entries[i].shape) for i in range(k, k + slices)}
    alone = None
    try:
        made = lines_of_function(w, function, entries, k, moving)
    except ByNumPy:  # the first step may give carries of another kind, which stays
        alone = lines_of_function(w, function, entries, 0, moving)
        rest = [w.tree.root(f"{dst}.{i}", *kind) for i, kind in enumerate(alone.kinds()[:k])]
        made = lines_of_function(w, function, [*rest, *entries[k:]], k, moving)
        carries = zip(w.bundles[b], entries, rest, strict=False)
        other = any(isinstance(a, str) and w.dtype(x) != w.dtype(new) for a, x, new in carries)
        need(not count and not other and alone.kinds()[k:] == made.kinds())
    slices = {i: lying_rows(w, entries[i], 1) if entries[i].shape else None for i in moving}
    outs = [w.tree.root(f"{dst}.{j}", (n, *shape), dtype) for j, (shape, dtype) in enumerate(made.kinds(), k)]

    def run(which: Made, entries: list[View], handed: list[View], t: int, steps: int) -> list[View]:
        at = lambda x: (indexed(x, [t]), way * x.strides[0])
        parts = {i: x and at(x) for i, x in slices.items()}
        results = [*((x, 0) for x in handed), *map(at, outs)]
        carry, run = steps_of(w, dst, which, entries, parts, results, bool(count))
        if run.written():
            w.tree.place(Applied("scan", [run], run.written(), steps, count=count, first=t, way=way))
        return handed or carry

    if alone:
        run(alone, entries, rest, first, 1)
        entries, first, n = [*rest, *entries[k:]], first + way, n - 1
    return [*(run(made, entries, [], first, n) if n else rest), *outs]


def branch_in_place(w: Builder, dst: str, asked: Any, one: Function, other: Function, b: str) -> list[View]:
    test = w.views.get(asked) if isinstance(asked, str) else None
    need(isinstance(test, View) and not test.shape and not test.gathered)
    return call_in_place(w, dst, one, b, other, test=test)


def call_in_place(w: Builder, dst: str, function: Function, b: str, *other: Function,
                  test: View | None = None) -> list[View]:
    """The results of a function, or of one of two functions; the test decides which."""
    entries = entries_in(w, b, function)
    made = [lines_of_function(w, each, entries) for each in (function, *other)]
    need(all(one.kinds() == made[0].kinds() for one in made))
    outs = [w.tree.root(f"{dst}.{j}", *kind) for j, kind in enumerate(made[0].kinds())]
    runs = [steps_of(w, dst, one, entries, {}, [(out, 0) for out in outs])[1] for one in made]
    if outs:
        w.tree.place(Applied("cond" if test else "scan", runs, outs, 1, test=test))
    return outs


def while_in_place(w: Builder, dst: str, test: Function, function: Function, k: int, b: str,
                   most: int | None = None) -> list[View]:
    most, entries = ENDLESS if most is None else most, entries_in(w, b, function)
    asked = lines_of_function(w, test, entries_in(w, b, test))
    made = lines_of_function(w, function, entries, k)
    need([shape for shape, _ in asked.kinds()] == [()] and isinstance(most, int))
    carry, run = steps_of(w, dst, made, entries, {}, [], looked_at=True)
    truth, count = w.tree.root(f"{dst}.{k}", *asked.kinds()[0]), w.tree.root(f"{dst}.count", (), np.int64)
    _, look = steps_of(w, dst, asked, [*carry, *entries[k:]], {}, [(truth, 0)])
    most = max(most, 0)
    w.tree.place(Applied("while", [look, run], [*run.written(), truth, count], most, test=truth,
                         count=count))
    return [*carry, count]


APPLIED = dict(scan=scan_in_place, call=call_in_place, cond=branch_in_place, while_loop=while_in_place)
