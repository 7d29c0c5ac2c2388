"""Gauss–Newton, Levenberg and Marquardt, Newton–CG: their steps, what they come to, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse

from xman import Hessian, XMan, XManError, backprop, eval, f, outer_products
from xman.matrices import packed
from xman.models import MLP, AdaptiveBasis, LogisticRegression
from xman.train import Diverged, TrainingError, cosine, evaluate, fit
from xman.train.second_order import METHODS, conjugate_gradients

R = np.random.default_rng(8)
X = np.linspace(-1, 1, 40)[:, None]
DATA = X, np.sin(3 * X)
each_method = pytest.mark.parametrize("method", METHODS)


def network(dtype=np.float64, sizes=(1, 5, 1), **options):
    return MLP(sizes, **{"dtype": dtype, "loss": "squaredError", "seed": 1, **options})


def run(model, data, method, epochs=40, **options):
    return fit(model, data, optimizer=method, epochs=epochs, progress=False, **options)


def gradient_at(model, parameters, data):
    steps = model.operationSequence(model.loss)
    values = eval(steps, model.inputDict(**model.feed(*data), **parameters))
    wrt = [w for w in steps.inputs if model.isParam(w)]
    return steps, values, wrt, packed(backprop(steps, values, loss=1.0), wrt)


@each_method
def test_where_the_model_is_linear_a_few_steps_come_to_the_least_squares(method):
    data = R.normal(size=(30, 4)), R.normal(size=(30, 1))
    result = run(network(sizes=(4, 1)), data, method)
    right = np.linalg.lstsq(np.hstack([data[0], np.ones((30, 1))]), data[1], rcond=None)[0]
    np.testing.assert_allclose([*result.parameters["W1"], *result.parameters["b1"]], right, rtol=1e-6, atol=1e-8)
    assert len(result.history) < 15 and result.reason.endswith("no step makes it smaller")


@each_method
def test_the_loss_falls_at_each_step_and_is_that_of_the_parameters(method):
    model = network()
    result = run(model, DATA, method)
    losses = [row["loss"] for row in result.history]
    assert all(after <= before for before, after in zip(losses, losses[1:], strict=False)) and losses[-1] < 0.01 * losses[0]
    assert evaluate(model, result.parameters, DATA)[0] == pytest.approx(losses[result.best - 1], rel=1e-12)
    assert result.best == len(losses) and [row["epoch"] for row in result.history] == [*range(1, 41)]
    assert result.reason == "all 40 epochs done" and (model.inputDict()["W1"] == network().inputDict()["W1"]).all()


@each_method
@pytest.mark.parametrize("loss", ["softmaxCrossEntropy", "crossEntropy", "sigmoidCrossEntropy"])
def test_with_a_cross_entropy_the_gradient_vanishes(method, loss):
    random = np.random.default_rng(8)  # its own: whichever tests ran before, the data are the same
    data = random.normal(size=(40, 2)), random.integers(0, 3, 40)
    model = LogisticRegression(2, 3, dtype=np.float64, loss=loss)
    result = run(model, data, method)
    assert np.abs(gradient_at(model, result.parameters, data)[-1]).max() < 1e-6
    assert result.history[-1]["adjustment"] < 1e-4


@each_method
@pytest.mark.parametrize("kind", ["polynomial", "rbf", "tanh"])
def test_each_fits_each_of_adams_bases(method, kind):
    x = np.linspace(0.05, 2, 40)
    model, data = AdaptiveBasis(kind, 3, low=0.0, high=2.0, seed=1, dtype=np.float64), (x, np.sin(np.pi * x))
    begun = gradient_at(model, {}, data)[1]["loss"]
    assert run(model, data, method, 30).history[-1]["loss"] < (1 / 3 if kind == "polynomial" else 0.005) * begun


def first_step(method, **options):
    """(model, p of the first step, gradient, list, values, wrt) of the tanh network, whose scores are the last line but two."""
    model = network(**options)
    steps, values, wrt, g = gradient_at(model, {}, DATA)
    after = run(model, DATA, method, 1).parameters
    return packed(after, wrt) - packed(values, wrt), g, steps, values, wrt


def test_the_first_step_of_levenberg_and_marquardt_is_their_equation():
    p, g, steps, values, wrt = first_step("levenberg-marquardt")
    G = outer_products(steps, "scores", wrt, values, "squares", 1 / 40)
    damping = 1e-3 * (g @ G @ g) / (g @ g)
    np.testing.assert_allclose((G + damping * np.eye(g.size)) @ p, -g, atol=1e-5 * np.linalg.norm(g))


def test_the_first_step_of_gauss_and_newton_solves_their_equation_or_a_half_of_it():
    p, g, steps, values, wrt = first_step("gauss-newton")
    G = outer_products(steps, "scores", wrt, values, "squares", 1 / 40)
    halvings = round(np.log2(np.linalg.norm(g) / np.linalg.norm(G @ p)))
    np.testing.assert_allclose(2.0 ** halvings * (G @ p), -g, atol=2e-3 * np.linalg.norm(g))


def test_newton_cg_goes_down_where_the_hessian_bends_downwards():
    model = network(activation="sigmoid")
    steps, values, wrt, g = gradient_at(model, {}, DATA)
    assert np.linalg.eigvalsh(Hessian(steps, "loss", wrt)(values)).min() < -1e-3
    p = first_step("newton-cg", activation="sigmoid")[0]
    assert g @ p < 0 and run(model, DATA, "newton-cg").history[-1]["loss"] < 0.05 * values["loss"]


def test_newton_cg_ends_with_the_steps_of_newton():
    """Near the minimum each step has about twice the right digits of the one before."""
    data = R.normal(size=(40, 2)), R.integers(0, 2, (40, 1))
    model = LogisticRegression(2, 1, dtype=np.float64, loss="sigmoidCrossEntropy")
    losses = [row["loss"] for row in run(model, data, "newton-cg").history]
    assert len(losses) < 12


@each_method
def test_weights_that_meet_their_neighbours_alone_take_a_sparse_matrix_and_the_same_steps(method, monkeypatch):
    m = XMan()
    m.X, m.y, m.w = f.input(), f.input(), f.param(default=R.normal(size=100))
    m.outputs = (m.w[1:] + 0.3 * f.tanh(m.w[:-1])) * m.X
    m.loss = f.sum(f.squaredError(m.outputs, m.y)) + f.sum(f.square(m.w))
    data, passes = (np.ones(99), R.normal(size=99)), []
    sparse = run(m.setup(), data, method, 3)

    def where_it_pays(make, dense):
        passes.append((make().passes, dense))
    monkeypatch.setattr("xman.sparse.where_it_pays", where_it_pays)
    by_products = run(m, data, method, 3)
    np.testing.assert_allclose(sparse.parameters["w"], by_products.parameters["w"], rtol=1e-6, atol=1e-9)
    assert passes == [(3, 100)]


@each_method
def test_single_precision_stays_single(method):
    result = run(network(np.float32), DATA, method)
    assert {w.dtype for w in result.parameters.values()} == {np.dtype(np.float32)}
    assert result.history[-1]["loss"] < 0.01 * result.history[0]["loss"]


def test_sparse_rows_are_taken():
    dense = R.normal(size=(40, 5)) * (R.uniform(size=(40, 5)) < 0.3)
    y = R.integers(0, 2, 40)
    one, other = (run(LogisticRegression(5, 2, dtype=np.float64), (A, y), "levenberg-marquardt", 5).history[-1]["loss"]
                  for A in (dense, scipy.sparse.csr_matrix(dense)))
    assert one == pytest.approx(other, rel=1e-9)


def test_a_parameter_that_is_a_number_moves():
    model = XMan()
    model.X, model.y, model.w = f.input(), f.input(), f.param(default=1.0)
    model.loss = f.sum(f.squaredError(f.exp(model.w * model.X), model.y))
    x = np.linspace(0, 1, 9)
    assert run(model.setup(), (x, np.exp(-2 * x)), "levenberg-marquardt").parameters["w"] == pytest.approx(-2, rel=1e-6)


# the run around them


@each_method
def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits(method, tmp_path):
    pytest.importorskip("safetensors")
    whole = run(network(), DATA, method, 8)
    run(network(), DATA, method, 5, checkpoint=tmp_path / "run.st")
    result = run(network(), DATA, method, 8, checkpoint=tmp_path / "run.st")
    assert all((result.parameters[w] == x).all() for w, x in whole.parameters.items()) and len(result.history) == 8
    with pytest.raises(XManError, match=f"is of a run with optimizer {method}, not sgd"):
        run(network(), DATA, "sgd", checkpoint=tmp_path / "run.st")


@each_method
def test_validation_patience_and_threshold_are_heard(method):
    model = network()
    result = run(model, DATA, method, validation=(X[::2], np.cos(X[::2])), patience=2, epochs=100)
    assert result.reason == "no better for 2 epochs" and len(result.history) == result.best + 2
    assert run(model, DATA, method, threshold=1e9).reason == "no parameter moved by 1e+09 in epoch 1"


def test_at_a_minimum_it_ends_at_once():
    model = network(sizes=(1, 1))
    model.W1.default, model.b1.default = np.zeros((1, 1)), np.zeros((1, 1))
    result = run(model, (X, 0 * X), "gauss-newton")
    assert len(result.history) == 1 and result.history[0]["loss"] == 0 and result.reason.endswith("no step makes it smaller")


@each_method
def test_where_the_loss_is_nan_the_register_is_named(method):
    model = XMan()
    model.X, model.y, model.w = f.input(), f.input(), f.param(default=np.array([-1.0, 1.0]))
    model.loss = f.sum(f.squaredError(model.X @ f.log(model.w), model.y))
    with pytest.raises(Diverged) as error:
        run(model.setup(), (np.eye(2), np.ones(2)), method)
    assert str(error.value).startswith("epoch 1: the first register with a NaN is 'z1' (z1 = log(w)); look at the data")
    assert error.value.result.parameters["w"].tolist() == [-1, 1]


@pytest.mark.parametrize("name, value", [
    ("lr", 0.1), ("batch_size", 32), ("schedule", cosine(10)), ("weight_decay", 0.1), ("clip", 1.0), ("clip_value", 1.0)])
def test_settings_of_minibatches_are_refused(name, value):
    with pytest.raises(XManError) as error:
        run(network(), DATA, "gauss-newton", **{name: value})
    assert str(error.value) == ("gauss-newton takes all rows at once and finds the length of its steps itself: leave "
                                f"out {name}, or take an optimizer of first order")


def test_a_loss_that_is_no_sum_of_squares_or_cross_entropies_is_for_newton_cg_alone():
    data = R.normal(size=(20, 2)), R.integers(0, 3, 20)
    model = LogisticRegression(2, 3, dtype=np.float64, loss="hinge")
    with pytest.raises(XManError, match="hinge.*: this is no loss that Gauss–Newton knows to be convex"):
        run(model, data, "levenberg-marquardt")
    assert run(model, data, "newton-cg").history[-1]["loss"] < evaluate(model, {w: model.inputDict()[w] for w in "Wb"}, data)[0]


def test_a_loss_of_many_numbers_is_refused():
    model = XMan()
    model.X, model.y, model.w = f.input(), f.input(), f.param(default=np.ones((1, 1)))
    model.loss = f.squaredError(model.X @ model.w, model.y)
    with pytest.raises(TrainingError, match=r"the loss has shape \(40, 1\); it has to be one number: write f.mean"):
        run(model.setup(), DATA, "gauss-newton")


def test_a_name_that_is_none_is_told_of_them():
    with pytest.raises(XManError, match="there is no optimizer 'levenberg'; .*gauss-newton, levenberg-marquardt, newton-cg"):
        run(network(), DATA, "levenberg")


def test_turns_that_lower_the_model_by_hardly_anything_are_not_taken():
    """Curvatures from 1 to 1e-9, as of columns that are nearly alike: the residual falls slowly, the model is at its end."""
    curvatures, g, turns = np.geomspace(1, 1e-9, 400), np.geomspace(1, 1e-9, 400), []

    def times(v):
        turns.append(1)
        return curvatures * v
    model = lambda p: g @ p + p @ (curvatures * p) / 2
    short, counted = conjugate_gradients(times, g, 1e-12, gain=0.5), len(turns)
    assert model(short) < 0.85 * model(conjugate_gradients(times, g, 1e-12)) < 0 and 5 * counted < len(turns)
