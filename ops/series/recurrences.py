"""Terms of the results of operators: termwise, Cauchy products, recurrences."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import where
from ..arrays.rearrangements import concat, stack
from ..arrays.running import shift
from ..expression import DG, f
from ..facts import operator_called
from ..kinks import ratio, scale
from ..matrices.algebra import solve

if TYPE_CHECKING:
    from .expansion import Expansion, Series


def sum_of(terms: Iterator[Any]) -> Any:
    """The sum of the terms that are not None; None if there is none."""
    total = None
    for x in terms:
        if x is not None:
            total = x if total is None else total + x
    return total


def termwise(op: str, args: Sequence, moving: list[int], k: int) -> Any:
    terms = {i: args[i].term(k) for i in moving}
    if all(x is None for x in terms.values()):
        return None
    zero = lambda i: f.broadcast(0.0, args[i].term(0) if i in terms else args[i])
    return operator_called(op)(*[
        a if i >= len(DG[op]) or not DG[op][i] else zero(i) if terms.get(i) is None else terms[i]
        for i, a in enumerate(args)])


def cauchy_products(op: str, inputs: list, args: Sequence, factors: list[int], k: int) -> Iterator[Any]:
    """The products whose orders add up to k. inputs: what stands in the other places; it is written into."""
    i, *further = factors
    for j in range(k + 1) if further else [k]:
        if (x := args[i].term(j)) is not None:
            inputs[i] = x
            if further:
                yield from cauchy_products(op, inputs, args, further, k - j)
            else:
                yield operator_called(op)(*inputs)


def cauchy_pairs(x: Series, y: Series, k: int) -> Iterator[tuple[int, Any, Any]]:
    """(j, xⱼ, yₖ₋ⱼ) for j = 1, …, k, where neither is 0."""
    triples = ((j, x.term(j), y.term(k - j)) for j in range(1, k + 1))
    return ((j, u, v) for j, u, v in triples if u is not None and v is not None)


def quotient_terms(expansion: Expansion, q: Series, op: str, args: list, moving: list[int]) -> Callable:
    """x = q y, so xₖ = Σ yⱼ qₖ₋ⱼ, in which qₖ comes with y₀."""
    x, y = args

    def following(k: int) -> Any:
        sent = [-(u * v) for _, u, v in cauchy_pairs(y, q, k)] if 1 in moving else []
        term = sum_of([x.term(k) if 0 in moving else None, *sent])
        return None if term is None else operator_called(op)(term, expansion.first(y))
    return following


def constant_power(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """x y′ = a x′ y for a constant power a, so k x₀ yₖ = Σ (a j − (k − j)) xⱼ yₖ₋ⱼ. A whole one is a product,
    also where x₀ is 0; one that is a series is that of a·log x."""
    x, a = args
    if 1 in moving:
        if 0 not in moving:
            return expansion.by_rule(y, op, args, moving)
        return f.exp(a * f.log(x)).term
    if type(a) in (int, float) and a == int(a) and 0 <= a <= 2 ** 20:
        exponent, square, out = int(a), x, None
        while exponent:
            if exponent % 2:
                out = square if out is None else out * square
            exponent //= 2
            square = square * square if exponent else None
        return (lambda k: None) if out is None else out.term

    def following(k: int) -> Any:
        term = sum_of(u * v * (a * j - (k - j)) for j, u, v in cauchy_pairs(x, y, k))
        return None if term is None else term / (k * x.term(0))
    return following


def system_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """a y = b, so a₀ yₖ = bₖ − Σ aⱼ yₖ₋ⱼ for j ≥ 1."""
    a, b = args
    column = lambda x: f.column(x, expansion.first(b))

    def following(k: int) -> Any:
        sent = [-f.dot(u, column(v)) for _, u, v in cauchy_pairs(a, y, k)] if 0 in moving else []
        term = b.term(k) if 1 in moving else None
        term = sum_of([None if term is None else column(term), *sent])
        return None if term is None else f.reshape(f.solve(expansion.first(a), term), y.term(0))
    return following


# by the values of rows. What is linear follows from their flow; all others go by their rules
TERMWISE = {where, concat, stack, shift}
PRODUCTS = {np.multiply, scale}
RECURRENCES = {np.divide: quotient_terms, ratio: quotient_terms, np.power: constant_power, solve: system_terms}
