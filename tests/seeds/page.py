"""Writes docs/five-documents.html from the table in tests/seeds/examples: python -m tests.seeds.page

Each row's code runs as the page is made, and what it prints stands below it.
"""

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
from html import escape
from pathlib import Path
from unittest import mock

import numpy as np

from xman import XManError
from xman.cli import main

from .examples import COMMON, DOCUMENTS, Example

SEEDS = Path(__file__).parent
PAGE = SEEDS.parents[1] / "docs" / "five-documents.html"


def documents() -> dict:
    """The module of each document."""
    return {name: importlib.import_module(f".examples.{name}", __package__) for name in DOCUMENTS}


@functools.cache
def proofs() -> dict[str, str]:
    """{test function: its file} of all tests of the documents."""
    return {found.name: path.name for path in sorted(SEEDS.glob("test_*.py")) if path.stem != "test_page"
            for found in ast.parse(path.read_text("utf-8")).body if isinstance(found, ast.FunctionDef) and found.name.startswith("test_")}


def shown(value: object, inside: bool = False) -> str:
    """The text of a value: numbers to six digits, below 1e-12 as 0, so that it is the same on every machine."""
    if isinstance(value, (float, np.floating)):
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


def cells(tag: str, row: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>\n"


def article(anchor: str, row: Example, space: dict) -> str:
    """The HTML of one row."""
    slip = f'<p class="slip"><b>The print:</b> {escape(row.slip)}</p>\n' if row.slip else ""
    return (f'<article id="{anchor}">\n<h3><a href="#{anchor}">{escape(row.number)}</a> {escape(row.shows)}</h3>\n{slip}'
            f'<pre class="code">{escape(row.code.rstrip())}</pre>\n<pre class="output">{escape(run(row.code, dict(space)))}</pre>\n'
            f'<p class="test">{escape(proofs()[row.test])} :: {escape(row.test)}</p>\n</article>\n')


def section(name: str, document: object) -> str:
    """The HTML of a document: its contents, what its rows build on, and the rows, run in a folder with its files."""
    space, rows = {}, anchored(name, document.EXAMPLES)
    exec(COMMON + document.PRELUDE, space)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as after:
        after.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        for file, text in document.FILES.items():
            Path(file).write_text(text, "utf-8")
        articles = "".join(article(anchor, row, space) for anchor, row in rows.items())
    contents = "".join(f'<li{" class=slips" * bool(row.slip)}><a href="#{anchor}">{escape(row.number)}</a> {escape(row.shows)}</li>\n'
                       for anchor, row in rows.items())
    texts = "".join(f'<p>{escape(file)}</p>\n<pre class="code">{escape(text.rstrip())}</pre>\n' for file, text in document.FILES.items())
    caption, head, lines = getattr(document, "TABLE", ("", [], []))
    table = (f'<div class="table" id="{name}-table"><table>\n<caption>{escape(caption)}</caption>\n{cells("th", head)}'
             f'{"".join(cells("td", row) for row in lines)}</table></div>\n')
    contents += f'<li><a href="#{name}-table">Table</a> {escape(caption)}</li>\n' * bool(caption)
    return (f'<section id="{name}">\n<h2>{escape(document.TITLE)}</h2>\n<p>{escape(document.SOURCE)}</p>\n'
            f'<details open><summary>Contents: {len(rows)} examples</summary><ol>\n{contents}</ol></details>\n'
            f'<details><summary>What the examples build on</summary>\n<pre class="code">{escape(document.PRELUDE.rstrip())}</pre>\n'
            f'{texts}</details>\n{articles}{table * bool(caption)}</section>\n')


def page() -> str:
    """The whole page."""
    found = documents()
    slips = [f'<li><a href="#{anchor}">{escape(document.AUTHOR)}, {escape(row.number)}</a>: {escape(row.slip)}</li>\n'
             for name, document in found.items() for anchor, row in anchored(name, document.EXAMPLES).items() if row.slip]
    titles = [f'<li><a href="#{name}">{escape(document.TITLE)}</a> ({len(document.EXAMPLES)})</li>\n' for name, document in found.items()]
    parts = {"count": sum(len(document.EXAMPLES) for document in found.values()), "wrong": len(slips), "common": escape(COMMON.rstrip()),
             "titles": "".join(titles), "slips": "".join(slips), "sections": "".join(section(*item) for item in found.items())}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: str(parts[match[1]]), (SEEDS / "examples" / "page.html").read_text("utf-8"))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
    print(PAGE)
