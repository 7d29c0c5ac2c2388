"""Data sets as arrays: the two that are installed, and files of your own in train, valid and test parts."""
from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import readers
from .readers import DataError, encode, read_csv, read_idx, read_libsvm, read_lines, read_titles, sort_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    Part = tuple[np.ndarray | csr_matrix, np.ndarray]

__all__ = ["DataError", "Dataset", "encode", "load", "read_csv", "read_idx", "read_libsvm", "read_titles"]

INSTALLED = "digits", "names"
PARTS = ".train", ".valid", ".test"


class Dataset(NamedTuple):
    """Rows to train on, to choose by and to judge by: three pairs (X, y) with one numbering of the classes.

    X: float32, (rows, features), of titles (rows, max_len, characters); of a LIBSVM file a CSR matrix.
    y: int64, (rows,), y[i] the place of row i's label in classes; of numbers to be fitted float32, (rows,), they themselves.
    classes: the labels of train, in order, none of numbers.  alphabet: of titles the characters in the order of their columns.
    """

    train: Part
    valid: Part
    test: Part
    classes: tuple[str, ...]
    alphabet: str | None = None


def load(source: str | Path, *, max_len: int | None = None, seed: int = 0, numbers: bool = False) -> Dataset:
    """The data set that source names, as a Dataset.

    source: "digits" (8 x 8 images, pixels / 16), "names" (which language?), or a file:
        x.train, x.valid, x.test or the bare x    the three files are the parts;
        train-images-idx3-ubyte, or .gz           MNIST, pixels / 255, its labels beside it; a t10k pair beside it is
                                                  the test part, and a tenth of the train file the valid part;
        any other                                 the one file is shuffled and cut 70/10/20, each class in train.
        .csv is CSV with the label last, .svm .svmlight .libsvm are LIBSVM (also before .train: x.csv.train); what any
        other file holds is told from its first line, as a rule `title<TAB>label`: one-hot characters, their alphabet
        that of the train part.
    max_len: characters kept of a title, at least 1; None is 20 for "names" and 10 for files, as in the course.
    seed: of the shuffle.  numbers: the labels are no classes, but numbers to be fitted.
    Raises DataError, with file and line, where a file is missing or not right, a label not among train's or no number.
    """
    path = installed(f"{source}.train") if source in INSTALLED else Path(source)
    stem = path.with_suffix("") if path.suffix in PARTS else path
    three = [Path(f"{stem}{part}") for part in PARTS]
    if path.suffix in PARTS or (not path.exists() and any(map(Path.exists, three))):
        paths = three
        parts = [_read(part, numbers) for part in paths]
    elif re.search("idx[0-9]-ubyte", path.name):
        paths, parts = _mnist(path, seed)
    else:
        inputs, labels = _read(path, numbers)
        paths, parts = [path] * 3, split_rows(path, inputs, labels, [7, 8], seed)

    inputs = [x for x, _ in parts]
    alphabet = None
    if inputs[0].dtype == object:  # titles
        alphabet = "".join(sorted(set("".join(inputs[0]))))
        if max_len is None:
            max_len = 20 if source == "names" else 10
        inputs = [encode(x, max_len, alphabet) for x in inputs]
    elif source == "digits":
        inputs = [x / np.float32(16) for x in inputs]
    else:
        inputs = _same_width(paths, inputs)
    classes = () if numbers else sort_labels(set(parts[0][1]))
    y = [_targets(path, labels, classes) for path, (_, labels) in zip(paths, parts, strict=True)]
    return Dataset(*zip(inputs, y, strict=True), tuple(classes), alphabet)


def installed(name: str) -> Path:
    """The path of a file that is installed as part of xman.datasets, or lies in data/ of a checkout."""
    try:
        path = Path(str(files("xman.datasets") / name))
    except (ImportError, NotADirectoryError):  # not installed, or installed as a link to the checkout
        path = Path()
    return path if path.is_file() else Path(__file__).parents[2] / "data" / name


def _read(path: Path, numbers: bool) -> tuple[np.ndarray | csr_matrix, np.ndarray]:
    """The inputs of one file, an array, a CSR matrix or titles as an array of objects; labels, words or numbers."""
    suffix = path.with_suffix("").suffix if path.suffix in PARTS else path.suffix
    if suffix == ".csv":
        kind = read_csv
    elif suffix in (".svm", ".svmlight", ".libsvm"):
        kind = read_libsvm
    else:
        first = next(line for line in read_lines(path) if line.strip())
        if re.match(r"\s*[-+.0-9]\S*(\s+\d+:\S+)+\s*(#|$)", first):
            kind = read_libsvm
        else:
            kind = read_csv if "," in first and "\t" not in first else read_titles
    inputs, labels = kind(path)
    labels = np.array(labels, object)
    return np.array(inputs, object) if kind is read_titles else inputs, _targets(path, labels, ()) if numbers else labels


def _mnist(path: Path, seed: int) -> tuple[list[Path], list[tuple[np.ndarray, np.ndarray]]]:
    """The files and the parts of a pair of IDX files and, where it is there, the t10k pair beside it."""
    inputs, labels = images(path)
    other = path.with_name(path.name.replace("train", "t10k"))
    if other == path or not other.exists():
        return [path] * 3, split_rows(path, inputs, labels, [7, 8], seed)
    train, valid = split_rows(path, inputs, labels, [9], seed)
    return [path, path, other], [train, valid, images(other)]


def images(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images of an IDX file, flat, (rows, pixels) float32 in [0, 1], and the labels of the file beside it."""
    beside = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
    if beside == path or "idx3" not in path.name:
        raise DataError(f"{path}: wanted the file of the images, ...-images-idx3-ubyte, found another name.")
    images, labels = read_idx(path), read_idx(beside)
    if labels.ndim != 1 or len(images) != len(labels):
        raise DataError(f"{beside}, byte 4: found shape {labels.shape}, wanted {len(images)} labels as in {path.name}.")
    return images.reshape(len(images), -1) / np.float32(255), labels.astype(str).astype(object)


def split_rows(path: Path, inputs: np.ndarray | csr_matrix, labels: np.ndarray, tenths: list[int], seed: int) -> list:
    """Shuffled inputs and labels cut at the given tenths of the rows; the first piece has a row of every class."""
    rows = len(labels)
    order = np.random.default_rng(seed).permutation(rows)
    first = np.unique(labels[order].astype(str) if labels.dtype == object else labels[:0], return_index=True)[1]
    order = np.concatenate([order[first], np.delete(order, first)])
    at = [rows * tenth // 10 for tenth in tenths]
    if rows < 10 or len(first) > at[0]:
        found = f"found {rows} rows of {len(first)} classes"
        raise DataError(f"{path}: {found}, too few to be split; wanted 10 or more, or a file for each part.")
    return [(inputs[piece], labels[piece]) for piece in np.split(order, at)]


def _same_width(paths: list[Path], inputs: list) -> list:
    """The inputs with as many columns each: sparse ones are widened, dense ones have to agree."""
    width, most = inputs[0].shape[1], max(x.shape[1] for x in inputs)
    for path, x in zip(paths, inputs, strict=True):
        if not isinstance(x, np.ndarray):
            x.resize(len(x.indptr) - 1, most)
        elif x.shape[1] != width:
            raise DataError(f"{path}, row 1: found {x.shape[1]} features, wanted {width} as in {paths[0]}.")
    return inputs


def _targets(path: Path, labels: np.ndarray, classes: Sequence[str]) -> np.ndarray:
    """The place of each label among the classes, int64; without classes the number that it is, float32."""
    if labels.dtype != object:
        return labels  # numbers already
    place = {label: k for k, label in enumerate(classes)} if classes else {
        label: x for label in labels if (x := readers._number(label)) is not None and abs(x) <= readers.LARGEST}
    for row, label in enumerate(labels):
        if label not in place:
            idx = re.search("idx[0-9]-ubyte", path.name)
            # what is no row, a header or a comment, stands at the top
            where = f"label {row + 1}" if idx else f"line {len(read_lines(path)) - len(labels) + row + 1}"
            wrong = "which never occurs in train." if classes else "wanted a number."
            raise DataError(f"{path}, {where}: found label {label!r}, {wrong}")
    return np.array([place[label] for label in labels], np.int64 if classes else np.float32)
