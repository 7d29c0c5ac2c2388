"""Reads the list of a file that anybody may have written, and bounds its cost before it runs."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

import ops
from ops.facts import entries_together, literal_size
from ops.loops.values import metered

from ..errors import XManError
from ..interpreters import eval
from ..tables.columns import Column, is_spelling, sizes
from ..wengert import WengertList, checked_list

LINES, TEXT = 100_000, 2 ** 26  # the most lines of a list, and characters of its text
LARGEST = 2 ** 24               # the largest literal whole number, and the most entries of a literal shape
ENTRIES = 2 ** 27               # the most entries of all registers together for one row, without parameters


def bounded_list(text: str, columns: Sequence[Column], values: Mapping[str, np.ndarray], output: str,
                 classes: int) -> tuple[WengertList, int]:
    """(the list in a file's text, the entries that it computes of one row).

    ValueError if it is no list, takes too much, or gives no predictions.

    columns: the inputs that are columns. values: the arrays of the other inputs. output: the register of the
    predictions, which has for each row a number for each of so many classes, or a single number.
    """
    if not isinstance(text, str) or len(text) > TEXT or text.count("\n") > LINES:
        raise ValueError(f"its list is not a text of at most {LINES:,} lines and {TEXT:,} characters")
    steps = checked_list(WengertList.from_text(text), ops.G)
    present = {*values, *(c.register for c in columns)}
    if unknown := [name for name in steps.inputs if name not in present]:
        raise ValueError(f"its list reads {unknown[0]!r}, which is no column and has no value")
    bodies = [(f" of {name}", lines) for _, name, _, lines, _ in ops.loops.functions_in(steps)]
    for where, lines in (("", steps), *bodies):
        for k, (_, op, args) in enumerate(lines, 1):
            if op not in ops.table.OURS:
                raise ValueError(f"line {k}{where} calls {op!r}, an operator that is not xman's")
            for a in args:
                if not (isinstance(a, (str, np.ndarray)) or ops.is_function(a)) and literal_size(a) > LARGEST:
                    raise ValueError(f"line {k}{where} has a literal that is too large: {str(a)[:60]}")
    blank = {column.register: blank_cell(column) for column in columns}
    try:
        registers, entries = bounded_values(steps, {**values, **blank}, ENTRIES, "one row")
    except XManError as error:
        raise ValueError(f"its list does not run on one row: {error}") from None
    if output not in registers or output in blank:
        raise ValueError(f"its list does not compute {output!r}")
    shape = np.shape(registers[output])
    columns_of_row = {(1,), (classes,), *[()] * (classes == 2)}
    if len(shape) not in (1, 2) or shape[0] != 1 or classes and shape[1:] not in columns_of_row:
        raise ValueError(f"{output!r} of one row has shape {shape}, and {classes} classes are named")
    return steps, entries


def bounded_values(steps: WengertList, inputs: Mapping[str, Any], limit: int,
                   rows: str) -> tuple[dict[str, Any], int]:
    """(all registers, the entries that were computed). ValueError where they would be more than limit, before
    memory is taken, or a loop takes too long. rows: what the inputs hold, for the error."""
    total = 0

    def bounded(entries: int) -> None:
        if total + entries > limit:
            raise ValueError(f"it would hold {total + entries:,} numbers for {rows}")

    def counted(_: str, args: tuple, out: Any) -> Any:
        nonlocal total
        bounded(size_of := np.size(out))
        total += size_of
        return out

    before = lambda op, args: bounded(most_entries(op, args))
    return eval(steps, inputs, metered(steps, before, counted)), total


def most_entries(op: str, args: tuple) -> int:
    """An upper bound of the entries of an operator's result, before it is computed."""
    facts = ops.facts_of(op)
    if facts.elementwise or isinstance(ops.G[op], np.ufunc):  # labels of a loss do not broadcast
        return math.prod(map(max, zip_longest(*(np.shape(a)[::-1] for a in args), fillvalue=1)))
    return (facts.entries or entries_together)(*args)


def blank_cell(column: Column) -> np.ndarray:
    """An empty cell of a column. ValueError for an unknown kind of column."""
    if column.kind == "array" and 0 < literal_size(shape := sizes(column)) < LARGEST:
        return np.zeros((1, *shape), np.float32)
    if column.kind in BLANK and is_spelling(column):
        return BLANK[column.kind]
    raise ValueError(f"its column {column.name!r} is of the kind {column.kind!r} {column.spelling}")


BLANK = {"number": np.zeros(1), "date": np.array(["2000-01-01"], "datetime64[ms]"),
         **dict.fromkeys(("category", "text"), np.array([""], object))}
