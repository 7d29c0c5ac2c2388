"""What the columns of a table hold, and whether there is anything to learn from them."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .columns import Column, cells, read_as, spelling_of, words_and_places
from .frames import TableError, arrow, cell_kind

COMMON = 100      # the most categories of a column, and words of a text, that get a place of their own
FEW = 20          # so many different whole numbers, or fewer, are classes
SAMPLE = 10_000   # the rows that tell a column's kind


def column_kind(chunks: Any, name: str, day_first: bool, said: list[str]) -> tuple[str, str]:
    """(kind, spelling) of a column, from its type or the look of its strings. said: gets what is doubtful."""
    pc, types, known = arrow().compute, arrow().types, cell_kind(chunks.type)
    if known == "truth" or types.is_dictionary(chunks.type):
        return "category", ""
    if known in ("number", "null", "date"):
        return known.replace("null", "number"), ""
    if known != "text" and not types.is_time(chunks.type):
        raise TableError(f"the column {name!r} holds {chunks.type}, which xman does not read; leave it out with "
                         f"--ignore {name}")
    words = pc.utf8_trim_whitespace(chunks.cast("string").drop_null())
    some = [word for word in words.slice(0, SAMPLE).to_pylist() if word]
    kind, spelling = spelling_of(some, day_first)
    if kind == "date" and "/" in spelling and len(words) > SAMPLE:  # all words tell which part is the day
        kind, spelling = spelling_of(words.to_pylist(), day_first)
    if kind:
        return kind, spelling
    strange = [word for word in some if not re.fullmatch(r"[-+]?[\d.,]+([eE][-+]?\d+)?", word)]
    if len(strange) < len(some) / 2:
        said.append(f"{name!r} holds words among numbers, such as {strange[0][:40]!r}, and so counts as "
                    "words: mend or empty those cells where it is a number")
    different = pc.count_distinct(words).as_py()
    return ("category" if different <= max(FEW, len(words) / 2) and different <= 50 * COMMON else "text"), ""


def told_target(chunks: Any, name: str, task: str | None, day_first: bool,
                said: list[str]) -> tuple[Column, tuple[str, ...], np.ndarray]:
    """The target as a column, its classes, and its cells. said: gets the sentence that names the task."""
    kind, spelling = column_kind(chunks, name, day_first, said)
    column = Column(name, "y", "category" if kind == "text" else kind, spelling)
    found = cells(chunks, column, "the table")
    if kind == "date":
        raise TableError(f"the target {name!r} holds dates; --target names the column to predict")
    why = "it holds words"
    if kind == "number":
        known = found[np.isfinite(found)]
        values = np.unique(known[:SAMPLE])
        few = len(values) <= FEW and bool((known == np.rint(known)).all())
        why = f"it holds {len(values)} whole numbers" if few else "it holds numbers"
        if task == "classify" or task is None and few:
            column = column._replace(kind="category")
        task = task or ("classify" if few else "regress")
    elif task in ("regress", "count"):
        raise TableError(f"--task {task}: the target {name!r} holds {str(found[0])!r}, no numbers; --target "
                         "names another")
    words, place = target_cells({name: chunks}, column, "the table")
    found = words[place]
    if task != "classify" and column.kind == "number":
        if np.ptp(found) == 0:
            raise TableError(f"the target {name!r} is {found[0]:g} in every row: nothing can be learnt; "
                             "--target names another")
        said.append(f"the task is to regress, since the target {name!r} is a number; --task classify makes "
                    "classes of them")
        return column, (), found
    counts = Counter(found.tolist())
    if len(counts) < 2:
        raise TableError(f"the target {name!r} is {str(found[0])!r} in every row, one class alone: there is "
                         "nothing to learn; --target names another column")
    if len(counts) > max(FEW, len(found) / 2):
        raise TableError(f"the target {name!r} has {len(counts):,} classes in {len(found):,} rows, too many "
                         "to learn; --target names another column, --task regress fits numbers")
    said.append(f"the task is to classify, since the target {name!r}: {why}; " + (
        "--task regress fits them as numbers" if kind == "number" else f"{len(counts)} classes"))
    return column, tuple(sorted(counts, key=float if kind == "number" else str)), found


def target_cells(table: Any, target: Column, where: str) -> tuple[np.ndarray, Any]:
    """(found, place): the targets are found[place], numbers or strings. TableError where one is missing."""
    chunks = table[target.name]
    if target.kind == "category" and cell_kind(chunks.type) == "number":
        numbers = cells(chunks, target._replace(kind="number"), where)
        missing = ~np.isfinite(numbers)
        words, place = np.unique(np.where(missing, 0.0, numbers), return_inverse=True)
        found = np.array([str(int(x)) if x == int(x) else repr(x) for x in words.tolist()], object)
    elif target.kind == "category":
        found, place = read_as(words_and_places, chunks, target, where)
        missing = absent(found, target.kind)[place]
    else:
        found, place = cells(chunks, target, where), slice(None)
        missing = absent(found, target.kind)
    if missing.any():
        raise TableError(f"{where}: the target {target.name!r} is missing in {int(missing.sum()):,} rows, "
                         f"the first of them row {int(missing.argmax()) + 1}; leave those rows out")
    return found, place


def summary(array: np.ndarray, kind: str) -> tuple[int, str]:
    """How many cells are missing, and the range of the others, or the commonest of them."""
    known = array[~absent(array, kind)]
    if kind in ("number", "date"):
        ends = [known.min(), known.max()] if len(known) else []
        told = " … ".join(f"{end:g}" if kind == "number" else str(end)[:10] for end in ends)
    else:
        counts = Counter(known[:SAMPLE * 10].tolist()).most_common(3)
        told = ", ".join(f"{word[:24]} ({n})" for word, n in counts)
    return len(array) - len(known), told


def useless(array: np.ndarray, kind: str) -> str:
    """Why a column tells no rows apart; "" where it does."""
    if (missing := absent(array, kind)).all():
        return "is missing in every training row"
    same = not missing.any() and bool((array == array[0]).all())
    return f"is {str(array[0])[:40]} in every training row" if same else ""


def absent(array: np.ndarray, kind: str) -> np.ndarray:
    return ~np.isfinite(array) if kind == "number" else np.isnat(array) if kind == "date" else array == ""


def leaks(columns: Sequence[Column], arrays: Sequence[np.ndarray], y: np.ndarray, target: str) -> list[str]:
    """A sentence for each column that is the target under another name."""
    said, some = [], slice(0, SAMPLE)
    y_values, y_places = np.unique(y[some], return_inverse=True)
    for column, array in zip(columns, arrays, strict=True):
        if column.kind == "text" or len(y_values) < 2:
            continue
        values, places = np.unique(array[some], return_inverse=True)
        pairs = len(np.unique(places * len(y_values) + y_places))
        same = len(values) == len(y_values) == pairs and len(values) < len(places)
        if same or column.kind == "number" and y.dtype.kind == "f" and np.array_equal(array, y):
            said.append(f"{column.name!r} tells the target {target!r} row by row: if it is not known when "
                        f"predictions are made, leave it out with --ignore {column.name!r}")
    return said
