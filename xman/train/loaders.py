"""Data sets: two that are installed, and the user's files, whole or in train, valid and test parts."""
from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import nearest, refuse_unknown
from ..interpreters import eval
from ..tables import Column, Prepared, TableError, inputs, prepared, read
from ..tables.columns import float_of
from ..tables.formats import content_kind, file_kind
from ..tables.frames import rows_named
from ..tables.kinds import FEW
from ..tables.preparing import lines_of_titles, scale_of
from ..tables.readers import PIXEL, READ, DataError, installed, read_libsvm, read_lines, targets
from ..tables.splits import numbers_in, order_by_date, split_rows, with_target
from ..wengert import WengertList

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    Split = tuple[np.ndarray | csr_matrix, np.ndarray]

INSTALLED = {"digits": "digits", "names": "titles"}
SPLITS = ".train", ".valid", ".test"
COLUMNS = "target", "ignore", "day_first", "decimal", "category"


class Dataset(NamedTuple):
    """Rows to train on, to choose a model by, and to judge it by: train, valid, test, which are pairs (X, y).

    X: float32, (rows, features), of titles (rows, max_len, characters); of a LIBSVM file a CSR matrix.
    y: int64 (rows,), the place of each row's label in classes; for numbers float32 (rows, 1), on one scale
    unless they are counts. classes: the labels of train, in order; none for numbers. alphabet: for titles,
    the characters in the order of their columns. prepared: how the source became these rows, for `fit`.
    names: of all columns of a table. cells: those of its test part, by register. first: the index of the
    first column of a LIBSVM file. weights: of the rows of train, if a column has them.
    """
    train: Split
    valid: Split
    test: Split
    classes: tuple[str, ...]
    alphabet: str | None
    prepared: Prepared
    names: tuple[str, ...] = ()
    cells: dict[str, Any] = {}
    first: int = 1
    weights: np.ndarray | None = None

    def __repr__(self) -> str:
        rows = ", ".join(f"{word} {getattr(self, word)[0].shape[0]:,}" for word in ("train", "valid", "test"))
        return f"<Dataset of rows {self.train[0].shape[1:]}: {rows}; {len(self.classes) or 'no'} classes>"


def load(source: str | Path, *, max_len: int | None = None, seed: int = 0, task: str | None = None,
         header: bool | None = None, zero_based: bool | None = None, test_fraction: float = 0.2,
         validation_fraction: float = 0.1, ordered_by: str | None = None,
         weights: str | None = None, **columns: Any) -> Dataset:
    """The data set that source names, as a Dataset.

    source: "digits" (8 x 8 images, pixels / 16), "names" (which language?), or a file:
        x.train, x.valid, x.test or the bare x    the three files are the parts;
        train-images-idx3-ubyte, or .gz           MNIST, pixels / 255, its labels beside it; a t10k pair is
                                                  the test part, and a tenth of the train file the valid part;
        any other                                 is shuffled and cut, each class in the same shares.
    Tables are read as `xman.tables.read` does, CSV, Parquet and folders of them; .svm .svmlight .libsvm are
    LIBSVM (each also before .train: x.csv.train); the first line of any other file tells its kind, as a rule
    `title<TAB>label`: one-hot characters, with the alphabet of the train part. max_len: the characters kept
    of a title, at least 1 (None: 20 for "names" and 10 for files, as in the course). seed: of the shuffle.
    task: "classify", "regress" or "count" (None: the labels decide; few whole numbers are classes). header:
    of a table, as for `tables.read`. zero_based: whether the indices of LIBSVM begin at 0, and not at 1
    (None: if one of them is 0). test_fraction, validation_fraction: the shares of a single file, which may
    be 0. ordered_by: a column of dates or numbers; the last of its order are the test part, those before them
    the valid part. weights: a column with the weights of the training rows. columns: target, ignore,
    day_first, decimal and category, as for `tables.prepared`. Rows of a table without a target are left out,
    and a remark counts them. DataError or TableError, with file and line, where one is missing or wrong.
    """
    refuse_unknown(columns, [*load.__kwdefaults__, *COLUMNS],
                   "load takes no {!r} (for numbers=True write task='regress')")
    path = installed(f"{source}.train") if source in INSTALLED else Path(source)
    stem = path.with_suffix("") if path.suffix in SPLITS else path
    paths = [Path(f"{stem}{suffix}") for suffix in SPLITS]
    if path.suffix not in SPLITS and (path.exists() or not any(map(Path.exists, paths))):
        stem, paths = path, [path]
    kind = INSTALLED.get(str(source)) or kind_of_file(stem, paths[0])
    for word, share in ("test", test_fraction), ("validation", validation_fraction):
        if not 0 <= share < 1 or test_fraction + validation_fraction >= 1:
            raise DataError(f"--{word}-fraction {share:g}: each is at least 0, and both together below 1.")
    shares = [1 - test_fraction - validation_fraction, 1 - test_fraction]
    if kind == "table":
        return of_tables(paths, seed, header, shares, ordered_by, weights, task=task, **columns)
    of_tables_alone = {**columns, "header": header is not None, "ordered_by": ordered_by, "weights": weights}
    if words := [word for word, value in of_tables_alone.items() if value]:
        raise DataError(f"--{words[0].replace('_', '-')} is for tables, such as CSV and Parquet files; {source} "
                        "is none.")
    test_images = path.with_name(path.name.replace("train", "t10k"))
    if kind == "idx" and test_images != path and test_images.exists():
        paths = [path, test_images]
    if kind == "titles" and max_len is None:
        max_len = 20 if source == "names" else 10
    ends = {1: shares, 2: [1 - validation_fraction], 3: []}[len(paths)]
    return of_examples(kind, paths, ends, seed, task, None if zero_based is None else 1 - zero_based, max_len)


def kind_of_file(stem: Path, path: Path) -> str:
    """The kind of a file by its name, else by its first line: "table", "libsvm", "idx" or "titles"."""
    if not path.exists():
        if str(stem) in INSTALLED:
            raise DataError(f"{stem} is a data set to train on, and here a file of rows is wanted.")
        if near := nearest(str(stem), INSTALLED):
            raise DataError(f"there is no data set {str(stem)!r}{near} There are {' and '.join(INSTALLED)}.")
        raise DataError(f"{path}: cannot be read: No such file or directory.")
    name = stem.name.lower()
    if re.search("idx[0-9]-ubyte", name):
        return "idx"
    if name.endswith((".svm", ".svmlight", ".libsvm")):
        return "libsvm"
    if path.is_dir() or not name.endswith((".txt", ".data")) and file_kind(stem) or content_kind(path):
        return "table"
    first = next(line for line in read_lines(path) if line.strip())
    if re.match(r"\s*[-+.0-9]\S*(\s+\d+:\S+)+\s*(#|$)", first):
        return "libsvm"
    return "table" if "," in first and "\t" not in first else "titles"


def of_examples(kind: str, paths: list[Path], ends: list[float], seed: int, task: str | None,
            first: int | None, max_len: int | None) -> Dataset:
    """The Dataset of rows that are no table: of images, of titles, or of a LIBSVM file.

    ends: where the first file is cut, in shares of its rows; one or two if there are not three files. first:
    the index of the first column of LIBSVM, None if it is not known.
    """
    splits, first = file_rows(kind, paths, first)
    if numbers := to_fit(splits[0][1], task):
        splits = [(x, targets(path, labels)) for path, (x, labels) in zip(paths, splits, strict=True)]
    if ends:
        cut = split_rows(paths[0], splits[0][1], ends, seed)
        splits = [tuple(x[rows] for x in splits[0]) for rows in cut] + splits[1:]
        paths = [paths[0], paths[0], paths[-1]]

    X, alphabet, steps, output = [x for x, _ in splits], None, WengertList(), "X"
    if kind == "titles":
        if max_len < 1:
            raise DataError(f"max_len is {max_len}, wanted at least 1.")
        alphabet = "".join(sorted(set("".join(X[0]))))
        column = Column("title", "title", "text")
        steps, output = lines_of_titles("title", max_len, alphabet)
        X = [eval(steps, {"title": x})[output] for x in X]
    else:
        column = Column("X", "X", "array", "x".join(map(str, X[0].shape[1:])))
        if kind in PIXEL:
            lines = [("z1", "divide", ("X", PIXEL[kind])), ("z2", "astype", ("z1", ("float32",)))]
            steps, output = WengertList(lines), "z2"
    labels_of_train = () if numbers else {*splits[0][1]}
    in_order = str if any(float_of(label) is None for label in labels_of_train) else float
    classes = tuple(sorted(labels_of_train, key=in_order))
    y = [labels if numbers else targets(path, labels, classes)
         for path, (_, labels) in zip(paths, splits, strict=True)]
    scale = scale_of("label", y[0], classes, task)
    y = [((x[:, None] - scale[0]) / scale[1]).astype(np.float32) for x in y] if numbers else y
    goal = Column("label", "y", "category" if classes else "number")
    preparation = Prepared((column,), steps, output, goal, classes, scale, [], [], X[0].shape[1:])
    cells = {"X": X[2]} if kind in PIXEL else {}
    names = ("title", "label") if kind == "titles" else ()
    return Dataset(*zip(X, y, strict=True), classes, alphabet, preparation, names, cells, first)


def of_tables(paths: list[Path], seed: int, header: bool | None, shares: list[float], ordered_by: str | None,
              weights: str | None, **options: Any) -> Dataset:
    """The Dataset of one table, which is cut at these shares of the rows, or of three tables."""
    tables, cut = [read(paths[0], header)], []
    options["ignore"] = [*options.get("ignore", ()), *[weights] * (weights is not None)]
    if len(paths) == 1:
        def training(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
            day_first = bool(options.get("day_first"))
            with rows_named(rows):
                order = ordered_by and order_by_date(tables[0].take(rows), ordered_by, day_first)
            cut.extend(rows[part] for part in split_rows(paths[0], y, shares, seed, order))
            return cut[0]

        data = prepared(tables[0], rows=training, **options)
        tables, paths = tables * 3, paths * 3
    else:
        data = prepared(tables[0], **options)
        names = [[*(column.name for column in data.columns), data.target.name], tables[0].column_names]
        tables += [read(path, header, names) for path in paths[1:]]
    pairs = []
    for k, (path, table) in enumerate(zip(paths, tables, strict=True)):
        if data.target.name not in table.column_names:
            raise TableError(f"{path} lacks the column {data.target.name!r}, which is to be predicted")
        notes = data.remarks if k else []  # the first file's are there
        rows = cut[k] if cut else with_target(table[data.target.name], data.target.name, notes)
        table = table.take(rows)
        with rows_named(rows):
            pairs.append((data.features(table, str(path)), data.targets(table, str(path))))
            if not k and weights:
                weights = numbers_in(table, weights)
    names, test_cells = tuple(tables[0].column_names), inputs(data.columns, table, steps=data.steps)
    return Dataset(*pairs, data.classes, None, data, names, test_cells, weights=weights)


def file_rows(kind: str, paths: list[Path], first: int | None) -> tuple[list[tuple[Any, np.ndarray]], int]:
    """(rows, labels) of each file, the labels as strings, and the index of the first column."""
    if kind == "libsvm":
        readings = [read_libsvm(path, None, first) for path in paths]
        first = min(reading[2] for reading in readings)  # one file alone may lack the index 0
        readings = [reading if reading[2] == first else read_libsvm(path, None, first)
                    for path, reading in zip(paths, readings, strict=True)]
        width = max(X.shape[1] for X, _, _ in readings)
        for X, _, _ in readings:
            X.resize(X.shape[0], width)
        return [(X, np.array(labels, object)) for X, labels, _ in readings], first
    return [READ[kind](path) for path in paths], 1


def to_fit(labels: np.ndarray, task: str | None) -> bool:
    """Whether labels are numbers to fit: as `task` says, or if they are many or not whole."""
    if task:
        return task != "classify"
    numbers = [float_of(label) for label in {*labels}]
    return None not in numbers and not (len(numbers) <= FEW and all(x == int(x) for x in numbers))
