"""xman predict and xman evaluate: a model's file and rows that it has not seen."""
from __future__ import annotations

import contextlib
import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import XManError, extra
from ..files import Model, load
from ..files.reports import judged, report_text
from ..tables import TableError, batches
from ..tables.columns import sizes
from ..tables.reading import formed, of_text
from ..train import loaders, readers
from .commands import AS_JSON, HEADER, json_terms, xman
from .learning import LIBSVM

BATCH = 65536  # rows that are read together
MODEL = click.argument("model", metavar="MODEL")


@xman.command()
@MODEL
@click.argument("source", metavar="FILE|-")
@click.option("--proba", is_flag=True, help="The probability of each class, not the class alone.")
@click.option("--out", metavar="FILE.csv", help="Where to write; standard output, if not said.")
@HEADER
def predict(model: str, source: str, proba: bool, out: str | None, header: bool | None) -> None:
    """Predict the rows of a table: FILE, or - for lines of CSV, each of which is answered at once."""
    read_model = load(model)
    try:
        with open(out, "w", encoding="utf-8", newline="") if out else contextlib.nullcontext(sys.stdout) as file:
            pieces = of_lines(read_model, header) if source == "-" else of_file(read_model, source, header, bool(out))
            written(read_model, pieces, proba, file)
    except BrokenPipeError:
        sys.stderr.close()  # who reads has heard enough
    except OSError as error:
        raise XManError(f"{out or 'standard output'} cannot be written: {error.strerror}") from None


def of_file(model: Model, source: str, header: bool | None, progress: bool) -> Iterator[np.ndarray]:
    """The outputs for the rows of a file, piece by piece."""
    shown = extra("tqdm", "cli", "predict").tqdm(unit=" rows", unit_scale=True, disable=None if progress else True, leave=False)
    row = 0
    with shown:
        for piece in pieces_of(model, source, header):
            try:
                outputs = model.outputs(piece, source)
            except TableError as error:
                raise TableError(re.sub(r", row (\d+)", lambda m, row=row: f", row {int(m[1]) + row}", str(error))) from None
            yield outputs
            shown.update(len(outputs))
            row += len(outputs)


def pieces_of(model: Model, source: str, header: bool | None) -> Iterator[Any]:
    """What the model reads, in pieces: tables of the columns, or arrays."""
    path = Path(source)
    if path.suffix in LIBSVM or re.search("idx[0-9]-ubyte", path.name):
        width = sizes(model.columns[0])[0]
        X = readers.read_libsvm(path, width)[0] if path.suffix in LIBSVM else loaders.images(path)[0] * np.float32(255)
        yield from (X[k:k + BATCH] for k in range(0, X.shape[0], BATCH))
        return
    known = [[c.name for c in model.columns], model.settings.get("names", [])] if model.columns[0].kind != "array" else []
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        yield from batches(file, header, known, BATCH, types_of(model))


def types_of(model: Model) -> dict[str, str]:
    """The types as which a CSV file's columns are read: numbers as such, all else as it is written."""
    found = {c.name: "string" if c.kind != "number" or c.spelling else "float64" for c in model.columns if c.kind != "array"}
    numbers = not any(readers._number(label) is None for label in model.classes)
    return found | {model.target: "float64" if numbers else "string"}


def of_lines(model: Model, header: bool | None) -> Iterator[np.ndarray]:
    """The outputs for lines of CSV from standard input, one at a time, the first of which may name the columns."""
    known, form = [[c.name for c in model.columns], model.settings.get("names", [])], None
    for number, line in enumerate(iter(sys.stdin.readline, ""), 1):
        if not line.strip():
            continue
        if form is None:
            form = formed("standard input", line.encode(), header, known)
            if form.header:
                continue
            header = None
        try:
            yield model.outputs(of_text(line, form, types_of(model)), "standard input")
        except TableError as error:
            words = re.sub(", row [0-9]+", "", str(error))
            raise TableError(words.replace("standard input", f"standard input, line {number}", 1)) from None


def written(model: Model, pieces: Iterator[np.ndarray], proba: bool, file: Any) -> None:
    """A line for each row: the prediction, or the probabilities, under a header."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*model.classes] if proba else [model.target])
    for outputs in pieces:
        found = model.probabilities(outputs) if proba else model.labels(outputs)[:, None]
        writer.writerows(found.tolist())
        file.flush()


@xman.command()
@MODEL
@click.argument("source", metavar="FILE")
@HEADER
@AS_JSON
def evaluate(model: str, source: str, header: bool | None, as_json: bool) -> None:
    """Compare predictions with the column of a table that holds the truth."""
    read_model = load(model)
    outputs, truth = [], []
    for piece in pieces_of(read_model, source, header):
        outputs.append(read_model.outputs(piece, source))
        truth.append(read_model.truth(piece, source))
    found = judged(read_model, np.concatenate(outputs), np.concatenate(truth))
    print(json.dumps(json_terms(found)) if as_json else report_text(found))
