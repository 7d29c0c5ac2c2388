"""A register multiplied out in its inputs: a sum of products in a fixed order, so that equal sums look equal.

Anything but + - * /, half, square, negative and whole powers stays as it is: an atom, such as exp(x*y).
"""
from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from fractions import Fraction
from operator import add, mul

from ..errors import XManError
from ..notation import shown
from ..notation.polynomials import (
    Polynomial,
    bracketed,
    constant_of,
    constant_term,
    factored_text,
    fraction,
    symbol,
)
from ..wengert import Steps, checked_list, known_registers, needed
from .expressions import formula, with_replaced
from .slopes import names_in

JOINED = 50      # the most terms of a sum that is put over one denominator
ATOM_LETTERS = 10_000  # the most of an atom
ALGEBRAIC = {ast.Add: add, ast.Sub: lambda p, q: p + -q, ast.Mult: mul, ast.Div: lambda p, q: p * q ** -1}


def expand(steps: Steps, of: str) -> str:
    """The register as a sum of products of its inputs.

        >>> expand([("z1", "mul", ("x", "x")), ("z2", "mul", (3, "z1")), ("f", "add", ("z2", "z1"))], "f")
        '4*x**2'

    steps: a list on numbers. of: the name of a register. Fractions are added exactly, 0.1 as a tenth; terms
    are sorted by descending degree, then alphabetically (graded lexicographic order). Raises XManError for a
    name that the list does not have, and above 1,000 terms.
    """
    steps = checked_list(steps)
    (of,) = known_registers(steps, of, "of", one=True)
    return str(polynomials(steps, of).get(of, symbol(of)))


def polynomials(steps: Steps, *of: str) -> dict[str, Polynomial]:
    """The polynomials of the registers in `of`, and of all registers that they depend on, without inputs."""
    values: dict[str, Polynomial] = {}
    for line in needed(steps, of):
        try:
            values[line[0]] = polynomial(formula(*line[1:]), values)
        except OverflowError as error:
            raise XManError(f"{shown(line)}: {error}; print the list, or ask for a register nearer to the "
                            "inputs") from None
    return values


def polynomial(e: ast.expr, values: Mapping[str, Polynomial]) -> Polynomial:
    """The polynomial of an expression. values: those of names; others are inputs. OverflowError: too long."""
    match e:
        case ast.Name(name):
            return values.get(name, symbol(name))
        case ast.Constant(int() | float() as c):
            return constant_term(Fraction(str(c)) if isinstance(c, float) else Fraction(c))
        case ast.UnaryOp(ast.USub(), x):
            return -polynomial(x, values)
        case ast.BinOp(x, ast.Div(), ast.BinOp(y, ast.Pow(), ast.Constant(int() as n))):  # not multiplied out
            return polynomial(x, values) * polynomial(y, values) ** -n
        case ast.BinOp(x, ast.Add() | ast.Sub() | ast.Mult() | ast.Div() as sign, y):
            return ALGEBRAIC[type(sign)](polynomial(x, values), polynomial(y, values))
        case ast.BinOp(x, ast.Pow(), y) if (n := constant_of(polynomial(y, values))) is not None:
            return polynomial(x, values) ** n
    return atom(e, values)


def atom(e: ast.expr, values: Mapping[str, Polynomial]) -> Polynomial:
    """The expression as one factor; its parts are written as polynomials."""
    if isinstance(e, ast.Call):
        args = [*(("", a) for a in e.args), *((f"{word.arg}=", word.value) for word in e.keywords)]
        text = ", ".join(word + str(polynomial(a, values)) for word, a in args)
        text = f"{ast.unparse(e.func)}({text})"
    else:
        text = ast.unparse(with_replaced(e, {name: ast.Name(bracketed(values[name]))
                                             for name in names_in(e) & values.keys()}))
        text = f"({text})" if isinstance(e, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare)) else text
    if len(text) > ATOM_LETTERS:
        raise OverflowError(f"written out it has more than {ATOM_LETTERS:,} letters")
    return symbol(re.sub(r"\b(np|f)\.(linalg\.)?(?!m?T\b)", "", re.sub(r" (\*\*?|/) ", r"\1", text)))


# ---- fractions over one denominator ------------------------------------------------------------------------

def formula_text(p: Polynomial) -> str:
    """p as a book prints it: as a sum, where only inputs are in it, 2*x*y + 5*y**2; or, if that is shorter,
    with what its terms have in common in front, exp(x)*(cos(x) + sin(x)), or over one denominator.

        t/y − (1 − t)/(1 − y) = (t·(1 − y) − (1 − t)·y) / (y·(1 − y)) = (t − y)/(y·(1 − y))

    A denominator that another one divides is a product with it, so e² + 2·e + 1 is (e + 1)² beside e + 1.
    """
    powers = [n for term in p for _, n in term]
    if len(p) > JOINED or any(n != int(n) for n in powers):
        return str(p)
    if all(n >= 0 for n in powers):
        atoms = any(not x.isidentifier() for term in p for x, _ in term)
        return min(str(p), factored_text(p), key=len) if atoms else str(p)
    try:
        return min(str(p), fraction(p, lambda x: polynomial(ast.parse(x, mode="eval").body, {})), key=len)
    except OverflowError:  # it is too long over one denominator
        return str(p)
