"""Streams of tables: folders of Parquet, Feather and CSV files, here or on S3, read by pyarrow's datasets."""
from __future__ import annotations

import fnmatch
import functools
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ops

from ..errors import XManError, extra, refuse_unknown
from ..tables import Prepared, TableError, prepared
from ..tables.columns import cells
from ..tables.formats import file_kind, readable
from ..tables.frames import first_line
from ..tables.kinds import target_cells
from ..tables.preparing import lines, statistics_of
from ..tables.reading import HEAD, Form, formed, misread, options
from ..tables.statistics import measured, moments
from .draws import drawn_by_number
from .mpi import dealt
from .streams import ALL, MEMORY, InTurn, Selection, Stream, of_arrays, of_batches

CSV_BLOCK = 2 ** 20  # bytes that are read at a time
LONGEST = 2 ** 26    # the most bytes of a row
GROUPS = 64          # groups of blocks whose statistics are added up, so that the order is always the same
AT_ONCE = 2 ** 13    # the rows that become numbers at a time, through arrays of float64


def stream(source: Any, y: Any = None, *, memory: float = MEMORY, prepared: Prepared | None = None,
           **settings: Any) -> Stream:
    """A Stream of rows for training, evaluation or prediction, which need not fit into memory.

    source: an array, such as a memory map, with y its targets; a list of batches (X, y), or a function that
        gives an iterable of them; or tables: a file, a folder or a pattern, also s3://bucket/*.parquet.
    y: the targets of an array, one for each row.
    memory: megabytes that rows may take at a time.
    prepared: for tables, how their columns become rows of numbers, as a stream of training rows has it (None:
        it is found in one pass, which workers share).
    settings: for tables, target, ignore, task, day_first and decimal, as for `tables.prepared`.

    XManError for a source that cannot be read, and for blocks that are too large.
    """
    if not isinstance(memory, (int, float, np.number)) or not 0 < memory < np.inf:
        raise XManError(f"memory is a number of megabytes, more than 0, not {memory!r}")
    are_tables = isinstance(source, (str, Path))
    if are_tables and y is not None:
        raise XManError("a table has its targets in a column: say which by target=…, and leave y out")
    accepted = ("memory", *("prepared", "target", "ignore", "task", "day_first", "decimal") * are_tables)
    refuse_unknown(settings, accepted, "this stream takes no {!r}")
    if are_tables:
        return stream_of_tables(str(source), memory, prepared, settings)
    return of_batches(source, memory) if y is None else of_arrays(source, y, memory)


def tenths(source: str, memory: float, seed: int, **settings: Any) -> list[Stream]:
    """Three streams, of 7, 1 and 2 tenths of the rows of tables, to train on, to choose by and to judge by;
    the first decides how columns become numbers."""
    first_stream = stream_of_tables(source, memory, None, settings, (0, 7, seed))
    return [first_stream.drawn(seed, *ends) for ends in ((0, 7), (7, 8), (8, 10))]


def stream_of_tables(source: str, memory: float, preparation: Prepared | None, settings: dict[str, Any],
                     draw: tuple = ALL) -> Stream:
    pa = extra("pyarrow", "tables", "a table")

    with readable(source):
        kind, filesystem, (*paths,) = places_of(source)
        if kind == "csv":
            read, sizes, columns, where = blocks_of_csv(filesystem, paths)
        else:
            dataset = extra("pyarrow.dataset", "tables", "a table")
            schemas, pieces, sizes, where = {}, [], [], []
            for file in dataset.dataset(paths, format=kind, filesystem=filesystem).get_fragments():
                with readable(file.path):
                    schemas[file.path] = file.physical_schema
                    for piece in file.split_by_row_group() if kind == "parquet" else [file]:
                        (group,) = piece.row_groups if kind == "parquet" else (None,)
                        sizes.append(group.num_rows if group else piece.count_rows())
                        where.append(f"{file.path}, row group {group.id + 1}" if group else file.path)
                        pieces.append(piece)
            schema = pa.schema([])
            for path in sorted(schemas, key=lambda path: -len(schemas[path])):
                with readable(path):
                    schema = pa.unify_schemas([schema, schemas[path]], promote_options="permissive")
            columns = [len(schemas[piece.path]) for piece in pieces]

            def read(k: int) -> Any:
                with readable(where[k]):
                    return pieces[k].to_table(schema, batch_readahead=1, fragment_readahead=1)
    if not sum(sizes):
        raise TableError(f"{source} has no rows")
    preparation = preparation or learnt(read, sizes, columns, where, settings, draw)

    def numbers(k: int) -> tuple[tuple[int, int], Callable]:
        block = read(k)

        def rows_at(selection: Selection) -> tuple[np.ndarray, np.ndarray]:
            rows = block[selection] if isinstance(selection, slice) else block.take(selection)
            chunks = [rows.slice(start, AT_ONCE) for start in range(0, rows.num_rows, AT_ONCE)]
            X = np.concatenate([preparation.features(chunk, where[k]) for chunk in chunks])
            return X, preparation.targets(rows, where[k])

        return (block.num_rows,) * 2, rows_at

    def stamps() -> dict[str, Any]:
        with readable(source):
            return places_of(source)[2]

    name, away = f"{source} {sizes}", "://" in source
    return Stream(numbers, sizes, memory, kind == "csv", name, preparation, away, where, stamps=stamps)


def places_of(source: str) -> tuple[str, Any, dict[str, Any]]:
    """(the kind of the files, their file system, {path there: size and time of the last change})."""
    fs = extra("pyarrow.fs", "tables", "a table")
    if "://" in source:
        place, query, options = source.partition("?")
        folder, _, pattern = place.rpartition("/") if "*" in place.rpartition("/")[2] else (place, "", "*")
        filesystem, path = fs.FileSystem.from_uri(folder + query + options)
    else:
        filesystem, path, pattern = fs.LocalFileSystem(), source, "*"
        if "*" in Path(source).name:
            path, pattern = str(Path(source).parent), Path(source).name
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise TableError(f"{source}: there is no such file or folder")
    files = [info]
    if info.type == fs.FileType.Directory:
        files = [f for f in filesystem.get_file_info(fs.FileSelector(path)) if f.type == fs.FileType.File]
        files = [f for f in files if f.base_name[0] not in "._" and fnmatch.fnmatch(f.base_name, pattern)]
        files = [f for f in files if file_kind(Path(f.base_name))]
    stamps = {f.path: (f.size, f.mtime_ns) for f in sorted(files, key=lambda f: f.path)}
    kinds = " and ".join(sorted({file_kind(Path(path)) for path in stamps}))
    if kinds not in ("parquet", "feather", "csv"):
        raise TableError(f"{source} holds {kinds or 'no table'}; a stream is all .parquet, .feather or .csv")
    return kinds, filesystem, stamps


def blocks_of_csv(filesystem: Any,
                  paths: list[str]) -> tuple[Callable[[int], Any], list[int], list[int], list[str]]:
    """(a function that reads a block of CSV files by its number; for each block its rows, the columns of its
    file, and its place in words).

    Blocks end where lines end, and each worker counts the rows of its share of them.
    """
    pa, csv = extra("pyarrow", "tables", "a table"), extra("pyarrow.csv", "tables", "a table")
    titles: tuple = ()
    blocks: list[tuple[Form, str, int, int, int]] = []
    for path in paths:
        for number, (place, text) in enumerate(texts(filesystem, path)):
            if number == 0:
                look = formed(path, text[:HEAD], None, titles)
                if look.encoding == "utf16":
                    raise TableError(f"{path} is written in UTF-16; a stream is of files in UTF-8")
                titles = titles or (look.names,) * 2
            blocks.append((look, path, number, place, len(text)))
    where = [f"{path}, from byte {place} on" if number else path for _, path, number, place, _ in blocks]
    looks = sorted((block[0] for block in blocks), key=lambda look: len(look.names), reverse=True)
    names = dict.fromkeys(name for look in looks for name in look.names)
    opened = functools.lru_cache(1)(filesystem.open_input_file)
    packed = [path for path in paths if path.endswith(".gz")]
    unpacked = {path: InTurn(functools.partial(texts, filesystem, path)) for path in packed}

    def read(k: int) -> Any:
        look, path, number, place, size = blocks[k]
        with readable(where[k]):
            text = unpacked[path](number)[1] if path in unpacked else opened(path).read_at(size, place)
            form = look._replace(header=look.header * (number == 0), quoted=b'"' in text)
            settings = options(form, 2 * size + 1)
            settings[0].use_threads, settings[2].include_columns = False, [*names]
            settings[2].include_missing_columns = True
            settings[2].column_types = dict.fromkeys(names, "string")
            try:
                return csv.read_csv(pa.BufferReader(text), *settings)
            except pa.ArrowInvalid as error:
                raise misread(where[k], look, first_line(error)) from None

    sizes = [*dealt(lambda k: read(k).num_rows, len(blocks))]
    return read, sizes, [len(look.names) for look, *_ in blocks], where


def texts(filesystem: Any, path: str) -> Iterator[tuple[int, bytes]]:
    """(place, text) of rows of a file, about CSV_BLOCK bytes at a time."""
    place, unread = 0, b""
    with filesystem.open_input_stream(path) as file:  # it unpacks .gz
        while chunk := file.read(CSV_BLOCK):
            unread += chunk
            if end := end_of_rows(unread):
                yield place, unread[:end]
                place, unread = place + end, unread[end:]
            elif len(unread) > LONGEST:
                limit = f"within {LONGEST / 1e6:.0f} MB, from byte {place} on"
                raise TableError(f"{path}: no row ends {limit}; a quote may be open")
    if unread:
        yield place, unread


def end_of_rows(text: bytes) -> int:
    """The end of the last whole row in the text, where quotes may hold line breaks; 0 without one."""
    line, end, quotes = b"\n" if b"\n" in text else b"\r", len(text), text.count(b'"')
    while (last := text.rfind(line, 0, end)) >= 0:
        quotes -= text.count(b'"', last, end)
        if quotes % 2 == 0:
            return last + 1
        end = last
    return 0


def learnt(read: Callable, sizes: list[int], columns: list[int], where: list[str], settings: dict,
           draw: tuple) -> Prepared:
    """The Prepared of these tables: one table tells the kinds of columns, all tables their statistics.

    Each worker reads its share of the tables, and their statistics are added up.
    """
    starts = np.cumsum([0, *sizes])

    def training(k: int) -> Any:
        """The training rows of a table."""
        return read(k) if draw == ALL else read(k).filter(drawn_by_number(starts[k], sizes[k], *draw))

    pa = extra("pyarrow", "tables", "a table")
    sample = training(max(range(len(sizes)), key=lambda k: (columns[k], sizes[k])))
    target = settings.get("target") or next(
        (name for name in reversed(sample.column_names) if name not in settings.get("ignore", ())), "")
    # rows may be sorted by their target: then some other row tells that there is another
    for k in range(len(sizes)) if target in sample.column_names and len(sample[target].unique()) == 1 else ():
        table, only = training(k), sample[target][0].as_py()
        unlike = table.filter(np.array([x not in (only, None) for x in table[target].to_pylist()], bool))
        if unlike.num_rows:
            sample = pa.concat_tables([sample, unlike.slice(0, 1)], promote_options="permissive")
            break
    preparation = prepared(sample, **settings)
    likes = [(c, statistics_of(c, cells(sample[c.name], c, "the table"))) for c in preparation.columns]

    def found_in(k: int) -> tuple[list[Any], Any]:
        """The statistics of each column and of the target in one table."""
        table = training(k)
        y, _ = target_cells(table, preparation.target, where[k])
        facts = [statistics_of(c, cells(table[c.name], c, where[k]), like) for c, like in likes]
        return facts, {*y.tolist()} if preparation.classes else moments(y[:, None])

    def merged(a: tuple[list[Any], Any], b: tuple[list[Any], Any]) -> tuple[list[Any], Any]:
        return [*map(operator.add, a[0], b[0])], a[1] | b[1] if preparation.classes else a[1] + b[1]

    # the order of addition does not depend on the number of workers
    groups = np.array_split(np.arange(len(sizes)), min(len(sizes), GROUPS))
    merge = functools.partial(functools.reduce, merged)
    facts, goal = merge(dealt(lambda k: merge(map(found_in, groups[k].tolist())), len(groups)))
    steps, output = lines(preparation.columns, facts, {*ops.G, *(c.register for c in preparation.columns)})
    preparation = preparation._replace(steps=steps, output=output)
    preparation = preparation._replace(shape=preparation.features(sample.slice(0, 1)).shape[1:])
    if preparation.classes:
        key: Any = float if all(label.lstrip("-").replace(".", "", 1).isdecimal() for label in goal) else str
        return preparation._replace(classes=tuple(sorted(goal, key=key)))
    if settings.get("task") == "count":
        return preparation
    return preparation._replace(scale=(float(goal.mean[0]), float(measured(target, goal).deviation()[0])))
