"""Results as platforms read them: Gradescope, GitHub Classroom, Autolab.

Gradescope's results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/. result.json is as
the runners and the reporter of GitHub Classroom and its successors have it,
https://github.com/classroom-resources. Autolab's autoresult is the last line that an autograder prints; its
format is that of the "Guide for Lab Authors", https://docs.autolabproject.com/lab/#writing-autograders, and
of "Scoreboards", https://docs.autolabproject.com/features/scoreboards/.
"""
from __future__ import annotations

import json

from . import view
from .view import failures, in_points, is_full, without_hidden

VISIBLE = {"visibility": "visible", "output_format": "text"}  # without a format it would be read as HTML


def gradescope_results(record: dict, hidden: str = "visible") -> dict:
    """Gradescope's results.json of one submission: each part is a test, with its feedback as plain text.

    hidden: the visibility of hidden parts, of which students see title and points at most. Where it is not
    "visible" Gradescope shows no total before that, and the sum above is that of the other parts. The
    maximum, which the specification does not have, is in extra_data.
    """
    record = view.for_student(record)
    told = record if hidden == "visible" else without_hidden(record)
    output = [f"{told['title']}: {in_points(told['points'])} of {in_points(told['of'])} points",
              *(view.sentence(*trouble) for trouble in view.troubles(told))]
    tests = []
    for task in record["tasks"]:
        if task["output"]:
            output.append(f"What your program printed in task {task['number']}:\n{task['output']}")
        for k, part in enumerate(task["parts"], 1):
            tests.append(gradescope_test(task, k, part, task["trouble"] or record["trouble"], hidden))
    extra = {"max_score": record["of"], "hidden_shown": hidden == "visible"}
    extra |= {key: record[key] for key in ("assignment", "graded")}
    formats = {"test_output_format": "text", "test_name_format": "text", "stdout_visibility": "hidden"}
    total = {"score": round(record["points"], 4), "output": "\n\n".join(output)}
    return {**total, **VISIBLE, **formats, "extra_data": extra, "tests": tests}


def gradescope_test(task: dict, k: int, part: dict, trouble: str | None, hidden: str) -> dict:
    title = part["title"] if part["title"].startswith(task["title"]) else f"{task['title']}: {part['title']}"
    text = lambda case: "\n".join([*filter(None, [case["heading"]]), *map(": ".join, case["rows"])])
    cases = "\n\n".join(map(text, failures(part)))
    feedback = "" if part["hidden"] or is_full(part) else cases or trouble or ""
    name = {"name": title + " (hidden)" * part["hidden"], "number": f"{task['number']}.{k}"}
    points = {"score": round(part["points"], 4), "max_score": part["of"]}
    status = "passed" if is_full(part) else "failed"
    visible = {**VISIBLE, "visibility": hidden if part["hidden"] else "visible"}
    return {**name, **points, "name_format": "text", "status": status, "output": feedback, **visible}


def classroom_result(record: dict) -> dict:
    """The result.json of one submission: each part is a test with its score, each check one with a point."""
    errors, tests = any(view.grader_errors(record)), []
    for test in gradescope_results(record)["tests"]:
        passed = test["status"] == "passed"
        score = test["score"] if test["max_score"] else float(passed)
        about = {"name": test["name"], "status": "pass" if passed else "fail", "score": score}
        tests.append({**about, "message": test["output"], "test_code": "", "filename": "", "line_no": 0})
    status = "error" if errors else "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    return {"version": 1, "status": status, "max_score": record["of"] or float(len(tests)), "tests": tests}


def autolab_problem(number: int, title: str) -> str:
    """A task's name as a problem of Autolab; the instructor gives the assessment problems of these names.

    It has no colon, which Autolab takes for the end of a key (`parseAutoresult`).
    """
    return " ".join(f"{number}. {view.harmless_record(title)}".replace(":", " -").split())


def autolab_line(record: dict) -> str:
    """`{"scores": {problem: points, …}, "scoreboard": [points, points of each task …]}`, in ASCII."""
    scores = {autolab_problem(task["number"], task["title"]): round(task["points"], 4)
              for task in record["tasks"]}
    return json.dumps({"scores": scores, "scoreboard": [round(record["points"], 4), *scores.values()]},
                      allow_nan=False)
