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

from ..errors import XManError, extra
from ..interpreters import eval
from ..tables import Prepared, TableError, prepared
from ..tables.columns import cells
from ..tables.frames import first_line
from ..tables.kinds import target_cells
from ..tables.preparing import known, lines
from ..tables.reading import HEAD, NULLS, file_kind, formed
from ..tables.statistics import moments
from .mpi import workers
from .streams import ALL, MEMORY, InTurn, Some, Stream, drawn_by_number, of_arrays, of_batches

CSV_BLOCK = 2 ** 20  # bytes
AT_ONCE = 2 ** 13    # rows of which numbers are made, through arrays of float64


def stream(source: Any, y: Any = None, *, memory: float = MEMORY, how: Prepared | None = None,
           **settings: Any) -> Stream:
    """Rows to train on, to judge by or to predict that need not fit into memory.

    source: an array, such as a memory map, with y its targets; a list of batches (X, y), or a function that
    gives an iterable of them; or tables: a file, a folder or a pattern, also s3://bucket/*.parquet. memory:
    megabytes that rows may take at a time. Of tables: how: what makes rows of numbers of their columns, as a
    stream of training rows has it (None: it is found, in one pass, merged across workers); settings: target,
    ignore, task and day_first, as for `tables.prepared`. XManError for what cannot be read,
    and blocks that are too large.
    """
    if not memory > 0:
        raise XManError(f"memory is a number of megabytes, more than 0, not {memory!r}")
    if isinstance(source, (str, Path)):
        return stream_of_tables(str(source), memory, how, settings)
    return of_batches(source, memory) if y is None else of_arrays(source, y, memory)


def tenths(source: str, memory: float, seed: int, **settings: Any) -> list[Stream]:
    """Streams of 7, 1 and 2 tenths of the rows of tables, to train on, to choose by and to judge by; what
    makes numbers of columns is learnt of the first."""
    whole = stream_of_tables(source, memory, None, settings, (0, 7, seed))
    return [whole.part(seed, *ends) for ends in ((0, 7), (7, 8), (8, 10))]


def stream_of_tables(source: str, memory: float, how: Prepared | None, settings: dict[str, Any],
                     some: tuple = ALL) -> Stream:
    pa = extra("pyarrow", "tables", "a table")
    try:
        kind, fragments = fragments_of(source)
        if kind == "csv":
            read: Callable[[int], Any] = InTurn(lambda: tables_of_csv(fragments))
            sizes = [table.num_rows for table in tables_of_csv(fragments)]
        else:
            read = lambda k: fragments[k].to_table(batch_readahead=1, fragment_readahead=1)
            sizes = [sum(group.num_rows for group in piece.row_groups) if kind == "parquet"
                     else piece.count_rows() for piece in fragments]
        if not sum(sizes):
            raise TableError(f"{source} has no rows")
        how = how or learnt(read, sizes, settings, some)
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{source}: cannot be read: "
                         f"{getattr(error, 'strerror', None) or first_line(error)}") from None

    def numbers(k: int) -> tuple[tuple[int, int], Callable]:
        try:
            table = read(k)
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"{source}: cannot be read: "
                             f"{getattr(error, 'strerror', None) or first_line(error)}") from None

        def rows_at(some: Some) -> tuple[np.ndarray, np.ndarray]:
            rows = table[some] if isinstance(some, slice) else table.take(some)
            parts = [rows.slice(start, AT_ONCE) for start in range(0, rows.num_rows, AT_ONCE)]
            return np.concatenate([how.features(part, source) for part in parts]), how.targets(rows, source)

        return (table.num_rows,) * 2, rows_at

    return Stream(numbers, sizes, memory, kind == "csv", f"{source} {sizes}", how)


def fragments_of(source: str) -> tuple[str, list[Any]]:
    """The kind of the files, and their pieces: row groups of Parquet, whole files of Feather and CSV."""
    fs, dataset = extra("pyarrow.fs", "tables", "a table"), extra("pyarrow.dataset", "tables", "a table")
    if "://" in source:
        place, query, options = source.partition("?")
        folder, _, pattern = place.rpartition("/") if "*" in place.rpartition("/")[2] else (place, "", "*")
        filesystem, path = fs.FileSystem.from_uri(folder + query + options)
    else:
        filesystem, path, pattern = fs.LocalFileSystem(), source, "*"
        if "*" in Path(source).name:
            path, pattern = str(Path(source).parent), Path(source).name
    found = filesystem.get_file_info(path)
    if found.type == fs.FileType.NotFound:
        raise TableError(f"{source}: there is no such file or folder")
    paths = [path]
    if found.type == fs.FileType.Directory:
        paths = sorted(file.path for file in filesystem.get_file_info(fs.FileSelector(path))
                       if file.type == fs.FileType.File
                       and fnmatch.fnmatch(file.base_name, pattern) and file_kind(Path(file.path))
                       and file.base_name[0] not in "._")
    kinds = {file_kind(Path(file)) for file in paths}
    if len(kinds) != 1 or "" in kinds:
        raise TableError(f"{source} holds {' and '.join(sorted(kinds)) or 'no table'}; a stream is of files "
                         "of one kind: .parquet, .feather or .csv")
    kind, = kinds
    form: Any = kind
    if kind == "csv":
        csv = extra("pyarrow.csv", "tables", "a table")
        with filesystem.open_input_stream(paths[0]) as file:
            look = formed(paths[0], file.read(HEAD))
        form = dataset.CsvFileFormat(csv.ParseOptions(delimiter=look.delimiter,
                                                      newlines_in_values=look.quoted), None,
                                     csv.ConvertOptions(null_values=NULLS, strings_can_be_null=True),
                                     csv.ReadOptions(column_names=look.names, skip_rows=look.header,
                                                     block_size=CSV_BLOCK))
    files = [*dataset.dataset(paths, format=form, filesystem=filesystem).get_fragments()]
    return (kind, [piece for file in files for piece in file.split_by_row_group()] if kind == "parquet"
            else files)


def tables_of_csv(fragments: list[Any]) -> Iterator[Any]:
    """Tables of about CSV_BLOCK bytes each, in the order of the files."""
    pa = extra("pyarrow", "tables", "a table")
    for fragment in fragments:
        for batch in fragment.to_batches(batch_readahead=1, fragment_readahead=1):
            if batch.num_rows:
                yield pa.Table.from_batches([batch])


def learnt(read: Callable[[int], Any], sizes: list[int], settings: dict[str, Any], some: tuple) -> Prepared:
    """What makes rows of numbers of these tables: the kinds of columns by one of them,
    what is to be known of each by all.

    Each worker reads its share of the tables, and what they found is merged.
    """
    starts = np.cumsum([0, *sizes])

    def training(k: int) -> Any:
        """The rows of a table by which we learn."""
        return read(k) if some == ALL else read(k).filter(drawn_by_number(starts[k], sizes[k], *some))

    sample = training(int(np.argmax(sizes)))
    how, here = prepared(sample, **settings), workers()
    mine, like = range(here.rank, len(sizes), here.size), [known(c, cells(sample[c.name], c, "the table"))
                                                           for c in how.columns]
    facts, goal = None, None
    for k in mine:
        table = training(k)
        found = [known(c, cells(table[c.name], c, f"table {k + 1}"), fact)
                 for c, fact in zip(how.columns, like, strict=True)]
        y = target_cells(table, how.target, f"table {k + 1}")
        told = {*y.tolist()} if how.classes else moments(y[:, None])
        facts = found if facts is None else [*map(operator.add, facts, found)]
        goal = told if goal is None else goal | told if how.classes else goal + told
    every = [(a, b) for a, b in here.gathered((facts, goal)) if a is not None]
    facts = [functools.reduce(operator.add, each) for each in zip(*(a for a, _ in every), strict=True)]
    goal = functools.reduce(operator.or_ if how.classes else operator.add, [b for _, b in every])
    steps, output = lines(how.columns, facts, {*ops.G, *(c.register for c in how.columns)})
    shape = eval(steps, {c.register: cells(sample[c.name], c, "")[:1] for c in how.columns})[output].shape[1:]
    if how.classes:
        key: Any = float if all(label.lstrip("-").replace(".", "", 1).isdecimal() for label in goal) else str
        return how._replace(steps=steps, output=output, shape=shape, classes=tuple(sorted(goal, key=key)))
    scale = (how.scale if settings.get("task") == "count"
             else (float(goal.mean[0]), float(goal.deviation()[0])))
    return how._replace(steps=steps, output=output, shape=shape, scale=scale)
