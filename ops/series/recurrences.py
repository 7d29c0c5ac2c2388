"""Terms of the results of operators: termwise, Cauchy products, recurrences."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import where
from ..arrays.rearrangements import concat, stack
from ..arrays.running import cumprod, recurrence, shift
from ..expression import DG, Expression, f
from ..facts import operator_called
from ..kinks import ratio, scale
from ..matrices.algebra import cofactor, det, expm, safe_inverse, solve, sqrtm, sylvester
from ..reductions import prod

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


def carried_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """y = x + a·shift(y), so yₖ runs with a₀ over xₖ + Σ aⱼ shift(yₖ₋ⱼ) for j ≥ 1."""
    x, a, axis = args

    def following(k: int) -> Any:
        carried = [u * f.shift(v, axis) for _, u, v in cauchy_pairs(a, y, k)] if 1 in moving else []
        term = sum_of([x.term(k) if 0 in moving else None, *carried])
        return None if term is None else f.recurrence(term, expansion.first(a), axis)
    return following


def running_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """y = x·shift(y) with 1 in front of y₀, so yₖ runs with x₀ over Σ xⱼ shift(yₖ₋ⱼ) for j ≥ 1."""
    x, axis = args[0], args[1] if args[1:] and args[1] is not None else 0
    x = f.reshape(x, y.term(0))  # flat where there is no axis

    def following(k: int) -> Any:
        term = sum_of(u * f.shift(v, axis, float(j == k)) for j, u, v in cauchy_pairs(x, y, k))
        return None if term is None else f.recurrence(term, x.term(0), axis)
    return following


def product_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """The last of the running products; a sum over it, which may be none."""
    x, axis = args[0], args[1] if args[1:] else None
    if axis is None:
        x, axis = f.reshape(x, (-1,)), 0
    for i in axis if isinstance(axis, tuple) else (axis,):
        last, every = slice(-1, None), slice(None)
        key = (*[every] * i, last) if i >= 0 else (..., last, *[every] * (-1 - i))
        x = f.sum(f.getitem(f.cumprod(x, i), *key), i, True)
    return f.reshape(x, y.term(0)).term


def has_inverse(expansion: Expansion, a: Series) -> bool:
    """Whether a₀ has an inverse; of a symbol, whether the rules will need it anyway."""
    first = a.term(0)
    if isinstance(first, Expression):
        return expansion.order > 2
    return safe_inverse(first, det(first)) is not None


def determinant_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """y′ = y tr(a⁻¹ a′), if a₀ has an inverse."""
    a, = args
    if not has_inverse(expansion, a):
        return expansion.by_rule(y, op, args, moving)
    return expansion.by_slope(lambda: y * f.sum(f.mT(f.inv(a)) * series_of_slope(a), (-2, -1)))


def cofactor_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """y = det(a) a⁻ᵀ, where `determinant_terms` has the inverse, too."""
    a, = args
    if not has_inverse(expansion, a):
        return expansion.by_rule(y, op, args, moving)
    return (f.reshape(f.det(a), f.sum(a, (-2, -1), True)) * f.mT(f.inv(a))).term


def sylvester_terms(expansion: Expansion, x: Series, op: str, args: list, moving: list[int]) -> Callable:
    """a x + x b = q, so a₀ xₖ + xₖ b₀ = qₖ − Σ (aⱼ xₖ₋ⱼ + xₖ₋ⱼ bⱼ) for j ≥ 1."""
    a, b, q = args

    def following(k: int) -> Any:
        left = [-f.dot(u, v) for _, u, v in cauchy_pairs(a, x, k)] if 0 in moving else []
        right = [-f.dot(v, u) for _, u, v in cauchy_pairs(b, x, k)] if 1 in moving else []
        term = sum_of([q.term(k) if 2 in moving else None, *left, *right])
        return None if term is None else f.sylvester(expansion.first(a), expansion.first(b), term)
    return following


def root_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """y y = a, so y₀ yₖ + yₖ y₀ = aₖ − Σ yⱼ yₖ₋ⱼ for 0 < j < k."""
    def following(k: int) -> Any:
        pairs = ((y.term(j), y.term(k - j)) for j in range(1, k))
        term = sum_of([args[0].term(k), *[-f.dot(u, v) for u, v in pairs if u is not None and v is not None]])
        return None if term is None else f.sylvester(y.term(0), y.term(0), term)
    return following


def exponential_terms(expansion: Expansion, y: Series, op: str, args: list, moving: list[int]) -> Callable:
    """yₖ is the corner of exp of [[a₀, a₁, …, aₖ], [0, a₀, …], …] (Higham 2008, §3.2, for k = 1)."""
    def following(k: int) -> Any:
        zero = f.broadcast(0.0, args[0].term(0))
        terms = [zero if (x := args[0].term(j)) is None else x for j in range(k + 1)]
        rows = [f.concat(-1, *[zero] * i, *terms[:k + 1 - i]) for i in range(k + 1)]
        return f.part(f.part(f.expm(f.concat(-2, *rows)), 0, -2, *rows), k, -1, *terms)
    return following


def series_of_slope(x: Series) -> Series:
    def following(k: int) -> Any:
        term = x.term(k + 1)
        return term if k == 0 or term is None else term * (k + 1)
    # a 0 as an array: rules ask for its shape
    first = following(0)
    return x.expansion.series(f.broadcast(0.0, x.term(0)) if first is None else first, following=following)


# by the values of rows. What is linear follows from their flow; all others go by their rules
TERMWISE = {where, concat, stack, shift}
PRODUCTS = {np.multiply, scale}
RECURRENCES = {np.divide: quotient_terms, ratio: quotient_terms, np.power: constant_power, solve: system_terms,
               recurrence: carried_terms, cumprod: running_terms, prod: product_terms, det: determinant_terms,
               cofactor: cofactor_terms, sylvester: sylvester_terms, sqrtm: root_terms,
               expm: exponential_terms}
