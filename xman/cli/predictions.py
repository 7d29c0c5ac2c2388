"""xman predict, xman evaluate and xman serve: they run a saved model on new rows."""
from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import XManError, extra
from ..files import Model, load
from ..files.model import strange_text
from ..files.reports import judgement_of, report_text
from ..tables import TableError, batches
from ..tables.columns import sizes
from ..tables.formats import Strange, begins_json, refuse_misspelt, table_of_json, text_of
from ..tables.frames import arrow, of_frame, rows_named
from ..tables.readers import PIXEL, images, read_libsvm, read_titles, targets
from ..tables.reading import DELIMITERS, Form, file_kind, files_of, formed, is_cut, of_text
from ..tables.splits import with_target
from ..train.loaders import SPLITS, kind_of_file
from .commands import json_terms, xman
from .options import JSON, READING, option_table

BATCH = 65536  # so many rows are read together
MODEL = click.argument("model", metavar="MODEL")


@xman.command()
@MODEL
@click.argument("source", metavar="FILE|-")
@option_table(f"""
    --proba  flag      Write the probability of each class, not only the class.
    --out    FILE.csv|FILE.parquet  Where to write.  [default: standard output]
    {READING}""")
def predict(model, source, proba, out, header, zero_based) -> None:
    """Predict the rows of a table: of FILE, or with - those of standard input, CSV or JSON, line by line."""
    read_model, strange = load(model), {}
    if source == "-":
        pieces = of_lines(read_model, header, strange)
    else:
        pieces = of_file(read_model, source, header, zero_based, bool(out), strange)
    first = [*islice(pieces, 1)]  # a file that cannot be read is an error before any output
    names = [*read_model.classes] if proba else [read_model.target]
    columns = read_model.probabilities if proba else lambda outputs: read_model.labels(outputs)[:, None]
    rows = map(columns, chain(first, pieces))
    try:
        if out and file_kind(Path(out)) == "parquet":
            write_parquet(names, rows, out)
        else:
            with click.open_file(out or "-", "w", "utf-8") as file:
                write_csv(names, rows, file)
        tell_strange(strange)
    except OSError as error:
        if not out:
            raise
        raise XManError(f"{out} cannot be written: {error.strerror}") from None


def tell_strange(strange: Strange) -> None:
    """Say on standard error which cells of the rows are of no kind that training saw."""
    for sentence in strange_text(strange):
        print(f"xman: {sentence}", file=sys.stderr)


def of_file(model: Model, source: str, header: bool | None, zero_based: bool | None,
            progress: bool, strange: Strange) -> Iterator[np.ndarray]:
    """The outputs for the rows of a file, piece by piece."""
    bar, row = extra("tqdm", "cli", "predict").tqdm, 0
    with bar(unit=" rows", unit_scale=True, disable=None if progress else True, leave=False) as shown:
        for piece, _ in pieces_of(model, source, header, zero_based, strange):
            with rows_named(range(row, sys.maxsize)):
                outputs = model.outputs(piece, source, strange)
            yield outputs
            shown.update(len(outputs))
            row += len(outputs)


def pieces_of(model: Model, source: str, header: bool | None,
              zero_based: bool | None, strange: Strange) -> Iterator[tuple[Any, Any]]:
    """For each piece (a table or an array that the model reads, the table or labels with the truth)."""
    path, array = Path(source), model.columns[0].kind == "array"
    kind = kind_of_file(path.with_suffix("") if path.suffix in SPLITS else path, path)
    if array and kind in ("libsvm", "idx"):
        if kind == "libsvm":
            first = model.settings.get("first", 1) if zero_based is None else 1 - zero_based
            X, labels, _ = read_libsvm(path, math.prod(sizes(model.columns[0])), first)
        else:
            X, labels = images(path)
            X = X * np.float32(PIXEL["idx"])
        truth = np.array(labels, object) if model.classes else targets(path, np.array(labels, object))
        yield from ((X[k:k + BATCH], truth[k:k + BATCH]) for k in range(0, X.shape[0], BATCH))
        return
    if kind == "titles" and (names := model.settings.get("names", [])) == ["title", "label"]:
        table = arrow().table(dict(zip(names, read_titles(path), strict=True)))
        yield table, table
        return
    for file in files_of(path):
        for piece in batches(file, header, model.titles(), BATCH, strange):
            yield piece, piece


def of_lines(model: Model, header: bool | None, strange: Strange) -> Iterator[np.ndarray]:
    """The outputs for lines from standard input, one by one: of CSV, of which the first may name the columns,
    or an object of JSON each. Other JSON is read whole."""
    titles = model.titles()
    form: Form | None = None
    first = 0
    names: dict[str, None] = {}  # of the objects so far: what a later one leaves out is missing
    where = "standard input"
    lines = enumerate(iter(sys.stdin.buffer.readline, b""), 1)
    for number, line in lines:
        end, is_json = line, not form and (names or begins_json(text_of(line).strip()))
        delimiters = form.delimiter if form else DELIMITERS
        while not is_json and is_cut(end, delimiters) and (more := next(lines, None)):
            line, end = line + more[1], b'"' + more[1]
        if not line.strip():
            continue
        if not (form or names):
            if begins_json(text_of(line).strip()):
                if not (names := dict.fromkeys(row_in(line))):
                    document = line + sys.stdin.buffer.read()
                    yield model.outputs(table_of_json(document, where, titles, strange), where, strange)
                    return
            elif (form := formed(where, line, header, titles)).header:
                continue
            first = number
        try:
            if not form and not (row := row_in(line)):
                raise TableError(f"{where}: found {text_of(line)[:40]!r}, wanted an object of JSON as above")
            if titles and not form:
                refuse_misspelt([row], [*titles, names], where, strange)
            table = of_text(line, form) if form else of_frame([names | row])
            names |= dict.fromkeys(row if names else ())
            yield model.outputs(table, where, strange)
        except TableError as error:
            words = re.sub(", row [0-9]+", "", str(error))
            if number == first and not re.search(rb"[0-9]", line):
                words += "; if this line names columns, none of them is a column of the model"
            raise TableError(words.replace(where, f"{where}, line {number}", 1)) from None
    if not (form or names):
        raise TableError(f"{where} is empty; wanted rows")


def row_in(line: bytes) -> dict[str, Any]:
    """The row that is an object of JSON in a line; {} for what is none, such as an object of columns."""
    try:
        document = json.loads(text_of(line))
    except (ValueError, RecursionError):
        return {}
    is_row = isinstance(document, dict) and not all(isinstance(x, (list, dict)) for x in document.values())
    return document if is_row else {}


def write_csv(names: list[str], pieces: Iterable[np.ndarray], file: Any) -> None:
    """Write a header, and a line for each row; each piece is written as soon as it is there."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for rows in pieces:
        writer.writerows(rows.tolist())
        file.flush()


def write_parquet(names: list[str], pieces: Iterable[np.ndarray], path: str) -> None:
    """Write a column of each name; what the first piece holds says of which type."""
    writer = None
    for rows in pieces:
        table = arrow().table({name: x.tolist() for name, x in zip(names, rows.T, strict=True)})
        writer = writer or extra("pyarrow.parquet", "tables", "Parquet").ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


@xman.command()
@MODEL
@click.argument("source", metavar="FILE")
@option_table(f"{READING}\n{JSON}")
def evaluate(model, source, header, zero_based, as_json) -> None:
    """Compare predictions with the truth, which is a column of the table or the labels of the file."""
    read_model = load(model)
    outputs, truth, strange, notes, row = [], [], {}, [], 0
    for piece, labels in pieces_of(read_model, source, header, zero_based, strange):
        rows = np.arange(row, row := row + len(labels))
        if not isinstance(labels, np.ndarray):
            name = read_model.target_in(labels, source)
            labelled = with_target(labels[name], name, notes)
            piece, rows = labels.take(labelled), rows[labelled]
            labels = piece
        with rows_named(rows):
            outputs.append(read_model.outputs(piece, source, strange))
            truth.append(labels if isinstance(labels, np.ndarray) else read_model.truth(labels, source))
    judgement = judgement_of(read_model, np.concatenate(outputs), np.concatenate(truth))
    tell_strange(strange)
    print(*(f"xman: {note}" for note in notes), sep="\n", end="\n" * bool(notes), file=sys.stderr)
    print(json.dumps(json_terms(judgement)) if as_json else report_text(judgement))


@xman.command()
@MODEL
@option_table("""
    --host=127.0.0.1  HOST  The address to listen at; 0.0.0.0 lets other machines in.
    --port=8000       port  The port to listen at.
    --body=8388608    size  The most bytes of a request.
    """, port=click.IntRange(0, 65535))
def serve(model, host, port, body) -> None:
    """Serve the predictions of MODEL over HTTP: POST /predict, GET /health, and a page to try a row.

    It answers what is under way when it is told to end.
    """
    from ..serve import application  # with all of asyncio
    uvicorn = extra("uvicorn", "serve", "xman serve")
    config = uvicorn.Config(application(load(model), body), host, port, log_level="warning", access_log=False)
    print(f"{model} at http://{host}:{port}", flush=True)
    uvicorn.Server(config).run()
