"""Adams, Computing Gradients with Backpropagation (COS 324), eqs. 1 to 16: regression with adaptive bases, and Jacobians."""

import numpy as np
import pytest

from xman import Hessian, Jacobian, backprop, check, eval, grad, jacobian
from xman.models import AdaptiveBasis
from xman.train import fit
from xman.train.plot import basis_curve

THETA = {"polynomial": ["exponents"], "rbf": ["centers", "scales"], "tanh": ["scales", "locations"]}
each_kind = pytest.mark.parametrize("kind", THETA)
X = np.linspace(0.05, 2.0, 40)
Y = np.sin(np.pi * X) + 0.05 * np.random.default_rng(5).standard_normal(40)


def same(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)


# adaptive basis function regression


def regression(kind, x=X, y=Y, functions=3, **parameters):
    """(model, its list, the values of all registers) for the data, at the parameters that the model begins with, or others."""
    model = AdaptiveBasis(kind, functions, low=0.0, high=2.0, seed=1, dtype=np.float64)
    steps = model.operationSequence(model.loss)
    return model, steps, eval(steps, model.inputDict(**model.feed(x, y), **parameters))


def phi(kind, x, theta):
    """Φ_θ(x) with θ_1 … θ_K as the page numbers them."""
    if kind == "polynomial":
        return np.array([x ** t for t in theta])
    pairs = list(zip(theta[::2], theta[1::2], strict=True))
    return np.array([np.exp(-(x - c) ** 2 / s) if kind == "rbf" else np.tanh(x * c + s) for c, s in pairs])


def theta(kind, values):
    """θ_1 … θ_K: of the registers in THETA in turn."""
    return np.concatenate([values[name] for name in THETA[kind]]).T.ravel()


def jacobians(kind, values):
    """J_θ{Φ_θ(x_n)} for each n, of shape (N, J, K), by the Jacobian of the list."""
    blocks = Jacobian(regression(kind)[1], "basis", THETA[kind])(values)
    return np.stack([blocks[name][:, :, 0, :] for name in THETA[kind]], axis=-1).reshape(*values["basis"].shape, -1)


@each_kind
def test_the_three_bases_polynomial_exponents_rbf_and_tanh(kind):
    _, _, values = regression(kind)
    same(values["basis"], [phi(kind, x, theta(kind, values)) for x in X])


@each_kind
def test_each_basis_is_differentiable_in_x_and_in_theta(kind):
    _, steps, values = regression(kind)
    report = check(steps, values, of="basis", wrt=["X", *THETA[kind]])
    assert report.ok and {entry.register for entry in report.entries} == {"X", *THETA[kind]}, str(report)


@each_kind
def test_eq_1_the_function_is_w_phi_plus_b_with_the_bias_separate(kind):
    _, _, values = regression(kind)
    w, b = values["w"][:, 0], values["b"][0, 0]
    same(values["outputs"][:, 0], [w @ phi(kind, x, theta(kind, values)) + b for x in X])


def solved(kind):
    """Of two functions, the values at w* and b* of eq. 2, which a linear system gives."""
    A = np.column_stack([regression(kind, functions=2)[2]["basis"], np.ones(len(X))])
    best = np.linalg.lstsq(A, Y[:, None], rcond=None)[0]
    return regression(kind, functions=2, w=best[:-1], b=best[-1:])


@each_kind
def test_eq_2_at_the_solution_of_the_linear_system_the_gradient_by_w_and_b_vanishes(kind):
    _, steps, values = solved(kind)
    deltas = backprop(steps, values, loss=1.0)
    np.testing.assert_allclose([*deltas["w"][:, 0], deltas["b"][0, 0]], 0, atol=1e-10)


@each_kind
def test_eq_3_the_sgd_update_of_w_for_a_single_example(kind):
    model, _, values = regression(kind, X[7:8], Y[7:8])
    w, features = values["w"][:, 0], values["basis"][0]
    moved = fit(model, (X[7:8], Y[7:8]), lr=0.01, epochs=1, batch_size=1, progress=False).parameters["w"][:, 0]
    same(moved, w - 0.01 * features * (w @ features + values["b"][0, 0] - Y[7]))


@each_kind
def test_eq_4_the_objective_is_half_the_sum_of_squares(kind):
    _, _, values = regression(kind)
    w, b, t = values["w"][:, 0], values["b"][0, 0], theta(kind, values)
    same(values["loss"], 1 / 2 * sum((w @ phi(kind, x, t) + b - y) ** 2 for x, y in zip(X, Y, strict=True)))


@each_kind
def test_eq_5_with_theta_in_the_mix_the_minimum_is_lower_than_that_of_eq_2(kind):
    model, _, values = solved(kind)
    model.w.default, model.b.default = values["w"], values["b"]
    moved = fit(model, (X, Y), optimizer="adam", lr=0.01, epochs=500, batch_size=len(X), progress=False).parameters
    assert regression(kind, functions=2, **moved)[2]["loss"] < 0.6 * values["loss"]


# Jacobians and the chain rule

A, B, Z = (np.random.default_rng(6).normal(size=size) for size in [(3, 2), (4, 3), 2])


def inner(z):
    """R² → R³."""
    return np.sin(A @ z) * z[1]


def outer(y):
    """R³ → R⁴."""
    return np.exp(B @ y)


def test_eq_6_the_jacobian_has_a_row_for_each_output_and_a_column_for_each_input():
    cos, sin = np.cos(A @ Z), np.sin(A @ Z)
    right = [[cos[j] * A[j, k] * Z[1] + sin[j] * (k == 1) for k in range(2)] for j in range(3)]
    for mode in ("forward", "reverse"):
        same(jacobian(inner, mode=mode)(Z), right)


def test_eq_7_it_is_a_stack_of_transposed_gradients():
    same(jacobian(inner)(Z), np.stack([grad(lambda z, j=j: inner(z)[j])(Z) for j in range(3)]))


def test_eq_8_the_jacobian_of_a_composition_is_the_product_of_the_jacobians():
    by_hand = np.exp(B @ inner(Z))[:, None] * B
    for of_outer in (jacobian(outer)(inner(Z)), by_hand):
        same(jacobian(lambda z: outer(inner(z)))(Z), of_outer @ jacobian(inner)(Z))


# learning basis function parameters


@each_kind
def test_eqs_9_to_13_the_gradient_by_theta_line_by_line(kind):
    """Eq. 11 prints J_z{wᵀz + b − y}ᵀ J_θ{Φ}, without the square, and a column before a matrix. Meant is the row
    J_z{(wᵀz + b − y)²}, with which eq. 12 follows."""
    _, steps, values = regression(kind)
    w, b, J, z = values["w"][:, 0], values["b"][0, 0], jacobians(kind, values), values["basis"]
    assert J.shape == (40, 3, len(theta(kind, values)))  # N matrices J × K
    each = [regression(kind, X[n:n + 1], Y[n:n + 1]) for n in range(40)]
    r = z @ w + b - Y
    rows = [jacobian(lambda z, n=n: (w @ z + b - Y[n:n + 1]) ** 2)(z[n]) for n in range(40)]
    for line in [theta(kind, Jacobian(steps, "loss", THETA[kind])(values)),                                           # (9)
                 sum(theta(kind, Jacobian(one, "loss", THETA[kind])(v)) for _, one, v in each),                       # (10)
                 1 / 2 * sum((rows[n] @ J[n]).T for n in range(40))[:, 0],                                            # (11)
                 sum((r[n] * w[None] @ J[n]).T for n in range(40))[:, 0],                                             # (12)
                 sum(J[n].T @ w * r[n] for n in range(40))]:                                                          # (13)
        same(line, theta(kind, backprop(steps, values, loss=1.0)))


@each_kind
def test_eqs_14_to_16_the_updates_in_batch_with_learning_rates_of_their_own(kind):
    model, _, values = regression(kind)
    w, J, residuals = values["w"][:, 0], jacobians(kind, values), values["outputs"][:, 0] - Y
    rates = {"w": 1e-3, "b": 2e-3, **dict.fromkeys(THETA[kind], 5e-4)}
    moved = fit(model, (X, Y), lr=rates, epochs=1, batch_size=len(X), progress=False).parameters
    same(moved["w"][:, 0], w - 1e-3 * sum(values["basis"][n] * residuals[n] for n in range(40)))                     # (14)
    same(moved["b"][0, 0], values["b"][0, 0] - 2e-3 * sum(residuals))                                                # (15)
    same(theta(kind, moved), theta(kind, values) - 5e-4 * sum(J[n].T @ w * residuals[n] for n in range(40)))         # (16)


RATES = {"polynomial": (0.002, 0.005), "rbf": (0.01, 0.01), "tanh": (0.03, 0.003)}  # of w and b, and of θ


def descended(kind, rate, rate_of_theta):
    """(model, parameters, loss) after 300 steps of eqs. 14 to 16."""
    model, steps, _ = regression(kind)
    rates = {"w": rate, "b": rate, **dict.fromkeys(THETA[kind], rate_of_theta)}
    parameters = fit(model, (X, Y), lr=rates, epochs=300, batch_size=len(X), progress=False).parameters
    return model, parameters, regression(kind, **parameters)[2]["loss"]


@pytest.mark.parametrize("kind, loss", [("polynomial", 2.2), ("rbf", 0.1), ("tanh", 0.3)], ids=THETA)
def test_eqs_14_to_16_a_noisy_sine_is_fitted_and_drawn_with_each_basis(kind, loss, tmp_path):
    pytest.importorskip("matplotlib")
    model, parameters, found = descended(kind, *RATES[kind])
    assert found < loss < 0.2 * regression(kind)[2]["loss"]
    basis_curve(model, parameters, (X, Y), tmp_path / f"{kind}.png")
    assert len((tmp_path / f"{kind}.png").read_bytes()) > 10_000


def test_eqs_14_to_16_different_learning_rates_work_better_for_the_different_sets_of_parameters():
    assert descended("polynomial", *RATES["polynomial"])[2] < 0.9 * min(
        descended("polynomial", rate, rate)[2] for rate in (0.001, 0.002, 0.0025, 0.003, 0.0035, 0.004, 0.005))


@each_kind
def test_eqs_14_to_16_the_objective_is_convex_in_w_and_b_and_not_in_theta_too(kind):
    _, steps, values = regression(kind)
    assert np.linalg.eigvalsh(Hessian(steps, "loss", ["w", "b"])(values)).min() > 0
    assert np.linalg.eigvalsh(Hessian(steps, "loss", ["w", "b", *THETA[kind]])(values)).min() < -0.1
