"""Facts about term.toml and the roster: what is not known to be right is refused with a sentence that says where."""

import datetime

import pytest
from term_texts import BERLIN, ROSTER

from xman.errors import XManError
from xman.grade.term.roster import plain_name
from xman.grade.term.settings import Rules, Term, utc

DUE = BERLIN + "[one]\ndue = 2026-11-06T23:59:00\n"


@pytest.mark.parametrize("settings, said", [
    (BERLIN + "late_day = 3", "no setting 'late_day' at the top; .*did you mean 'late_days'"),
    (DUE + "dew = 1", r"\[one\] has no setting 'dew'"),
    (BERLIN + "[onne]", "name of no assignment; there are .*did you mean 'one'"),
    ("[one]\ndue = 2026-11-06T23:59:00", "has no zone: write 2026-11-06T23:59:00\\+01:00, or zone ="),
    ("[one]\ndue = 2026-11-31T23:59:00", "term.toml: .*line 2"),
    ("[one]\ndue = 2026-11-06", "a date with a time"),
    ('[one]\ndue = "2026-11-06T23:59:00"', "unquoted"),
    (BERLIN + "[one]\ndue = 2026-10-25T02:30:00", "clocks of Europe/Berlin are changed"),
    (BERLIN + "[one]\ndue = 2026-03-29T02:30:00", "clocks of Europe/Berlin are changed"),
    ('zone = "Europe/Berlim"', "no time zone.*did you mean 'Europe/Berlin'"), ("zone = 3", "a quoted text"),
    ("late_days = -1", "from 0 to 1000"), ("late_days = 1.5", "a whole number"), ("late_days = true", "a whole number"),
    ("penalty = 101", "from 0 to 100"), ("penalty = nan", "from 0 to 100"),
    ('hidden = "later"', "there are visible, after_due_date"),
    ('[one]\nhidden = "after_due_date"', "needs a due"), (BERLIN + "[one]\nuntil = 2026-11-06T23:59:00", "a due before it"),
    (DUE + "until = 2026-11-05T23:59:00", "a due before it"), ("groups = true\n[one]", "roster with a column group"),
    (DUE + '[one.extensions]\n"Ada" = 2', "extensions of 'Ada': nobody in roster.csv"),
    (DUE + '[one.extensions]\n"Ada Lovelace" = -2', "from 0 to 1000 days"),
    (DUE + '[one.extensions]\n"Ada Lovelace" = 2026-11-06T23:58:00', "before the deadline itself"),
    (DUE + '[one.extensions]\n"Ada Lovelace" = 2\n77 = 3', "Ada Lovelace is there twice"),
    (DUE + '[one.extensions]\n"Ada Lovelace" = 2\n"Ada Lovelace" = 3', "term.toml"),
    (BERLIN + '[one.extensions]\n"Ada Lovelace" = 2', "no due that could be extended"),
    ("[one]\ndue = 2026-11-06T23:59:00Z\n[one.extensions]\nAda = 1", "no roster to find them in"),
    ('roster = "none.csv"', "none.csv cannot be read"), ("[one]\n[one]", "term.toml")])
def test_a_mistake_in_the_settings_has_its_sentence(term, settings, said):
    with pytest.raises(XManError, match=f"(?s){said}"):
        term(settings)


@pytest.mark.parametrize("roster, said", [
    ("", "no column of names"), ("name,id\n", "has no student"), ("vorname,id\nAda,1", "no column of names"),
    ("name,id\nAda,1\nEve,1\n", "id '1' is there twice"), ("name\nAda\nAda\n", "twice, and no id"),
    ("name,id\nAda,1\n,2\n", "row 3 has no name"), ('name,id\n"Ada,1\n', "no CSV file")])
def test_a_mistake_in_the_roster_has_its_sentence(term, roster, said):
    with pytest.raises(XManError, match=said):
        term(BERLIN, roster)


def test_a_roster_of_an_old_code_page_is_refused_and_not_spoilt(term):
    with pytest.raises(XManError, match="CSV UTF-8"):
        term(BERLIN, ROSTER, "cp1252")


@pytest.mark.parametrize("encoding, change", [
    ("utf-8", ("", "")), ("utf-8-sig", ("", "")), ("utf-16", ("", "")), ("utf-8", (";", ",")), ("utf-8", (";", "\t")),
    ("utf-8", ("\n", "\r\n")), ("utf-8-sig", ("name;", "sep=;\r\nname;")), ("utf-8", ("name;", "\nFull Name;"))])
def test_a_roster_is_read_as_spreadsheets_write_it(term, encoding, change):
    roster = ROSTER.replace("Ü, Zoë", '"Ü, Zoë"').replace(*change) if change[0] else ROSTER
    students = term(BERLIN, roster, encoding).roster.students
    assert [(each.name, each.ids["email"], each.group) for each in students] == [
        ("Ada Lovelace", "ada@x.edu", "red"), ("Grace Hopper", "g@x.edu", "red"), ("Ü, Zoë", "z@x.edu", "blue")]


@pytest.mark.parametrize("name", ["Lovelace, Ada", "ADA LOVELACE", "ada_lovelace", "Adá-Lovelace", " Ada  Lovelace "])
def test_a_name_is_known_in_any_order_case_and_accent(name):
    assert plain_name(name) == plain_name("Ada Lovelace")


def test_two_students_of_one_name_are_told_apart_by_an_id_and_by_nothing_else(term):
    roster = term(BERLIN, "name,id\nAda Lovelace,1\nAda Lovelace,2\n").roster
    assert [each.key for each in roster.identified(["2"])] == ["Ada Lovelace 2"]
    assert len(roster.identified(["Ada Lovelace"])) == 2
    with pytest.raises(XManError, match="2 students have this name; say which, 'Ada Lovelace 1' and 'Ada Lovelace 2'"):
        roster.named("Ada Lovelace", "here")


def test_an_id_and_a_name_that_disagree_are_of_no_one(term):
    roster = term(BERLIN).roster
    assert len(roster.identified(["77", "Grace Hopper"])) == 2 and len(roster.identified(["77", "Ada Lovelace"])) == 1


def test_an_extension_is_days_or_a_date_of_a_student_by_name_or_id_or_of_a_group(term):
    for who, keys in (('"Ada Lovelace"', 1), ("77", 1), ('"ada@x.edu"', 1), ('"Red"', 2)):
        rules = term(DUE + f"[one.extensions]\n{who} = 2").rules("one")
        assert len(rules.extensions) == keys
        assert set(rules.extensions.values()) == {rules.due + datetime.timedelta(days=2)}


def test_a_term_without_settings_is_as_grading_was(term):
    assert Term().rules("one") == Rules("one") == term("").rules("one")
    assert not Rules("one").later(datetime.datetime.now().astimezone())


def test_hidden_points_are_told_when_the_last_extension_has_ended(term):
    rules = term('hidden = "after_due_date"\n' + DUE + '[one.extensions]\nAda_Lovelace = 2').rules("one")
    minute = datetime.timedelta(minutes=1)
    last = rules.due + datetime.timedelta(days=2)
    assert [rules.later(utc(when)) for when in (rules.due + minute, last, last + minute)] == [True, True, False]
    waiting = 'hidden = "after_published"\n' + DUE
    assert term(waiting).rules("one").later(last) and not term(waiting + "published = true").rules("one").later(last)
