"""Reports on graded submissions, made from their records alone."""
from __future__ import annotations

import datetime
import os
from pathlib import Path

from ...files.whole import write_whole
from . import gradebook, pages
from .view import without_hidden


def write_all(records: list[dict], out: str | Path, later: bool = False) -> None:
    """Write students/<slug>.html, gradebook.csv and class.html to out. later: students see no hidden part."""
    out = Path(out)
    (out / "students").mkdir(parents=True, exist_ok=True)
    for record in records:
        page = pages.student(without_hidden(record) if later else record)
        path, begun = out / "students" / f"{record['slug']}.html", record["graded"]["when"]
        write_whole(path, page, lasting=False)
        # as in the report: the time of its end would tell how long hidden parts took
        os.utime(path, (datetime.datetime.fromisoformat(begun).timestamp(),) * 2)
    gradebook.write_gradebook(records, out / "gradebook.csv")
    write_whole(out / "class.html", pages.class_page(records), lasting=False)
