"""The chapters on the five documents, from the table in tests/seeds/examples: each row with what its code prints,
with what the print gets wrong, and, where it is about a list, with that list's graph and explorer."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import stepped

import ops
from tests.seeds.examples import COMMON
from tests.seeds.rows import anchored, documents, printed, proofs
from xman import WengertList, XManError
from xman.wengert import needed

TAKE_A_LIST = ("backprop check cost derivation eval expand explain forward gradient jacobian partials paths picture simplify "
               "source").split()


def plain(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|$~^&-])", r"\\\1", text)


def fenced(kind: str, text: str) -> str:
    return f"`````{kind}\n{text.rstrip()}\n`````\n\n"


def noting(function: Callable, calls: list[tuple]) -> Callable:
    """The function, which notes what it was called with."""
    @functools.wraps(function)
    def noted(*args: Any, **named: Any) -> Any:
        calls.append((args, named))
        return function(*args, **named)
    return noted


def list_of(calls: list[tuple], point: Any) -> tuple[WengertList, str, dict[str, Any]] | None:
    """The first list that a row hands to a function of xman, the register that is asked for, and values of its inputs.

    point: where the document looks at its functions."""
    for args, named in calls:
        try:
            steps = WengertList(args[0], ops.G)
        except (XManError, TypeError, IndexError):  # this call was about a function, or about a list that is refused
            continue
        computed, inputs = {dst for dst, _, _ in steps}, {*steps.inputs}
        goals = [a for a in (*args[1:2], named.get("of"), *named) if isinstance(a, str) and a in computed]
        maps = [a for a in (*args[1:], *named.values(), point) if isinstance(a, Mapping)]
        values = next((a for a in maps if inputs <= a.keys()), {})
        last = max(steps.outputs, key=lambda dst: len(needed(steps, [dst])))
        return steps, (goals or [last])[0], {x: values[x] for x in inputs & values.keys()}
    return None


def chapter(name: str, document: Any, computed: bool) -> Iterator[str]:
    """The Markdown of a document's rows; without what they print where it is built for its warnings alone."""
    calls, shown = [], {}
    points = {}

    def names(space: dict) -> dict:
        points["AT"] = space.get("AT")
        return {**space, **{op: noting(space[op], calls) for op in TAKE_A_LIST}}

    rows = printed(name, document, names) if computed else ((a, row, "") for a, row in anchored(name, document.EXAMPLES).items())
    yield f"{plain(document.SOURCE)}\n\n## The examples\n\n"
    for anchor, row, text in rows:
        yield f"({anchor})=\n### {plain(row.number)}: {plain(row.shows)}\n\n"
        if row.slip:
            yield fenced("{admonition} The print", f":class: warning\n\n{plain(row.slip)}")
        yield fenced("console" if row.code.startswith("$ ") else "python", row.code) + fenced("text", text or "…")
        if of_row := list_of(calls, points.get("AT")):
            steps, of, values = of_row
            key = str(steps), of, *map(repr, values.items())
            if key in shown:
                yield f"Its list is that of [{plain(shown[key][1])}](#{shown[key][0]}).\n\n"
            else:
                shown[key] = anchor, row.number
                title = f"{document.AUTHOR}, {row.number}"
                yield fenced("{raw} html", stepped.figure_of(steps, of, values, title, f"documents/{name}"))
        calls.clear()
        yield f"Proved by `{proofs()[row.test]} :: {row.test}`.\n\n"
    caption, head, lines = getattr(document, "TABLE", ("", [], []))
    if caption:
        cells = lambda row: "| " + " | ".join(map(plain, row)) + " |\n"
        yield f"## Table\n\n{plain(caption)}\n\n{cells(head)}|{'---|' * len(head)}\n{''.join(map(cells, lines))}\n"
    texts = "".join(f"`{file}`:\n\n{fenced('text', text)}" for file, text in document.FILES.items())
    yield f"## What the examples build on\n\n{fenced('python', document.PRELUDE)}{texts}"


def write(folder: Path, computed: bool) -> None:
    """A file a document, and what all of them begin with, and where the prints are wrong."""
    slips = []
    for name, document in documents().items():
        (folder / f"{name}.md").write_text("".join(chapter(name, document, computed)), "utf-8")
        slips += [f"- [{plain(document.AUTHOR)}, {plain(row.number)}](#{anchor}): {plain(row.slip)}\n"
                  for anchor, row in anchored(name, document.EXAMPLES).items() if row.slip]
    (folder / "slips.md").write_text("".join(slips), "utf-8")
    (folder / "common.md").write_text(fenced("python", COMMON), "utf-8")
