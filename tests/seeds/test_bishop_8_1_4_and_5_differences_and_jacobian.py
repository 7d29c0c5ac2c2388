"""Bishop, Deep Learning, §8.1.4 and 8.1.5, (8.24) to (8.35), example by example: difference quotients and the Jacobian."""

import numpy as np
import pytest

import ops
from xman import Jacobian, XMan, backprop, check, eval, f, gradient
from xman.plots.differences import difference_errors


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


def sigma(a):
    return 1 / (1 + np.exp(-a))


def slope(xs, ys):
    """That of the line through the points on logarithmic axes."""
    return np.polyfit(np.log10(xs), np.log10(ys), 1)[0]


class Network(XMan):
    """Scores A (n, k) of rows X, outputs Y, and half the sum of the squares of the errors of A."""
    X, T = f.input(), f.input()
    W1, W2 = f.param(), f.param()
    A = f.tanh(X @ W1) @ W2
    Y = f.sigmoid(A)
    E = f.half(f.sum(f.square(A - T)))


def network(rows=5, outputs=1):
    """The values of its inputs, at random: three columns, four hidden units."""
    random, m = np.random.default_rng(84), Network().setup()
    return m.inputDict(X=random.normal(size=(rows, 3)), T=random.normal(size=(rows, outputs)),
                       W1=random.normal(size=(3, 4)), W2=random.normal(size=(4, outputs)))


def listed(of):
    return Network().setup().operationSequence(getattr(Network, of))


# (8.24) and (8.25): numerical differentiation


def of_the_network(sizes=None, seed=0):
    """The errors of both difference quotients of E by W1, in a direction drawn by the seed."""
    return difference_errors(listed("E"), "E", "W1", network(), *([] if sizes is None else [sizes]), seed=seed)


def test_8_24_the_error_of_one_sided_differences_is_of_order_1():
    sizes = np.logspace(-6, -3, 7)
    assert slope(sizes, of_the_network(sizes).one_sided) == pytest.approx(1, abs=0.02)


def test_8_25_the_error_of_central_differences_is_of_order_2():
    sizes = np.logspace(-4, -2, 7)
    assert slope(sizes, of_the_network(sizes).central) == pytest.approx(2, abs=0.02)


def test_figure_8_2_the_slopes_of_the_two_lines_are_1_and_2():
    assert of_the_network().slopes == pytest.approx((1, 2), abs=0.05)


@pytest.mark.parametrize("sides", ["one_sided", "central"])
def test_figure_8_2_where_rounding_takes_over_the_line_is_noisy_and_the_error_grows_as_epsilon_shrinks(sides):
    sizes = np.logspace(-13, -9, 17)
    noisy = np.sqrt(np.mean([getattr(of_the_network(sizes, seed), sides) ** 2 for seed in range(20)], axis=0))
    assert slope(sizes, noisy) == pytest.approx(-1, abs=0.1)
    assert np.any(np.diff(getattr(of_the_network(sizes), sides)) > 0)


def test_figure_8_2_the_least_error_of_central_differences_is_much_smaller():
    errors = of_the_network()
    assert errors.central.min() < 1e-1 * errors.one_sided.min()


def test_exercise_8_3_the_errors_are_those_of_the_taylor_expansion():
    """(8.24) is wrong by ½ ε E″, (8.25), where the terms of order ε cancel, by ε² E‴/6."""
    m = XMan()
    m.w, m.x, m.t = f.param(0.7), f.input(1.3), f.input(-0.4)
    m.E = f.half(f.square(f.tanh(m.w * m.x) - m.t))
    steps = m.setup().operationSequence(m.E)
    third = gradient(gradient(gradient(steps, "E", ["w"]), "dE_dw", ["w"]), "ddE_dw_dw", ["w"])
    values = eval(third, m.inputDict())
    E = lambda w: eval(steps, m.inputDict(w=w))["E"]
    epsilon = 1e-3
    one_sided = (E(0.7 + epsilon) - E(0.7)) / epsilon
    central = (E(0.7 + epsilon) - E(0.7 - epsilon)) / (2 * epsilon)
    np.testing.assert_allclose(one_sided - values["dE_dw"], epsilon / 2 * values["ddE_dw_dw"], rtol=0.01)
    np.testing.assert_allclose(central - values["dE_dw"], epsilon ** 2 / 6 * values["dddE_dw_dw_dw"], rtol=0.01)


@pytest.mark.parametrize("sides, evaluations", [(1, 1 + 12), (2, 1 + 2 * 12)])
def test_8_24_takes_one_evaluation_a_weight_beside_that_of_the_error_and_8_25_takes_two(sides, evaluations):
    steps, values = listed("E"), network()
    calls = []
    G = {**ops.G, "tanh": lambda a: calls.append(a) or np.tanh(a)}
    assert check(steps, values, G, wrt=["W1"], sides=sides).ok
    assert len(calls) == evaluations


def test_8_1_4_central_differences_catch_a_backpropagation_with_a_mistake():
    steps, values = listed("E"), network()
    forgotten_square = {**ops.DG, "tanh": [lambda d, out, a: d * (1 - out)]}
    assert check(steps, values).ok and not check(steps, values, ops.G, forgotten_square).ok


# (8.26) to (8.35): the Jacobian


def test_8_26_the_jacobian_is_that_of_the_outputs_by_the_inputs():
    values = network(rows=1, outputs=2)
    J = Jacobian(listed("A"), "A", ["X"])(values)["X"][0, :, 0, :]
    w1, w2, z = values["W1"], values["W2"], np.tanh(values["X"] @ values["W1"])[0]
    same(J, [[sum(w2[j, k] * (1 - z[j] ** 2) * w1[i, j] for j in range(4)) for i in range(3)] for k in range(2)])


def test_8_27_and_figure_8_3_the_error_goes_back_through_a_module_by_its_jacobian():
    random, m = np.random.default_rng(27), XMan()
    m.w, m.u, m.v, m.t = (f.input(random.normal(size=size)) for size in [4, (3, 4), (2, 3), 2])
    m.z = f.sin(m.u @ f.square(m.w))
    m.y = f.softmax(m.v @ m.z)
    m.E = f.half(f.sum(f.square(m.y - m.t)))
    steps = m.setup().operationSequence(m.E)
    values = eval(steps, m.inputDict())
    before, module, after = steps[:3], steps[3:5], steps[5:]
    assert [part[-1][0] for part in (before, module, after)] == ["z", "y", "E"]
    dz_dw = Jacobian(before, "z", ["w"])(values)["w"]
    dy_dz = Jacobian(module, "y", ["z"])(values)["z"]
    dE_dy = Jacobian(after, "E", ["y"])(values)["y"]
    by_sums = [sum(dE_dy[k] * dy_dz[k, j] * dz_dw[j, i] for k in range(2) for j in range(3)) for i in range(4)]
    same(backprop(steps, values, E=1.0)["w"], by_sums)


def test_8_28_errors_of_the_inputs_propagate_by_the_jacobian_up_to_a_remainder_of_order_2():
    values, steps = network(rows=1, outputs=2), listed("Y")
    delta, y = np.random.default_rng(28).normal(size=(1, 3)), eval(steps, values)["Y"]
    J, sizes = Jacobian(steps, "Y", ["X"]), np.logspace(-4, -1, 7)
    remainders = [np.linalg.norm(eval(steps, {**values, "X": values["X"] + size * delta})["Y"] - y
                                 - J.jv(values, {"X": size * delta})) for size in sizes]
    assert slope(sizes, remainders) == pytest.approx(2, abs=0.05)


def test_8_28_for_a_linear_network_there_is_no_remainder():
    J = Jacobian([("y", "dot", ("w", "x"))], "y", ["x"])
    values = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "x": np.array([5.0, 6.0])}
    same(J.jv(values, {"x": np.array([100.0, -7.0])}), values["w"] @ np.array([100.0, -7.0]))


OUTPUTS = {"linear": (lambda a: a, lambda a: a, lambda y: np.eye(len(y))),                                          # (8.31)
           "sigmoid": (f.sigmoid, sigma, lambda y: np.diag(y * (1 - y))),                                           # (8.33)
           "softmax": (f.softmax, lambda a: np.exp(a) / np.exp(a).sum(), lambda y: np.diag(y) - np.outer(y, y))}    # (8.34)


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_8_29_and_8_30_the_rows_of_the_jacobian_are_backpropagated_from_the_output_units(outputs):
    """Units 0 to 2 are inputs, 3 to 6 tanh, 7 to 9 sigmoid, 10 to 12 outputs; each is connected to all units of lower layers."""
    activation, value, start = OUTPUTS[outputs]
    random, m = np.random.default_rng(30), XMan()
    m.x, m.u, m.v, m.w = (f.input(random.normal(size=size)) for size in [3, (4, 3), (3, 7), (3, 10)])
    m.g = f.tanh(m.u @ m.x)
    m.h = f.sigmoid(m.v @ f.concat(0, m.x, m.g))
    m.y = activation(m.w @ f.concat(0, m.x, m.g, m.h))
    steps, given = m.setup().operationSequence(m.y), m.inputDict()

    w = np.zeros((13, 13))  # w[j, i] is the weight from unit i to unit j
    w[3:7, :3], w[7:10, :7], w[10:, :10] = given["u"], given["v"], given["w"]
    z, primes = np.zeros(13), np.zeros(13)
    z[:3] = given["x"]
    for j in range(3, 10):
        a = w[j] @ z
        z[j], primes[j] = (np.tanh(a), 1 - np.tanh(a) ** 2) if j < 7 else (sigma(a), sigma(a) * (1 - sigma(a)))
    y = value(w[10:] @ z)
    dy_da = np.zeros((3, 13))
    dy_da[:, 10:] = start(y)
    for j in reversed(range(3, 10)):
        dy_da[:, j] = primes[j] * sum(w[l, j] * dy_da[:, l] for l in range(j + 1, 13))      # (8.30)
    J = [[sum(w[j, i] * dy_da[k, j] for j in range(3, 13)) for i in range(3)] for k in range(3)]      # (8.29)
    for mode in ("reverse", "forward"):
        same(Jacobian(steps, "y", ["x"], mode)(given)["x"], J)


def of_output_units(operator):
    """(∂y/∂a, y, a) of four output units."""
    a = np.random.default_rng(31).normal(size=4)
    steps = [("y", operator, ("a",))]
    return Jacobian(steps, "y", ["a"])({"a": a})["a"], eval(steps, {"a": a})["y"], a


def test_8_31_and_8_32_linear_output_units_start_from_the_identity_matrix():
    J, _, _ = of_output_units("alias")
    assert J.tolist() == [[1.0 if k == l else 0.0 for l in range(4)] for k in range(4)]


def test_8_33_sigmoid_output_units_start_from_their_slopes_on_the_diagonal():
    J, _, a = of_output_units("sigmoid")
    same(J, [[(k == l) * sigma(a[l]) * (1 - sigma(a[l])) for l in range(4)] for k in range(4)])


def test_8_34_softmax_output_units_start_from_delta_kl_y_k_minus_y_k_y_l():
    J, y, _ = of_output_units("softmax")
    same(J, [[(k == l) * y[k] - y[k] * y[l] for l in range(4)] for k in range(4)])


def test_8_35_central_differences_check_the_jacobian_in_2_d_forward_passes():
    values, passes = network(rows=1, outputs=2), []
    G = {**ops.G, "tanh": lambda a: passes.append(a) or np.tanh(a)}
    y = lambda x: eval(listed("Y"), {**values, "X": x}, G)["Y"][0]
    epsilon, x = 1e-5, values["X"]
    quotients = np.stack([(y(x + epsilon * e) - y(x - epsilon * e)) / (2 * epsilon) for e in np.eye(3)], axis=1)
    assert len(passes) == 2 * 3
    np.testing.assert_allclose(quotients, Jacobian(listed("Y"), "Y", ["X"])(values)["X"][0, :, 0, :], rtol=1e-8, atol=1e-10)
