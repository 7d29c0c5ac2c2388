"""The roster: who is in the course, from one's own CSV, Canvas's gradebook or Moodle's grading worksheet."""
from __future__ import annotations

import csv
import functools
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import XManError, nearest

# headings, in small letters, by what they hold: one's own, Canvas's, Moodle's, Gradescope's, Autolab's
NAMES, FIRST = ("name", "full name", "student", "display name"), ("first name", "firstname")
LAST, GROUPS = ("last name", "lastname", "surname"), ("group", "group name", "team")
IDS = ("id;identifier;id number;student id;sid;sis user id;sis login id;login;username;user name;user id;"
       "matriculation number;email;email address;e-mail;mail").split(";")
NOBODY = "student, test", "points possible", "test student"  # rows of Canvas's gradebook


@dataclass(frozen=True)
class Student:
    """A row of the roster. key: the name, with an id where two have one name. ids: by their headings.

    row: which of the file's rows, from 0, without the headings.
    """
    key: str
    name: str
    ids: dict[str, str] = field(default_factory=dict)
    group: str = ""
    row: int = 0

    @property
    def words(self) -> list[str]:
        return [self.name, *self.ids.values()]


@dataclass(frozen=True)
class Roster:
    """The students, and the file that they came from: its headings and rows as they were."""
    path: Path
    students: list[Student]
    headings: list[str]
    rows: list[list[str]]

    @functools.cached_property
    def tables(self) -> tuple[dict[str, list[Student]], dict[str, list[Student]]]:
        """The students by their ids, and by their names."""
        by_id: dict[str, list[Student]] = {}
        by_name: dict[str, list[Student]] = {}
        for each in self.students:
            for word in each.ids.values():
                by_id.setdefault(plain_id(word), []).append(each)
            for word in {plain_name(each.key), plain_name(each.name), *run_together(each.name)}:
                by_name.setdefault(word, []).append(each)
        return by_id, by_name

    def identified(self, words: Iterable[str]) -> list[Student]:
        """The students that the words, ids and names, are of: one, or several if they do not say which."""
        by_id, by_name = self.tables
        of_ids = [each for word in words for each in by_id.get(plain_id(word), [])]
        of_names = [each for word in words for each in by_name.get(plain_name(word), [])]
        # an id of one platform may be another student's on the next: the name has to agree where there is one
        both = [each for each in of_ids if each in of_names]
        return list({each.key: each for each in both or of_ids + of_names}.values())

    def named(self, who: str, where: str) -> list[Student]:
        """The one student of a name or id, or all of a group. XManError, with the place, if there is none."""
        students = self.identified([who])
        if len(students) > 1:
            keys = " and ".join(repr(each.key) for each in students)
            raise XManError(f"{where}: {len(students)} students have this name; say which, {keys}")
        group = [each for each in self.students if each.group and plain_name(each.group) == plain_name(who)]
        if not (students or group):
            choices = {each.key for each in self.students} | {each.group for each in self.students}
            near = nearest(who, sorted(choices))
            raise XManError(f"{where}: nobody in {self.path.name} has this name{near}")
        return students or group


def plain_id(text: str) -> str:
    """An id as it is compared. Moodle's "Participant 123" is the 123 in the names of its folders."""
    return re.sub(r"^participant\s+(?=\d+$)", "", text.strip().casefold())


def plain_name(text: str) -> str:
    """A name as it is compared: its words, sorted, without accents, case and signs.

    "Lovelace, Ada", "ada_lovelace" and "Ada Lovelace" are one name.
    """
    letters = filter(lambda c: not unicodedata.combining(c), unicodedata.normalize("NFKD", text.casefold()))
    return " ".join(sorted(re.findall(r"[^\W_]+", "".join(letters))))


def run_together(name: str) -> list[str]:
    """The name as Canvas writes it in names of files, lovelaceada; it does not say where a surname begins."""
    words = re.findall(r"[^\W_]+", name.casefold())
    return [plain_name("".join(words[k:] + words[:k])) for k in range(len(words))]


def read_csv(path: Path) -> list[list[str]]:
    """The rows of a CSV file, with commas, semicolons or tabs, as spreadsheets write it."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except OSError as error:
        raise XManError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise XManError(f'{path} is not in UTF-8: save it as "CSV UTF-8", or names are spoilt') from None
    text = re.sub(r"\Asep=.\r?\n", "", text).lstrip("\r\n")  # a line that Excel writes and reads
    cells = lambda mark: len(next(csv.reader([text.partition("\n")[0]], delimiter=mark), []))
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=cells), strict=True)]
    except csv.Error as error:
        raise XManError(f"{path} is no CSV file: {error}") from None
    return [row for row in rows if any(map(str.strip, row))]


def read_roster(path: Path) -> Roster:
    """The roster of a file. XManError where students cannot be told apart, or there is none."""
    headings, *rows = read_csv(path) or [[]]
    plain = [heading.strip().casefold() for heading in headings]
    if not {*NAMES, *LAST} & {*plain}:
        raise XManError(f"{path}: no column of names, as 'name'; there are {', '.join(headings) or 'none'}")
    students = []
    for number, row in enumerate(rows):
        cells = {heading: text for heading, cell in zip(plain, row, strict=False) if (text := cell.strip())}
        first = lambda names, cells=cells: next((cells[name] for name in names if name in cells), "")
        name = first(NAMES) or f"{first(FIRST)} {first(LAST)}".strip()
        if name.casefold() in NOBODY:
            continue
        if not plain_name(name):
            raise XManError(f"{path}: row {number + 2} has no name: {', '.join(row)[:80]}")
        ids = {heading: cells[heading] for heading in IDS if heading in cells}
        students.append(Student(name, name, ids, first(GROUPS), number))
    if not students:
        raise XManError(f"{path} has no student")
    times = Counter(plain_name(each.name) for each in students)
    for k, each in enumerate(students):
        if times[plain_name(each.name)] > 1:
            if not each.ids:
                raise XManError(f"{path}: the name {each.name!r} is there twice, and no id tells them apart")
            key = f"{each.name} {next(iter(each.ids.values()))}"
            students[k] = Student(key, each.name, each.ids, each.group, each.row)
    for heading in ("", *IDS):  # "": the keys
        words = [each.ids.get(heading) if heading else each.key for each in students]
        if twice := [word for word, n in Counter(map(plain_id, filter(None, words))).items() if n > 1]:
            raise XManError(f"{path}: {heading} {twice[0]!r} is there twice")
    return Roster(path, students, headings, rows)
