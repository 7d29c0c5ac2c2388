"""The book as CSV: one's own, and those that Canvas and Moodle import."""
from __future__ import annotations

from typing import Any

from ...errors import XManError
from ..reports.gradebook import cell
from .book import Book, Mark
from .roster import plain_name, read_roster


def book_rows(book: Book) -> list[list[Any]]:
    """A row for each student, with marks and then what they are made of; last what is nobody's."""
    details = "points", "handed in", "days late", "late days used", "remarks"
    headings = [f"{name}: {detail}" for name in book.assignments for detail in details]
    rows = [[*"name ids group total".split(), *book.assignments, *headings]]
    for student in book.students:
        marks = [book.marks[student.key, name] for name in book.assignments]
        person = [student.name, " ".join(student.ids.values()), student.group, book.total(student)]
        rows.append(person + [mark.mark for mark in marks])
        for mark in marks:
            time, remarks = mark.at and mark.at.isoformat(), "; ".join(mark.remarks)
            rows[-1] += [mark.points, time, mark.days, mark.free, remarks]
    for name, record, reason in book.strangers:
        rows.append([record["submission"], record["file"], None, None, *[None] * len(book.assignments)])
        for each in book.assignments:
            rows[-1] += [record["points"], None, None, None, reason] if each == name else [None] * 5
    return [[*map(cell, row)] for row in rows]


# What follows goes back to where it came from: cells stay as they are, or nobody would be known there.


def rescaled(mark: Mark, most: str) -> str:
    """The mark of 100 as one of the platform's, whose cell for the most is 20 or 20,00."""
    try:
        return f"{mark.mark * float(most.strip().replace(',', '.')) / 100:.2f}"
    except ValueError:
        return f"{mark.mark:.2f}"


def canvas_gradebook(book: Book) -> list[list[str]]:
    """Canvas's gradebook with the marks, as it imports them: its headings up to Section, then assignments.

    Who handed nothing in keeps the cell that is there.
    """
    roster = book.term.roster
    if not roster or roster.headings[:2] != ["Student", "ID"] or "Section" not in roster.headings:
        raise XManError("the roster is no gradebook that Canvas exported: Student, ID, …, Section")
    about, columns = [*range(roster.headings.index("Section") + 1)], {}
    for name in book.assignments:
        title = book.term.rules(name).canvas
        if title not in roster.headings[len(about):]:
            titles = ", ".join(roster.headings[len(about):])
            raise XManError(f"{roster.path}: [{name}] canvas should be a column's title; there are {titles}")
        columns[name] = roster.headings.index(title, len(about))
    rows = [[row[k] for k in [*about, *columns.values()]] for row in [roster.headings, *roster.rows]]
    most = next((row for row in rows if row[0].strip() == "Points Possible"), [""] * len(rows[0]))
    for student in roster.students:
        for k, name in enumerate(columns, len(about)):
            if (mark := book.marks[student.key, name]).points is not None:
                rows[1 + student.row][k] = rescaled(mark, most[k])
    return rows


def moodle_worksheet(book: Book, name: str) -> list[list[str]]:
    """Moodle's grading worksheet of an assignment with the marks, and the rest as it was."""
    sheet = read_roster(book.term.rules(name).moodle)
    place = {heading.strip().casefold(): k for k, heading in enumerate(sheet.headings)}
    if missing := {"identifier", "grade", "last modified (grade)"} - place.keys():
        raise XManError(f"{sheet.path} is no worksheet of Moodle in English: no {', '.join(sorted(missing))}")
    rows = [sheet.headings, *map(list, sheet.rows)]
    keys = {plain_name(each.key): each.key for each in book.students}
    for student in sheet.students:
        row = rows[1 + student.row]
        cells = lambda heading, row=row: row[place[heading]] if heading in place else ""
        owners = book.term.roster.identified(student.words) if book.term.roster else []
        key = owners[0].key if len(owners) == 1 else keys.get(plain_name(student.key), "")
        mark = book.marks.get((key, name), Mark())
        if mark.points is not None and cells("grade can be changed").strip().casefold() != "no":
            row[place["grade"]] = rescaled(mark, cells("maximum grade"))
    return rows
