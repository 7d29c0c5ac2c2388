"""A line as the Python expression that a person would write: `z1 * w`, `np.exp(x)`, `f.softmax(z)`.

Expressions are nodes of Python's own syntax tree: they nest, and `ast.unparse` adds the brackets.
"""
from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

import ops
from ops.expression import INFIX
from ops.facts import MANY, arity, parameters

from ..errors import XManError, nearest
from ..passes.sized import equal
from ..wengert import Steps

# operators that Python writes with a sign, as expressions of x and y
SIGNS = "add +, sub -, mul *, truediv /, pow **, eq ==, ne !=, lt <, le <=, gt >, ge >=, matmul @"
FORMS = {INFIX[name]: f"x {sign} y" for name, sign in map(str.split, SIGNS.split(", "))}
FORMS |= dict(form.split(": ") for form in (
    "negative: -x, half: 0.5 * x, square: x ** 2, reciprocal: 1.0 / x, alias: x, transpose: x.T, mT: x.mT").split(", "))

NOTATION = {r" ?\*\* ?": "^", r"(?<=[\w)\]]) ?\* ?": "·", " / ": "/", r"\b(\d+)\.0\b": r"\1", r"\b(np|f)\.(?!m?T\b)": ""}
LOAD = ast.Load()


def expression(op: str, args: Sequence[Any]) -> ast.expr:
    """The expression for op(*args).

    op: an operator. args: names of registers, expressions in the place of a register, and literals. The
    result is infix or calls NumPy if Python or NumPy has the operator, and else calls f.<op>. Its value, with
    np and f in scope, is G[op](*args) to the last bit for arrays; ** of two numbers is C's, sometimes an ulp
    from NumPy's. Raises XManError for an unknown operator.
    """
    if not any(isinstance(a, (str, ast.expr)) for a in args):
        return operator_call(op, args)  # infix would compute numbers alone as Python's, not NumPy's
    match op, [node(a) for a in args]:
        case _, [x] | [x, _] as operands if op in FORMS and len(operands) == 1 + ("y" in FORMS[op]):
            form = ast.parse(FORMS[op], mode="eval").body
            return with_replaced(form, dict(zip("xy", operands, strict=False)))
        case "getitem", [x, *_]:
            keys, alone = [key(a) for a in args[1:]], len(args) == 2 and not isinstance(args[1], tuple)
            return ast.Subscript(x, keys[0] if alone else tupled(keys), LOAD)
        case "bundle", arrays:
            return ast.Tuple(arrays, LOAD)
        case "item", [b, i]:
            return ast.Subscript(b, i, LOAD)
        case "call", [function, b]:
            return applied_to(function, b)
        case "cond", [c, yes, no, b]:
            return ast.IfExp(c, applied_to(yes, b), applied_to(no, b))
        case "scan" | "while_loop", operands:
            return ast.Call(ast.Name(op, LOAD), operands, [])
    return operator_call(op, args)


def applied_to(function: ast.expr, b: ast.expr) -> ast.expr:
    """The call of the function with the arrays of the bundle b."""
    return ast.Call(function, b.elts if isinstance(b, ast.Tuple) else [ast.Starred(b, LOAD)], [])


def formula(op: str, args: Sequence[Any]) -> ast.expr:
    """`expression` for readers: infix also where all arguments are numbers."""
    return expression(op, [node(a) for a in args] if all(isinstance(a, (int, float)) for a in args) else args)


def mathematical(e: ast.expr | str) -> str:
    """An expression, or its text, as the notes print it: 2·z2, z2^2, exp(x)."""
    e = e if isinstance(e, str) else ast.unparse(e)
    for pattern, sign in NOTATION.items():
        e = re.sub(pattern, sign, e)
    return e


def inlined(steps: Steps, of: str, limit: int = 200) -> ast.expr:
    """One expression for a register in terms of the inputs of steps.

    steps: the list. of: one of its registers. A register that is read twice is written out twice; XManError
    if that makes more than `limit` parts, by default as many nested brackets as Python's parser takes.
    """
    trees: dict[str, tuple[ast.expr, int]] = {}  # of each register, and how many parts it has
    for dst, op, args in steps:
        operands = [trees.get(a, (a, 1)) if isinstance(a, str) else (a, 1) for a in args]
        size = 1 + sum(n for _, n in operands)
        trees[dst] = (expression(op, [e for e, _ in operands]) if size <= limit else node(dst)), size
    e, size = trees.get(of, (node(of), 1))
    if size > limit:
        raise XManError(f"{of}, written out in its inputs, has more than {limit:,} parts; print the list, "
                        "which names each result once, or raise the limit")
    return e


# ---- parts -------------------------------------------------------------------------------------------------

def with_replaced(e: ast.expr, by: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of e with expressions in place of registers. by: the expressions by register."""
    class Registers(ast.NodeTransformer):
        def visit_Name(self, name): return by.get(name.id, name)
        def visit_Attribute(self, e): return self.generic_visit(e) if e.attr in ("T", "mT") else e  # np.exp

    return Registers().visit(copy.deepcopy(e))


def operator_call(op: str, args: Sequence[Any]) -> ast.expr:
    """op(*args) as a call of NumPy's function if that is the operator, or else of f.<op>."""
    match op, args:
        case ("concat" | "stack"), [int() as axis, *arrays]:
            name = "np.concatenate" if op == "concat" else "np.stack"
            return function_call(name, [tupled(map(node, arrays))], {"axis": axis})
        case "einsum", [(str() as subscripts,), *arrays]:
            return function_call("np.einsum", [ast.Constant(subscripts), *arrays])
        case "reshape", [x, tuple() as shape]:
            return function_call("np.reshape", [x, shape])
        case "clip", _:
            return function_call("np.clip", [*args, None][:3])
    return function_call(numpys(op), *keywords(op, args))


def numpys(op: str) -> str:
    """np.<name> if this function of NumPy is the operator, or else f.<op>."""
    if op not in ops.G:
        raise XManError(f"there is no operator {op!r}; define it with ops.operator{nearest(op, ops.G)}")
    value = ops.G[op]
    if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is value:
        return f"np.{op if getattr(np, op, None) is value else value.__name__}"
    return f"np.{name}" if (name := ops.facts_of(op).numpy) else f"f.{op}"


def keywords(op: str, args: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """(positional, keyword) arguments: those with a default go by keyword, or not at all if equal to it."""
    names, defaults, *_ = parameters(ops.G[op])
    first = len(args) if not names or arity(ops.G[op])[1] == MANY else len(names) - len(defaults)
    named = zip(defaults.items(), args[first:], strict=False)
    return args[:first], {name: a for (name, default), a in named if isinstance(a, (str, ast.expr))
                          or not equal(a, default)}


def function_call(function: str, args: Sequence[Any], named: Mapping[str, Any] | None = None) -> ast.expr:
    module, *names = function.split(".")
    called = reduce(lambda e, name: ast.Attribute(e, name, LOAD), names, ast.Name(module, LOAD))
    keywords = [ast.keyword(name, node(a)) for name, a in (named or {}).items()]
    return ast.Call(called, [node(a) for a in args], keywords)


def tupled(nodes) -> ast.expr:
    return ast.Tuple(list(nodes), LOAD)


def key(a: Any) -> ast.expr:
    """A key between brackets, where a slice is written with colons."""
    if not isinstance(a, slice):
        return node(a)
    return ast.Slice(*[None if end is None else node(end) for end in (a.start, a.stop, a.step)])


def node(a: Any) -> ast.expr:
    """An argument: a string names a register; a literal is Python that evaluates to it, of the same type."""
    if isinstance(a, ast.expr):
        return a
    if isinstance(a, str):
        return ast.Name(a, LOAD)
    if ops.is_function(a):
        return ast.Name(a[1], LOAD)
    if isinstance(a, list):
        return ast.List([*map(node, a)], LOAD)
    if isinstance(a, tuple):
        return tupled(ast.Constant(entry) if isinstance(entry, str) else node(entry) for entry in a)
    if isinstance(a, slice):
        return function_call("slice", [a.stop] if a.start is a.step is None else [a.start, a.stop, a.step])
    if isinstance(a, np.generic):
        return function_call(f"np.{a.dtype.name}", [a.item()])
    if isinstance(a, np.ndarray):
        is_default = a.size and np.array(a.tolist()).dtype == a.dtype
        named = {} if is_default else {"dtype": ast.Constant(a.dtype.name)}
        e = function_call("np.array", [node(a.tolist())], named)
        return e if a.size or a.ndim < 2 else function_call("np.reshape", [e, a.shape])
    if isinstance(a, float) and (a != a or a == np.inf):
        return ast.Attribute(ast.Name("np", LOAD), "nan" if a != a else "inf", LOAD)
    # a negative number has to be an operator and its number, so that unparse puts brackets into (-2) ** x
    if isinstance(a, (int, float)) and str(a)[0] == "-":
        return ast.UnaryOp(ast.USub(), node(-a))
    return ast.Constant(a)
