"""Files to tables of pyarrow: CSV as people write it, and the formats of `formats`."""
from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .formats import (
    READERS,
    NameLists,
    Strange,
    content_kind,
    distinct,
    file_kind,
    from_json,
    readable,
    unpacked,
)
from .frames import TableError, arrow, first_line, of_frame, usual
from .spellings import NULLS

if TYPE_CHECKING:
    import pyarrow

HEAD = 2 ** 18  # the first bytes of a CSV file, which tell how it is written
DELIMITERS = "\t;|,"  # the rarest inside of a cell first


class Form(NamedTuple):
    """How a CSV file is written. names: of its columns. header: the lines above the rows."""
    delimiter: str
    encoding: str
    names: list[str]
    header: int
    quoted: bool


def read(source: Any, header: bool | None = None, titles: NameLists = ()) -> pyarrow.Table:
    """The table that source holds.

    source: the path of a CSV or TSV file (the delimiter, the encoding and the header are recognised), of a
    file of JSON, JSON lines, Parquet, Feather, ORC, SQLite or Excel, which its first bytes tell, also CSV and
    JSON packed as .gz, .bz2, .xz, .zst or .zip; or of a folder of such files; or a frame of pandas or polars,
    a table of pyarrow, a dict of columns, a list of dicts. header: whether the first line of a CSV file names
    the columns (None: its look decides). titles: lists of names, of the columns that are wanted, and of all
    columns of the file that they came from: a line with all names of the first list is a header; a file
    without a header takes its names from the list of its length; an object of JSON that lacks a name of the
    first list has no name that is in no list. TableError says the file, the line, and what to do.
    """
    pa = arrow()
    if not isinstance(source, (str, Path)):
        return of_frame(source)
    tables = [table for file in files_of(Path(source)) for table in batches(file, header, titles)]
    return pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]


def files_of(path: Path) -> list[Path]:
    """The file itself, or the files of a folder that hold a table, sorted by name."""
    if not path.is_dir():
        return [path]
    files = [x for x in sorted(path.iterdir()) if file_kind(x) and not x.name.startswith((".", "_"))]
    if not files:
        raise TableError(f"{path}: the folder holds no table; wanted files such as part-1.csv or "
                         "part-1.parquet")
    return files


def batches(path: str | Path, header: bool | None = None, titles: NameLists = (),
            rows: int | None = None, strange: Strange | None = None) -> Iterator[pyarrow.Table]:
    """The table of the file at path in pieces of about `rows` rows, one after another (None: all at once).

    header, titles: as for `read`. strange: gets, by the names of the first of the titles, how many objects of
    JSON have no such key. The cells of a CSV file are strings, as they stand in it. Raises TableError as
    `read` does.
    """
    pa, path = arrow(), Path(path)
    with readable(path):
        kind = content_kind(path)
        pieces = (READERS[kind](path, rows) if kind in READERS else of_csv(path, header, titles, rows)
                  if kind != "json" else from_json(path, titles, strange))
        for piece in pieces:
            yield usual(pa.Table.from_batches([piece]) if isinstance(piece, pa.RecordBatch) else piece)


# ---- CSV ---------------------------------------------------------------------------------------------------

def of_csv(path: Path, header: bool | None, name_lists: NameLists, rows: int | None) -> Iterator[Any]:
    """The pieces of a CSV file. It is read again where it has a quoted newline or another encoding."""
    csv, size = arrow().csv, path.stat().st_size
    with unpacked(path) as file:
        form = formed(path, file.read(HEAD), header, name_lists)
    block = 2 ** 22
    while True:
        read_options = options(form, block)
        is_begun = False
        try:
            with unpacked(path) as file:
                if rows is None:
                    yield csv.read_csv(file, *read_options)
                else:
                    for piece in csv.open_csv(file, *read_options):
                        is_begun = True
                        yield piece
            return
        except (arrow().ArrowInvalid, UnicodeDecodeError) as error:
            words = first_line(error)
            if "UTF8" in words and form.encoding == "utf8" and not is_begun:
                form = form._replace(encoding="cp1252")
                continue
            if is_begun or "straddling" not in words and form.quoted:
                raise reading_again(path, form, read_options, words) from None
            form, block = form._replace(quoted=True), min(max(block, size * 4), 2 ** 30)


def options(form: Form, block: int = 2 ** 20) -> tuple[Any, Any, Any]:
    """pyarrow's options to read, parse and convert a file of this form, in blocks of so many bytes."""
    csv, types = arrow().csv, dict.fromkeys(form.names, "string")
    place = {"skip_rows": form.header, "encoding": form.encoding, "block_size": block}
    return (csv.ReadOptions(column_names=form.names, **place),
            csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=form.quoted),
            # which words count as missing is said later, with the column
            csv.ConvertOptions(null_values=[""], strings_can_be_null=True, column_types=types))


def of_text(text: bytes, form: Form) -> pyarrow.Table:
    """The table of a few lines without a header, in the form of what came before them."""
    for encoding in "utf8", "cp1252":
        try:
            plain = io.BytesIO(text.decode(encoding).encode())
            form = form._replace(header=0, encoding="utf8", quoted=b'"' in text)
            return arrow().csv.read_csv(plain, *options(form))
        except UnicodeDecodeError:
            continue
        except arrow().ArrowInvalid as error:
            raise misread("standard input", form, first_line(error)) from None
    raise TableError("standard input: found bytes that are neither UTF-8 nor Windows-1252; wanted text")


def is_cut(text: bytes, delimiters: str) -> bool:
    """Whether the text ends within a cell in quotes, which then has the end of a line in it."""
    for delimiter in delimiters if b'"' in text else ():
        try:
            file = io.StringIO(text.decode("latin-1"), newline="")
            list(csv.reader(file, delimiter=delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end" in str(error):
                return True
    return False


def reading_again(path: Path, form: Form, read_options: tuple, words: str) -> TableError:
    """The error for a file that cannot be read, with the row, which pyarrow knows when it uses one thread."""
    read_options[0].use_threads = False
    try:
        with unpacked(path) as file:
            arrow().csv.read_csv(file, *read_options)
    except arrow().ArrowInvalid as error:
        words = first_line(error)
    return misread(path, form, words)


def misread(path: str | Path, form: Form, words: str) -> TableError:
    """The error for what pyarrow says in its words."""
    row = re.search("Row #([0-9]+): ", words)
    where = f"{path}, row {row[1]}" if row else f"{path}"
    if match := re.search("Expected ([0-9]+) columns, got ([0-9]+): (.*)", words):
        expected, count, text = match.groups()
        cells = f"{count} cell{'s' * (count != '1')}"
        return TableError(f"{where}: found {cells}, wanted {expected} as in the first line: {text[:60]!r}; put "
                          f"a cell that holds {form.delimiter!r} in quotes, or mend the row")
    if "Could not skip" in words:
        words = "the table has a header and no rows; wanted rows below it"
    return TableError(f"{path}: {words}")


def formed(path: str | Path, head: bytes, header: bool | None = None, name_lists: NameLists = ()) -> Form:
    """The Form of a CSV file, from its first bytes. TableError where it is not one."""
    encoding = "utf16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf8"
    if encoding == "utf8":
        try:
            head.decode("utf8")
        except UnicodeDecodeError as error:
            encoding = "utf8" if error.start > len(head) - 4 else "cp1252"
    text = head.decode("utf-8-sig" if encoding == "utf8" else encoding, "replace")
    text = re.sub("\r\n?", "\n", text)
    if (nul := text.find("\0")) >= 0:
        line = text[:nul].count("\n") + 1
        raise TableError(f"{path}, line {line}: found a NUL byte, so this is no text; wanted CSV, or a "
                         "file whose name ends with .parquet or .feather")
    is_all, file = len(head) < HEAD, text
    agreement = lambda text: max(agreeing(records(text, d, is_all)) for d in DELIMITERS)
    above = re.match(r"(?:\s*(?:sep=.|#.*)\n)+(?=\s*\S)", text)  # a line of spreadsheets, and comments
    if above and ("sep=" in above[0][:9] or agreement(text[above.end():]) > agreement(text)):
        text = text[above.end():]
    if not text.strip():
        raise TableError(f"{path}: the file is empty; wanted a header and rows")
    first, _, below = text.lstrip("\n").partition("\n")
    if below.strip() and agreement(text)[0] == 0 and agreement(below)[0] > 0.9:
        raise TableError(f"{path}: the first line is {first[:40]!r}, of fewer cells than those below it; remove what "
                         "stands above the names of the columns, or complete them")
    delimiter = max(DELIMITERS, key=lambda d: agreeing(records(text, d, is_all)))
    rows = records(text, delimiter, is_all)
    names = [cell.strip() for cell in rows[0]]
    if header is None:
        columns = {*name_lists[0]} if name_lists else set()
        header = (bool(columns) and columns <= {*names}
                  or is_header(names, rows[1:], bool(columns) and columns.isdisjoint(names)))
    if not header:
        numbered = [f"column{k}" for k in range(1, len(names) + 1)]
        names = next((list(row) for row in name_lists if len(row) == len(names)), numbered)
    names = distinct(path, names)
    # pyarrow reads on below the header's own lines, of which a quoted name can take several
    above = file[:len(file) - len(text.lstrip("\n"))].count("\n")
    lines = above + 1 + sum(name.count("\n") for name in rows[0]) if header else 0
    return Form(delimiter, encoding, names, lines, '"' in text)


def records(text: str, delimiter: str, is_complete: bool, limit: int = 100) -> list[list[str]]:
    """The first records of the text that are not blank, without a last one that is cut off."""
    csv.field_size_limit(2 ** 31 - 1)
    rows = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        if row:
            rows.append(row)
        if len(rows) > limit:
            break
    else:
        rows = rows if is_complete or len(rows) < 2 else rows[:-1]
    return rows


def agreeing(rows: list[list[str]]) -> tuple[float, bool]:
    cells = len(rows[0])
    return sum(len(row) == cells > 1 for row in rows) / len(rows), cells > 1


def is_header(first: list[str], rows: list[list[str]], strange: bool = False) -> bool:
    """Whether the first record names the columns: 0, 1, 2, … as pandas does, or words above other things.
    strange: none of them is wanted, so that they have to be words, and one of them above numbers."""
    digits = [int(cell) for cell in first if cell.isdecimal() and len(cell) < 9]
    if not strange and digits == [*range(len(digits))] and len(digits) > 2 - (first[0] == ""):
        return True
    columns = [[row[k].strip() for row in rows if k < len(row) and row[k].strip() not in NULLS]
               for k in range(len(first))]
    words = [cell not in NULLS and not writes_number(cell) for cell in first]
    each = list(zip(first, words, columns, strict=True))
    if any(word and column and all(map(writes_number, column)) for _, word, column in each):
        return not strange or all(words)
    return (not strange and any(words)
            and all((word or not cell) and cell not in column for cell, word, column in each))


def writes_number(text: str) -> bool:
    number = r"\s*[-+]?(\d[\d.,]*|[.,]\d+|inf|nan)([eE][-+]?\d+)?%?\s*"
    return re.fullmatch(number, text, re.IGNORECASE) is not None
