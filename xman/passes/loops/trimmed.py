"""Passes on lines that apply functions: they drop results, arguments and body lines that are not used.

The adjoint of a loop gives deltas for all that goes in, and mostly a few are read. Of the lines

    b = bundle(h0, X, W)        s = scan(step, 1, 1, b)        h = item(s, 0)

where step is (h, x, W) -> (tanh(h + x), exp(x), h @ W), only the last carry is read. `shorter` says that step
can do with (h, x) -> (tanh(h + x),), `trimmed` writes this and the bundle that belongs to it

    z1 = bundle(h0, X)          s = scan(step, 1, 1, z1)        h = item(s, 0)

and `items_read` replaces item(bundle(x, y), 1) by y beforehand, so that more is seen to be unused.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ops.facts import name_or_id
from ops.writer import Symbol, WrittenLine

from ...wengert import needed
from ..writer import ListWriter

# by operator the place of its first function; counts stand between the functions and the bundle
APPLYING = {"call": 0, "scan": 0, "cond": 1}
Key = Any  # the key of a register: its name, or the id of a Symbol


def items_read(lines: Iterable[tuple], before: Mapping[Key, tuple] = {},
               named: Collection[Key] = ()) -> list[tuple]:
    """The lines, without those that take an item out of a bundle just made, or take it out again.

    lines: (register, op, arguments, …); registers are names or Symbols. before: (op, arguments) by register,
    of earlier lines. named: registers whose lines stay in any case.
    """
    definitions, same, items, shortened = dict(before), {}, {}, []
    for out, op, args, *origin in lines:
        args = tuple([same.get(name_or_id(a), a) if type(a) is not int else a for a in args])
        if op == "item" and name_or_id(out) not in named:
            maker, entries = definitions.get(name_or_id(args[0]), ("", ()))
            if maker == "bundle":
                item = entries[args[1]]
            else:
                item = items.setdefault((name_or_id(args[0]), args[1]), out)
            if item is not out and not isinstance(item, (int, float)):
                same[name_or_id(out)] = item
                continue
        definitions[name_or_id(out)] = op, args
        shortened.append((out, op, args, *origin))
    return shortened


def trimmed(lines: Sequence[tuple], keep: Collection[Key], fresh: Callable[[], Any],
            before: Mapping[Key, tuple] = {}) -> list[tuple]:
    """The lines that lead to keep; functions give only results that are read, and take only what they need.

    lines, before: as for `items_read`. fresh(): a new register, for a bundle that was shortened.
    """
    definitions = {**before, **{name_or_id(out): (op, args) for out, op, args, *_ in lines}}
    required = set(keep)
    reads: dict[Key, set[int] | None] = {}  # by bundle the items that are read; None: it is read as a whole
    places: dict[Key, dict[int, int]] = {}  # by shortened bundle the new place of each item
    backwards = []
    # in reverse, all lines that read a bundle come before the line that makes it, so that its items are known
    for out, op, args, *origin in reversed(lines):
        if name_or_id(out) not in required:
            continue
        registers = [a for a in args if name_or_id(a) in definitions or isinstance(a, str)]
        if op != "item":
            reads |= {name_or_id(a): None for a in registers}
        elif (items := reads.setdefault(name_or_id(args[0]), set())) is not None:
            items.add(args[1])
        items = reads.get(name_or_id(out))
        if op in APPLYING and items is not None and name_or_id(out) not in keep:
            which = 3 if op == "scan" else len(args) - 1
            functions, counts, b = args[APPLYING[op]:which], args[1:3] if op == "scan" else (), args[which]
            maker, entries = definitions.get(name_or_id(b), ("", ()))
            if maker == "bundle":
                functions = functions[:1] if op == "scan" else functions
                cut = shorter(functions, *(counts or (0, len(entries))), items, loop=op == "scan")
                if cut:
                    functions, counts, left, places[name_or_id(out)] = cut
                    counts = counts if op == "scan" else ()
                    short = fresh()
                    args = (*args[:APPLYING[op]], *functions, *counts, short, *args[which + 1:])
                    entries = tuple(entries[i] for i in left)
                    operands = [a for a in (*args, *entries) if not isinstance(a, (int, float))]
                    required.update(map(name_or_id, operands))
                    backwards += [(out, op, args, *origin), (short, "bundle", entries, *origin)]
                    continue
        required.update(map(name_or_id, registers))
        backwards.append((out, op, args, *origin))
    moved = lambda b, i: (b, places[name_or_id(b)][i] if name_or_id(b) in places else i)
    return [(out, op, moved(*args) if op == "item" else args, *origin)
            for out, op, args, *origin in reversed(backwards)]


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
    n, m, needed_results = len(functions[0][2]), k + slices, {*read}
    while True:
        bodies = [needed(lines, {results[i] for i in needed_results})
                  for _, _, _, lines, results in functions]
        used = [{a for _, _, args in body for a in args if isinstance(a, str)}
                | {results[i] for i in needed_results}
                for body, (*_, results) in zip(bodies, functions, strict=True)]
        pairs = [*zip(functions, used, strict=True)]
        left = [i for i in range(n) if any(function[2][i] in names for function, names in pairs)]
        if not loop or {i for i in left if i < k} <= needed_results:
            break
        needed_results |= {i for i in left if i < k}
    # a carry that is not needed goes with its result; one that is handed on stays; a slice tells the steps
    if loop:
        left = sorted({i for i in left if i >= k} | {i for i in needed_results if i < k})
        left = left if any(k <= i < m for i in left) else sorted([*left, k])
    if len(left) == n and len(needed_results) == len(functions[0][4]):
        return None
    stay = sorted(needed_results)
    short = [("def", name, tuple(parameters[i] for i in left), tuple(body), tuple(results[i] for i in stay))
             for (_, name, parameters, _, results), body in zip(functions, bodies, strict=True)]
    counts = sum(i < k for i in left), sum(k <= i < m for i in left)
    return short, counts, left, {i: j for j, i in enumerate(stay)}
