"""The tables, and the three kinds of row that fill them.

    G[op]       the value: a plain function of arrays
    DG[op]      one adjoint rule per argument, (delta, out, *args) -> contribution to that argument's delta
    TG[op]      one tangent rule per argument, (tangent, out, *args) -> contribution to the tangent of out

A rule is written in the language itself: + - * / @ .T, comparisons, NumPy's functions and f.<op>. Given
arrays it computes, given Expressions it records, so derivatives of every order come from the one table. None
in place of a rule says that the derivative is zero.
"""
from __future__ import annotations

import itertools
import keyword
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .derived import tangent_of, traced
from .expression import DG, FLAT, TG, Expression, G, Rule, f
from .facts import FACTS, MANY, ROOTS, TAME, Facts, arity, positional, refuse_facts, takes
from .flows import Masked

OURS: set[str] = set()  # the rows of this package, filled when all are there


class Each(Sequence):
    """The rules of an operator with any number of arguments: the first ones, then `rule(i)` for the i-th."""

    def __init__(self, rule: Callable[[int], Rule | None], *first: Rule | None):
        self.rule, self.first = rule, first

    def __getitem__(self, i: int) -> Rule | None:
        return self.first[i] if i < len(self.first) else self.rule(i)

    def __iter__(self) -> Iterator[Rule | None]:
        return itertools.chain(self.first, map(self.rule, itertools.count(len(self.first))))

    def __len__(self) -> int: return MANY


def elementwise(op: str, value: Callable, *rules: Rule | None, **known: Any) -> None:
    """A row with a diagonal Jacobian, which is its own transpose: one rule per argument serves both modes.

    op, value, known: as for `operator`. rules: (delta or tangent, out, *args) -> contribution. They need not
    know of broadcasting and dtypes: this row sums adjoints and spreads tangents.
    """
    def fitted(rule, i=None):
        rule, masked = getattr(rule, "parts", (rule, None))
        def contribution(d, out, *args):
            part, like = rule(d, out, *args), out if i is None else args[i]
            if (kind := type(part)) is type(like) and (kind is np.float64 or kind is np.ndarray
                    and part.shape == like.shape and part.dtype == like.dtype):
                return part  # the common case first
            part = masked(part, d, out, *args) if masked and type(part) is Masked else part
            return (f.broadcast if i is None else f.unbroadcast)(part, like)
        return contribution

    one, limits = len(rules) == 1, {fact: True for rule in rules for fact in getattr(rule, "limits", ())}
    operator(op, value, *[rule if one else rule and fitted(rule, i) for i, rule in enumerate(rules)],
             tangents=[rule if one else rule and fitted(rule) for rule in rules],
             **{"flops": 1, "elementwise": True} | limits | known)


def linear(op: str, value: Callable, *rules: Rule | None | Each, **known: Any) -> None:
    """A row that is linear in each argument with a rule: its tangent is the operator of that one's tangent.
    op, value, rules, known: as for `operator`."""
    def tangent(rule, i): return lambda t, out, *args: getattr(f, op)(*args[:i], t, *args[i + 1:])
    operator(op, value, *rules, tangents=rules and ruled(rules, tangent), **{"tame": True} | known)


def operator(op: str, value: Callable, *rules: Rule | None | Each, tangents: Sequence[Rule | None]
             | None = None, **known: Any) -> None:
    """Add a row to G, DG, TG and `f.<op>`: its value, and an adjoint rule per argument, None if it is zero.

    op: the name. value: a function of arrays. rules: (delta, out, *args) -> contribution to the argument's
    delta; without any, the value, if it is written in the language, is traced and differentiated. tangents:
    (tangent, out, *args) -> tangent of out; without them xman goes back through the adjoint rule, which is
    linear in its first argument: that is right for every operator, but slow, so frequent operators have their
    own. known: facts, by the names of `Facts`. ValueError for an impossible or taken name, or unknown fact.
    """
    refuse_facts(op, known)
    if not op.isidentifier() or keyword.iskeyword(op) or op in OURS:
        raise ValueError(f"an operator cannot be called {op!r}: " + (
            "that is a row of ops; choose another name, or give eval and backprop tables of your own"
            if op in OURS else "the name has to be a Python identifier"))
    least, most = arity(value)
    if not rules:
        rules = [Each(partial(traced, value))] if most == MANY else [traced(value, i) for i in range(most)]
    if not (each := isinstance(rules[0], Each)) and len(rules) > most:
        raise ValueError(f"{op} takes {takes(value)}, and was given {len(rules)} rules: one an argument")
    flat = not (each or any(rules))
    (FLAT.add if flat else FLAT.discard)(op)
    FACTS[op] = Facts(**{"flops": 0 if known.get("view") else None, "tame": flat or known.get("flow") in TAME}
                      | known)
    ROOTS[op] = known.get("squared")
    if getattr(value, "__name__", "") == "<lambda>":
        value.__name__ = value.__qualname__ = op  # for errors
    G[op], DG[op], TG[op] = value, rules[0] if each else list(rules), tangents or ruled(rules, tangent_of)

    def call(*args, **named):
        if named:
            args = positional(op, value, args, named)
        inmost = None
        for a in args:
            if isinstance(a, Expression) and (inmost is None or a.level > inmost.level):
                inmost = a
        if inmost is None:
            return value(*args)
        if not least <= len(args) <= most:
            raise TypeError(f"{op} takes {takes(value)}; {len(args)} {'were' if args[1:] else 'was'} given")
        return inmost.record(op, args)

    call.__name__, call.__qualname__, call.__doc__ = op, f"f.{op}", value.__doc__
    setattr(f, op, staticmethod(call))


def expressed(value: Callable, doc: str) -> Callable:
    """The value, with a docstring."""
    value.__doc__ = doc
    return value


def ruled(rules: Sequence, change: Callable) -> Sequence:
    """change(rule, i) for each rule that there is."""
    if isinstance(each := rules[0], Each):
        return Each(lambda i: each[i] and change(each[i], i))
    return [rule and change(rule, i) for i, rule in enumerate(rules)]
