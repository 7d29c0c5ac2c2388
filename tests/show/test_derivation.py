"""Facts about derivations: the tables of the notes, the derivative of every operator on numbers, and what is refused."""
import ast
import re

import numpy as np
import pytest

import ops
from ops import f
from ops.functions import ORDERED
from xman import WengertList, XManError, call, cond, scan, trace
from xman import eval as evaluate
from xman.interpreters import backprop
from xman.show.derivation import Derivation, derivation

EQ_1 = WengertList.from_text("z1 = add(x1, x1)\nz2 = add(z1, x2)\nf = square(z2)")
CUBE = WengertList.from_text("z1 = mul(x, x)\nf = mul(z1, x)")


def table(text):
    return [tuple(re.split("  +", line.strip())) for line in text.strip().splitlines()]


TABLE_1 = table("""
    df/dx1 = d(z2^2)/dz2·dz2/dx1                            f = z2^2
    df/dx1 = 2·z2·dz2/dx1                                   d(a^2)/da = 2·a
    df/dx1 = 2·z2·d(z1 + x2)/dx1                            z2 = z1 + x2
    df/dx1 = 2·z2·(1·dz1/dx1 + 1·dx2/dx1)                   d(a + b)/da = d(a + b)/db = 1
    df/dx1 = 2·z2·(1·d(x1 + x1)/dx1 + 1·dx2/dx1)            z1 = x1 + x1
    df/dx1 = 2·z2·(1·(1·dx1/dx1 + 1·dx1/dx1) + 1·dx2/dx1)   d(a + b)/da = d(a + b)/db = 1
    df/dx1 = 2·z2·(1·(1·1 + 1·1) + 1·0)                     da/da = 1 and da/db = 0 for inputs a, b
    df/dx1 = 2·z2·2 = 8·x1 + 4·x2                           simplify""")
TABLE_2 = table("""
    df/dx2 = d(z2^2)/dz2·dz2/dx2                            f = z2^2
    df/dx2 = 2·z2·dz2/dx2                                   d(a^2)/da = 2·a
    df/dx2 = 2·z2·d(z1 + x2)/dx2                            z2 = z1 + x2
    df/dx2 = 2·z2·(1·dz1/dx2 + 1·dx2/dx2)                   d(a + b)/da = d(a + b)/db = 1
    df/dx2 = 2·z2·(1·d(x1 + x1)/dx2 + 1·dx2/dx2)            z1 = x1 + x1
    df/dx2 = 2·z2·(1·(1·dx1/dx2 + 1·dx1/dx2) + 1·dx2/dx2)   d(a + b)/da = d(a + b)/db = 1
    df/dx2 = 2·z2·(1·(1·0 + 1·0) + 1·1)                     da/da = 1 and da/db = 0 for inputs a, b
    df/dx2 = 2·z2 = 4·x1 + 2·x2                             simplify""")
TABLE_3 = table("""
    df/dx = dz1/dx·x + z1·dx/dx                f = z1·x and d(a·b)/dx = da/dx·b + a·db/dx
    df/dx = (dx/dx·x + x·dx/dx)·x + z1·dx/dx   z1 = x·x and d(a·b)/dx = da/dx·b + a·db/dx
    df/dx = (x + x)·x + x^2 = 3·x^2            z1 = x·x and simplify""")


def test_the_derivative_by_x1_is_table_1():
    assert derivation(EQ_1, "f", "x1") == TABLE_1


def test_the_derivative_by_x2_is_table_2_without_its_slips():
    assert derivation(EQ_1, "f", "x2") == TABLE_2


def test_the_brief_derivative_of_the_cube_is_table_3():
    assert derivation(CUBE, "f", "x", brief=True) == TABLE_3


def test_it_prints_itself_in_two_columns():
    lines = str(derivation(CUBE, "f", "x", brief=True)).splitlines()
    assert lines[0].split() == ["Derivation", "step", "Reason"] and len({line.index("   ") for line in lines[2:3]}) == 1
    assert [line[:lines[0].index("Reason")].strip() for line in lines[1:]] == [step for step, _ in TABLE_3]


def test_each_row_has_a_step_and_a_reason():
    found = derivation(EQ_1, "f", "x1")
    assert isinstance(found, Derivation) and found[0].step == TABLE_1[0][0] and found[0].reason == "f = z2^2"


# the derivative of an operator


@pytest.mark.parametrize("line, reason", [
    ("f = exp(x)", "d(exp(a))/da = exp(a)"), ("f = sin(x)", "d(sin(a))/da = cos(a)"), ("f = cos(x)", "d(cos(a))/da = -sin(a)"),
    ("f = log(x)", "d(log(a))/da = 1/a"), ("f = sqrt(x)", "d(sqrt(a))/da = 1/(2·sqrt(a))"),
    ("f = sigmoid(x)", "d(sigmoid(a))/da = sigmoid(a)·(1 - sigmoid(a))"), ("f = tanh(x)", "d(tanh(a))/da = 1 - tanh(a)^2"),
    ("f = negative(x)", "d(-a)/da = -1"), ("f = half(x)", "d(0.5·a)/da = 0.5"), ("f = relu(x)", "d(relu(a))/da = a > 0"),
    ("f = abs(x)", "d(abs(a))/da = sign(a)"), ("f = power(x, 3)", "d(a^3)/da = 3·a^2"), ("f = sign(x)", "d(sign(a))/da = 0"),
    ("f = subtract(x, y)", "d(a - b)/da = 1 and d(a - b)/db = -1"), ("f = mul(x, y)", "d(a·b)/da = b and d(a·b)/db = a"),
    ("f = divide(x, y)", "d(a/b)/da = 1/b and d(a/b)/db = -a/b^2"), ("f = divide(2, x)", "d(2/a)/da = -2/a^2"),
    ("f = power(x, y)", "d(a^b)/da = b·a^(b - 1) and d(a^b)/db = a^b·log(a)"), ("f = alias(x)", "d(a)/da = 1"),
    ("f = floor(x)", "d(floor(a))/da = 0"), ("f = arctan(x)", "d(arctan(a))/da = 1/(1 + a^2)")])
def test_the_derivative_of_an_operator_is_that_of_its_rule(line, reason):
    assert reason in [reason for _, reason in derivation(WengertList.from_text(line), "f", "x")]


SCALAR = [op for op in sorted(ops.OURS) if ops.facts_of(op).elementwise and ops.table.arity(ops.G[op])[0] <= 2 and op not in ORDERED]


@pytest.mark.parametrize("op", SCALAR)
def test_the_last_step_of_each_entrywise_operator_evaluates_to_what_backprop_finds(op):
    args = ("x", "y")[:max(1, ops.table.arity(ops.G[op])[0])]
    steps = WengertList([("g", op, args)])
    values = evaluate(steps, {"x": 0.37, "y": 0.61})
    for wrt in args:
        answer = derivation(steps, "g", wrt)[-1].step.rpartition(" = ")[2].replace("^", "**").replace("·", "*")
        functions = {name: getattr(f, name) for name in ops.OURS}
        wanted = backprop(steps, values, g=1.0).get(wrt, 0.0)
        with np.errstate(all="ignore"):
            found = eval(answer, {**functions, "x": np.float64(0.37), "y": np.float64(0.61)})
        assert np.isclose(float(found), wanted, rtol=1e-12, atol=1e-15, equal_nan=True)


def test_an_operator_of_the_users_own_is_derived_from_its_value():
    ops.operator("cubed", lambda x: x * x * x)
    assert derivation([("g", "cubed", ("x",))], "g", "x")[-1].step.endswith("= 3·x^2")


# numbers among the arguments


def test_a_constant_has_the_derivative_0_and_the_reason_says_so():
    steps = derivation([("f", "mul", (2, "x"))], "f", "x")
    assert steps[1:] == table("""
        df/dx = d2/dx·x + 2·dx/dx   d(a·b)/da = b and d(a·b)/db = a
        df/dx = 0·x + 2·1           da/da = 1 and da/db = 0 for inputs a, b, dc/da = 0 for a constant c
        df/dx = 2                   simplify""")


def test_a_negative_constant_stands_in_brackets():
    assert derivation([("f", "add", ("x", -2.0))], "f", "x")[1].step == "df/dx = 1·dx/dx + 1·d(-2)/dx"


def test_what_is_made_of_constants_alone_has_the_derivative_0():
    steps = [("z", "exp", (2.0,)), ("f", "mul", ("z", "x"))]
    assert ("df/dx = 0·x + z·dx/dx", "d(exp(2))/dx = 0 for constants") in derivation(steps, "f", "x")
    assert derivation(steps, "f", "x")[-1].step == "df/dx = z = exp(2)"


def test_a_sign_comes_to_the_front():
    steps = WengertList.from_text("z1 = cos(x)\nz2 = subtract(y, z1)\nf = mul(x, z2)")
    assert derivation(steps, "f", "x")[-1].step == "df/dx = z2 + x·sin(x) = x·sin(x) + y - cos(x)"


# registers


def test_a_computed_wrt_is_taken_as_an_input():
    assert derivation(CUBE, "f", "z1")[-1].step == "df/dz1 = x"


def test_a_register_by_itself_has_the_derivative_1():
    assert derivation(CUBE, "f", "f") == [("df/df = 1", "da/da = 1 and da/db = 0 for inputs a, b")]


def test_a_register_that_does_not_depend_on_wrt_has_the_derivative_0():
    assert derivation([*CUBE, ("g", "exp", ("y",))], "g", "x")[-1].step == "dg/dx = 0"


def test_lines_that_are_not_needed_are_passed_over():
    assert derivation([*CUBE, ("g", "dot", ("f", "A"))], "f", "x")[-1].step == "df/dx = (x + x)·x + z1 = 3·x^2"


def test_registers_called_like_the_module_of_operators_or_like_letters_of_a_rule_are_kept_apart():
    steps = WengertList.from_text("f = sigmoid(a)\nnp = mul(f, a)")
    assert derivation(steps, "np", "a")[-1].step == (
        "dnp/da = sigmoid(a)·(1 - sigmoid(a))·a + f = sigmoid(a)·(a - a·sigmoid(a) + 1)")
    assert derivation(steps, "np", "a", brief=True)[0].reason == "np = f·a and d(b·c)/da = db/da·c + b·dc/da"


def test_a_register_read_twice_is_put_in_everywhere_at_once():
    steps = WengertList.from_text("z = sin(x)\nf = mul(z, z)")
    assert [row.step for row in derivation(steps, "f", "x", brief=True)] == [
        "df/dx = dz/dx·z + z·dz/dx", "df/dx = cos(x)·dx/dx·z + z·cos(x)·dx/dx", "df/dx = cos(x)·sin(x) + sin(x)·cos(x) = 2·cos(x)·sin(x)"]


def test_a_list_in_tuples_and_plain_lists_is_taken():
    assert derivation([list(line) for line in EQ_1], "f", "x1") == TABLE_1


def test_every_step_can_be_read_by_python_once_the_notation_is_changed_back():
    for step, _ in derivation(EQ_1, "f", "x1"):
        assert ast.parse(step.partition(" = ")[2].rpartition(" = ")[2].replace("^", "**").replace("·", "*"))


# what is refused


CHAIN = [("z0", "sin", ("x",)), *((f"z{k + 1}", "sin", (f"z{k}",)) for k in range(5000))]
SUMS = [("z0", "add", ("x", 1)), *((f"z{k + 1}", "add", (f"z{k}", 1)) for k in range(5000))]


@pytest.mark.parametrize("call, words", [
    (lambda: derivation(EQ_1, "g", "x1"), "of names 'g', which the list does not have"),
    (lambda: derivation(EQ_1, "f", "x11"), "wrt names 'x11', which the list does not have; did you mean 'x1'?"),
    (lambda: derivation(EQ_1, "f", ["x1", "x2"]), "wrt names one register here, and found x1, x2"),
    (lambda: derivation(EQ_1, "f", None), "and found None"),
    (lambda: derivation([("f", "square", ("x"))], "f", "x"), "a tuple of one is written ('x',)"),
    (lambda: derivation("f = square(x)", "f", "x"), "WengertList.from_text(steps)"),
    (lambda: derivation([("f", "sqare", ("x",))], "f", "x"), "did you mean 'square'?"),
    (lambda: derivation([], "f", "x"), "of names 'f'"),
    (lambda: derivation(CHAIN, "z5000", "x"), "has more than 300 parts"),
    (lambda: derivation(SUMS, "z5000", "x"), "dz5000/dx has more than 300 parts"),
    (lambda: derivation(SUMS, "z5000", "x", brief=True), "or let `paths` sum over the graph")])
def test_a_mistake_gets_its_sentence(call, words):
    with pytest.raises(XManError) as error:
        call()
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_register_with_many_terms_is_not_put_in():
    steps = [("s", "add", ("a", "b")), ("t", "power", ("s", 100)), ("u", "mul", ("t", "x"))]
    assert derivation(steps, "u", "x", brief=True)[-1].step == "du/dx = t = (a + b)^100"


@pytest.mark.parametrize(("text", "wrt", "formula"), [
    ("s = mul(w, x)\nz = add(s, b)\np = sigmoid(z)\nd = subtract(p, t)\ny = square(d)", "w",
     "2·x·sigmoid(w·x + b)·(1 - sigmoid(w·x + b))·(sigmoid(w·x + b) - t)"),
    ("a = tanh(z)\nb = mul(a, w)\nd = subtract(b, t)\nE = square(d)\ny = half(E)", "z", "w·(1 - tanh(z)^2)·(w·tanh(z) - t)"),
    ("s = mul(2, a)\nz = add(s, b)\ny = power(z, 4)", "a", "8·(2·a + b)^3"),
    ("s = mul(2, a)\nz = add(s, b)\ny = square(z)", "a", "8·a + 4·b"),
    ("\n".join(f"x{k + 1} = square(x{k})" for k in range(40)) + "\ny = mul(x40, t)", "t", "x0^1099511627776")])
def test_a_formula_is_a_product_or_a_sum_of_powers_whichever_is_shorter(text, wrt, formula):
    assert derivation(WengertList.from_text(text), "y", wrt)[-1].step.endswith(f" = {formula}")


def test_a_formula_too_long_to_be_multiplied_out_is_left_as_it_is():
    steps = [("s", "add", ("a", "b")), ("t", "add", ("s", "c")), ("u", "add", ("t", "d")), ("v", "power", ("u", 30))]
    assert derivation(steps, "v", "a")[-1].step == "dv/da = 30·u^29"
    assert derivation(steps, "v", "a", brief=True)[-1].step == "dv/da = 30·u^29"


def test_a_function_is_derived_once_and_a_loop_is_its_recurrence():
    steps = trace(lambda a, u: cond(a > u, np.sin, lambda x: x * x, scan(lambda h, x: (h * u, None), a * a, 3)[0]), 1.0, 2.0)
    assert derivation(steps, "result", "u", brief=True) == table("""
        dresult/du = ∂result/∂z5·dz5/du              result = item(z7, 0), z7 = cond(z1, sin_, no, z6)
        dresult/du = ∂result/∂z5·∂z5/∂u·du/du        z5 = item(z4, 0), z4 = scan(step, 1, 1, z3)
        dresult/du = ∂result/∂z5·∂z5/∂u              simplify
        ∂result/∂z5 = dz1/dx of sin_, dz1/dx of no   where z1 holds, sin_ at x = z5, else no at x = z5
        sin_: dz1/dx = cos(x)·dx/dx                  z1 = sin(x) and d(sin(a))/dx = cos(a)·da/dx
        sin_: dz1/dx = cos(x)                        simplify
        no: dz1/dx = dx/dx·x + x·dx/dx               z1 = x·x and d(a·b)/dx = da/dx·b + a·db/dx
        no: dz1/dx = x + x = 2·x                     simplify
        ∂z5/∂u = h′ where h′ ← dh1/dh·h′ + dh1/du    from h′ = 0, in each step of z4
        step: dh1/dh = dh/dh·u + h·du/dh             h1 = h·u and d(a·b)/dh = da/dh·b + a·db/dh
        step: dh1/dh = u                             simplify
        step: dh1/du = dh/du·u + h·du/du             h1 = h·u and d(a·b)/du = da/du·b + a·db/du
        step: dh1/du = h                             simplify""")
    stacked = trace(lambda a, X: scan(lambda h, x: (h * x, h), a, X)[1] * a, 1.0, np.ones(3))
    for wrt in ("a", "X"):
        with pytest.raises(XManError, match="item.* is not one number made of numbers"):
            derivation(stacked, "result", wrt)
    twice = trace(lambda a: call(lambda x, y: x * y, a, a), 3.0)  # the same argument in two places
    assert "∂result/∂a = dz1/dx + dz1/dy of procedure" in [row.step for row in derivation(twice, "result", "a")]


# bugs that had survived planting


def test_two_signs_cancel():
    steps = WengertList.from_text("z = cos(x)\nf = cos(z)")
    assert derivation(steps, "f", "x")[-1].step.startswith("df/dx = sin(z)·sin(x)")


def test_powers_with_other_exponents_have_other_derivatives():
    steps = WengertList.from_text("a = power(x, 3)\nb = power(x, 4)\nf = add(a, b)")
    assert derivation(steps, "f", "x")[-1].step.endswith("4·x^3 + 3·x^2")


def test_a_list_with_an_array_among_its_arguments_has_a_derivation():
    steps = trace(lambda A: f.sum(f.square(A + np.eye(2))), np.ones((2, 2)))
    rows = derivation(steps, "result", "A", values={"A": np.ones((2, 2))})
    assert rows[-1].step == "dresult/dA = 2·(A + array([[1, 0], [0, 1]]))"
