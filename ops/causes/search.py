"""A search back from a number that is NaN, infinite, zero or huge to the line that made it so.

A number is the sum of terms: what a line computes, or what a rule sends to an adjoint or a tangent. A term's
parent is its reason if the term is sound while harmless numbers stand in place of the unsound ones, and no
longer once the parent's own are put back. So nothing has to be known of the operators, and what a `where`
keeps out is no reason:

    where(x > 0, log(x), 0) at −1:  log(x) is NaN, and the line is 0 with it as with a harmless number
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..expression import DG, TG, G, f
from ..facts import by_tables, name_or_id
from ..kinks.masked import Masked, bare
from ..loops.bodies import Bundle, Parts
from ..silence import silent
from ..walk import fitted, rule_for

HUGE = 1e10
SIGNS: dict[str, Callable] = {
    "NaN":      np.isnan,
    "infinite": np.isinf,
    "huge":     lambda x: np.abs(x) > HUGE,
    "zero":     lambda x: np.equal(x, 0),
    "vanished": lambda x: np.abs(x) < 1 / HUGE,
}
REASONS = {"NaN": ("NaN", "infinite")}  # by the sign of a term, those of parents that may be the reason
LEAST = 0.5, 1.5, 1e3                   # of harmless numbers: of arccosh, and on the diagonal of a matrix
EVERYWHERE = {"zero", "vanished"}       # signs that an array has if all its entries have it


class Node(NamedTuple):
    """A number: its kind, "value", "adjoint" or "tangent", and its register."""
    kind: str
    register: str


class Contribution(NamedTuple):
    """What a line adds to a number: rule(*arguments), of which those in parents are numbers of registers.

    line: the line. place: of the argument by which it is differentiated, or None. rule: None where no
    derivative is sent, by the row or to whole numbers. parents: the nodes of the rule's arguments, in order;
    literals as they are.
    """
    line: tuple
    place: int | None
    rule: Callable | None
    parents: tuple

    nodes = property(lambda self: dict.fromkeys(a for a in self.parents if isinstance(a, Node)))


class Station(NamedTuple):
    """A node on the way to the reason: its sign, the entry (None: all, or the only one), and the term that
    has the sign; None for an input, for a seed, and where no term alone has it."""
    node: Node
    sign: str
    entry: tuple | None
    term: Contribution | None


class Search:
    """Lines with their numbers by register: values, and derivatives, {"adjoint": deltas}, which may be
    `Masked`. tables: of values, adjoint rules and tangent rules."""

    def __init__(self, lines: Sequence, values: Mapping[str, Any], derivatives: Mapping[str, Mapping] = {},
                 tables: tuple = (G, DG, TG)):
        self.numbers, self.tables = {**derivatives, "value": values}, tables
        self.defining = {line[0]: line for line in lines}
        self.reading: dict[Any, list] = defaultdict(list)  # (place of the argument, line) by argument
        for line in lines:
            for i, a in enumerate(line[2]):
                self.reading[name_or_id(a)].append((i, line))

    def number(self, node: Node) -> Any:
        """The number of a node; 0 where a register has no adjoint or tangent."""
        kind, name = node
        if (number := self.numbers[kind].get(name)) is not None or kind == "value":
            return number
        value = self.numbers["value"][name]
        return Parts() if isinstance(value, Bundle) else f.broadcast(0.0, value)

    def is_whole(self, name: str) -> bool:
        """Whether a register holds an array of whole numbers or truth values, which have no derivative."""
        return getattr(self.numbers["value"][name], "dtype", np.dtype(float)).kind in "biu"

    def terms(self, node: Node) -> Iterator[Contribution]:
        """The terms of a node."""
        kind, name = node
        values_of, rules, tangent_rules = self.tables
        of_values = lambda *names: [Node("value", a) if type(a) is str else a for a in names]
        if kind == "adjoint":
            for i, (dst, op, args) in () if self.is_whole(name) else self.reading[name]:
                rule = None if self.is_whole(dst) else rule_for(rules[op], i, op)
                yield Contribution((dst, op, args), i, rule, (Node("adjoint", dst), *of_values(dst, *args)))
        elif name in self.defining:
            dst, op, args = line = self.defining[name]
            if kind == "value":
                yield Contribution(line, None, values_of[op], (*of_values(*args),))
            for i, a in enumerate(args):
                if kind == "tangent" and type(a) is str:
                    yield Contribution(line, i, rule_for(tangent_rules[op], i, op),
                               (Node("tangent", a), *of_values(dst, *args)))

    @silent
    def computed(self, term: Contribution, instead: Mapping[Node, Any] = {}) -> Any:
        """The term, with other numbers for some of its parents."""
        start, (dst, op, args) = term.parents[0], term.line
        if start not in instead and not self.sends(term):
            return 0.0  # and not 0·∞
        inputs = [(instead[a] if a in instead else self.number(a)) if isinstance(a, Node) else a
                  for a in term.parents]
        with by_tables(*self.tables):
            out = term.rule(*inputs)
            if term.place is not None:
                like = self.numbers["value"][args[term.place] if start.kind == "adjoint" else dst]
                out = fitted(out, like, term.place, op, args[term.place])
        return bare(out)

    def sends(self, term: Contribution) -> bool:
        """Whether a term has a rule, and, of a derivative, a number to begin with."""
        start = term.parents[0]
        return bool(term.rule) and (term.place is None or start.register in self.numbers[start.kind])

    def sound(self, term: Contribution, instead: Mapping[Node, Any], sign: str, entry: tuple | None) -> bool:
        """Whether the term has lost the sign. An operator may refuse harmless numbers, as `inv` refuses a
        singular matrix: they tell nothing then, and the sign counts as still there."""
        try:
            return not shows(self.computed(term, instead), sign, entry)
        except (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError):
            return False

    def reason(self, term: Contribution, sign: str,
               entry: tuple | None) -> tuple[Node, str, tuple | None] | None:
        """The parent that is the reason for the term, with its sign and entry; None: the line itself is."""
        for of_parent in REASONS.get(sign, (sign,)):
            numbers = {node: self.number(node) for node in term.nodes}
            suspects = {node: x for node, x in numbers.items() if marked(x, of_parent).size}
            if not suspects:
                continue
            for least in LEAST:
                harmless = {node: with_harmless(x, of_parent, None, least) for node, x in suspects.items()}
                if self.sound(term, harmless, sign, entry):
                    break
            else:
                continue
            # arguments before the result, and both before the adjoint: what went wrong first
            for node in reversed(suspects):
                others = {**harmless, node: suspects[node]}
                if not self.sound(term, others, sign, entry):
                    return node, of_parent, self.narrowed(term, harmless, node, of_parent, sign, entry, least)
                harmless = others
        return None

    def narrowed(self, term: Contribution, harmless: dict, node: Node, of_parent: str, sign: str,
                 entry: tuple | None, least: float) -> tuple | None:
        """The entry of the parent, found by halves; None where it is a bundle, or has the sign everywhere."""
        x = bare(self.number(node))
        if isinstance(x, (tuple, dict)) or of_parent in EVERYWHERE and shows(x, of_parent):
            return None
        places = marked(x, of_parent)
        while len(places) > 1:
            half, rest = np.split(places, [len(places) // 2])
            # of zeros no single one is enough, but a single other number in their place may be
            changed = half if of_parent in EVERYWHERE else rest
            instead = {**harmless, node: with_harmless(self.number(node), of_parent, changed, least)}
            mended = self.sound(term, instead, sign, entry)
            places = half if mended == (of_parent in EVERYWHERE) else rest
        return tuple(map(int, np.unravel_index(places[0], np.shape(x)))) if len(places) else None

    def chain(self, node: Node, sign: str, entry: tuple | None = None) -> list[Station]:
        """The way from a node with this sign to its reason, which the last step is."""
        way: list[Station] = []
        while True:
            terms = [*self.terms(node)]
            unsound = [term for term in terms if shows(self.computed(term), sign, entry)]
            if sign == "NaN" and terms and not unsound:  # ∞ − ∞
                way.append(Station(node, sign, entry, None))
                sign = "infinite"
                unsound = [term for term in terms if shows(self.computed(term), sign, entry)]
            if not unsound or sign in EVERYWHERE and len(unsound) < len(terms):
                return [*way, Station(node, sign, entry, None)]
            # of zeros the line that might send something, before a comparison, which never does
            term = next(filter(self.sends, unsound), unsound[0])
            way.append(Station(node, sign, entry, term))
            if not (earlier := term.rule and self.reason(term, sign, entry)):
                return way
            node, sign, entry = earlier

    def factors(self, node: Node) -> list[tuple[Contribution, float]]:
        """The greatest terms from an adjoint or a tangent back to where it began, each with its factor."""
        way, size = [], lambda x: float(np.max(np.abs(bare(x)), initial=0.0))
        while terms := [term for term in self.terms(node) if term.rule]:
            term = max(terms, key=lambda term: size(self.computed(term)))
            node = term.parents[0]
            if not (start := size(self.number(node))):
                break
            way.append((term, size(self.computed(term)) / start))
        return way


def origin_of(sign: str, lines: Sequence, values: Mapping[str, Any], table: Mapping, of: str) -> str:
    """The register where a sign of another one began."""
    return Search(lines, values, tables=(table, {}, {})).chain(Node("value", of), sign)[-1].node.register


def leaves(x: Any) -> list[Any]:
    """The arrays of a number: of a bundle each of its own; whatever has no numbers has none."""
    x = bare(x)
    if isinstance(x, (tuple, dict)):
        return [a for part in (x.values() if isinstance(x, dict) else x) for a in leaves(part)]
    x = np.asarray(x) if not hasattr(x, "tocsr") else x.data
    return [x] if x.dtype.kind in "biufc" else []


def marks_of(x: Any, sign: str) -> np.ndarray:
    """Which entries of the array, or of the arrays, one after another, have the sign."""
    return np.concatenate([np.ravel(SIGNS[sign](a)) for a in leaves(x)] or [[]])


def marked(x: Any, sign: str) -> np.ndarray:
    """The places in the flat array, or arrays, that have the sign."""
    return np.flatnonzero(marks_of(x, sign))


def shows(x: Any, sign: str, entry: tuple | None = None) -> bool:
    """Whether x has the sign: at the entry, or somewhere; zeros and vanished numbers, everywhere."""
    if entry is not None and np.ndim(x := bare(x)) == len(entry):
        return bool(SIGNS[sign](np.asarray(x)[entry]))
    marks = marks_of(x, sign)
    return bool(marks.size and (marks.all() if sign in EVERYWHERE else marks.any()))


def sign_of(x: Any, entry: tuple | None = None, signs: Iterable[str] = SIGNS) -> str:
    """The first of the signs that x has, or ""."""
    return next((sign for sign in signs if shows(x, sign, entry)), "")


def with_harmless(x: Any, sign: str, places: np.ndarray | None, least: float) -> Any:
    """x with harmless numbers, from least on and none like the other, where it has the sign (places: at these
    alone)."""
    if isinstance(x, Masked):
        number = with_harmless(x.value, sign, places, least)
        return number if sign in EVERYWHERE else x.at(number)  # where nothing flows any number counts as 0
    if isinstance(x, dict):
        return type(x)({i: with_harmless(a, sign, None, least) for i, a in x.items()})
    if isinstance(x, tuple):
        return type(x)(with_harmless(a, sign, None, least) for a in x)
    if hasattr(x, "tocsr"):
        return x
    a = np.array(x)
    marks = np.flatnonzero(SIGNS[sign](a)) if places is None else places
    a.flat[marks] = least + marks * 0.618 % 1 if a.dtype.kind in "fc" else 1
    return a[()]
