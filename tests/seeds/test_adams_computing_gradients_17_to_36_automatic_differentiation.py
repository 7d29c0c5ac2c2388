"""Adams, Computing Gradients with Backpropagation (COS 324), eqs. 17 to 36: automatic differentiation."""

import operator
import re

import numpy as np
import pytest

from xman import Dual, XMan, backprop, cost, eval, explain, f, forward, grad, gradient, source, trace


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


# eq. 17, from the book of Griewank and Walther


class Griewank(XMan):
    x1, x2 = f.input(default=1.5), f.input(default=0.5)
    va, vb = f.alias(x1), f.alias(x2)
    v1 = va / vb
    v2 = f.sin(v1)
    v3 = f.exp(vb)
    v4 = v1 - v3
    v5 = v2 + v4
    v6 = v5 * v4
    y = f.alias(v6)


def eq_17(x1, x2):
    return (np.sin(x1 / x2) + x1 / x2 - np.exp(x2)) * (x1 / x2 - np.exp(x2))


def griewank():
    m = Griewank().setup()
    steps = m.operationSequence(m.y)
    return steps, eval(steps, m.inputDict())


def printed(column):
    """{register: the number in a column of the trace, as it is printed to four decimals}."""
    steps, values = griewank()
    head, *rows = [re.split(r" {2,}", line) for line in str(explain(steps, values=values, wrt="x1")).splitlines()]
    return {row[0]: row[head.index(column) - len(head)] for row in rows}


VALUES = {"va": "1.5000", "vb": "0.5000", "v1": "3.0000", "v2": "0.1411", "v3": "1.6487", "v4": "1.3513", "v5": "1.4924"}


def test_eq_17_at_1_5_and_0_5():
    steps, values = griewank()
    v1, v3 = 1.5 / 0.5, np.exp(0.5)
    same([values["y"], eq_17(1.5, 0.5)], [(np.sin(v1) + v1 - v3) * (v1 - v3)] * 2)


def test_the_execution_trace_of_eq_17_digit_for_digit():
    """The notes print 2.0167 for v6: the product of factors that are rounded already. It is 2.01665, printed 2.0166."""
    found = printed("value")
    assert {name: found[name] for name in VALUES} == VALUES
    assert found["v6"] == found["y"] == "2.0166"
    assert f"{float(VALUES['v5']) * float(VALUES['v4']):.4f}" == "2.0167"


def test_eqs_18_to_35_the_forward_trace_digit_for_digit():
    """Eq. 27 prints 0.000 for v̇3, one zero less."""
    assert printed("tangent ∂/∂x1") == {
        "x1": "1.0000", "x2": "0.0000", "va": "1.0000", "vb": "0.0000", "v1": "2.0000", "v2": "-1.9800", "v3": "0.0000",
        "v4": "2.0000", "v5": "0.0200", "v6": "3.0118", "y": "3.0118"}


def test_eqs_18_to_35_the_forward_trace_formula_for_formula():
    """Eq. 23 prints /0.25², with which v̇1 were 8; meant is v_b² = 0.25."""
    steps, v = griewank()
    d = forward(steps, v, {"x1": 1.0}) | {"vb": 0.0, "v3": 0.0}
    same(d["v1"], (v["vb"] * d["va"] - v["va"] * d["vb"]) / v["vb"] ** 2)                  # (23)
    assert d["v1"] == (0.5 * 1.0 - 1.5 * 0) / 0.25 == 2 and (0.5 * 1.0 - 1.5 * 0) / 0.25 ** 2 == 8
    same(d["v2"], np.cos(v["v1"]) * d["v1"])                                               # (25)
    same(d["v4"], d["v1"] - d["v3"])                                                       # (29)
    same(d["v5"], d["v2"] + d["v4"])                                                       # (31)
    same([d["v6"], d["y"]], [d["v5"] * v["v4"] + d["v4"] * v["v5"]] * 2)                   # (33), (35)


# forward mode by tuples

TUPLES = {"add": lambda a, b: (a[0] + b[0], a[1] + b[1]), "subtract": lambda a, b: (a[0] - b[0], a[1] - b[1]),
          "multiply": lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1] * a[0]),
          "divide": lambda a, b: (a[0] / b[0], (a[1] * b[0] - b[1] * a[0]) / (b[0] * b[0])),
          "exp": lambda a: (np.exp(a[0]), np.exp(a[0]) * a[1]), "sin": lambda a: (np.sin(a[0]), np.cos(a[0]) * a[1])}
OVERLOADED = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
              "exp": np.exp, "sin": np.sin}


def myfunc(x1, x2, add, subtract, multiply, divide, exp, sin):
    a = divide(x1, x2)
    b = exp(x2)
    return multiply(subtract(add(sin(a), a), b), subtract(a, b))


def test_myfunc_of_tuples_is_myfunc_of_duals_whose_operators_are_overloaded():
    pair, dual = myfunc((1.5, 1.0), (0.5, 0.0), **TUPLES), myfunc(Dual(1.5, 1.0), Dual(0.5, 0.0), **OVERLOADED)
    same([dual.value, dual.tangent], pair)
    assert f"{dual:.4f}" == "Dual(2.0166, 3.0118)"  # the notes' 2.0167 is explained above


def test_myfunc_is_a_module_in_other_compositions():
    pair = myfunc(myfunc((1.5, 1.0), (0.5, 0.0), **TUPLES), TUPLES["sin"]((1.5, 1.0)), **TUPLES)
    dual = myfunc(myfunc(Dual(1.5, 1.0), 0.5, **OVERLOADED), np.sin(Dual(1.5, 1.0)), **OVERLOADED)
    same([dual.value, dual.tangent], pair)
    same(grad(lambda x: eq_17(eq_17(x, 0.5), np.sin(x)))(1.5), pair[1])


# reverse mode


def test_eq_36_an_adjoint_is_the_sum_over_the_children_of_adjoint_times_partial():
    steps, values = griewank()
    adjoints = backprop(steps, values, y=1.0)
    for i in [name for name in values if name != "y"]:
        same(adjoints[i], sum(adjoints[line[0]] * forward([line], values, {i: 1.0})[line[0]] for line in steps if i in line[2]))


def test_the_reverse_trace_digit_for_digit():
    """The notes print −13.7239 for the adjoint of v_b: it is −13.72396, cut off; rounded it is −13.7240."""
    assert printed("adjoint ∂y/∂") == {
        "y": "1.0000", "v6": "1.0000", "v5": "1.3513", "v4": "2.8437", "v3": "-2.8437", "v2": "1.3513", "v1": "1.5059",
        "vb": "-13.7240", "va": "3.0118", "x2": "-13.7240", "x1": "3.0118"}
    assert -13.7240 < backprop(*griewank(), y=1.0)["vb"] < -13.72395


def test_the_reverse_trace_formula_for_formula():
    steps, v = griewank()
    d = backprop(steps, v, y=1.0)
    same([d[name] for name in ("v6", "v5", "v4", "v3", "v2")], [1.0, v["v4"], v["v5"] + d["v5"], -d["v4"], d["v5"]])
    same([d["v1"], d["va"], d["x1"]], [d["v2"] * np.cos(v["v1"]) + d["v4"], d["v1"] / v["vb"], d["va"]])
    same([d["vb"]] * 2, [d["v3"] * v["v3"] - d["v1"] * v["va"] / v["vb"] ** 2, d["v3"] * v["v3"] - d["v1"] * v["v1"] / v["vb"]])


@pytest.mark.parametrize("times", [1, 20])
def test_the_gradient_costs_a_constant_factor_more_than_the_function_however_long_that_is(times):
    def repeated(x1, x2):
        for _ in range(times):
            x1, x2 = np.tanh(eq_17(x1, x2)), np.cosh(x1 * x2)
        return x1

    assert 1 < cost(trace(repeated, 1.5, 0.5), values={"x1": 1.5, "x2": 0.5}, measured=False).ratios[1] < 7  # of which 2 are the masks of tanh(… exp(x2) …)


def by_source():
    """Source code transformation: the adjoint code is text, generated before anything is computed."""
    space: dict = {}
    exec(source(griewank()[0], of="y", wrt=["x1", "x2"], name="adjoint"), space)
    return space["adjoint"](np.float64(1.5), np.float64(0.5))[1:]


def by_graph():
    """Graph: a model is a graph of registers, whose list is made longer by its adjoints and then evaluated."""
    steps, values = griewank()
    found = eval(gradient(steps, "y", ["x1", "x2"]), {"x1": 1.5, "x2": 0.5})
    return found["dy_dx1"], found["dy_dx2"]


def by_tape():
    """Tape: the operators of plain NumPy code are written down as it is called."""
    return grad(eq_17, (0, 1))(1.5, 0.5)


@pytest.mark.parametrize("approach", [by_source, by_graph, by_tape])
def test_the_three_approaches_give_the_gradient(approach):
    c = np.cos(3.0)
    v1, v3, v4, v5 = 3.0, np.exp(0.5), 3.0 - np.exp(0.5), np.sin(3.0) + 3.0 - np.exp(0.5)
    d1 = v4 * c + v5 + v4
    same(approach(), [d1 / 0.5, -(v5 + v4) * v3 - d1 * v1 / 0.5])


def test_eqs_18_to_35_the_trace_with_the_numbers_put_in():
    """Each variable and its tangent in turn, computed with all digits."""
    steps, values = griewank()
    lines = explain(steps, "y", "x1", values).interleaved().splitlines()
    assert [line.partition(" = ")[0] for line in lines[4:8]] == ["va", "va′", "vb", "vb′"]
    assert lines[8] == "v1 = va/vb = 1.5000/0.5000 = 3.0000" and lines[9].endswith(" = 2.0000")
    assert lines[11] == "v2′ = cos(v1)·v1′ = cos(3.0000)·2.0000 = -1.9800" and lines[-1] == "y′ = v6′ = 3.0118"
