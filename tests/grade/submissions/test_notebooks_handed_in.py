"""Facts about notebooks: what they define is graded, and what they try is left out."""

import json

import pytest

from xman.errors import XManError
from xman.grade.submissions.notebook import notebook_program
from xman.grade.submissions.submission import program_among


def notebook(*cells, **more):
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True), **more} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["def text(): pass"]}, *code], "nbformat": 4}).encode()


def program(*cells):
    return notebook_program(notebook(*cells), "my.ipynb").decode()


def test_definitions_stay_with_what_they_read_in_their_order():
    text = program("import math\nfrom numpy import sin\nRATE = 3\nUNUSED = print('no')", "print(1)\nfactor, other = RATE * 2, 1",
                   "@staticmethod\ndef f(x):\n    # mine\n    return x * factor", "plot(f)", "f.cache = {}\nclass A:\n    pass",
                   "def f(x):\n    return math.sin(x)")
    assert text == "\n\n".join(["import math", "from numpy import sin", "RATE = 3", "factor, other = RATE * 2, 1",
                                "@staticmethod\ndef f(x):\n    # mine\n    return x * factor", "class A:\n    pass",
                                "def f(x):\n    return math.sin(x)"])


def test_magics_and_cells_that_are_no_python_and_define_nothing_are_left_out():
    assert program("%matplotlib inline\n!pip install x\ndef f(): pass\n?f", "%%bash\ndef x", "a note", "") == "def f(): pass"


def test_the_source_of_a_cell_may_be_one_text():
    text = json.dumps({"cells": [{"cell_type": "code", "source": "def f():\n    return 1"}]})
    assert notebook_program(text.encode(), "my.ipynb") == b"def f():\n    return 1"


@pytest.mark.parametrize("data, said", [
    (b"", "no notebook"), (b"[]", "no notebook"), (b'{"cells": 3}', "no notebook"), (b"\xff", "no notebook"),
    (b"[" * 100_000, "no notebook"), (b'{"worksheets": []}', "no notebook"), (notebook("x = 1"), "defines no function"),
    (notebook("x = 1", "def f(:\n    pass"), "code cell 2 of 'my.ipynb' is not Python, line 1"),
    (notebook("def f(): pass\nx = " + "(" * 10_000), "code cell 1")])
def test_another_is_refused_with_a_sentence(data, said):
    with pytest.raises(XManError, match=said):
        notebook_program(data, "my.ipynb")


def test_a_long_chain_of_assignments_costs_no_more_than_its_lines():
    chain = "\n".join(f"a{k} = a{k + 1}" for k in range(3000))
    assert program(chain + "\ndef f(): return a0").count("\n\n") == 3000


DONE, STARTER = "import math\n\n\ndef f(x):\n    a = x\n\n    return a\n", "def f(x):\n    pass\n"


@pytest.mark.parametrize("file", ["stats.py", "work/stats.py", "other.py"])
def test_a_notebook_beside_an_unfinished_program_of_its_name_is_not_passed_over(file):
    with pytest.raises(XManError, match="holds 'stats.ipynb' and '.*', which define different things"):
        program_among({file: STARTER.encode(), "stats.ipynb": notebook(DONE)}, "stats", "'ada.zip'")


@pytest.mark.parametrize("name, cell", [("stats.ipynb", DONE), ("stats.ipynb", "print(1)"), ("trials.ipynb", STARTER)])
def test_a_program_counts_beside_a_notebook_that_has_no_more_or_another_name(name, cell):
    text = ("# %%\n" + DONE).replace("\n", "\r\n").encode()
    assert program_among({"stats.py": text, name: notebook(cell)}, "stats", "'ada.zip'") == text
