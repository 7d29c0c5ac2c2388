"""term.toml: the settings of a term, in one file beside the folders of its assignments.

    zone = "Europe/Berlin"         # of the dates below that name none
    roster = "roster.csv"          # relative to this file
    late_days = 3                  # that a student may use in the whole term
    penalty = 10                   # points for each day beyond them

    [wengert]
    due = 2026-11-06T23:59:00
    [wengert.extensions]
    "Ada Lovelace" = 2             # days, or a date
"""
from __future__ import annotations

import datetime
import re
import sys
import zoneinfo
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import XManError, extra, nearest, refuse_unknown
from ...files.whole import text_at
from .roster import Roster, Student, read_roster

FILE = "term.toml"
TOML = "tomllib" if sys.version_info >= (3, 11) else "tomli"
VISIBILITIES = "visible", "after_due_date", "after_published"  # Gradescope's words; the first is its default
# the most that a number may be, or the kind of another setting
OF_TERM = dict(zone=str, roster=str, late_days=1000)
# of an assignment, or at the top for all
SHARED = dict(penalty=100.0, grace=1440.0, cooldown=1e6, weight=1e6, hidden=str, groups=bool, published=bool)
OF_ONE = SHARED | dict(due=None, until=None, canvas=str, moodle=str, extensions=dict, times=dict)
NOUN = dict(str="a quoted text", bool="true or false", dict="a table", int="a whole number", float="a number")


@dataclass(frozen=True)
class Rules:
    """What holds for one assignment; the defaults are those of a term without settings.

    due, until: the deadline, and the last moment at which a late hand-in is taken. penalty: points for a day
    of lateness. grace: minutes after the deadline that count as before it. weight: in the total. hidden: when
    students see the points of hidden parts. cooldown: minutes until hidden parts are shown again. groups:
    whether one hands in for all of a group. canvas: the title of the column in Canvas's gradebook. moodle:
    the grading worksheet. extensions, times: by the key of a student.
    """
    name: str
    due: datetime.datetime | None = None
    until: datetime.datetime | None = None
    penalty: float = 0
    grace: float = 0
    weight: float = 1
    hidden: str = VISIBILITIES[0]
    cooldown: float = 0
    groups: bool = False
    published: bool = False
    canvas: str | None = None
    moodle: Path | None = None
    extensions: Mapping[str, datetime.datetime] = field(default_factory=dict)
    times: Mapping[str, datetime.datetime] = field(default_factory=dict)

    def due_of(self, student: Student | None) -> datetime.datetime | None:
        return self.extensions.get(student.key, self.due) if student else self.due

    def later(self, now: datetime.datetime) -> bool:
        """Whether the points of hidden parts are still closed to students: before the last extension ends."""
        if self.hidden == "after_due_date" and self.due:
            return utc(now) <= max(map(utc, [self.due, *self.extensions.values()]))
        return self.hidden != "visible" and not self.published


@dataclass(frozen=True)
class Term:
    """The settings of all assignments, and the roster, None if there is none."""
    zone: datetime.tzinfo | None = None
    roster: Roster | None = None
    late_days: int = 0
    assignments: Mapping[str, Rules] = field(default_factory=dict)

    def rules(self, name: str) -> Rules:
        return self.assignments.get(name) or Rules(name)


def read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """(the text of the file, what it says). XManError where it is no TOML."""
    toml, text = extra(TOML, "grade", path.name), text_at(path).removeprefix("\ufeff")
    try:
        return text, toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise XManError(f"{path}: {error}") from None


def term_at(path: Path, names: Collection[str]) -> Term:
    """The term of a file. names: the assignments that it may speak of. XManError for what is not right."""
    _, settings = read_settings(path)
    tables = {name: settings.pop(name) for name in [*settings] if isinstance(settings[name], dict)}
    refuse_unknown(settings, {**OF_TERM, **SHARED}, f"{path}: there is no setting {{!r}} at the top")
    refuse_unknown(tables, names, f"{path}: [{{}}] is the name of no assignment")
    for key, setting in settings.items():
        check_setting(f"{path}: {key}", setting, {**OF_TERM, **SHARED}[key])
    try:
        zone = zoneinfo.ZoneInfo(settings["zone"]) if "zone" in settings else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        near = nearest(settings["zone"], zoneinfo.available_timezones())
        raise XManError(f"{path}: zone = {settings['zone']!r} is no time zone{near}") from None
    roster = read_roster(path.parent / settings["roster"]) if "roster" in settings else None
    term = Term(zone, roster, settings.get("late_days", 0))
    common = {key: settings[key] for key in SHARED if key in settings}
    rules = {name: assignment_rules(name, common | table, path, term) for name, table in tables.items()}
    return replace(term, assignments=rules)


def assignment_rules(name: str, table: dict[str, Any], path: Path, term: Term) -> Rules:
    """The rules of an assignment's table, in which those at the top are."""
    place, zone, roster = f"{path}: [{name}]", term.zone, term.roster
    refuse_unknown(table, OF_ONE, f"{place} has no setting {{!r}}")
    for key, setting in table.items():
        check_setting(f"{place} {key}", setting, OF_ONE[key])
    dates = {key: moment(f"{place} {key}", table[key], zone) for key in ("due", "until") if key in table}
    due, until = dates.get("due"), dates.get("until")
    if until and (due is None or utc(until) < utc(due)):
        raise XManError(f"{place} until is the last moment for late work: it needs a due before it")
    if table.get("hidden") == "after_due_date" and due is None:
        raise XManError(f'{place} hidden = "after_due_date" needs a due')
    if table.get("groups") and not (roster and any(each.group for each in roster.students)):
        raise XManError(f"{place} groups = true needs a roster with a column group")
    by_student: dict[str, dict[str, datetime.datetime]] = {"extensions": {}, "times": {}}
    for key, times in by_student.items():
        for who, setting in table.get(key, {}).items():
            where = f"{place} {key} of {who!r}"
            if roster is None:
                raise XManError(f"{where}: the term has no roster to find them in")
            time = moment(where, setting, zone) if key == "times" else extended(where, setting, zone, due)
            for student in roster.named(who, where):
                if student.key in times:
                    raise XManError(f"{where}: {student.name} is there twice, once as a member of a group")
                times[student.key] = time
    moodle = {"moodle": path.parent / table["moodle"]} if "moodle" in table else {}
    return Rules(name, **{**table, **dates, **by_student, **moodle})


def term_files(path: Path, name: str, roster: Roster | None) -> dict[str, bytes]:
    """The file with the table of one assignment, and the roster: what a grader elsewhere needs."""
    lines, belongs = [], True
    text, settings = read_settings(path)
    for line in text.splitlines():
        if table := re.match(r"""\s*\[\s*["']?([\w-]+)""", line):
            belongs = table[1] == name
        lines += [line] * belongs
    text = re.sub(r"(?m)^roster\s*=.*$", 'roster = "roster.csv"', "\n".join([*lines, ""]))
    siblings = {key: each for key, each in settings.items() if key != name and isinstance(each, dict)}
    excerpt, roster_line = extra(TOML, "grade", path.name).loads(text), {"roster": ""}
    if excerpt.keys() & siblings.keys() or excerpt | siblings | roster_line != settings | roster_line:
        raise XManError(f"{path}: write each table under a line of its own, as [{name}], and the roster too")
    return {FILE: text.encode(), **({"roster.csv": roster.path.read_bytes()} if roster else {})}


def check_setting(where: str, setting: Any, kind: Any) -> None:
    """XManError unless the setting is of its kind, a type, or a number of that type from 0 to that."""
    if kind is None:  # a date, which `moment` reads
        return
    wanted = kind if isinstance(kind, type) else type(kind)
    numbers = (int, float) if wanted is float else (wanted,)
    if not isinstance(setting, numbers) or isinstance(setting, bool) and wanted is not bool:
        raise XManError(f"{where} = {setting!r} should be {NOUN[wanted.__name__]}")
    if wanted is not kind and not 0 <= setting <= kind:
        raise XManError(f"{where} = {setting} should be from 0 to {kind:g}")
    if where.endswith("hidden") and setting not in VISIBILITIES:
        near = nearest(setting, VISIBILITIES)
        raise XManError(f"{where} = {setting!r}: there are {', '.join(VISIBILITIES)}{near}")


def moment(where: str, time: Any, zone: datetime.tzinfo | None) -> datetime.datetime:
    """A date of the file in the term's zone. XManError where it names no single moment."""
    if not isinstance(time, datetime.datetime):
        raise XManError(f"{where} = {time} should be a date with a time, as 2026-11-06T23:59:00, unquoted")
    if time.tzinfo:
        return time.astimezone(zone) if zone else time
    text = time.isoformat()
    if zone is None:
        raise XManError(f'{where} = {text} has no zone: write {text}+01:00, or zone = "Europe/Berlin" on top')
    if len({time.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)}) > 1:
        raise XManError(f"{where} = {text} is there twice or never, as the clocks of {zone} are changed")
    return time.replace(tzinfo=zone)


def extended(where: str, end: Any, zone: datetime.tzinfo | None,
             due: datetime.datetime | None) -> datetime.datetime:
    """The deadline of an extension, which is a number of days or a date."""
    if due is None:
        raise XManError(f"{where}: there is no due that could be extended")
    if isinstance(end, int) and not isinstance(end, bool):
        if not 0 <= end <= 1000:
            raise XManError(f"{where} = {end} should be from 0 to 1000 days")
        return due + datetime.timedelta(days=end)
    time = moment(where, end, zone)
    if utc(time) < utc(due):
        raise XManError(f"{where} = {time.isoformat()} is before the deadline itself, {due.isoformat()}")
    return time


def utc(time: datetime.datetime) -> datetime.datetime:
    """The time in UTC: Python compares times of one zone by their clocks, though these are turned back."""
    return time.astimezone(datetime.timezone.utc)  # noqa: UP017 (3.10)
