"""Facts about the table, the gradebook and the pages: they tell nothing hidden, run nothing hostile, are never half written."""

import base64
import csv
import datetime
import hashlib
import html.parser
import io
import itertools
import re
import signal
import statistics
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from fake_records import HOSTILE, NAMES, SECRET, TASKS, classroom, grader_failed, hostile, record

from xman.files.whole import write_whole
from xman.grade.reports import gradebook, pages, terminal, write_all
from xman.grade.reports.pages import class_summary
from xman.grade.reports.view import GRADER_FAILED, failures, for_student, grader_errors, harmless_record, in_points, trouble_line

CLASS, LARGE = classroom(40), classroom(500)
STYLE = (Path(pages.__file__).with_name("templates") / "style.css").read_text("utf-8")


# ---- what is shared ------------------------------------------------------------------------------------------------------

def test_what_a_student_may_see_holds_nothing_of_hidden_parts():
    everyone = [*CLASS, hostile("x"), grader_failed(record("a"), hidden=True)]
    assert sum(SECRET in repr(made) for made in everyone) > 20
    assert not any(SECRET in repr(for_student(made)) for made in everyone)


def test_what_a_student_may_see_is_a_copy():
    made = record("a", skill=0.5)
    before = repr(made)
    for_student(made)["tasks"][0]["parts"][0]["cases"].clear()
    assert repr(made) == before


def test_a_control_character_becomes_its_escape_and_text_of_any_language_stays():
    assert harmless_record("a\x1b[2J\u202eb\r\nc\x85\udc80") == "a\\x1b[2J\\u202eb\nc\\x85\\udc80"
    assert all(harmless_record(name) == name for name in (*NAMES, "tab\tand\nline", "👩‍🔬"))
    controls = [char for char in map(chr, range(0x10000)) if unicodedata.category(char) in ("Cc", "Cs", "Zl")]
    assert [char for char in controls if harmless_record(char) == char] == ["\t", "\n"]


def test_cases_of_equal_feedback_are_told_once():
    part = record("a", skill=0)["tasks"][2]["parts"][0]
    for case in part["cases"]:
        case.update(credit=0.0, feedback=dict.fromkeys(("given", "came_back", "expected", "look"), "same"))
    assert [case["name"] for case in failures(part)] == ["add, subtract, mul, divide"]


@pytest.mark.parametrize("value, text", [(100.0, "100"), (71.5, "71.5"), (100 / 3, "33.33"), (0.0, "0"), (10, "10")])
def test_points_are_written_as_people_write_them(value, text):
    assert in_points(value) == text


# ---- the terminal --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("width", [40, 63, 100])
def test_no_line_of_the_table_is_wider_than_the_terminal(width):
    for made in [*CLASS[:14], hostile("漢字" * 300), hostile("x" * 500)]:
        assert all(terminal.text_width(line) <= width for line in terminal.report_table(made, width=width).splitlines())


def test_the_table_tells_points_and_failed_visible_parts_in_words():
    text = terminal.report_table(CLASS[0], width=100)
    assert f"{in_points(CLASS[0]['points'])} of 100" in text
    for label in ("Given", "Came back", "Expected", "Look at next"):
        assert label in text
    assert all(title in text for _, _, parts in TASKS for title, *_ in parts)


def test_the_table_has_nothing_of_hidden_parts():
    assert not any(SECRET in terminal.report_table(made) for made in [*CLASS, grader_failed(record("a"))])


def test_the_table_says_a_trouble_once():
    text = terminal.report_table(record("a", trouble="no file wengert.py in the archive"), width=100)
    assert text.count("no file wengert.py") == 1
    assert terminal.report_table(record("a", task_trouble=3), width=100).count("the worker was stopped") == 2  # and in its case


def test_of_the_inputs_of_a_task_that_ended_the_one_that_ended_it_is_told():
    made = record("a", task_trouble=3)
    for k, case in enumerate(case for part in made["tasks"][2]["parts"] for case in part["cases"]):
        case["feedback"]["given"] = f"backprop({k})"
    assert re.findall(r"backprop\(\d\)", terminal.report_table(made, width=100)) == ["backprop(0)"]
    made["tasks"][2]["parts"][0]["hidden"] = True
    assert re.findall(r"backprop\(\d\)", terminal.report_table(made, width=100)) == []


def test_a_wide_character_takes_two_columns_and_a_combining_one_none():
    assert [terminal.text_width(text) for text in ("abc", "李小龙", "김", "e\u0301", "Ōyama")] == [3, 6, 2, 1, 5]


def test_nothing_in_a_record_colours_a_terminal():
    for made in [*CLASS, hostile("\x1b[31m")]:
        assert "\x1b" not in terminal.report_table(made) + terminal.class_table([made])


def test_what_a_task_printed_is_shown_in_part():
    text = terminal.report_table(record("a", skill=1, output="".join(f"epoch {k}\n" for k in range(50))), width=60)
    assert "What it printed:\n     epoch 0\n" in text and "epoch 19" not in text and "31 more lines" in text


def test_a_matrix_keeps_its_shape():
    made = record("a", skill=0)
    made["tasks"][0]["parts"][0]["cases"][0]["feedback"] = {"came_back": "[[1 2]\n [3 4]]"}
    assert "       Came back     [[1 2]\n                      [3 4]]\n" in terminal.report_table(made, width=60)


def test_checks_without_points_pass_or_fail():
    made = record("a", skill=0.6, seed=3)
    for item in [made, *made["tasks"], *(part for task in made["tasks"] for part in task["parts"])]:
        item.update(points=0.0, of=0.0)
    for key in ("submission", "slug", "file"):  # a student's own run has none
        del made[key]
    text = terminal.report_table(made, width=80)
    assert " of " not in text.splitlines()[0] and text.splitlines()[0].endswith("failed")
    verdicts = [line.split()[-1] for line in text.splitlines() if line.endswith(("passed", "failed"))]
    right = [all(case["credit"] == 1 for case in part["cases"]) for task in made["tasks"] for part in task["parts"]]
    assert verdicts.count("passed") >= sum(right) and "passed" in verdicts


def test_the_class_table_has_a_line_for_each_submission_and_the_mean():
    lines = terminal.class_table(CLASS, width=400).splitlines()
    assert len(lines) == 1 + len(CLASS) + 2
    assert f"mean {in_points(statistics.mean(made['points'] for made in CLASS))}" in lines[-1]
    assert "THE GRADER FAILED" in lines[12]


def test_the_gradebook_says_where_the_grader_failed(tmp_path):
    gradebook.write_gradebook(CLASS, tmp_path / "a.csv")
    failed = sum(any(grader_errors(made)) for made in CLASS)
    assert (tmp_path / "a.csv").read_text("utf-8-sig").count("THE GRADER FAILED") == failed > 0


def test_no_trouble_of_the_class_is_cut_however_narrow_the_terminal():
    for width in (85, 100, None):
        text = terminal.class_table(CLASS, width)
        assert width is None or all(terminal.text_width(line) <= width for line in text.splitlines())
        for made in CLASS:
            assert " ".join(trouble_line(harmless_record(made)).split()) in " ".join(text.split())


def test_no_submissions_are_a_class_too():
    assert terminal.class_table([]).endswith("0 submissions\n")


# ---- the gradebook -------------------------------------------------------------------------------------------------------

def rows(records, folder):
    gradebook.write_gradebook(records, folder / "gradebook.csv")
    with open(folder / "gradebook.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_the_gradebook_reads_back(tmp_path):
    read = {row["name"]: row for row in rows(CLASS, tmp_path)}
    assert len(read) == len(CLASS)
    for made in CLASS:
        row, called = read[made["submission"]], "3.4 the rules are called once for each argument"
        assert float(row["points"]) == pytest.approx(made["points"], abs=1e-4) and float(row["of"]) == made["of"]
        assert float(row["2. eval"]) == pytest.approx(made["tasks"][1]["points"], abs=1e-4)
        assert float(row[called]) == pytest.approx(made["tasks"][2]["parts"][3]["points"], abs=1e-4)
        assert row["xman"] == "0.1.0" and row["digest"] == made["graded"]["digest"]


def test_the_points_of_the_tasks_and_of_the_parts_sum_to_the_points(tmp_path):
    for row in rows(CLASS, tmp_path):
        if not row["name"].startswith("<"):
            parts = [float(value) for key, value in row.items() if re.match(r"\d+\.\d+ ", key) and value]
            tasks = [float(value) for key, value in row.items() if re.match(r"\d+\. ", key) and value]
            assert sum(parts) == pytest.approx(float(row["points"]), abs=1e-2) == pytest.approx(sum(tasks), abs=1e-2)


def test_the_order_of_the_records_makes_no_difference_to_the_gradebook(tmp_path):
    gradebook.write_gradebook(CLASS, tmp_path / "a.csv")
    gradebook.write_gradebook(CLASS[::-1], tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_columns_are_in_the_order_of_the_assignment_whichever_record_is_first(tmp_path):
    late = record("a")
    del late["tasks"][:3]
    columns = [key for key in rows([late, record("b")], tmp_path)[0] if key[0].isdigit()]
    assert columns == [key for key in rows([record("b")], tmp_path)[0] if key[0].isdigit()]


def test_a_record_of_fewer_tasks_leaves_its_columns_empty(tmp_path):
    short = record("short")
    del short["tasks"][1:]
    read = rows([short, record("whole")], tmp_path)
    assert read[0]["2. eval"] == "" and read[1]["2. eval"] != "" and read[0].keys() == read[1].keys()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "=cmd|' /C calc'!A0",
                                  "x;=1+1", "x; =1;y", "a;;+1", "a;\t-1", "a;\u00a0@A", 'a;"=1"', "a;'=1", "a；=1", "a;＋1",
                                  "a\t=1", "a\n=1", "a\r\n=1", ";=1", "a;=cmd|'calc'!A1;b", "a;\u200b=1", "é;＠A;b", ";;;-1;",
                                  "﹦1+1", "x;﹫A", "−1+1", "\u034f=1", "a;\ufe0f+1", "\u2800=1"])
def test_no_cell_is_a_formula(text, tmp_path):
    gradebook.write_gradebook([hostile(text)], tmp_path / "gradebook.csv")
    for delimiter in ",;\t":  # where the comma stands in decimal fractions, a spreadsheet takes another
        for row in csv.reader(io.StringIO((tmp_path / "gradebook.csv").read_bytes().decode("utf-8-sig"), newline=""),
                              delimiter=delimiter):
            assert not any(re.match(r"[\s\u200b\u034f\ufe0f\u2800\"]*[=+@\-＝＋－＠﹦﹫−]", field) for field in row)


def test_numbers_stay_numbers_and_text_of_no_formula_stays_as_it_is():
    assert list(map(gradebook.cell, (71.5, 0.1 + 0.2, -3, None, "Zoë Müller", "a=b"))) == [71.5, 0.3, -3, "", "Zoë Müller", "a=b"]


def test_the_gradebook_is_utf_8_with_its_mark_and_lines_end_as_in_rfc_4180(tmp_path):
    gradebook.write_gradebook([record("Zoë, \"the\nsecond\"")], tmp_path / "gradebook.csv")
    data = (tmp_path / "gradebook.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfname,file,points,of,") and data.endswith(b"\r\n")
    assert '"Zoë, ""the\nsecond"""'.encode() in data


def test_a_gradebook_of_nobody_has_its_headings(tmp_path):
    assert rows([], tmp_path) == []
    assert (tmp_path / "gradebook.csv").read_text("utf-8-sig").startswith("name,file,points,of,trouble,seconds,digest")


# ---- the pages -----------------------------------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


TAGS = set("html head meta title style body header main section footer h1 h2 h3 h4 p b small span div code pre ul li a br "
           "dl dt dd table caption thead tbody tr th td figure figcaption details summary svg rect".split())
ATTRIBUTES = set("charset http-equiv content name lang class scope colspan role aria-hidden aria-label href width height x y "
                 "viewbox preserveaspectratio".split())


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE)])
def test_hostile_text_can_nowhere_escape(text):
    made = hostile(text, seed=1)
    for page in (Page(pages.student(made)), Page(pages.class_page([made, grader_failed(hostile(text, seed=2)), *CLASS[:3]]))):
        assert set(page.tags) <= TAGS and {name for _, name, _ in page.attributes} <= ATTRIBUTES
        assert page.tags.count("style") == page.tags.count("title") == 1
        assert harmless_record(text) in page.text and SECRET not in pages.student(made)
        for _, name, value in page.attributes:
            assert name != "href" or re.fullmatch(r"students/[a-z0-9-]+\.html", value)
            assert "alert(" not in value


def test_a_slug_cannot_lead_out_of_its_link():
    made = {**record("a"), "slug": "a\"onmouseover=alert(1) b?c#d"}
    assert 'href="students/a%22onmouseover%3Dalert%281%29%20b%3Fc%23d.html"' in pages.class_page([made])


def test_a_page_loads_nothing_and_runs_nothing():
    for text in (pages.student(CLASS[0]), pages.class_page(CLASS)):
        page = Page(text)
        assert not {"script", "link", "img", "iframe", "form"} & set(page.tags) and "url(" not in STYLE and "@import" not in STYLE
        assert not any(name.startswith("on") or name in ("style", "src") for _, name, _ in page.attributes)
        policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
        style = re.search("<style>(.*)</style>", text, re.DOTALL)[1]
        assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
        assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy


def test_a_students_page_has_its_points_its_parts_and_the_four_fields():
    made = record("Zoë Müller", skill=0.4, seed=5, output="epoch 1")
    page = Page(pages.student(made))
    assert f"{in_points(made['points'])} of 100 points" in " ".join(page.text.split())
    assert all(title in page.text for _, _, parts in TASKS for title, *_ in parts)
    assert {"Given", "Came back", "Expected", "Look at next"} <= set(page.text.split("\n"))
    assert "What your program printed" in page.text and "epoch 1" in page.text and "NumPy 2.4.6" in page.text


def test_a_students_page_has_nothing_of_hidden_parts_nor_the_term_nor_of_others():
    for made in [*CLASS, grader_failed(record("a"), hidden=True)]:
        text = pages.student(made)
        assert SECRET not in text and made["graded"]["term"] not in text and "href" not in Page(text).tags
        assert not any(other["slug"] in text for other in CLASS)


def test_a_failure_of_the_grader_is_loud_for_the_instructor_and_quiet_for_the_student():
    failed = grader_failed(record("a", seed=1))
    assert GRADER_FAILED in pages.student(failed) and "ZeroDivisionError" not in pages.student(failed)
    text = pages.class_page([record("b"), failed])
    assert "ZeroDivisionError" in text and text.index("The grader failed 1 time") < text.index("Distribution of points")
    assert "The grader failed" not in pages.class_page([record("b")])


def test_records_that_were_graded_differently_are_warned_of():
    one, other = record("a"), record("b")
    assert "Not all were graded alike" not in pages.class_page([one, other])
    other["graded"]["term"] = "another"
    assert "Not all were graded alike" in pages.class_page([one, other])


def test_the_class_page_names_all_submissions_with_their_troubles_and_seconds():
    page = Page(pages.class_page(CLASS))
    for made in CLASS:
        assert trouble_line(made) in page.text and f"{made['seconds']:.1f}" in page.text
    links = [value for tag, name, value in page.attributes if name == "href"]
    assert {f"students/{made['slug']}.html" for made in CLASS} == set(links)


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_a_class_of_any_size_has_its_page(count):
    page = Page(pages.class_page(LARGE[:count]))
    assert (f"{count} submission" if count else "Nothing was graded") in " ".join(page.text.split())


def test_headings_step_down_one_by_one_and_tables_have_heads():
    for made in (pages.student(CLASS[7]), pages.class_page(CLASS)):
        page = Page(made)
        levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
        assert levels[0] in (1, 2) and levels.count(1) == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels))
        assert page.tags.count("table") == page.tags.count("thead") and page.tags.count("th") > page.tags.count("table")
        assert all(name == "scope" for tag, name, _ in page.attributes if tag == "th" and name not in ("class", "colspan"))


def luminance(colour):
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(theme):
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[theme]))
    for ground in ("paper", "shade", "alarm-paper", "note-paper"):
        for ink, least in (("ink", 7), ("soft", 4.5), ("link", 4.5)):
            dark, light = sorted(luminance(colours[name]) for name in (ground, ink))
            assert (light + 0.05) / (dark + 0.05) >= least, (ground, ink)
    for bar in ("good", "some", "none"):
        dark, light = sorted(luminance(colours[name]) for name in ("paper", bar))
        assert (light + 0.05) / (dark + 0.05) >= 3


# ---- the figures of a class ----------------------------------------------------------------------------------------------

def test_the_figures_of_a_class_are_those_of_its_records():
    found = class_summary(CLASS)
    assert sum(found["histogram"]) == found["count"] == 40
    assert found["points"]["mean"] == pytest.approx(sum(made["points"] for made in CLASS) / 40)
    assert found["complete"] == sum(made["points"] == 100 for made in CLASS) and found["zero"] == 2
    titles = [[part["title"] for part in task["parts"]] for task in found["parts"]]
    assert titles == [[title for title, *_ in parts] for _, _, parts in TASKS]
    assert all(part["full"] + part["some"] + part["zero"] == 40 for task in found["parts"] for part in task["parts"])


def test_all_points_are_in_the_last_bar_and_none_in_the_first():
    assert class_summary([record("a", skill=1)])["histogram"] == [0] * 9 + [1]
    assert class_summary([record("a", skill=0, seed=4, trouble="x")])["histogram"] == [1] + [0] * 9


def test_an_error_counts_once_for_a_submission_and_the_commonest_is_first():
    twice = record("a", skill=1)
    for case in twice["tasks"][0]["parts"][0]["cases"]:
        case.update(credit=0.0, feedback={"given": case["name"], "came_back": "x", "expected": "rows that sum to 1"})
    found = class_summary([twice, record("b", trouble="no file"), record("c", trouble="no file")])["errors"]
    assert [(error["where"], error["what"], len(error["records"])) for error in found] == [
        ("", "no file", 2), ("task 1, values of G", "rows that sum to 1", 1)]


def test_an_answer_that_did_not_come_is_grouped_by_what_came_instead():
    made = record("a", skill=1)
    feedback = {"given": "f(1)", "came_back": "KeyError: 'z1'", "expected": "an answer"}
    made["tasks"][0]["parts"][0]["cases"][0].update(credit=0.0, feedback=feedback)
    assert class_summary([made])["errors"][0]["what"] == "KeyError: 'z1'"


def test_errors_that_differ_in_their_numbers_alone_are_one():
    found = []
    for name, sentence in ("a", "the delta of z12 to agree"), ("b", "the delta of z7 to agree"), ("c", "no KeyError"):
        made = record(name, skill=1)
        made["tasks"][0]["parts"][0]["cases"][0].update(credit=0.0, feedback={"expected": sentence})
        found.append(made)
    assert [(error["what"], len(error["records"])) for error in class_summary(found)["errors"]] == [
        ("the delta of z12 to agree", 2), ("no KeyError", 1)]


# ---- files ---------------------------------------------------------------------------------------------------------------

def test_all_reports_are_written_and_nothing_else(tmp_path):
    write_all(CLASS, tmp_path / "out")
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"gradebook.csv", "class.html", *(f"students/{made['slug']}.html" for made in CLASS)}


@pytest.mark.parametrize("count", [0, 1, 500])
def test_reports_of_a_class_of_any_size_are_written_in_seconds(count, tmp_path):
    start = time.process_time()
    write_all(LARGE[:count], tmp_path)
    assert time.process_time() - start < 10 and len(list((tmp_path / "students").glob("*.html") if count else [])) == count


def test_hostile_records_are_written(tmp_path):
    write_all([{**hostile(text + "\udc80\x00"), "slug": f"s{k}"} for k, text in enumerate(HOSTILE)], tmp_path)
    assert len(list((tmp_path / "students").iterdir())) == len(HOSTILE)


def test_text_that_utf_8_does_not_know_is_written_all_the_same(tmp_path):
    write_whole(tmp_path / "a.html", "Zoë\udc80")
    assert (tmp_path / "a.html").read_text("utf-8") == "Zoë\\udc80"


def test_who_is_killed_while_writing_leaves_a_whole_file(tmp_path):
    program = ("import sys\nfrom xman.files.whole import write_whole\n"
               "while True:\n  for letter in 'ab':\n    write_whole(sys.argv[1], letter * 1_000_000)\n    print(flush=True)")
    child = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "page")], stdout=subprocess.PIPE)
    child.stdout.readline()
    for _ in range(20):
        text = (tmp_path / "page").read_text()
        assert len(text) == 1_000_000 and len(set(text)) == 1
    child.send_signal(signal.SIGKILL)
    child.communicate()
    text = (tmp_path / "page").read_text()
    assert len(text) == 1_000_000 and len(set(text)) == 1


def test_the_reports_of_the_same_records_are_the_same_files(tmp_path):
    for folder in ("a", "b"):
        write_all(CLASS, tmp_path / folder)
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_the_page_of_a_student_does_not_tell_when_grading_ended(tmp_path):
    made = record("a")
    write_all([made], tmp_path)
    page = tmp_path / "students" / f"{made['slug']}.html"
    assert page.stat().st_mtime == datetime.datetime.fromisoformat(made["graded"]["when"]).timestamp()
