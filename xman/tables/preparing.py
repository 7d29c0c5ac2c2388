"""Lines of a list that make numbers of columns: missing cells, categories, dates, text, scales."""
from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import nearest
from ..interpreters import eval
from ..notation import WORDS
from ..wengert import WengertList, fresh, temporaries
from .columns import Column, cells, infinite_text, inputs
from .frames import TableError, arrow, first_line, of_frame, rows_named
from .kinds import (
    COMMON,
    column_kind,
    leaks,
    lookalikes,
    missing_words,
    summary,
    target_cells,
    target_facts,
    useless,
)
from .splits import with_target
from .statistics import Moments, Words, measured, moments, word_statistics

CHARACTERS = 20  # the first ones of a text, which are all that is read of it


class Prepared(NamedTuple):
    """The lines that make rows of numbers of a table, with constants from its training rows.

    columns: the columns that the lines read. steps: the lines. output: the register of the rows, float32
    (rows, features), or (rows, characters, alphabet) of a single text. target: the column to predict.
    classes: its labels; none where it holds numbers. scale: (mean, standard deviation) of these. summary:
    what each column holds, (name, kind, missing, what). remarks: sentences about it. shape: of a row.
    """
    columns: tuple[Column, ...]
    steps: WengertList
    output: str
    target: Column
    classes: tuple[str, ...]
    scale: tuple[float, float]
    summary: list[tuple[str, str, int, str]]
    remarks: list[str]
    shape: tuple[int, ...]

    def features(self, table: Any, where: str = "the table") -> np.ndarray:
        """The rows of numbers, (rows, features), of a table or a frame."""
        return eval(self.steps, inputs(self.columns, table, where, self.steps))[self.output]

    def pair(self, table: Any, y: Any = None) -> tuple[Any, np.ndarray]:
        """(features, targets) of a table, a frame or an array, without rows that have no target. y: targets
        that are not a column of it."""
        X = self.features(table)
        goals = of_frame(table) if y is None else arrow().table({self.target.name: as_column(y, X.shape[0])})
        rows = with_target(goals[self.target.name], self.target.name, [])
        with rows_named(rows):
            return X if len(rows) == X.shape[0] else X[rows], self.targets(goals.take(rows))

    def targets(self, table: Any, where: str = "the table") -> np.ndarray:
        """The place of each row's class, int64 (rows,), or its number on the scale, float32 (rows, 1)."""
        table = table if hasattr(table, "column_names") else of_frame(table)
        distinct, inverse = target_cells(table, self.target, where, self.classes)
        if not self.classes:
            return ((distinct[:, None] - self.scale[0]) / self.scale[1]).astype(np.float32)
        places = ops.G["codes"](distinct, self.classes)[inverse]
        if (unknown := np.flatnonzero(places == len(self.classes))).size:
            distinct, row = distinct[inverse], int(unknown[0])
            raise TableError(f"{where}, row {row + 1}, column {self.target.name!r}: found "
                             f"{str(distinct[row])[:60]!r}, which no training row has; the classes are "
                             f"{', '.join(self.classes[:12])[:400]}")
        return places


def prepared(table: Any, target: Any = None, ignore: Collection[str] = (), task: str | None = None,
             rows: np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
             day_first: bool = False, decimal: str | None = None, category: Collection[str] = ()) -> Prepared:
    """A table's columns, `Prepared` to become rows of numbers and targets.

    table: a table of pyarrow, as `read` gives it, a frame, an array (rows, …) or a sparse matrix. target: the
    column to predict (None: the last), or the targets themselves, one for each row. ignore: columns to leave
    out. task: "classify", "regress", or "count", which keeps the numbers' own scale (None: words, truth
    values and few whole numbers are classes). rows: the numbers of the training rows, or a function to them
    from the targets and the numbers of all rows that have one; means, deviations, categories and alphabets
    come from these rows (None: all). day_first:
    whether 03/04/2024 is in April. decimal: "," or ".", the mark before decimals where 4,216 may also be four
    thousand (None: the cells of the column decide, or a remark). category: columns whose numbers only name
    things. TableError where there is nothing to learn from.
    """
    if isinstance(table, np.ndarray) and table.dtype.kind not in "biuf":
        try:
            table = (table if table.dtype.kind in "OUS" else None).astype(float)
        except (ValueError, TypeError, AttributeError):  # not all are numbers: each column is of its own kind
            table = {f"column{k}": table[:, k - 1] for k in range(1, table.shape[-1] + 1)}
    if isinstance(table, np.ndarray) or hasattr(table, "tocsr"):
        return of_array(table, target, task)
    table = table if hasattr(table, "column_names") else of_frame(table)
    # pandas has columns called 1, 2.5 or ("a", "b")
    if isinstance(target, int) or isinstance(target, Hashable) and str(target) in table.column_names:
        target = str(target)
    if not isinstance(target, (str, type(None))):
        column, target = as_column(target, table.num_rows), fresh("target", {*table.column_names})
        table = table.append_column(target, column)
    names, ignore = list(table.column_names), [ignore] if isinstance(ignore, str) else ignore
    category = [category] if isinstance(category, str) else category
    for word, name in [*[("target", target)] * (target is not None), *(("ignore", name) for name in ignore),
                       *(("category", name) for name in category)]:
        if name not in names:
            raise TableError(f"--{word} {name}: there is no such column; there are "
                             f"{', '.join(names[:20])}{nearest(name, names)}")
    if not table.num_rows:
        raise TableError("the table has a header and no rows; wanted rows below it")
    numbers_of_rows = {*names[:1]} & {"", "Unnamed: 0"} - {target}  # as pandas writes, and reads, its index
    ignored = {*ignore, *numbers_of_rows}
    if target is None:  # lines that end with a comma have an empty last column without a name
        is_empty = names[-1] == f"column{len(names)}" and table[names[-1]].null_count == table.num_rows
        target = next((name for name in reversed(names[:len(names) - is_empty]) if name not in ignored), "")
    features = [name for name in names if name not in ignored and name != target]
    if not features:
        raise TableError(f"the table has no column beside {target!r}; wanted at least one to predict it from; in a file "
                         "of text commas, semicolons, tabs or | part the cells")
    notes = ["the first column has no name and is taken for row numbers: left out"] * bool(
        numbers_of_rows - {*ignore})
    labelled = with_target(table[target], target, notes)
    with rows_named(labelled):
        goal, classes, y = target_facts(table[target].take(labelled), target, task, day_first, decimal, notes)
    told = len(notes)
    rows = (labelled if rows is None else rows(y, labelled) if callable(rows)
            else np.intersect1d(np.arange(table.num_rows)[rows], labelled))
    training, y = table.take(rows), y[np.searchsorted(labelled, rows)]
    columns, arrays, profile, constants = [], [], [], []
    registers, chunks_of = {*ops.G, *keyword.kwlist, *WORDS}, dict(zip(names, training.columns, strict=True))
    for name in features:
        chunks = chunks_of[name]
        kind, spelling = column_kind(chunks, name, day_first, decimal, notes)
        if name in category:
            kind, spelling = "category", (spelling or "1.5") if kind == "number" else ""
        column = Column(name, register_of(name, registers), kind, spelling)
        if kind in ("category", "text") and (words := missing_words(chunks)):
            notes.append(f"{name!r} has {words} read as missing; write another word where it is not")
        with rows_named(rows):
            array = cells(chunks, column, "the table")
        profile.append((name, kind, *summary(array, kind)))
        if kind == "number" and (count := int(np.isinf(array).sum())):
            notes.append(infinite_text(name, count))
        reason = useless(array, kind)
        if reason and (kind != "number" or np.isnan(array).any()):
            notes.append(f"{name!r} {reason}: left out")
            continue
        notes += lookalikes(name, dict.fromkeys(array.tolist())) if kind == "category" else []
        constants += [f"{name!r} {reason}"] * bool(reason)
        columns.append(column)
        arrays.append(array)
    if constants:  # equal columns stay: a network may know its inputs by their places, as those of an image
        more = f" and {len(constants) - 3} others are such" if len(constants) > 3 else ""
        notes.append(f"{', '.join(constants[:3])}{more}: nothing is learnt from that, and the place is kept")
    if len(constants) == len(columns):
        raise TableError(f"no column tells rows apart: {'; '.join(notes[told:])[:1000]}")
    notes += leaks(columns, arrays, y, target)
    steps, output = lines(columns, [*map(statistics_of, columns, arrays)], registers)
    shape = eval(steps, {c.register: x[:1] for c, x in zip(columns, arrays, strict=True)})[output].shape[1:]
    profile.append((target, "target", *summary(y, goal.kind)))
    scale = scale_of(target, y, classes, task)
    return Prepared(tuple(columns), steps, output, goal, classes, scale, profile, notes, shape)


def scale_of(name: str, y: np.ndarray, classes: Collection[str], task: str | None) -> tuple[float, float]:
    """(mean, standard deviation) of the training rows' numbers; (0, 1) for classes and counts."""
    if classes or task == "count":
        return 0.0, 1.0
    fact = measured(name, moments(y.astype(float)[:, None]))
    return float(fact.mean[0]), float(np.sqrt(fact.squares[0] / len(y))) or 1.0


def as_column(y: Any, rows: int) -> Any:
    """Targets, one for each row, as a column. TableError for another number of them."""
    pa = arrow()
    try:
        column = pa.chunked_array(y if hasattr(y, "__arrow_c_stream__") else [pa.array(np.ravel(y))])
    except pa.ArrowException as error:
        raise TableError(f"the targets are no column: {first_line(error)}") from None
    if len(column) != rows:
        raise TableError(f"there are {len(column)} targets for {rows} rows")
    return column


def of_array(X: Any, y: Any, task: str | None) -> Prepared:
    """`prepared` for an array, which is put on one scale, or a sparse matrix, which stays as it is."""
    notes: list[str] = []
    chunks = as_column(y, X.shape[0])
    rows = with_target(chunks, "target", notes)
    X, chunks = (X, chunks) if len(rows) == X.shape[0] else (X[rows], chunks.take(rows))
    with rows_named(rows):
        goal, classes, y = target_facts(chunks, "target", task, False, None, notes)
    column = Column("X", "X", "array", "x".join(map(str, X.shape[1:])))
    steps, output = WengertList(), "X"
    if not hasattr(X, "tocsr"):
        steps, output = lines([column], [statistics_of(column, np.asarray(X, float))], {"X"})
    shape = eval(steps, {"X": X[:1]})[output].shape[1:]
    scale = scale_of("target", y, classes, task)
    return Prepared((column,), steps, output, goal, classes, scale, [], notes, shape)


# ---- lines -------------------------------------------------------------------------------------------------

def register_of(name: str, registers: set[str]) -> str:
    """A register's name for a column, like the column's own and not in registers, to which it is added."""
    plain = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_")[:60] or "column"
    return fresh(plain if plain[0].isalpha() else f"c{plain}", registers)


def statistics_of(column: Column, array: np.ndarray, like: Any = None) -> Any:
    """The statistics of a column's cells, for its lines. like: those of another piece of the same text."""
    if column.kind == "array":
        return moments(array.reshape(len(array), -1))
    if column.kind == "text":
        return word_statistics(array, CHARACTERS, like and like.several)
    if column.kind == "category":
        return Counter(array.tolist())
    if column.kind == "date":  # the moments of the days, and of the times of day
        days = ops.G["days"](array)
        return moments(np.stack([days, days % 1], 1))
    return moments(np.asarray(array, float)[:, None])


def lines(columns: Sequence[Column], facts: Sequence[Any], registers: set[str]) -> tuple[WengertList, str]:
    """(lines, register): the lines from columns to rows of numbers, by these facts, and their register."""
    (steps, line), blocks = writer(registers), []
    days = {c.register: line("days", c.register) for c in columns if c.kind == "date"}
    numeric = [(days.get(c.register, c.register), measured(c.name, Moments(*(x[:1] for x in fact))))
               for c, fact in zip(columns, facts, strict=True) if c.kind in ("number", "date")]
    if numeric:
        stacked = line("stack", 1, *(register for register, _ in numeric))
        blocks += numbers(line, stacked,
                          Moments(*map(np.concatenate, zip(*(fact for _, fact in numeric), strict=True))))
    for column, fact in zip(columns, facts, strict=True):
        if column.kind == "array":
            shape, flat = (-1, len(fact.mean)), column.spelling.isdecimal()
            rows = column.register if flat else line("reshape", column.register, shape)
            blocks += numbers(line, rows, measured(column.name, fact))
        elif column.kind == "category":
            vocabulary = sorted(word for word, _ in fact.most_common(COMMON))
            codes = line("codes", column.register, tuple(vocabulary))
            blocks.append(one_hot_column(line, codes, np.arange(len(vocabulary) + 1)))
        elif column.kind == "date":
            blocks += seasons(line, days[column.register], fact)
        elif column.kind == "text":
            blocks.append(text(line, column.register, fact, alone=len(columns) == 1))
    joined = blocks[0] if len(blocks) == 1 else line("concat", 1, *blocks)
    rows = line("astype", joined, ("float32",))
    return WengertList(steps), rows


def writer(registers: Collection[str]) -> tuple[list, Callable[..., str]]:
    """A list to be written, and the function that writes a line of it and gives its register."""
    steps, names = [], temporaries(registers)

    def line(op: str, *args: Any) -> str:
        steps.append((next(names), op, args))
        return steps[-1][0]
    return steps, line


def numbers(line: Any, stacked: str, fact: Moments) -> list[str]:
    """Numbers (rows, columns) on their scale, 0 where missing or infinite; a last column marks such cells."""
    finite = line("isfinite", stacked)
    scaled = line("divide", line("subtract", stacked, fact.mean), fact.deviation())
    blocks = [line("where", finite, scaled, 0.0)]
    if (gaps := np.flatnonzero(fact.missing)).size:
        blocks.append(line("logical_not", line("take", finite, gaps, 1)))
    return blocks


def seasons(line: Any, days: str, fact: Moments) -> list[str]:
    """The time of day, the day of the week and that of the year as points on circles, (cos, sin), where the
    column has times of day, two weeks, and nearly a year; 0 where missing. Day 0, in 1970, is a Thursday."""
    span = fact.high[0] - fact.low[0]
    # two waves an hour, a week: what falls in the night and at noon, or at the end of the week, is one hump
    periods = ([1.0, 0.5] * bool(fact.high[1] > 0) + [7.0, 3.5] * bool(span >= 14)
               + [365.2425] * bool(span >= 330))
    if not periods:
        return []
    angles = line("mul", line("getitem", days, Ellipsis, None), 2 * np.pi / np.array(periods))
    finite = line("isfinite", angles)
    return [line("where", finite, line(wave, angles), 0.0) for wave in ("cos", "sin")]


def one_hot_column(line: Any, places: str, values: np.ndarray) -> str:
    return line("equal", line("getitem", places, Ellipsis, None), values)


def text(line: Any, register: str, fact: Words, alone: bool) -> str:
    """The characters of short words, one-hot; for longer texts, how often the commonest words occur."""
    vocabulary = sorted(word for word, _ in fact.counts.most_common(COMMON))
    if fact.several:
        return line("log1p", line("words", register, tuple(vocabulary)))
    hot = spelled_out(line, register, fact.longest, "".join(vocabulary))
    return hot if alone else line("reshape", hot, (-1, fact.longest * len(vocabulary)))


def spelled_out(line: Any, register: str, n: int, alphabet: str) -> str:
    """The first n characters of strings, one-hot over the alphabet, (rows, n, characters)."""
    return one_hot_column(line, line("characters", register, n), np.array([ord(c) for c in alphabet]))


def lines_of_titles(register: str, n: int, alphabet: str) -> tuple[WengertList, str]:
    """The lines from titles to (rows, n, characters), one-hot, and their register. A place past a title's
    end, and a character that the alphabet lacks, is all zeros."""
    steps, line = writer({register})
    rows = line("astype", spelled_out(line, register, n, alphabet), ("float32",))
    return WengertList(steps), rows
