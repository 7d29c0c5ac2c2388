"""Bishop, Deep Learning, §8.2, (8.42) to (8.48), example by example: symbolic differentiation, and why it swells."""

import numpy as np
import pytest

from xman import EXACT, STABLE, XMan, backprop, eval, f, forward, grad, gradient, simplify, tangent


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


# (8.42) and (8.43): the product rule and expression swell


def test_8_42_and_8_43_the_tangent_of_a_product_is_the_product_rule():
    m = XMan()
    m.x = f.input()
    m.u, m.v = f.sin(m.x), f.exp(m.x)
    m.f = m.u * m.v
    steps = m.setup().operationSequence(m.f)
    values = eval(steps, {"x": 0.7})
    tangents = forward(steps, values, {"x": 1.0})
    same(values["f"], np.sin(0.7) * np.exp(0.7))
    same(tangents["f"], tangents["u"] * values["v"] + values["u"] * tangents["v"])
    same(tangents["f"], np.cos(0.7) * np.exp(0.7) + np.sin(0.7) * np.exp(0.7))


def test_8_43_u_and_v_are_evaluated_once_for_the_value_and_its_derivative():
    steps = [("u", "exp", ("x",)), ("v", "tanh", ("x",)), ("f", "mul", ("u", "v"))]
    operators = [op for _, op, _ in simplify(tangent(steps, ["x"]), ["f", "f_dot"], {"x": 1.0, "x_dot": 1.0})]
    assert (operators.count("exp"), operators.count("tanh")) == (1, 1)


def product(n):
    """The list of x1 · x2 · … · xn, with an example of its inputs."""
    m, total = XMan(), None
    for k in range(1, n + 1):
        x = f.input(1.0 + 1 / k)
        setattr(m, f"x{k}", x)
        total = x if total is None else total * x
    m.f = total
    return m.setup().operationSequence(m.f), m.inputDict()


def expanded(steps, of):
    """How many operations the register takes when it is written as one expression of the inputs, nothing by name."""
    sizes = {}
    for dst, _, args in steps:
        sizes[dst] = 1 + sum(sizes.get(a, 0) for a in args if isinstance(a, str))
    return sizes[of]


def symbolic(n):
    """The list of the derivative of a product of n factors multiplied out, Σ_k xk_dot Π_{i≠k} xi, as computer algebra prints it."""
    m, total = XMan(), None
    for k in range(1, n + 1):
        setattr(m, f"x{k}", f.input(1.0 + 1 / k))
        setattr(m, f"x{k}_dot", f.input(float(k)))
    for k in range(1, n + 1):
        term = getattr(m, f"x{k}_dot")
        for i in range(1, n + 1):
            term = term * getattr(m, f"x{i}") if i != k else term
        total = term if total is None else total + term
    m.f_dot = total
    return m.setup().operationSequence(m.f_dot), m.inputDict()


def derived(n):
    """The lists of the value and tangent, and of the value and gradient, of a product of n factors."""
    steps, values = product(n)
    dots = {f"{x}_dot": 1.0 for x in values}
    return (simplify(tangent(steps, list(values)), ["f", "f_dot"], values | dots),
            simplify(gradient(steps, "f", list(values)), ["f", *(f"df_d{x}" for x in values)], values))


@pytest.mark.parametrize("n", [3, 4, 8, 16, 32])
def test_8_43_the_derivative_of_n_factors_is_n2_minus_1_operations_multiplied_out_and_4n_minus_4_lines_with_its_value(n):
    pushed, _ = derived(n)
    multiplied_out, values = symbolic(n)
    assert len(multiplied_out) == n ** 2 - 1 and len(pushed) == 4 * (n - 1)
    same(eval(pushed, values)["f_dot"], eval(multiplied_out, values)["f_dot"])


@pytest.mark.parametrize("n", [3, 4, 8, 16, 32])
def test_8_43_as_one_nested_expression_it_is_quadratic_too(n):
    pushed, _ = derived(n)
    assert expanded(pushed, "f_dot") == (n ** 2 + 3 * n - 4) // 2


@pytest.mark.parametrize("n", [3, 4, 8, 16, 32])
def test_8_43_the_value_and_all_n_partial_derivatives_are_3n_minus_5_products(n):
    _, pulled = derived(n)
    assert [op for _, op, _ in pulled if op != "alias"] == ["mul"] * (3 * n - 5)


def nested(levels):
    """The tangent's list of u ↦ 4 u (1 − u), so many times, starting from x."""
    m = XMan()
    m.x = f.input(0.3)
    u = m.x
    for _ in range(levels):
        u = 4 * u * (1 - u)
    m.f = u
    return simplify(tangent(m.setup().operationSequence(m.f), ["x"]), ["f_dot"], {"x": 0.3, "x_dot": 1.0})


def test_8_43_where_factors_have_factors_the_expression_grows_exponentially_and_the_list_by_as_many_lines_each_level():
    lists = [nested(levels) for levels in range(2, 12)]
    assert len(set(np.diff([len(steps) for steps in lists]))) == 1
    expressions = [expanded(steps, "f_dot") for steps in lists]
    assert all(after > 2 * before for before, after in zip(expressions, expressions[1:], strict=False))
    assert expressions[-1] > 100 * len(lists[-1])


# (8.44) to (8.48): a network of two soft ReLUs


class SoftReLU(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.softplus(w1 * x + b1)
    y = f.softplus(w2 * z + b2)


class SoftReLUAsPrinted(XMan):
    x, w1, b1, w2, b2 = (f.input() for _ in range(5))
    z = f.log(1 + f.exp(w1 * x + b1))
    y = f.log(1 + f.exp(w2 * z + b2))


def formula_8_48(x, w1, b1, w2, b2, exp=np.exp, ln=np.log):
    """Every part of it written out wherever it stands in the book."""
    return (w2 * x * exp(w1 * x + b1 + b2 + w2 * ln(1 + exp(w1 * x + b1)))
            / ((1 + exp(w1 * x + b1)) * (1 + exp(b2 + w2 * ln(1 + exp(w1 * x + b1))))))


NAMES = ["x", "w1", "b1", "w2", "b2"]
POINTS = [dict(zip(NAMES, row, strict=True)) for row in np.random.default_rng(48).normal(size=(5, 5))]
FAR = {"x": 400.0, "w1": 2.0, "b1": 0.5, "w2": 0.25, "b2": -1.0}
PRINTED = SoftReLUAsPrinted().setup().operationSequence(SoftReLUAsPrinted.y)
STEPS = SoftReLU().setup().operationSequence(SoftReLU.y)


@pytest.mark.parametrize("point", POINTS)
def test_8_44_to_8_47_the_value_of_two_soft_relus_in_a_row(point):
    x, w1, b1, w2, b2 = point.values()
    h = lambda a: np.log(1 + np.exp(a))                                       # (8.46)
    for steps in (STEPS, PRINTED):
        same(eval(steps, point)["z"], h(w1 * x + b1))                         # (8.44)
        same(eval(steps, point)["y"], h(w2 * h(w1 * x + b1) + b2))            # (8.45), (8.47)


@pytest.mark.parametrize("point", POINTS)
def test_8_48_the_symbolic_derivative_is_that_of_the_list(point):
    for steps in (STEPS, PRINTED):
        same(backprop(steps, eval(steps, point), y=1.0)["w1"], formula_8_48(**point))


def occurrences(steps):
    """How often w1 x + b1 is computed in a list."""
    products = {dst for dst, op, args in steps if op == "mul" and {*args} == {"w1", "x"}}
    return sum(op == "add" and {*args} in [{p, "b1"} for p in products] for _, op, args in steps)


def list_of_8_48():
    m = XMan()
    for name in NAMES:
        setattr(m, name, f.input())
    m.slope = formula_8_48(*(getattr(m, name) for name in NAMES), f.exp, f.log)
    return m.setup().operationSequence(m.slope)


def test_8_48_computes_w1_x_plus_b1_four_times_and_the_list_of_value_and_derivative_once():
    assert occurrences(list_of_8_48()) == 4
    assert occurrences(simplify(gradient(PRINTED, "y", ["w1"]), ["y", "dy_dw1"], POINTS[0])) == 1


def test_8_48_is_28_operations_as_printed_16_without_repetitions_and_the_list_has_the_value_too_in_20():
    short = simplify(gradient(PRINTED, "y", ["w1"]), ["y", "dy_dw1"], POINTS[0])
    assert (len(list_of_8_48()), len(simplify(list_of_8_48())), len(short)) == (28, 16, 20)  # 4 of the 20 keep 0·∞ out


def test_8_48_overflows_where_the_softplus_of_the_list_stays_finite():
    with np.errstate(all="ignore"):
        assert np.isnan(formula_8_48(**{name: np.float64(number) for name, number in FAR.items()}))
    values = eval(STEPS, FAR)
    a2 = FAR["w2"] * (FAR["w1"] * FAR["x"] + FAR["b1"]) + FAR["b2"]  # softplus(a) is a where a is this large
    same(values["y"], a2)
    same(backprop(STEPS, values, y=1.0)["w1"], FAR["w2"] * FAR["x"])


def test_8_46_as_printed_becomes_softplus_by_the_stable_rewrites():
    assert np.isinf(eval(PRINTED, FAR)["y"])
    stable = simplify(PRINTED, ["y"], None, EXACT + STABLE)
    assert [op for _, op, _ in stable] == ["mul", "add", "softplus"] * 2
    same(eval(stable, FAR)["y"], eval(STEPS, FAR)["y"])


def test_8_2_loops_branches_recursion_and_procedures_are_differentiated_though_they_are_no_closed_form():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    def halved_below_one(x):
        halvings = 0
        while x >= 1:
            x, halvings = x / 2, halvings + 1
        return power(x, 3) if halvings % 2 else np.sin(x)

    same(grad(halved_below_one)(0.5), np.cos(0.5))
    same(grad(halved_below_one)(3.0), np.cos(0.75) / 4)
    same(grad(halved_below_one)(1.5), 3 * 0.75 ** 2 / 2)


def test_8_2_four_ways_to_a_derivative_agree_and_differences_to_fewer_digits():
    sigma = lambda a: 1 / (1 + np.exp(-a))
    for point in POINTS:
        x, w1, b1, w2, b2 = (point[name] for name in ("x", "w1", "b1", "w2", "b2"))
        y = lambda w1, x=x, b1=b1, w2=w2, b2=b2: np.log1p(np.exp(w2 * np.log1p(np.exp(w1 * x + b1)) + b2))
        by_hand = sigma(w2 * np.log1p(np.exp(w1 * x + b1)) + b2) * w2 * sigma(w1 * x + b1) * x
        same(formula_8_48(**point), by_hand)
        same(backprop(PRINTED, eval(PRINTED, point), y=1.0)["w1"], by_hand)
        assert abs((y(w1 + 1e-5) - y(w1 - 1e-5)) / 2e-5 - by_hand) < 1e-9
