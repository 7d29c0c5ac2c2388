"""Algebra on expressions of arrays: sums and quotients entry by entry, with products of matrices in them."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..notation.polynomials import Polynomial, sum_text
from .expressions import with_replaced
from .polynomial import ALGEBRAIC, fraction_text, polynomial
from .slopes import names_in, negative, plus
from .text import evaluated_at, is_product, is_truth


def same_value(x: Any, y: Any) -> bool:
    return np.shape(x) == np.shape(y) and np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)


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
                x, y = simplest(x, values), simplest(y, values)
                match y:
                    case ast.BinOp(z, ast.Div() as over, n) if np.ndim(evaluated_at(n, values)) == 0:
                        return ast.BinOp(letter(ast.BinOp(x, sign, z)), over, entrywise(n))  # A·(z/n)
                return letter(ast.BinOp(x, sign, y))
            case ast.Call(function, args, named):
                return letter(
                    ast.Call(function, [simplest(a, values) if names_in(a) else a for a in args], named)
                )
            case ast.Attribute(x, "T"):
                return letter(ast.Attribute(simplest(x, values), "T", ast.Load()))
        return letter(e)

    plain = entrywise(e)
    forms = [plain]
    with contextlib.suppress(OverflowError):  # too long, multiplied out
        p = polynomial(plain, {})
        truths = {name for name, branch in letters.values() if is_truth(branch, values)}  # 1² = 1 and 0² = 0
        p = Polynomial.of(
            (tuple((x, min(n, 1) if x in truths else n) for x, n in term), c) for term, c in p.items()
        )
        while joined := with_common_factor(p, dict(letters.values()), values):
            p, factors, c, product = joined
            p += Polynomial({tuple(sorted([*factors, (letter(product).id, 1)])): c})
        forms = [
            ast.parse(text, mode="eval").body for text in (fraction_text(p), sum_text(p) if p else "0")
        ] + forms
    by = dict(letters.values())
    forms = sorted((with_replaced(form, by) for form in forms), key=lambda form: len(ast.unparse(form)))
    return next(form for form in forms if same_value(evaluated_at(form, values), evaluated_at(e, values)))


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
