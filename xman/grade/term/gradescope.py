"""Gradescope's results.json with the term in it: lateness, and hidden points that are shown later."""
from __future__ import annotations

import datetime
from typing import Any

from ..record import Record
from ..reports import gradescope
from .book import days_late, late_sentence
from .hand_in import HandIn
from .settings import Term, utc


def results_in_term(record: Record, term: Term, name: str,
            about: tuple[HandIn, datetime.datetime | None] | None) -> dict[str, Any]:
    """The results of a record. name: of the assignment. about: what `gradescope_metadata` says of it.

    Gradescope knows when its deadline has passed, and shows hidden points then. Within the cooldown after
    hidden points were shown, those of a further hand-in wait until the instructor publishes the grades.
    """
    rules = term.rules(name)
    if not about:
        return gradescope.results(record, rules.hidden)
    (who, at, *_), shown = about
    hidden, sentences, end = rules.hidden, [], shown and shown + datetime.timedelta(minutes=rules.cooldown)
    if hidden == "visible" and end and utc(at) < utc(end):
        hidden = "after_published"
        end = end.astimezone(at.tzinfo)
        sentences.append(f"Hidden points are shown again for work from {end:%d %b %H:%M} on.")
    output = gradescope.results(record, hidden)
    owners = [student for words in who for student in (term.roster.identified(words) if term.roster else ())]
    if dues := [due for student in owners or [None] if (due := rules.due_of(student))]:
        days = days_late(at - datetime.timedelta(minutes=rules.grace), max(dues, key=utc))
        lost = 0 if term.late_days else min(output["score"], days * rules.penalty)
        output["score"] = round(output["score"] - lost, 4)
        if days:
            later = "late days are counted at the end of the term, " * bool(term.late_days)
            sentences.append(f"Handed in {late_sentence(days, later, lost)}.")
    return {**output, "output": "\n\n".join([output["output"], *sentences])}
