"""Lists of one's own: a part draws another list for each student, on paper, with a key for the assistant.

    @evaluation.part("your own list", points=10, personal=drawn_list)
    def own_list(student, rng, steps, values):
        expect(student.answers(), deltas_by_hand(steps, values), "the deltas on your sheet")

What is drawn depends on the secret of the term and on the student's key in the roster (`Part.drawn`).
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...interpreters import backprop, eval
from ...show import picture
from ...wengert import WengertList
from ..assignment import Assignment
from ..reports import pages
from .roster import Student

OPERATORS = {"add": 2, "subtract": 2, "mul": 2, "square": 1, "half": 1}  # what a person computes by hand
LARGE = 100  # a value or a delta beyond it is no work for a person


def drawn_list(rng: np.random.Generator, lines: int = 5,
               inputs: int = 3) -> tuple[WengertList, dict[str, int]]:
    """A list for pencil and paper, and values of its inputs: each register is used, the last line is f."""
    while True:
        names, steps = [f"x{k}" for k in range(1, inputs + 1)], []
        values = {name: int(rng.integers(1, 6)) for name in names}
        unused = [*names]
        for k in range(1, lines + 1):
            # two registers are left for each line at most, or some would never be used
            fits = [op for op, n in OPERATORS.items() if n == 2 or len(unused) <= lines - k + 1]
            op = str(rng.choice(fits))
            first = str(rng.choice(unused))
            second = str(rng.choice([name for name in unused if name != first] or names))
            args = (first, second)[:OPERATORS[op]]
            dst = "f" if k == lines else f"z{k}"
            steps.append((dst, op, args))
            unused = [name for name in unused if name not in args] + [dst]
            names.append(dst)
        numbers = [*deltas_by_hand(steps, values).values(), *eval(steps, values).values()]
        if unused == ["f"] and all(abs(number) <= LARGE for number in numbers):
            return WengertList(steps), values


def deltas_by_hand(steps: list[tuple], values: Mapping[str, Any]) -> dict[str, float]:
    """The delta of each register, from 1 at the last line."""
    deltas = backprop(steps, eval(steps, dict(values)), **{steps[-1][0]: 1.0})
    return {name: float(deltas[name]) for name in [*values, *(dst for dst, *_ in steps)] if name in deltas}


def sheets(assignment: Assignment, term: str, students: list[Student], answers: bool = False) -> str:
    """A page to print for each student, or with the answers, as a key. term: the secret that grading has."""
    drawn = []
    for student in students:
        for part in assignment.drawn_parts:
            steps, inputs = part.drawn(term, assignment.module, student.key)
            values, deltas = eval(steps, dict(inputs)), deltas_by_hand(steps, inputs)
            rows = [(name, inputs.get(name), x, deltas.get(name, 0.0)) for name, x in values.items()]
            drawn.append((student.key, part.title, str(WengertList(steps)), rows, picture(steps).svg()))
    page = pages.templates().get_template("sheets.html")
    return page.render(title=assignment.title, drawn=drawn, answers=answers)
