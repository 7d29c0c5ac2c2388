"""Lines that apply functions: each function becomes `Lines` of its own, which run step by step in place.

A bundle is what its entries are. What a step takes and gives are views: a slice moves on by a stride from
step to step, what is stacked is written where it stays, and a carry is overwritten where it lies, or read
where the step before has stacked it. `scan`, `call`, `cond` and `while_loop` here give the results of a line
as views, or None where NumPy has to run a body: then the line is a call, and its bundle is Python's.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ops.loops.bodies import Function, unlike

from ...wengert import Line as Step
from ...wengert import WengertList
from ..program import Kind, program_of
from .tree import Applied, Call, Run
from .views import View, indexed, row_by_row

WIDE = {np.dtype(t) for t in ("f8", "i8", "?")}  # beside these a number of Python's is as one of NumPy's
ENDLESS = 2 ** 62  # steps


class Entered(NamedTuple):
    """What a bundle has in a place: a register's name or a number, its view, and its kind."""
    name: Any
    x: Any
    kind: Kind


class Made(NamedTuple):
    """A function as Lines. names: the register of each result, None for a carry that is handed on as it came.
    over: the carries that are overwritten. relayed: the carries that are read where they are stacked,
    and as which result."""
    lines: Any
    names: list
    over: Collection[int]
    relayed: Mapping[int, int]
    parameters: tuple[str, ...]

    def kind(self, j: int) -> Kind:
        return self.lines.kinds[self.names[j]]


def entries_in(w: Any, b: str, function: Function) -> list[Entered] | None:
    """The entries of a bundle that has one for each parameter."""
    if len(w.bundles.get(b, ())) != len(function[2]):
        return None
    if not all(type(a) in (bool, int, float) or isinstance(a, str) and w.known(a) for a in w.bundles[b]):
        return None
    found = []
    for a in w.bundles[b]:
        kind = w.kinds[a] if isinstance(a, str) else Kind((), np.dtype(type(a)), False)
        found.append(Entered(a, w.views[a] if isinstance(a, str) else w.filled(a, (), kind.dtype), kind))
    return found


def lines_of_function(w: Any, function: Function, entries: Sequence[Entered], k: int = 0,
                      moving: Mapping[int, int] = {}, once: bool = False, relay: bool = True) -> Made | None:
    """The function as Lines, for these entries.

    k: how many are carries. moving: the steps of those that are slices. once: for one step alone, whose
    carries are other places. None where it is not for loops; with a carry that changes, `lines` is its kinds.
    """
    _, _, parameters, lines, results = function
    read = {a for _, _, args in lines for a in args if isinstance(a, str)} | {*results}
    stays = [i for i in range(k) if results[i] == parameters[i]]
    relayed = {i: k + results[k:].index(results[i]) for i in range(k)
               if relay and not once and i not in stays and results[i] in results[k:]}
    names: list[Any] = [None] * len(results)
    steps, fresh = [*lines], unlike((f"{r}_out" for r in results), [*parameters, *(x for x, _, _ in lines)])
    for j in sorted({*range(len(results))} - {*stays, *relayed}):
        new = next(fresh)
        taken = results[j] in parameters or results[j] in names
        names[j] = new if taken else results[j]
        steps += [(new, "alias", (results[j],))] * taken
    for i, j in relayed.items():
        names[i] = names[j]
    over = [i for i in range(k) if not once and names[i] and i not in relayed and parameters[i] in read]
    wanted = [y for i, y in enumerate(names) if y and i not in over and i not in relayed]
    kinds = [kind_in_step(e) if i in moving else e.kind for i, e in enumerate(entries)]
    try:
        program = program_of(WengertList(steps), dict(zip(parameters, map(blank_of, kinds), strict=True)),
                             tuple(wanted), {parameters[i]: names[i] for i in over})
        if any(not program.kinds[names[i]][:2] == kinds[i][:2] for i in range(k) if names[i]) and not once:
            return Made(program.kinds, names, over, relayed, parameters)
        found = type(w)(program, {p: moving[i] for i, p in enumerate(parameters) if moving.get(i)})
    except TimeoutError:
        raise  # of a clock
    except Exception:  # what is wrong with it, the interpreter says when it runs
        return None
    numbers = any(not isinstance(e.name, str) and i not in moving for i, e in enumerate(entries))
    if (found.objects or program.others or any(isinstance(x, Call) for x in found.tree.calls)
        or numbers and not {kind.dtype for kind in program.kinds.values()} <= WIDE):
        return None
    for y in wanted:
        found.tree.roots[found.results[y].root].place = "output"
    return Made(found, names, over, relayed, parameters)


def blank_of(kind: Kind) -> np.ndarray:
    """An array of that kind: what a step is given lies in memory, a number, too."""
    return np.broadcast_to(np.asarray(kind.dtype.kind == "f", kind.dtype), kind.shape)


def kind_in_step(e: Entered) -> Kind:
    """The kind of what a step sees of a slice."""
    return e.kind._replace(shape=e.kind.shape[1:], array=len(e.kind.shape) > 1)


def lying_rows(w: Any, e: Entered, axis: int = 0) -> View:
    """An entry that lies in memory row by row, from that axis on."""
    x = e.x
    if not x.gathered and x.strides[axis:] == row_by_row(x.shape[axis:]):
        return x
    return w.line(f"{e.name}.lies", "copy", [x], e.kind.shape, e.kind.dtype)


def first_part(w: Any, e: Entered) -> tuple[View, int] | None:
    """What the first step sees of a slice, and how far on the next one's lies; None for a number of steps."""
    x = e.kind.shape and lying_rows(w, e, 1)
    return (indexed(x, [0]), x.strides[0]) if x else None


def part_at(place: tuple[View, int], t: int, way: int = 1) -> tuple[View, int]:
    view, stride = place
    return view._replace(offset=view.offset + t * stride, index=None), way * stride


def root_for(w: Any, dst: str, j: int, kind: Kind, n: tuple[int, ...] = ()) -> View:
    return w.tree.root(w.fresh(f"{dst}.{j}"), (*n, *kind.shape), kind.dtype)


def run_of(w: Any, made: Made, places: Mapping[str, Any]) -> Run:
    """A run of Lines. places: of their parameters and results."""
    lines, given = made.lines, {}
    for x, root in lines.tree.roots.items():
        if root.place == "given":
            value = lines.constants.get(x, lines.program.constants.get(x))
            given[x] = places[x] if value is None else (w.constant(np.array(value, root.dtype)), 0)
    given |= {view.root: places[y] for y, view in lines.results.items()}
    relays = {made.parameters[i]: lines.results[made.names[j]].root for i, j in made.relayed.items()}
    return Run(lines, given, {x: y for x, y in relays.items() if x in given})


def steps_of(w: Any, dst: str, made: Made, k: int, entries: Sequence[Entered], moving: Mapping[int, Any],
             outs: Sequence[View], first: int = 0, way: int = 1, count: int = 1,
             looked_at: bool = False) -> tuple[list[View], Run]:
    """Where the carries are after so many steps, and what runs them. looked_at: by a test before."""
    carry, places = [], {}
    for i, e in enumerate(entries):
        p = made.parameters[i]
        if i in moving:
            places[p] = moving[i] and part_at(moving[i], first, way)
            continue
        written = i < k and made.names[i] and i not in made.relayed
        if i in made.over or written and looked_at:
            x = w.line(f"{dst}.{i}", "copy", [e.x], e.kind.shape, e.kind.dtype)
        else:
            x = lying_rows(w, e)
        places[p] = x, 0
        if written and i not in made.over:
            x = x if looked_at else root_for(w, dst, i, made.kind(i))
            places[made.names[i]] = x, 0
        if i in made.relayed:
            x = indexed(outs[made.relayed[i] - k], [first + way * (count - 1)])
        carry += [x] * (i < k)
    for y, out in zip(made.names[k:], outs, strict=True):
        places[y] = part_at((indexed(out, [0]), out.strides[0] or int(np.prod(out.shape[1:]))), first, way)
    return carry, run_of(w, made, places)


# ---- the operators -----------------------------------------------------------------------------------------

def scan_in_place(w: Any, step: Step) -> Any:
    dst, _, (function, k, slices, b, *reverse) = step
    entries = entries_in(w, b, function)
    if entries is None:
        return None
    loops = {w.program.counts.get(e.name) for e in entries[k:k + slices]}
    loop = loops.pop() if len(loops) == 1 else None
    count = w.bundles[loop][-1] if loop in w.bundles else None  # of what has room for more
    sizes = {e.kind.shape[0] if e.kind.shape else w.program.room if count else
             e.name if type(e.name) is int else 0 for e in entries[k:k + slices]}
    n = sizes.pop() if len(sizes) == 1 else 0
    if n < 1 or loop and not count:
        return None  # it is wrong, or not known yet, or there is nothing to do
    first, way = (n - 1, -1) if reverse and reverse[0] else (0, 1)
    moving = {i: n * (not entries[i].kind.shape) for i in range(k, k + slices)}
    made, runs = lines_of_function(w, function, entries, k, moving, relay=not count), []
    if made and isinstance(made.lines, dict) and not count:  # after the first step a carry is of another kind
        alone = lines_of_function(w, function, entries, k, moving, once=True)
        rest = alone and [Entered(dst, None, alone.kind(i)) if alone.names[i] else entries[i]
                          for i in range(k)]
        made = alone and lines_of_function(w, function, [*rest, *entries[k:]], k, moving)
        if not made or isinstance(made.lines, dict) or any(
                alone.kind(j)[:2] != made.kind(j)[:2] for j in range(k, len(made.names))) or any(
                isinstance(e.name, str) and e.kind.dtype != alone.kind(i).dtype
                for i, e in enumerate(entries[:k]) if alone.names[i]):
            return None
        runs = [(alone, 1)]
    if not made or isinstance(made.lines, dict):
        return None
    places = {i: first_part(w, entries[i]) for i in moving}
    outs = [root_for(w, dst, j, made.kind(j), (n,)) for j in range(k, len(made.names))]
    carry = []
    for which, steps in (*runs, (made, n - len(runs))):
        if steps:
            carry, run = steps_of(w, dst, which, k, entries, places, outs, first, way, steps, bool(count))
            if run.written():
                w.tree.place(Applied("scan", [run], run.written(), steps, count=count, first=first, way=way))
            entries = [*(Entered(f"{dst}.{i}", x, which.kind(i) if which.names[i] else e.kind)
                         for i, (x, e) in enumerate(zip(carry, entries, strict=False))), *entries[k:]]
            first += way
    return [*carry, *outs]


def call_in_place(w: Any, step: Step) -> Any:
    return of_functions(w, step[0], step[2][:1], step[2][1])


def branch_in_place(w: Any, step: Step) -> Any:
    test = w.views.get(step[2][0]) if isinstance(step[2][0], str) else None
    if not isinstance(test, View) or test.shape or test.gathered:
        return None
    return of_functions(w, step[0], step[2][1:3], step[2][3], test)


def of_functions(w: Any, dst: str, functions: Sequence[Function], b: str, test: View | None = None) -> Any:
    """The results of a function, or of the one of two that the test says."""
    made = [entries and lines_of_function(w, function, entries) for function in functions
            for entries in [entries_in(w, b, function)]]
    if not all(made) or any(one.kind(j)[:2] != made[0].kind(j)[:2] for one in made
                            for j in range(len(made[0].names))):
        return None
    outs = [root_for(w, dst, j, made[0].kind(j), (1,)) for j in range(len(made[0].names))]
    runs = [steps_of(w, dst, one, 0, entries_in(w, b, function), {}, outs)[1]
            for one, function in zip(made, functions, strict=True)]
    if outs:
        w.tree.place(Applied("cond" if test else "scan", runs, outs, 1, test=test))
    return [indexed(out, [0]) for out in outs]


def while_in_place(w: Any, step: Step) -> Any:
    dst, _, (test, function, k, b, *most) = step
    most = ENDLESS if most in ([], [None]) else most[0]
    entries, others = entries_in(w, b, function), entries_in(w, b, test)
    asked = others and lines_of_function(w, test, others)
    made = entries and lines_of_function(w, function, entries, k)
    if (not asked or not made or isinstance(made.lines, dict) or len(asked.names) != 1
        or asked.kind(0).shape or not isinstance(most, int)):
        return None
    carry, run = steps_of(w, dst, made, k, entries, {}, [], looked_at=True)
    truth = root_for(w, dst, k, asked.kind(0), (1,))
    count = w.tree.root(w.fresh(f"{dst}.count"), (), np.int64)
    now = [Entered(dst, x, e.kind) for x, e in zip(carry, entries, strict=False)]
    _, look = steps_of(w, dst, asked, 0, [*now, *entries[k:]], {}, [truth])
    most = max(most, 0)
    w.tree.place(Applied("while", [look, run], [*run.written(), truth, count], most, test=indexed(truth, [0]),
                         count=count))
    return [*carry, count]


APPLIED = {"scan": scan_in_place, "call": call_in_place, "cond": branch_in_place,
           "while_loop": while_in_place}
