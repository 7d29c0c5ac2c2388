"""Gradescope's results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/."""
from __future__ import annotations

from .view import failures, for_student, in_points, is_full, sentence, troubles


def results(record: dict) -> dict:
    """What results.json holds of one submission: each part is a test, with its feedback as plain text.

    All tests are visible, or the student would not be shown a total; of a hidden part the title and the
    points are told and its output is empty. The specification has no maximum for the whole:
    it is the sum of the tests', and stands in extra_data.
    """
    record = for_student(record)
    return {"score": round(record["points"], 4),
            "output": _output(record),
            "output_format": "text",  # not given, it would be read as HTML
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "extra_data": {"max_score": record["of"], "assignment": record["assignment"],
                           "graded": record["graded"]},
            "tests": [_test(task, k, part, task["trouble"] or record["trouble"])
                      for task in record["tasks"] for k, part in enumerate(task["parts"], 1)]}


def _test(task: dict, k: int, part: dict, trouble: str | None) -> dict:
    title = part["title"] if part["title"].startswith(task["title"]) else f"{task['title']}: {part['title']}"
    output = ("" if part["hidden"] or is_full(part) else "\n\n".join(map(_case_text, failures(part)))
              or trouble or "")
    return {"name": title + " (hidden)" * part["hidden"], "name_format": "text",
            "number": f"{task['number']}.{k}", "score": round(part["points"], 4), "max_score": part["of"],
            "status": "passed" if is_full(part) else "failed", "output": output, "output_format": "text",
            "visibility": "visible"}


def _case_text(case: dict) -> str:
    partly = f"{case['credit']:.0%} of the credit" if case["credit"] else ""
    heading = ": ".join(filter(None, (case["name"], partly)))
    return "\n".join(filter(None, (heading, *(f"{label}: {text}" for label, text in case["rows"]))))


def _output(record: dict) -> str:
    """What concerns the whole submission: its points, its trouble, and what it printed."""
    lines = [f"{record['title']}: {in_points(record['points'])} of {in_points(record['of'])} points"]
    lines += [sentence(where, what) for where, what in troubles(record)]
    lines += [f"What your program printed in task {task['number']}:\n{task['output']}"
              for task in record["tasks"] if task["output"]]
    return "\n\n".join(lines)
