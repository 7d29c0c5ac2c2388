"""The options of the commands that draw, and their effects."""
from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..errors import XManError
from ..show import Listing, Picture
from ..wengert import WengertList
from .sources import assignments, list_and_values, model_of

DOT = "--dot  flag  Print a picture instead, as text for Graphviz."
SVG = "--svg  FILE.svg  Draw a picture instead, into this file."
MERMAID = "--mermaid  flag  Print a picture instead, as text for Mermaid."
HTML = "--html  FILE.html  Write a page to step through values and derivatives in a browser."


def one_form(**forms: Any) -> None:
    """XManError where more than one of these options asks for a form of the output."""
    if len(asked := [f"--{name}" for name, value in forms.items() if value]) > 1:
        raise XManError(f"{' and '.join(asked)}: ask for one of them at a time")


def draw(drawn: Picture, svg: str | None, for_mermaid: bool = False) -> None:
    drawn.save(svg) if svg else print(mermaid(drawn) if for_mermaid else drawn.dot())


def write_explorer(source: str, of: str | None, values: tuple[str, ...], path: str, rolled: bool) -> None:
    """Write the page of the explorer for a list or a model, and print where it is."""
    # here, since it makes all its rules as it is imported, which takes as long as the rest of a command
    from ..explorer.page import explore, of_model
    if source.partition(":")[0].endswith(".py") and not rolled:
        model = model_of(source)
        page = explore(model, of=of, values=assignments(values, of_model(model, of, {})[0]))
    else:
        steps, inputs = list_and_values(source, of, values, rolled)
        page = explore(steps, of=of, values=inputs, title=Path(source).name)
    print(f"{page.save(path)}: open it in a browser")


def mermaid(drawn: Picture) -> str:
    """The picture as text for Mermaid, which pages of Markdown draw."""
    number = {node.key: k for k, node in enumerate(drawn.nodes)}
    entities = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "#quot;"})
    label = lambda *lines: '"' + "<br>".join(line.translate(entities) for line in lines if line) + '"'
    nodes = [f"n{k}[{label(*node.lines, node.note)}]" for k, node in enumerate(drawn.nodes)]
    arrows = [f"n{number[a.low]} -->{f'|{label(a.label)}|' if a.label else ''} n{number[a.high]}"
              for a in drawn.arrows]
    return "\n  ".join(["flowchart BT", *nodes, *arrows])


def columns_here() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_list(steps: WengertList, sizes: Mapping[str, Any]) -> None:
    """Print the list, with shapes if known; on a terminal in its width, in colours unless NO_COLOR is set."""
    columns = columns_here()
    style = {"columns": columns} if columns else {"aligned": False}
    paint = {"paint": click.style} if columns and not os.environ.get("NO_COLOR") else {}
    print(Listing(steps, sizes).text(**style, **paint))
