"""The options of the commands that draw, and what they do."""
from __future__ import annotations

import click

from ..show import Picture

DOT = click.option("--dot", is_flag=True, help="A picture in its place, as text for Graphviz.")
SVG = click.option("--svg", metavar="FILE.svg", help="A picture in its place, in this file.")


def draw(drawn: Picture, svg: str | None) -> None:
    """Save the picture in the file svg, or print it for Graphviz."""
    drawn.save(svg) if svg else print(drawn.dot())
