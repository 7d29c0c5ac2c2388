"""The book of a term: what each student has for each assignment, from records, dates and the roster."""
from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..record import Record
from ..reports.platforms import gradescope_results
from ..reports.terminal import padded, text_width
from ..reports.view import grader_errors, harmless_record, in_points
from .hand_in import UTC, HandIn, hand_in_of, moodle_times
from .roster import Roster, Student, plain_name, read_roster
from .settings import Rules, Term, utc

DAY = datetime.timedelta(days=1)
EARLY = datetime.datetime.min.replace(tzinfo=UTC)
# remarks that the terminal shows too
NOTABLE = "THE GRADER", "LATE", "no time", "graded again", "handed in after"


class Mark(NamedTuple):
    """A student's mark for one assignment, and how it came about; without points nothing was handed in.

    days: of lateness, each begun; free: those of them that the term gives; remarks: what a person should see.
    """
    mark: float = 0.0
    points: float | None = None
    at: datetime.datetime | None = None
    days: int = 0
    free: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Book:
    """assignments, students: in the order of the book. marks: by (student's key, assignment).

    strangers: (assignment, record, reason) for work that is nobody's.
    """
    term: Term
    assignments: Sequence[str]
    students: list[Student]
    marks: Mapping[tuple[str, str], Mark]
    strangers: list[tuple[str, Record, str]]

    def total(self, student: Student) -> float:
        """The mean of the marks, by weight."""
        weights = {name: self.term.rules(name).weight for name in self.assignments}
        marks = sum(weight * self.marks[student.key, name].mark for name, weight in weights.items())
        return marks / (sum(weights.values()) or 1)


def days_late(at: datetime.datetime, due: datetime.datetime) -> int:
    """The days begun since the deadline; a day ends at the deadline's time of day, in summer and winter."""
    days = max(0, (utc(at) - utc(due)) // DAY - 1)
    while utc(at) > utc(due + days * DAY):
        days += 1
    return days


def book_of(term: Term, records: Mapping[str, Mapping[str, Record]],
            exported: Mapping[str, Mapping[str, HandIn]]) -> Book:
    """The book. records: by assignment and slug. exported: what platforms' metadata say, likewise."""
    names = sorted(records, key=lambda name: (utc(term.rules(name).due or EARLY), name))
    students = {each.key: each for each in (term.roster.students if term.roster else ())}
    works: dict[tuple[str, str], list[tuple[Record, HandIn]]] = {}
    strangers, marks = [], {}
    for name in names:
        sheet = read_roster(path) if (path := term.rules(name).moodle) else None
        times = times_of(term, sheet)
        for slug, record in records[name].items():
            hand_in = exported[name].get(slug) or hand_in_of(record["file"], term.zone)
            for words in hand_in.who:
                if sheet and len(rows := sheet.identified(words)) == 1:
                    words = rows[0].words  # Moodle's number of a participant is in its worksheet alone
                if term.roster:
                    owners = term.roster.identified(words)
                else:  # the class is who handed in
                    key = plain_name(words[0]) or words[0]
                    owners = [students.setdefault(key, Student(key, words[0]))]
                if len(owners) == 1:
                    key = owners[0].key
                    # what the settings say, or else the platform, or else Moodle's worksheet
                    at = term.rules(name).times.get(key) or hand_in.at or times.get(key)
                    work = record, hand_in._replace(at=at, late=hand_in.late and not at)
                    works.setdefault((key, name), []).append(work)
                else:
                    several = "may be of " + " or ".join(each.key for each in owners)
                    strangers.append((name, record, several if owners else "not in the roster"))
    order = sorted(students.values(), key=lambda each: (plain_name(each.key), each.key))
    budgets = dict.fromkeys(students, term.late_days)
    for name in names:
        rules = term.rules(name)
        for student in order:
            group = plain_name(student.group) if rules.groups else ""
            members = [each for each in order if each is student or group and plain_name(each.group) == group]
            handed_in = [work for member in members for work in works.get((member.key, name), [])]
            mark = mark_of(rules, student, handed_in, budgets[student.key])
            budgets[student.key] -= mark.free
            marks[student.key, name] = mark
    return Book(term, names, order, marks, strangers)


def times_of(term: Term, sheet: Roster | None) -> dict[str, datetime.datetime]:
    """The times of hand-in that Moodle's worksheet has, by the keys of the roster."""
    owners = lambda student: term.roster.identified(student.words) if term.roster else [student]
    times = moodle_times(sheet, term.zone) if sheet else ()
    return {owner.key: at for student, at in times for owner in owners(student)}


def mark_of(rules: Rules, student: Student, works: list[tuple[Record, HandIn]], budget: int) -> Mark:
    """The mark of the last work that was handed in while it was taken. budget: late days that are left."""
    due, remarks, grace = rules.due_of(student), [], datetime.timedelta(minutes=rules.grace)
    until = max(rules.until, due, key=utc) if rules.until and due else None
    late = lambda at: until and at and utc(at) > utc(until + grace)
    taken = [(record, hand_in) for record, hand_in in works if not late(hand_in.at)]
    if len(taken) < len(works):
        remarks.append(f"handed in after {until:%d %b %Y %H:%M}, the last moment: not counted")
    if not taken:
        return Mark(remarks=(*remarks,) or ("handed nothing in",))
    order = lambda work: (utc(work[1].at or EARLY), work[1].version, work[0]["slug"])
    record, hand_in = max(taken, key=order)
    if len({record["slug"] for record, _ in taken}) > 1:
        remarks.append(f"{len(taken)} hand-ins; {record['file']} counts")
    if due and hand_in.late:
        remarks.append(f"LATE, says the platform, and not by how much: write it under [{rules.name}.times]")
    elif due and not hand_in.at:
        trouble = f" ({hand_in.trouble})" * bool(hand_in.trouble)
        remarks.append(f"no time of hand-in is known{trouble}: taken as in time")
    if any(grader_errors(record)):
        remarks.append("THE GRADER FAILED: mend it and run it again, since what it lost counts as 0")
    days = days_late(hand_in.at - grace, due) if due and hand_in.at else 0
    free, points = min(days, budget), record["points"]
    mark = max(0.0, round(points - rules.penalty * (days - free), 6))
    if days:
        remarks.append(late_sentence(days, f"{free} of them free, " * bool(free), points - mark))
    if (before := record.get("before")) and before["points"] != points:
        less = ", and now LESS" * (before["points"] > points)
        remarks.append(f"graded again: {in_points(before['points'])} before{less}")
    return Mark(mark, points, hand_in.at, days, free, tuple(remarks))


def late_sentence(days: int, free: str, lost: float) -> str:
    return f"{days} day{'s' * (days > 1)} late, {free}{in_points(lost)} points off"


def marks_table(book: Book) -> str:
    """A line for each student: the marks, the total; then what a person has to look at."""
    columns = min(32, max([10, *(text_width(each.name) for each in book.students)]))
    widths = [max(9, len(name) + 2) for name in [*book.assignments, "total"]]
    rows, notes = [("student", [*book.assignments, "total"])], []
    for student in book.students:
        marks = {name: book.marks[student.key, name] for name in book.assignments}
        points = [*(each.mark for each in marks.values()), book.total(student)]
        rows.append((student.name, [*map(in_points, points)]))
        for name, mark in marks.items():
            notes += [f"{student.name}, {name}: {each}" for each in mark.remarks if each.startswith(NOTABLE)]
    lines = [padded(name, columns) + "".join(map(str.rjust, cells, widths)) for name, cells in rows] + notes
    lines += [f"{record['submission']}, {name}: {reason}" for name, record, reason in book.strangers]
    absent = sum(mark.points is None for mark in book.marks.values())
    lines.append(f"{len(book.students)} students; {absent} hand-in{'s' * (absent != 1)} missing")
    return harmless_record("\n".join(lines))


def results_in_term(record: Record, term: Term, name: str,
            about: tuple[HandIn, datetime.datetime | None] | None) -> dict[str, Any]:
    """Gradescope's results.json with the term in it: lateness, and hidden points that are shown later.

    name: of the assignment. about: what `gradescope_metadata` says of the hand-in (None: nothing). Gradescope
    knows when its deadline has passed, and shows hidden points then. Within the cooldown after hidden points
    were shown, those of a further hand-in wait until the instructor publishes the grades.
    """
    rules = term.rules(name)
    if not about:
        return gradescope_results(record, rules.hidden)
    (who, at, *_), shown = about
    hidden, sentences, end = rules.hidden, [], shown and shown + datetime.timedelta(minutes=rules.cooldown)
    if hidden == "visible" and end and utc(at) < utc(end):
        hidden = "after_published"
        end = end.astimezone(at.tzinfo)
        sentences.append(f"Hidden points are shown again for work from {end:%d %b %H:%M} on.")
    output = gradescope_results(record, hidden)
    owners = [student for words in who for student in (term.roster.identified(words) if term.roster else ())]
    if dues := [due for student in owners or [None] if (due := rules.due_of(student))]:
        days = days_late(at - datetime.timedelta(minutes=rules.grace), max(dues, key=utc))
        lost = 0 if term.late_days else min(output["score"], days * rules.penalty)
        output["score"] = round(output["score"] - lost, 4)
        if days:
            later = "late days are counted at the end of the term, " * bool(term.late_days)
            sentences.append(f"Handed in {late_sentence(days, later, lost)}.")
    return {**output, "output": "\n\n".join([output["output"], *sentences])}
