"""The deltas and tangents of the second walk: values with the places that anything is sent to."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..expression import Expression, f
from ..facts import facts_of


class Flow:
    """A mask of places, which is made when it is asked for: make(*masks) of the masks that it is made from.

    They are made one after the other, without recursion: a chain of flows is as long as the program. share: a
    flow of numbers, 1 or more where it flows, for operators that move entries; out: the value it belongs to.
    """
    __slots__ = "make", "sources", "share", "out", "mask"

    def __init__(self, make: Callable[..., Any], *sources: Flow | None, share: Flow | None = None,
                 out: Any = None):
        self.make, self.sources, self.share, self.out = make, sources, share, out

    def __call__(self) -> Any:
        todo = [self]
        while todo:
            flow = todo[-1]
            if waiting := [s for s in flow.sources if s is not None and not hasattr(s, "mask")]:
                todo += waiting
                continue
            todo.pop()
            if not hasattr(flow, "mask"):
                flow.mask = flow.make(*[s.mask for s in flow.sources if s is not None])
                flow.make, flow.sources = None, ()
        return self.mask


NOWHERE = Flow(lambda: False)
BY_VALUE = Flow(lambda: None)  # it is steep where its value is not 0
Places = Flow | None  # None: everywhere


class Masked(Expression):
    """A delta or a tangent, and its flow, the places to which anything is sent.

    Entries that a `where`, an index or a seed of 0 excludes do not flow: they stay 0, whatever they meet. All
    other zeros are numbers, with 0·∞ = NaN, so that both modes and all orders multiply the same numbers;
    `correction` says where 0·∞ is 0 in spite of that. steep: the places that flow and where 0·∞ is not known.
    """

    level = math.inf

    def __init__(self, value: Any, flow: Places = None, steep: Places = None, forward: bool = False):
        self.value, self.flow, self.steep, self.forward = value, flow, steep, forward

    @staticmethod
    def seed(value: Any, direction: Any, forward: bool = False) -> Masked:
        """A delta or a tangent to start from, which flows where `direction`, spread to it, is not 0.

        A symbol flows everywhere: a list is written for directions without zeros.
        """
        symbolic = isinstance(direction, Expression)
        everywhere = not getattr(direction, "has_zeros", False) if symbolic else np.all(direction)
        flow = None if everywhere else Flow(lambda: f.not_equal(value, 0.0))
        return Masked(value, flow, flow, forward)

    def at(self, value: Any) -> Masked:
        """The same flow with another value."""
        return Masked(value, self.flow, self.steep, self.forward)

    def where(self, kind: str) -> Places:
        """Its flow, or its steep, as `kind` says."""
        places = getattr(self, kind)
        return Flow(lambda: f.not_equal(self.value, 0.0)) if places is BY_VALUE else places

    def record(self, op: str, args: Sequence) -> Masked:
        out = getattr(f, op)(*[a.value if type(a) is Masked else a for a in args])
        masked = [a for a in args if type(a) is Masked]
        if (masked[0].flow and facts_of(op).flow in PRODUCTS
            and not any([type(a) in (int, float) and math.isfinite(a) for a in args])):
            flow = masked[0].flow()
            mask = flow.value if getattr(flow, "has_zeros", False) else flow
            out = out if type(mask) is np.ndarray and mask.all() else f.where(flow, out, 0.0)
        flow = flow_after(op, args, out, "flow")
        same = all([a.steep is a.flow for a in masked])
        return Masked(out, flow, flow if same else flow_after(op, args, out, "steep"), self.forward)


ARRAYS = {np.ndarray, np.float64}  # the common types, tested first


@functools.cache
def is_expression(kind: type) -> bool: return issubclass(kind, Expression)


def number_within(x: Any) -> Any:
    """The number that x stands for; None for a symbol, and on a list's tape, which is for all numbers."""
    while isinstance(x, Expression):
        tape = getattr(x, "tape", None)
        exact = getattr(tape, "exact", True) and getattr(tape, "guards", None) is None
        x = getattr(x, "value", None) if exact else None
    return x


def unclear(x: Any) -> bool:
    """Whether x has a NaN among its entries, or infinities of both signs; False for symbols."""
    if type(x) not in ARRAYS:
        if is_expression(type(x)) and (x := number_within(x)) is None:
            return False
        if isinstance(x, dict):  # the arrays of a bundle
            return any(map(unclear, x.values()))
    if not isinstance(x, float):  # above 10,000 entries BLAS would wake its threads
        few = getattr(x, "size", 1) < 10_000  # for speed alone
        x = np.vdot(x, x) if few else np.add.reduce(x, axis=None)
    return x != x


def bare(x: Any) -> Any:
    """The delta or the tangent without its flow."""
    if isinstance(x, dict):  # the arrays of a bundle
        return type(x)({i: bare(array) for i, array in x.items()})
    return x.value if isinstance(x, Masked) else x


# what an operator does with a flow, by the fact `flow` of its row
MOVED, PRODUCTS = {"moved", "part"}, {"product", "kept"}


def flow_after(op: str, args: Sequence, out: Any, kind: str) -> Places:
    """The flow, or steep, of out = op(*args) with Masked args; by default all flows if any of them does."""
    flowing, masked = facts_of(op).flow, [a for a in args if type(a) is Masked]
    if (kind == "steep" and flowing not in PRODUCTS and flowing != "summed"
            and all([a.steep is BY_VALUE for a in masked])):
        return BY_VALUE  # no 0 of it has met an infinite number so far
    flows = [a.where(kind) for a in masked]
    if op == "where":
        return places_of_where(*args, kind)
    if (op == "scale" and type(args[0]) is not Masked
        and (not isinstance(args[0], Expression) or args[0].slopeless)):
        return chosen(Flow(lambda: f.not_equal(args[0], 0)), flows[0], NOWHERE)  # 0 where args[0] is 0
    if flowing == "filled" or flowing in MOVED and flows[0]:
        return moved_places(op, args, out, kind)
    if flowing == "plus":
        return places_of_sum(masked, out, kind) if len(masked) == 2 else None
    if None in flows and (kind == "flow" or flowing != "summed"):
        return None
    if flowing == "same" or flowing in PRODUCTS:
        return flows[0]
    return summed_places(args, masked[0], out, kind, products=flowing == "summed")


def places_of_where(c: Any, x: Any, y: Any, kind: str) -> Places:
    """In where(c, d, 0.0) the delta d flows where c holds, and the literal 0 nowhere."""
    flows = [a.where(kind) if type(a) is Masked else NOWHERE if type(a) is float and a == 0 else None
             for a in (x, y)]
    return chosen(Flow(lambda: c), *flows) if flows != [None, None] else None


def places_of_sum(terms: Sequence[Masked], out: Any, kind: str) -> Places:
    """A sum of two flows where either does, and an infinite sum is as steep as its infinite terms."""
    flows = [a.where(kind) for a in terms]
    numbers = not isinstance(out, Expression) or hasattr(out, "value")  # in a list it costs much
    if kind == "steep" and numbers and flows[0] is not flows[1]:
        finite = Flow(lambda: f.isfinite(out))
        term = lambda a: Flow(lambda mask: f.logical_or(mask, f.logical_not(f.isfinite(a.value))), finite)
        flows = [chosen(term(a), flow, NOWHERE) for a, flow in zip(terms, flows, strict=True)]
    if None in flows:
        return None
    return flows[0] if flows[0] is flows[1] else Flow(f.logical_or, *flows)


def summed_places(args: Sequence, d: Masked, out: Any, kind: str, products: bool) -> Flow:
    """All entries of out flow if any entry of d does. A sum of products is not steep where it overflows."""
    summed = Flow(lambda share: f.not_equal(f.sum(share), 0.0), share_of(d, kind))
    if kind == "flow" or not products or number_within(out) is None:
        return summed
    # an infinite product of finite factors has overflowed
    factors = [bare(a) for a in args if isinstance(a, (np.ndarray, np.floating, Expression))]
    finite = lambda: f.isfinite(sum(f.sum(0.0 * a) for a in factors))
    return chosen(Flow(lambda: f.logical_or(f.isfinite(out), f.logical_not(finite()))), summed, NOWHERE)


def moved_places(op: str, args: Sequence, out: Any, kind: str) -> Flow:
    """The places of an operator that moves entries: it moves an array that is 1 where they flow as well."""
    final = all([type(a) is not Masked or has_final_shape(a.value) for a in args])
    still = lambda a: final and isinstance(a, Expression) and a.dtype.kind == "f"
    others = [np.broadcast_to(0.0, a.shape) if type(a) is not Masked and still(a) else a for a in args]

    def moved(*shares: Any) -> Any:
        share = iter(shares)
        return getattr(f, op)(*[next(share) if type(a) is Masked else a for a in others])
    sources = [share_of(a, kind) for a in args if type(a) is Masked]
    share = Flow(moved, *sources)
    if kind == "steep" and number_within(out) is not None:  # a sum is infinite where a term is
        infinite = [Flow(lambda s, a=a: f.where(f.isfinite(a.value), 0.0, s), share_of(a, kind))
                    for a in args if type(a) is Masked]
        of_terms = Flow(moved, *infinite)
        share = Flow(lambda share, terms: f.where(f.isfinite(out), share, terms), share, of_terms)
    return Flow(lambda share: f.not_equal(share, 0.0), share, share=share, out=out)


def share_of(a: Masked, kind: str) -> Flow:
    """An array in a's shape: 1 or more where it flows, else 0."""
    flow = a.where(kind)
    if flow is None:
        return Flow(lambda: share_like(1.0, a.value))
    share = flow.share or flow
    return share if flow.out is a.value else Flow(lambda mask: share_like(mask, a.value), share)


def share_like(share: Any, x: Any) -> Any:
    constant = has_final_shape(x) and not getattr(x, "has_zeros", False)
    return f.broadcast(share, np.broadcast_to(0.0, x.shape) if constant else x)


def has_final_shape(x: Any) -> bool:
    """Whether the shape of x is final, so that values that depend on it may be constants."""
    return getattr(x, "has_zeros", False) or getattr(getattr(x, "tape", None), "exact", False)


def chosen(c: Flow, x: Places, y: Places) -> Flow:
    """The flow of a value that is x where c holds, and y elsewhere. x, y: their flows."""
    if y is NOWHERE:
        return Flow(f.logical_and, c, x) if x else c
    if x is NOWHERE:
        refused = Flow(f.logical_not, c)
        return Flow(f.logical_and, refused, y) if y else refused
    flows = [c, *[flow for flow in (x, y) if flow]]

    def choice(c: Any, *masks: Any) -> Any:
        mask = iter(masks)
        return f.where(c, next(mask) if x else True, next(mask) if y else True)
    return Flow(choice, *flows)
