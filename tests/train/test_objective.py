"""Facts about what fit makes smaller: weights of rows and classes, penalties, inputs that are drawn, inputs that run."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from xman import XMan, XManError, eval, f
from xman.models import LSTM, MLP, AdaptiveBasis, LogisticRegression
from xman.scale.draws import Draws
from xman.train import evaluate, fit, predict
from xman.train.objective import Objective

R = np.random.default_rng(4)
X, LABELS = R.standard_normal((12, 4)), np.arange(12) % 3
NUMBERS = X @ [[1.0], [-2.0], [0.5], [0.0]] + 0.1
TIMES = np.array([1, 2, 0, 3, 1, 1, 0, 2, 1, 4, 1, 1])
SEQUENCES = R.standard_normal((12, 2, 3))


def softmax_regression(**options):
    return LogisticRegression(4, 3, dtype=np.float64, **options)


def train(model, data, **settings):
    return fit(model, data, **{"progress": False, "epochs": 3, "batch_size": 100, **settings}).parameters


def assert_same(a, b, rtol=1e-9):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol, 1e-12, err_msg=name)


def refusal(call, *args, **named):
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# weights


class Huberless(XMan):
    """A loss of several parts, one of which has no rows, of rows that are vectors."""
    X, y = f.input(), f.input()
    w = f.param(default=np.full(4, 0.1))
    out = f.sum(X * w, 1)
    loss = 0.5 * f.mean(f.square(out - y)) + f.half(f.mean(f.abs(out)) / 3.0) - 0.01 * f.sum(f.square(w))


@pytest.mark.parametrize("model, data", [
    (softmax_regression(penalty=0.1), (X, LABELS)), (softmax_regression(), (csr_matrix(X), LABELS)),
    (softmax_regression(), (X, np.eye(3)[LABELS])),
    (MLP([4, 5, 3], dtype=np.float64, loss="squaredError"), (X, LABELS)),
    (LSTM(3, 4, 3, steps=2, dtype=np.float64), (SEQUENCES, LABELS)),
    (AdaptiveBasis("tanh", 3, columns=4, low=-3, high=3, dtype=np.float64), (X, NUMBERS)), (Huberless(), (X, NUMBERS[:, 0]))],
    ids=["softmax", "sparse", "one-hot", "squares", "lstm", "a sum", "parts"])
def test_a_row_of_weight_n_counts_as_n_rows(model, data):
    many = tuple(a[np.repeat(np.arange(12), TIMES)] for a in data)
    settings = {"lr": 0.01, "l2": 0.01}
    assert_same(train(model, data, sample_weight=TIMES, **settings), train(model, many, **settings))


def test_weights_belong_to_rows_also_in_minibatches():
    once = {"batch_size": 5, "epochs": 1, "lr": 1e-7}  # so small that the steps add up to the gradient
    moved = [train(softmax_regression(), (X, LABELS), sample_weight=w, **once)["W"] for w in (TIMES, TIMES * 7)]
    np.testing.assert_allclose(*moved, atol=1e-13)
    start, total = softmax_regression().inputDict()["W"], 0.0
    for some in np.split(np.random.default_rng([0, 1]).permutation(12), [5, 10]):
        d = train(softmax_regression(), (X[some], LABELS[some]), sample_weight=TIMES[some], epochs=1, lr=1e-7)["W"] - start
        total = total + d * TIMES[some].mean() / TIMES.mean()
    np.testing.assert_allclose(moved[0] - start, total, atol=1e-12)


def test_balanced_classes_weigh_the_same_together():
    labels = np.array([0] * 7 + [1] * 3 + [2] * 2)
    by_class = {0: 12 / 21, 1: 12 / 9, 2: 12 / 6}
    balanced, said, rows = (train(softmax_regression(), (X, labels), **w) for w in (
        {"class_weight": "balanced"}, {"class_weight": by_class}, {"sample_weight": [by_class[c] for c in labels]}))
    assert_same(balanced, said)
    assert_same(balanced, rows)
    both = train(softmax_regression(), (X, labels), class_weight={1: 5}, sample_weight=TIMES)
    assert_same(both, train(softmax_regression(), (X, labels), sample_weight=np.where(labels == 1, 5, 1) * TIMES))


def test_weights_are_lines_of_the_list():
    objective = Objective(softmax_regression(), (X, LABELS), sample_weight=TIMES)
    assert repr(objective.steps).splitlines()[-3:] == [
        "loss_rows = mul(z2, sample_weight_2)", "loss_weighted = mean(loss_rows)",
        f"loss = divide(loss_weighted, {float(TIMES.mean())})"]


class Product(XMan):
    """No sum over rows."""
    X, y = f.input(), f.input()
    w = f.param(default=np.zeros((4, 1)))
    loss = f.mean(f.squaredError(X @ w, y)) * f.mean(f.abs(X @ w))


@pytest.mark.parametrize("settings, model, said", [
    ({"sample_weight": [1.0, 2.0]}, None, "sample_weight is one number for each of the 12 rows, not float64 of shape (2,)"),
    ({"sample_weight": ["a"] * 12}, None, "sample_weight is one number for each of the 12 rows"),
    ({"sample_weight": -np.ones(12)}, None, "a weight is at least 0"), ({"sample_weight": np.zeros(12)}, None, "more than 0"),
    ({"sample_weight": np.full(12, np.nan)}, None, "at least 0 and finite"),
    ({"class_weight": {7: 1.0}}, None, "class_weight has a weight for 7, which is no class of the data; there are 0, 1, 2"),
    ({"class_weight": "even"}, None, "class_weight is 'balanced' or a dict"), ({"class_weight": {0: -1}}, None, "at least 0"),
    ({"sample_weight": TIMES}, Product(), "loss = mul(z3, z6): weights are for a loss that is a mean or a sum"),
    ({"l2": -1}, None, "l2 is a number of at least 0"), ({"l1": "much"}, None, "l1 is a number of at least 0"),
    ({"l1": {"V": 1.0}}, None, "l1 has a penalty for 'V', which is no parameter of the loss; there are W, b")])
def test_weights_and_penalties_that_cannot_be_are_refused(settings, model, said):
    assert said in refusal(train, model or softmax_regression(), (X, LABELS if model is None else NUMBERS), **settings)


def test_numbers_have_no_class_weights():
    assert "give each row its own by sample_weight" in refusal(train, Huberless(), (X, NUMBERS[:, 0]), class_weight="balanced")


# penalties


def test_of_plain_descent_l2_is_the_weight_decay_of_what_it_names():
    both = {"W": 0.3, "b": 0.3}
    assert_same(train(softmax_regression(), (X, LABELS), l2=both), train(softmax_regression(), (X, LABELS), weight_decay=0.3))


def test_a_number_is_for_all_parameters_but_those_that_are_only_added():
    assert_same(train(softmax_regression(), (X, LABELS), l2=0.3, l1=0.1),
                train(softmax_regression(), (X, LABELS), l2={"W": 0.3}, l1={"W": 0.1}))


def test_l1_and_l2_are_in_the_loss_and_much_l1_leaves_no_weights():
    objective = Objective(softmax_regression(), (X, LABELS), l1=0.5, l2=0.25)
    values = eval(objective.steps, objective.inputs)
    W = values["W"]
    assert values[objective.loss] == pytest.approx(values["loss"] + 0.5 * np.abs(W).sum() + 0.125 * np.square(W).sum())
    assert np.abs(train(softmax_regression(), (X, LABELS), l1=2.0, lr=1e-3, epochs=600)["W"]).max() < 5e-3


# what is drawn


def test_what_is_drawn_for_a_row_depends_on_the_seed_the_epoch_and_the_row_alone():
    rows = np.arange(20)
    whole = Draws(5, 2, rows)
    first, second = whole.random((20, 4)), whole.random((20, 2))
    some = Draws(5, 2, rows[[7, 3]])
    assert np.array_equal(some.random((2, 4)), first[[7, 3]]) and np.array_equal(some.random((2, 2)), second[[7, 3]])
    others = [Draws(6, 2, rows).random((20, 4)), Draws(5, 3, rows).random((20, 4)), first[:, ::-1], first[::-1]]
    assert not any((first == other).any() for other in others)
    assert "a row for each of the 20, and (3, 20) has not" in refusal(whole.random, (3, 20))


def test_what_is_drawn_is_uniform_or_normal_and_independent():
    from scipy.stats import kstest
    draws = Draws(0, 1, np.arange(500))
    u, z = draws.random((500, 40), dtype=np.float32), draws.standard_normal((500, 40))
    assert u.dtype == np.float32 and 0 <= u.min() and u.max() < 1
    assert kstest(u.ravel(), "uniform").pvalue > 0.01 and kstest(z.ravel(), "norm").pvalue > 0.01
    both = np.corrcoef(np.hstack([u[:-1], u[1:], z[:-1]]).T) - np.eye(120)
    assert np.abs(both).max() < 5 / np.sqrt(499)


class Dropout(XMan):
    """Softmax regression of inputs half of which are left out."""
    X, y, kept = f.input(), f.input(), f.input(default=1.0)
    W = f.param(default=np.zeros((4, 3)))
    outputs = f.softmax((X * kept) @ W)
    loss = f.mean(f.crossEntropy(outputs, y))

    def draw(self, random, rows):
        self.seen = [*getattr(self, "seen", []), rows]
        return {"kept": 2.0 * (random.random((len(rows), 4)) < 0.5)}


def test_fit_draws_what_a_model_asks_for_and_evaluation_takes_the_default():
    model, kept = Dropout(), 2.0 * (Draws(3, 1, np.arange(12)).random((12, 4)) < 0.5)
    found = train(model, (X, LABELS), epochs=1, lr=0.1, seed=3)
    assert_same(found, {"W": -0.1 * (X * kept).T @ (1 / 3 - np.eye(3)[LABELS]) / 12})
    scores = np.exp(X @ found["W"])
    np.testing.assert_allclose(predict(model, found, X), scores / scores.sum(1, keepdims=True))
    train(model, (X, LABELS), epochs=1, batch_size=5)
    assert sorted(np.concatenate(model.seen[-3:])) == [*range(12)]


def test_a_run_with_drawn_inputs_goes_on_to_the_same_bits(tmp_path):
    pytest.importorskip("safetensors")
    settings = {"batch_size": 5, "checkpoint": tmp_path / "run.safetensors"}
    train(Dropout(), (X, LABELS), **settings, epochs=2)
    assert_same(train(Dropout(), (X, LABELS), **settings, epochs=4), train(Dropout(), (X, LABELS), batch_size=5, epochs=4), 0)


class Centred(XMan):
    """Softmax regression of inputs less a running mean of them, which a step updates; in training less the minibatch's own."""
    X, y, center, training = f.input(), f.input(), f.input(default=np.zeros(4)), f.input(default=0.0)
    W = f.param(default=np.zeros((4, 3)))
    here = f.mean(X, 0)
    center_next = 0.9 * center + 0.1 * here
    outputs = f.softmax((X - (training * here + (1 - training) * center)) @ W)
    loss = f.mean(f.crossEntropy(outputs, y))
    running = "center",

    def draw(self, random, rows):
        return {"training": 1.0}


def test_inputs_that_run_are_updated_by_each_step_and_belong_to_the_result(tmp_path):
    data, mean = (X + 5, LABELS), np.zeros(4)
    result = fit(Centred(), data, validation=data, batch_size=5, epochs=4, progress=False)
    for epoch in range(1, result.best + 1):
        order = np.random.default_rng([0, epoch]).permutation(12)
        for k in (0, 5, 10):
            mean = 0.9 * mean + 0.1 * data[0][order[k:k + 5]].mean(0)
    np.testing.assert_allclose(result.parameters["center"], mean)
    assert evaluate(Centred(), result.parameters, data)[0] == result.history[result.best - 1]["validation_loss"]
    pytest.importorskip("safetensors")
    settings = {"batch_size": 5, "checkpoint": tmp_path / "run.safetensors"}
    train(Centred(), data, **settings, epochs=2)
    assert_same(train(Centred(), data, **settings, epochs=4), train(Centred(), data, batch_size=5, epochs=4), 0)


def changed(base, **attributes):
    return type("Changed", (base,), attributes)()


def test_what_is_drawn_or_runs_and_cannot_is_refused():
    bare = changed(Dropout, kept=(kept := f.input()), loss=f.mean(f.square((Dropout.X * kept) @ Dropout.W)))
    assert "'kept' is drawn, and has no value for evaluation" in refusal(train, bare, (X, LABELS))
    assert "the model has no register 'mask'" in refusal(train, changed(Dropout, draw=lambda *_: {"mask": 1.0}), (X, LABELS))
    assert "has no register 'W_next'" in refusal(train, changed(Dropout, running=("W",)), (X, LABELS))
    assert "model draws inputs" in refusal(fit, Dropout(), (X, LABELS), optimizer="newton-cg")


# callbacks


def test_callbacks_see_each_epoch_add_to_its_row_and_end_the_run():
    seen = []

    def watch(row, parameters):
        seen.append(parameters["W"])
        row["norm"] = np.linalg.norm(parameters["W"])
        return "that is enough" if row["epoch"] == 3 else None

    result = fit(softmax_regression(), (X, LABELS), epochs=9, progress=False, callbacks=[watch])
    assert result.reason == "that is enough" and len(result.history) == len(seen) == 3
    assert [row["norm"] for row in result.history] == [np.linalg.norm(W) for W in seen] and (seen[0] != seen[2]).all()
