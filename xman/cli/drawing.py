"""The options of the commands that draw, and what they do."""
from __future__ import annotations

from pathlib import Path

import click

from ..explorer import explore
from ..explorer.page import of_model
from ..show import Picture
from .sources import assignments, list_and_values, model_of

DOT = click.option("--dot", is_flag=True, help="A picture in its place, as text for Graphviz.")
SVG = click.option("--svg", metavar="FILE.svg", help="A picture in its place, in this file.")
HTML = click.option("--html", metavar="FILE.html", help="A page to step through values and derivatives in a browser.")


def draw(drawn: Picture, svg: str | None) -> None:
    """Save the picture in the file svg, or print it for Graphviz."""
    drawn.save(svg) if svg else print(drawn.dot())


def write_explorer(source: str, of: str | None, values: tuple[str, ...], path: str) -> None:
    """Write the page of the explorer for a list or a model, and say where it is."""
    if source.partition(":")[0].endswith(".py"):
        model = model_of(source)
        page = explore(model, of=of, values=assignments(values, of_model(model, of, {})[0]))
    else:
        steps, known = list_and_values(source, of, values)
        page = explore(steps, of=of, values=known, title=Path(source).name)
    print(f"{page.save(path)}: open it in a browser")
