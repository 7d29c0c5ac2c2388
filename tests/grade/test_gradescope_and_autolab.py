"""Facts about results.json, result.json and the autoresult: they are of their published formats, and tell nothing hidden."""

import datetime
import json
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from fake_records import HOSTILE, SECRET, TASKS, classroom, grader_failed, hostile, record

from xman.grade.reports.platforms import autolab_line, autolab_problem, classroom_result, gradescope_results
from xman.grade.reports.view import GRADER_FAILED, without_hidden
from xman.grade.term.book import results_in_term
from xman.grade.term.hand_in import HandIn
from xman.grade.term.settings import Rules, Term

jsonschema = pytest.importorskip("jsonschema")
SCHEMAS = {name: json.loads(Path(__file__).with_name("schemas").joinpath(f"{name}.json").read_text("utf-8"))
           for name in ("gradescope", "autolab")}
CLASS = classroom(20)
EVERYONE = [*CLASS, *map(hostile, HOSTILE), record("all points", skill=1), record("none", skill=0),
            grader_failed(record("a", seed=1), hidden=True)]


def valid(name, made):
    jsonschema.Draft202012Validator(SCHEMAS[name]).validate(made)
    return True


def as_autolab_reads(line):
    """AssessmentAutogradeCore.parseAutoresult of Autolab: a key may stand without quotation marks."""
    return json.loads(re.sub("([a-zA-Z0-9]+):", r'"\1":', line))


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name, wrong", [
    ("gradescope", {}), ("gradescope", {"score": "44"}), ("gradescope", {"score": 44, "visibility": "never"}),
    ("gradescope", {"score": 44, "max_score": 100}), ("gradescope", {"tests": [{"name": "no score"}]}),
    ("gradescope", {"tests": [{"score": 1, "status": "ok"}]}),
    ("gradescope", {"tests": [{"score": 1, "output_format": "markdown"}]}),
    ("autolab", {}), ("autolab", {"scores": {}}), ("autolab", {"scores": {"a": "10"}}),
    ("autolab", {"scores": {"task 1: a": 10}}), ("autolab", {"scores": {"a": 1}, "scoreboard": 1})])
def test_the_schemas_refuse_what_is_not_of_the_format(name, wrong):
    with pytest.raises(jsonschema.ValidationError):
        valid(name, wrong)


EXAMPLE = {
    "score": 44.0, "execution_time": 136, "output": "Text", "output_format": "simple_format", "test_output_format": "text",
    "test_name_format": "text", "visibility": "after_due_date", "stdout_visibility": "visible", "extra_data": {},
    "tests": [{"score": 2.0, "max_score": 2.0, "status": "passed", "name": "Your name here", "name_format": "text",
               "number": "1.1", "output": "Giant multiline string", "output_format": "text", "tags": ["tag1", "tag2"],
               "visibility": "visible", "extra_data": {}}, {"name": "Compilation check", "status": "passed"}],
    "leaderboard": [{"name": "Accuracy", "value": .926}, {"name": "Time", "value": 15.1, "order": "asc"},
                    {"name": "Stars", "value": "*****"}]}


@pytest.mark.parametrize("name, right", [
    ("gradescope", EXAMPLE), ("autolab", {"scores": {"Prob1": 10, "Prob2": 5}}),
    ("autolab", {"scores": {"Prob1": 10, "Prob2": 5}, "scoreboard": [10, 5, 15]})])
def test_the_schemas_take_the_examples_of_the_pages(name, right):
    assert valid(name, right)


# ---- Gradescope ----------------------------------------------------------------------------------------------------------

def test_results_are_of_gradescopes_format():
    assert all(valid("gradescope", gradescope_results(made)) for made in EVERYONE)


def test_results_can_be_written_as_json_of_finite_numbers():
    assert all(json.loads(json.dumps(gradescope_results(made), allow_nan=False)) == gradescope_results(made) for made in EVERYONE)


def test_the_score_is_that_of_the_record_and_of_the_sum_of_the_tests():
    for made in EVERYONE:
        found = gradescope_results(made)
        assert found["score"] == pytest.approx(made["points"], abs=1e-4)
        assert found["score"] == pytest.approx(sum(test["score"] for test in found["tests"]), abs=1e-2)
        assert found["extra_data"]["max_score"] == made["of"] == sum(test["max_score"] for test in found["tests"])


def test_each_part_is_a_test_that_is_numbered_by_task_and_part():
    tests = gradescope_results(CLASS[0])["tests"]
    assert [test["number"] for test in tests] == [f"{number}.{k}" for number, _, parts in TASKS for k in range(1, len(parts) + 1)]
    assert tests[0]["name"] == "the tables G and DG: values of G" and tests[3]["name"] == "eval of the notes' lists"


def test_all_tests_are_visible_so_that_the_student_has_a_total():
    assert {test["visibility"] for made in EVERYONE for test in gradescope_results(made)["tests"]} == {"visible"}


def test_a_hidden_part_has_title_and_points_and_no_output():
    tests = [test for made in EVERYONE for test in gradescope_results(made)["tests"] if test["name"].endswith("(hidden)")]
    assert {test["output"] for test in tests} == {""}
    assert {test["status"] for test in tests} == {"passed", "failed"}


def test_a_visible_part_that_failed_says_something_and_one_that_passed_nothing():
    tests = [test for made in EVERYONE for test in gradescope_results(made)["tests"] if not test["name"].endswith("(hidden)")]
    assert all(bool(test["output"]) == (test["status"] == "failed") for test in tests)


def test_text_of_a_submission_is_never_read_as_html_or_markdown_or_ansi():
    for made in map(gradescope_results, EVERYONE):
        assert {made["output_format"], made["test_output_format"], made["test_name_format"]} == {"text"}
        assert {test[key] for test in made["tests"] for key in ("output_format", "name_format")} == {"text"}


def test_what_a_runner_prints_is_for_the_instructor():
    assert gradescope_results(CLASS[0])["stdout_visibility"] == "hidden"


def test_trouble_is_in_the_output_and_in_each_test_that_it_cost():
    made = record("a", trouble="no file wengert.py in the archive")
    found = gradescope_results(made)
    assert "no file wengert.py" in found["output"]
    assert all(test["output"] == made["trouble"] for test in found["tests"] if not test["name"].endswith("(hidden)"))


def test_results_hold_nothing_of_hidden_parts_nor_the_term():
    for made in EVERYONE:
        text = json.dumps(gradescope_results(made))
        assert SECRET not in text and made["graded"]["term"] not in text


def test_a_failure_of_the_grader_is_said_without_its_words():
    text = json.dumps(gradescope_results(grader_failed(record("a", seed=1))))
    assert GRADER_FAILED in text and "ZeroDivisionError" not in text


def test_points_of_hidden_parts_that_wait_are_in_no_sum():
    for made in EVERYONE:
        shown = gradescope_results(made, "after_due_date")
        visible = [test for test in shown["tests"] if test["visibility"] == "visible"]
        assert valid("gradescope", shown) and {test["visibility"] for test in shown["tests"]} == {"visible", "after_due_date"}
        assert {test["name"].endswith("(hidden)") for test in visible} == {False} and shown["score"] == round(made["points"], 4)
        told = without_hidden(made)
        assert told["points"] == pytest.approx(sum(test["score"] for test in visible), abs=1e-2)
        assert f"{round(told['of'])} points" in shown["output"] and SECRET not in json.dumps(shown)


@pytest.mark.parametrize("cooldown, minutes, visible", [(0, 1, True), (60, None, True), (60, 59, False), (60, 60, True)])
def test_hidden_points_are_not_shown_again_within_the_cooldown(cooldown, minutes, visible):
    at = datetime.datetime(2026, 11, 7, 12, tzinfo=ZoneInfo("UTC"))
    term = Term(assignments={"one": Rules("one", due=at - datetime.timedelta(hours=12), penalty=10, cooldown=cooldown)})
    shown, ada = minutes and at - datetime.timedelta(minutes=minutes), record("ada", seed=3)
    made = results_in_term(ada, term, "one", (HandIn((("Ada",),), at), shown))
    hidden = {test["visibility"] for test in made["tests"] if test["name"].endswith("(hidden)")}
    assert hidden == {"visible" if visible else "after_published"} and made["extra_data"]["hidden_shown"] == visible
    assert ("shown again for work from 07 Nov 12:01 on" in made["output"]) != visible
    assert "Handed in 1 day late, 10 points off." in made["output"] and made["score"] == round(ada["points"] - 10, 4)
    late_days = results_in_term(ada, Term(late_days=3, assignments=term.assignments), "one", (HandIn((("Ada",),), at), None))
    assert "late days are counted at the end" in late_days["output"] and late_days["score"] == round(ada["points"], 4)


# ---- the runners of GitHub Classroom -------------------------------------------------------------------------------------

def test_a_result_has_a_test_with_a_score_for_each_part():
    for made, status in ((record("a", seed=1), "fail"), (record("a", skill=1), "pass"), (grader_failed(record("a")), "error")):
        found = classroom_result(made)
        assert (found["version"], found["status"], found["max_score"]) == (1, status, made["of"])
        assert sum(test["score"] for test in found["tests"]) == pytest.approx(made["points"], abs=1e-2)
        assert {test["status"] for test in found["tests"]} <= {"pass", "fail"}


# ---- Autolab -------------------------------------------------------------------------------------------------------------

def test_the_last_line_is_of_autolabs_format_and_one_line_of_ascii():
    for made in EVERYONE:
        line = autolab_line(made)
        assert valid("autolab", json.loads(line)) and len(line.splitlines()) == 1 and line.isascii()


def test_autolab_reads_the_line_as_it_was_meant():
    assert all(as_autolab_reads(autolab_line(made)) == json.loads(autolab_line(made)) for made in EVERYONE)


def test_a_colon_in_a_title_does_not_break_autolabs_parser():
    made = record("a")
    made["tasks"][0]["title"] = "softmax: stable, ratio 1:2, ü: and \"quoted\": all"
    assert as_autolab_reads(autolab_line(made)) == json.loads(autolab_line(made))


def test_problems_are_the_tasks_by_number_and_title():
    scores = json.loads(autolab_line(CLASS[0]))["scores"]
    assert list(scores) == [autolab_problem(number, title) for number, title, _ in TASKS] and "2. eval" in scores
    assert list(scores.values()) == [task["points"] for task in CLASS[0]["tasks"]]


def test_the_scoreboard_is_the_total_and_each_task_as_autolabs_own_is():
    found = json.loads(autolab_line(CLASS[0]))
    assert found["scoreboard"] == [CLASS[0]["points"], *found["scores"].values()]


def test_the_line_has_nothing_of_hidden_parts():
    assert not any(SECRET in autolab_line(made) for made in EVERYONE)
