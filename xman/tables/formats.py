"""The formats of files that hold a table, and how each is read. The first bytes of a file tell its format."""
from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ..errors import extra, nearest
from .frames import TableError, arrow, first_line, of_frame

NameLists = Sequence[Sequence[str]]
Strange = dict[str, Counter]  # by column: cells unlike those of training, and how often they occur
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather", b"ORC": "orc", b"SQLite format 3\0": "sqlite"}
PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open,
          b"\x28\xb5\x2f\xfd": lambda path: arrow().input_stream(str(path), compression="zstd")}
# what is left of a number, a word or an escape of JSON that is cut off
FRAGMENT = r"-|\.|[eE][-+]?|u?[0-9a-fA-F]{0,3}|tr?u?|fa?l?s?|nu?l?"
OTHERS = dict(line.split("=") for line in "\x89HDF=HDF5|\xd0\xcf\x11\xe0=an old Excel file|\x93NUMPY=an array of NumPy|"
              "\x80\x04\x95=a pickle|\x80\x05\x95=a pickle|<stata_dta=a file of Stata|$FL2=a file of SPSS|%PDF=a PDF|"
              "<!DOCTYPE=a page of HTML|<html=a page of HTML|<?xml=XML|RIFF=sound or pictures|\x89PNG=a picture".split("|"))
# the endings of each kind, the first of which names it
ENDINGS = "parquet pq|feather arrow ipc|csv tsv tab txt data|json jsonl ndjson|orc|sqlite sqlite3 db|xlsx"


def file_kind(path: Path) -> str:
    """The kind of a file by its name: "parquet", "feather", "csv" and so on, or "" for others."""
    endings = [x for x in path.name.lower().split(".")[1:] if x not in ("gz", "bz2", "xz", "zst", "zip")]
    return next((kind[0] for kind in map(str.split, ENDINGS.split("|")) if {*endings[-1:]} & {*kind}), "")


def content_kind(path: Path) -> str:
    """The kind of a file by its first bytes, "csv" for a packed text, or "". TableError names others."""
    with open(path, "rb") as file:
        head = file.read(64)
    if zipfile.is_zipfile(path) and "xl/workbook.xml" in zipfile.ZipFile(path).namelist():
        return "xlsx"
    if kind := next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), ""):
        return kind
    start = head.decode("latin-1").lower()
    if other := next((name for magic, name in OTHERS.items() if start.startswith(magic.lower())), ""):
        raise TableError(f"{path}: this is {other}, which xman does not read; write it as CSV or Parquet")
    with unpacked(path) as file:
        text = text_of(file.read(2 ** 16)).strip()
    is_packed = head.startswith((b"PK\x03\x04", *PACKED))
    is_json = begins_json(text) or file_kind(path) == "json" and text.startswith(("[", "{"))
    return "json" if is_json else "csv" * is_packed


def text_of(text: bytes) -> str:
    """Text in the encoding that its first bytes tell, or UTF-8."""
    is_utf16 = text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return text.decode("utf-16" if is_utf16 else "utf-8-sig", "replace")


def unpacked(path: Path) -> Any:
    """The file, open for its bytes, which gzip, bzip2, xz, zstd or zip may have packed."""
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"PK\x03\x04"):
        archive = zipfile.ZipFile(path)
        names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
        if len(names) != 1:
            raise TableError(f"{path}: the archive holds {', '.join(names[:9])}; unpack it, and name one file or the "
                             "folder")
        return archive.open(names[0])
    opener = next((opener for magic, opener in PACKED.items() if head.startswith(magic)), None)
    return opener(path) if opener else arrow().OSFile(str(path))


@contextmanager
def readable(source: str | Path) -> Iterator[None]:
    """A context in which a table is read: errors of the system and of libraries become a TableError."""
    try:
        yield
    except (OSError, EOFError, UnicodeDecodeError, arrow().ArrowException, sqlite3.Error, zipfile.BadZipFile,
            zlib.error, lzma.LZMAError) as error:
        raise TableError(f"{source}: cannot be read: "
                         f"{getattr(error, 'strerror', None) or first_line(error)}") from None


def parquet(path: Path, rows: int | None) -> Iterator[Any]:
    file = extra("pyarrow.parquet", "tables", "a table").ParquetFile(path)
    yield from file.iter_batches(rows) if rows else [file.read()]


def feather(path: Path, rows: int | None) -> Iterator[Any]:
    pa = arrow()
    with pa.memory_map(str(path)) as file:
        if not rows:
            yield pa.feather.read_table(file)
            return
        reader = pa.ipc.open_file(file)
        yield from map(reader.get_batch, range(reader.num_record_batches))


def orc(path: Path, rows: int | None) -> Iterator[Any]:
    yield extra("pyarrow.orc", "tables", "a table").ORCFile(str(path)).read()


def sqlite(path: Path, rows: int | None) -> Iterator[Any]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        names = [name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if len(names) != 1:
            raise TableError(f"{path}: the base holds the tables {', '.join(names[:9]) or 'none'}; wanted one: write "
                             "the others elsewhere")
        cursor = base.execute('SELECT * FROM "' + names[0].replace('"', '""') + '"')
        yield of_rows(path, [name for name, *_ in cursor.description], cursor.fetchall())


def xlsx(path: Path, rows: int | None) -> Iterator[Any]:
    load_workbook = extra("openpyxl", "xlsx", "a table of Excel").load_workbook
    with open(path, "rb") as file:  # of a path openpyxl wants an ending
        book = load_workbook(file, read_only=True, data_only=True)
        sheets = {sheet.title: [row for row in sheet.values if any(cell is not None for cell in row)]
                  for sheet in book.worksheets}
    full = [title for title, lines in sheets.items() if lines]
    if len(full) != 1:
        raise TableError(f"{path}: the sheets {', '.join(full[:9]) or 'none'} hold cells; wanted one sheet: keep the "
                         "one that is meant")
    names, *lines = sheets[full[0]]
    if len(names) > 1 == sum(name is not None for name in names):
        title = next(str(name) for name in names if name is not None)
        raise TableError(f"{path}: the first row is {title[:40]!r} alone; remove what stands above the names "
                         "of the columns")
    yield of_rows(path, ["" if name is None else str(name) for name in names], lines)


def of_rows(path: Path, names: list[str], lines: list) -> Any:
    names = distinct(path, names)
    return of_frame(dict(zip(names, zip(*lines, strict=True) if lines else [[]] * len(names), strict=True)))


def distinct(path: str | Path, names: Sequence[str]) -> list[str]:
    """The names of columns, with one for each that has none but the first, which may be an index of pandas.
    TableError where two are alike."""
    if repeated := [name for name, n in Counter(names).items() if name and n > 1]:
        raise TableError(f"{path}: two columns are called {repeated[0]!r}; rename one of them")
    return [name or f"column{k}" * (k > 1) for k, name in enumerate(names, 1)]


def from_json(path: Path, titles: NameLists = (), strange: Strange | None = None) -> Iterator[Any]:
    with unpacked(path) as file:
        yield table_of_json(file.read(), path, titles, strange)


def begins_json(text: str) -> bool:
    """Whether a text is JSON by its first line; [1, 2) is an interval in a table of another kind."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(text.partition("\n")[0]), (dict, list))
    return re.match(r'\[\s*[\[{]|\{\s*"|[\[{]\s*$', text) is not None


def loaded(text: str, path: str | Path, above: int) -> Any:
    """What a text of JSON says. above: the lines above it in the file. TableError says where a fault is."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated") or re.fullmatch(FRAGMENT, text[error.pos:].strip()):
            last = above + text.rstrip().count("\n") + 1
            raise TableError(f"{path}: the JSON ends within line {last}, before it is complete; the file may be "
                             "cut off") from None
        raise TableError(f"{path}, line {above + error.lineno}, column {error.colno}: this is no JSON: "
                         f"{error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path}: this is no JSON that can be read: {error}") from None


def refuse_misspelt(rows: Sequence, titles: NameLists, where: str | Path,
                    strange: Strange | None = None) -> None:
    """TableError for an object of JSON with a key that stands nowhere beside the wanted one that it lacks.

    titles: as for `read`. strange: gets, as None, how many objects have no key of a wanted name."""
    keys = [{*map(str, row)} for row in rows]
    names = {*chain(*titles)}.union(*(row for row in keys if row >= {*titles[0]}))
    for number, row in enumerate(keys, 1):
        absent = [name for name in titles[0] if name not in row]
        if absent and (strangers := row - names):
            raise TableError(f"{where}, row {number}: found the key {min(strangers)!r}, which is no column, and none "
                             f"for {absent[0]!r}{nearest(min(strangers), absent)}")
        for name in absent if strange is not None else ():
            strange.setdefault(name, Counter())[None] += 1


def table_of_json(content: bytes, path: str | Path, titles: NameLists = (),
                  strange: Strange | None = None) -> Any:
    """The table of a list of objects or of lists, of an object of columns, or of an object or a list a line;
    also inside of an object, beside what is no table. TableError names the path. titles, strange: as for
    `batches`."""
    text = text_of(content)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        lines = [(k, line) for k, line in enumerate(text.split("\n")) if line.strip()]
        try:
            json.loads(lines[0][1])
        except (ValueError, RecursionError):  # the first line is no JSON alone, so the text is one document
            lines = [(0, text)]
        document = [loaded(line, path, k) for k, line in lines]
    if isinstance(document, dict):
        tables = [x for x in document.values() if isinstance(x, list) and x and type(x[0]) in (dict, list)]
        if len(tables) == 1:
            names = document.get("columns")
            document = [names, *tables[0]] if names and type(tables[0][0]) is list else tables[0]
    if document in ([], {}):
        raise TableError(f"{path}: this is {document} in JSON, without a row; wanted a list of objects")
    if isinstance(document, list) and all(isinstance(row, list) for row in document):
        names, *lines = document
        if not all(isinstance(name, str) for name in names) or {*map(len, lines)} - {len(names)}:
            raise TableError(f"{path}: found lists of cells; wanted objects, or as the first list the names of "
                             "columns")
        return of_rows(path, names, lines)
    if isinstance(document, dict):
        is_columns = all(isinstance(values, (list, dict)) for values in document.values())
        cells = lambda values: [*values.values()] if isinstance(values, dict) else values
        document = {name: cells(values) for name, values in document.items()} if is_columns else [document]
    if isinstance(document, dict):
        counts = {len(values): name for name, values in document.items()}
        if len(counts) > 1:
            (few, one), (many, another), *_ = counts.items()
            raise TableError(f"{path}: the column {one!r} has {few:,} cells and {another!r} has {many:,}; wanted "
                             "equally many")
        return of_frame(document)
    if strays := [k for k, row in enumerate(document) if not isinstance(row, dict)]:
        raise TableError(f"{path}, row {strays[0] + 1}: found {json.dumps(document[strays[0]])[:40]}, wanted an object, "
                         "as a row of JSON is")
    if titles:
        refuse_misspelt(document, titles, path, strange)
    return of_frame(document)


READERS = dict(parquet=parquet, feather=feather, orc=orc, sqlite=sqlite, xlsx=xlsx)
