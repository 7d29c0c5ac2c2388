"""The tables, and the three kinds of row that fill them.

    G[op]       the value: a plain function of arrays
    DG[op]      one adjoint rule per argument, (delta, out, *args) -> contribution to that argument's delta
    TG[op]      one tangent rule per argument, (tangent, out, *args) -> contribution to the tangent of out
    SLOPES[op]  of an entrywise operator: one slope per argument, (out, *args) -> ∂out/∂argument

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

from .expression import DG, FLAT, ROOTS, TG, Expression, G, Rule, f
from .facts import FACTS, MANY, all_facts, arity, parameters, positional, refuse_facts, takes
from .kinks import Masked, correction, send
from .walk import back
from .writer import Recording, Traced

SLOPES: dict[str, tuple] = {}  # of elementwise rows: (out, *args) -> the slope by each argument
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


def elementwise(op: str, value: Callable, *slopes: Callable | None, **facts: Any) -> None:
    """A row with a diagonal Jacobian. It states its slopes, and `send` multiplies by them in both modes.

        elementwise("cube", lambda x: x ** 3, lambda out, x: 3 * x ** 2)

    op, value, facts: as for `operator`. slopes: (out, *args) -> ∂out/∂argument, in the language: an array, a
    number, or one of ops.kinks: over(y), 1/y by which d is divided; only(c), where 0 sends nothing. They need
    not know of broadcasting and dtypes: this row sums adjoints and spreads tangents. ValueError for a rule
    (d, out, *args), which was the form of a row before.
    """
    for slope in filter(None, slopes):
        refuse_rule(op, value, slope)

    def rule(slope: Callable, i: int, back: bool) -> Callable:
        one = len(slopes) == 1

        def product(d, out, *args): return send(d, slope(out, *args))
        correct = correction(product, i, facts)

        def contribution(d, out, *args):
            s = slope(out, *args)
            term, like = d * s if type(s) in NUMERIC else send(d, s), args[i] if back else out
            if correct and type(term) is Masked:
                term = correct(term, d, out, *args)
            if one or (kind := type(term)) is type(like) and (kind is np.float64 or kind is np.ndarray
                    and term.shape == like.shape and term.dtype == like.dtype):
                return term  # the common case first
            return (f.unbroadcast if back else f.broadcast)(term, like)
        return contribution

    SLOPES[op] = slopes
    rules = [[slope and rule(slope, i, back) for i, slope in enumerate(slopes)] for back in (True, False)]
    operator(op, value, *rules[0], tangents=rules[1], **{"flops": 1, "elementwise": True} | facts)


NUMERIC = {np.ndarray, np.float64}


def refuse_rule(op: str, value: Callable, slope: Callable) -> None:
    """ValueError for a rule in the place of a slope: it takes d too, the delta or the tangent."""
    names, fewest, greatest = parameters(slope)[0], arity(slope)[0], arity(value)[1]
    if names[1:2] == ("out",) or fewest > greatest + 1:
        arguments = ", ".join(names[2:]) or "x"
        raise ValueError(f"elementwise({op!r}, …) takes slopes, and found a rule of ({', '.join(names)}); leave out d "
                         f"and the product with it: lambda out, {arguments}: …, as lambda out, x: 3 * x ** 2 for x³")


def linear(op: str, value: Callable, *rules: Rule | None | Each, **facts: Any) -> None:
    """A row that is linear in each argument with a rule: its tangent is the operator of that one's tangent.
    op, value, rules, facts: as for `operator`."""
    def tangent(rule, i): return lambda t, out, *args: getattr(f, op)(*args[:i], t, *args[i + 1:])
    each = rules[0] if rules and isinstance(rules[0], Each) else rules
    operator(op, value, *rules, tangents=rules and ruled(each, tangent), **{"tame": True} | facts)


def operator(op: str, value: Callable, *rules: Rule | None | Each, tangents: Sequence[Rule | None]
             | None = None, **facts: Any) -> None:
    """Add a row to G, DG, TG and `f.<op>`: its value, and an adjoint rule per argument, None if it is zero.

    op: the name. value: a function of arrays. rules: (delta, out, *args) -> contribution to the argument's
    delta; without any, the value, if it is written in the language, is traced and differentiated. tangents:
    (tangent, out, *args) -> tangent of out; without them xman goes back through the adjoint rule, which is
    linear in its first argument: that is right for every operator, but slow, so frequent operators have their
    own. Keys, an array that gives its shape, axes, and options that are a truth value or a tuple by default
    need no rule. facts: facts, by the names of `Facts`. ValueError for an impossible or taken name,
    or unknown fact.
    """
    refuse_facts(op, facts)
    if not op.isidentifier() or keyword.iskeyword(op) or op in OURS:
        raise ValueError(f"an operator cannot be called {op!r}: " + (
            "that is a row of ops; choose another name, or give eval and backprop tables of your own"
            if op in OURS else "the name has to be a Python identifier"))
    adjoints = adjoint_rules(op, value, rules, facts)
    flat = isinstance(adjoints, list) and not any(adjoints)
    (FLAT.add if flat else FLAT.discard)(op)
    (ROOTS.add if facts.get("squared") else ROOTS.discard)(op)
    FACTS[op] = all_facts(facts, flat)
    if getattr(value, "__name__", "") == "<lambda>" or getattr(value, "__module__", "").startswith("ops."):
        value.__name__ = value.__qualname__ = op  # for errors
    G[op], DG[op] = value, adjoints
    TG[op] = with_literals(tangents, value, facts) if tangents else ruled(adjoints, tangent_of)
    fewest, greatest = arity(value)

    def call(*args, **named):
        if named:
            args = positional(op, value, args, named)
        inmost = None
        for a in args:
            if isinstance(a, Expression) and (inmost is None or a.level > inmost.level):
                inmost = a
        if inmost is None:
            return value(*args)
        if not fewest <= len(args) <= greatest:
            raise TypeError(f"{op} takes {takes(value)}; {len(args)} {'were' if args[1:] else 'was'} given")
        return inmost.record(op, args)

    call.__name__, call.__qualname__, call.__doc__ = op, f"f.{op}", value.__doc__
    setattr(f, op, staticmethod(call))


def expressed(value: Callable, doc: str) -> Callable:
    """The value, with a docstring."""
    value.__doc__ = doc
    return value


def adjoint_rules(op: str, value: Callable, rules: tuple, facts: dict[str, Any]) -> Sequence:
    """The rules of a row, one an argument, also those that follow from its value and its facts."""
    fewest, greatest = arity(value)
    if rules and isinstance(rules[0], Each):
        return rules[0]
    if len(rules) > greatest:
        raise ValueError(f"{op} takes {takes(value)}, and was given {len(rules)} rules: one an argument")
    if not rules and facts.get("gives") in (bool, int):
        return [None] * greatest
    if not rules:
        by_value = partial(traced, value)
        return Each(by_value) if greatest == MANY else [*map(by_value, range(greatest))]
    completed = with_literals(rules, value, facts)
    if len(completed) < fewest:
        raise ValueError(f"{op} takes {takes(value)}, and has {len(rules)} rule{'s' * (len(rules) > 1)}; write "
                         "one for each argument, None where the derivative is zero")
    return completed


def with_literals(rules: Sequence, value: Callable, facts: dict[str, Any]) -> Sequence:
    """The rules, and None for further arguments that have no derivative: keys, an array that gives its shape,
    axes, and options, which are a truth value or a tuple where they are not given."""
    names, defaults, rest, _ = parameters(value)
    keys, shapes = facts.get("keys", MANY), (facts.get("like"), facts.get("shape"))
    if isinstance(rules, Each):
        return rules
    rules = [*rules]
    for i, name in [*enumerate(names)][len(rules):]:
        is_option = isinstance(defaults.get(name), (bool, tuple))
        if not (is_option or i >= keys or i in shapes or name in ("axis", "axes")):
            break
        rules.append(None)
    return Each(lambda i: None, *rules) if rest and len(rules) >= keys else rules


def ruled(rules: Sequence, change: Callable) -> Sequence:
    """change(rule, i) for each rule that there is."""
    if isinstance(rules, Each):
        return Each(lambda i: rules[i] and change(rules[i], i))
    return [rule and change(rule, i) for i, rule in enumerate(rules)]


# ---- rules that follow from others: a value, or an adjoint rule, is recorded and differentiated ------------

def traced(value: Callable, i: int) -> Rule:
    """The adjoint rule of an operator without one: it goes back through the operator's own value."""
    return lambda d, out, *args: pullback(lambda x: value(*args[:i], x, *args[i + 1:]), args[i], d)


def tangent_of(rule: Rule, i: int) -> Rule:
    """The tangent rule from an adjoint rule: rule(u, …) is Jᵀu, so going back through it with t gives J t."""
    return lambda t, out, *args: pullback(lambda u: rule(u, out, *args), f.broadcast(0.0, out), t)


def pullback(function: Callable, x: Any, d: Any) -> Any:
    """Jᵀd, the adjoint of x if function(x) has the adjoint d; x and d are arrays or Expressions."""
    tape = Recording()
    start = Traced(x, tape)
    end = function(start)
    deltas = back(tape.lines, tape.values, {end.name: d}, DG, tape.flat) if tape.has(end) else {}
    return deltas[start.name] if start.name in deltas else f.broadcast(0.0, x)
