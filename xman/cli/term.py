"""The commands of a term: its gradebook, likeness of submissions, lists of one's own on paper."""
from __future__ import annotations

from pathlib import Path

import click

from ..errors import XManError
from .grade import PLACES, SETTINGS, WHERE, grade, term_of
from .options import option_table


@grade.command()
@click.argument("names", nargs=-1, required=True, metavar="ASSIGNMENT...")
@option_table(f"""{WHERE}
    {SETTINGS}
    --grades=.   DIR  Where the folders ASSIGNMENT-grades lie, which the runs have written.
    --out=book   DIR  Where book.csv goes, and canvas.csv and moodle-ASSIGNMENT.csv if the roster is theirs.""",
              **PLACES)
def book(names: tuple[str, ...], assignments: Path | None, settings: Path | None, grades: Path,
         out: Path) -> None:
    """Write the gradebook of the term: lateness, groups, who handed nothing in. It judges nothing."""
    from ..grade import folder_of
    from ..grade.run import kept_records
    from ..grade.term import files
    from ..grade.term.book import book_of, table
    from ..grade.term.hand_in import kept_hand_ins
    folders = {folder.name: folder for folder in (folder_of(name, assignments) for name in names)}
    term = term_of(next(iter(folders.values())), settings)
    places = {name: grades / f"{name}-grades" for name in folders}
    if missing := [place for place in places.values() if not (place / "records").is_dir()]:
        raise XManError(f"{missing[0]} has no records: grade the assignment, or give --grades DIR")
    made = book_of(term, {name: kept_records(place) for name, place in places.items()},
                   {name: kept_hand_ins(place) for name, place in places.items()})
    tables = {"book.csv": files.book_rows(made)}
    if any(term.rules(name).canvas for name in folders):
        tables["canvas.csv"] = files.canvas_gradebook(made)
    tables |= {f"moodle-{name}.csv": files.moodle_worksheet(made, name) for name in folders
               if term.rules(name).moodle}
    out.mkdir(parents=True, exist_ok=True)
    for file_name, rows in tables.items():
        files.write_rows(out / file_name, rows)
    print(f"{table(made)}\n{out}: {', '.join(tables)}")
