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
from math import gcd, lcm
from operator import add, mul

from ..errors import XManError
from ..notation import shown
from ..wengert import Steps, checked_list, known_registers, needed
from .expressions import formula, with_replaced
from .slopes import names_in

TERMS = 1000     # the most of a polynomial, more than a person reads
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


# ---- fractions over one denominator ------------------------------------------------------------------------

def joined(p: Polynomial) -> str:
    """p over one denominator, as a book prints it, if that is shorter: exp(x)*(x - 2)/x**3; else as a sum.

        t/y − (1 − t)/(1 − y) = (t·(1 − y) − (1 − t)·y) / (y·(1 − y)) = (t − y)/(y·(1 − y))

    A denominator that another one divides is a product with it, so e² + 2·e + 1 is (e + 1)² beside e + 1.
    """
    powers = [n for term in p for _, n in term]
    if len(p) > JOINED or all(n >= 0 for n in powers) or any(n != int(n) for n in powers):
        return str(p)
    try:
        return min(str(p), fraction(p), key=len)
    except OverflowError:  # it is too long over one denominator
        return str(p)


def fraction(p: Polynomial) -> str:
    """p as a number, powers of names and a sum, over powers of names and sums."""
    sums = {x: q for x in {x for term in p for x, _ in term}
            if len(q := polynomial(ast.parse(x, mode="eval").body, {})) > 1}
    pieces: list[Polynomial] = []  # what the sums below are products of
    made_of: dict[str, Polynomial] = {}
    for x, q in sorted(sums.items(), key=lambda pair: len(pair[1])):
        made_of[x] = constant_term(1)
        for piece in [*pieces]:
            while (quotient := divided(q, piece)) is not None:
                made_of[x], q = made_of[x] * symbol(str(pieces.index(piece))), quotient
        if constant_of(q) is None:
            pieces.append(q)
            made_of[x], q = made_of[x] * symbol(str(len(pieces) - 1)), constant_term(1)
        made_of[x] *= q
    # each term with a name for each piece, and then all of them times the least product that has none below
    named = reduce(add, [reduce(mul, [made_of.get(x, symbol(x)) ** n for x, n in term], constant_term(c))
                         for term, c in p.items()])
    below = {x: max(0, *(-dict(term).get(x, 0) for term in named)) for term in named for x, _ in term}
    above = Polynomial()
    for term, c in named.items():
        left = [(x, n + dict(term).get(x, 0)) for x, n in below.items()]
        above += reduce(mul, [(pieces[int(x)] if x.isdigit() else symbol(x)) ** n for x, n in left], constant_term(c))
    for k, piece in enumerate(pieces):
        while below.get(str(k), 0) and (quotient := divided(above, piece)) is not None:
            above, below[str(k)] = quotient, below[str(k)] - 1
    if not above:
        return "0"
    # what all terms above have in common goes in front of them
    common = {x: min(dict(term).get(x, 0) for term in above) for term in above for x, _ in term}
    size = Fraction(gcd(*(c.numerator for c in above.values())), lcm(*(c.denominator for c in above.values())))
    size = -size if all(c < 0 for c in above.values()) else size
    rest = above * Polynomial({tuple((x, -n) for x, n in common.items() if n): 1 / size})
    names = {x: common.get(x, 0) - n for x, n in {**dict.fromkeys(common, 0), **below}.items() if not x.isdigit()}
    factors = [*names.items(), (bracketed(rest, True), 1)][:len(names) + (constant_of(rest) is None)]
    factors += [(bracketed(piece, True), -below.get(str(k), 0)) for k, piece in enumerate(pieces)]
    text = term_text(tuple((x, n) for x, n in factors if n), size)
    return sum_text(rest) if text == bracketed(rest, True) else text


def divided(p: Polynomial, q: Polynomial) -> Polynomial | None:
    """p/q where it is a polynomial in the same names; else None."""
    names = sorted({x for term in (*p, *q) for x, _ in term})
    vector = lambda term: [dict(term).get(x, 0) for x in names]
    top, quotient = max(q, key=vector), Polynomial()
    while p:
        lead = max(p, key=vector)
        term = product_of_terms(lead, tuple((x, -n) for x, n in top))
        if any(n < 0 for _, n in term):
            return None
        step = Polynomial({term: p[lead] / q[top]})
        quotient, p = quotient + step, p + -(step * q)
    return quotient


# ---- text --------------------------------------------------------------------------------------------------

def bracketed(p: Polynomial, positive: bool = False) -> str:
    """The text of a polynomial as a factor or a base, in brackets if it needs them. positive: as sum_text."""
    text = sum_text(p) if positive else str(p)
    return text if [*p.values()] == [1] and [n for _, n in next(iter(p))] == [1] else f"({text})"


def sum_text(p: Polynomial) -> str:
    """The text of a polynomial, which begins with a term that is not subtracted, if it has one."""
    terms = sorted(p.items(), key=place)
    terms.insert(0, terms.pop(next((k for k, (_, c) in enumerate(terms) if c > 0), 0)))
    return " + ".join(term_text(term, c) for term, c in terms).replace("+ -", "- ")


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
