"""A trained model of a table for systems that read fewer kinds of cells: what they cannot read is a number.

    z1 = days(date)              date is a column of dates, for which ONNX has no type:
    z2 = subtract(z1, 19700.0)   z2 = subtract(date, 19700.0), and `date` is days since 1970
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from ..files.bounds import blank_cell
from ..files.model import Model
from ..interpreters import eval
from ..notation import renamed
from ..wengert import WengertList, registers


class Portable(NamedTuple):
    """A model's list. examples: of a few rows of its columns. inputs: {column: what its cells are}."""
    steps: WengertList
    examples: dict[str, Any]
    inputs: dict[str, str]


def portable(model: Model, strings: Collection[str] = (), rows: int = 3) -> Portable:
    """The model's list with an input of numbers in place of each line that reads strings or dates.

    strings: the operators that may read them after all. rows: of the examples.
    """
    cells = {c.register: np.repeat(blank_cell(c), rows, 0) for c in model.columns}
    texts = {c.register for c in model.columns if c.kind not in ("number", "array")}
    reading = [line for line in model.steps if texts.intersection(registers(line[2]))]
    readers = Counter(args[0] for _, _, args in reading)
    cut = {dst: (op, args) for dst, op, args in reading if op not in strings}
    number = {dst: x if readers[x] == 1 else f"{x}_{op}" for dst, (op, (x, *_)) in cut.items()}
    computed = eval([(dst, *line) for dst, line in cut.items()], cells) if cut else cells
    steps = WengertList(renamed([line for line in model.steps if line[0] not in cut], number))
    examples = cells | {number[dst]: np.asarray(computed[dst]) for dst in cut}
    column = {c.register: repr(c.name) for c in model.columns}
    meaning = {x: f"{name}, {'a string' if x in texts else 'a number, NaN where missing'}"
               for x, name in column.items()}
    meaning |= {number[dst]: meaning_of(op, args, column[args[0]]) for dst, (op, args) in cut.items()}
    of_inputs = lambda facts: {x: facts[x] for x in steps.inputs if x in facts}
    return Portable(steps, of_inputs(examples), of_inputs(meaning))


def meaning_of(op: str, args: tuple, column: str) -> str:
    """What a line computes of a column's cells."""
    word = f"{args[1]}, and {len(args[1])} for others" if op == "codes" else args[1] if args[1:] else ""
    return {"days": f"days since 1970 of {column}, NaN where missing",
            "codes": f"the place of {column} in {word}",
            "words": f"how often {column} has each of the words {word}",
            "characters": f"the code points of the first {word} characters of {column}, and 0 after its end",
            }.get(op, f"{op} of {column}, {word}")
