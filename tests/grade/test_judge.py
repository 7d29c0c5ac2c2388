"""What becomes of one submission: credit by cases and by scale, a task a process, sentences for what goes wrong."""

import inspect
import json
import os
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import xman
from xman.grade import Assignment, Wrong, check, expect, judge
from xman.grade.judge import judged
from xman.grade.record import seed_of
from xman.grade.sandbox import sandbox_here
from xman.grade.session import Session

SQUARES = "def square(x): return x * x\n"
HALVES = "def half(x): return x / 2\n"


def two_tasks(**limits):
    assignment = Assignment("work", "Squares and halves", **limits)
    first, second = assignment.task(1, "square"), assignment.task(2, "half")

    @first.part("numbers", points=40, cases=["small", "large"])
    def numbers(student, rng, size):
        x = rng.uniform(1, 2) * {"small": 1, "large": 1e6}[size]
        expect(student.square(x), x * x, "the square", look="Which number is multiplied by which?")

    @first.part("arrays", points=20, hidden=True)
    def arrays(student, rng):
        x = rng.standard_normal((2, 3))
        expect(student.square(x), x * x, "the square")

    @second.part("halves", points=40)
    def halves(student, rng):
        x = rng.standard_normal()
        expect(student.half(x), x / 2, "the half")
    return assignment


def record_of(source, folder, assignment=None):
    (folder / "work.py").write_text(textwrap.dedent(source), "utf-8")
    folder.chmod(0o755)
    record = judge(assignment or two_tasks(), folder, sandbox_here(unsafe=True), "a term")
    assert json.loads(json.dumps(record)) == record
    return record


def points(record):
    return [task["points"] for task in record["tasks"]]


def feedback(record, task=0, part=0, case=0):
    return record["tasks"][task]["parts"][part]["cases"][case]["feedback"]


def test_all_that_is_right_has_all_points(tmp_path):
    record = record_of(SQUARES + HALVES, tmp_path)
    assert points(record) == [60, 40] and record["points"] == record["of"] == 100
    assert feedback(record) is None
    assert record["graded"].keys() == {"xman", "python", "numpy", "assignment", "sandbox", "term", "when"}


def test_cases_share_the_points_of_their_part(tmp_path):
    record = record_of("def square(x): return x * x if x is not None and abs(x) < 10 else 0.0\n" + HALVES, tmp_path)
    assert record["tasks"][0]["parts"][0]["points"] == 20


def test_the_feedback_has_the_input_what_came_back_what_was_expected_and_where_to_look(tmp_path):
    told = feedback(record_of("def square(x): return -x * x\n", tmp_path))
    assert told["given"].startswith("square(1.") and told["came_back"].startswith("-") and "the square" in told["expected"]
    assert told["look"] == "Which number is multiplied by which? Its sign is the other way round."


@pytest.mark.parametrize("source, said", [
    ("", "work.py has no function square"),
    ("def square(x): raise NotImplementedError('task 1: square')", "not written yet: task 1: square"),
    ("def square(x):\n    return x / 0", "work.py:2, `return x / 0`: ZeroDivisionError"),
    ("def square(x):\n    raise SystemExit(0)", "SystemExit: 0"),
    ("import os\ndef square(x): os._exit(0)", "the process ended in square: exit status 0"),
    ("import os\ndef square(x): os.kill(os.getpid(), 11)", "segmentation fault"),
    ("def square(x): return print", "TypeError: a builtin_function_or_method"),
    ("def square(x): return {1, 2}", "TypeError: a set"),
    ("def square(x): return x + 1j", "TypeError: a complex"),
    ("def square(x): return square(x)", "RecursionError"),
    ("def square(x): return 10 ** 100", "a whole number of more than 30 digits"),
    ("square = 3", "TypeError: 'int' object is not callable")])
def test_what_goes_wrong_in_a_function_is_a_sentence_and_costs_its_task_alone(source, said, tmp_path):
    record = record_of(source + "\n" + HALVES, tmp_path)
    assert said in feedback(record)["came_back"] and points(record) == [0, 40]


@pytest.mark.parametrize("source, said", [
    ("def f(:", "work.py:1: SyntaxError"), ("import tensorflow", "work.py:1, `import tensorflow`: ModuleNotFoundError"),
    ("import os; os._exit(3)", "exit status 3"), ("raise SystemExit", "SystemExit"), ("1 / 0", "ZeroDivisionError")])
def test_an_import_that_fails_is_tried_once_and_said_of_every_task(source, said, tmp_path):
    record = record_of(source, tmp_path)
    assert said in record["trouble"] and record["points"] == 0
    assert said in feedback(record)["came_back"] and said in feedback(record, 1)["came_back"]


def test_an_endless_loop_costs_its_task_and_ends_at_the_limit_of_processor_time(tmp_path):
    record = record_of("def square(x):\n    while True: pass\n" + HALVES, tmp_path, two_tasks(cpu_seconds=1))
    assert points(record) == [0, 40] and "1 s of processor time" in record["tasks"][0]["trouble"]
    assert record["tasks"][0]["parts"][1]["cases"][0]["feedback"]["came_back"] == record["tasks"][0]["trouble"]


def test_a_sleep_costs_its_task_and_ends_at_the_limit_of_the_clock(tmp_path):
    record = record_of("import time\ndef square(x): time.sleep(99)\n" + HALVES, tmp_path, two_tasks(wall_seconds=2))
    assert points(record) == [0, 40] and "no answer within 2 s" in record["tasks"][0]["trouble"]


def test_a_flood_of_output_costs_its_task_and_the_first_of_it_is_kept(tmp_path):
    record = record_of("def square(x):\n    while True: print('x' * 1000)\n" + HALVES, tmp_path)
    assert points(record) == [0, 40] and "printed more than 1 MiB" in record["tasks"][0]["trouble"]
    assert 1000 < len(record["tasks"][0]["output"]) < 5000


def test_what_is_printed_does_not_disturb_the_answers_and_is_harmless(tmp_path):
    record = record_of("import sys\nprint('{\"nonce\": 1}\\x1b[2J')\n"
                       "def square(x):\n    print('s'); print('e', file=sys.stderr)\n    return x * x\n" + HALVES, tmp_path)
    assert record["points"] == 100 and "\x1b" not in json.dumps(record) and "e\n" in record["tasks"][0]["output"]


def test_what_students_see_is_judged_before_any_hidden_part_and_by_other_processes(tmp_path):
    source = """
        import os
        calls = [os.getpid(), id(object())]
        def square(x):
            calls.append(x)
            return calls
        """
    assignment, asked = Assignment("work", "Squares"), []
    for number, titles in enumerate((("hidden a", "a"), ("b", "hidden b"), ("c",)), 1):
        task = assignment.task(number, f"square {number}")
        for title in titles:
            task.part(title, points=20, hidden="hidden" in title)(
                lambda student, rng, title=title: asked.append((title, student.square(title)[2:])))
    record = record_of(source, tmp_path, assignment)
    assert asked == [(title, [title]) for title in ("a", "b", "c", "hidden a", "hidden b")]
    assert [part["title"] for task in record["tasks"] for part in task["parts"]] == ["hidden a", "a", "b", "hidden b", "c"]


def test_the_time_of_a_record_tells_nothing_of_how_long_hidden_parts_took(tmp_path, monkeypatch):
    assignment, clock = Assignment("work", "Squares"), ["start"]
    monkeypatch.setattr("xman.grade.record.now", lambda: clock[-1])
    task = assignment.task(1, "square")
    task.part("hidden", points=100, hidden=True)(lambda student, rng: clock.append("after the hidden part"))
    assert record_of("def square(x): return x", tmp_path, assignment)["graded"]["when"] == "start"


BORROWING = "if False:\n" + textwrap.indent(inspect.getsource(xman.interpreters.backprop), "    ") + textwrap.indent(
    inspect.getsource(xman.interpreters.forward), "    ")
FRAMES = "import sys\nframe = sys._getframe()\nwhile frame:\n    {}\n    frame = frame.f_back\n"
UNMAKING = {
    "nothing": "", "it clears what its callers have":
    FRAMES.format("[d.clear() for d in [*frame.f_locals.values()] if type(d) is dict and '__name__' not in d]"),
    "it replaces who looks": "import ast, hashlib, shapes\nast.walk = lambda tree: []\nhashlib.sha256 = None\n"
                             "shapes.function_runs = lambda source: []",
    "it replaces who answers": FRAMES.format("setattr(type(frame.f_locals.get('self')), 'shapes', lambda self: {})"
                                             " if hasattr(frame.f_locals.get('self'), 'probes') else 0"),
    "it is too deep for a tree": "x = " + "+".join("1" * 5000)}


@pytest.mark.parametrize("code", UNMAKING.values(), ids=UNMAKING)
def test_a_submission_cannot_unmake_the_comparison_with_xmans_sources(tmp_path, code):
    record = record_of(f"{BORROWING}\n{code}\ndef square(x): return x * x\n", tmp_path)
    assert record["points"] == 0 and ("xman's sources" in record["trouble"] or "nested too deeply" in record["trouble"])


@pytest.mark.parametrize("drain", [Session.drain, lambda session: session.over.wait() and session.errors.close()],
                         ids=["at once", "by a thread that has no processor"])
def test_what_is_printed_or_said_once_a_hidden_part_was_seen_is_not_told(tmp_path, monkeypatch, drain):
    monkeypatch.setattr(Session, "drain", drain)
    source = """
        seen = []
        def square(x):
            print("I saw", x)
            seen.append(x)
            if len(seen) > 1: raise ValueError(seen)
            return x * x
        """
    assignment = Assignment("work", "Squares")
    task = assignment.task(1, "square")
    task.part("what is hidden", points=50, hidden=True)(lambda student, rng: expect(student.square(-1234.5), 1.0, "it"))
    task.part("what is seen", points=50)(lambda student, rng: expect(student.square(-77.5), 1.0, "it"))
    record = record_of(source, tmp_path, assignment)
    hidden, seen = record["tasks"][0]["parts"]
    assert hidden["title"] == "what is hidden" and "1234.5" not in json.dumps(seen) + record["tasks"][0]["output"]
    assert record["tasks"][0]["output"] == "I saw -77.5\n"


def test_how_a_process_ends_in_a_hidden_part_is_not_told(tmp_path):
    assignment = Assignment("work", "Squares")
    assignment.task(1, "square").part("what is hidden", points=100, hidden=True)(lambda student, rng: student.square(77.0))
    for source in ("import os\ndef square(x): os._exit(int(x))", "def square(x):\n    while True: print('x' * 99)"):
        record = record_of(source, tmp_path, assignment)
        assert record["tasks"][0]["trouble"] == "the process ended in a hidden part" and not record["tasks"][0]["output"]


def test_the_inputs_are_those_of_the_term_and_the_part():
    draw = lambda *words: np.random.default_rng(int(seed_of(*words), 16)).standard_normal()
    assert draw("t", "w", "p", "") == draw("t", "w", "p", "") != draw("u", "w", "p", "")
    assert draw("t", "wp", "") != draw("t", "w", "p")


def test_the_same_submission_draws_the_same_however_python_hashes_and_draws(tmp_path):
    source = """
        import random
        import numpy as np
        def square(x): return float(np.random.rand()), random.random(), hash('a'), list({'a', 'b', 'c'})
        """
    first, second = (feedback(record_of(source, tmp_path))["came_back"] for _ in range(2))
    assert first == second


def one_part(function):
    assignment = Assignment("work", "One part")
    assignment.task(1, "square").part("it", points=100)(function)
    return assignment


def test_functions_among_the_arguments_are_called_here_and_can_be_counted(tmp_path):
    calls = []

    def part(student, rng):
        def g(x, y):
            calls.append((x, y))
            return x + y
        expect(student.fold({"g": g}, [1.0, np.ones(2), 3.0]), np.full(2, 5.0), "the fold")
    source = "def fold(table, xs):\n    total = xs[0]\n    for x in xs[1:]: total = table['g'](total, x)\n    return total"
    assert record_of(source, tmp_path, one_part(part))["points"] == 100 and len(calls) == 2


def test_what_a_function_of_the_grader_refuses_is_an_error_in_the_submission(tmp_path):
    def part(student, rng):
        expect(student.use(lambda x: x + 1, lambda x: 1 / x), ["can only", "division"], "the errors")
    source = """
        def use(g, h):
            said = []
            try: g("a")
            except TypeError as error: said.append(str(error)[:8])
            try: h(0)
            except ZeroDivisionError as error: said.append(str(error)[:8])
            return said
        """
    assert record_of(source, tmp_path, one_part(part))["points"] == 100


def test_a_submission_that_asks_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("xman.grade.session.QUESTIONS", 20)
    source = "def use(g):\n    for _ in range(40): g(1.0)\n    return 1.0"
    record = record_of(source, tmp_path, one_part(lambda student, rng: expect(student.use(lambda x: x), 1.0, "it")))
    assert record["points"] == 0 and "more than 20 times" in record["tasks"][0]["trouble"]


@pytest.mark.parametrize("credit, worth", [(None, 100), (0.25, 25), (7, 100), (-1, 0), (float("nan"), 0), (np.float32(0.5), 50)])
def test_a_part_may_give_credit_by_scale(credit, worth, tmp_path):
    assert record_of(SQUARES, tmp_path, one_part(lambda student, rng: credit))["points"] == worth


def test_a_wrong_may_leave_some_credit(tmp_path):
    def part(student, rng):
        raise Wrong("all of it", credit=0.5)
    record = record_of(SQUARES, tmp_path, one_part(part))
    assert record["points"] == 50 and feedback(record)["expected"] == "all of it"


def test_a_mistake_of_the_grader_itself_is_said_and_costs_no_other_part(tmp_path):
    assignment = two_tasks()
    assignment.tasks[0].part("broken", points=0)(lambda student, rng: 1 / 0)
    record = record_of(SQUARES + HALVES, tmp_path, assignment)
    told = feedback(record, 0, 2)
    assert record["points"] == 100 and told["grader"] and "ZeroDivisionError" in told["traceback"]


def test_a_judge_that_is_to_stop_stops_at_once():
    stop, start = threading.Event(), time.monotonic()
    threading.Timer(0.5, stop.set).start()
    program = b"import time\ndef square(x): time.sleep(99)\ndef half(x): time.sleep(99)\n"
    judged(two_tasks(), program, sandbox_here(unsafe=True), "a term", stop=stop)
    assert time.monotonic() - start < 20


CHECKS = """
from xman.grade import Assignment, expect
assignment = Assignment("work", "One task")
@assignment.task(1, "square").check("of 3")
def three(student, rng):
    expect(student.square(3.0), 9.0, "the square of 3")
"""


def test_a_student_checks_the_work_in_a_folder(tmp_path, capsys, monkeypatch):
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "work.py").write_text(SQUARES)
    assert check(tmp_path)
    read, write = os.pipe()
    os.close(read)
    with monkeypatch.context() as patch, open(write, "w", buffering=1) as closed:  # python check.py | true
        patch.setattr(sys, "stdout", closed)
        assert check(tmp_path)
    (tmp_path / "work.py").write_text("def square(x): return 2 * x")
    assert not check(tmp_path)
    assert "of 3" in capsys.readouterr().out
