"""Facts about what a newcomer types first, and what they are told."""

import builtins
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xman import WengertList, XManError, eval

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("place, text", [("ops.py", "def helper(): pass\n"), ("ops.py", "raise SystemExit\n"), ("ops.py", ""),
                                         ("ops/__init__.py", "from xman import f\n")])
def test_an_ops_of_the_users_own_is_named_in_one_sentence_and_not_run(tmp_path, place, text):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(text)
    command = [sys.executable, "-c", "import sys; sys.path.append(sys.argv[1]); import xman", str(ROOT)]
    last = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / place} hides the package ops that comes with xman: give it another name")


@pytest.mark.parametrize("formula, lines", [
    ("x * x", "f = mul(x, x)"), ("2*x + y", "z1 = mul(2, x), f = add(z1, y): one operator a line"), ("x ^ 2", "f = power(x, 2)"),
    ("-x.T @ y", "z1 = transpose(x), z2 = negative(z1), f = dot(z2, y): one operator a line"), ("x", "f = alias(x)"),
    ("mul(x - 1, y)", "z1 = subtract(x, 1), f = mul(z1, y): one operator a line"),
    ("1 / (1 + np.exp(-x))", "z1 = negative(x), z2 = exp(z1), z3 = add(1, z2), f = divide(1, z3): one operator a line")])
def test_a_formula_in_a_text_is_answered_with_its_lines_which_compute_it(formula, lines):
    with pytest.raises(XManError) as refused:
        WengertList.from_text(f"f = {formula}")
    assert str(refused.value).endswith(f"; write {lines}")
    steps = WengertList.from_text(lines.partition(":")[0].replace("), ", ")\n"))
    values = {"x": np.array([0.5, 2.0]), "y": np.array([3.0, -1.0])}
    wanted = builtins.eval(formula.replace("^", "**"), {"np": np, "mul": np.multiply, **values})
    np.testing.assert_array_equal(eval(steps, values)["f"], wanted)


def test_the_lines_for_a_formula_take_no_name_of_the_text():
    with pytest.raises(XManError, match="write z2 = mul.x, x., f = add.z2, z1."):
        WengertList.from_text("z1 = add(x, 1)\nf = x*x + z1")


@pytest.mark.parametrize("line", ["f = x[0]", "f = nothing(2*x)", "f(x) = x", "f = x if y else z", "f = exp(x, axis=1)"])
def test_what_is_no_formula_of_operators_is_answered_with_the_form_of_a_line(line):
    with pytest.raises(XManError, match="wanted an assignment of one operator"):
        WengertList.from_text(line)
