"""result.json, as the runners of GitHub Classroom and its successors write it.

The format is that of the runners and the reporter in https://github.com/classroom-resources.
"""
from __future__ import annotations

from . import gradescope, view


def result(record: dict) -> dict:
    """The result of one submission: each part is a test with its score, each check one with a point."""
    errors, tests = any(view.grader_errors(record)), []
    for test in gradescope.results(record)["tests"]:
        passed = test["status"] == "passed"
        score = test["score"] if test["max_score"] else float(passed)
        about = {"name": test["name"], "status": "pass" if passed else "fail", "score": score}
        tests.append({**about, "message": test["output"], "test_code": "", "filename": "", "line_no": 0})
    status = "error" if errors else "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    return {"version": 1, "status": status, "max_score": record["of"] or float(len(tests)), "tests": tests}
