"""Passes on lines that apply functions: they drop results, arguments and body lines that are not used.

The adjoint of a loop gives deltas for all that goes in, and mostly a few are read. Of the lines

    b = bundle(h0, X, W)        s = scan(step, 1, 1, b)        h = item(s, 0)

where step is (h, x, W) -> (tanh(h + x), exp(x), h @ W), only the last carry is read. `shorter` says that step
can do with (h, x) -> (tanh(h + x),), `trimmed` writes this and the bundle that belongs to it

    z1 = bundle(h0, X)          s = scan(step, 1, 1, z1)        h = item(s, 0)

and `items_read` replaces item(bundle(x, y), 1) by y beforehand, so that more is seen to be unused.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ops import f
from ops.facts import name_or_id
from ops.loops.bodies import Function
from ops.loops.values import one_of
from ops.writer import Symbol, WrittenLine, defining_line

from ...interpreters import eval
from ...wengert import WengertList, needed
from ..sized import SizedWriter
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


# ---- sums over all steps -----------------------------------------------------------------------------------

def hoisted(w: SizedWriter, function: Function, k: int, slices: int, b: Any, *reverse: bool) -> Any:
    """scan(function, k, slices, b) with one product over all steps in place of a sum of a product per step.

    A carry to which each step adds x.T @ d, outer(x, d), sum(d, 0) or scatterAdd(d, like, key), the delta of
    a weight, is dropped: x, d and key are stacked instead, which takes memory for all steps. None if there is
    no such carry, or shapes are not known. w: the writer, as for a rewrite. reverse: as for `scan`.

    The step dW1 = dW + outer(x, d) of 1,000 steps makes 1,000 matrices. With stacks X and D of all x and d
    the sum is X.T @ D, which BLAS computes at once. Of the step

        (dW, h, x) -> (dW1, h1):    h1 = tanh(h)    z1 = outer(x, h1)    dW1 = subtract(dW, z1)

    the carry dW is in `sums` with the one term (("x", "h1"), lambda x, d: x.T @ d, -1). The new step is
    (h, x) -> (h1, h1), whose second result is stacked, and the last dW is dW - X.T @ H, outside of the loop.
    """
    _, name, parameters, lines, results = function
    maker, entries = defining_line(b)
    if maker != "bundle" or any(w.value(x) is None for x in entries):
        return None
    m, examples = k + slices, [w.value(x) for x in entries]
    likes = [one_of(x) if k <= i < m else x for i, x in enumerate(examples)]
    n = np.shape(examples[k]) and len(examples[k]) or examples[k]
    try:
        values = eval(WengertList(lines), dict(zip(parameters, likes, strict=True)))
    except Exception:  # the scan stays as it is, and raises the error when it runs
        return None
    definitions, uses = {dst: (op, args) for dst, op, args in lines}, Counter(results)
    uses.update(a for _, _, args in lines for a in args if isinstance(a, str))
    in_step = {p for i, p in enumerate(parameters) if i < m} | {*definitions}
    axes = lambda *names: [np.ndim(values[x]) if x in in_step else -1 for x in names]

    def terms(r: str, p: str) -> list | None:
        """The summands of r without p, each as (registers, the function of their stacks, sign)."""
        op, args = definitions.get(r, ("", ()))
        if op in ("add", "subtract") and uses[r] == 1 and all(isinstance(a, str) for a in args):
            left, right = ([] if a == p else terms(a, p) for a in args)
            if left is None or right is None or op == "subtract" and args[1] == p:
                return None
            sign = 1 if op == "add" else -1
            return left + [(names, product, sign * inner) for names, product, inner in right]
        of = definitions.get(args[0], ("", ())) if args and isinstance(args[0], str) else ("", ())
        if op == "dot" and of[0] == "transpose" and len(of[1]) == 1 and axes(of[1][0], args[1]) == [2, 2]:
            return [((of[1][0], args[1]), lambda x, d: flat(x).T @ flat(d), 1)]
        if op == "outer" and axes(*args) == [1, 1]:
            return [(args, lambda x, d: x.T @ d, 1)]
        if op == "sum" and args[1:2] == (0,) and axes(args[0]) == [2]:
            return [(args[:1], lambda d: f.sum(flat(d), 0, *args[2:]), 1)]
        if (op == "scatterAdd" and len(args) == 3 and args[1] in parameters[m:] and args[2] in in_step
            and np.asarray(values[args[2]]).dtype.kind == "i" and args[0] in in_step):
            like = entries[parameters.index(args[1])]
            return [((args[0], args[2]), lambda d, i: f.scatterAdd(d, like, i), 1)]
        return None

    def flat(x: Any) -> Any:
        shape = w.shape(x)
        return f.reshape(x, (shape[0] * shape[1], shape[2]))

    sums = {}  # by the number of a carry its terms
    for i in range(k) if type(n) is int and n else ():
        same = np.shape(likes[i]) == np.shape(values[results[i]])
        if same and uses[parameters[i]] == 1 and (summands := terms(results[i], parameters[i])):
            sums[i] = summands
    if not sums:
        return None
    registers = list(dict.fromkeys(x for summands in sums.values() for names, *_ in summands for x in names))
    stacks = {p: entries[i] for i, p in enumerate(parameters) if k <= i < m and np.ndim(examples[i])}
    extra = [x for x in registers if x not in stacks and x not in results[k:]]
    step = ("def", name, parameters, lines, (*results, *extra))
    stay = [j for j in range(len(step[4])) if j not in sums]
    cut = shorter([step], k, slices, stay, loop=True)
    if cut is None or any(j in cut[3] for j in sums):
        return None
    functions, counts, left, places = cut
    out = f.scan(functions[0], *counts, f.bundle(*[entries[i] for i in left]), *reverse)
    stacks |= {x: f.item(out, places[j]) for j, x in enumerate(step[4]) if j >= k and x not in stacks}

    def total(i: int) -> Any:
        total = entries[i]
        for names, product, sign in sums[i]:
            term = product(*[stacks[x] for x in names])
            total = total + term if sign == 1 else total - term
        return total
    return f.bundle(*[total(j) if j in sums else f.item(out, places[j]) for j in range(len(results))])
