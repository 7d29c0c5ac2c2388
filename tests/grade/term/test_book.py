"""Facts about hand-ins and marks: who, when, how late, and what that costs."""

import csv
import datetime
import io
import itertools
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from term_texts import BERLIN, ROSTER

from xman.errors import XManError
from xman.grade.reports.gradebook import write_rows
from xman.grade.submissions import Submission
from xman.grade.term.book import book_of, days_late, marks_table
from xman.grade.term.files import book_rows, canvas_gradebook, moodle_worksheet
from xman.grade.term.hand_in import (
    HandIn,
    gradescope_export,
    gradescope_metadata,
    hand_in_of,
    keep_hand_ins,
    kept_hand_ins,
    owned,
)

ZONE = ZoneInfo("Europe/Berlin")
DUE = BERLIN + "penalty = 10\n[one]\ndue = 2026-11-06T23:59:00\n"


def book(term, *records, kept=(), **more):
    return book_of(term, {"one": {each["slug"]: each for each in records}, **more}, {"one": dict(kept), "two": {}})


def marks(made, name="one"):
    return {student.name.split()[0]: made.marks[student.key, name].mark for student in made.students}


# ---- who, and when -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, who, at, late, version", [
    ("lovelaceada_1234_98765_wengert.py", ("lovelaceada", "1234"), None, False, 98765),
    ("lovelaceada_LATE_1234_98765_my_2_files-1.zip", ("lovelaceada", "1234"), None, True, 98765),
    ("Ada Lovelace_412_assignsubmission_file_", ("Ada Lovelace", "412"), None, False, 0),
    ("Ada_B Lovelace_412_assignsubmission_file_a_1.py", ("Ada_B Lovelace", "412"), None, False, 0),
    ("Ada Lovelace_412_assignsubmission_onlinetext_", ("Ada Lovelace", "412"), None, False, -1),
    ("ada_l@x.edu_3_wengert.py", ("ada_l@x.edu",), None, False, 3),
    ("ada.py", ("ada",), None, False, 0), ("Ada Lovelace.tar.gz", ("Ada Lovelace",), None, False, 0),
    ("ada 2026-11-06T23:58:10.py", ("ada",), "2026-11-06T23:58:10+01:00", False, 0),
    ("ada_2026-11-06_2358.py", ("ada",), "2026-11-06T23:58:00+01:00", False, 0),
    ("ada-2026-11-06T23-58-10Z.zip", ("ada",), "2026-11-06T23:58:10+00:00", False, 0),
    ("ada_2026-10-25T02.30.py", ("ada",), "2026-10-25T02:30:00+02:00", False, 0)])  # twice: the earlier one
def test_the_name_of_a_file_tells_who_and_when(name, who, at, late, version):
    hand_in = hand_in_of(name, ZONE)
    assert (hand_in.who, hand_in.at and hand_in.at.isoformat(), hand_in.late, hand_in.version) == ((who,), at, late, version)


@pytest.mark.parametrize("time", ["2026-11-31T23:58", "2026-11-30T25:00", "0000-01-01T00:00", "0001-01-01T00:00",
                                  "9999-12-31T23:59-14:00", "2026-11-30T23:58+99:99"])
def test_a_time_in_a_name_that_is_none_is_said_of_that_student_and_the_others_have_their_marks(term, record, time):
    made = book(term(DUE), record(f"Ada Lovelace {time}.py", 70.0), record("Grace Hopper 2026-11-07T10:00.py", 80.0))
    assert marks(made) == {"Ada": 70, "Grace": 70, "Ü,": 0}
    assert f"Ada Lovelace, one: no time of hand-in is known ('Ada Lovelace {time}.py': '" in marks_table(made)
    assert "is no time): taken as in time" in marks_table(made)


def test_a_time_in_a_name_without_a_zone_is_said_of_that_student():
    hand_in = hand_in_of("ada 2026-11-30T23:58.py", None)
    assert hand_in.who == (("ada",),) and hand_in.at is None and "without a zone" in hand_in.trouble


EXPORT = """---
submission_5:
  :submitters:
  - :name: "Ada Lovelace"
    :sid: '77'
    :email: ada@x.edu
  - :name: Grace Hopper
    :email: g@x.edu
  :created_at: 2026-11-06 22:58:59.264393000 Z
  :score: 12.0
  :results:
    output: |
      submission_6:
        :submitters:
    - :name: Eve
""".replace("    - :name: Eve\n", "")


def test_an_export_of_gradescope_tells_who_and_when(tmp_path):
    assert gradescope_export(tmp_path) == {}
    (tmp_path / "submission_metadata.yml").write_text(EXPORT)
    assert {name: (each.who, each.at.isoformat()) for name, each in gradescope_export(tmp_path).items()} == {
        "submission_5": ((("Ada Lovelace", "77", "ada@x.edu"), ("Grace Hopper", "g@x.edu")), "2026-11-06T22:58:59.264393+00:00")}
    keep_hand_ins(tmp_path / "out", gradescope_export(tmp_path))
    assert kept_hand_ins(tmp_path / "out") == gradescope_export(tmp_path)


def test_work_without_a_submitter_is_nobodys(term):
    work = [Submission("one", "one-1", Path("submission_5"))]
    assert owned(work, {"one-1": HandIn(())}, term(DUE)) == work


STUDENTS_OWN = "ada.py: {':submitters': [], ':created_at': '2026-11-06T22:58:59Z'}"  # it would say when others handed in


@pytest.mark.parametrize("text", [STUDENTS_OWN, "- 1", "a: 1",
                                  "a: {':submitters': 3}", "a: [", "!!python/object/apply:os.system [ls]"])
def test_an_export_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "submission_metadata.yml").write_text(text)
    with pytest.raises(XManError, match="not as Gradescope writes it"):
        gradescope_export(tmp_path)


def test_the_metadata_of_a_submission_tell_when_hidden_points_were_shown(tmp_path):
    earlier = [{"submission_time": f"2026-11-0{day}T10:00:00.000000-07:00", "score": 1.0,
                "results": day < 5 and {"extra_data": {"hidden_shown": day == 3}}} for day in (2, 3, 4, 5)]
    about = {"created_at": "2026-11-06T14:22:32.365935-07:00", "previous_submissions": earlier,
             "users": [{"email": "ada@x.edu", "id": 1, "name": "Ada"}]}
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(about))
    hand_in, shown = gradescope_metadata(path)
    assert shown.day == 3 and hand_in.who == (("Ada", "ada@x.edu"),) and hand_in.at.hour == 14
    path.write_text("{}")
    with pytest.raises(XManError, match="not as Gradescope writes it"):
        gradescope_metadata(path)


# ---- how late --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("due, late", [("2026-11-06T23:59:00", 0), ("2026-10-24T12:00:00", 0), ("2026-03-28T12:00:00", 0)])
def test_a_day_of_lateness_ends_at_the_hour_of_the_deadline_also_when_clocks_are_changed(due, late):
    due = datetime.datetime.fromisoformat(due).replace(tzinfo=ZONE)
    second, day = datetime.timedelta(seconds=1), datetime.timedelta(days=1)
    assert days_late(due, due) == days_late(due - 30 * day, due) == 0
    for days in (1, 2, 3, 400):
        assert days_late(due + (days - 1) * day + second, due) == days_late(due + days * day, due) == days


def test_two_times_of_the_hour_that_is_there_twice_are_not_one():
    first = datetime.datetime(2026, 10, 25, 2, 30, tzinfo=ZONE)
    assert days_late(first.replace(fold=1), first) == 1


@pytest.mark.parametrize("file, mark", [
    ("ada lovelace 2026-11-06T23:59:00.py", 80), ("ada lovelace 2026-11-06T23:59:01.py", 70),
    ("ada lovelace 2026-11-07T23:59:00.py", 70), ("ada lovelace 2026-11-07T23:59:01.py", 60),
    ("ada lovelace 2026-12-24T12:00:00.py", 0), ("ada lovelace.py", 80), ("lovelaceada_LATE_77_1_one.py", 80)])
def test_a_hand_in_exactly_at_the_deadline_is_in_time_and_a_second_later_is_not(term, record, file, mark):
    made = book(term(DUE), record(file, 80.0))
    assert marks(made) == {"Ada": mark, "Grace": 0, "Ü,": 0}
    assert made.marks["Grace Hopper", "one"].remarks == ("handed nothing in",)


def test_what_no_time_is_known_of_is_said(term, record):
    said = marks_table(book(term(DUE), record("lovelaceada_LATE_77_1_one.py"), record("g@x.edu_2_one.py")))
    assert "Ada Lovelace, one: LATE, says the platform, and not by how much" in said
    assert "Grace Hopper, one: no time of hand-in is known" in said
    times = DUE + '[one.times]\n77 = 2026-11-07T00:00:00\n"g@x.edu" = 2026-11-06T23:00:00'
    made = book(term(times), record("lovelaceada_LATE_77_1_one.py"), record("g@x.edu_2_one.py"))
    assert marks(made) == {"Ada": 90, "Grace": 100, "Ü,": 0} and "LATE" not in marks_table(made)


def test_grace_extension_and_the_last_moment(term, record):
    settings = DUE + 'grace = 5\nuntil = 2026-11-08T23:59:00\n[one.extensions]\n"Grace Hopper" = 3\n'
    files = ["Ada Lovelace 2026-11-07T00:04:00.py", "Grace Hopper 2026-11-10T00:04:00.py", "Zoe U 2026-11-09T00:04:01.py"]
    made = book(term(settings), *map(record, files))
    assert marks(made) == {"Ada": 100, "Grace": 100, "Ü,": 0}
    assert made.marks["Ü, Zoë", "one"].remarks[0].startswith("handed in after 08 Nov 2026 23:59")


def test_the_last_hand_in_counts_that_is_still_taken(term, record):
    settings = DUE + "until = 2026-11-08T23:59:00"
    files = [("Ada Lovelace 2026-11-06T10:00.py", 90.0), ("ada@x.edu 2026-11-07T10:00.py", 95.0), ("77 2026-11-09T10:00.py", 9.0)]
    for order in itertools.permutations(files):
        made = book(term(settings), *(record(*each) for each in order))
        assert marks(made)["Ada"] == 85 and len(made.marks["Ada Lovelace", "one"].remarks) == 3
    assert marks(book(term(DUE), *(record(f"ada@x.edu_{k}_one.py", float(k)) for k in (9, 10, 2))))["Ada"] == 10


def test_late_days_are_used_up_in_the_order_of_the_deadlines(term, record):
    settings = "late_days = 3\n" + DUE + "[two]\ndue = 2026-11-20T23:59:00\nweight = 3\n"
    later = {each["slug"]: each for each in [record("Ada Lovelace 2026-11-22T10:00.py")]}
    made = book(term(settings), record("Ada Lovelace 2026-11-08T10:00.py"), two=later)
    one, two = (made.marks["Ada Lovelace", name] for name in ("one", "two"))
    assert (one.mark, one.days, one.free, two.mark, two.days, two.free) == (100, 2, 2, 90, 2, 1)
    assert made.total(made.students[0]) == (1 * 100 + 3 * 90) / 4


def test_one_hands_in_for_all_of_a_group_and_each_has_a_deadline_of_their_own(term, record):
    settings = DUE + 'groups = true\n[one.extensions]\n"Grace Hopper" = 1\n'
    made = book(term(settings), record("Ada Lovelace 2026-11-07T10:00.py"))
    assert marks(made) == {"Ada": 90, "Grace": 100, "Ü,": 0}


def test_work_of_two_submitters_is_both_students_and_that_of_a_stranger_is_kept(term, record):
    kept = {"submission_5": HandIn((("Ada Lovelace",), ("g@x.edu",), ("Eve",)), datetime.datetime(2026, 11, 6, tzinfo=ZONE))}
    made = book(term(DUE), record("submission_5", 70.0), kept=kept)
    assert marks(made) == {"Ada": 70, "Grace": 70, "Ü,": 0}
    assert [reason for *_, reason in made.strangers] == ["not in the roster"] and "submission_5, one: not in" in marks_table(made)


def test_work_that_may_be_of_two_is_of_neither(term, record):
    made = book(term(DUE, ROSTER + "Lovelace, Ada;80;;\n"), record("Ada Lovelace.py"))
    assert set(marks(made).values()) == {0} and made.strangers[0][2] == "may be of Ada Lovelace 77 or Lovelace, Ada 80"


def test_without_a_roster_who_handed_in_is_the_class(term, record):
    made = book(term(""), record("ada_lovelace.py", 70.0), record("Lovelace Ada.py", 80.0), record("李小龙.py", 60.0))
    assert sorted(each.mark for each in made.marks.values()) == [60, 70]


def test_a_regrade_that_lowers_a_mark_is_said(term, record):
    said = marks_table(book(term(DUE), record("Ada Lovelace.py", 70.0, before={"points": 80.0})))
    assert "Ada Lovelace, one: graded again: 80 before, and now LESS" in said


def test_what_the_grader_lost_by_an_error_of_its_own_is_said(term, record):
    case = {"name": "", "credit": 0, "feedback": {"grader": True, "traceback": "NameError"}}
    said = marks_table(book(term(DUE), record("Ada Lovelace.py", 60.0, tasks=[{"parts": [{"cases": [case]}]}])))
    assert "Ada Lovelace, one: THE GRADER FAILED: mend it and run it again" in said


# ---- files -----------------------------------------------------------------------------------------------------------------

def test_the_book_is_a_row_for_each_student_and_no_cell_is_a_formula(term, record, tmp_path):
    made = book(term(DUE), record("Ada Lovelace 2026-11-07T10:00.py"), record("=HYPERLINK(1).py", 50.0))
    write_rows(tmp_path / "book.csv", book_rows(made), marked=True)
    rows = [*csv.reader(io.StringIO((tmp_path / "book.csv").read_text("utf-8")))]
    assert rows[0][0] == "\ufeffname"  # the mark by which spreadsheets know UTF-8
    rows[0][0] = "name"
    assert [row[0] for row in rows] == ["name", "Ada Lovelace", "Grace Hopper", "Ü, Zoë", "'=HYPERLINK(1).py"]
    assert dict(zip(rows[0], rows[1], strict=True)) == {
        "name": "Ada Lovelace", "ids": "77 ada@x.edu", "group": "red", "total": "90.0", "one": "90.0", "one: points": "100.0",
        "one: handed in": "2026-11-07T10:00:00+01:00", "one: days late": "1", "one: late days used": "0",
        "one: remarks": "1 day late, 10 points off"}


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,One (4711),Two (4712),Final Score
    Points Possible,,,,,20.00,50,(read only)
"Lovelace, Ada",77,s1,ada,A,,,
"Hopper, Grace",78,s2,grace,A,3.5,,
"=Zoë",79,s3,zoe,B,EX,,
"Student, Test",80,,t,A,,,
"""


def test_canvas_has_its_own_cells_back_and_marks_of_its_own_scale(term, record):
    made = book(term(DUE + 'canvas = "One (4711)"\n', CANVAS), record("lovelaceada_77_5_one.py", 82.0))
    assert canvas_gradebook(made) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "One (4711)"],
        ["    Points Possible", "", "", "", "", "20.00"], ["Lovelace, Ada", "77", "s1", "ada", "A", "16.40"],
        ["Hopper, Grace", "78", "s2", "grace", "A", "3.5"], ["=Zoë", "79", "s3", "zoe", "B", "EX"],
        ["Student, Test", "80", "", "t", "A", ""]]
    with pytest.raises(XManError, match="there are One \\(4711\\), Two"):
        canvas_gradebook(book(term(DUE + 'canvas = "Uno (1)"\n', CANVAS)))
    with pytest.raises(XManError, match="no gradebook that Canvas exported"):
        canvas_gradebook(book(term(DUE + 'canvas = "One (4711)"\n')))


MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),\
Last modified (grade),Feedback comments
Participant 412,Ada Lovelace,ada@x.edu,Submitted,,"20,00",Yes,"Saturday, 7 November 2026, 12:14 AM",-,
Participant 413,Grace Hopper,g@x.edu,Submitted,5,20,No,"Friday, November 6, 2026, 11:59 PM",-,
Participant 414,Zoë Ü,z@x.edu,No submission,,20,Yes,-,-,=1
"""


def test_moodle_tells_the_time_and_has_its_worksheet_back(term, record, tmp_path):
    (tmp_path / "sheet.csv").write_text("\ufeff" + MOODLE, "utf-8")
    made = book(term(DUE + 'moodle = "sheet.csv"\n'), record("Ada Lovelace_412_assignsubmission_file_"),
                record("Grace Hopper_413_assignsubmission_file_"))
    assert marks(made) == {"Ada": 90, "Grace": 100, "Ü,": 0}
    rows = moodle_worksheet(made, "one")
    sheet = [*csv.reader(io.StringIO(MOODLE))]
    assert [row[4] for row in rows] == ["Grade", "18.00", "5", ""]
    assert [row[:4] + row[5:] for row in rows] == [row[:4] + row[5:] for row in sheet]
    write_rows(tmp_path / "moodle.csv", rows)
    assert [*csv.reader(io.StringIO((tmp_path / "moodle.csv").read_text("utf-8")))] == rows


def test_a_worksheet_in_another_language_is_refused(term, record, tmp_path):
    (tmp_path / "sheet.csv").write_text(MOODLE.replace("Saturday, 7 November", "Samstag, 7. November"), "utf-8")
    with pytest.raises(XManError, match="set Moodle to English"):
        book(term(DUE + 'moodle = "sheet.csv"\n'))
