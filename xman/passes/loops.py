"""Passes on lines that apply functions: they drop results, arguments and body lines that are not used."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ops import f
from ops.facts import name_or_id
from ops.loops.bodies import Function
from ops.loops.values import one_of
from ops.writer import Symbol, WrittenLine, definition

from ..interpreters import eval
from ..wengert import WengertList, needed
from .writer import ListWriter

# by operator the place of its first function; counts stand between the functions and the bundle
APPLYING = {"call": 0, "scan": 0, "cond": 1}
Key = Any  # the key of a register: its name, or the id of a Symbol



def items_read(lines: Iterable[tuple], before: Mapping[Key, tuple] = {},
               named: Collection[Key] = ()) -> list[tuple]:
    """The lines, without those that take an item out of a bundle just made, or take it out again.

    lines: (register, op, arguments, …); registers are names or Symbols. before: (op, arguments) by register,
    of earlier lines. named: registers whose lines stay in any case.
    """
    definition, same, seen, result = dict(before), {}, {}, []
    for out, op, args, *rest in lines:
        args = tuple([same.get(name_or_id(a), a) if type(a) is not int else a for a in args])
        if op == "item" and name_or_id(out) not in named:
            made, of = definition.get(name_or_id(args[0]), ("", ()))
            x = of[args[1]] if made == "bundle" else seen.setdefault((name_or_id(args[0]), args[1]), out)
            if x is not out and not isinstance(x, (int, float)):
                same[name_or_id(out)] = x
                continue
        definition[name_or_id(out)] = op, args
        result.append((out, op, args, *rest))
    return result


def trimmed(lines: Sequence[tuple], keep: Collection[Key], fresh: Callable[[], Any],
            before: Mapping[Key, tuple] = {}) -> list[tuple]:
    """The lines that lead to keep; functions give only results that are read, and take only what they need.

    lines, before: as for `items_read`. fresh(): a new register, for a bundle that was shortened.
    """
    definition = {**before, **{name_or_id(out): (op, args) for out, op, args, *_ in lines}}
    wanted, read, result, moved = set(keep), {}, [], {}
    for out, op, args, *rest in reversed(lines):
        if name_or_id(out) not in wanted:
            continue
        registers = [a for a in args if name_or_id(a) in definition or isinstance(a, str)]
        if op != "item":
            read |= {name_or_id(a): None for a in registers}  # the whole bundle
        elif (some := read.setdefault(name_or_id(args[0]), set())) is not None:
            some.add(args[1])
        if (op in APPLYING and (some := read.get(name_or_id(out))) is not None
            and name_or_id(out) not in keep):
            which = 3 if op == "scan" else len(args) - 1
            functions, counts, b = args[APPLYING[op]:which], args[1:3] if op == "scan" else (), args[which]
            made, entries = definition.get(name_or_id(b), ("", ()))
            if made == "bundle":
                functions = functions[:1] if op == "scan" else functions
                cut = shorter(functions, *(counts or (0, len(entries))), some, loop=op == "scan")
                if cut:
                    functions, counts, places, moved[name_or_id(out)] = cut
                    counts = counts if op == "scan" else ()
                    short = fresh()
                    args = (*args[:APPLYING[op]], *functions, *counts, short, *args[which + 1:])
                    taken = tuple(entries[i] for i in places)
                    wanted.update([name_or_id(a) for a in (*args, *taken) if not isinstance(a, (int, float))])
                    result += [(out, op, args, *rest), (short, "bundle", taken, *rest)]
                    continue
        wanted.update(map(name_or_id, registers))
        result.append((out, op, args, *rest))
    placed = lambda b, i: (b, moved[name_or_id(b)][i]) if name_or_id(b) in moved else (b, i)
    return [(out, op, placed(*args) if op == "item" else args, *rest)
            for out, op, args, *rest in reversed(result)]


def cut_loops(writer: ListWriter, symbols: Collection[Symbol]) -> None:
    """Drop written lines that lead to no register with a name, if lines of the symbols apply functions."""
    if any(symbol.op in APPLYING or symbol.op == "while_loop" for symbol in symbols):
        before = {id(symbol): (symbol.op, symbol.args) for symbol in symbols if symbol.op}
        named = {id(line.out) for line in writer.lines if line.out.name}
        lines = trimmed(items_read(writer.lines, before, named), named, writer.symbol, before)
        writer.lines = [WrittenLine(*line) for line in lines]


def shorter(functions: Sequence, k: int, slices: int, read: Collection[int], loop: bool) -> tuple | None:
    """(functions with only the results in `read`, (carries, slices), the places of the parameters that are
    left, the places of the results); None if nothing can go. A carry that a step needs counts as read."""
    n, m, need = len(functions[0][2]), k + slices, {*read}
    while True:
        bodies = [needed(lines, {results[i] for i in need}) for _, _, _, lines, results in functions]
        used = [{a for _, _, args in body for a in args if isinstance(a, str)} | {results[i] for i in need}
                for body, (*_, results) in zip(bodies, functions, strict=True)]
        pairs = [*zip(functions, used, strict=True)]
        places = [i for i in range(n) if any(function[2][i] in names for function, names in pairs)]
        if not loop or {i for i in places if i < k} <= need:
            break
        need |= {i for i in places if i < k}
    # a carry that is not needed goes with its result; one that is handed on stays; a slice tells the steps
    if loop:
        places = sorted({i for i in places if i >= k} | {i for i in need if i < k})
        places = places if any(k <= i < m for i in places) else sorted([*places, k])
    if len(places) == n and len(need) == len(functions[0][4]):
        return None
    left = sorted(need)
    made = [("def", name, tuple(parameters[i] for i in places), tuple(body), tuple(results[i] for i in left))
            for (_, name, parameters, _, results), body in zip(functions, bodies, strict=True)]
    counts = sum(i < k for i in places), sum(k <= i < m for i in places)
    return made, counts, places, {i: j for j, i in enumerate(left)}


# ---- sums over all steps -----------------------------------------------------------------------------------

def hoisted(w: Any, function: Function, k: int, slices: int, b: Any, *reverse: bool) -> Any:
    """scan(function, k, slices, b) with one product over all steps in place of a sum of a product per step.

    A carry to which each step adds x.T @ d, outer(x, d), sum(d, 0) or scatterAdd(d, like, key), the delta of
    a weight, is dropped: x, d and key are stacked instead, which takes memory for all steps. None if there is
    no such carry, or shapes are not known. w: the writer, as for a rewrite. reverse: as for `scan`.
    """
    _, name, parameters, lines, results = function
    made, entries = definition(b)
    if made != "bundle" or any(w.value(x) is None for x in entries):
        return None
    m, given = k + slices, [w.value(x) for x in entries]
    likes = [one_of(x) if k <= i < m else x for i, x in enumerate(given)]
    n = np.shape(given[k]) and len(given[k]) or given[k]
    try:
        known = eval(WengertList(lines), dict(zip(parameters, likes, strict=True)))
    except Exception:  # the scan stays as it is, and raises the error when it runs
        return None
    lines_by_name, uses = {dst: (op, args) for dst, op, args in lines}, Counter(results)
    uses.update(a for _, _, args in lines for a in args if isinstance(a, str))
    in_step = {p for i, p in enumerate(parameters) if i < m} | {*lines_by_name}
    axes = lambda *names: [np.ndim(known[x]) if x in in_step else -1 for x in names]

    def parts(r: str, p: str) -> list | None:
        """The summands of r without p, each as a function of the stacks."""
        op, args = lines_by_name.get(r, ("", ()))
        if op in ("add", "subtract") and uses[r] == 1 and all(isinstance(a, str) for a in args):
            found = [[] if a == p else parts(a, p) for a in args]
            if None in found or op == "subtract" and args[1] == p:
                return None
            sign = 1 if op == "add" else -1
            return found[0] + [(names, make, sign * own) for names, make, own in found[1]]
        of = lines_by_name.get(args[0], ("", ())) if args and isinstance(args[0], str) else ("", ())
        if op == "dot" and of[0] == "transpose" and len(of[1]) == 1 and axes(of[1][0], args[1]) == [2, 2]:
            return [((of[1][0], args[1]), lambda x, d: flat(x).T @ flat(d), 1)]
        if op == "outer" and axes(*args) == [1, 1]:
            return [(args, lambda x, d: x.T @ d, 1)]
        if op == "sum" and args[1:2] == (0,) and axes(args[0]) == [2]:
            return [(args[:1], lambda d: f.sum(flat(d), 0, *args[2:]), 1)]
        if (op == "scatterAdd" and len(args) == 3 and args[1] in parameters[m:] and args[2] in in_step
            and np.asarray(known[args[2]]).dtype.kind == "i" and args[0] in in_step):
            like = entries[parameters.index(args[1])]
            return [((args[0], args[2]), lambda d, i: f.scatterAdd(d, like, i), 1)]
        return None

    def flat(x: Any) -> Any:
        shape = w.shape(x)
        return f.reshape(x, (shape[0] * shape[1], shape[2]))

    sums = {}
    for i in range(k) if type(n) is int and n else ():
        same = np.shape(likes[i]) == np.shape(known[results[i]])
        if same and uses[parameters[i]] == 1 and (found := parts(results[i], parameters[i])):
            sums[i] = found
    if not sums:
        return None
    stacked = list(dict.fromkeys(x for found in sums.values() for names, *_ in found for x in names))
    there = {p: entries[i] for i, p in enumerate(parameters) if k <= i < m and np.ndim(given[i])}
    more = [x for x in stacked if x not in there and x not in results[k:]]
    step = ("def", name, parameters, lines, (*results, *more))
    left = [j for j in range(len(step[4])) if j not in sums]
    cut = shorter([step], k, slices, left, loop=True)
    if cut is None or any(j in cut[3] for j in sums):
        return None
    functions, counts, places, moved = cut
    out = f.scan(functions[0], *counts, f.bundle(*[entries[i] for i in places]), *reverse)
    there |= {x: f.item(out, moved[j]) for j, x in enumerate(step[4]) if j >= k and x not in there}

    def total(i: int) -> Any:
        found = entries[i]
        for names, product, sign in sums[i]:
            part = product(*[there[x] for x in names])
            found = found + part if sign == 1 else found - part
        return found
    return f.bundle(*[total(j) if j in sums else f.item(out, moved[j]) for j in range(len(results))])
