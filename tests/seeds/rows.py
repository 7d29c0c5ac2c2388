"""Runs the rows of the table in tests/seeds/examples, for the tests and for the manual, which shows what each prints."""

import ast
import contextlib
import functools
import importlib
import io
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from xman import XManError
from xman.cli import main

from .examples import COMMON, DOCUMENTS, Example

SEEDS = Path(__file__).parent


def documents() -> dict:
    """The module of each document."""
    return {name: importlib.import_module(f".examples.{name}", __package__) for name in DOCUMENTS}


@functools.cache
def proofs() -> dict[str, str]:
    """{test function: its file} of all tests of the documents."""
    return {found.name: path.name for path in sorted(SEEDS.glob("test_*.py")) if path.stem != "test_rows"
            for found in ast.parse(path.read_text("utf-8")).body if isinstance(found, ast.FunctionDef) and found.name.startswith("test_")}


def shown(value: object, inside: bool = False) -> str:
    """The text of a value: numbers to six digits, below 1e-12 as 0, so that it is the same on every machine."""
    if issubclass(type(value), (float, np.floating)):  # not what is traced, which only looks like one
        return f"{0.0 if abs(value) < 1e-12 else float(value):.6g}"
    if isinstance(value, np.ndarray) and value.ndim:
        width = max((len(shown(v)) for v in value.flat), default=0) * (value.ndim > 1)
        return np.array2string(value, formatter={"float_kind": lambda v: shown(v).rjust(width)}, max_line_width=110)
    if type(value) in (list, tuple):
        left, right = "[]" if type(value) is list else ("(", ",)" if len(value) == 1 else ")")
        return left + ", ".join(shown(v, True) for v in value) + right
    if type(value) is dict:
        return "{" + ", ".join(f"{shown(k, True)}: {shown(v, True)}" for k, v in value.items()) + "}"
    return repr(value) if inside and isinstance(value, str) else str(value)


def command(line: str) -> None:
    """Runs xman as the line says, in this process."""
    with mock.patch.multiple(sys, argv=line.removeprefix("$ ").split(), path=[*sys.path]):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"{line!r} ended with status {end.code}") from end


def python(code: str, space: dict) -> None:
    """Runs the code, and prints the value of each expression, as Python's prompt does, and an error that is expected."""
    try:
        for node in ast.parse(code).body:
            if not isinstance(node, ast.Expr):
                exec(compile(ast.Module([node], []), "example", "exec"), space)
            elif (value := eval(compile(ast.Expression(node.value), "example", "eval"), space)) is not None:
                print(shown(value))
    except XManError as error:
        if not code.rstrip().endswith("# refused"):
            raise
        print(f"XManError: {error}")


def run(code: str, space: dict) -> str:
    """What the code of a row prints."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # has what a terminal's stream has
    with contextlib.redirect_stdout(out):
        if code.startswith("$ "):
            for line in code.splitlines():
                command(line)
        else:
            python(code, space)
    out.flush()
    return out.buffer.getvalue().decode().rstrip()


def anchored(name: str, rows: list[Example]) -> dict[str, Example]:
    """{anchor: row}: the number in letters, digits and hyphens, counted where it stands twice."""
    seen, found = Counter(), {}
    for row in rows:
        slug = "-".join([name, *re.findall("[a-z0-9]+", row.number.lower())])
        seen[slug] += 1
        found[slug if seen[slug] == 1 else f"{slug}-no-{seen[slug]}"] = row
    return found


def printed(name: str, document: object, names: Callable[[dict], dict] = dict) -> Iterator[tuple[str, Example, str]]:
    """(anchor, row, what its code prints) of each row of a document, run in a folder with its files; names: of all
    names that a row may use, those that it is to have."""
    space = {}
    exec(COMMON + document.PRELUDE, space)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as after:
        after.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        for file, text in document.FILES.items():
            Path(file).write_text(text, "utf-8")
        for anchor, row in anchored(name, document.EXAMPLES).items():
            yield anchor, row, run(row.code, names(space))
