"""Bishop, Deep Learning, §8.1.1 to 8.1.3, (8.1) to (8.23), example by example: backpropagation."""

import functools
import operator

import numpy as np
import pytest

from xman import XMan, backprop, eval, f, forward, gradient
from xman.models import MLP


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


def sigma(a):
    return 1 / (1 + np.exp(-a))


def without(steps, *names):
    """The list without the lines of these registers: they are inputs of what is left."""
    return [line for line in steps if line[0] not in names]


# (8.1) to (8.4): the error as a sum, and the linear model


class TwoLayers(XMan):
    """(8.15) to (8.20) for the rows of X, with x0 = z0 = 1 as a first column; W1 is w⁽¹⁾ transposed, W2 w⁽²⁾ transposed."""
    X, T = f.input(), f.input()
    W1, W2 = f.param(), f.param()
    Z = f.tanh(X @ W1)
    Y = f.concat(1, X[:, :1], Z) @ W2
    E = f.half(f.sum(f.square(Y - T)))


def two_layers(rows, inputs=3, hidden=4, outputs=2, seed=8):
    """(list, values) of E, at random weights."""
    random, m = np.random.default_rng(seed), TwoLayers().setup()
    X = np.hstack([np.ones((rows, 1)), random.normal(size=(rows, inputs))])
    given = m.inputDict(X=X, T=random.normal(size=(rows, outputs)), W1=random.normal(size=(inputs + 1, hidden)),
                        W2=random.normal(size=(hidden + 1, outputs)))
    steps = m.operationSequence(m.E)
    return steps, eval(steps, given)


def points(values):
    """The values for each data point by itself."""
    return [{**values, "X": x[None], "T": t[None]} for x, t in zip(values["X"], values["T"], strict=True)]


def test_8_01_the_error_is_the_sum_of_those_of_the_data_points():
    steps, values = two_layers(rows=5)
    same(values["E"], sum(eval(steps, point)["E"] for point in points(values)))


class Linear(XMan):
    w = f.param(default=np.random.default_rng(2).normal(size=(3, 4)))
    x = f.input(default=np.random.default_rng(3).normal(size=4))
    t = f.input(default=np.random.default_rng(4).normal(size=3))
    y = w @ x
    E = f.half(f.sum(f.square(y - t)))


def linear():
    m = Linear().setup()
    steps = m.operationSequence(m.E)
    values = eval(steps, m.inputDict())
    return steps, values, *(values[name] for name in ("w", "x", "t", "y"))


def test_8_02_the_outputs_of_a_linear_model_are_sums_over_its_inputs():
    _, _, w, x, _, y = linear()
    same(y, [sum(w[k, i] * x[i] for i in range(4)) for k in range(3)])


def test_8_03_its_error_is_half_the_sum_of_squares():
    _, values, _, _, t, y = linear()
    same(values["E"], 1 / 2 * sum((y[k] - t[k]) ** 2 for k in range(3)))


def test_8_04_the_gradient_of_a_linear_model_is_error_times_input():
    steps, values, _, x, t, y = linear()
    same(backprop(steps, values, E=1.0)["w"], [[(y[j] - t[j]) * x[i] for i in range(4)] for j in range(3)])


# (8.5) to (8.14): any feed-forward topology, each unit with an activation of its own

VALUE = {"tanh": np.tanh, "sigmoid": sigma, "sin": np.sin, "softplus": lambda a: np.log(1 + np.exp(a)), "alias": lambda a: a}
SLOPE = {"tanh": lambda a: 1 - np.tanh(a) ** 2, "sigmoid": lambda a: sigma(a) * (1 - sigma(a)), "sin": np.cos, "softplus": sigma,
         "alias": lambda a: 1.0}
HIDDEN, OUTPUTS = range(4, 10), (10, 11)
TOPOLOGIES = pytest.mark.parametrize("seed", range(6))


def units(seed):
    """(senders, activation) of each unit: z0 is 1, z1 to z3 are inputs, 10 and 11 linear outputs; at random, they skip units."""
    random = np.random.default_rng(seed)
    return ({j: [i for i in range(min(j, 10)) if i == min(j, 10) - 1 or random.random() < 0.6] for j in (*HIDDEN, *OUTPUTS)},
            {j: "alias" if j in OUTPUTS else str(random.choice(["tanh", "sigmoid", "sin", "softplus"])) for j in (*HIDDEN, *OUTPUTS)})


def network(seed):
    """(list, values, senders, activation) of such a network, written unit by unit as a user would."""
    random, m, (senders, h) = np.random.default_rng(seed + 100), XMan(), units(seed)
    m.z0, m.z1, m.z2, m.z3 = f.input(1.0), *(f.input(random.normal()) for _ in range(3))
    m.t10, m.t11 = f.input(random.normal()), f.input(random.normal())
    for j in senders:
        for i in senders[j]:
            setattr(m, f"w{j}_{i}", f.param(random.normal()))
        a = functools.reduce(operator.add, (getattr(m, f"w{j}_{i}") * getattr(m, f"z{i}") for i in senders[j]))
        setattr(m, f"a{j}", a)
        setattr(m, f"z{j}", getattr(f, h[j])(a))
    m.E = f.half(f.square(m.z10 - m.t10) + f.square(m.z11 - m.t11))
    steps = m.setup().operationSequence(m.E)
    return steps, eval(steps, m.inputDict()), senders, h


def algorithm_8_1(w, z, t, senders, h):
    """(z, errors, {(j, i): ∂E/∂w_ji}) line by line as the book prints it, but for its last loop; w by (j, i), z of the inputs, t of the outputs."""
    a, z, delta, slopes = {}, dict(z), {}, {}
    for j in senders:                                                           # forward propagation
        a[j] = sum(w[j, i] * z[i] for i in senders[j])                          # (8.5)
        z[j] = VALUE[h[j]](a[j])                                                # (8.6)
    for k in OUTPUTS:                                                           # error evaluation
        delta[k] = z[k] - t[k]                                                  # (8.11)
    for j in reversed(HIDDEN):                                                  # backward propagation
        delta[j] = SLOPE[h[j]](a[j]) * sum(w[k, j] * delta[k] for k in senders if j in senders[k])      # (8.13)
    for j in senders:
        slopes |= {(j, i): delta[j] * z[i] for i in senders[j]}                 # (8.10)
    return z, delta, slopes


def by_hand(values, senders, h):
    w = {(j, i): values[f"w{j}_{i}"] for j in senders for i in senders[j]}
    return algorithm_8_1(w, {i: values[f"z{i}"] for i in range(4)}, {k: values[f"t{k}"] for k in OUTPUTS}, senders, h)


def test_8_05_the_networks_here_have_skip_connections_and_units_of_each_activation():
    all_units = [units(seed) for seed in range(6)]
    assert any(i in (1, 2, 3) for senders, _ in all_units for i in senders[10])
    assert {h[j] for _, h in all_units for j in HIDDEN} == {"tanh", "sigmoid", "sin", "softplus"}


@TOPOLOGIES
def test_8_05_and_8_06_forward_propagation_is_the_evaluation_of_the_list(seed):
    _, values, senders, h = network(seed)
    z, _, _ = by_hand(values, senders, h)
    same([values[f"z{j}"] for j in z], list(z.values()))


@TOPOLOGIES
def test_8_07_a_derivative_is_that_of_the_error_by_the_pre_activation_times_that_of_the_pre_activation(seed):
    steps, values, senders, _ = network(seed)
    deltas = backprop(steps, values, E=1.0)
    for j in senders:
        for i in senders[j]:
            same(deltas[f"w{j}_{i}"], deltas[f"a{j}"] * forward(steps, values, {f"w{j}_{i}": 1.0})[f"a{j}"])


@TOPOLOGIES
def test_8_08_the_error_of_a_unit_is_the_adjoint_of_its_pre_activation(seed):
    """∂E/∂a_j where a_j is an input of what comes after it: that list in forward mode, the whole list in reverse mode."""
    steps, values, senders, _ = network(seed)
    deltas = backprop(steps, values, E=1.0)
    for j in senders:
        same(deltas[f"a{j}"], forward(without(steps, f"a{j}"), values, {f"a{j}": 1.0})["E"])


@TOPOLOGIES
def test_8_09_the_derivative_of_a_pre_activation_by_its_weight_is_z(seed):
    steps, values, senders, _ = network(seed)
    for j in senders:
        for i in senders[j]:
            same(forward(steps, values, {f"w{j}_{i}": 1.0})[f"a{j}"], values[f"z{i}"])


@TOPOLOGIES
def test_8_10_a_derivative_is_the_error_at_the_end_of_the_link_times_z_at_its_beginning(seed):
    steps, values, senders, _ = network(seed)
    deltas = backprop(steps, values, E=1.0)
    for j in senders:
        same([deltas[f"w{j}_{i}"] for i in senders[j]], [deltas[f"a{j}"] * values[f"z{i}"] for i in senders[j]])


LINKS = {"linear output, sum of squares": (f.alias, lambda y, t: f.half(f.sum(f.square(y - t)))),
         "sigmoid, cross-entropy": (f.sigmoid, lambda y, t: -f.sum(t * f.log(y) + (1 - t) * f.log(1 - y))),
         "softmax, cross-entropy": (f.softmax, lambda y, t: f.sum(f.crossEntropy(y, t)))}


def output_units(activation, error):
    """(∂E/∂a, y, t) of four output units."""
    random, m = np.random.default_rng(11), XMan()
    m.a, m.t = f.input(random.normal(size=4)), f.input(random.dirichlet(np.ones(4)))
    m.y = activation(m.a)
    m.E = error(m.y, m.t)
    steps = m.setup().operationSequence(m.E)
    values = eval(steps, m.inputDict())
    return backprop(steps, values, E=1.0)["a"], values["y"], values["t"]


@pytest.mark.parametrize("link", LINKS)
def test_8_11_the_error_of_an_output_unit_with_the_canonical_link_is_y_minus_t(link):
    delta, y, t = output_units(*LINKS[link])
    same(delta, y - t)


def test_8_11_without_the_canonical_link_it_is_something_else():
    delta, y, t = output_units(f.sigmoid, LINKS["linear output, sum of squares"][1])
    same(delta, (y - t) * y * (1 - y))
    assert not np.allclose(delta, y - t, rtol=0.1)


@TOPOLOGIES
def test_8_12_the_error_of_a_hidden_unit_is_the_sum_over_the_units_that_it_sends_to(seed):
    """∂a_k/∂a_j is that of the one link: the other pre-activations are held, as inputs of the list without their lines."""
    steps, values, senders, _ = network(seed)
    deltas = backprop(steps, values, E=1.0)
    for j in HIDDEN:
        total = 0.0
        for k in [k for k in senders if j in senders[k]]:
            link = without(steps, *(f"a{unit}" for unit in senders if unit != k))
            total += deltas[f"a{k}"] * forward(link, values, {f"a{j}": 1.0})[f"a{k}"]
        same(deltas[f"a{j}"], total)


@TOPOLOGIES
def test_8_13_and_exercise_8_1_errors_are_backpropagated_from_the_units_higher_up(seed):
    steps, values, senders, h = network(seed)
    deltas = backprop(steps, values, E=1.0)
    for j in HIDDEN:
        above = sum(values[f"w{k}_{j}"] * deltas[f"a{k}"] for k in senders if j in senders[k])
        same(deltas[f"a{j}"], SLOPE[h[j]](values[f"a{j}"]) * above)


@TOPOLOGIES
def test_algorithm_8_1_backpropagation_through_a_network_with_skip_connections(seed):
    """The book prints (8.10) in the loop over the hidden units alone, which leaves the weights of the output units out; meant is
    (8.10) for all hidden and output units."""
    steps, values, senders, h = network(seed)
    deltas = backprop(steps, values, E=1.0)
    _, errors, slopes = by_hand(values, senders, h)
    same([deltas[f"a{j}"] for j in errors], list(errors.values()))
    same([deltas[f"w{j}_{i}"] for j, i in slopes], list(slopes.values()))
    assert all(slopes[k, i] != 0 for k in OUTPUTS for i in senders[k])  # what the loop as printed would not return


def test_exercise_8_2_in_matrix_notation_errors_go_back_through_the_transposes():
    """Δ⁽ˡ⁾ = h′(A⁽ˡ⁾) ⊙ Δ⁽ˡ⁺¹⁾ W⁽ˡ⁺¹⁾ᵀ and ∂E/∂W⁽ˡ⁾ = Z⁽ˡ⁻¹⁾ᵀ Δ⁽ˡ⁾, a data point a row."""
    model, random = MLP([3, 5, 4, 2], loss="squaredError", dtype=np.float64), np.random.default_rng(82)
    steps = model.operationSequence(model.loss)
    values = eval(steps, model.inputDict(X=random.normal(size=(6, 3)), y=random.normal(size=(6, 2))))
    deltas = backprop(steps, values, loss=12.0)  # the loss is the mean over 6 × 2
    Z = [values[name] for name in ("X", "h1", "h2")]
    error = values["scores"] - values["y"]
    for layer in (3, 2, 1):
        same(deltas[f"W{layer}"], Z[layer - 1].T @ error)
        same(deltas[f"b{layer}"], error.sum(0, keepdims=True))
        error = (1 - Z[layer - 1] ** 2) * (error @ values[f"W{layer}"].T)


def test_8_14_the_derivative_of_the_total_error_is_the_sum_over_the_data_points():
    steps, values = two_layers(rows=5)
    each = [backprop(steps, eval(steps, point), E=1.0) for point in points(values)]
    for w in ("W1", "W2"):
        same(backprop(steps, values, E=1.0)[w], sum(deltas[w] for deltas in each))


# (8.15) to (8.23): a simple example

A = np.linspace(-3, 3, 25)


def test_8_15_and_8_16_the_derivative_of_tanh_is_1_minus_its_square():
    steps = [("h", "tanh", ("a",))]
    values = eval(steps, {"a": A})
    same(values["h"], (np.exp(A) - np.exp(-A)) / (np.exp(A) + np.exp(-A)))
    same(backprop(steps, values, h=1.0)["a"], 1 - values["h"] ** 2)


def test_8_16_the_derivative_of_tanh_is_found_from_its_value_and_not_from_a_second_tanh():
    assert [op for _, op, _ in gradient([("h", "tanh", ("a",))], "h", ["a"])].count("tanh") == 1


def simple_example():
    """(list, values, x, t, w1, w2) of one data point, with w1[j, i] and w2[k, j] as printed."""
    steps, values = two_layers(rows=1)
    return steps, values, values["X"][0], values["T"][0], values["W1"].T, values["W2"].T


def test_8_17_to_8_20_the_two_layer_network_with_biases_as_weights_of_x0_and_z0():
    _, values, x, t, w1, w2 = simple_example()
    a = [sum(w1[j, i] * x[i] for i in range(4)) for j in range(4)]                        # (8.18), x0 = 1
    z = [1.0, *np.tanh(a)]                                                                # (8.19), z0 = 1
    y = np.array([sum(w2[k, j] * z[j] for j in range(5)) for k in range(2)])              # (8.20)
    same(values["Y"][0], y)
    same(values["E"], 1 / 2 * sum((y - t) ** 2))                                          # (8.17)


def test_8_21_to_8_23_its_errors_and_its_derivatives():
    steps, values, x, t, w1, w2 = simple_example()
    deltas = backprop(steps, values, E=1.0)
    z = np.array([1.0, *values["Z"][0]])
    delta_k = values["Y"][0] - t                                                          # (8.21)
    delta_j = [(1 - z[j] ** 2) * sum(w2[k, j] * delta_k[k] for k in range(2)) for j in range(1, 5)]    # (8.22)
    same(deltas["Y"][0], delta_k)
    same(deltas["W1"].T, np.outer(delta_j, x))                                            # (8.23)
    same(deltas["W2"].T, np.outer(delta_k, z))
