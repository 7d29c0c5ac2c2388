"""Two kinds of zero in derivatives, where infinite slopes meet them: "nothing is sent", and the number 0.

A derivative is a sum of products along the paths of a program. A path that a `where` or an index leaves out
sends 0, and this 0 has to stay 0 even if the slope of the function there is infinite. But the 0 of x in x·log
x is a number, and 0·∞ is NaN. So the first walk uses plain deltas or tangents, and only if NaN comes out a
second walk uses `Masked` ones: a value, and its *flow*, the places to which anything is sent. *steep* has the
places where 0·∞ is not known; where a value has overflowed and a later operator settles, it is known, and 0
(`limited`). `looked` walks; `flow_of` says how an operator changes a flow, by the fact `flow` of its row.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .expression import Expression, Rule, f
from .facts import Facts, facts_of, name_or_id


class Masked(Expression):
    """A delta or a tangent, and its flow: a function without arguments that gives a mask; None is everywhere.

    Entries that a `where`, an index or a seed of 0 excludes do not flow: they stay 0, whatever they meet. All
    other zeros are numbers, with 0·∞ = NaN, so that both modes and all orders multiply the same numbers;
    `limited` says where 0·∞ is 0 in spite of that. steep: the mask of places that flow and where 0·∞ is not
    known.
    """

    level = math.inf

    def __init__(self, value: Any, flow: Flow = None, steep: Flow = None, forward: bool = False):
        self.value, self.flow, self.steep, self.forward = value, flow, steep, forward

    @staticmethod
    def seed(value: Any, given: Any, forward: bool = False) -> Masked:
        """A delta or a tangent to start from, which flows where `given`, spread to it, is not 0.

        A symbol flows everywhere: a list is written for directions without zeros.
        """
        known = not isinstance(given, Expression)
        everywhere = np.all(given) if known else not getattr(given, "has_zeros", False)
        flow = None if everywhere else once(lambda: f.not_equal(value, 0.0))
        return Masked(value, flow, flow, forward)

    def at(self, value: Any) -> Masked:
        """The same flow with another value."""
        return Masked(value, self.flow, self.steep, self.forward)

    def where(self, kind: str) -> Flow:
        """Its flow, or its steep, as `kind` says."""
        return (once(lambda: f.not_equal(self.value, 0.0)) if getattr(self, kind) is by_value
                else getattr(self, kind))

    def record(self, op, args):
        out = getattr(f, op)(*[a.value if type(a) is Masked else a for a in args])
        first = next(a for a in args if type(a) is Masked)
        if (first.flow and facts_of(op).flow in PRODUCTS
            and not any([type(a) in (int, float) and math.isfinite(a) for a in args])):
            flow = first.flow()
            known = flow.value if getattr(flow, "has_zeros", False) else flow
            out = out if type(known) is np.ndarray and known.all() else f.where(flow, out, 0.0)
        flow = flow_of(op, args, out, "flow")
        steep = (flow if all([a.steep is a.flow for a in args if type(a) is Masked])
                 else flow_of(op, args, out, "steep"))
        return Masked(out, flow, steep, self.forward)


def limited(rule: Rule, i: int = 0, grows: bool = False, settles: bool = True) -> Rule:
    """The rule for argument i, x, of an operator for which 0·∞ is known: it settles, it grows, or both.

    It settles: an infinite x has a finite result, and x·∂out/∂x is 0 there: eˣ at −∞, tanh, 1/x. It grows: a
    finite x other than 0 has an infinite result, and ∂out/∂x / out is finite. So along a path through
    infinite values, from one that grows to one that settles, the derivative is 0: of 1 / (1 + exp(-x)) at
    −1000, of tanh(exp(x)) at 1000 and of exp(-x**4) at 10²⁰⁰. Any other 0·∞ depends on which factor is
    faster, which floats do not tell, and stays NaN: at a pole, as of 1 / (1/x), tanh(1/x), sqrt(x**4),
    x*sqrt(x) and exp(log(x)) at 0, and if it grows inside of a function that does not settle, as of log(1 +
    exp(x)) at 1000. An overflow on such a path counts as 0 where it meets a slope of 0, too. grows: whether
    it grows as the exponential does, so that lists of derivatives are masked for it as well; with numbers the
    result tells.
    """
    def contribution(d, out, *args):
        part = rule(d, out, *args)
        return masked(part, d, out, *args) if type(part) is Masked else part

    def masked(part, d, out, *args):
        numbers = number_within(out) is not None
        x, value, steep, kept = args[i], part.value, part.steep, [f.isfinite(d.value)] if numbers else []
        if not d.forward and (grows or numbers):
            kept.append(f.logical_or(f.isfinite(out), f.logical_or(f.equal(x, 0), f.not_equal(d.value, 0)))
                        if numbers else f.isfinite(out))
        if settles and (d.forward or numbers):
            kept.append(f.logical_or(f.not_equal(f.abs(x), math.inf), f.equal(x, out)))
        if kept and d.steep is not d.flow:
            where = functools.reduce(f.logical_and, kept)
            if numbers:  # the NaN comes from 0·∞
                where = f.logical_or(where, f.logical_or(f.equal(value, value), f.not_equal(out, out)))
            value = f.where(f.logical_or(where, d.where("steep")()), value, 0.0)
        if settles and not d.forward:
            steep = by_value
        elif numbers or grows and d.forward:
            def finite():
                if not numbers:
                    return f.isfinite(out)
                sheer = f.equal(f.abs(rule(1.0, out, *args)), math.inf)
                return (f.logical_or(f.isfinite(part.value), f.logical_and(f.equal(x, 0), sheer)) if d.forward
                        else f.logical_or(f.not_equal(f.abs(part.value), math.inf), sheer))
            steep = once(lambda: chosen(f.logical_or(finite(), f.logical_not(f.isfinite(d.value))),
                                        part.where("steep"), nowhere))
        return Masked(value, part.flow, steep, d.forward)
    contribution.limits = ("grows",) * grows + ("settles",) * settles
    contribution.parts = rule, masked
    return contribution


def looked(walk: Callable, seeds: Mapping, given: Mapping, lines: Iterable, values: Iterable,
           ends: Iterable | None = None, forward: bool = False) -> Any:
    """walk(seeds), a walk through the lines; or the same with masked seeds if it gives NaN at an end.

    given: the deltas or tangents before they were spread to the seeds. values: of the lines. For symbols, and
    for numbers of which a further derivative is taken, seeds are masked if a line may exclude entries. ends:
    the registers to look at. forward: whether it is forward mode.
    """
    start = lambda: {name: Masked.seed(d, given[name], forward) for name, d in seeds.items()}
    kinds = {*map(type, values), *map(type, seeds.values())}
    if kinds <= ARRAYS or not any(map(is_expression, kinds)) or not masks(lines, start().values()):
        found = walk(dict(seeds))
        if not any([unclear(found[x]) for x in ends or found if x in found]):
            return found
    return {name: bare(x) for name, x in walk(start()).items()}


ARRAYS = {np.ndarray, np.float64}  # the common types, tested first


@functools.cache
def is_expression(kind: type) -> bool: return issubclass(kind, Expression)


def number_within(x: Any) -> Any:
    """The number that x stands for; None for a symbol, and on a list's tape, which is for all numbers."""
    while isinstance(x, Expression):
        tape = getattr(x, "tape", None)
        known = getattr(tape, "exact", True) and getattr(tape, "guards", None) is None
        x = getattr(x, "value", None) if known else None
    return x


def unclear(x: Any) -> bool:
    """Whether x has a NaN among its entries, or infinities of both signs; False for symbols."""
    if is_expression(type(x)) and (x := number_within(x)) is None:
        return False
    if isinstance(x, dict):  # the parts of a bundle
        return any(map(unclear, x.values()))
    if not isinstance(x, float):  # above 10,000 entries BLAS would wake its threads
        x = np.vdot(x, x) if getattr(x, "size", 1) < 10_000 else np.add.reduce(x, axis=None)
    return x != x


def bare(x: Any) -> Any:
    """The delta or the tangent without its flow."""
    if isinstance(x, dict):  # the parts of a bundle
        return type(x)({i: bare(part) for i, part in x.items()})
    return x.value if isinstance(x, Masked) else x


def masks(lines: Iterable, seeds: Iterable[Masked]) -> bool:
    """Whether a line or a seed may exclude entries at which a slope may be infinite."""
    lines = [*lines]
    facts = {op: facts_of(op) for _, op, _ in lines}
    return "where" in facts or not all([known.tame for known in facts.values()]) and (
        any([known.flow in SELECTING for known in facts.values()]) or any(d.flow for d in seeds)
        or settles(lines, facts) or
        any(op == "power" and type(args[1]) in (int, float) and args[1] == 0 for _, op, args in lines))


def settles(lines: Iterable, facts: Mapping[str, Facts]) -> bool:
    """Whether a line that grows leads to one that settles."""
    grown: set = set()
    for dst, op, args in lines:
        if not grown.isdisjoint(map(name_or_id, args)):
            if facts[op].settles or op == "power" and type(args[1]) in (int, float) and args[1] < 0:
                return True
            grown.add(name_or_id(dst))
        elif facts[op].grows:
            grown.add(name_or_id(dst))
    return False


Flow = Callable[[], Any] | None
once = functools.cache  # for a function without arguments: it is computed at its first call
MOVED, PRODUCTS, SELECTING = {"moved", "part"}, {"product", "kept"}, {"part", "filled", "chosen", "kept"}  # as Facts has them


def flow_of(op: str, args: Sequence, out: Any, kind: str) -> Flow:
    """The flow, or steep, of out = op(*args) with Masked args; by default all flows if any of them does."""
    how = facts_of(op).flow
    if (kind == "steep" and how not in PRODUCTS and how != "summed"
        and all([a.steep is by_value for a in args if type(a) is Masked])):
        return by_value  # no 0 of it has met an infinite number so far
    flows = [a.where(kind) for a in args if type(a) is Masked]
    if op == "where":
        flows = [a.where(kind) if type(a) is Masked else nowhere if type(a) is float and a == 0 else None
                 for a in args[1:]]
        return once(lambda: chosen(args[0], *flows)) if flows != [None, None] else None
    if (op == "scale" and type(args[0]) is not Masked
        and (not isinstance(args[0], Expression) or args[0].slopeless)):
        return once(lambda: chosen(f.not_equal(args[0], 0), flows[0], nowhere))  # 0 where args[0] is 0
    if how == "filled" or how in MOVED and flows[0]:
        final = all([type(a) is not Masked or has_final_shape(a.value) for a in args])
        still = lambda a: final and isinstance(a, Expression) and a.dtype.kind == "f"
        other = lambda a: np.broadcast_to(0.0, a.shape) if still(a) else a
        moved = lambda there: getattr(f, op)(*[there(a) if type(a) is Masked else other(a) for a in args])
        share = once(lambda: moved(lambda a: shares(a, kind)))
        if kind == "steep" and number_within(out) is not None:  # a sum is infinite where a term is
            whole, infinite = share, lambda a: f.where(f.isfinite(a.value), 0.0, shares(a, kind))
            share = once(lambda: f.where(f.isfinite(out), whole(), moved(infinite)))
        flow = once(lambda: f.not_equal(share(), 0.0))
        flow.share, flow.out = share, out  # so that the next operator can move the share itself
        return flow
    if how == "plus" and len(flows) == 2:
        numbers = not isinstance(out, Expression) or hasattr(out, "value")  # in a list it costs much
        if kind == "steep" and numbers and flows[0] is not flows[1]:
            finite = once(lambda: f.isfinite(out))  # an infinite sum is as steep as its terms
            own = lambda a: f.logical_or(finite(), f.logical_not(f.isfinite(a.value)))
            pairs = zip(args, flows, strict=True)
            flows = [once(lambda a=a, flow=flow: chosen(own(a), flow, nowhere)) for a, flow in pairs]
        if None not in flows:
            return flows[0] if flows[0] is flows[1] else once(lambda: f.logical_or(flows[0](), flows[1]()))
    if None in flows and (kind == "flow" or how != "summed") or how == "plus":
        return None
    if how == "same" or how in PRODUCTS:
        return flows[0]
    some = lambda: f.not_equal(f.sum(shares(next(a for a in args if type(a) is Masked), kind)), 0.0)
    if kind == "flow" or how != "summed" or number_within(out) is None:
        return once(some)
    # an infinite product of finite factors has overflowed
    factors = [bare(a) for a in args if isinstance(a, (np.ndarray, np.floating, Expression))]
    finite = lambda: f.isfinite(sum(f.sum(0.0 * a) for a in factors))
    return once(lambda: chosen(f.logical_or(f.isfinite(out), f.logical_not(finite())), some, nowhere))


def has_final_shape(x: Any) -> bool:
    """Whether the shape of x is final, so that values that depend on it may be constants."""
    return getattr(x, "has_zeros", False) or getattr(getattr(x, "tape", None), "exact", False)


def nowhere() -> bool: return False
def by_value() -> bool: raise NotImplementedError("it is steep where its value is not 0")


def chosen(c: Any, x: Flow, y: Flow) -> Any:
    """The flow of a value that is x where c holds, and y elsewhere. x, y: their flows."""
    if y is nowhere:
        return f.logical_and(c, x()) if x else c
    if x is nowhere:
        return f.logical_and(f.logical_not(c), y()) if y else f.logical_not(c)
    return f.where(c, x() if x else True, y() if y else True)


def shares(a: Masked, kind: str) -> Any:
    """An array in a's shape: 1 or more where it flows, else 0."""
    flow = a.where(kind)
    share = getattr(flow, "share", flow)() if flow else 1.0
    if getattr(flow, "out", None) is a.value:
        return share
    constant = has_final_shape(a.value) and not getattr(a.value, "has_zeros", False)
    return f.broadcast(share, np.broadcast_to(0.0, a.value.shape) if constant else a.value)
