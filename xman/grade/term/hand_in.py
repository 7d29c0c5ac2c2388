"""Who handed in, whose it is, and when: from what platforms write beside the files, or into their names.

The time is never that of grading, nor that of a file on this disk, which a copy or an unpacking changes.
"""
from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import XManError, extra, nearest
from ...files.whole import text_at, write_whole
from ..submissions import Submission
from ..submissions.finding import ENDINGS
from .roster import Roster, Student, plain_name
from .settings import Term

# Canvas: lovelaceada_LATE_1234_98765_wengert.py, with the numbers of the student and of the file
CANVAS = re.compile(r"(?P<name>\w+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<version>\d+)_.+")
# Moodle: Ada Lovelace_1234_assignsubmission_file_, a folder, or before the name of a file
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(_.*)?")
# Autolab: ada@example.edu_3_wengert.py, the third version
AUTOLAB = re.compile(r"(?P<id>\S+@[^\s_]+)_(?P<version>\d+)_.+")
# one's own: ada 2026-11-06T23:58:10, with - or . or nothing for : and with the offset, if there is one
DATED = re.compile(r"(?P<name>.+?)[ _.@-]+(?P<date>\d{4}-\d\d-\d\d)[T _-](?P<h>\d\d)[-:.h]?(?P<m>\d\d)"
                   r"(?:[-:.]?(?P<s>\d\d))?(?P<offset>Z|[+-]\d\d:?\d\d)?")
METADATA = "submission_metadata.yml"  # of an export of Gradescope, beside its folders submission_1234
# Moodle's English dates: Wednesday, 10 June 2026, 2:14 PM, or Wednesday, June 10, 2026, 2:14 PM
MOODLE_DATES = "%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M"
KEPT = "hand_ins.json"  # in a folder of grades: what an export's metadata said
UTC = datetime.timezone.utc  # noqa: UP017 (3.10)
BROKEN = ValueError, KeyError, TypeError, AttributeError  # what metadata of another form give


class HandIn(NamedTuple):
    """who: the words for each submitter. at: when, if that is known. late: the platform says no more.

    trouble: why the time that is given is none.
    """
    who: tuple[tuple[str, ...], ...]
    at: datetime.datetime | None = None
    late: bool = False
    version: int = 0
    trouble: str = ""


def hand_in_of(name: str, zone: datetime.tzinfo | None) -> HandIn:
    """What the name of a file or folder tells. The student chose it: a time that is none stops no class."""
    for pattern in (MOODLE, AUTOLAB, CANVAS):
        if match := pattern.fullmatch(name):
            words = match.groupdict()
            # a text that was typed into Moodle's page gives way to a file
            version = -1 if words.get("kind") == "onlinetext" else int(words.get("version") or 0)
            who = tuple(words[key] for key in ("name", "id") if words.get(key))
            return HandIn((who,), None, bool(words.get("late")), version)
    stem = ENDINGS.sub("", name)
    if match := DATED.fullmatch(stem):
        clock = f"{match['date']}T{match['h']}:{match['m']}:{match['s'] or '00'}{match['offset'] or ''}"
        try:
            return HandIn(((match["name"],),), time_of(clock, zone, repr(name[:80])))
        except XManError as error:
            return HandIn(((match["name"],),), trouble=str(error))
    return HandIn(((stem,),))


def time_of(time: Any, zone: datetime.tzinfo | None, where: str) -> datetime.datetime:
    """The moment of an ISO text, or of YAML's own; the earlier one of a time that clocks show twice."""
    # Python 3.10 knows no Z, no offset without a colon, and six digits of a second
    text = re.sub(r"(\.\d{6})\d+", r"\1", str(time)).replace("Z", "+00:00")
    text = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", text)
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        time = datetime.datetime.min
    if not 1 < time.year < 9999:  # UTC, and days of lateness, have to lie within Python's years too
        raise XManError(f"{where}: {text!r} is no time")
    if time.tzinfo is None and zone is None:
        raise XManError(f'{where} has a time without a zone: write zone = "Europe/Berlin" into term.toml')
    return time if time.tzinfo else time.replace(tzinfo=zone)


def submitters(people: list[Mapping[str, Any]], keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(str(each[key]) for key in keys if each.get(key)) for each in people)


def gradescope_export(place: Path) -> dict[str, HandIn]:
    """The hand-ins of the folders of Gradescope's export at this place, by the names of the folders."""
    path = place / METADATA
    if not path.is_file():
        return {}
    yaml = extra("yaml", "grade", METADATA)
    try:
        entries = yaml.load(text_at(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if strange := [folder for folder in entries if not re.fullmatch(r"submission_\d+", folder)]:
            raise KeyError(f"{strange[0]}, no folder of an export")  # a student's own file of this name
        times = {folder: time_of(about[":created_at"], UTC, folder) for folder, about in entries.items()}
        keys = ":name", ":sid", ":email"
        people = {folder: submitters(about[":submitters"], keys) for folder, about in entries.items()}
        return {folder: HandIn(people[folder], times[folder]) for folder in entries}
    except (yaml.YAMLError, *BROKEN) as error:
        raise XManError(f"{path} is not as Gradescope writes it: {type(error).__name__} {error}") from None


def gradescope_metadata(path: Path) -> tuple[HandIn, datetime.datetime | None]:
    """(the hand-in, when points of hidden parts were last shown before it), from submission_metadata.json.

    https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
    """
    try:
        about = json.loads(text_at(path))
        hidden_shown = lambda each: ((each.get("results") or {}).get("extra_data") or {}).get("hidden_shown")
        times = [each["submission_time"] for each in about["previous_submissions"] if hidden_shown(each)]
        shown = max((time_of(time, UTC, path.name) for time in times), default=None)
        who = submitters(about["users"], ("name", "sid", "email"))
        return HandIn(who, time_of(about["created_at"], UTC, path.name)), shown
    except BROKEN as error:
        raise XManError(f"{path} is not as Gradescope writes it: {type(error).__name__} {error}") from None


def moodle_times(worksheet: Roster,
                 zone: datetime.tzinfo | None) -> Iterator[tuple[Student, datetime.datetime]]:
    """When each student of a grading worksheet handed in, from its column "Last modified (submission)"."""
    headings = [*map(plain_name, worksheet.headings)]
    heading = plain_name("Last modified (submission)")
    place = headings.index(heading) if heading in headings else None
    for student in worksheet.students if place is not None else ():
        text = " ".join(worksheet.rows[student.row][place].split())
        clock = None
        for form in MOODLE_DATES:
            with contextlib.suppress(ValueError):
                clock = clock or datetime.datetime.strptime(text, form)
        if clock:
            yield student, time_of(clock, zone, str(worksheet.path))
        elif text not in ("", "-"):
            raise XManError(f"{worksheet.path}: {text!r} is no date in English: set Moodle to English first")


def hand_ins(submissions: list[Submission]) -> dict[str, HandIn]:
    """What an export's metadata say of the submissions, by slug."""
    exports = {place: gradescope_export(place) for place in {each.path.parent for each in submissions}}
    entries = {each.slug: exports[each.path.parent].get(each.path.name) for each in submissions}
    return {slug: hand_in for slug, hand_in in entries.items() if hand_in}


def kept_hand_ins(out: Path) -> dict[str, HandIn]:
    """What runs have kept of the platform's metadata in a folder of grades, by slug."""
    path = out / KEPT
    try:
        about = json.loads(text_at(path)) if path.is_file() else {}
        return {slug: HandIn((*map(tuple, who),), time_of(at, UTC, "")) for slug, (who, at) in about.items()}
    except BROKEN as error:
        raise XManError(f"{path} cannot be read ({error}): delete it, and grade the export again") from None


def keep_hand_ins(out: Path, fresh: Mapping[str, HandIn]) -> None:
    """Keep them beside those of earlier runs."""
    if fresh:
        out.mkdir(parents=True, exist_ok=True)
        entries = {slug: (each.who, str(each.at)) for slug, each in {**kept_hand_ins(out), **fresh}.items()}
        write_whole(out / KEPT, json.dumps(entries, indent=1) + "\n")


def owned(submissions: list[Submission], exported: Mapping[str, HandIn], term: Term) -> list[Submission]:
    """The submissions with the key of their student, or the group of several; "" where it is not known."""
    owners = {}
    for each in submissions:
        hand_in = exported.get(each.slug) or hand_in_of(each.path.name, term.zone)
        students = [term.roster.identified(words) for words in hand_in.who] if term.roster else [[]]
        owner = students[0][0] if students and all(len(several) == 1 for several in students) else None
        owners[each.slug] = "" if not owner else owner.key if len(students) == 1 else owner.group
    return [replace(each, student=owners[each.slug]) for each in submissions]


def slugs_of(names: Iterable[str], submissions: list[Submission], term: Term) -> set[str]:
    """The slugs of the submissions that are named: by themselves, their files, or students of the roster."""
    words = {each.slug: {each.name, each.path.name, each.slug, each.student} - {""} for each in submissions}
    slugs = set()
    for name in names:
        keys = {name} | {each.key for each in (term.roster.identified([name]) if term.roster else ())}
        if not (matches := {slug for slug in words if words[slug] & keys}):
            near = nearest(name, sorted(set().union(*words.values())))
            raise XManError(f"--again {name}: no submission here has this name{near}")
        slugs |= matches
    return slugs
