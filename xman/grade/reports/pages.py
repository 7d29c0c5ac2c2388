"""Reports as web pages: single files that load and run nothing; and the figures of a class."""
from __future__ import annotations

import base64
import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import extra
from . import view
from .view import failures, in_points, is_full, share_of_points, troubles

TEMPLATES = Path(__file__).with_name("templates")
BINS = 10
# the same file may get other points if one of these changes
VERSIONS = "xman", "python", "numpy", "sandbox", "assignment", "term"


def student(record: dict) -> str:
    """The page of one submission, for its student. XManError without Jinja2."""
    return templates().get_template("student.html").render(record=view.for_student(record))


def class_page(records: list[dict]) -> str:
    """The instructor's page of the class, with links to students/<slug>.html. XManError without Jinja2."""
    records = view.in_order_of_names(view.harmless_record(records))
    points = sorted(records, key=lambda record: -record["points"])
    title = records[0]["title"] if records else "No submissions"
    page = templates().get_template("class.html")
    return page.render(records=records, by_points=points, title=title, **class_summary(records))


@cache
def templates() -> Any:
    jinja2 = extra("jinja2", "grade", "an HTML report")
    templates = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.loader, templates.undefined = jinja2.FileSystemLoader(TEMPLATES), jinja2.StrictUndefined
    sha256 = lambda text: f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
    templates.filters.update(number=in_points, sha256=sha256)
    templates.globals.update(share=share_of_points, failures=failures, trouble=view.trouble_line)
    templates.tests["failed"] = failures  # true for a part that has failures
    return templates


def class_summary(records: list[dict]) -> dict:
    """The figures of a class, which may have no record, or one."""
    shares = [share_of_points(record["points"], record["of"]) for record in records]
    bins = Counter(min(BINS - 1, int(share * BINS + 1e-9)) for share in shares)  # the last bin includes 100 %
    versions = {name: Counter(str(record["graded"].get(name)) for record in records) for name in VERSIONS}
    return {"count": len(records), "complete": sum(map(is_full, records)),
            "zero": sum(not record["points"] for record in records),
            "of": max((record["of"] for record in records), default=0.0),
            "points": _spread([record["points"] for record in records]),
            "histogram": [bins[k] for k in range(BINS)],
            "parts": _parts(records),
            "errors": _errors(records),
            "grader": [(record, *failure) for record in records for failure in view.grader_errors(record)],
            # for each version its values, with the number of records
            "versions": {name: counts.most_common() for name, counts in versions.items()}}


def _spread(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    low, median, high = np.percentile(values, (25, 50, 75)).tolist()
    return {"mean": statistics.mean(values), "median": median, "low": low, "high": high}


def _parts(records: list[dict]) -> list[dict]:
    """For each part of each task: how many had full credit, some and none, and the mean share."""
    records_of: dict[tuple, list[dict]] = {}
    for task in chain.from_iterable(record["tasks"] for record in records):
        for k, part in enumerate(task["parts"]):
            records_of.setdefault((task["number"], task["title"], k, part["title"]), []).append(part)
    tasks: dict[tuple, dict] = {}
    for (number, title, _, name), parts in sorted(records_of.items(), key=lambda item: item[0]):
        task = tasks.setdefault((number, title), {"number": number, "title": title, "parts": []})
        full, zero = sum(map(is_full, parts)), sum(not part["points"] for part in parts)
        mean = statistics.mean(share_of_points(part["points"], part["of"]) for part in parts)
        counts = {"full": full, "zero": zero, "some": len(parts) - full - zero, "count": len(parts)}
        about = {"title": name, "hidden": parts[0]["hidden"], "of": parts[0]["of"]}
        task["parts"].append({**about, **counts, "mean": mean})
    return list(tasks.values())


def _errors(records: list[dict]) -> list[dict]:
    """The errors, the most frequent first: the place, the sentence, and the records, each once."""
    records_of: dict[tuple[str, str], dict[int, dict]] = {}
    first: dict[tuple[str, str], str] = {}  # sentences that differ in their numbers alone are one
    for k, record in enumerate(records):
        for where, text in chain(troubles(record), _sentences(record)):
            text = first.setdefault((where, re.sub(r"\d+", "0", text)), text)
            records_of.setdefault((where, text), {})[k] = record
    order = sorted(records_of.items(), key=lambda item: (-len(item[1]), item[0]))
    return [{"where": where, "what": text, "records": list(who.values())} for (where, text), who in order]


def _sentences(record: dict) -> Iterator[tuple[str, str]]:
    """(part, what was expected, or what came back instead of an answer) for each failed case."""
    reported = {text for _, text in troubles(record)}
    for task in record["tasks"]:
        for part in task["parts"]:
            for case in failures(part):
                rows = dict(case["rows"])
                text = rows.get("Expected")
                if text in (None, "an answer"):
                    text = rows.get("Came back") or rows.get("Look at next")
                if text and text not in reported and not case["grader"]:
                    yield f"task {task['number']}, {part['title']}", text
