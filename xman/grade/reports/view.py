"""The common part of reports: the record without secrets, its failures, numbers as people write them."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..record import IN_HIDDEN, totals
from ..submissions.harmless import harmless as harmless_text

FIELDS = ("given", "Given"), ("came_back", "Came back"), ("expected", "Expected"), ("look", "Look at next")
GRADER_FAILED = "The grader itself failed here, not your program. Please tell your instructor."


def harmless_record(value: Any) -> Any:
    """A copy of the value, with escapes, `\\x1b`, in place of control characters in its strings."""
    if isinstance(value, str):
        return harmless_text(value.replace("\r\n", "\n"), None)
    if isinstance(value, dict):
        return {key: harmless_record(inner) for key, inner in value.items()}
    return [harmless_record(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def for_student(record: dict) -> dict:
    """A copy of the record that its student may see: no times, only title and points of hidden parts.

    The record, each task and each part also get `passed`, whether all their cases have full credit, since
    checks have no points. The trouble of a task is said once, in the case where it occurred.
    """
    record = harmless_record(record)
    record["graded"].pop("term", None)  # seeds are drawn from the term, and no student may try it out
    record.pop("seconds", None)  # a submission could sleep to reveal a hidden number
    for task in record["tasks"]:
        task.pop("seconds", None)
        reported = {record["trouble"]}  # sentences that need not be said again
        for part in task["parts"]:
            part["passed"] = all(case["credit"] == 1 for case in part["cases"])
            visible = []
            for case in part["cases"]:
                came_back = (case["feedback"] or {}).get("came_back") or ""
                if came_back not in reported:
                    grader = {"feedback": {"grader": True, "look": GRADER_FAILED}}
                    visible.append(case | grader if (case["feedback"] or {}).get("grader") else case)
                if came_back == task["trouble"] or came_back.startswith("not written yet"):
                    reported.add(came_back)
            part["cases"] = [] if part["hidden"] else visible
        task["passed"] = all(part["passed"] for part in task["parts"])
        if task["trouble"] == record["trouble"]:
            task["trouble"] = None
    record["passed"] = not record["trouble"] and all(task["passed"] for task in record["tasks"])
    return record


def without_hidden(record: dict) -> dict:
    """A copy of the record without its hidden parts, for as long as their points are not told."""
    tasks = []
    for task in record["tasks"]:
        parts = [part for part in task["parts"] if not part["hidden"]]
        trouble = None if task["trouble"] == IN_HIDDEN else task["trouble"]
        tasks.append({**task, "parts": parts, "trouble": trouble, **totals(parts)})
    return {**record, "tasks": tasks, **totals(tasks), "title": f"{record['title']}, without hidden parts"}


def failures(part: dict) -> list[dict]:
    """The cases of a part without full credit, equal ones once: name, heading, rows, grader, traceback."""
    names_of: dict[tuple, list[str]] = {}
    for case in part["cases"]:
        feedback = case["feedback"] or {}
        rows = tuple((label, feedback[field]) for field, label in FIELDS if feedback.get(field))
        if case["credit"] < 1:
            partly = f"{case['credit']:.0%} of the credit" if case["credit"] else ""
            key = partly, rows, bool(feedback.get("grader")), feedback.get("traceback")
            names_of.setdefault(key, []).append(case["name"])
    cases = []
    for (partly, rows, grader, traceback), names in names_of.items():
        name, heading = (", ".join(filter(None, words)) for words in (names, [*names, partly]))
        cases.append(dict(name=name, heading=heading, rows=rows, grader=grader, traceback=traceback))
    return cases


def grader_errors(record: dict) -> Iterator[tuple[dict, dict, dict]]:
    """For the instructor: (task, part, failure) for each case in which the grader itself failed."""
    for task in record["tasks"]:
        for part in task["parts"]:
            yield from ((task, part, case) for case in failures(part) if case["grader"])


def troubles(record: dict) -> list[tuple[str, str]]:
    """(place, sentence) for the trouble of the whole submission ("") and of its tasks ("task 2")."""
    tasks = [task for task in record["tasks"] if task["trouble"] != record["trouble"]]
    places = [("", record["trouble"]), *((f"task {task['number']}", task["trouble"]) for task in tasks)]
    return [(where, sentence) for where, sentence in places if sentence]


def sentence(where: str, text: str) -> str:
    return " ".join(f"{where}: {text}".split() if where else text.split())


def trouble_line(record: dict) -> str:
    return "; ".join(sentence(*trouble) for trouble in troubles(record))


def remark_line(record: dict) -> str:
    """For the instructor: that the grader itself failed, and the troubles of the submission."""
    return ("THE GRADER FAILED. " * any(grader_errors(record)) + trouble_line(record)).strip()


def in_order_of_names(records: list[dict]) -> list[dict]:
    return sorted(records, key=lambda each: (each["submission"].casefold(), each["submission"], each["file"]))


def is_full(item: dict) -> bool:
    """Whether a part, a task or a record has all its points; or, for checks, which have none, passed."""
    return item["points"] >= item["of"] - 1e-9 if item["of"] else item.get("passed", False)


def in_points(value: float) -> str:
    """Points as people write them: 71.5, 100, 33.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def share_of_points(points: float, of: float) -> float:
    return min(1.0, max(0.0, points / of)) if of else 0.0
