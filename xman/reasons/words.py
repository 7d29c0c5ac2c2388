"""The way to a reason in words."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ops.causes import Contribution, Node, Search, Station, shows
from ops.facts import facts_of
from ops.kinks import MARKS, bare

from ..notation import shown
from ..passes.differentiate import adjoints
from ..wengert import WengertList, registers

IS = {"NaN": "NaN", "infinite": "infinite", "huge": "huge", "zero": "0", "vanished": "all but 0"}


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
        values, texts = self.search.numbers["value"], []
        for name in dict.fromkeys(registers(args)):
            x = values[name]
            if entry is not None and facts_of(op).elementwise and np.shape(values[dst]) != ():
                entries = entry if len(entry) == np.ndim(values[dst]) else None
                x = np.broadcast_to(x, np.shape(values[dst]))[entries] if entries is not None else x
            texts.append(f"{name} {in_words(x)}")
        return f" at {', '.join(texts)}" * bool(texts)

    def why(self, step: Station) -> str:
        """What is known of a step by itself: line 3, n = sqrt(s), has an infinite slope at s = 0."""
        (kind, name), sign, entry, term = step
        if term is None:
            return self.without_line(step)
        dst, op, args = term.line
        line, at, x = self.line(dst), self.arguments(term, entry), args[term.place or 0]
        if kind == "value":
            return f"{line}, is {IS[sign]}{at}"
        if term.rule is None:
            kinds = {"b": "truth values", "i": "whole numbers", "u": "whole numbers"}
            kind = kinds.get(np.asarray(self.search.number(Node("value", dst))).dtype.kind)
            what = f"{dst} holds {kind}" if kind else f"{op} has none"
            return f"{line}, sends no derivative to {x}: {what}"
        start = term.parents[0]
        delta = self.search.number(start)
        array = isinstance(bare(delta), (float, np.ndarray, np.floating))
        slope = self.search.computed(term, {start: np.ones_like(bare(delta)) if array else delta})
        if sign == "zero":
            if facts_of(op).elementwise:
                return f"{line}, has the slope 0 by {x}{at}"
            return f"{line}, reads nothing of {x}{at_entry(entry)}"
        steep = next((word for word in ("NaN", "infinite") if shows(slope, word, entry)), "")
        if not steep:
            return f"{line}, overflows: the {start.kind} of {start.register} times the slope{at}"
        nothing = f", and the {start.kind} of {start.register.rstrip(MARKS)} is 0" * (
            sign == "NaN" and bool(np.any(bare(delta) == 0)))
        slope = "an infinite slope" if steep == "infinite" else "a slope that is NaN"
        return f"{line}, has {slope} by {x}{at}{nothing}"

    def without_line(self, step: Station) -> str:
        (kind, name), sign, entry, _ = step
        if kind == "value":
            return (f"no argument of {self.line(name)} alone is the reason" if name in self.numbers else
                    f"the input {name} is {IS[sign]}{at_entry(entry)}")
        terms = [*self.search.terms(step.node)]
        if self.search.is_whole(name):
            return f"{name} holds whole numbers, which have no derivative; give it as floats"
        if not terms:
            if kind == "tangent" or name == self.of:
                return f"the {kind} of {name} is what the derivative begins with"
            return f"no line that leads to {self.of} reads {name}"
        lines = ", ".join(dict.fromkeys(str(self.numbers[term.line[0].rstrip(MARKS)]) for term in terms))
        return f"what lines {lines} send to it {'cancels' if sign == 'zero' else 'is ∞ and −∞'}"

    def sentence(self, chain: list[Station]) -> str:
        """The reason, and then the lines where another number, or another sign, takes over."""
        texts = [self.why(chain[-1])]
        for step, earlier in zip(chain[-2::-1], chain[:0:-1], strict=True):
            takes_over = (step.sign, step.node.kind) != (earlier.sign, earlier.node.kind)
            if takes_over and not (step.term and earlier.term and step.term.line == earlier.term.line):
                texts.append(f"{self.through(step)} makes it {IS[step.sign]}")
        return "; then ".join(texts)

    def steps(self, chain: list[Station]) -> list[str]:
        """A sentence a step."""
        way = [f"{self.subject(step)}: {self.through(step).strip(',')}" for step in chain[:-1]]
        return [*way, f"{self.subject(chain[-1])}: {self.why(chain[-1])}"]

    def through(self, step: Station) -> str:
        """The line by which a step hands on what an earlier one is: line 1, s = dot(x, x), at x = 0,"""
        if step.term is None:
            return self.without_line(step)
        return f"{self.line(step.term.line[0])},{self.arguments(step.term, step.entry)},"


def at_entry(entry: tuple | None) -> str: return f" at {[*entry]}" if entry else ""


def in_words(x: Any) -> str:
    """= 3, or the range of an array."""
    if isinstance(x := bare(x), (tuple, dict)) or hasattr(x, "tocsr"):
        return f"of {type(x).__name__}"
    if np.size(x) == 1:
        return f"= {np.ravel(x)[0]:.6g}" if np.asarray(x).dtype.kind != "b" else f"= {bool(np.ravel(x)[0])}"
    if not np.size(x):
        return "without entries"
    low, high = np.min(x), np.max(x)
    return f"= {low:.6g} everywhere" if low == high else f"from {low:.6g} to {high:.6g}"
