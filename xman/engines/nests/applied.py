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
from ..specialise.kinds import WIDE
from .arrangements import ByNumPy, need
from .builder import Builder, is_native
from .tree import Applied, Call, FunctionRun
from .views import View, indexed, row_by_row

ENDLESS = 2 ** 62  # steps: more than any loop takes


class StepNests(NamedTuple):
    """A function as nests. names: the register of each result; None for a carry that does not change. k: how
    many results are carries."""
    nests: Builder
    names: list[str | None]
    parameters: tuple[str, ...]
    k: int

    def kinds(self) -> list[tuple]:
        """The shapes and types of the results that are no carries."""
        return [self.nests.kinds[y][:2] for y in self.names[self.k:]]


def entries_in(w: Builder, b: str, function: Function) -> list[View]:
    """The entries of a bundle, one for each parameter."""
    args = w.bundles.get(b, ())
    need(all(type(a) in (bool, int, float) or isinstance(a, str) and is_native(w.program, a) for a in args))
    need(len(args) == len(function[2]))
    return [w.views[a] if isinstance(a, str) else w.filled(a, (), np.dtype(type(a))) for a in args]


def lines_of_function(w: Builder, function: Function, entries: Sequence[View], k: int = 0,
                      moving: Mapping[int, int] = {}) -> StepNests:
    """The function as nests, for these entries, of which the first k are carries. ByNumPy if loops cannot run
    it, or if a step returns a carry of another kind than it gets.

    moving: {the place of a slice: the number of steps if the slice is the number of the step, else 0}.
    """
    _, _, parameters, lines, results = function
    registers = {*G, *parameters, *(x for x, _, _ in lines)}
    names = [None if (r,) == parameters[i:i + 1] and i < k else fresh(f"{r}_out", registers)
             for i, r in enumerate(results)]
    steps = WengertList([*lines, *((y, "alias", (r,)) for y, r in zip(names, results, strict=True) if y)])
    over = {p: y for p, y in zip(parameters, names[:k], strict=False) if y and p in steps.inputs}
    outputs = tuple(y for y in names if y and y not in over.values())
    blanks = [blank_of(w.dtype(x), x.shape[i in moving:]) for i, x in enumerate(entries)]
    try:
        program = program_of(steps, dict(zip(parameters, blanks, strict=True)), outputs, over,
                             w.program.capacity)
        carried = zip(names[:k], blanks, strict=False)
        need(all(program.kinds[y][:2] == (x.shape, x.dtype) for y, x in carried if y))
        nests = w.translated(program, {p: moving[i] for i, p in enumerate(parameters) if moving.get(i)})
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception:  # the list is interpreted, and the interpreter raises the error
        raise ByNumPy from None
    numbers = any(x.root in w.fills and i not in moving for i, x in enumerate(entries))
    weak = numbers and not {kind.dtype for kind in program.kinds.values()} <= WIDE
    need(not (nests.objects or program.objects or weak or any(isinstance(x, Call) for x in nests.tree.calls)))
    for y in outputs:
        nests.tree.roots[nests.results[y].root].place = "output"
    return StepNests(nests, names, parameters, k)


def blank_of(dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
    """An array of that kind: all arguments of a step are in memory, numbers too."""
    return np.broadcast_to(np.asarray(dtype.kind == "f", dtype), shape)


def lying_rows(w: Builder, x: View, axis: int = 0) -> View:
    """The view, or that of a copy, that lies in memory row by row from this axis on."""
    lies = not x.gathered and x.strides[axis:] == row_by_row(x.shape[axis:])
    return x if lies else w.copied(x.root, x)


def steps_of(w: Builder, dst: str, body: StepNests, entries: Sequence[View], slices: dict,
             outs: list, tested: bool = False) -> tuple[list[View], FunctionRun]:
    """Where the carries are afterwards, and what runs the steps. slices: the places of entries that move from
    step to step; outs: those of results that are no carries, as in a FunctionRun. tested: whether a test
    reads the carries before."""
    carry, places, nests = [], dict(zip(body.names[body.k:], outs, strict=True)), body.nests
    for i, (p, x) in enumerate(zip(body.parameters, entries, strict=True)):
        if i in slices:
            places[p] = slices[i]
            continue
        over, written = p in nests.program.inplace.values(), i < body.k and body.names[i]
        x = w.copied(dst, x) if over or written and tested else lying_rows(w, x)
        places[p] = x, 0
        if written and not over:
            x = x if tested else w.tree.root(f"{dst}.{i}", *nests.kinds[written][:2])
            places[written] = x, 0
        carry += [x] * (i < body.k)
    constants, views = nests.program.constants | nests.constants, {}
    for x, root in nests.tree.roots.items():
        if root.place == "given":
            views[x] = (w.constant(np.array(constants[x], root.dtype)), 0) if x in constants else places[x]
    return carry, FunctionRun(nests, views | {view.root: places[y] for y, view in nests.results.items()})


# ---- the operators -----------------------------------------------------------------------------------------

def scan_in_place(w: Builder, dst: str, function: Function, k: int, slices: int, b: str,
                  reverse: bool = False) -> list[View]:
    entries = entries_in(w, b, function)
    along = [*zip(w.bundles[b], entries, strict=True)][k:k + slices]
    loops = {w.program.counts.get(a) for a, _ in along}
    loop = loops.pop() if len(loops) == 1 else None
    count = w.bundles[loop][-1] if loop in w.bundles else None  # its stacks may have spare rows
    sizes = {x.shape[0] if x.shape else w.program.capacity if count else a if type(a) is int else 0
             for a, x in along}
    n = sizes.pop() if len(sizes) == 1 else 0
    need(n and (count or not loop))  # the number of steps may be wrong, unknown, or 0
    first, way = (n - 1, -1) if reverse else (0, 1)
    moving = {i: n * (not entries[i].shape) for i in range(k, k + slices)}
    alone = None
    try:
        body = lines_of_function(w, function, entries, k, moving)
    except ByNumPy:  # the first step may give carries of another kind, which stays
        alone = lines_of_function(w, function, entries, 0, moving)
        carries = [w.tree.root(f"{dst}.{i}", *kind) for i, kind in enumerate(alone.kinds()[:k])]
        body = lines_of_function(w, function, [*carries, *entries[k:]], k, moving)
        pairs = zip(w.bundles[b], entries, carries, strict=False)
        differ = any(isinstance(a, str) and w.dtype(x) != w.dtype(carry) for a, x, carry in pairs)
        need(not count and not differ and alone.kinds()[k:] == body.kinds())
    slices = {i: lying_rows(w, entries[i], 1) if entries[i].shape else None for i in moving}
    outs = [w.tree.root(f"{dst}.{j}", (n, *shape), dtype) for j, (shape, dtype) in enumerate(body.kinds(), k)]

    def place_steps(which: StepNests, entries: list[View], handed: list[View], t: int,
                    steps: int) -> list[View]:
        moving_place = lambda x: (indexed(x, [t]), way * x.strides[0])
        slice_places = {i: x and moving_place(x) for i, x in slices.items()}
        results = [*((x, 0) for x in handed), *map(moving_place, outs)]
        carry, run = steps_of(w, dst, which, entries, slice_places, results, bool(count))
        if run.written():
            w.tree.place(Applied("scan", [run], run.written(), steps, count=count, first=t, way=way))
        return handed or carry

    if alone:
        place_steps(alone, entries, carries, first, 1)
        entries, first, n = [*carries, *entries[k:]], first + way, n - 1
    return [*(place_steps(body, entries, [], first, n) if n else carries), *outs]


def branch_in_place(w: Builder, dst: str, test: Any, then: Function, orelse: Function, b: str) -> list[View]:
    view = w.views.get(test) if isinstance(test, str) else None
    need(isinstance(view, View) and not view.shape and not view.gathered)
    return call_in_place(w, dst, then, b, orelse, test=view)


def call_in_place(w: Builder, dst: str, function: Function, b: str, *alternatives: Function,
                  test: View | None = None) -> list[View]:
    """The results of a function, or of one of two functions; the test decides which."""
    entries = entries_in(w, b, function)
    bodies = [lines_of_function(w, each, entries) for each in (function, *alternatives)]
    need(all(body.kinds() == bodies[0].kinds() for body in bodies))
    outs = [w.tree.root(f"{dst}.{j}", *kind) for j, kind in enumerate(bodies[0].kinds())]
    runs = [steps_of(w, dst, body, entries, {}, [(out, 0) for out in outs])[1] for body in bodies]
    if outs:
        w.tree.place(Applied("cond" if test else "scan", runs, outs, 1, test=test))
    return outs


def while_in_place(w: Builder, dst: str, test: Function, function: Function, k: int, b: str,
                   size: int | None = None) -> list[View]:
    size, entries = ENDLESS if size is None else size, entries_in(w, b, function)
    condition = lines_of_function(w, test, entries_in(w, b, test))
    body = lines_of_function(w, function, entries, k)
    need([shape for shape, _ in condition.kinds()] == [()] and isinstance(size, int))
    carry, run = steps_of(w, dst, body, entries, {}, [], tested=True)
    truth, count = w.tree.root(f"{dst}.{k}", *condition.kinds()[0]), w.tree.root(f"{dst}.count", (), np.int64)
    _, look = steps_of(w, dst, condition, [*carry, *entries[k:]], {}, [(truth, 0)])
    size = max(size, 0)
    w.tree.place(Applied("while", [look, run], [*run.written(), truth, count], size, test=truth,
                         count=count))
    return [*carry, count]


APPLIED = dict(scan=scan_in_place, call=call_in_place, cond=branch_in_place, while_loop=while_in_place)
