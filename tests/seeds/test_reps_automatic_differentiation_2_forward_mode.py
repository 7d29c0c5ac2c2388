"""Reps, Automatic Differentiation and Backpropagation (CS701), §2: forward-mode automatic differentiation."""

import math

import numpy as np
import pytest

from xman import Dual, Jacobian, backprop, call, cost, derivative, eval, forward, scan, simplify, source, tangent, trace
from xman.show import expand


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


FACTORS = [np.sin, lambda x: x * x + 1, np.exp, lambda x: 1 / x]         # f_1 … f_k
SLOPES = [np.cos, lambda x: 2 * x, np.exp, lambda x: -1 / (x * x)]       # f′_1 … f′_k
K = len(FACTORS)


def product(x):
    ans = 1.0
    for f_i in FACTORS:
        ans = ans * f_i(x)
    return ans


def product_prime(x):
    """Prod′ as Example 2.1 prints it."""
    slope, ans = 0.0, 1.0
    for f_i, slope_i in zip(FACTORS, SLOPES, strict=True):
        slope = slope * f_i(x) + ans * slope_i(x)
        ans = ans * f_i(x)
    return slope


def by_mathematics(x):
    """Σ_i f′_i(x) Π_{j≠i} f_j(x)."""
    return sum(SLOPES[i](x) * np.prod([FACTORS[j](x) for j in range(K) if j != i]) for i in range(K))


def test_box_1_the_naive_quotient_loses_the_digits_that_automatic_differentiation_keeps():
    x, right = np.float32(1.3), by_mathematics(1.3)  # float, as the box says
    naive = {delta: (product(x + np.float32(delta)) - product(x)) / np.float32(delta) for delta in (1e-2, 1e-4, 1e-6, 1e-7)}
    errors = {delta: abs(slope / right - 1) for delta, slope in naive.items()}
    assert errors[1e-6] > 1e-3 and errors[1e-7] > 1e-2 and min(errors.values()) > 1e-5
    assert abs(derivative(product)(x) / right - 1) < 1e-6


@pytest.mark.parametrize("x", [0.4, 1.3, -2.0])
def test_example_2_1_the_product_of_k_functions_and_its_derivative(x):
    steps = trace(product, x)
    tangents = forward(steps, eval(steps, {"x": x}), {"x": 1.0})
    for found in (by_mathematics(x), tangents["product"], derivative(product)(x)):
        same(found, product_prime(x))


def doubled(k):
    """(Prod of k functions as a list of f_1 … f_k, the same with each statement doubled)."""
    steps = [(f"ans{i}", "mul", (f"ans{i - 1}" if i > 1 else 1.0, f"f{i}")) for i in range(1, k + 1)]
    pushed, ends = tangent(steps, [f"f{i}" for i in range(1, k + 1)]), [f"ans{i}" for i in range(1, k + 1)]
    return steps, simplify(pushed, ends + [a + "_dot" for a in ends], dict.fromkeys(pushed.inputs, 1.0))


def test_the_transformation_follows_each_statement_by_that_of_its_derivative():
    """The notes put v′ = exp′ before v = exp, which may change what exp reads; in a list nothing is assigned twice."""
    steps, _ = doubled(3)
    with_tangents = [dst for dst, _, _ in tangent(steps, ["f1", "f2", "f3"]) if dst.startswith("ans")]
    assert with_tangents == ["ans1", "ans1_dot", "ans2", "ans2_dot", "ans3", "ans3_dot"]
    assert source(steps, wrt=["f1", "f2", "f3"], likes=dict.fromkeys(("f1", "f2", "f3"), 1.0), name="product") == '''\
def product(f1, f2, f3, f1_dot, f2_dot, f3_dot):
    """ans3, with tangents from f1_dot, f2_dot, f3_dot: x_dot belongs to x (forward mode)."""
    ans2 = f1 * f2
    ans2_dot = f1_dot * f2 + f2_dot * f1
    ans3 = ans2 * f3
    ans3_dot = ans2_dot * f3 + f3_dot * ans2
    return ans3, ans3_dot
'''


def test_example_2_2_the_table_of_ans_prime_and_ans_at_the_start_of_each_iteration():
    _, steps = doubled(4)
    assert [(expand(steps, f"ans{i}_dot"), expand(steps, f"ans{i}")) for i in (1, 2, 3)] == [
        ("f1_dot", "f1"),
        ("f1*f2_dot + f1_dot*f2", "f1*f2"),
        ("f1*f2*f3_dot + f1*f2_dot*f3 + f1_dot*f2*f3", "f1*f2*f3")]
    terms = ["*".join(f"f{j}" + "_dot" * (i == j) for j in range(1, 5)) for i in range(1, 5)]
    assert sorted(expand(steps, "ans4_dot").split(" + ")) == sorted(terms)  # iteration k: Σ_i f′_i Π_{j≠i} f_j


@pytest.mark.parametrize("x", [0.4, 1.3, -2.0])
def test_example_2_2_the_loop_keeps_ans_prime_the_derivative_of_ans(x):
    _, steps = doubled(K)
    given = {f"f{i}": f_i(x) for i, f_i in enumerate(FACTORS, 1)} | {f"f{i}_dot": slope(x) for i, slope in enumerate(SLOPES, 1)}
    values = eval(steps, given)
    for i in range(1, K + 1):
        same(values[f"ans{i}_dot"], derivative(lambda x, i=i: math.prod(f_j(x) for f_j in FACTORS[:i]))(x))


def test_eq_2_the_third_value_of_ans_prime_is_grouped_as_it_is_computed():
    """To the last bit; the expanded sum of the table differs in it."""
    _, steps = doubled(3)
    f1, f2, f3, d1, d2, d3 = np.random.default_rng(2).normal(size=(6, 1000))
    found = eval(steps, {"f1": f1, "f2": f2, "f3": f3, "f1_dot": d1, "f2_dot": d2, "f3_dot": d3})["ans3_dot"]
    assert np.array_equal(found, (d1 * f2 + f1 * d2) * f3 + (f1 * f2) * d3)
    assert not np.array_equal(found, d1 * f2 * f3 + f1 * d2 * f3 + f1 * f2 * d3)


def test_figure_1_the_differentiation_arithmetic():
    const, var = Dual.CONST(3.0), Dual.VAR(3.0)
    assert (const.value, const.tangent, var.value, var.tangent) == (3, 0, 3, 1)
    a, b = Dual(2.0, 5.0), Dual(-7.0, 0.5)
    assert ((a + b).value, (a + b).tangent) == (2.0 + -7.0, 5.0 + 0.5)
    assert ((a * b).value, (a * b).tangent) == (2.0 * -7.0, 2.0 * 0.5 + 5.0 * -7.0)


@pytest.mark.parametrize("x", [0.4, 1.3, -2.0])
def test_example_2_3_prod_by_overloading_with_const_and_var(x):
    def product_of_duals(x):
        ans = Dual.CONST(1.0)
        for f_i in FACTORS:
            ans = ans * f_i(x)
        return ans

    same(product_of_duals(Dual.VAR(x)).tangent, product_prime(x))
    same(product(Dual.VAR(x)).tangent, product_prime(x))  # here a plain 1.0 is a CONST by itself


@pytest.mark.parametrize("v, w", [(0.7, 1.0), (-1.2, 3.5)])
def test_boxes_have_two_inputs_and_two_outputs_and_snap_together(v, w):
    """F maps (v, w) to (F(v), F′(v)·w); G and then F maps (v, 1.0) to (F(G(v)), F′(G(v))·G′(v))."""
    F, G = np.exp, np.sin
    box = F(Dual(v, w))
    same([box.value, box.tangent], [np.exp(v), np.exp(v) * w])
    snapped = F(G(Dual(v, 1.0)))
    same([snapped.value, snapped.tangent], [np.exp(np.sin(v)), np.exp(np.sin(v)) * np.cos(v)])
    g, then_f = tangent([("y", "sin", ("x",))], ["x"]), tangent([("z", "exp", ("y",))], ["y"])
    values = eval(then_f, {name: value for name, value in eval(g, {"x": v, "x_dot": 1.0}).items() if name in ("y", "y_dot")})
    same([values["z"], values["z_dot"]], [snapped.value, snapped.tangent])


def g(x, k):
    return np.sin(k * x) + k


def prod(x, ks):
    return scan(lambda ans, k: (ans * call(g, x, k), None), 1.0, ks)[0]


def test_example_2_1_comes_back_as_source_with_its_loop_and_its_procedures():
    x, ks, space = 1.3, np.array([1.0, 2.0, 3.0]), {}
    text = source(trace(prod, x, ks), None, ["x"], {"x": x, "ks": ks})
    assert "    z3 = g(x, k)[0]\n    ans1_dot = ans_dot * z3 + g_dot(x, k, x_dot, z3)[0] * ans\n" in text
    exec(text, space)
    slope = sum(k * np.cos(k * x) * np.prod([g(x, j) for j in ks if j != k]) for k in ks)
    same(space["tangent_of_result"](ks, x, 1.0), (np.prod([g(x, k) for k in ks]), slope))


# the end of §2: storage, and the spectrum between the modes


def test_section_2_intermediate_values_are_stored_or_computed_again():
    step = lambda h, x: (np.sin(h * x), None)
    last = lambda h, rows: scan(step, h, rows, keep=False)[0]
    stored = lambda h, X: np.sum(scan(step, h, X)[0])
    again = lambda h, X: np.sum(scan(lambda h, rows: (last(h, rows), None), h, X.reshape(16, 16, 50))[0])
    at = {"h": np.full(50, 0.5), "X": np.linspace(0.5, 1.5, 256 * 50).reshape(256, 50)}
    lists = [trace(fn, *at.values()) for fn in (stored, again)]
    kept, computed = (cost(steps, wrt=["h"], values=at, measured=False) for steps in lists)
    assert computed.adjoint.peak < 0.6 * kept.adjoint.peak and computed.ratios[1] > 1.2 * kept.ratios[1]
    slopes = [backprop(steps, eval(steps, at), **{steps[-1][0]: 1.0})["h"] for steps in lists]
    np.testing.assert_allclose(*slopes, rtol=1e-12)


def test_section_2_forward_and_reverse_mode_in_different_parts_take_fewer_passes():
    steps = [("a", "dot", ("A", "x")), ("t", "tanh", ("a",)), ("y", "dot", ("B", "t"))]
    random = np.random.default_rng(2)
    at = {"A": random.normal(size=(2, 50)), "x": random.normal(size=50), "B": random.normal(size=(50, 2))}
    mixed, reverse = Jacobian(steps, "y", ["x"]), Jacobian(steps, "y", ["x"], "reverse")
    assert mixed.count(at).mode == "mixed" and mixed.count(at).mixed == 4 and reverse.count(at).passes == 50
    np.testing.assert_allclose(mixed(at)["x"], reverse(at)["x"], rtol=1e-12)
