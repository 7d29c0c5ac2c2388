"""A register multiplied out in its inputs: a sum of products in a fixed order, so that equal sums look equal.

Anything but + - * /, half, square, negative and whole powers stays as it is: an atom, such as exp(x*y).
"""
from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from operator import add, mul

from ..errors import XManError
from ..notation import shown
from ..wengert import Steps, checked_list, known_registers, needed
from .expressions import formula, with_replaced
from .slopes import names_in

TERMS = 1000     # the most of a polynomial, more than a person reads
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


class Polynomial(dict):
    """{term: coefficient}; a term is a sorted tuple of (factor, power). It prints itself."""

    def __add__(self, q: Polynomial) -> Polynomial: return Polynomial.of([*self.items(), *q.items()])
    def __neg__(self) -> Polynomial: return Polynomial((term, -c) for term, c in self.items())

    def __mul__(self, q: Polynomial) -> Polynomial:
        if len(self) * len(q) > 100 * TERMS:  # give up before the work, not after it
            raise OverflowError(f"multiplied out it has more than {TERMS:,} terms")
        pairs = itertools.product(self.items(), q.items())
        return Polynomial.of((product_of_terms(s, t), b * c) for (s, b), (t, c) in pairs)

    def __pow__(self, n: Fraction | int) -> Polynomial:
        integer = n == int(n) and abs(n) <= TERMS
        if len(self) == 1 and integer:
            (term, c), = self.items()
            return Polynomial.of([(tuple((x, n * power) for x, power in term if n), c ** n)])
        if n < 0 or not integer:
            return Polynomial({((bracketed(self), n),): Fraction(1)})
        return reduce(mul, [self] * int(n), constant_term(1))

    def __str__(self) -> str:
        terms = [term_text(term, c) for term, c in sorted(self.items(), key=place)]
        return " + ".join(terms).replace("+ -", "- ") or "0"

    @classmethod
    def of(cls, terms) -> Polynomial:
        """The sum of (term, coefficient) pairs, with like terms collected."""
        total = cls()
        for term, c in terms:
            total[term] = total.get(term, 0) + c
        total = cls((term, c) for term, c in total.items() if c)
        if len(total) > TERMS:
            raise OverflowError(f"multiplied out it has more than {TERMS:,} terms")
        if any(c.numerator.bit_length() > 1023 or c.denominator.bit_length() > 1100 for c in total.values()):
            raise OverflowError("multiplied out it has a number with more than 300 digits")
        return total


def symbol(name: str) -> Polynomial: return Polynomial({((name, 1),): Fraction(1)})
def constant_term(c: Fraction | int) -> Polynomial: return Polynomial.of([((), Fraction(c))])


def constant_of(p: Polynomial) -> Fraction | None:
    """The number that a polynomial is; None if it is not constant."""
    return None if p.keys() - {()} else p.get((), Fraction(0))


def product_of_terms(s: tuple, t: tuple) -> tuple:
    powers = dict(s)
    for x, n in t:
        powers[x] = powers.get(x, 0) + n
    return tuple(sorted(((x, n) for x, n in powers.items() if n), key=lambda factor: alphabetical(factor[0])))


def alphabetical(x: str) -> tuple:
    """Names before atoms, x2 before x10."""
    return not x.isidentifier(), [int(run) if run.isdigit() else run for run in re.split(r"(\d+)", x)]


def place(item: tuple) -> tuple:
    """The key by which the terms of a sum are sorted."""
    return -sum(n for _, n in item[0]), [(alphabetical(x), -n) for x, n in item[0]]


# ---- text --------------------------------------------------------------------------------------------------

def bracketed(p: Polynomial) -> str:
    """The text of a polynomial as a factor or a base, in brackets if it needs them."""
    return str(p) if [*p.values()] == [1] and [n for _, n in next(iter(p))] == [1] else f"({p})"


def term_text(term: tuple, c: Fraction) -> str:
    above = [x if n == 1 else f"{x}**{decimal(n)}" for x, n in term if n > 0]
    below = [x if n == -1 else f"{x}**{decimal(-n)}" for x, n in term if n < 0]
    sign, size = "-" * (c < 0), abs(c)
    if size != 1 or not above:
        above.insert(0, decimal(size))
    under = "*".join(below)
    return sign + "*".join(above) + (f"/({under})" if len(below) > 1 else f"/{under}" if below else "")


def decimal(c: Fraction) -> str:
    """A number as Python writes it: 3, 0.5, or (1/3) if no decimal fraction equals it."""
    if c.denominator == 1 and c < 10 ** 15:
        return str(c)
    if 10 ** 12 % c.denominator and c.denominator < 10 ** 6:
        return f"({c})"
    return repr(c.numerator / c.denominator)
