"""Autolab's autoresult: the last line that an autograder prints.

The format is that of Autolab's "Guide for Lab Authors",
https://docs.autolabproject.com/lab/#writing-autograders, and of "Scoreboards",
https://docs.autolabproject.com/features/scoreboards/.
"""
from __future__ import annotations

import json

from .view import harmless_record


def problem(number: int, title: str) -> str:
    """A task's name as a problem of Autolab; the instructor gives the assessment problems of these names.

    It has no colon, which Autolab takes for the end of a key (`parseAutoresult`).
    """
    return " ".join(f"{number}. {harmless_record(title)}".replace(":", " -").split())


def last_line(record: dict) -> str:
    """`{"scores": {problem: points, …}, "scoreboard": [points, points of each task …]}`, in ASCII."""
    scores = {problem(task["number"], task["title"]): round(task["points"], 4) for task in record["tasks"]}
    return json.dumps({"scores": scores, "scoreboard": [round(record["points"], 4), *scores.values()]},
                      allow_nan=False)
