"""What xman train learns from: a table by its columns, or what else a source holds."""
from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import XManError
from ..tables import Column, Prepared, inputs, prepared, read
from ..tables.preparing import lines_of_titles
from ..train import loaders
from ..train.readers import read_lines
from ..wengert import WengertList

LIBSVM = ".svm", ".svmlight", ".libsvm"


class Learning(NamedTuple):
    """What there is to learn from: as `xman.train.Dataset`, and how rows of numbers are made of what the source holds.

    names: of all columns of a table. cells: those of the test part, by register."""
    train: tuple
    valid: tuple
    test: tuple
    classes: tuple[str, ...]
    alphabet: str | None
    prepared: Prepared
    table: bool
    names: tuple[str, ...] = ()
    cells: dict[str, Any] = {}


def learning(source: str, *, max_len: int | None, seed: int, numbers: bool, header: bool | None, target: str | None,
             ignore: tuple[str, ...], task: str | None, day_first: bool) -> Learning:
    """What source names: a table by its columns, and all else as `xman.train.load` reads it."""
    if is_table(source):
        return of_table(read(source, header), source, seed, "regress" if numbers else task, target, ignore, day_first)
    said = {"--target": target, "--ignore": ignore, "--task": task, "--header": header is not None, "--day-first": day_first}
    if words := [word for word, value in said.items() if value]:
        raise XManError(f"{words[0]} is for tables, such as CSV and Parquet files; {source} is none")
    sets = loaders.load(source, max_len=max_len, seed=seed, numbers=numbers)
    shape = sets.train[0].shape[1:]
    columns, steps, output = [Column("X", "X", "array", "x".join(map(str, shape)))], [], "X"
    if sets.alphabet is not None:
        columns, (steps, output) = [Column("title", "title", "text")], lines_of_titles("title", shape[0], sets.alphabet)
    elif divisor := 16.0 if source == "digits" else 255.0 if "idx" in source else None:
        steps, output = [("z1", "divide", ("X", divisor)), ("z2", "astype", ("z1", ("float32",)))], "z2"
    goal = Column("label", "y", "category" if sets.classes else "number")
    made = Prepared(tuple(columns), WengertList(steps), output, goal, sets.classes, (0.0, 1.0), [], [], shape)
    return Learning(*sets, made, table=False, names=("title", "label") if sets.alphabet else (),
                    cells={} if sets.alphabet or hasattr(sets.test[0], "tocsr") else {"X": sets.test[0]})


def is_table(source: str) -> bool:
    """Whether a source is read by its columns: by its name, and where that says nothing by commas in its first line."""
    path = Path(source)
    if source in loaders.INSTALLED or path.suffix in (*loaders.PARTS, *LIBSVM) or re.search("idx[0-9]-ubyte", path.name):
        return False
    if path.is_dir() or re.search(r"\.(csv|tsv|tab|parquet|pq|feather|arrow|ipc)(\.gz)?$", source.lower()):
        return True
    if not path.is_file():
        return False
    first = next(line for line in read_lines(path) if line.strip())
    return "," in first and "\t" not in first and not re.match(r"\s*[-+.0-9]\S*(\s+\d+:\S+)+\s*(#|$)", first)


def of_table(table: Any, source: str, seed: int, task: str | None, target: str | None, ignore: tuple[str, ...],
             day_first: bool) -> Learning:
    """A table cut in three, shuffled, and what its training rows make of it."""
    parts: list[np.ndarray] = []

    def training(y: np.ndarray) -> np.ndarray:
        parts.extend(part for part, _ in loaders.split_rows(Path(source), np.arange(len(y)), y, [7, 8], seed))
        return parts[0]

    data = prepared(table, target, ignore, task, training, day_first)
    X, y = data.features(table), data.targets(table)
    return Learning(*((X[part], y[part]) for part in parts), data.classes, None, data, True,
                    tuple(table.column_names), inputs(data.columns, table.take(parts[2])))


def findings(data: Prepared) -> str:
    """What the columns hold, as a table, and the sentences beneath it."""
    rows = [("column", "kind", "missing", "range, or the commonest"), *(tuple(map(str, row)) for row in data.found)]
    shown = rows if len(rows) <= 42 else [*rows[:31], ("…", "", "", f"{len(rows) - 41} more columns"), *rows[-10:]]
    widths = [min(40, max(len(row[k]) for row in shown)) for k in range(3)]
    cut = lambda row: [cell[:40].ljust(width) for cell, width in zip(row, widths, strict=False)]
    told = [f"{said[0].upper()}{said[1:]}." for said in data.said]
    return "\n".join(["  ".join([*cut(row), row[3]]).rstrip() for row in shown] + told) if data.found else ""


def source_digest(source: str) -> str:
    """SHA-256 of a file, or the source's own name where it is none."""
    if not Path(source).is_file():
        return source
    found = hashlib.sha256()
    with open(source, "rb") as file:
        while piece := file.read(2 ** 20):
            found.update(piece)
    return found.hexdigest()
