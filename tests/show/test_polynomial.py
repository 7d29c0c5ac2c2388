"""Facts about registers multiplied out."""
import doctest
import math

import numpy as np
import pytest

import xman.formulas.polynomial
from ops import f
from xman import WengertList, XManError
from xman import eval as evaluate
from xman.formulas.polynomial import expand
from xman.passes import gradient

REPS_3 = """z1 = mul(4, y)
z2 = add(x, z1)
z3 = add(x, y)
z4 = mul(z3, y)
h = mul(z2, z4)"""
EQ_1 = """z1 = add(x1, x1)
z2 = add(z1, x2)
f = square(z2)"""
CUBE = """z1 = mul(x, x)
f = mul(z1, x)"""


def read(source):
    return WengertList.from_text(source)


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(xman.formulas.polynomial).failed == 0


@pytest.mark.parametrize("source, of, wrt, answer", [
    (REPS_3, "h", "x", "2*x*y + 5*y**2"), (REPS_3, "h", "y", "x**2 + 10*x*y + 12*y**2"),
    (EQ_1, "f", "x1", "8*x1 + 4*x2"), (EQ_1, "f", "x2", "4*x1 + 2*x2"), (CUBE, "f", "x", "3*x**2")])
def test_the_gradients_of_the_seeds_are_their_printed_answers(source, of, wrt, answer):
    import ast

    from xman.passes import ALGEBRA, EXACT, simplify
    likes = dict.fromkeys(read(source).inputs, ())
    steps = simplify(gradient(read(source), of, [wrt]), likes=likes, rewrites=EXACT + ALGEBRA)
    assert expand(steps, f"d{of}_d{wrt}") == answer
    assert ast.parse(answer)  # and Python


def test_reps_product_is_the_polynomial_that_he_names():
    assert expand(read(REPS_3), "h") == "x**2*y + 5*x*y**2 + 4*y**3"


@pytest.mark.parametrize("line, shown", [
    ("f = half(x)", "0.5*x"), ("f = divide(x, 3)", "(1/3)*x"), ("f = divide(x, 4)", "0.25*x"), ("f = negative(x)", "-x"),
    ("f = subtract(1, x)", "-x + 1"), ("f = power(x, 3)", "x**3"), ("f = power(x, -2.0)", "1/x**2"), ("f = power(x, 0)", "1"),
    ("f = divide(2, x)", "2/x"), ("f = divide(x, x)", "1"), ("f = subtract(x, x)", "0"), ("f = mul(x, 0.0)", "0"),
    ("f = power(x, 0.5)", "x**0.5"), ("f = power(x, -0.5)", "1/x**0.5"), ("f = power(2, x)", "(2**x)"), ("f = exp(x)", "exp(x)"), ("f = sigmoid(x)", "sigmoid(x)"),
    ("f = greater(x, 0)", "(x > 0)"), ("f = where(x, y, 0)", "where(x, y, 0)"), ("f = mul(x10, x9)", "x9*x10"),
    ("f = alias(x)", "x"), ("f = add(x, float('inf'))", "inf + x"), ("f = power(x, 5000)", "x**5000"), ("f = divide(x, 0)", "x/(0)"),
    ("f = dot(A, x)", "(A @ x)"), ("f = transpose(A)", "A.T"), ("f = getitem(x, 0)", "x[0]"), ("f = sum(x, 1)", "sum(x, axis=1)"),
    ("f = inv(A)", "inv(A)"), ("f = mul(x, -1e300)", "-1e+300*x"), ("f = add(2, 3)", "5")])
def test_one_line_prints(line, shown):
    assert expand(read(line), "f") == shown


@pytest.mark.parametrize("source, shown", [
    ("z = add(x, y)\nf = divide(x, z)", "x/(x + y)"), ("z = add(x, y)\nf = power(z, -1)", "1/(x + y)"),
    ("z = exp(x)\nf = mul(x, z)", "x*exp(x)"), ("z = mul(x, y)\nw = exp(z)\nf = square(w)", "exp(x*y)**2"),
    ("z = add(x, y)\nw = sin(z)\nf = subtract(w, z)", "-x - y + sin(x + y)"), ("z = mul(y, y)\nf = divide(x, z)", "x/y**2"),
    ("z = mul(x, y)\nf = divide(3, z)", "3/(x*y)"), ("z = mul(x, 0.1)\nw = mul(x, 0.2)\nf = add(z, w)", "0.3*x"),
    ("z = subtract(x, x)\nf = divide(1, z)", "1/(0)"), ("z = subtract(x, x)\nf = square(z)", "0"),
    ("z = add(x, y)\nf = power(z, 0)", "1"), ("z = add(x, y)\nf = power(z, 1)", "x + y"), ("z = add(x, y)\nf = power(z, 2)", "x**2 + 2*x*y + y**2"),
    ("z = add(x, 1)\nf = greater(z, 0)", "((x + 1) > 0)"), ("z = mul(2, x)\nf = power(z, 3)", "8*x**3")])
def test_parts_are_collected(source, shown):
    assert expand(read(source), "f") == shown


def test_an_input_is_itself():
    assert expand(read(CUBE), "x") == "x"


def test_terms_stand_in_graded_lexicographic_order_however_they_came():
    assert expand(read("a = add(1, y)\nb = add(a, x)\nc = mul(x, x)\nd = mul(y, x)\ne = add(b, c)\nf = add(d, e)"),
                  "f") == "x**2 + x*y + x + y + 1"


def test_the_polynomial_is_valid_python_with_the_registers_value():
    steps = read(REPS_3 + "\nz5 = sin(z2)\nz6 = divide(h, z3)\nz7 = mul(z5, z6)\ng = subtract(z7, 0.3)")
    values = evaluate(steps, {"x": 0.7, "y": -1.3})
    assert math.isclose(eval(expand(steps, "g"), {"sin": f.sin, "x": 0.7, "y": -1.3}), values["g"], rel_tol=1e-12)


def test_lines_that_the_register_does_not_need_are_not_looked_at():
    steps = [*((f"z{k + 1}", "square", (f"s{k}" if k else "s",)) for k in range(1)), ("t", "add", ("x", "x"))]
    assert expand(steps, "t") == "2*x"


@pytest.mark.parametrize("steps, words", [
    ([("s", "add", ("a", "b")), ("t", "add", ("s", "c")), ("u", "add", ("t", "d")), ("v", "power", ("u", 30))],
     "v = power(u, 30): multiplied out it has more than 1,000 terms; print the list"),
    ([("z0", "add", ("x", 2.0))] + [(f"z{k + 1}", "square", (f"z{k}",)) for k in range(40)], "multiplied out it has more than"),
    ([("z0", "mul", ("x", 2.0))] + [(f"z{k + 1}", "square", (f"z{k}",)) for k in range(40)], "more than 300 digits"),
    ([("z0", "mul", ("x", "y"))] + [(f"z{k + 1}", "arctan2", (f"z{k}", f"z{k}")) for k in range(40)], "more than 10,000 letters")])
def test_what_would_explode_is_refused_in_a_sentence(steps, words):
    with pytest.raises(XManError) as error:
        expand(steps, steps[-1][0])
    assert words in str(error.value) and "nearer to the inputs" in str(error.value)


def test_a_hundred_thousand_lines_are_multiplied_out():
    steps = [("z0", "add", ("x", 1)), *((f"z{k + 1}", "add", (f"z{k}", 1)) for k in range(20_000))]
    assert expand(steps, "z20000") == "x + 20001"


@pytest.mark.parametrize("call, words", [
    (lambda: expand(read(EQ_1), "g"), "of names 'g', which the list does not have"),
    (lambda: expand(read(EQ_1), "zz2"), "did you mean 'z2'"),
    (lambda: expand(read(EQ_1), 3), "takes the names of registers, strings, and found 3"),
    (lambda: expand(EQ_1, "f"), "WengertList.from_text(steps)"),
    (lambda: expand([("f", "sqare", ("x",))], "f"), "there is no operator 'sqare'; define it with ops.operator; did you mean 'square'"),
    (lambda: expand([("f", "square", ("x"))], "f"), "a tuple of one"),
    (lambda: expand([], "f"), "of names 'f', which the list does not have"),
    (lambda: expand(read(EQ_1), np.float64(2.0)), "and found np.float64(2.0)")])
def test_a_mistake_gets_its_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value)
