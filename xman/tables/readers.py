"""Reads data sets that are not tables: MNIST IDX, LIBSVM and titles; errors say where a file is wrong."""
from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from ..errors import XManError
from .columns import float_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LARGEST = float(np.finfo(np.float32).max)
PIXEL = {"digits": 16.0, "idx": 255.0}  # the greatest value of a pixel
DEFLATE = 1032  # no gzip file expands by more than this factor


class DataError(XManError):
    """A data file that cannot be read; its sentence has the file and the line (or the byte)."""


def misfit(place: Any, content: Any, expected: str) -> DataError:
    """The error of all files: the place, what was found there, and what was wanted."""
    return DataError(f"{place}: found {content}, wanted {expected}.")


def read_idx(path: str | Path) -> np.ndarray:
    """The array of an IDX file (MNIST's format) of unsigned bytes: its own shape, uint8.

    path: a file, plain or gzip. Its header is 0, 0, 8, the number of axes, then each length in 4 bytes, big
    end first. DataError for another header, and, before memory is taken, for another length of the file.
    """
    try:
        size = Path(path).stat().st_size
        with open(path, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else open(path, "rb") as file:
            magic = file.read(4)
            axes = magic[3] if len(magic) == 4 else 0
            if magic[:3] != b"\0\0\x08" or not 1 <= axes <= 4:
                raise misfit(f"{path}, byte 0", magic.hex(" ") or "nothing",
                             "the magic 00 00 08 and 1 to 4 axes")
            lengths = file.read(4 * axes)
            if len(lengths) < 4 * axes:
                raise DataError(f"{path}, byte {4 + len(lengths)}: the header ends, wanted {axes} lengths of "
                                "4 bytes.")
            shape = [int.from_bytes(lengths[i : i + 4], "big") for i in range(0, 4 * axes, 4)]
            entries = math.prod(shape)
            limit = size * DEFLATE if zipped else size - file.tell()
            body = file.read(entries + 1) if entries <= limit else None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if body is None or len(body) != entries or not entries:
        at_most = f"{'at most ' * zipped}{limit}"
        length = at_most if body is None else "more" if len(body) > entries else len(body)
        sizes = " x ".join(map(str, shape))
        raise misfit(f"{path}, byte {4 + 4 * axes}", f"{length} bytes", f"{sizes} = {entries}, at least 1")
    return np.frombuffer(body, np.uint8).reshape(shape)


def read_libsvm(path: str | Path, features: int | None = None,
                first: int | None = None) -> tuple[csr_matrix, list[str], int]:
    """(matrix, labels, first) of a LIBSVM file: CSR (rows, features) float32, strings, the first index.

    path: the file. A line is `label index:value index:value ...`, with rising indices; the text after a # is
    a comment; the label "+1" reads "1". features: the number of columns (None: as the largest index says).
    first: the index of the first column, 0 or 1 (None: 0 where there is an index 0, else 1). DataError where
    a label or a pair is misplaced, an index is wrong, or a value is not a number.
    """
    from scipy.sparse import csr_matrix  # a quarter of a second to import
    lines = read_lines(path)
    comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if comments == len(lines):
        raise misfit(f"{path}, line {comments}", "only comments", "`label index:value ...`")
    largest, least = 2**31 - 1 if features is None else features - (first == 0), first or 0
    labels, values, indices, starts = [], [], [], [0]
    for number, line in enumerate(lines[comments:], comments + 1):
        place = f"{path}, line {number}"
        words = line.partition("#")[0].split() or [""]
        if (label := float_of(words[0])) is None or not math.isfinite(label):
            raise misfit(place, repr(words[0]), "a finite number, the label, first")
        labels.append(str(int(label)) if label.is_integer() else words[0])
        last = least - 1
        for word in words[1:]:
            if not (pair := re.fullmatch("([0-9]+):(.+)", word)):
                raise misfit(place, f"{word!r} after the label", f"index:value with an index from {least} on")
            index = int(pair[1]) if len(pair[1]) < 20 else 2**63  # int() refuses thousands of digits
            value = float_of(pair[2])
            if index > largest:
                raise misfit(place, f"index {pair[1][:20]}", f"at most {largest}")
            if index <= last:
                raise misfit(place, f"index {index}", f"one above {last}, rising from {least} on")
            if value is None or not abs(value) <= LARGEST:
                raise misfit(place, repr(word), "a finite number as the value")
            indices.append(index)
            values.append(value)
            last = index
        starts.append(len(indices))
    first = int(min(indices, default=1) > 0) if first is None else first
    shape = len(labels), max(indices, default=first - 1) + 1 - first if features is None else features
    places = np.array(indices, np.int32) - np.int32(first)
    return csr_matrix((np.array(values, np.float32), places, starts), shape), labels, first


def read_titles(path: str | Path) -> tuple[list[str], list[str]]:
    """(titles, labels) of a text file, the titles percent-decoded.

    path: a file in UTF-8. A line is `title<TAB>label`; the title may be percent-encoded (`Caf%C3%A9`); its
    underscores stay. DataError where a line has not one TAB, a part is empty, or an escape is bad.
    """
    titles, labels = [], []
    for number, line in enumerate(read_lines(path), 1):
        place, (title, tab, label) = f"{path}, line {number}", line.partition("\t")
        if not (title and tab and label) or "\t" in label:
            raise misfit(place, _short(line), "a title, one TAB and a label")
        if bad := re.search("%(?![0-9A-Fa-f]{2})", title):
            raise misfit(place, _short(title[bad.start():bad.start() + 3]), "two hexadecimal digits after %")
        try:
            titles.append(unquote(title, errors="strict"))
        except UnicodeDecodeError:
            raise misfit(place, _short(title), "escapes that are UTF-8") from None
        labels.append(label)
    return titles, labels


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file, without blank ones at its end. DataError if none is left."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig").rstrip("\r\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line, byte = error.object[:error.start].count(b"\n") + 1, error.object[error.start]
        raise misfit(f"{path}, line {line}", f"byte 0x{byte:02x}", "UTF-8 text") from None
    if not text.strip():
        raise DataError(f"{path}: the file is empty, wanted at least one line.")
    return text.replace("\r\n", "\n").split("\n")  # not splitlines(), which cuts titles at rarer characters


def _short(text: str) -> str:
    """text in quotes, cut after 40 characters, so that a message stays a line."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def installed(name: str) -> Path:
    """The path of a file that is installed as part of xman.datasets, or lies in data/ of a checkout."""
    try:
        path = Path(str(files("xman.datasets") / name))
    except (ImportError, NotADirectoryError):  # not installed, or installed as a link to the checkout
        path = Path()
    return path if path.is_file() else Path(__file__).parents[2] / "data" / name


def targets(path: Path, labels: np.ndarray, classes: Sequence[str] = ()) -> np.ndarray:
    """The place of each label among the classes, int64; without classes the labels as numbers, float32."""
    place = {label: k for k, label in enumerate(classes)} if classes else {
        label: x for label in labels if (x := float_of(label)) is not None and abs(x) <= LARGEST}
    for row, label in enumerate(labels):
        if label not in place:
            idx = re.search("idx[0-9]-ubyte", path.name)
            # lines that are not rows, comments, are at the top
            where = f"label {row + 1}" if idx else f"line {len(read_lines(path)) - len(labels) + row + 1}"
            wrong = "which never occurs in train." if classes else "wanted a number."
            raise DataError(f"{path}, {where}: found label {label!r}, {wrong}")
    return np.array([place[label] for label in labels], np.int64 if classes else np.float32)


def digits(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images that are installed, (rows, 64) in [0, 1], and their digits."""
    table = np.loadtxt(path, np.float32, delimiter=",", skiprows=1)
    return table[:, :-1] / np.float32(PIXEL["digits"]), table[:, -1].astype(int).astype(str).astype(object)


def images(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images of an IDX file, (rows, pixels) float32 in [0, 1], and the labels of the file beside it."""
    beside = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
    if beside == path or "idx3" not in path.name:
        raise misfit(path, "another name", "that of the images, ...-images-idx3-ubyte")
    images, labels = read_idx(path), read_idx(beside)
    if labels.ndim != 1 or len(images) != len(labels):
        raise misfit(f"{beside}, byte 4", f"shape {labels.shape}", f"{len(images)} labels as in {path.name}")
    return images.reshape(len(images), -1) / np.float32(PIXEL["idx"]), labels.astype(str).astype(object)


READ = {"digits": digits, "idx": images,
        "titles": lambda path: tuple(np.array(strings, object) for strings in read_titles(path))}
