"""The partial derivatives of operators on numbers as expressions, and the algebra of the chain rule on them.

There is no table of derivatives: a rule of ops.DG that is given symbols and the delta 1 writes its list.
"""
from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

import ops
from ops import f
from ops.facts import facts_of, linear_in

from ..passes import ALGEBRA, EXACT, gradient, rewrite, simplify
from ..passes.sized import key_of
from .expressions import inlined, node, with_replaced

# rewrites that make rules easier to read, right where no number is infinite and 0 is not raised to 0
LEGIBLE = EXACT + ALGEBRA + (
    rewrite(lambda x, y: f.scale(x, y),             lambda x, y: x * y),
    rewrite(lambda x, y: f.ratio(x, y),             lambda x, y: x / y),
    rewrite(lambda x, y: f.unbroadcast(x, y),       lambda x, y: x),
    rewrite(lambda x: x * 1,                        lambda x: x),
    rewrite(lambda x: x * x,                        lambda x: f.square(x)),
    rewrite(lambda x: f.where(f.equal(x, 0), 1, x), lambda x: x),
    rewrite(lambda x, y: (1 / y) * x,               lambda x, y: x / y),
    rewrite(lambda x, y: (x / y) / y,               lambda x, y: x / f.square(y)),
)

Rules = dict[tuple, dict[int, ast.expr] | None]


def slopes_of(op: str, args: Sequence[Any], out: str | ast.expr, rules: Rules) -> dict[int, ast.expr] | None:
    """{place: ∂op/∂arg} for each argument that is a register, or a number in a sum or a product.

    out: the expression for the result, which occurs in some derivatives, as that of exp. rules: a cache,
    filled here. None if op does not make one number from numbers.
    """
    # the rule depends on literals, as that of x ** 2 on the 2, but not on the names of registers
    key = (op, *("" if isinstance(a, str) else key_of(a) for a in args))
    sums = linear_in(op, [1])  # and products: their rules are as short for a constant as for a register
    holes = {i: f"x{i}" for i, a in enumerate(args)
             if isinstance(a, str) or sums and isinstance(a, (int, float))}
    if key not in rules:
        rules[key] = partials_of(op, [holes.get(i, a) for i, a in enumerate(args)], holes)
    by = {"out": node(out), **{hole: node(args[i]) for i, hole in holes.items()}}
    return rules[key] and {i: with_replaced(e, by) for i, e in rules[key].items()}


def partials_of(op: str, args: Sequence[Any], holes: dict[int, str]) -> dict[int, ast.expr] | None:
    """{place: ∂out/∂hole} of out = op(*args), in terms of holes and of out."""
    if op in ops.OURS and not facts_of(op).elementwise and any(ops.DG[op]):
        return None  # operators on arrays, though some of them take a number
    try:
        with np.errstate(all="ignore"):
            value = ops.G[op](*[np.float64(1.0) if isinstance(a, str) else a for a in args])
    except Exception:  # whatever it is, the operator does not take numbers
        return None
    if np.shape(value):
        return None
    names = list(holes.values())
    steps = gradient([("out", op, tuple(args))], "out", names)
    steps = simplify(steps, ["out", *(f"dout_d{x}" for x in names)], dict.fromkeys(names, ()), LEGIBLE)
    written = lambda a: a if isinstance(a, str) else node(a.item() if isinstance(a, np.ndarray) else a)
    steps = [(dst, op, [*map(written, args)]) for dst, op, args in steps if dst != "out"]
    return {i: tidy(inlined(steps, f"dout_d{x}")) for i, x in holes.items()}


# ---- algebra -----------------------------------------------------------------------------------------------

def names_in(e: ast.AST) -> set[str]:
    """The names in an expression, without np and f before their functions: a register may be called f."""
    if isinstance(e, ast.Name):
        return {e.id}
    if isinstance(e, ast.Attribute) and e.attr not in ("T", "mT"):
        return set()
    return {name for child in ast.iter_child_nodes(e) for name in names_in(child)}


def times_tree(*products: ast.expr) -> ast.expr:
    """The product, without brackets around products, and with at most one sign, in front."""
    factors = [factor for product in products for factor in factors_in(product)]
    positive = [unsigned(e) or e for e in factors]
    if sum(unsigned(e) is not None for e in factors) % 2:
        positive[0] = negative(positive[0])
    return reduce(lambda x, y: ast.BinOp(x, ast.Mult(), y), positive)


def sum_tree(*terms: ast.expr) -> ast.expr:
    """The sum, without brackets around sums; 0 without terms."""
    return reduce(plus, terms) if terms else node(0)


def plus(x: ast.expr, y: ast.expr) -> ast.expr:
    """x + y, flat, with y's sign in front: a + (b - c) becomes a + b - c, and a + -b·c becomes a - b·c."""
    if isinstance(y, ast.BinOp) and isinstance(y.op, (ast.Add, ast.Sub)):
        return ast.BinOp(plus(x, y.left), y.op, y.right)
    positive = unsigned(y)
    return ast.BinOp(x, ast.Add(), y) if positive is None else ast.BinOp(x, ast.Sub(), positive)


def factors_in(e: ast.expr) -> list[ast.expr]:
    is_product = isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult)
    return [*factors_in(e.left), *factors_in(e.right)] if is_product else [e]


def negative(e: ast.expr) -> ast.expr:
    """-e, with the sign at the first factor: -x/y and not -(x/y)."""
    match e:
        case ast.BinOp(x, ast.Mult() | ast.Div(), y):
            return ast.BinOp(negative(x), e.op, y)
    return unsigned(e) or ast.UnaryOp(ast.USub(), e)


def unsigned(e: ast.expr) -> ast.expr | None:
    """x for -x, x·y for -x·y; None for an expression without a sign in front."""
    match e:
        case ast.UnaryOp(ast.USub(), x):
            return x
        case ast.BinOp(x, ast.Mult() | ast.Div() | ast.MatMult() | ast.Mod(), y):
            return None if (left := unsigned(x)) is None else ast.BinOp(left, e.op, y)
    return None


def tidy(e: ast.expr, fold: bool = False) -> ast.expr:
    """The expression with flat sums and products. fold: simplify 0·x, 1·x, 0 + x, 1 + 1."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        return negative(tidy(e.operand, fold))
    if not isinstance(e, ast.BinOp):
        return e
    x, y = tidy(e.left, fold), tidy(e.right, fold)
    a, b = (number_in(x), number_in(y)) if fold else (None, None)
    match e.op:
        case ast.Mult():
            if a is not None and b is not None:
                return node(a * b)
            if 0 in (a, b) or 1 in (a, b):
                return node(0) if 0 in (a, b) else y if a == 1 else x
            return negative(y) if a == -1 else times_tree(x, y)
        case ast.Div() if b == 1:
            return x
        case ast.Add() | ast.Sub():
            signed = y if isinstance(e.op, ast.Add) else negative(y)
            if a is not None and b is not None:
                return node(a + number_in(signed))
            return signed if a == 0 else x if b == 0 else plus(x, signed)
    return ast.BinOp(x, e.op, y)


def number_in(e: ast.expr) -> int | float | None:
    match e:
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as c)):
            return -c
        case ast.Constant(int() | float() as c):
            return c
    return None
