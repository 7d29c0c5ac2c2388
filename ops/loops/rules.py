"""The rows that apply functions: `call`, `cond` (one of two), `scan` step by step, `while_loop` by a test.

A line has one destination, so several results are one register that holds a bundle of arrays:

    z1 = bundle(h0, X, U, W)        z2 = scan(step, 1, 1, z1)        H = item(z2, 1)

A row takes one bundle and gives one bundle: it has one argument with a derivative, and so one rule. The rule
writes the function's adjoint and applies it: the adjoint of a scan is a scan in the other direction, whose
carries are the deltas of the carries and the sums of the constants' deltas (Bishop, Deep Learning, §8.2.2;
Griewank and Walther, Evaluating Derivatives, ch. 12). Results of steps are kept for the way back; all other
values are computed again.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..expression import G, f
from ..facts import IN_USE, by_tables, parameters
from ..kinks import bare
from ..table import Each, operator
from ..walk import STILL, needed
from ..writer import fresh
from .bodies import Body, Function, Parts, RerunBody, carried_on, moves, reaches, remembered
from .values import bundle, call, cond, item, of_function, of_scan, of_values, one_step, scan, while_loop

Tag = tuple[str, int]  # (the role of a parameter or result of a derived function, the number of its register)


# ---- the derivative of a function is a function ------------------------------------------------------------

class Derived(NamedTuple):
    """A function derived from another, with the tags of its parameters and results: carries, then slices."""
    function: Function
    carries: int
    slices: int
    takes: list[Tag]
    gives: list[Tag]

    def run(self, apply: Callable, source: Mapping[str, Callable]) -> dict[Tag, Any]:
        """Its results by tag. apply(self, the bundle of its arguments): the bundle of its results.
        source[role](i): its arguments."""
        outputs = apply(self, f.bundle(*[source[kind](i) for kind, i in self.takes]))
        return {tag: f.item(outputs, j) for j, tag in enumerate(self.gives)}


def derived(function: Function, end: str, tags: Sequence[dict[Tag, str]], write: Callable,
            complete: bool, word: Callable[[str, int], str]) -> Derived:
    """The function that `write` makes of registers by tag. tags: of its carries, slices and constants, each
    with a name. word(*tag): the wanted name of a result.

    Names of the original function's registers stay, and others give way to them. Slices and constants that it
    does not read are left out, unless it is `complete`, or no slice would be left to count the steps by.
    """
    old = {*function[2], *(dst for dst, _, _ in function[3])}
    words = {tag: word for group in tags for tag, word in group.items()}
    first = {word: tag for tag, word in reversed(words.items())}
    new = {tag: word for tag, word in words.items()
           if tag[0] in ("sum", "back", "from", "along") or first[word] != tag}
    names = {*old, *G}
    words |= {tag: fresh(word, names) for tag, word in new.items()}
    body = Body(words.values())
    outputs = write(dict(zip(words, body.starts, strict=True)))
    results = {**{tag: outputs[tag] for tag in tags[0]}, **outputs}
    literal, _ = body.function(function[1] + end, [(word(*tag), x) for tag, x in results.items()])
    read = {a for _, _, args in literal[3] for a in args if isinstance(a, str)} | {*literal[4]}
    slices, constants = ([tag for tag in group if complete or words[tag] in read] for group in tags[1:])
    slices = slices or [tag for tag in tags[1] if tag[0] == "of"][:1]
    takes = [*tags[0], *slices, *constants]
    literal = (*literal[:2], tuple(words[tag] for tag in takes), *literal[3:])
    return Derived(literal, len(tags[0]), len(slices), takes, list(results))


def stacks_of(function: Function, k: int, all_results: bool) -> dict[Tag, str]:
    """The results that a scan has stacked, which its derived step reads and does not compute again."""
    _, _, parameters, _, results = function
    return {("out", j): r for j, r in enumerate(results) if j >= k and (
        all_results or r not in parameters and r not in results[k:j])}


def rerun(function: Function, k: int, stacks: dict[Tag, str], by_tag: Mapping[Tag, Any]) -> RerunBody:
    """The step again, in the step derived from it, for values by tag."""
    parameters = function[2]
    inputs = [by_tag["before" if i < k else "of", i] for i in range(len(parameters))]
    return RerunBody(function, inputs, {r: by_tag[tag] for tag, r in stacks.items() if r not in parameters})


def adjoint_of_step(function: Function, k: int, m: int, deltas_of: frozenset[int],
                    every: frozenset[int] | None = None) -> Derived:
    """The adjoint of a step, for a scan of which the results `deltas_of` have deltas. every: the parameters
    whose deltas are wanted in any case.

    A carry that a step sends a delta to is a result with a delta in the step before.
    """
    _, _, parameters, _, results = function
    active, live = carried_on(function, deltas_of, k, reaches)
    sent = [i for i, p in enumerate(parameters)
            if p in live and (i >= k or i in active) or i in (every or ())]
    stacks = stacks_of(function, k, every is not None)
    tags = ({("from", i): f"d{parameters[i]}" for i in sorted(active) if i < k}
            | {("sum", i): f"d{parameters[i]}" for i in sent if i >= m},
            {("before" if i < k else "of", i): p for i, p in enumerate(parameters[:m])}
            | {("along", j): f"d{results[j]}" for j in sorted(active) if j >= k} | stacks,
            {("of", i): p for i, p in enumerate(parameters) if i >= m})

    def write(by_tag):
        run = rerun(function, k, stacks, by_tag)
        deltas = run.adjoints((results[j], by_tag["from" if j < k else "along", j]) for j in sorted(active))
        delta = lambda i, like: deltas[parameters[i]] if parameters[i] in deltas else f.broadcast(0.0, like)
        return ({("from", i): delta(i, by_tag["from", i]) for i in sorted(active) if i < k}
                | {("sum", i): by_tag["sum", i] + delta(i, by_tag["sum", i]) for i in sent if i >= m}
                | {("to", i): delta(i, by_tag["of", i]) for i in sent if k <= i < m})
    new = {"from": "d{}0", "sum": "d{}1", "to": "d{}"}
    return derived(function, "_back", tags, write, every is not None,
                   lambda kind, i: new[kind].format(parameters[i]))


def tangent_of_step(function: Function, k: int, m: int, tangents_of: frozenset[int],
                    every: frozenset[int] | None = None) -> Derived:
    """The tangent of a step, for a scan of which the parameters `tangents_of` have one. every: the results
    whose tangents are wanted in any case."""
    _, _, parameters, _, results = function
    active, moving = carried_on(function, tangents_of, k, moves)
    stacks = stacks_of(function, k, every is not None)
    new = lambda group: {("along", i): f"{parameters[i]}_dot" for i in group if i in active}
    tags = ({("from", i): f"{parameters[i]}_dot" for i in sorted(active) if i < k},
            {("before" if i < k else "of", i): p for i, p in enumerate(parameters[:m])} | new(range(k, m))
            | stacks,
            {("of", i): p for i, p in enumerate(parameters) if i >= m} | new(range(m, len(parameters))))

    def write(by_tag):
        run = rerun(function, k, stacks, by_tag)
        starts = [(parameters[i], by_tag["from" if i < k else "along", i]) for i in sorted(active)]
        tangents = run.tangents(starts)
        tangent = lambda r: tangents[r] if r in tangents else f.broadcast(0.0, run.values[r])
        return ({("from", i): tangent(results[i]) for i in sorted(active) if i < k}
                | {("to", j): tangent(r) for j, r in enumerate(results) if j >= k and r in moving
                   or j in (every or ())})
    return derived(function, "_dot", tags, write, every is not None, lambda _, i: f"{results[i]}_dot")


# ---- the rules ---------------------------------------------------------------------------------------------

def sources(function: Function, k: int, slices: int, args: Any, out: Any, reverse: bool) -> dict:
    """The values of a scan that its derived step may take as arguments, by role."""
    results, entry = function[4], lambda i: f.item(args, i)
    first = lambda i: f.broadcast(entry(i), f.item(out, i))

    def before(i: int) -> Any:
        """The carry at the beginning of each step: kept if steps give it, or else computed again."""
        if results[i] in results[k:]:
            stack = f.item(out, k + results[k:].index(results[i]))
            start = f.broadcast(entry(i), f.getitem(stack, slice(None, 1)))
            return (f.getitem(f.concat(0, stack, start), slice(1, None)) if reverse
                    else f.getitem(f.concat(0, start, stack), slice(None, -1)))
        if not again:
            absent = [j for j in range(k) if results[j] not in results[k:]]
            step = remembered("kept", function, lambda: keeping(function, k, absent), k)
            scanned_again = f.scan(step, k, slices,
                           f.bundle(*map(first, range(k)), *map(entry, range(k, len(function[2])))),
                           *[reverse] * reverse)
            again.update({j: f.item(scanned_again, k + place) for place, j in enumerate(absent)})
        return again[i]

    again: dict[int, Any] = {}
    return {"of": entry, "out": lambda j: f.item(out, j), "before": before}


def keeping(function: Function, k: int, absent: Sequence[int]) -> Function:
    """The function, which also gives the carries in `absent` as they are at its beginning."""
    _, name, parameters, lines, results = function
    results = (*results[:k], *(parameters[i] for i in absent))
    return ("def", f"{name}_kept", parameters, tuple(needed(lines, results)), results)


def scanned(reverse: bool) -> Callable:
    return lambda step, args: f.scan(step.function, step.carries, step.slices, args, *[True] * reverse)


def by_its_table(rule: Callable) -> Callable:
    """The rule; it computes values again by the same table that made `out`."""
    def contribution(d, out, *args):
        with by_tables(G=getattr(out, "table", None) or IN_USE.get().G):
            return rule(d, out, *args)
    return contribution


@by_its_table
def scan_adjoint(d, out, function, k, slices, args, reverse=False):
    d, m = bare(d), k + slices
    step = remembered("back", function, lambda: adjoint_of_step(function, k, m, frozenset(d)), k, m,
                      frozenset(d))
    deltas = step.run(scanned(not reverse), sources(function, k, slices, args, out, reverse) | {
        "from": lambda i: d[i] if i in d else f.broadcast(0.0, f.item(out, i)), "along": d.__getitem__,
        "sum": lambda i: f.broadcast(0.0, f.item(args, i))})
    return Parts({i: f.unbroadcast(x, f.item(args, i)) if kind == "from" else x
                  for (kind, i), x in deltas.items()})


@by_its_table
def scan_tangent(t, out, function, k, slices, args, reverse=False):
    t, m = bare(t), k + slices
    step = remembered("dot", function, lambda: tangent_of_step(function, k, m, frozenset(t)), k, m,
                      frozenset(t))
    tangents = step.run(scanned(reverse), sources(function, k, slices, args, out, reverse) | {
        "from": lambda i: f.broadcast(t[i] if i in t else 0.0, f.item(out, i)), "along": t.__getitem__})
    return Parts({i: x for (_, i), x in tangents.items()})


def applying(make: Callable, end: str) -> Callable:
    """The rule of `call`, by an adjoint_of_step or a tangent_of_step; and of `cond`, by two of them."""
    @by_its_table
    def rule(d, out, *operands):
        d, (*condition, args) = bare(d), operands
        functions = condition[1:] or condition  # a call has no condition, and one function
        n, moving, every = len(functions[0][2]), frozenset(d), None
        if len(functions) == 2:  # both need the same arguments and results
            every = frozenset(i for function in functions for _, i in make(function, 0, n, moving).gives)
        steps = [remembered(end, function, partial(make, function, 0, n, moving, every), moving, every)
                 for function in functions]
        apply = f.call if len(steps) == 1 else partial(f.cond, condition[0])
        derivatives = steps[0].run(lambda _, b: apply(*[step.function for step in steps], b),
                                   sources(functions[-1], 0, n, args, out, False) | {"along": d.__getitem__})
        return Parts({i: x for (_, i), x in derivatives.items()})
    return rule


def counted(function: Function, k: int) -> Function:
    """The function with the number of the step as a parameter after its k carries."""
    _, name, parameters, lines, results = function
    count = fresh("t", {*G, *parameters, *(dst for dst, _, _ in lines)})
    return ("def", name, (*parameters[:k], count, *parameters[k:]), lines, results)


def through_while(rule: Callable) -> Callable:
    """The rule of a `while_loop`: that of a scan over as many steps as the loop made."""
    def contribution(d, out, test, function, k, args, most=None):
        step = remembered("counted", function, lambda: counted(function, k), k)
        entries = [f.item(args, i) for i in range(len(function[2]))]
        old = lambda i: i if i < k else i - 1
        d = Parts({i + (i >= k): x for i, x in d.items() if i < k or rule is scan_tangent})
        derivatives = rule(d, out, step, k, 1, f.bundle(*entries[:k], f.item(out, k), *entries[k:]))
        return Parts({old(i) if rule is scan_adjoint else i: x for i, x in derivatives.items()
                      if rule is scan_tangent or i != k})
    return contribution


def part_of(d: Parts, i: int, like: Any = STILL) -> Any:
    if not isinstance(d, Parts):
        raise TypeError("a bundle has no derivative of its own; differentiate one of its arrays, item(b, i)")
    return d[i] if i in d else like if like is STILL else f.broadcast(0.0, like)


def higher_order(op: str, value: Callable, adjoint: Callable, tangent: Callable, **facts: Any) -> None:
    """A row that applies functions. Its one argument with a derivative is the bundle `args`. What it gives
    may lie in an argument's memory, and is right for complex numbers where the lines of the functions are."""
    rules = lambda rule: [rule if name == "args" else None for name in parameters(value)[0]]
    operator(op, value, *rules(adjoint), tangents=rules(tangent), **OF_BUNDLES, **facts)


OF_BUNDLES = {"view": True, "complex": True}
operator("bundle", bundle, Each(lambda i: lambda d, out, *arrays: part_of(d, i, arrays[i])),
         tangents=Each(lambda i: lambda t, out, *arrays: Parts({i: t})), **OF_BUNDLES)
operator("item", item, lambda d, out, b, i: Parts({i: d}), None,
         tangents=[lambda t, out, b, i: part_of(t, i), None], **OF_BUNDLES)
#            op            value       adjoint                           tangent
higher_order("call",       call,       applying(adjoint_of_step, "back"), applying(tangent_of_step, "dot"), flops=of_function)
higher_order("cond",       cond,       applying(adjoint_of_step, "back"), applying(tangent_of_step, "dot"),
    flops=lambda out, c, yes, no, args: of_function(out, yes if c else no, args))
higher_order("scan",       scan,       scan_adjoint,                     scan_tangent, flops=of_scan, example=one_step)
higher_order("while_loop", while_loop, through_while(scan_adjoint),      through_while(scan_tangent), example=of_values,
    flops=lambda out, test, function, k, args, most=None: out[k] * of_function(out, function, args))
