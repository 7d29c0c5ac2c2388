"""Reports of what was graded, each made from records alone."""
from __future__ import annotations

from pathlib import Path

from ...errors import XManError
from . import gradebook, pages
from .files import atomically


def write_all(records: list[dict], out: str | Path) -> None:
    """Write students/<slug>.html, gradebook.csv and class.html to out. XManError where that cannot be."""
    out = Path(out)
    slugs = set()
    for record in records:
        slug = record["slug"]
        if slug in slugs or not slug or slug.startswith(".") or Path(slug).name != slug or "\\" in slug:
            raise XManError(f"the report of {record['submission']!r} cannot be {slug!r}: no name of a file, "
                            "or it stands twice")
        slugs.add(slug)
    for record in records:
        atomically(out / "students" / f"{record['slug']}.html", pages.student(record))
    gradebook.write_gradebook(records, out / "gradebook.csv")
    atomically(out / "class.html", pages.class_page(records))
