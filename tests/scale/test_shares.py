"""Workers that share the rows of a minibatch take the steps that one takes."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import ops
from xman import XMan, XManError, f, models
from xman.scale.cut import stages_of
from xman.train import OPTIMIZERS, Diverged, fit, step

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(37, 6)), RNG.integers(0, 3, 37)
QUICK = {"epochs": 2, "batch_size": 10, "lr": 0.01, "progress": False, "engine": "numpy"}


def apart(model, data=(X, y), pieces=3, **settings):
    """The greatest difference between the parameters of a fit in pieces and those of a fit at once."""
    one, several = (fit(model, data, accumulate=k, **{**QUICK, **settings}) for k in (1, pieces))
    return max(np.max(np.abs(one.parameters[w] - several.parameters[w])) for w in one.parameters)


def test_pieces_take_the_steps_of_the_whole_with_every_optimizer(monkeypatch):
    monkeypatch.setattr(step, "WORTH_COMPILING", 1)  # as in an epoch of many minibatches
    for optimizer in OPTIMIZERS:
        assert apart(models.MLP([6, 3], dtype=float), optimizer=optimizer, clip=0.5, l2=0.01) < 1e-12, optimizer


@pytest.mark.parametrize("settings", [{}, {"pieces": 13}, {"batch_size": 37}, {"class_weight": "balanced"},
                                      {"batch_size": 2, "epochs": 1}])  # of the last a piece may have no relu that is not 0
def test_batch_normalisation_noise_uneven_minibatches_and_pieces_without_rows(settings):
    assert apart(models.ResidualMLP(6, 5, 3, normalization="batch", dropout=0.3, dtype=float), **settings) < 1e-11


class Together(XMan):
    """A product of means, of a correlation, of what all rows share."""
    X, y = f.input(), f.input()
    w = f.param(default=np.full(6, 0.3))
    out = X @ w
    loss = f.sqrt(f.mean(f.square(out - y))) * f.mean(f.abs(out)) + f.var(out) / f.mean(f.square(X)) + 0.1 * f.sum(f.square(w))


class Offset(XMan):
    """A mean over rows, to which an array that stands in the list itself is added."""
    X, y = f.input(), f.input()
    w = f.param(default=np.full(6, 0.3))
    loss = f.sum(f.square(f.mean(X @ w - y) + np.array([0.1, 0.2])))


class Farthest(XMan):
    X, y = f.input(), f.input()
    w = f.param(default=np.full(6, 0.3))
    loss = f.max(f.abs(X @ w - y))


ops.elementwise("sharesCube", lambda x: x ** 3, lambda out, x: 3.0 * x ** 2)


def model_of(loss, **parameters):
    """A model of inputs X and y whose loss is loss(X, y, …) of its parameters."""
    inputs = {"X": f.input(), "y": f.input()} | {name: f.param(default=x) for name, x in parameters.items()}
    return type("Model", (XMan,), inputs | {"loss": loss(*inputs.values())})().setup()


COLUMN, TARGETS = np.full((6, 1), 0.2), RNG.normal(size=(37, 1))
MADE_UP = {
    "numbers": (lambda X, y, w, a, b: f.mean(f.square(a * (X @ w) + b - y)) + f.square(a), {"w": COLUMN, "a": 0.5, "b": 1.0}),
    "tied weights": (lambda X, y, W: f.mean(f.square(f.tanh(X @ W) @ f.transpose(W) - X)) + 0 * f.mean(y), {"W": np.eye(6, 4)}),
    "two heads": (lambda X, y, w, v: f.mean(f.square(X @ w - y)) + f.exp(-f.mean(f.abs(X @ v))), {"w": COLUMN, "v": -COLUMN}),
    "a correlation": (lambda X, y, w: 1 - f.mean((X @ w - f.mean(X @ w)) * y) / f.sqrt(f.var(X @ w) + 0.1), {"w": COLUMN}),
    "complex": (lambda X, y, w: f.mean(f.square(f.real(f.exp(1j * (X @ w))) - y)), {"w": COLUMN}),
    "a complex mean": (lambda X, y, w: -f.modulus(f.mean(f.exp(1j * (X @ w + y)))), {"w": COLUMN}),
    "complex arrays": (lambda X, y, w: f.mean(f.square(f.modulus(f.transpose(X) @ f.exp(1j * (X @ w + y))))), {"w": COLUMN}),
    "an operator of its own": (lambda X, y, w: f.mean(f.square(f.sharesCube(X @ w) - y)), {"w": COLUMN}),
    "no row": (lambda X, y, c: f.mean(f.square(0 * f.sum(X, 1) + c - f.sum(y, 1))), {"c": 0.0})}


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("settings", [{}, {"optimizer": "adam", "clip": 0.1}, {"lr": "first stays"}])
def test_pieces_take_the_steps_of_the_whole_for_models_of_all_kinds(name, settings):
    loss, parameters = MADE_UP[name]
    if "lr" in settings:
        settings = {"lr": {w: 0.01 * (k > 0 or len(parameters) == 1) for k, w in enumerate(parameters)}}
    assert apart(model_of(loss, **parameters), (X, TARGETS), **settings) < 1e-13


def test_a_list_is_cut_at_its_sums_with_what_they_need_before_them_and_nothing_that_no_output_needs():
    sums = [("d_here", "mul", ("w", "x")), ("d", "allreduce", ("d_here",))]
    rest = [("late", "half", ("x",)), ("w_next", "subtract", ("w", "d")), ("y", "add", ("late", "w_next"))]
    stages = stages_of([("unused", "exp", ("x",)), *rest[:1], *sums, *rest[1:]], ["y"])
    assert stages == [(sums[:1], {"d": "d_here"}), (rest, {})]


class Logarithm(XMan):
    X, y = f.input(), f.input()
    w = f.param(default=np.full(6, 0.3))
    score = f.log(X @ w)
    loss = f.mean(f.square(score - y))


@pytest.mark.parametrize("row", [1, 8])
def test_the_register_that_turned_nan_is_named_whichever_piece_has_its_row(row):
    rows = np.abs(X[:9]) + 0.1
    rows[row] = -1
    with np.errstate(all="ignore"), pytest.raises(Diverged, match="'score'"):
        fit(Logarithm().setup(), (rows, np.ones(9)), accumulate=3, **QUICK)


def test_machine_code_takes_the_steps_of_the_whole_in_pieces():
    assert apart(models.MLP([6, 5, 3]), engine="llvm") < 1e-6


def test_losses_that_take_rows_together_by_means_and_sparse_rows():
    assert apart(Together().setup()) < 1e-12 and apart(Offset().setup()) < 1e-12
    assert apart(models.LogisticRegression(6, 3), (csr_matrix(X.astype("float32")), y)) < 1e-5


@pytest.mark.parametrize("settings, model, said", [({}, Farthest().setup(), r"max\(.*other than a sum or a mean"),
                                                   ({"pieces": 0}, Together().setup(), "at least 1"),
                                                   ({"pieces": 1.5}, Together().setup(), "at least 1")])
def test_what_cannot_be_shared_is_refused(settings, model, said):
    with pytest.raises(XManError, match=said):
        apart(model, **settings)
