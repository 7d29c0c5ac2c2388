"""Facts about hand-outs: what is cut out of a solution, which marks are refused, and that nothing of it is handed out."""

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xman.errors import XManError
from xman.grade.handout.handout import regions, starter, traces, write_handout

SOLUTION = '''"""Lists."""
import math

RATE = 0.5


def eval(steps, values, G):
    """The values."""
    # task 1: eval
    values = dict(values)
    for z, g, args in steps:
        values[z] = G[g](*[values[a] for a in args])  # the heart of it
    return values
    # end of task 1


class Model:
    def loss(self, x):
        scale = 2.0
        # task 2: the loss
        if x > 0:
            return math.log(scale * x)
        # end of task 2
        # task 2: the loss
        return math.log1p(-x)
        # end of task 2

    def given(self):
        return "# task 7: no mark, for it is text"
'''
STARTER = '''"""Lists."""
import math

RATE = 0.5


def eval(steps, values, G):
    """The values."""
    # your code here
    raise NotImplementedError("task 1: eval")


class Model:
    def loss(self, x):
        scale = 2.0
        # your code here
        raise NotImplementedError("task 2: the loss")
        # your code here
        raise NotImplementedError("task 2: the loss")

    def given(self):
        return "# task 7: no mark, for it is text"
'''


T, E = "# task 1: t", "# end of task 1"


def function(*lines):
    """A function with these lines, from line 2 on."""
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


# what is cut


def test_a_region_becomes_an_error_that_names_its_task():
    assert starter(SOLUTION) == STARTER


def test_the_regions_are_known_by_task_and_line():
    assert [(region.task, region.title, region.start, region.end) for region in regions(SOLUTION)] == [
        (1, "eval", 9, 14), (2, "the loss", 20, 23), (2, "the loss", 24, 26)]


def test_the_starter_can_be_imported_and_raises_where_it_is_not_written():
    space = {}
    exec(starter(SOLUTION), space)
    with pytest.raises(NotImplementedError, match="^task 1: eval$"):
        space["eval"]([], {}, {})


def test_a_source_without_regions_stays_as_it_is():
    text = "x = '\u2028\\x0c'  # a line that other programs would take for two\n"
    assert starter(text) == text


def test_a_region_in_a_block_of_a_nested_function_is_cut():
    before, after = ("def g():", "    for k in x:"), ("return g",)
    region = "        # task 1: t", "        yield k + 1.5 * 2", "        # end of task 1"
    cut = "        # your code here", '        raise NotImplementedError("task 1: t")'
    assert starter(function(*before, *region, *after)) == function(*before, *cut, *after)


# marks that are refused


WRONG = {
    "not closed": (function(T, "return x"), "line 2: .* not closed: '# end of task 1'"),
    "closed twice": (function(T, "return x", E, E), "line 5: no region is open"),
    "closed but not opened": (function("return x", E), "line 3: no region is open"),
    "nested": (function(T, "x = 2", "# task 2: u", "return x", "# end of task 2"), "line 2: .* not closed"),
    "other number": (function(T, "return x", "# end of task 2"), "line 2: .* not closed"),
    "at module level": ("# task 1: t\nx = 1\n# end of task 1\n", "line 1: .* not inside a function"),
    "around a function": ("# task 1: t\ndef f():\n    pass\n# end of task 1\n", "line 1: .* not inside a function"),
    "in a class": ("class A:\n    # task 1: t\n    x = 1\n    # end of task 1\n", "line 2: .* not inside a function"),
    "empty": (function(T, E, "return x"), "line 2: .* no statement"),
    "without a title": (function("# task 1:", "return x", E), "line 2: '# task 1:' is no mark"),
    "without a colon": (function("# task 1 eval", "return x", E), "line 2: .* is no mark"),
    "without a number": (function("# task: eval", "return x", E), "line 2: .* is no mark"),
    "in capitals": (function("# Task 1: t", "return x", E), "line 2: .* is no mark"),
    "with a quote": (function('# task 1: "t"', "return x", E), "line 2: .* is no mark"),
    "end with a title": (function(T, "return x", "# end of task 1: t"), "line 4: .* is no mark"),
    "beside a statement": (function(T, "return x  # end of task 1"), "line 3: .* a line of its own"),
    "start indented": (function(f"    {T}", "return x", E), "line 2: .* indentation"),
    "end indented": (function("if x:", f"    {T}", "    x = 2", E, "return x"), "line 3: .* indentation"),
    "both indented": (function(f"    {T}", "return x", f"    {E}"), "line 2: .* not indented as"),
    "out of a block": (function("if x:", f"    {T}", "    x = 2", "x = 3", f"    {E}"), "line 3: .* not indented"),
    "inside a statement": (function(T, "x = [", "1,", E, "2]"), "line 2: .* inside a statement"),
    "inside an expression": (function("x = [", T, "1,", E, "2]"), "line 3: .* no statement"),
    "before an else": (function(T, "if x:", "    x = 1", E, "else:", "    x = 2"), "inside a statement"),
    "after a decorator": (function("@f", T, "def g(): pass", E), "cannot be parsed: .*, line 4 of the rest"),
    "no Python": ("def f(:\n", "cannot be parsed"),
    "a line that also stands outside": (function("y = x * 2 + 1", T, "y = x * 2 + 1", E), "also stands"),
}


@pytest.mark.parametrize("name", WRONG)
def test_marks_that_are_not_in_order_are_refused_with_their_line(name):
    source, sentence = WRONG[name]
    with pytest.raises(XManError, match=sentence):
        starter(source)


def test_a_title_that_is_not_that_of_the_task_is_refused():
    assert starter(SOLUTION, {1: "eval", 2: "the loss", 3: "more"}) == STARTER
    with pytest.raises(XManError, match="line 24: .* the title 'the loss'; that of the task is 'loss'"):
        starter(SOLUTION, {1: "eval", 2: "loss"})


@given(st.lists(st.sampled_from([T, E, "# task 2: u", "# end of task 2", "y = x + 1234567", "if x:",
                                 "    z = x * 7654321", f"    {T}", f"    {E}", "else:", "return x"]), max_size=8))
@settings(max_examples=150, deadline=None)
def test_whatever_the_marks_the_starter_parses_and_has_no_line_of_a_region_or_the_source_is_refused(lines):
    source = function(*lines, "pass")
    try:
        cut = starter(source)
    except XManError as error:
        assert str(error).isprintable()
        return
    ast.parse(cut)
    inside = [line.strip() for region in regions(source) for line in source.splitlines()[region.start:region.end - 1]]
    assert not [line for line in inside if len(line) > 12 and line in cut]
    assert "# task" not in cut and cut.count("NotImplementedError") == len(regions(source))


# traces


def test_a_telling_line_is_found_whatever_its_spaces_and_what_stands_around_it():
    assert traces(SOLUTION, "so we say `values[z] =   G[g](*[values[a]\n for a in args])  # the heart of it`!") == [
        "values[z] = G[g](*[values[a] for a in args]) # the heart of it"]
    assert traces(SOLUTION, "nothing", "math.log1p(-x)", "return math.log1p(-x)") == ["return math.log1p(-x)"]


def test_short_and_plain_lines_are_no_traces():
    assert traces(SOLUTION, "for z, g, args in steps:\n    if x > 0:\n    return values\n") == []


# the folder


@dataclass
class Fake:
    folder: Path
    module: str = "lists"
    title: str = "Lists"
    data: tuple = ()
    tasks: tuple = SimpleNamespace(number=1, title="eval", parts=[]), SimpleNamespace(number=2, title="the loss", parts=[])

    @property
    def probes(self):
        return self.folder / "probes.py"


@pytest.fixture
def assignment(tmp_path):
    folder = tmp_path / "assignments" / "lists"
    for name, text in {"solution/lists.py": SOLUTION, "handout.md": "# Lists\n", "public/checks.py": "checks = 1\n",
                       "public/more.py": "secret", "grading.py": "secret", "probes.py": "probes = 1\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return Fake(folder)


def test_a_handout_is_the_starter_the_text_the_checks_the_probes_and_the_data_and_nothing_else(assignment, tmp_path):
    assignment.data = "names.valid", "digits.test"
    write_handout(assignment, out := tmp_path / "new" / "out")
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert set(files) == {"lists.py", "handout.md", "checks.py", "check.py", "probes.py", "data/names.valid", "data/digits.test"}
    assert files["lists.py"].read_text() == STARTER
    assert files["checks.py"].read_text() == "checks = 1\n\n\nassignment.judged = 0  # parts, when you hand in\n"
    assert files["data/names.valid"].read_bytes() == (Path(__file__).parents[3] / "data" / "names.valid").read_bytes()
    assert [path.name for path in out.parent.iterdir()] == ["out"] and out.stat().st_mode & 0o777 == 0o755


def test_check_py_calls_the_check_of_its_own_folder(assignment, tmp_path):
    write_handout(assignment, out := tmp_path / "out")
    (package := tmp_path / "fake" / "xman" / "grade").mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("def check(folder):\n    print('checked', folder.resolve())\n    return True\n")
    said = subprocess.run([sys.executable, out / "check.py"], env={**os.environ, "PYTHONPATH": str(tmp_path / "fake")},
                          capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout == f"checked {out}\n"


def test_an_empty_folder_is_taken_and_one_that_is_not_empty_stays_as_it_is(assignment, tmp_path):
    (out := tmp_path / "out").mkdir()
    write_handout(assignment, out)
    (out / "lists.py").write_text("my work")
    with pytest.raises(XManError, match="not an empty folder; nothing was written"):
        write_handout(assignment, out)
    assert (out / "lists.py").read_text() == "my work"
    with pytest.raises(XManError, match="not an empty folder"):
        write_handout(assignment, out / "lists.py")


def test_nothing_is_left_of_a_handout_that_could_not_be_finished(assignment, tmp_path):
    assignment.data = ("names.valid", "nmaes.train")
    with pytest.raises(XManError, match="no data set 'nmaes.train'"):
        write_handout(assignment, tmp_path / "out")
    assert not list(tmp_path.glob("*out*")) and not list(tmp_path.glob(".*"))


def test_the_folder_that_one_is_in_and_that_of_the_assignment_are_refused(assignment, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(XManError, match="the folder that you are in"):
        write_handout(assignment, Path("."))
    with pytest.raises(XManError, match="the folder of the assignment itself"):
        write_handout(assignment, assignment.folder / "out")


@pytest.mark.parametrize("name", ["handout.md", "public/checks.py"])
def test_a_file_that_tells_of_the_solution_is_not_handed_out(assignment, tmp_path, name):
    (assignment.folder / name).write_text("# values = dict(values)\n")
    with pytest.raises(XManError, match=re.escape(f"{Path(name).name} tells 1 of the solution's lines: 'values = dict(values)'")):
        write_handout(assignment, tmp_path / "out")


@pytest.mark.parametrize("name", ["handout.md", "public/checks.py", "solution/lists.py"])
def test_an_assignment_that_is_not_complete_is_refused(assignment, tmp_path, name):
    (assignment.folder / name).unlink()
    with pytest.raises(XManError, match=f"lists/{name} cannot be read: No such file"):
        write_handout(assignment, tmp_path / "out")
