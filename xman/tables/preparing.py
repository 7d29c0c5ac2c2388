"""From columns to numbers by lines of the list: what is missing, categories, dates, text, and the scale of numbers."""
from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.indexing import split_words

from ..errors import extra, nearest
from ..interpreters import eval
from ..notation import WORDS
from ..wengert import WengertList, temporaries
from .columns import Column, cells, inputs, spelled
from .frames import TableError, of_frame

COMMON = 100      # categories of a column, and words of a text, that get a place of their own
CHARACTERS = 20   # of a text that are read
FEW = 20          # whole numbers, up to which they are classes
SAMPLE = 10_000   # rows by which a kind is told


class Prepared(NamedTuple):
    """The lines that make rows of numbers of a table, by what its training rows hold.

    columns: those that the lines read. steps: the lines. output: the register of the rows, float32 (rows, features), or
    (rows, characters, alphabet) of a single text. target: the column that is to be predicted, and classes: its labels, none
    of numbers. scale: (mean, standard deviation) of the numbers. found: what each column holds, (name, kind, missing, what),
    and said: what is worth a sentence. shape: that of a row of numbers.
    """
    columns: tuple[Column, ...]
    steps: WengertList
    output: str
    target: Column
    classes: tuple[str, ...]
    scale: tuple[float, float]
    found: list[tuple[str, str, int, str]]
    said: list[str]
    shape: tuple[int, ...]

    def features(self, table: Any) -> np.ndarray:
        """The rows of numbers, (rows, features), of a table or a frame."""
        return eval(self.steps, inputs(self.columns, table))[self.output]

    def targets(self, table: Any, where: str = "the table") -> np.ndarray:
        """The classes by their place, int64 (rows,), or the numbers on their scale, float32 (rows, 1)."""
        table = table if hasattr(table, "column_names") else of_frame(table)
        found = target_cells(table, self.target, where)
        if not self.classes:
            return ((found[:, None] - self.scale[0]) / self.scale[1]).astype(np.float32)
        places = ops.G["codes"](found, self.classes)
        if (unknown := np.flatnonzero(places == len(self.classes))).size:
            raise TableError(f"{where}, row {unknown[0] + 1}, column {self.target.name!r}: found {str(found[unknown[0]])!r}, "
                             f"which no training row has; the classes are {', '.join(self.classes[:12])}")
        return places


def prepared(table: Any, target: str | None = None, ignore: Collection[str] = (), task: str | None = None,
             rows: np.ndarray | None = None, day_first: bool = False) -> Prepared:
    """What makes rows of numbers and targets of a table's columns.

    table: of pyarrow, as `read` gives it. target: the column to predict (None: the last). ignore: columns to leave out. task:
    "classify" or "regress" (None: by the target: words, truth values and few whole numbers are classes). rows: the training
    rows, by number; means, deviations, categories and alphabets are theirs (None: all). day_first: 03/04/2024 is in April. TableError for what cannot be learnt from.
    """
    table = table if hasattr(table, "column_names") else of_frame(table)
    names = list(table.column_names)
    for word, name in [("target", target)] * (target is not None) + [("ignore", name) for name in ignore]:
        if name not in names:
            raise TableError(f"--{word} {name}: there is no such column{nearest(name, names)}; there are {', '.join(names[:20])}")
    if not table.num_rows:
        raise TableError("the table has a header and no rows; wanted rows below it")
    ignored = {*ignore, *([""] if "" in names[:1] and "" != target else [])}
    target = next((name for name in reversed(names) if name not in ignored), "") if target is None else target
    features = [name for name in names if name not in ignored and name != target]
    if not features:
        raise TableError(f"the table has no column beside {target!r}; wanted at least one to predict it from")
    part = table if rows is None else table.take(rows)
    said = ["the first column has no name and is taken for row numbers: left out"] * ("" in ignored - {*ignore})
    goal, classes, scale = told_target(part[target], target, task, day_first, said)
    columns, arrays, found = [], [], []
    taken = {*ops.G, *keyword.kwlist, *WORDS}
    for name in features:
        chunks = part[name]
        kind, spelling = kind_of(chunks, name, day_first)
        column = Column(name, register_of(name, taken), kind, spelling)
        array = cells(chunks, column, "the table")
        found.append((name, kind, *summary(array, kind)))
        if spelling.startswith("%d/") or spelling.startswith("%m/"):
            said.append(f"{name!r}: dates are read as {spelling}; --day-first or --no-day-first says which")
        if why := useless(array, kind):
            said.append(f"{name!r} {why}: left out")
            continue
        columns.append(column)
        arrays.append(array)
    if not columns:
        raise TableError(f"no column tells rows apart: {'; '.join(said)}")
    said += leaks(columns, arrays, target_cells(part, goal, "the table"), target)
    steps, output = lines(columns, arrays, taken)
    shape = eval(steps, {c.register: x[:1] for c, x in zip(columns, arrays, strict=True)})[output].shape[1:]
    found.append((target, "target", *summary(target_cells(part, goal, "the table"), goal.kind)))
    return Prepared(tuple(columns), steps, output, goal, classes, scale, found, said, shape)


# ---- what columns hold ------------------------------------------------------------------------------------------------

def kind_of(chunks: Any, name: str, day_first: bool) -> tuple[str, str]:
    """(kind, spelling) of a column, by its type and, of strings, by what they look like."""
    pa, pc = extra("pyarrow", "tables", "a table"), extra("pyarrow.compute", "tables", "a table")
    types, of = pa.types, chunks.type.value_type if pa.types.is_dictionary(chunks.type) else chunks.type
    if types.is_boolean(of) or types.is_dictionary(chunks.type):
        return "category", ""
    if types.is_integer(of) or types.is_floating(of) or types.is_decimal(of) or types.is_null(of):
        return "number", ""
    if types.is_date(of) or types.is_timestamp(of):
        return "date", ""
    if not (types.is_string(of) or types.is_large_string(of) or types.is_string_view(of) or types.is_time(of)):
        raise TableError(f"the column {name!r} holds {of}, which xman does not read; leave it out with --ignore {name}")
    words = pc.utf8_trim_whitespace(chunks.cast("string").drop_null())
    some = [word for word in words.slice(0, SAMPLE).to_pylist() if word]
    kind, spelling = spelled(some, day_first)
    if kind == "date" and "/" in spelling and len(words) > SAMPLE:  # all of them decide which is the day
        kind, spelling = spelled(words.to_pylist(), day_first)
    if kind:
        return kind, spelling
    different = pc.count_distinct(words).as_py()
    return ("category" if different <= max(FEW, len(words) / 2) and different <= 50 * COMMON else "text"), ""


def told_target(chunks: Any, name: str, task: str | None, day_first: bool, said: list[str]) -> tuple[Column, tuple, tuple]:
    """The target as a column, its classes, and the scale of its numbers; `said` gets the sentence that says which task it is."""
    kind, spelling = kind_of(chunks, name, day_first)
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
    elif task == "regress":
        raise TableError(f"--task regress: the target {name!r} holds {str(found[0])!r}, no numbers; --target names another")
    found = target_cells({name: chunks}, column, "the table")
    if task == "regress":
        if np.ptp(found) == 0:
            raise TableError(f"the target {name!r} is {found[0]:g} in every row: nothing can be learnt; --target names another")
        said.append(f"the task is to regress, since the target {name!r} is a number; --task classify makes classes of them")
        return column, (), (float(found.mean()), float(found.std()))
    counts = Counter(found.tolist())
    if len(counts) < 2:
        raise TableError(f"the target {name!r} is {str(found[0])!r} in every row, one class alone: there is nothing to learn; "
                         "--target names another column")
    if len(counts) > max(FEW, len(found) / 2):
        raise TableError(f"the target {name!r} has {len(counts):,} classes in {len(found):,} rows, too many to learn; "
                         "--target names another column, --task regress fits numbers")
    said.append(f"the task is to classify, since the target {name!r}: {why}; " + (
        "--task regress fits them as numbers" if kind == "number" else f"{len(counts)} classes"))
    return column, tuple(sorted(counts, key=lambda c: (float(c), c) if kind == "number" else c)), (0.0, 1.0)


def target_cells(table: Any, target: Column, where: str) -> np.ndarray:
    """The targets: numbers, or labels as strings, of which none is missing."""
    chunks = table[target.name]
    if target.kind == "category" and number_like(chunks):
        numbers = cells(chunks, target._replace(kind="number"), where)
        missing = ~np.isfinite(numbers)
        words, place = np.unique(np.where(missing, 0.0, numbers), return_inverse=True)
        found = np.array([str(int(x)) if x == int(x) else repr(x) for x in words.tolist()], object)[place]
    else:
        found = cells(chunks, target, where)
        missing = ~np.isfinite(found) if target.kind == "number" else found == ""
    if missing.any():
        raise TableError(f"{where}: the target {target.name!r} is missing in {int(missing.sum()):,} rows, the first of them row "
                         f"{int(missing.argmax()) + 1}; leave those rows out")
    return found


def number_like(chunks: Any) -> bool:
    types = extra("pyarrow", "tables", "a table").types
    return types.is_integer(chunks.type) or types.is_floating(chunks.type) or types.is_decimal(chunks.type)


def summary(array: np.ndarray, kind: str) -> tuple[int, str]:
    """How many cells are missing, and the range of the others or the commonest of them."""
    if kind in ("number", "date"):
        known = array[np.isfinite(array) if kind == "number" else ~np.isnat(array)]
        ends = [] if not len(known) else [known.min(), known.max()]
        form = "{:g}".format if kind == "number" else lambda date: str(date)[:10]
        return len(array) - len(known), " … ".join(map(form, ends))
    known = array[array != ""]
    counts = Counter(known[:SAMPLE * 10].tolist()).most_common(3)
    return len(array) - len(known), ", ".join(f"{word[:24]} ({n})" for word, n in counts)


def useless(array: np.ndarray, kind: str) -> str:
    """Why a column tells no rows apart, or nothing where it does."""
    missing = ~np.isfinite(array) if kind == "number" else np.isnat(array) if kind == "date" else array == ""
    if missing.all():
        return "is missing in every training row"
    if not missing.any() and bool((array == array[0]).all()):
        return f"is {str(array[0])[:40]} in every training row"
    return ""


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
            said.append(f"{column.name!r} tells the target {target!r} row by row: if it is not known when predictions are made, "
                        f"leave it out with --ignore {column.name!r}")
    return said


# ---- lines --------------------------------------------------------------------------------------------------------------

def register_of(name: str, taken: set[str]) -> str:
    """A register's name for a column, like the column's own and not taken; it then is."""
    plain = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_")[:60] or "column"
    plain = plain if plain[0].isalpha() else f"c{plain}"
    while plain in taken:
        plain += "_"
    taken.add(plain)
    return plain


def lines(columns: Sequence[Column], arrays: Sequence[np.ndarray], taken: set[str]) -> tuple[WengertList, str]:
    """The lines from columns to rows of numbers, the constants of these arrays in them, and the register of the rows."""
    steps, parts, names = [], [], temporaries(taken)

    def line(op: str, *args: Any) -> str:
        steps.append((next(names), op, args))
        return steps[-1][0]

    numeric = [(c, np.asarray(ops.G["days"](x) if c.kind == "date" else x, float)) for c, x in zip(columns, arrays, strict=True)
               if c.kind in ("number", "date")]
    if numeric:
        parts += numbers(line, [line("days", c.register) if c.kind == "date" else c.register for c, _ in numeric],
                         np.stack([x for _, x in numeric], 1))
    for column, array in zip(columns, arrays, strict=True):
        if column.kind == "category":
            most = sorted(word for word, _ in Counter(array.tolist()).most_common(COMMON))
            place = line("codes", column.register, tuple(most))
            parts.append(one_hot(line, place, np.arange(len(most) + 1)))
        elif column.kind == "text":
            parts.append(text(line, column.register, array, alone=len(columns) == 1))
    joined = parts[0] if len(parts) == 1 else line("concat", 1, *parts)
    rows = line("astype", joined, ("float32",))
    return WengertList(steps), rows


def numbers(line: Any, registers: list[str], X: np.ndarray) -> list[str]:
    """Numbers on the scale of X, 0 where one is missing or infinite; and where that happens in X, a column that tells."""
    known = np.isfinite(X)
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, X, 0.0).sum(0) / count
    deviation = np.sqrt((np.where(known, X - mean, 0.0) ** 2).sum(0) / count)
    deviation[~(deviation > 1e-12 * np.abs(mean))] = 1.0
    stacked = line("stack", 1, *registers)
    there = line("isfinite", stacked)
    scaled = line("divide", line("subtract", stacked, mean), deviation)
    parts = [line("where", there, scaled, 0.0)]
    if (gaps := np.flatnonzero(~known.all(0))).size:
        parts.append(line("logical_not", line("take", there, gaps, 1)))
    return parts


def one_hot(line: Any, places: str, values: np.ndarray) -> str:
    """A column for each of the values, 1 where the place is that."""
    return line("equal", line("getitem", places, Ellipsis, None), values)


def text(line: Any, register: str, array: np.ndarray, alone: bool) -> str:
    """The characters of short words, one-hot, each with its place; of longer texts how often the commonest words occur."""
    some = array[:SAMPLE].tolist()
    if sum(" " in cell for cell in some) > len(some) / 2:
        counts = Counter(word for cell in array.tolist() for word in {*split_words(cell)})
        return line("log1p", line("words", register, tuple(sorted(word for word, _ in counts.most_common(COMMON)))))
    n = min(CHARACTERS, max(map(len, array.tolist())))
    counts = Counter("".join(array.tolist()))
    alphabet = np.array(sorted(ord(c) for c, _ in counts.most_common(COMMON)))
    hot = one_hot(line, line("characters", register, n), alphabet)
    return hot if alone else line("reshape", hot, (-1, n * len(alphabet)))


