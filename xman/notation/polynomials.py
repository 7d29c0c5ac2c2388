"""Polynomials in names and atoms, exactly: sums, products, powers and quotients, and their text."""
from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import gcd, lcm, prod
from operator import add, mul

TERMS = 1000  # the most of a polynomial, more than a person reads
FACTORED = 50  # the most of one that is divided by likely factors
LONG = 10 ** 6  # a numerator or denominator from which on a number is written with a point


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
        below = {x: -k for term in self for x, k in sorted(term, key=lambda factor: -factor[1]) if k < 0}
        if n < 0 and integer and below:  # 1/(1 + 1/x) is x/(x + 1)
            monomial = Polynomial({tuple(below.items()): Fraction(1)})
            return (self * monomial) ** n * monomial ** -n
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


def fraction(p: Polynomial, parsed: Callable[[str], Polynomial]) -> str:
    """p as a number, powers of names and a sum, over powers of names and sums; parsed: the sum of a name."""
    names = {x for term in p for x, _ in term}
    made_of = {x: parsed(x) for x in sorted(names, key=lambda x: (len(x), x))}
    sums = {x: q for x, q in made_of.items() if len(q) > 1}
    pieces: dict[str, Polynomial] = {}  # what the sums are products of, by their texts
    for x, q in sorted(sums.items(), key=lambda pair: len(pair[1])):
        made_of[x] = constant_term(1)
        for text, piece in pieces.items():
            while (quotient := divided(q, piece)) is not None:
                made_of[x], q = made_of[x] * symbol(text), quotient
        if constant_of(q) is None:
            pieces[text := bracketed(q, True)] = q
            q = symbol(text)
        made_of[x] *= q
    # all terms times the least product of names and pieces that leaves nothing below
    named = reduce(add, [reduce(mul, [made_of[x] ** n for x, n in term], constant_term(c))
                         for term, c in p.items()])
    divisors = {x: max(0, *(-dict(term).get(x, 0) for term in named)) for term in named for x, _ in term}
    over = lambda term: [pieces.get(x, symbol(x)) ** (n + dict(term).get(x, 0)) for x, n in divisors.items()]
    numerator = reduce(add, [reduce(mul, over(term), constant_term(c)) for term, c in named.items()])
    for x, piece in pieces.items():
        while divisors.get(x, 0) and (quotient := divided(numerator, piece)) is not None:
            numerator, divisors[x] = quotient, divisors[x] - 1
    if not numerator:
        return "0"
    size, common, rest = common_part(numerator)
    short = size.denominator < LONG and abs(size.numerator) < LONG  # else the number is one with a point
    number = Fraction(size.numerator) if short else size
    powers = {str(size.denominator): -1} if short and size.denominator > 1 else {}
    powers |= {x: common.get(x, 0) - divisors.get(x, 0) for x in {**common, **divisors}}
    if constant_of(rest) is None:
        powers[bracketed(rest, True)] = 1
    text = term_text(tuple((x, n) for x, n in powers.items() if n), number)
    text = sum_text(rest) if text == bracketed(rest, True) else text
    if [n for n in divisors.values() if n] == [1] and (x := max(divisors, key=divisors.get)) in pieces:
        # (1 - t*(e + 1))/(e + 1) is 1/(e + 1) - t
        proper, rest = quotient_and_rest(numerator, pieces[x])
        text = min(text, sum_text(proper + rest * symbol(x) ** -1), key=len)
    return text


def common_part(p: Polynomial) -> tuple[Fraction, dict[str, int], Polynomial]:
    """(the number, the powers) that all terms of p have in common, and p without them."""
    common = {x: min(dict(term).get(x, 0) for term in p) for term in p for x, _ in term}
    numbers = p.values()
    size = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
    size = Fraction(1) if any(abs(c / size) > LONG for c in numbers) else size
    size = -size if all(c < 0 for c in numbers) else size
    return size, common, p * Polynomial({tuple((x, -n) for x, n in common.items() if n): 1 / size})


def factored_text(p: Polynomial) -> str:
    """p as a product: of what its terms have in common, of 1 - a², 1 ± a and a ± b, and of what is left.

        t·y² − t·y − y³ + y² = y·(1 − y)·(y − t)
    """
    size, common, rest = common_part(p)
    pieces = []
    for piece in likely_factors(rest):
        while (quotient := divided(rest, piece)) is not None:
            pieces, rest = [*pieces, piece], quotient
    if pieces and (c := constant_of(rest)) is not None:
        size, rest = size * c, constant_term(1)
        if size < 0:
            size, pieces[-1] = -size, -pieces[-1]
    powers = Counter(bracketed(piece, True) for piece in (*pieces, *[rest] * (constant_of(rest) is None)))
    term = tuple((x, n) for x, n in common.items() if n)
    return term_text((*term, *powers.items()), size) if len(p) > 1 else sum_text(p)


def likely_factors(p: Polynomial) -> list[Polynomial]:
    """1 - a², 1 ± a and a ± b that divide p, for all that it is made of: p is 0 where such a factor is."""
    names = sorted({x for term in p for x, _ in term}, key=alphabetical) if len(p) <= FACTORED else []
    at = dict(zip(names, itertools.count(Fraction(17, 5)), strict=False))
    value = lambda at: sum(c * prod(at[x] ** n for x, n in term) for term, c in p.items())
    vanishes = lambda x, y: not value({**at, x: y})
    squares = [constant_term(1) + -(symbol(x) ** 2) for x in names if vanishes(x, 1) and vanishes(x, -1)]
    firsts = (constant_term(1), 1), *((symbol(name), at[name]) for name in names)
    return squares + [first + symbol(x) * constant_term(-sign) for first, y in firsts for x in names
                      for sign in (1, -1) if symbol(x) != first and vanishes(x, sign * y)]


def divided(p: Polynomial, q: Polynomial) -> Polynomial | None:
    """p/q where it is a polynomial in the same names; else None."""
    quotient, rest = quotient_and_rest(p, q)
    return None if rest else quotient


def quotient_and_rest(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(a, b) with p = a·q + b, by long division, which ends where the leading term has no quotient."""
    names = sorted({x for term in (*p, *q) for x, _ in term})
    vector = lambda term: [dict(term).get(x, 0) for x in names]
    top, quotient = max(q, key=vector), Polynomial()
    while p:
        lead = max(p, key=vector)
        term = product_of_terms(lead, tuple((x, -n) for x, n in top))
        if any(n < 0 for _, n in term):
            break
        step = Polynomial({term: p[lead] / q[top]})
        quotient, p = quotient + step, p + -(step * q)
    return quotient, p


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
    if 10 ** 12 % c.denominator and c.denominator < LONG:
        return f"({c})"
    return repr(c.numerator / c.denominator)
