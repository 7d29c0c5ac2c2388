"""Gradescope's results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/."""
from __future__ import annotations

from .view import failures, for_student, in_points, is_full, sentence, troubles, without_hidden

VISIBLE = {"visibility": "visible", "output_format": "text"}  # without a format it would be read as HTML


def results(record: dict, hidden: str = "visible") -> dict:
    """The results.json of one submission: each part is a test, with its feedback as plain text.

    hidden: the visibility of hidden parts, of which students see title and points at most. Where it is not
    "visible" Gradescope shows no total before that, and the sum above is that of the other parts. The
    maximum, which the specification does not have, is in extra_data.
    """
    record = for_student(record)
    told = record if hidden == "visible" else without_hidden(record)
    output = [f"{told['title']}: {in_points(told['points'])} of {in_points(told['of'])} points",
              *(sentence(*trouble) for trouble in troubles(told)),
              *(f"What your program printed in task {task['number']}:\n{task['output']}"
                for task in record["tasks"] if task["output"])]
    tests = [_test(task, k, part, task["trouble"] or record["trouble"], hidden)
             for task in record["tasks"] for k, part in enumerate(task["parts"], 1)]
    extra = {"max_score": record["of"], "assignment": record["assignment"], "graded": record["graded"],
             "hidden_shown": hidden == "visible"}
    formats = {"test_output_format": "text", "test_name_format": "text", "stdout_visibility": "hidden"}
    return {"score": round(record["points"], 4), "output": "\n\n".join(output), **VISIBLE, **formats,
            "extra_data": extra, "tests": tests}


def _test(task: dict, k: int, part: dict, trouble: str | None, hidden: str) -> dict:
    title = part["title"] if part["title"].startswith(task["title"]) else f"{task['title']}: {part['title']}"
    cases = ["\n".join([*filter(None, [case["heading"]]), *map(": ".join, case["rows"])])
             for case in failures(part)]
    feedback = "" if part["hidden"] or is_full(part) else "\n\n".join(cases) or trouble or ""
    name = {"name": title + " (hidden)" * part["hidden"], "number": f"{task['number']}.{k}"}
    points = {"score": round(part["points"], 4), "max_score": part["of"]}
    status = "passed" if is_full(part) else "failed"
    visible = {**VISIBLE, "visibility": hidden if part["hidden"] else "visible"}
    return {**name, **points, "name_format": "text", "status": status, "output": feedback, **visible}
