"""What the columns of a table hold, and whether there is anything to learn from them."""
from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .columns import Column, as_words, cells, read_as, words_and_places
from .frames import TableError, arrow, cell_kind
from .spellings import are_plain, spelling_of, texts

COMMON = 100      # the most categories of a column, and words of a text, that get a place of their own
FEW = 20          # so many different whole numbers, or fewer, are classes
SAMPLE = 10_000   # the rows that tell a column's kind


def column_kind(chunks: Any, name: str, day_first: bool, decimal: str | None,
                notes: list[str]) -> tuple[str, str]:
    """(kind, spelling) of a column, from its type or the look of its strings. notes: gets the doubts."""
    pc, types, arrow_kind = arrow().compute, arrow().types, cell_kind(chunks.type)
    if arrow_kind == "truth" or types.is_dictionary(chunks.type):
        return "category", ""
    # from 190001 on whole numbers may be dates, moments or identifiers
    if arrow_kind in ("null", "date") or arrow_kind == "number" and not (
            (least := pc.min(chunks).as_py()) and least >= 190001 and least == int(least)):
        return arrow_kind.replace("null", "number"), ""
    if arrow_kind not in ("text", "number"):
        raise TableError(f"the column {name!r} holds {chunks.type}, which xman does not read; leave that column "
                         "out")
    if arrow_kind == "text" and are_plain(chunks.drop_null().slice(0, SAMPLE).unique()):
        return "number", ""
    words = (texts(chunks) if arrow_kind == "text" else as_words(chunks)).drop_null()
    if not len(words):
        return "number", ""
    kind, spelling, doubt = spelling_of(words.slice(0, SAMPLE).unique(), day_first, decimal)
    if doubt and len(words) > SAMPLE:  # all words may tell which part of a date is the day
        kind, spelling, doubt = spelling_of(words.unique(), day_first, decimal)
    if doubt:
        notes.append(f"{name!r}{' ' * (doubt[0] != ':')}{doubt}")
    if kind:
        return kind, spelling
    different = pc.count_distinct(words).as_py()
    return ("category" if different <= max(FEW, len(words) / 2) and different <= 50 * COMMON else "text"), ""


def missing_words(chunks: Any) -> str:
    """'NA' (3), 'None' (1): the words among strings that count as missing cells, though each may be a word as
    good as any; "" if there is none."""
    if cell_kind(chunks.type) != "text":
        return ""
    pc, words = arrow().compute, chunks.cast("string")
    words = pc.utf8_trim_whitespace(words.filter(pc.is_null(texts(words)))).to_pylist()
    counts = Counter(word for word in words if word and any(map(str.isalpha, word)))
    return ", ".join(f"{word!r} ({n:,})" for word, n in counts.most_common(3))


def target_facts(chunks: Any, name: str, task: str | None, day_first: bool, decimal: str | None,
                 notes: list[str]) -> tuple[Column, tuple[str, ...], np.ndarray]:
    """The target as a column, its classes, and its cells. notes: gets the sentence that names the task."""
    kind, spelling = column_kind(chunks, name, day_first, decimal, notes)
    column = Column(name, "y", "category" if kind == "text" else kind, spelling)
    targets = cells(chunks, column, "the table")
    if kind == "date":
        raise TableError(f"the target {name!r} holds dates; --target names the column to predict")
    content = "holds words"
    if kind == "number":
        finite = targets[np.isfinite(targets)]
        values = np.unique(finite[:SAMPLE])
        is_discrete = len(values) <= FEW and bool((finite == np.rint(finite)).all())
        content = f"holds {len(values)} whole numbers" if is_discrete else "holds numbers"
        if task == "classify" or task is None and is_discrete:
            column = column._replace(kind="category", spelling=spelling or "1.5")
        task = task or ("classify" if is_discrete else "regress")
    elif task in ("regress", "count"):
        raise TableError(f"--task {task}: the target {name!r} holds {str(targets[0])!r}, no numbers; --target "
                         "names another")
    words, places = target_cells({name: chunks}, column, "the table")
    targets = words[places]
    if task != "classify" and column.kind == "number":
        if (targets == targets[0]).all():
            raise TableError(f"the target {name!r} is {targets[0]:g} in every row: nothing can be learnt; "
                             "--target names another")
        notes.append(f"the task is to regress, since the target {name!r} is a number; --task classify makes "
                     "classes of them")
        return column, (), targets
    counts = Counter(targets.tolist())
    if len(counts) < 2:
        raise TableError(f"the target {name!r} is {str(targets[0])!r} in every row, so there is nothing to "
                         f"learn; --target names another column{''.join(f'; {note}' for note in notes)}")
    if len(counts) > max(FEW, len(targets) / 2):
        raise TableError(f"the target {name!r} has {len(counts):,} classes in {len(targets):,} rows, too many "
                         "to learn; --target names another column, --task regress fits numbers")
    notes += lookalikes(name, counts)
    notes.append(f"the task is to classify, since the target {name!r} {content}; " + (
        "--task regress fits them as numbers" if kind == "number" else f"{len(counts)} classes"))
    return column, tuple(sorted(counts, key=float if kind == "number" else str)), targets


def lookalikes(name: str, words: Iterable[Any]) -> list[str]:
    """A sentence on the first two words that differ only in capitals, spaces or the form of Unicode."""
    first: dict[str, str] = {}
    for word in map(str, words):
        other = first.setdefault(" ".join(unicodedata.normalize("NFKC", word).casefold().split()), word)
        if other != word:
            same = unicodedata.normalize("NFC", word) == unicodedata.normalize("NFC", other)
            shown = ascii if same else repr  # é may be a letter, or e and an accent, which look the same
            return [f"{name!r} holds {shown(other)} and {shown(word)}, taken for two things: write them "
                    "alike where they are one"]
    return []


def target_cells(table: Any, target: Column, where: str,
                 classes: Sequence[str] = ()) -> tuple[np.ndarray, Any]:
    """(distinct, places): the targets are distinct[places]. classes: the words that numbers stand for.
    TableError where one is missing."""
    chunks = table[target.name]
    if target.kind == "category":
        distinct, places = read_as(words_and_places, chunks, target, where, classes)
    else:
        distinct, places = cells(chunks, target, where), slice(None)
    missing = absent(distinct, target.kind)[places]
    if missing.any():
        infinite, n = " or infinite" * (target.kind == "number"), int(missing.sum())
        raise TableError(f"{where}, row {int(missing.argmax()) + 1}, the target {target.name!r}: it is missing{infinite} "
                         f"here{f' and in {n - 1:,} more' * (n > 1)}; leave such rows out")
    return distinct, places


def summary(array: np.ndarray, kind: str) -> tuple[int, str]:
    """How many cells are missing, and the range of the others, or the commonest of them."""
    present = array[~absent(array, kind)]
    if kind in ("number", "date"):
        ends = [present.min(), present.max()] if len(present) else []
        description = " … ".join(f"{end:g}" if kind == "number" else str(end)[:10] for end in ends)
    else:
        counts = Counter(present[:SAMPLE * 10].tolist()).most_common(3)
        description = ", ".join(f"{word[:24]} ({n})" for word, n in counts)
    return len(array) - len(present), description


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
    sentences, sample = [], slice(0, SAMPLE)
    y_values, y_places = np.unique(y[sample], return_inverse=True)
    for column, array in zip(columns, arrays, strict=True):
        if column.kind == "text" or len(y_values) < 2:
            continue
        values, places = np.unique(array[sample], return_inverse=True)
        pairs = len(np.unique(places * len(y_values) + y_places))
        same = len(values) == len(y_values) == pairs and len(values) < len(places)
        if same or column.kind == "number" and y.dtype.kind == "f" and np.array_equal(array, y):
            sentences.append(f"{column.name!r} tells the target {target!r} row by row: if it is not known when "
                        f"predictions are made, leave it out with --ignore {column.name!r}")
    return sentences
