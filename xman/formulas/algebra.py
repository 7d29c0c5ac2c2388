"""Algebra on expressions of arrays: sums and quotients entry by entry, with products of matrices in them."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..notation.polynomials import Polynomial, factored_text, sum_text
from .expressions import function_call, node, with_replaced
from .polynomial import ALGEBRAIC, formula_text, polynomial
from .slopes import names_in, negative, plus, tidy, times_tree, unsigned
from .text import evaluated_at, is_product, is_truth


def same_value(x: Any, y: Any) -> bool:
    if np.shape(x) != np.shape(y) and (np.ndim(x) or x):  # 0 is written for an array of zeros, too
        return False
    return np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)


def simplest(e: ast.expr, values: Mapping[str, Any]) -> ast.expr:
    """The shortest form of e with the same value: over one denominator, and A·(x + y) for A·x + A·y.

    What is not + - * / entry by entry, such as A @ x, is a letter meanwhile; in it the same is done.
    """
    letters: dict[str, tuple[str, ast.expr]] = {}  # by text: each with what it stands for

    def letter(e: ast.expr) -> ast.expr:
        name = letters.setdefault(ast.unparse(e), (f"q{len(letters)}", e))[0]
        return ast.Name(name)

    def entrywise(e: ast.expr) -> ast.expr:
        match e:
            case ast.Constant():
                return e
            case ast.UnaryOp(sign, x):
                return ast.UnaryOp(sign, entrywise(x))
            case ast.BinOp(x, ast.Pow() as sign, ast.Constant() as n):
                return ast.BinOp(entrywise(x), sign, n)
            case ast.BinOp(x, sign, y) if type(sign) in ALGEBRAIC:
                return ast.BinOp(entrywise(x), sign, entrywise(y))
            case ast.BinOp(x, sign, y):
                (b, x), (c, y) = (number_apart(simplest(side, values), values) for side in (x, y))
                product = letter(ast.BinOp(x, sign, y))
                return tidy(times_tree(entrywise(b), entrywise(c), product), fold=True)  # A·(z/n) is A·z/n
            case ast.Call(function, [c, like], []) if is_spread(e, values) and not is_one(c):
                return ast.BinOp(entrywise(c), ast.Mult(), letter(ast.Call(function, [node(1.0), like], [])))
            case ast.Call(function, args, named):
                args, c = [simplest(a, values) if names_in(a) else a for a in args], node(1)
                if ast.unparse(function) == "f.diag_back":
                    c, args[0] = number_apart(args[0], values)
                return tidy(times_tree(entrywise(c), letter(ast.Call(function, args, named))), fold=True)
            case ast.Attribute(x, "T"):
                return letter(ast.Attribute(simplest(x, values), "T", ast.Load()))
        return letter(e)

    plain = entrywise(e)
    groups = [[plain]]  # of forms: the shortest one of the first that has one
    with contextlib.suppress(OverflowError):  # too long, multiplied out
        p = polynomial(plain, {})
        ones = {name for name, e in letters.values() if is_spread(e, values) and is_one(e.args[0])}
        truths = {name for name, e in letters.values() if is_truth(e, values)} | ones  # 1² = 1 and 0² = 0
        with_powers = lambda power: Polynomial.of(
            (tuple((x, k) for x, n in term if (k := power(x, n))), c) for term, c in p.items()
        )
        p = with_powers(lambda x, n: min(n, 1) if x in truths else n)
        p = with_softmax(p, letters, letter, values)
        while joined := with_common_factor(p, dict(letters.values()), values):
            p, factors, c, product = joined
            p += Polynomial({tuple(sorted([*factors, (letter(product).id, 1)])): c})
        forms_of = lambda p: [ast.parse(text(p), mode="eval").body
                              for text in ((formula_text, sum_text, factored_text) if p else (str,))]
        groups = [[*forms_of(p), plain]]
        if ones:  # 1 is an array beside others of its shape; alone it stands at the end
            forms = forms_of(with_powers(lambda x, n: n * (x not in ones)))
            groups.insert(0, forms + [tidy(ast.BinOp(form, ast.Mult(), ast.Name(x)), fold=True) for x in ones
                                     for form in forms])
    by = dict(letters.values())
    groups = [sorted((with_replaced(form, by) for form in forms), key=lambda form: len(ast.unparse(form)))
              for forms in groups]
    forms = itertools.chain(*groups)
    return next(form for form in forms if same_value(evaluated_at(form, values), evaluated_at(e, values)))


def with_softmax(p: Polynomial, letters: Mapping[str, tuple], letter: Callable,
                 values: Mapping[str, Any]) -> Polynomial:
    """p, in which exp(x) is softmax(x) times the sum of exp(x) over the last axis, where p has them."""
    for total, e in [*letters.values()]:
        match e:
            case ast.Call(sum, [ast.Call(exp, [x]) as terms, *_]) if ast.unparse(terms) in letters:
                softmax, name = function_call("f.softmax", [x]), letters[ast.unparse(terms)][0]
                quotient = ast.BinOp(terms, ast.Div(), e)
                if [ast.unparse(sum), ast.unparse(exp)] == ["np.sum", "np.exp"] and same_value(
                        evaluated_at(softmax, values), evaluated_at(quotient, values)):
                    product = Polynomial({((letter(softmax).id, 1), (total, 1)): 1})
                    p = polynomial(ast.parse(str(p), mode="eval").body, {name: product})
    return p


def is_one(e: ast.expr) -> bool: return isinstance(e, ast.Constant) and e.value == 1
def is_spread(e: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether e is an array of one number."""
    spread = isinstance(e, ast.Call) and ast.unparse(e.func) == "f.broadcast" and not e.keywords
    return spread and np.ndim(evaluated_at(e.args[0], values)) == 0


def number_apart(e: ast.expr, values: Mapping[str, Any]) -> tuple[ast.expr, ast.expr]:
    """(c, x) of an array c·x, c a number: (-2/n, a) of -2·a/n."""
    if np.ndim(evaluated_at(e, values)) == 0:
        return e, node(1)
    if (positive := unsigned(e)) is not None:
        c, x = number_apart(positive, values)
        return negative(c), x
    match e:
        case ast.BinOp(x, (ast.Mult() | ast.Div()) as sign, y):
            (b, x), (c, y) = number_apart(x, values), number_apart(y, values)
            return tidy(ast.BinOp(b, sign, c), fold=True), tidy(ast.BinOp(x, sign, y), fold=True)
    return node(1), e


def with_common_factor(p: Polynomial, by: Mapping[str, ast.expr], values: Mapping[str, Any]) -> tuple | None:
    """(the other terms, factors, coefficient, A·(x ± y)) of a sum with c·A·x ± c·A·y, or with (A ± B)·x; None
    where it has none. by: what the letters of p stand for."""
    for (s, b), (t, c) in itertools.combinations(p.items(), 2):
        left, right, common = {*s} - {*t}, {*t} - {*s}, {*s} & {*t}
        if abs(b) != abs(c) or len(left) != 1 or len(right) != 1:
            continue
        (x, m), (y, n) = *left, *right
        if (m, n) != (1, 1) or not (is_product(by[x]) and is_product(by[y])):
            continue
        for side, across in ("left", "right"), ("right", "left"):
            if ast.unparse(getattr(by[x], side)) == ast.unparse(getattr(by[y], side)):
                first, second = getattr(by[x], across), getattr(by[y], across)
                total = plus(first, second if b * c > 0 else negative(second))
                # its sign is that of the shorter sum: -A·(x + y), but A·(y - x) for -A·(x - y)
                ways = [(simplest(total, values), b), (simplest(ast.UnaryOp(ast.USub(), total), values), -b)]
                total, b = min(ways, key=lambda way: (len(ast.unparse(way[0])), way[1] < 0))
                product = ast.BinOp(**{side: getattr(by[x], side), across: total}, op=ast.MatMult())
                return (
                    Polynomial({term: k for term, k in p.items() if term not in (s, t)}),
                    common,
                    b,
                    product,
                )
    return None
