"""The rows that apply functions: `call` once, `cond` one of two, `scan` step by step, `while_loop` as long as a test holds.

A line has one destination, so what has several results is a register that holds a bundle of arrays:

    z1 = bundle(h0, X, U, W)        z2 = scan(step, 1, 1, z1)        H = item(z2, 1)

One bundle in, one bundle out: a row has one argument with a derivative, and so one rule. That rule writes the function's
adjoint and applies it: the adjoint of a scan is a scan the other way, whose carries are the carries' deltas and the sums
of the constants' (Bishop, Deep Learning, §8.2.2; Griewank and Walther, Evaluating Derivatives, ch. 12, on what is kept).
What a step returns is kept for the way back, all else is computed again there.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .bodies import Body, Bundle, Function, Parts, Run, explained, is_function, moves, program, reaches, remembered, unlike
from .derived import bare
from .expression import f
from .facts import operations
from .table import Each, operator

Tag = tuple[str, int]  # what a parameter or a result of a derived function is, and of which register


# ---- the values -----------------------------------------------------------------------------------------------------

def bundle(*arrays):
    """The arrays in one register."""
    return Bundle(arrays)


def item(b, i):
    """The i-th array of a bundle."""
    return b[i]


def call(function, args, *, program=program):
    """The bundle of the function's results, for a bundle of its arguments. program(function): what runs it, here and below."""
    return Bundle(applied(function, args, program))


def cond(c, yes, no, args, *, program=program):
    """The bundle of what the function `yes` makes of the bundle args where the number c holds, and else of what `no` does."""
    return call(yes if c else no, args, program=program)


def scan(function, carries, slices, args, reverse=False, *, program=program):
    """The function step by step, each going on with the carries of the one before; reverse: from the last step to the first.

    args: the bundle of its arguments, the first carries, then the slices, arrays whose leading axis are the steps, and the
    constants, which are the same in all. Where a slice is the whole number n, the steps are 0, …, n − 1. The function returns the
    carries for the next step, and then what it gives. The bundle of the last carries, and of what all steps gave, stacked.
    """
    if not is_function(function):
        raise ValueError("the first argument of scan is a function")
    k, m = carries, carries + slices
    if len(args) != len(function[2]):
        raise ValueError(f"{function[1]} takes {', '.join(function[2])}, and the bundle has {len(args)}")
    carry, constants = args[:k], args[m:]
    xs = [range(x) if np.ndim(x) == 0 and np.asarray(x).dtype.kind in "iu" else x for x in args[k:m]]
    if lacking := [p for p, x in zip(function[2][k:m], xs, strict=True) if not hasattr(x, "__len__") or np.shape(x) == ()]:
        raise ValueError(f"a slice is an array with a leading axis, or a whole number of steps; {lacking[0]} is neither")
    lengths = {p: len(x) for p, x in zip(function[2][k:m], xs, strict=True)}
    if len({*lengths.values()}) != 1:
        raise ValueError(f"the steps of {function[1]} are " + (", ".join(f"{n} by {p}" for p, n in lengths.items()) or
                         "not said, since it has no slices: give it a whole number of steps as one"))
    n = next(iter(lengths.values()))
    if not n:
        return Bundle((*carry, *map(np.array, one_step(function, carries, slices, args)[k:])))
    run, outs = program(function), []
    for done, t in enumerate(range(n - 1, -1, -1) if reverse else range(n)):
        inputs = (*carry, *[x[t] for x in xs], *constants)
        try:
            results = run(*inputs)
        except Exception as error:
            raise ValueError(f"step {t}: {explained(function, inputs, error)}") from error
        if done < 2:
            same_kinds(function, carry, results, broadens=not done)
            outs = outs or [np.empty((n, *np.shape(y)), getattr(y, "dtype", float)) for y in results[k:]]
        carry = results[:k]
        for y, stacked in zip(results[k:], outs, strict=True):
            stacked[t] = y
    return Bundle((*carry, *outs))


def one_step(function, carries, slices, args, reverse=False):
    """A value of the shapes that `scan` gives, after one step, and a second where that broadens a carry."""
    k, m = carries, carries + slices
    carry, n = args[:k], args[k] if np.ndim(args[k]) == 0 else len(args[k])
    for _ in range(2):
        results = applied(function, (*carry, *map(one_of, args[k:m]), *args[m:]))
        carry = results[:k] if n else carry
    return Bundle((*carry, *[np.broadcast_to(y, (n, *np.shape(y))) for y in results[k:]]))


def one_of(x: Any) -> Any:
    """What the first step sees of a slice."""
    return np.int64(0) if np.ndim(x) == 0 else x[0] if len(x) else np.zeros(x.shape[1:], x.dtype)


def while_loop(test, function, carries, args, most=None, *, program=program):
    """The function on its own results as long as test, of the same arguments, gives a number that holds; at most `most` times.

    args: the bundle of the first carries, and of the constants. The bundle of the last carries, and the number of steps.
    """
    carry, constants, n = args[:carries], args[carries:], 0
    try:
        while applied(test, (*carry, *constants), program)[0]:
            if n == most:
                raise ValueError(f"{test[1]} still holds after {n:,} steps of {function[1]}; if it does end, give it more, most=")
            results = applied(function, (*carry, *constants), program)
            if n < 2:
                same_kinds(function, carry, results, broadens=not n)
            carry, n = results, n + 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped in step {n:,} of {function[1]}, while {test[1]} still held") from None
    return Bundle((*carry, n))


def applied(function: Function, args: Sequence[Any], program: Callable = program) -> tuple:
    """The function's results; an error names its line."""
    if len(args) != len(function[2]):
        raise ValueError(f"{function[1]} takes {', '.join(function[2])}, and the bundle has {len(args)}")
    try:
        return program(function)(*args)
    except Exception as error:
        raise explained(function, args, error) from error


def same_kinds(function: Function, carry: Sequence, results: Sequence, broadens: bool) -> None:
    """Raise ValueError where a carry is handed on as something else. The first step may broaden it, from (1, 3) to (5, 3)."""
    for p, old, new in zip(function[2], carry, results, strict=False):
        before, after = np.shape(old), np.shape(new)
        kinds = [x.dtype for x in (old, new) if hasattr(x, "dtype")]
        wider = len(before) <= len(after) and all(a in (1, b) for a, b in zip(before[::-1], after[::-1], strict=False))
        if before != after and not (broadens and wider):
            raise ValueError(f"{function[1]} takes {p} of shape {before} and hands it on with shape {after}; "
                             "a carry keeps its shape")
        if len({*kinds}) > 1:
            raise ValueError(f"{function[1]} takes {p} as {kinds[0]} and hands it on as {kinds[1]}; begin with {p} as "
                             f"{kinds[1]}, or end with astype")


# ---- the derivative of a function is a function -----------------------------------------------------------------------

class Derived(NamedTuple):
    """A function that was made from another: what its parameters and its results are; the first are carries, then slices."""
    function: Function
    carries: int
    slices: int
    takes: list[Tag]
    gives: list[Tag]

    def run(self, how: Callable, source: Mapping[str, Callable]) -> dict[Tag, Any]:
        """What it gives, where source[kind](i) is what it takes."""
        found = how(self, f.bundle(*[source[kind](i) for kind, i in self.takes]))
        return {tag: f.item(found, j) for j, tag in enumerate(self.gives)}


def derived(function: Function, end: str, tags: Sequence[dict[Tag, str]], write: Callable, whole: bool) -> Derived:
    """The function `write` of registers, by tag; tags: those of its carries, slices and constants, each with its word.

    The words that are names of the function's own registers stay, others make room for these. Slices and constants that it does
    not read are left out, unless it is `whole`, or there would be no slice left to count the steps.
    """
    old = {*function[2], *(dst for dst, _, _ in function[3])}
    words = {tag: word for group in tags for tag, word in group.items()}
    new = {tag: word for tag, word in words.items() if tag[0] in ("sum", "back", "from", "along")}
    words |= zip(new, unlike(new.values(), old), strict=True)
    body = Body(words.values())
    found = write(dict(zip(words, body.starts, strict=True)))
    results = {**{tag: found[tag] for tag in tags[0]}, **found}
    made, _ = body.function(function[1] + end, [(None, x) for x in results.values()])
    read = {a for _, _, args in made[3] for a in args if isinstance(a, str)} | {*made[4]}
    slices, constants = ([tag for tag in group if whole or words[tag] in read] for group in tags[1:])
    slices = slices or [tag for tag in tags[1] if tag[0] == "of"][:1]
    takes = [*tags[0], *slices, *constants]
    return Derived((*made[:2], tuple(words[tag] for tag in takes), *made[3:]), len(tags[0]), len(slices), takes, list(results))


def adjoint(function: Function, k: int, m: int, given: frozenset[int], every: frozenset[int] | None = None) -> Derived:
    """The adjoint of a step whose results `given` have a delta. every: the parameters whose delta is wanted at any rate."""
    _, _, parameters, _, results = function
    mine = {*given}
    while more := {i for i in range(k) if parameters[i] in reaches(function, [results[j] for j in mine])} - mine:
        mine |= more
    live = reaches(function, [results[j] for j in mine])
    sent = [i for i, p in enumerate(parameters) if p in live and (i >= k or i in mine) or i in (every or ())]
    outs = {("out", j): r for j, r in enumerate(results) if j >= k and r not in parameters and r not in results[k:j]}
    tags = ({("from", i): f"d{parameters[i]}" for i in sorted(mine) if i < k}
            | {("sum", i): f"d{parameters[i]}" for i in sent if i >= m},
            {("before" if i < k else "of", i): p for i, p in enumerate(parameters[:m])}
            | {("along", j): f"d{results[j]}" for j in sorted(mine) if j >= k} | outs,
            {("of", i): p for i, p in enumerate(parameters) if i >= m})

    def write(at):
        inputs = [at["before" if i < k else "of", i] for i in range(len(parameters))]
        run = Run(function, inputs, {r: at[tag] for tag, r in outs.items()})
        deltas = run.adjoints((results[j], at["from" if j < k else "along", j]) for j in sorted(mine))
        delta = lambda i, like: deltas[parameters[i]] if parameters[i] in deltas else f.broadcast(0.0, like)
        return ({("from", i): delta(i, at["from", i]) for i in sorted(mine) if i < k}
                | {("sum", i): at["sum", i] + delta(i, at["sum", i]) for i in sent if i >= m}
                | {("to", i): delta(i, at["of", i]) for i in sent if k <= i < m})
    return derived(function, "_back", tags, write, every is not None)


def tangent(function: Function, k: int, m: int, given: frozenset[int], every: frozenset[int] | None = None) -> Derived:
    """The tangent of a step, of which the parameters `given` have one. every: the results whose tangent is wanted at any rate."""
    _, _, parameters, _, results = function
    mine = {*given}
    while more := {i for i in range(k) if results[i] in moves(function, [parameters[j] for j in mine])} - mine:
        mine |= more
    moving = moves(function, [parameters[j] for j in mine])
    outs = {("out", j): r for j, r in enumerate(results) if j >= k and r not in parameters and r not in results[k:j]}
    new = lambda group: {("along", i): f"{parameters[i]}_dot" for i in group if i in mine}
    tags = ({("from", i): f"{parameters[i]}_dot" for i in sorted(mine) if i < k},
            {("before" if i < k else "of", i): p for i, p in enumerate(parameters[:m])} | new(range(k, m)) | outs,
            {("of", i): p for i, p in enumerate(parameters) if i >= m} | new(range(m, len(parameters))))

    def write(at):
        inputs = [at["before" if i < k else "of", i] for i in range(len(parameters))]
        run = Run(function, inputs, {r: at[tag] for tag, r in outs.items()})
        found = run.tangents((parameters[i], at["from" if i < k else "along", i]) for i in sorted(mine))
        slope = lambda j: found[results[j]] if results[j] in found else f.broadcast(0.0, run[results[j]])
        return ({("from", i): slope(i) for i in sorted(mine) if i < k}
                | {("to", j): slope(j) for j, r in enumerate(results) if j >= k and r in moving or j in (every or ())})
    return derived(function, "_dot", tags, write, every is not None)


# ---- the rules ------------------------------------------------------------------------------------------------------

def sources(function: Function, k: int, slices: int, args: Any, out: Any, reverse: bool) -> dict[str, Callable]:
    """What a derived step may take of the scan that it belongs to."""
    results, entry = function[4], lambda i: f.item(args, i)
    first = lambda i: f.broadcast(entry(i), f.item(out, i))

    def before(i: int) -> Any:
        """The carry that each step began with: kept where the steps give it, else computed again."""
        if results[i] in results[k:]:
            given, start = f.item(out, k + results[k:].index(results[i])), f.getitem(first(i), None)
            return (f.getitem(f.concat(0, given, start), slice(1, None)) if reverse
                    else f.getitem(f.concat(0, start, given), slice(None, -1)))
        if not again:
            absent = [j for j in range(k) if results[j] not in results[k:]]
            step = remembered("kept", function, lambda: keeping(function, k, absent), k)
            found = f.scan(step, k, slices, f.bundle(*map(first, range(k)), *map(entry, range(k, len(function[2])))),
                           *[reverse] * reverse)
            again.update({j: f.item(found, k + place) for place, j in enumerate(absent)})
        return again[i]

    again: dict[int, Any] = {}
    return {"of": entry, "out": lambda j: f.item(out, j), "before": before}


def keeping(function: Function, k: int, absent: Sequence[int]) -> Function:
    """The function that gives those of its carries that it does not keep, as they are when it begins."""
    _, name, parameters, lines, results = function
    results = (*results[:k], *(parameters[i] for i in absent))
    wanted, needed = {*results}, []
    for line in reversed(lines):
        if line[0] in wanted:
            wanted.update([a for a in line[2] if isinstance(a, str)])
            needed.insert(0, line)
    return ("def", f"{name}_kept", parameters, tuple(needed), results)


def scanned(reverse: bool) -> Callable:
    return lambda step, args: f.scan(step.function, step.carries, step.slices, args, *[True] * reverse)


def called(step: Derived, args: Any) -> Any:
    return f.call(step.function, args)


def scan_adjoint(d, out, function, k, slices, args, reverse=False):
    d, m = bare(d), k + slices
    step = remembered("back", function, lambda: adjoint(function, k, m, frozenset(d)), k, m, frozenset(d))
    found = step.run(scanned(not reverse), sources(function, k, slices, args, out, reverse) | {
        "from": lambda i: d[i] if i in d else f.broadcast(0.0, f.item(out, i)), "along": d.__getitem__,
        "sum": lambda i: f.broadcast(0.0, f.item(args, i))})
    return Parts({i: f.unbroadcast(x, f.item(args, i)) if kind == "from" else x for (kind, i), x in found.items()})


def scan_tangent(t, out, function, k, slices, args, reverse=False):
    t, m = bare(t), k + slices
    step = remembered("dot", function, lambda: tangent(function, k, m, frozenset(t)), k, m, frozenset(t))
    found = step.run(scanned(reverse), sources(function, k, slices, args, out, reverse) | {
        "from": lambda i: f.broadcast(t[i] if i in t else 0.0, f.item(out, i)), "along": t.__getitem__})
    return Parts({i: x for (_, i), x in found.items()})


def applying(make: Callable, end: str) -> Callable:
    """The rule of `call` for an adjoint or a tangent, and of `cond` for those of two functions."""
    def rule(d, out, *given):
        d, (*choice, args) = bare(d), given
        n = len(choice[-1][2])
        every = None
        if len(choice) == 3:  # the two take and give the same
            both = [make(function, 0, n, frozenset(d)).gives for function in choice[1:]]
            every = frozenset(i for gives in both for _, i in gives)
        given = frozenset(d)
        made = lambda function: remembered(end, function, lambda: make(function, 0, n, given, every), given, every)
        steps = [*map(made, choice[1:] or choice)]
        how = called if len(steps) == 1 else lambda step, b: f.cond(choice[0], *[s.function for s in steps], b)
        found = steps[0].run(how, sources(choice[-1], 0, n, args, out, False) | {"along": d.__getitem__})
        return Parts({i: x for (_, i), x in found.items()})
    return rule


def through_while(rule: Callable) -> Callable:
    """The rule of a scan over as many steps as the loop made."""
    def contribution(d, out, test, function, k, args, most=None):
        _, name, parameters, lines, results = function
        count, = unlike(["t"], [*parameters, *(dst for dst, _, _ in lines)])
        step = remembered("counted", function, lambda: ("def", name, (*parameters[:k], count, *parameters[k:]), lines, results), k)
        entries = [f.item(args, i) for i in range(len(parameters))]
        old = lambda i: i if i < k else i - 1
        d = Parts({i + (i >= k): x for i, x in d.items() if i < k or rule is scan_tangent})
        found = rule(d, out, step, k, 1, f.bundle(*entries[:k], f.item(out, k), *entries[k:]))
        return Parts({old(i) if rule is scan_adjoint else i: x for i, x in found.items() if rule is scan_tangent or i != k})
    return contribution


def of_function(out, function, args):
    """The operations of its lines, for these arguments."""
    env, total = dict(zip(function[2], args, strict=True)), 0
    for dst, op, names in function[3]:
        inputs = [env[a] if isinstance(a, str) else a for a in names]
        env[dst] = getattr(f, op)(*inputs)
        total += (operations(op) or (lambda *_: 0))(env[dst], *inputs)
    return total


def of_scan(out, function, k, slices, args, reverse=False):
    """The operations of a step, as often as there are steps."""
    xs = args[k:k + slices]
    n = xs[0] if np.ndim(xs[0]) == 0 else len(xs[0])
    return n and n * of_function(out, function, (*args[:k], *map(one_of, xs), *args[k + slices:]))


def zero_or(d: Parts, i: int, like: Any) -> Any:
    return d[i] if i in d else f.broadcast(0.0, like)


#        op            value       rule per argument; what they give may lie in an argument's memory
operator("bundle",     bundle,     Each(lambda i: lambda d, out, *arrays: zero_or(d, i, arrays[i])),
         tangents=Each(lambda i: lambda t, out, *arrays: Parts({i: t})), view=True)
operator("item",       item,       lambda d, out, b, i: Parts({i: d}), None,
         tangents=[lambda t, out, b, i: zero_or(t, i, out), None], view=True)
operator("call",       call,       None, applying(adjoint, "back"), tangents=[None, applying(tangent, "dot")],
         view=True, flops=of_function)
operator("cond",       cond,       None, None, None, applying(adjoint, "back"),
         tangents=[None, None, None, applying(tangent, "dot")], view=True,
         flops=lambda out, c, yes, no, args: of_function(out, yes if c else no, args))
operator("scan",       scan,       None, None, None, scan_adjoint, None, tangents=[None, None, None, scan_tangent, None],
         view=True, flops=of_scan, example=one_step)
operator("while_loop", while_loop, None, None, None, through_while(scan_adjoint), None,
         tangents=[None, None, None, through_while(scan_tangent), None], view=True,
         flops=lambda out, test, function, k, args, most=None: out[k] * of_function(out, function, args))
