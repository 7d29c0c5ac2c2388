"""Reports as web pages: one file each, with nothing to load and nothing that runs."""
from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import extra
from .summary import class_summary
from .view import failures, for_student, harmless_record, in_points, share_of_points

TEMPLATES = Path(__file__).with_name("templates")


def student(record: dict) -> str:
    """The page of one submission, for its student. XManError where Jinja2 is missing."""
    return _templates().get_template("student.html").render(record=for_student(record))


def class_page(records: list[dict]) -> str:
    """The instructor's page of the class, with links to students/<slug>.html. XManError without Jinja2."""
    records = harmless_record(records)
    names = sorted(records, key=lambda record: (record["submission"].casefold(), record["submission"]))
    points = sorted(names, key=lambda record: -record["points"])
    return _templates().get_template("class.html").render(
        records=names, by_points=points, title=records[0]["title"] if records else "No submissions",
        **class_summary(names))


@cache
def _templates() -> Any:
    jinja2 = extra("jinja2", "grade", "an HTML report")
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True,
                                   undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    sha256 = lambda text: f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
    templates.filters.update(number=in_points, sha256=sha256)
    templates.globals.update(share=share_of_points, failures=failures)
    templates.tests["failed"] = failures  # true of a part that has some
    return templates
