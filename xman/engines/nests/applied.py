"""Lines that apply functions: each function becomes `Lines` of its own, which run step by step in place.

A bundle is a Python list of entries. Arguments and results of a step are views: a slice moves on by a stride
from step to step, a stack is written at its final place, and a carry is overwritten in place. `scan`, `call`,
`cond` and `while_loop` give the results of a line as views, or None if NumPy has to run a body: then the line
is a call, and its bundle is Python's.
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

WIDE = {np.dtype(t) for t in ("f8", "i8", "?")}  # beside these Python's numbers act like NumPy's
ENDLESS = 2 ** 62  # steps: more than any loop takes


class Entered(NamedTuple):
    """An entry of a bundle: a register's name or a number, its view, and its kind."""
    name: Any
    x: Any
    kind: Kind


class Made(NamedTuple):
    """A function as Lines. names: the register of each result; None for a carry that does not change. over:
    the carries that are overwritten. k: how many results are carries."""
    lines: Any
    names: list
    over: Collection[int]
    parameters: tuple[str, ...]
    k: int

    def kind(self, j: int) -> Kind:
        return self.lines.kinds[self.names[j]]


def entries_in(w: Any, b: str, function: Function) -> list[Entered] | None:
    """The entries of a bundle, one for each parameter; None if their numbers differ."""
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
                      moving: Mapping[int, int] = {}) -> Made | None:
    """The function as Lines, for these entries; None if loops cannot run it. The first k entries are carries.
    If a step returns a carry of another kind than it gets, the result is one step without carries (k = 0).

    moving: {the place of a slice: the number of steps if the slice is the number of the step, else 0}.
    """
    _, _, parameters, lines, results = function
    read = {a for _, _, args in lines for a in args if isinstance(a, str)} | {*results}
    stays = [i for i in range(k) if results[i] == parameters[i]]
    names: list[Any] = [None] * len(results)
    steps, fresh = [*lines], unlike((f"{r}_out" for r in results), [*parameters, *(x for x, _, _ in lines)])
    for j in sorted({*range(len(results))} - {*stays}):
        new = next(fresh)
        taken = results[j] in parameters or results[j] in names
        names[j] = new if taken else results[j]
        steps += [(new, "alias", (results[j],))] * taken
    over = [i for i in range(k) if names[i] and parameters[i] in read]
    wanted = [y for i, y in enumerate(names) if y and i not in over]
    kinds = [kind_in_step(e) if i in moving else e.kind for i, e in enumerate(entries)]
    try:
        program = program_of(WengertList(steps), dict(zip(parameters, map(blank_of, kinds), strict=True)),
                             tuple(wanted), {parameters[i]: names[i] for i in over})
        if any(program.kinds[names[i]][:2] != kinds[i][:2] for i in range(k) if names[i]):
            return lines_of_function(w, function, entries, 0, moving)
        found = type(w)(program, {p: moving[i] for i, p in enumerate(parameters) if moving.get(i)})
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception:  # the list is interpreted, and the interpreter raises the error
        return None
    numbers = any(not isinstance(e.name, str) and i not in moving for i, e in enumerate(entries))
    if (found.objects or program.others or any(isinstance(x, Call) for x in found.tree.calls)
        or numbers and not {kind.dtype for kind in program.kinds.values()} <= WIDE):
        return None
    for y in wanted:
        found.tree.roots[found.results[y].root].place = "output"
    return Made(found, names, over, parameters, k)


def blank_of(kind: Kind) -> np.ndarray:
    """An array of that kind: all arguments of a step are in memory, numbers too."""
    return np.broadcast_to(np.asarray(kind.dtype.kind == "f", kind.dtype), kind.shape)


def kind_in_step(e: Entered) -> Kind:
    """The kind of a slice's entry in a step."""
    return e.kind._replace(shape=e.kind.shape[1:], array=len(e.kind.shape) > 1)


def lying_rows(w: Any, e: Entered, axis: int = 0) -> View:
    """A view of the entry, or of a copy of it, that lies in memory row by row from this axis on."""
    x = e.x
    if not x.gathered and x.strides[axis:] == row_by_row(x.shape[axis:]):
        return x
    return w.line(f"{e.name}.lies", "copy", [x], e.kind.shape, e.kind.dtype)


def steps_of(w: Any, dst: str, made: Made, entries: Sequence[Entered], parts: Mapping[int, Any],
             outs: Sequence[tuple[View, int]], looked_at: bool = False) -> tuple[list[View], Run]:
    """Where the carries are afterwards, and what runs the steps. parts, outs: of entries that are slices and
    of results that are no carries the places, as of a Run. looked_at: the carries, by a test before."""
    carry, places, lines = [], dict(zip(made.names[made.k:], outs, strict=True)), made.lines
    for i, (p, e) in enumerate(zip(made.parameters, entries, strict=True)):
        if i in parts:
            places[p] = parts[i]
            continue
        written = i < made.k and made.names[i]
        if i in made.over or written and looked_at:
            x = w.line(f"{dst}.{i}", "copy", [e.x], e.kind.shape, e.kind.dtype)
        else:
            x = lying_rows(w, e)
        places[p] = x, 0
        if written and i not in made.over:
            x = x if looked_at else w.tree.root(f"{dst}.{i}", *made.kind(i)[:2])
            places[made.names[i]] = x, 0
        carry += [x] * (i < made.k)
    for x, root in lines.tree.roots.items():
        value = lines.constants.get(x, lines.program.constants.get(x))
        if root.place == "given" and value is not None:
            places[x] = w.constant(np.array(value, root.dtype)), 0
    given = {x: places[x] for x, root in lines.tree.roots.items() if root.place == "given"}
    return carry, Run(lines, given | {view.root: places[y] for y, view in lines.results.items()})


# ---- the operators -----------------------------------------------------------------------------------------

def scan_in_place(w: Any, step: Step) -> Any:
    dst, _, (function, k, slices, b, *reverse) = step
    entries = entries_in(w, b, function)
    if entries is None:
        return None
    loops = {w.program.counts.get(e.name) for e in entries[k:k + slices]}
    loop = loops.pop() if len(loops) == 1 else None
    count = w.bundles[loop][-1] if loop in w.bundles else None  # its stacks may have spare rows
    sizes = {e.kind.shape[0] if e.kind.shape else w.program.room if count else
             e.name if type(e.name) is int else 0 for e in entries[k:k + slices]}
    n = sizes.pop() if len(sizes) == 1 else 0
    if n < 1 or loop and not count:
        return None  # the number of steps is wrong, unknown, or 0
    first, way = (n - 1, -1) if reverse and reverse[0] else (0, 1)
    moving = {i: n * (not entries[i].kind.shape) for i in range(k, k + slices)}
    made, alone = lines_of_function(w, function, entries, k, moving), None
    if made and made.k < k:
        alone, rest = made, [Entered(dst, None, made.kind(i)) for i in range(k)]
        made = lines_of_function(w, function, [*rest, *entries[k:]], k, moving)
        if count or not made or any(
                alone.kind(j)[:2] != made.kind(j)[:2] for j in range(k, len(made.names))) or any(
                isinstance(e.name, str) and e.kind.dtype != new.kind.dtype
                for e, new in zip(entries, rest, strict=False)):
            return None
    if not made or made.k < k:
        return None
    slices = {i: entries[i].kind.shape and lying_rows(w, entries[i], 1) for i in moving}
    outs = [w.tree.root(f"{dst}.{j}", (n, *made.kind(j).shape), made.kind(j).dtype)
            for j in range(k, len(made.names))]

    def run(which: Made, entries: list[Entered], t: int, steps: int) -> list[View]:
        at = lambda x: (indexed(x, [t]), way * x.strides[0])
        handed = [w.tree.root(f"{dst}.{i}", *which.kind(i)[:2]) for i in range(k - which.k)]
        carry, run = steps_of(w, dst, which, entries, {i: at(x) if x else None for i, x in slices.items()},
                              [*((x, 0) for x in handed), *map(at, outs)], bool(count))
        if run.written():
            w.tree.place(Applied("scan", [run], run.written(), steps, count=count, first=t, way=way))
        return handed or carry

    if alone:
        carry = run(alone, entries, first, 1)
        rest = [Entered(f"{dst}.{i}", x, e.kind) for i, (x, e) in enumerate(zip(carry, rest, strict=True))]
        entries, first, n = [*rest, *entries[k:]], first + way, n - 1
    return [*(run(made, entries, first, n) if n else carry), *outs]


def call_in_place(w: Any, step: Step) -> Any:
    return of_functions(w, step[0], step[2][:1], step[2][1])


def branch_in_place(w: Any, step: Step) -> Any:
    test = w.views.get(step[2][0]) if isinstance(step[2][0], str) else None
    if not isinstance(test, View) or test.shape or test.gathered:
        return None
    return of_functions(w, step[0], step[2][1:3], step[2][3], test)


def of_functions(w: Any, dst: str, functions: Sequence[Function], b: str, test: View | None = None) -> Any:
    """The results of a function, or of one of two functions; the test decides which."""
    made = [entries and lines_of_function(w, function, entries) for function in functions
            for entries in [entries_in(w, b, function)]]
    if not all(made) or any(one.kind(j)[:2] != made[0].kind(j)[:2] for one in made
                            for j in range(len(made[0].names))):
        return None
    outs = [w.tree.root(f"{dst}.{j}", *made[0].kind(j)[:2]) for j in range(len(made[0].names))]
    runs = [steps_of(w, dst, one, entries_in(w, b, function), {}, [(out, 0) for out in outs])[1]
            for one, function in zip(made, functions, strict=True)]
    if outs:
        w.tree.place(Applied("cond" if test else "scan", runs, outs, 1, test=test))
    return outs


def while_in_place(w: Any, step: Step) -> Any:
    dst, _, (test, function, k, b, *most) = step
    most = ENDLESS if most in ([], [None]) else most[0]
    entries, others = entries_in(w, b, function), entries_in(w, b, test)
    asked = others and lines_of_function(w, test, others)
    made = entries and lines_of_function(w, function, entries, k)
    if (not asked or not made or made.k < k or len(asked.names) != 1
        or asked.kind(0).shape or not isinstance(most, int)):
        return None
    carry, run = steps_of(w, dst, made, entries, {}, [], looked_at=True)
    truth = w.tree.root(f"{dst}.{k}", *asked.kind(0)[:2])
    count = w.tree.root(f"{dst}.count", (), np.int64)
    now = [Entered(dst, x, e.kind) for x, e in zip(carry, entries, strict=False)]
    _, look = steps_of(w, dst, asked, [*now, *entries[k:]], {}, [(truth, 0)])
    most = max(most, 0)
    w.tree.place(Applied("while", [look, run], [*run.written(), truth, count], most, test=truth,
                         count=count))
    return [*carry, count]


APPLIED = {"scan": scan_in_place, "call": call_in_place, "cond": branch_in_place,
           "while_loop": while_in_place}
