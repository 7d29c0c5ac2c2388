"""SciPy's methods: where they come to, what they tell, and what they refuse."""

import re

import numpy as np
import pytest
import scipy.optimize
from scipy.sparse import csr_matrix

import xman
from xman import XMan, XManError, f
from xman.models import MLP, AdaptiveBasis, LogisticRegression
from xman.optimize.minimize import WITH_GRADIENT, WITH_PRODUCTS, Problem
from xman.train import Diverged, evaluate

R = np.random.default_rng(3)
X, LABELS = R.standard_normal((40, 4)), R.integers(0, 3, 40)
WEIGHTS = R.integers(0, 4, 40)
each_method = pytest.mark.parametrize("method", [*WITH_GRADIENT, *WITH_PRODUCTS])


def minimize(what, *args, **options):
    return xman.minimize(what, *args, **{"progress": False, **options})


def least_squares(what, *args, **options):
    return xman.least_squares(what, *args, **{"progress": False, **options})


def refusal(call, *args, error=XManError, **named):
    with pytest.raises(error) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ridge(p, X, y, weight):
    """A parameter of each kind of tree, and one that nothing depends on."""
    residual = X @ p["w"][0] + p["b"] - y
    return np.mean(residual ** 2) + weight * np.sum(p["w"][0] ** 2)


@each_method
def test_each_method_finds_the_least_loss_of_a_model(method):
    result = minimize(LogisticRegression(4, 3, dtype=np.float64), (X, LABELS), method=method, l2=0.1, tolerance=1e-7)
    last = result.history[-1]
    assert result.reason == "no entry of the gradient is larger than 1e-07" and last["gradient"] <= 1e-7
    assert [row["epoch"] for row in result.history] == [*range(1, len(result.history) + 1)] and set(last) == {
        "epoch", "loss", "gradient", "seconds"}
    other = minimize(LogisticRegression(4, 3, dtype=np.float64, seed=9), (X, LABELS), l2=0.1, tolerance=1e-9)
    np.testing.assert_allclose(result.parameters["W"], other.parameters["W"], atol=1e-5)


@pytest.mark.parametrize("method", WITH_PRODUCTS)
def test_rounding_does_not_stop_what_takes_products_before_the_gradient_is_1e_9(method):
    random = np.random.RandomState(42)  # of scikit-learn's check of weights, where the Hessian is all but singular
    data = random.rand(15, 30), random.randint(0, 3, size=15)
    result = minimize(LogisticRegression(30, 3, dtype=np.float64), data, method=method, l2=1e-4, tolerance=1e-9)
    assert result.history[-1]["gradient"] <= 1e-9 and len(result.history) < 60


@each_method
def test_each_method_finds_the_minimum_of_rosenbrocks_function(method):
    result = minimize(rosenbrock, start=np.array([0.5, 2, 1.5]), method=method, tolerance=1e-6)
    np.testing.assert_allclose(result.parameters, 1, atol=1e-4)
    assert result.best >= len(result.history) - 3


def test_it_is_scikit_learns_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    theirs = linear.LogisticRegression(C=1 / (0.2 * 40), tol=1e-8, max_iter=1000).fit(X, LABELS)
    ours = minimize(LogisticRegression(4, 3, dtype=np.float64), (X, LABELS), method="trust-krylov", l2=0.2, tolerance=1e-9)
    np.testing.assert_allclose(ours.parameters["W"], theirs.coef_.T, atol=1e-6)
    weighted = linear.LogisticRegression(C=1 / (0.2 * WEIGHTS.sum()), tol=1e-8, max_iter=1000).fit(X, LABELS, WEIGHTS)
    ours = minimize(LogisticRegression(4, 3, dtype=np.float64), (csr_matrix(X), LABELS), l2=0.2, sample_weight=WEIGHTS,
                    tolerance=1e-9)
    np.testing.assert_allclose(ours.parameters["W"], weighted.coef_.T, atol=1e-6)


@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg"])
def test_a_function_of_a_tree_is_minimised_and_a_tree_is_given_back(method):
    y = X @ [1.0, -2.0, 0.5, 0.0] + 3
    start = {"w": [np.zeros(4)], "b": 0, "unused": np.ones(2)}
    result = minimize(ridge, (X, y, 0.0), start=start, method=method, tolerance=1e-9)
    np.testing.assert_allclose(result.parameters["w"][0], [1, -2, 0.5, 0], atol=1e-7)
    assert result.parameters["b"] == pytest.approx(3) and (result.parameters["unused"] == 1).all()


@pytest.mark.parametrize("model, data", [(MLP([4, 5, 3], dtype=np.float64), (X, LABELS)),
                                         (AdaptiveBasis("rbf", 3, columns=4, low=-2, high=2, dtype=np.float64), (X, X[:, :1]))])
def test_the_two_programs_of_a_problem_are_its_derivatives(model, data):
    steps = model.operationSequence(model.loss)
    wrt = [w for w in steps.inputs if model.isParam(w)]
    problem = Problem(steps, "loss", wrt, model.inputDict(**model.feed(*data)), True, "numpy")
    w, v, h = problem.start, R.standard_normal(problem.start.size), 1e-6
    ahead, behind = ((problem.value(x), problem.gradient(x)) for x in (w + h * v, w - h * v))
    assert problem.gradient(w) @ v == pytest.approx((ahead[0] - behind[0]) / (2 * h), rel=1e-6)
    np.testing.assert_allclose(problem.product(w, v), (ahead[1] - behind[1]) / (2 * h), rtol=1e-5, atol=1e-7)


def test_a_loss_without_curvature_has_products_of_zeros():
    problem = Problem(xman.WengertList([("loss", "sum", ("w",))]), "loss", ["w"], {"w": np.ones(3)}, True, "numpy")
    assert (problem.product(problem.start, np.ones(3)) == 0).all() and (problem.gradient(problem.start) == 1).all()


def test_validation_chooses_the_epoch_and_callbacks_end_the_run():
    validation, seen = (X[:9] + 1, LABELS[:9]), []

    def watch(row, parameters):
        seen.append(parameters["W1"])
        return "enough" * (row["epoch"] == 25)

    model = MLP([4, 8, 3], dtype=np.float64)
    result = minimize(model, (X, LABELS), validation=validation, callbacks=[watch])
    losses = [row["validation_loss"] for row in result.history]
    assert result.reason == "enough" and len(seen) == len(losses) == 25 and result.best == 1 + np.argmin(losses) < 25
    assert evaluate(model, result.parameters, validation)[0] == min(losses)


@each_method
def test_single_precision_stays_single_and_ends(method):
    result = minimize(LogisticRegression(4, 3), (X, LABELS), method=method, tolerance=0.0)
    assert result.parameters["W"].dtype == np.float32 and "no step makes it smaller" in result.reason


def test_epochs_bound_a_run_and_none_leave_the_start():
    result = minimize(rosenbrock, start=np.zeros(3), epochs=2)
    assert len(result.history) == 2 and result.reason == "all 2 epochs done"
    done = minimize(rosenbrock, start=np.ones(3))
    assert done.history == [] and (done.parameters == 1).all() and done.reason.startswith("no entry of the gradient")


def test_ctrl_c_gives_what_had_been_reached():
    def interrupt(row, parameters):
        if row["epoch"] == 3:
            raise KeyboardInterrupt

    result = minimize(rosenbrock, start=np.zeros(3), callbacks=[interrupt])
    assert result.reason == "interrupted in epoch 4" and len(result.history) == 3


def test_a_line_an_epoch_is_printed_where_no_terminal_is(capsys):
    xman.minimize(rosenbrock, start=np.zeros(3), epochs=2)
    assert capsys.readouterr().err.startswith("epoch   1  loss 1.")


# least squares


def decay(p, x, y):
    return p["a"] * np.exp(-p["b"] * x) - y


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_are_scipys_with_the_right_jacobian(method):
    x = np.linspace(0, 3, 20)
    y = 2 * np.exp(-1.3 * x) + 0.01 * R.standard_normal(20)
    result = least_squares(decay, (x, y), start={"a": 1.0, "b": 0.1}, method=method)
    wanted = scipy.optimize.least_squares(lambda w: w[0] * np.exp(-w[1] * x) - y, [1.0, 0.1], jac="3-point")
    assert [result.parameters[k] for k in "ab"] == pytest.approx(wanted.x, rel=1e-6)
    assert result.best == len(result.history) > 2
    assert result.history[-1]["loss"] == pytest.approx(wanted.cost, rel=1e-5)


class Residuals(XMan):
    X, y = f.input(), f.input()
    w, b = f.param(default=np.zeros((4, 1))), f.param(default=0.0)
    outputs = X @ w + b
    residuals = (outputs - y) * 2.0


@pytest.mark.parametrize("model", [Residuals(), MLP([4, 1], dtype=np.float32, loss="squaredError")])
def test_least_squares_of_a_model_are_those_of_its_residuals_or_of_its_outputs(model):
    y = R.standard_normal((40, 1))
    right = np.linalg.lstsq(np.hstack([X, np.ones((40, 1))]), y, rcond=None)[0].ravel()
    found = least_squares(model, (X, y)).parameters
    np.testing.assert_allclose(np.concatenate([np.ravel(a) for a in found.values()]), right, atol=1e-6)


@pytest.mark.parametrize("call, said", [
    (lambda: minimize(rosenbrock, start=np.ones(3), method="lbfgs"), "there is no method 'lbfgs'"),
    (lambda: minimize(rosenbrock), "say start=…"),
    (lambda: minimize(np.sin, start=np.ones(3)), "'result' has shape (3,); what is minimized has"),
    (lambda: minimize(lambda x: (np.sum(x), np.sum(x)), start=np.ones(3)), "returns 2 arrays"),
    (lambda: minimize(rosenbrock, start=np.ones(3), l2=0.1), "l2 is for models; write it into the function"),
    (lambda: minimize(lambda x: np.float64(3.0), start=np.ones(3)), "does not depend on its parameters"),
    (lambda: least_squares(decay, (1.0, 2.0), start={"a": 1.0, "b": 2.0}, method="lmm"), "did you mean 'lm'"),
    (lambda: least_squares(MLP([4, 2]), (X, X)), "least squares needs as many targets")])
def test_what_cannot_be_is_refused(call, said):
    assert said in refusal(call)


def test_the_parameters_may_stand_second_as_in_scipy():
    assert minimize(rosenbrock, np.zeros(3)).parameters == pytest.approx(np.ones(3), abs=1e-4)
    assert least_squares(lambda x: x - 2, np.zeros(3)).parameters == pytest.approx(2 * np.ones(3))


@pytest.mark.parametrize("call, said", [
    (lambda: minimize(rosenbrock, x0=np.ones(3)), "minimize takes no x0=; here: minimize(fn, start=x0, data=args)"),
    (lambda: minimize(rosenbrock, np.ones(3), bounds=[(0, 1)]), "takes no bounds=; here: a parameter within"),
    (lambda: least_squares(rosenbrock, np.ones(3), max_nfev=9), "least_squares takes no max_nfev=; here: epochs="),
    (lambda: minimize(rosenbrock, np.ones(3), (1.0,)), "minimize takes model and data by position, and all else by name")])
def test_what_scipy_calls_otherwise_is_told(call, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        call()


def no_further_than_three(x):
    """NaN beyond 3, where long steps lead, and least at 2.9."""
    return np.sum(-np.log(3 - x) - 10 * x)


@each_method
def test_where_the_loss_is_not_finite_a_method_turns_back(method):
    result = minimize(no_further_than_three, start=np.array([-40.0, 2.0]), method=method, tolerance=1e-6)
    np.testing.assert_allclose(result.parameters, 2.9, rtol=1e-6)


def test_a_loss_that_is_nan_where_it_begins_is_told():
    assert "the first register with a NaN" in refusal(minimize, lambda x: np.sum(np.log(x)), start=-np.ones(2), error=Diverged)
    assert "cannot be made smaller" in refusal(least_squares, lambda x: np.log(x), start=-np.ones(2), error=Diverged)
