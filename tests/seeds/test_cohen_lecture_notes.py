"""Cohen, Automatic Reverse-Mode Differentiation: Lecture Notes (2016), section by section."""

import functools
import operator

import numpy as np
import pytest

import ops
from xman import (
    Operation,
    Register,
    WengertList,
    XMan,
    XManError,
    XManFunctions,
    backprop,
    derivation,
    eval,
    f,
    forward,
    partials,
)
from xman.show import expand


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


EQ_1 = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
CUBE = [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))]
POINTS = [(3.0, 7.0), (-1.5, 0.25), (0.0, 2.0)]


def listed(m, output):
    """The list of a model's register."""
    return m.setup().operationSequence(output)


# §1.2 Wengert lists


def test_section_1_2_eq_1_is_compiled_to_the_list_of_the_notes():
    m = XMan()
    m.x1, m.x2 = f.input(), f.input()
    m.f = f.square((m.x1 + m.x1) + m.x2)
    assert listed(m, m.f) == EQ_1
    assert [eval(EQ_1, {"x1": x1, "x2": x2})["f"] for x1, x2 in POINTS] == [(2 * x1 + x2) ** 2 for x1, x2 in POINTS]


def test_section_1_2_the_cube_is_compiled_to_the_list_of_the_notes():
    m = XMan()
    m.x = f.input()
    m.f = m.x * m.x * m.x
    assert listed(m, m.f) == CUBE


def test_section_1_2_the_functions_g_define_the_sublanguage():
    """The notes' lists call the product multiply, their package calls it mul; with a table of one's own it has any name."""
    steps = [("z1", "multiply", ("x", "x")), ("f", "multiply", ("z1", "x"))]
    assert eval(steps, {"x": 5.0}, {"multiply": lambda a, b: a * b})["f"] == 125
    with pytest.raises(XManError, match="'multiply'"):
        eval(steps, {"x": 5.0})


def logistic_regression():
    """(list, values) of the loss for d = 2 and k = 3, with label 1."""
    m = XMan()
    m.x, m.y = f.input(default=np.array([[1.0, 2.0]])), f.input(default=np.array([[0.0, 1.0, 0.0]]))
    m.W = f.param(default=np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]]))
    m.f = f.crossEntropy(f.softmax(f.dot(m.x, m.W)), m.y) + f.frobeniusNorm(m.W)
    steps = listed(m, m.f)
    return steps, eval(steps, m.inputDict())


def test_section_1_2_logistic_regression_is_compiled_to_the_list_of_the_notes():
    assert repr(logistic_regression()[0]) == """\
z1 = dot(x, W)
z2 = softmax(z1)
z3 = crossEntropy(z2, y)
z4 = frobeniusNorm(W)
f = add(z3, z4)"""


def test_section_1_2_softmax_divides_by_the_sum_of_the_exponentials():
    """The notes print Σ e_i^a below the line; meant is Σ e^{a_i}."""
    _, values = logistic_regression()
    a = values["z1"][0]
    same(values["z2"][0], [np.exp(a[i]) / sum(np.exp(a[j]) for j in range(3)) for i in range(3)])


def test_section_1_2_cross_entropy_takes_the_logarithm_of_the_prediction():
    """The notes define −Σ a_i log b_i and call it with the prediction first; meant is −Σ target · log prediction."""
    _, values = logistic_regression()
    prediction, target = values["z2"][0], values["y"][0]
    same(values["z3"], -sum(target * np.log(prediction)))
    with np.errstate(divide="ignore"):
        assert -sum(prediction * np.log(target)) == np.inf  # as printed


def test_section_1_2_the_operators_need_not_be_scalar_functions():
    steps, values = logistic_regression()
    W = values["W"]
    same(values["z4"], np.sqrt(sum(W[i, j] ** 2 for i in range(2) for j in range(3))))
    same(backprop(steps, values, f=1.0)["W"], values["x"].T @ (values["z2"] - values["y"]) + W / values["z4"])


# §1.3 Backpropagation through a Wengert list: the pseudo-code, with tables as a student writes them

G = {"add": lambda a, b: a + b, "square": lambda a: a * a, "mul": lambda a, b: a * b}
PARTIALS = {"add": [lambda a, b: 1, lambda a, b: 1], "square": [lambda a: 2 * a], "mul": [lambda a, b: b, lambda a, b: a]}
DG = partials(PARTIALS)  # here a rule is handed delta and the result too, and multiplies by itself: of matrices that is more


def eval_as_printed(steps, val):
    val = dict(val)
    for z, g, ys in steps:
        op = G[g]
        val[z] = op(*map(val.get, ys))
    return val


def backprop_as_printed(steps, val):
    delta = {steps[-1][0]: 1}
    for z, g, ys in reversed(steps):
        for i in range(len(ys)):
            op_i = PARTIALS[g][i]
            if ys[i] not in delta:
                delta[ys[i]] = 0
            delta[ys[i]] = delta[ys[i]] + delta[z] * op_i(*map(val.get, ys))
    return delta


def test_section_1_3_the_encoding_needs_a_comma_in_a_tuple_of_one():
    """The notes print ("f", "square", ("z2")), which is ("f", "square", "z2")."""
    steps = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2"))]
    with pytest.raises(XManError, match=r"^line 3, .*'z2' where a tuple is wanted; a tuple of one is written \('z2',\)$"):
        eval(steps, {"x1": 3, "x2": 7})


def test_section_1_3_eval_at_3_and_7():
    values = eval(EQ_1, {"x1": 3, "x2": 7}, G)
    assert values == {"x1": 3, "x2": 7, "z1": 6, "z2": 13, "f": 169}
    assert values == eval(EQ_1, {"x1": 3, "x2": 7}) == eval_as_printed(EQ_1, {"x1": 3, "x2": 7})


def test_section_1_3_backprop_at_3_and_7():
    values = eval(EQ_1, {"x1": 3, "x2": 7}, G)
    deltas = backprop(EQ_1, values, DG, f=1.0)
    assert deltas == {"f": 1, "z2": 26, "z1": 26, "x2": 26, "x1": 52}
    assert deltas == backprop(EQ_1, values, f=1.0) == backprop_as_printed(EQ_1, values)


@pytest.mark.parametrize("x", [5.0, np.array([[5.0, -1.0], [0.0, 2.5]])], ids=["number", "array"])
def test_section_1_3_a_table_of_partials_of_the_arguments_serves_numbers_and_arrays_entry_by_entry(x):
    values = eval(CUBE, {"x": x}, G)
    same(backprop(CUBE, values, partials(PARTIALS), f=1.0)["x"], 3 * x ** 2)


def test_section_1_3_a_delta_is_the_sensitivity_of_f_to_the_register_in_the_middle_as_well():
    """Each z is made an input of the lines after it, and moved by ε to both sides."""
    values = eval(EQ_1, {"x1": 3, "x2": 7})
    for z, delta in backprop(EQ_1, values, f=1.0).items():
        rest = [line for line in EQ_1 if line[0] != z]
        up, down = (eval(rest, values | {z: values[z] + e})["f"] for e in (1e-3, -1e-3))
        np.testing.assert_allclose((up - down) / 2e-3, delta, rtol=1e-9)


# §1.4 Examples


@pytest.mark.parametrize("x1, x2", POINTS)
def test_section_1_4_freshman_calculus(x1, x2):
    assert expand(EQ_1, "f") == "4*x1**2 + 4*x1*x2 + x2**2"
    deltas = backprop(EQ_1, eval(EQ_1, {"x1": x1, "x2": x2}), f=1.0)
    assert (deltas["x1"], deltas["x2"]) == (8 * x1 + 4 * x2, 4 * x1 + 2 * x2)


def test_table_1_derivation_of_df_dx1():
    assert derivation(EQ_1, "f", "x1") == [
        ("df/dx1 = d(z2^2)/dz2·dz2/dx1", "f = z2^2"),
        ("df/dx1 = 2·z2·dz2/dx1", "d(a^2)/da = 2·a"),
        ("df/dx1 = 2·z2·d(z1 + x2)/dx1", "z2 = z1 + x2"),
        ("df/dx1 = 2·z2·(1·dz1/dx1 + 1·dx2/dx1)", "d(a + b)/da = d(a + b)/db = 1"),
        ("df/dx1 = 2·z2·(1·d(x1 + x1)/dx1 + 1·dx2/dx1)", "z1 = x1 + x1"),
        ("df/dx1 = 2·z2·(1·(1·dx1/dx1 + 1·dx1/dx1) + 1·dx2/dx1)", "d(a + b)/da = d(a + b)/db = 1"),
        ("df/dx1 = 2·z2·(1·(1·1 + 1·1) + 1·0)", "da/da = 1 and da/db = 0 for inputs a, b"),
        ("df/dx1 = 2·z2·2 = 8·x1 + 4·x2", "simplify")]


def test_table_2_derivation_of_df_dx2():
    """The notes print dx2/dx2 for the first dx1/dx2 and so (1·1 + 1·0) for (1·0 + 1·0), df/dx1 before the last two lines and in
    the text that announces the table, and 2·z2·2 = 4·x1 + 2·x2. Meant is 2·z2·1, with the bracket (0 + 0) + 1."""
    assert derivation(EQ_1, "f", "x2") == [
        ("df/dx2 = d(z2^2)/dz2·dz2/dx2", "f = z2^2"),
        ("df/dx2 = 2·z2·dz2/dx2", "d(a^2)/da = 2·a"),
        ("df/dx2 = 2·z2·d(z1 + x2)/dx2", "z2 = z1 + x2"),
        ("df/dx2 = 2·z2·(1·dz1/dx2 + 1·dx2/dx2)", "d(a + b)/da = d(a + b)/db = 1"),
        ("df/dx2 = 2·z2·(1·d(x1 + x1)/dx2 + 1·dx2/dx2)", "z1 = x1 + x1"),
        ("df/dx2 = 2·z2·(1·(1·dx1/dx2 + 1·dx1/dx2) + 1·dx2/dx2)", "d(a + b)/da = d(a + b)/db = 1"),
        ("df/dx2 = 2·z2·(1·(1·0 + 1·0) + 1·1)", "da/da = 1 and da/db = 0 for inputs a, b"),
        ("df/dx2 = 2·z2 = 4·x1 + 2·x2", "simplify")]


def test_table_3_derivation_of_the_derivative_of_the_cube():
    """The notes print df/dx1 on the last two lines; there is no x1."""
    assert derivation(CUBE, "f", "x", brief=True) == [
        ("df/dx = dz1/dx·x + z1·dx/dx", "f = z1·x and d(a·b)/dx = da/dx·b + a·db/dx"),
        ("df/dx = (dx/dx·x + x·dx/dx)·x + z1·dx/dx", "z1 = x·x and d(a·b)/dx = da/dx·b + a·db/dx"),
        ("df/dx = (x + x)·x + x^2 = 3·x^2", "z1 = x·x and simplify")]


def test_section_1_4_the_delta_updates_of_the_cube_line_by_line():
    """The notes call the last two both "arg 1 of z1": the second is that of arg 2."""
    updates, x = [], 5.0

    def noted(g, i, op):
        def rule(delta, out, *args):
            updates.append((f"arg {i + 1} of {g} = {out}", delta * op(*args)))
            return delta * op(*args)
        return rule

    rules = {g: [noted(g, i, op) for i, op in enumerate(ops)] for g, ops in PARTIALS.items()}
    deltas = backprop(CUBE, eval(CUBE, {"x": x}), rules, f=1.0)
    assert updates == [("arg 1 of mul = 125.0", x),         # delta[z1] += delta[f]·x
                       ("arg 2 of mul = 125.0", x ** 2),    # delta[x] += delta[f]·z1
                       ("arg 1 of mul = 25.0", x ** 2),     # delta[x] += delta[z1]·x
                       ("arg 2 of mul = 25.0", x ** 2)]     # delta[x] += delta[z1]·x
    assert deltas == {"f": 1, "z1": x, "x": 3 * x ** 2}


# §1.5 Discussion: z_m = f_m(f_{m−1}(… f_1(z_0) …)) at z_0 = 53.4

FUNCTIONS = {"log": (np.log, lambda z: 1 / z), "sin": (np.sin, np.cos), "exp": (np.exp, np.exp),
             "sqrt": (np.sqrt, lambda z: 0.5 / np.sqrt(z)), "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2)}
M = len(FUNCTIONS)
CHAIN = [(f"z{i}", g, (f"z{i - 1}",)) for i, g in enumerate(FUNCTIONS, 1)]


def chain():
    """(values of the list, a_0 … a_m, [f′_m(a_{m−1}), …, f′_1(a_0)])."""
    a = [53.4]
    for g, _ in FUNCTIONS.values():
        a.append(g(a[-1]))
    return eval(CHAIN, {"z0": 53.4}), a, [slope(at) for (_, slope), at in zip(FUNCTIONS.values(), a, strict=False)][::-1]


def test_section_1_5_the_chain_rule_is_a_product_of_the_derivatives_where_each_is_taken():
    """The notes print f′_m(a_m)·f′_{m−1}(a_{m−1})⋯f′_2(a_1)·f′_1(a); meant is f′_i(a_{i−1}) all along. f′_m is called
    DG[f_m][1]: a function of one argument has one rule, of index 0."""
    assert all(len(ops.DG[g]) == 1 for g in FUNCTIONS)
    values, a, slopes = chain()
    same([values[f"z{i}"] for i in range(M + 1)], a)
    same(backprop(CHAIN, values, z5=1.0)["z0"], np.prod(slopes))


def test_section_1_5_the_deltas_are_partial_products_grouped_from_the_left():
    """The notes print delta[z_i] = f′_m(a_m)⋯f′_i(a_i); meant is f′_m(a_{m−1})⋯f′_{i+1}(a_i), which is 1 for i = m."""
    values, _, slopes = chain()
    rules = {g: [lambda delta, out, z, slope=slope: delta * slope(z)] for g, (_, slope) in FUNCTIONS.items()}
    partial_products = [functools.reduce(operator.mul, slopes[:k], 1.0) for k in range(M + 1)]  # ((f′_m · f′_{m−1}) · …)
    deltas = backprop(CHAIN, values, rules, z5=1.0)
    assert list(deltas.items()) == [(f"z{M - k}", partial_products[k]) for k in range(M + 1)]  # to the last bit
    same(list(backprop(CHAIN, values, z5=1.0).values()), partial_products)


def test_section_1_5_of_all_the_functions_h_i_j_one_pass_gives_those_of_the_last_register():
    """The notes print h_{m,0}(a) = f′_m(a_m)·h_{m−1,1}(a); meant is f′_m(a_{m−1})·h_{m−1,0}(a)."""
    values, _, slopes = chain()
    h = {(i, j): forward(CHAIN, values, {f"z{j}": 1.0}).get(f"z{i}", 0.0) for j in range(M + 1) for i in range(j, M + 1)}
    deltas = backprop(CHAIN, values, z5=1.0)
    for i, j in h:
        same(h[i, j], np.prod(slopes[M - i:M - j]))
        same(h[M, j], h[M, i] * h[i, j])
    same([deltas[f"z{j}"] for j in range(M + 1)], [h[M, j] for j in range(M + 1)])
    same(h[M, 0], slopes[0] * h[M - 1, 0])
    assert abs(slopes[0] * h[M - 1, 1] / h[M, 0]) > 50  # as printed


# §1.6 Constructing Wengert lists


class Triangle(XMan):
    h = f.param()
    w = f.param()
    area = f.half(h * w)


def test_section_1_6_triangle_is_compiled_to_the_list_of_the_notes_which_print_lists_for_tuples():
    triangle = Triangle()
    assert triangle.setup() is triangle
    assert triangle.operationSequence(triangle.area) == [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
    assert eval([("z1", "mul", ["h", "w"]), ("area", "half", ["z1"])], {"h": 3, "w": 6})["area"] == 9


def test_figure_1_registers_and_operations_point_to_one_another():
    area, half = Triangle.area, Triangle.area.definedAs
    (product,) = half.args
    mul = product.definedAs
    assert [type(part) for part in (area, half, product, mul)] == [Register, Operation, Register, Operation]
    assert (half.fun, mul.fun, mul.args) == ("half", "mul", (Triangle.h, Triangle.w))
    assert half.outputReg is area and mul.outputReg is product
    assert [r.role for r in (Triangle.h, product, area)] == ["param", "operationOutput", "operationOutput"]
    assert Triangle.h.definedAs is None and f.input().role == "input"


def test_section_1_6_h_times_w_is_expanded_to_mul():
    h, w = f.input("h"), f.input("w")
    assert (h * w).definedAs.asStringTuple() == XManFunctions.mul(h, w).definedAs.asStringTuple() == ("???", "mul", ("h", "w"))


def test_section_1_6_the_list_is_a_post_order_traversal():
    """The notes say pre-order, which would give area before z1, from which it is computed."""
    assert [dst for dst, _, _ in listed(Triangle(), Triangle.area)] == ["z1", "area"]
    with pytest.raises(XManError, match="z1"):
        eval([("area", "half", ("z1",)), ("z1", "mul", ("h", "w"))], {"h": 3, "w": 6})


def test_section_1_2_the_derivation_by_the_weights_is_in_matrix_notation():
    steps = WengertList.from_text("z1 = dot(x, W)\nz2 = softmax(z1)\nz3 = crossEntropy(z2, y)\nz4 = frobeniusNorm(W)\nf = add(z3, z4)")
    values = {"x": np.array([[1.0, 2.0]]), "y": np.array([[0.0, 1.0, 0.0]]), "W": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]])}
    table = derivation(steps, "f", "W", values=values)
    assert [row.step.rpartition(" = ")[2] for row in table[-3:]] == ["z2 - y", "xᵀ·(z2 - y) + W/z4", "xᵀ·(softmax(x·W) - y) + W/‖W‖"]
    assert table.shapes[-2] == "2×1·1×3 = 2×3"
