"""The way to a reason in words."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ops.causes import Contribution, Node, Search, Station, shows
from ops.facts import facts_of, is_complex
from ops.kinks import MARKS, bare
from ops.loops.bodies import Bundle

from ..notation import shown
from ..passes.differentiate import adjoints
from ..wengert import WengertList, registers

IS = {"NaN": "NaN", "infinite": "infinite", "huge": "huge", "zero": "0", "vanished": "all but 0"}
MOVING = {"moved", "filled", "part", "chosen"}  # the flow of operators that may leave entries out


class Wording:
    """Sentences on the numbers of a list. search: has these numbers. of: what is differentiated, or ""."""

    def __init__(self, steps: WengertList, search: Search, of: str):
        self.list, self.search, self.of = steps, search, of
        self.numbers: Mapping[str, int] = {dst: k for k, (dst, _, _) in enumerate(steps, 1)}
        pairs = adjoints(*steps.differentiates) if steps.differentiates else ()
        self.origins = {dst: origin for (dst, _, _), origin in pairs if origin}

    def subject(self, step: Station) -> str:
        """z is NaN at [2]; the adjoint of z is 0."""
        (kind, name), sign, entry, _ = step
        name = name.rstrip(MARKS)
        return f"{name if kind == 'value' else f'the {kind} of {name}'} is {IS[sign]}{at_entry(entry)}"

    def line(self, dst: str) -> str:
        """line 3, n = sqrt(s) (model.py:12)"""
        k, place = self.numbers[dst := dst.rstrip(MARKS)], self.list.places.get(dst)
        return f"line {k}, {shown(self.list[k - 1])}" + (
            f" ({os.path.basename(place[0])}:{place[1]})" if place else "") + (
            f", of the adjoint of {self.line(self.origins[dst][0])}" if dst in self.origins else "")

    def arguments(self, term: Contribution, entry: tuple | None) -> str:
        """at s = 0, t = 2: the arguments of the term's line, at its entry where it works entry by entry."""
        dst, op, args = term.line
        values, shape = self.search.numbers["value"], np.shape(self.search.numbers["value"][dst])
        place = entry if facts_of(op).elementwise and len(entry or ()) == len(shape) else None
        fits = lambda x: place is not None and np.ndim(x) in (0, len(shape))
        at = lambda x: np.broadcast_to(x, shape)[place] if fits(x) else x
        return " at " * bool(registers(args)) + ", ".join(
            f"{name} {in_words(at(values[name]))}" for name in dict.fromkeys(registers(args)))

    def why(self, station: Station) -> str:
        """What is known of a station by itself: line 3, n = sqrt(s), has an infinite slope by s at s = 0."""
        (kind, name), sign, entry, term = station
        if term is None:
            return self.without_line(station)
        dst, op, args = term.line
        line, at, x = self.line(dst), self.arguments(term, entry), args[term.place or 0]
        if kind == "value":
            return f"{line}, is {IS[sign]}{at}"
        if term.rule is None:
            what = f"{dst} holds no floats" if self.search.is_whole(dst) else f"{op} has none"
            return f"{line}, sends no derivative to {x}: {what}"
        if sign == "zero":
            values = self.search.numbers["value"]
            facts, bundles = facts_of(op), [r for r in (dst, x) if isinstance(values[r], Bundle)]
            if bundles or facts.flow in MOVING and not facts.elementwise:
                return f"{line}, reads nothing of {x}{at_entry(entry)}"
            return f"{line}, has the slope 0 by {x}{at}"
        start, delta = term.parents[0], bare(self.search.number(term.parents[0]))
        slope = self.search.computed(term, {start: delta if isinstance(delta, dict) else np.ones_like(delta)})
        steep = [word for word in ("NaN", "infinite") if shows(slope, word, entry)]
        if not steep:
            return f"{line}, overflows{at}, where the {start.kind} of {start.register} {in_words(delta)}"
        nothing = f", and the {kind} of {start.register.rstrip(MARKS)} is 0" * bool(
            sign == "NaN" and np.any(delta == 0))
        slope = "a slope that is NaN" if "NaN" in steep else "an infinite slope"
        return f"{line}, has {slope} by {x}{at}{nothing}"

    def without_line(self, station: Station) -> str:
        (kind, name), sign, entry, _ = station
        lines = ", ".join(dict.fromkeys(str(self.numbers[term.line[0].rstrip(MARKS)])
                                        for term in self.search.terms(station.node)))
        if kind == "value":
            return (f"no argument of {self.line(name)} alone is the reason" if lines else
                    f"the input {name} is {IS[sign]}{at_entry(entry)}")
        if self.search.is_whole(name):
            return f"{name} holds whole numbers, which have no derivative; give it as floats"
        if lines:
            sent = f"what lines {lines} send" if "," in lines else f"what line {lines} sends"
            return f"{sent} to it {'cancels' if sign == 'zero' else 'is ∞ and −∞'}"
        if kind == "tangent" or name == self.of:
            return f"the {kind} of {name} is what the derivative begins with"
        return f"no line that leads to {self.of} reads {name}"

    def way(self, chain: list[Station]) -> tuple[Contribution | None, list[str], str]:
        """(the term that is the reason; a sentence a station; one for all: the reason, and then the lines
        where another number, or another sign, takes over)."""
        reason, texts = chain[-1], [self.why(chain[-1])]
        sentences = [f"{self.subject(station)}: {self.through(station).strip(',')}" for station in chain[:-1]]
        for station, earlier in zip(chain[-2::-1], chain[:0:-1], strict=True):
            takes_over = (station.sign, station.node.kind) != (earlier.sign, earlier.node.kind)
            if takes_over and not (station.term and earlier.term and station.term.line == earlier.term.line):
                texts.append(f"{self.through(station)} makes it {IS[station.sign]}")
        # an input may be meant to be infinite, as a mask is, or 0; the line that reads it may not
        meant = not reason.term and reason.sign in ("infinite", "zero") and len(chain) > 1
        term = chain[-2].term if meant else reason.term
        return term, [*sentences, f"{self.subject(reason)}: {texts[0]}"], "; then ".join(texts)

    def factors(self, node: Node, sign: str) -> tuple[Contribution, list[str], str]:
        """The same where many lines have made a derivative huge, or all but 0: each has a factor."""
        factors = self.search.factors(node)
        choose, word = (max, "most") if sign == "huge" else (min, "least")
        term, factor = choose(factors, key=lambda pair: pair[1])
        line, at = self.line(term.line[0]), self.arguments(term, None)
        return term, [f"{self.line(term.line[0])}: times {size:.3g}" for term, size in factors], (
            f"of the {len(factors)} lines that multiply it, {line},{at}, does so by the {word}, {factor:.3g}"
            if len(factors) > 1 else f"{line},{at}, multiplies it by {factor:.3g}")

    def through(self, step: Station) -> str:
        """The line by which a step hands on what an earlier one is: line 1, s = dot(x, x), at x = 0,"""
        if step.term is None:
            return self.without_line(step)
        return f"{self.line(step.term.line[0])},{self.arguments(step.term, step.entry)},"


def at_entry(entry: tuple | None) -> str: return f" at {[*entry]}" if entry else ""


def in_words(x: Any) -> str:
    """= 3, or the range of an array."""
    if isinstance(x := bare(x), (tuple, dict)):
        return f"of {len(x)} array{'s' * (len(x) > 1)}"
    if np.asarray(x).dtype.kind not in "biufc":
        return f"of {type(x).__name__}"
    if np.size(x) == 1:
        number = np.ravel(x)[0]
        return f"= {bool(number) if number.dtype.kind == 'b' else six_digits(number)}"
    if not np.size(x):
        return "without entries"
    if is_complex(x) and np.any(x != np.ravel(x)[0]):
        return f"of size {in_words(np.abs(x)).removeprefix('= ')}"
    low, high = np.min(x), np.max(x)
    return f"= {low:.6g} everywhere" if low == high else f"from {low:.6g} to {high:.6g}"


def six_digits(x: Any) -> str:
    """Six of them, or all where a number would look whole and is not."""
    short = f"{x:.6g}"
    return f"{x}" if short.lstrip("-").isdigit() and x != float(short) else short
