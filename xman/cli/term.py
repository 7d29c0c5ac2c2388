"""The commands of a term: its gradebook, likeness of submissions, lists of one's own on paper."""
from __future__ import annotations

import click

from ..errors import XManError
from ..files.whole import text_at, write_whole
from .grade import ASSIGNMENT, PLACES, SETTINGS, TERM, WHERE, assignment_of, grade, term_of
from .options import PATH, option_table


@grade.command()
@click.argument("names", nargs=-1, required=True, metavar="ASSIGNMENT...")
@option_table(f"""{WHERE}
    {SETTINGS}
    --grades     DIR  Where the folders ASSIGNMENT-grades are that the runs have written.  [default: here]
    --out=book   DIR  Where to write book.csv, and canvas.csv or moodle-ASSIGNMENT.csv if the roster is from there.""",
              **PLACES)
def book(names, assignments, settings, grades, out) -> None:
    """Write the gradebook of the term: lateness, groups, who handed nothing in. It judges nothing."""
    from ..grade import folder_of
    from ..grade.reports.gradebook import write_rows
    from ..grade.run import grades_here, kept_records
    from ..grade.term import files
    from ..grade.term.book import book_of, marks_table
    from ..grade.term.hand_in import kept_hand_ins
    folders = {folder.name: folder for folder in (folder_of(name, assignments) for name in names)}
    term = term_of(next(iter(folders.values())), settings)
    places = {name: grades / f"{name}-grades" if grades else grades_here(name) for name in folders}
    if missing := [place for place in places.values() if not (place / "records").is_dir()]:
        raise XManError(f"{missing[0]} has no records: grade the assignment, or give --grades DIR")
    records = {name: kept_records(place) for name, place in places.items()}
    marks = book_of(term, records, {name: kept_hand_ins(place) for name, place in places.items()})
    tables = {"book.csv": files.book_rows(marks)}
    if any(term.rules(name).canvas for name in folders):
        tables["canvas.csv"] = files.canvas_gradebook(marks)
    for name in filter(lambda name: term.rules(name).moodle, folders):
        tables[f"moodle-{name}.csv"] = files.moodle_worksheet(marks, name)
    out.mkdir(parents=True, exist_ok=True)
    for file_name, rows in tables.items():
        write_rows(out / file_name, rows, marked=file_name == "book.csv")
    print(f"{marks_table(marks)}\n{out}: {', '.join(tables)}")


@grade.command()
@ASSIGNMENT
@click.argument("submissions", nargs=-1, required=True, type=PATH, metavar="SUBMISSION...")
@option_table(f"""{WHERE}
    {SETTINGS}
    --least=50          percent  List pairs that have at least so many per cent in common.
    --out=similar.html  FILE     The page to write, which shows pairs side by side.""", percent=click.IntRange(1, 100), **PLACES)
def similar(name, submissions, assignments, settings, least, out) -> None:
    """Find submissions that are equal or have similar syntax trees, whatever their names and layout."""
    from ..grade.handout.handout import starter
    from ..grade.reports.pages import templates
    from ..grade.submissions import find
    from ..grade.term import similar as likeness
    from ..grade.term.hand_in import hand_ins, owned
    assignment = assignment_of(name, assignments, submissions)
    work = find(submissions, assignment.module)
    term = term_of(assignment.folder, settings)
    work = owned(work, hand_ins(work), term)
    sources, refused = {}, 0
    for each in work:
        try:
            sources[each.name] = each.program(assignment.module).decode("utf-8", "replace")
        except XManError:  # the run has told its student why
            refused += 1
    solution = assignment.folder / "solution" / f"{assignment.module}.py"
    handed_out = [starter(text_at(solution))] if solution.is_file() else []
    grouped = term.roster if term.rules(assignment.folder.name).groups else None
    groups = {each.key: each.group for each in grouped.students} if grouped else {}
    owners = {each.name: groups.get(each.student) or each.student for each in work}
    alike = likeness.similar_pairs(sources, handed_out, least / 100)
    pairs = [pair for pair in alike if not owners[pair.one] or owners[pair.one] != owners[pair.two]]
    page = templates().get_template("similar.html")
    write_whole(out, page.render(title=assignment.title, pairs=pairs, sources=sources))
    for pair in pairs:
        print(f"{pair.share:4.0%}  {pair.one}  {pair.two}")
    print(f"{len(sources)} compared, {refused} could not be read: {out}")


@grade.command()
@ASSIGNMENT
@option_table(f"""{WHERE}
    {SETTINGS}
    {TERM}
    --grades  DIR  The folder of the grades, which keeps the secret.  [default: ASSIGNMENT-grades]
    --out!    DIR  A new folder for sheets.html and key.html.""", **PLACES)
def sheets(name, assignments, settings, term, grades, out) -> None:
    """Write a list for each student to be printed, and a key with the answers for the assistant."""
    from ..grade.handout.handout import fresh_folder
    from ..grade.run import grades_here, kept_term, locked, secret
    from ..grade.term import personal
    assignment = assignment_of(name, assignments)
    roster = term_of(assignment.folder, settings).roster
    if not (assignment.drawn_parts and roster):
        reason = "none of its parts has personal=" if roster else "term.toml names no roster"
        raise XManError(f"{name} draws no list for each student: {reason}")
    secret(term)  # before a folder is made
    grades = grades or grades_here(assignment.folder.name)
    with locked(grades):
        drawn_from = kept_term(grades, term)
    with fresh_folder(out) as fresh:
        for file_name, answers in (("sheets.html", False), ("key.html", True)):
            write_whole(fresh / file_name, personal.sheets(assignment, drawn_from, roster.students, answers))
    print(f"{out}: sheets.html and key.html for {len(roster.students)} students")
