"""Reports of what was graded, each made from records alone."""
from __future__ import annotations

from pathlib import Path

from ...errors import XManError
from ...files.whole import write_whole
from . import gradebook, pages


def write_all(records: list[dict], out: str | Path) -> None:
    """Write students/<slug>.html, gradebook.csv and class.html to out. XManError where that cannot be."""
    out, slugs = Path(out), [record["slug"] for record in records]
    for record, slug in zip(records, slugs, strict=True):
        if slugs.count(slug) > 1 or slug[:1] in ("", ".") or Path(slug).name != slug or "\\" in slug:
            raise XManError(f"the report of {record['submission']!r} cannot be {slug!r}: no name of a file, "
                            "or it stands twice")
    try:
        (out / "students").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise XManError(f"{out} cannot be written: {error.strerror}") from error
    for record in records:  # which lie elsewhere: a report that is lost is made again
        write_whole(out / "students" / f"{record['slug']}.html", pages.student(record), lasting=False)
    gradebook.write_gradebook(records, out / "gradebook.csv")
    write_whole(out / "class.html", pages.class_page(records), lasting=False)
