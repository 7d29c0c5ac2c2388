"""Facts about fit, evaluate and predict: the updates, what is kept, when a run ends, and what is refused."""

import re

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, lil_matrix

from xman import XMan, XManError, f, minimize
from xman.models import MLP, LogisticRegression
from xman.train import Diverged, evaluate, fit, predict

RANDOM = np.random.default_rng(0)
LABELS = np.arange(48) % 3
X = (np.eye(3, 4)[LABELS] * 2 + 0.4 * RANDOM.standard_normal((48, 4))).astype(np.float32)
DATA, ONE_HOT = (X, LABELS), np.eye(3, dtype=np.float32)[LABELS]
TARGETS = X.astype(float) @ [[1.0], [-2.0], [0.5], [0.0]] + 0.1


class Line(XMan):
    """Least squares, without a feed of its own."""
    X, y = f.input(), f.input()
    w = f.param(default=np.zeros((4, 1)))
    loss = f.mean(f.squaredError(X @ w, y))


class Point(XMan):
    """One number that goes to the mean of the targets."""
    X, y = f.input(), f.input()
    w = f.param(default=0.0)
    loss = f.mean(f.squaredError(X * w, y))


def changed(**attributes):
    """A Point with these attributes."""
    model = Point()
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


ONES = np.ones((4, 1))
TO_ONE, TO_HALF = (ONES, ONES), (ONES, ONES / 2)


def small(seed=0, **options):
    return MLP([4, 5, 3], seed=seed, **options)


def train(model=None, data=DATA, **settings):
    return fit(model or small(), data, **{"progress": False, "epochs": 3, "batch_size": 10, **settings})


def refusal(call, *args, error=XManError, **named):
    """The message of the error that the call raises: one line."""
    with pytest.raises(error) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def same(a, b):
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def by_hand(optimizer, lr):
    """The weights of Line after three steps over all rows."""
    w, v, m, s = np.zeros((4, 1)), 0.0, 0.0, 0.0
    for t in (1, 2, 3):
        d = X.T @ (X @ w - TARGETS) / len(X)
        if optimizer == "sgd":
            w = w - lr * d
        elif optimizer == "momentum":
            v = 0.9 * v - lr * d
            w = w + v
        else:
            m, s = 0.9 * m + 0.1 * d, 0.999 * s + 0.001 * d ** 2
            w = w - lr * (m / (1 - 0.9 ** t)) / (np.sqrt(s / (1 - 0.999 ** t)) + 1e-8)
    return w


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_three_steps_are_those_written_by_hand(optimizer):
    result = train(Line(), (X.astype(float), TARGETS), optimizer=optimizer, lr=0.05, batch_size=48)
    np.testing.assert_allclose(result.parameters["w"], by_hand(optimizer, 0.05), rtol=1e-10)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_each_optimizer_learns_the_classes(optimizer):
    result = train(optimizer=optimizer, lr=0.05, epochs=40, validation=DATA)
    assert result.history[-1]["validation_accuracy"] == 1.0


def test_each_row_is_seen_once_an_epoch():
    seen, model = [], small()
    model.feed = lambda X, y: seen.extend(X[:, 0]) or MLP.feed(model, X, y)
    train(model, epochs=1)
    assert sorted(seen[1:]) == sorted(X[:, 0])  # the first is a look at the shapes


def test_the_precision_of_the_parameters_is_kept():
    assert {w.dtype for w in train(optimizer="adam").parameters.values()} == {np.dtype(np.float32)}


def test_a_parameter_that_begins_as_an_integer_is_trained_as_a_float():
    model = changed(w=(w := f.param(default=2)), loss=f.mean(f.squaredError(Point.X * w, Point.y)))
    assert train(model, TO_ONE, epochs=1, lr=0.25).parameters["w"] == 1.75


def test_the_history_counts_the_epochs_and_has_loss_adjustment_and_seconds():
    history = train().history
    assert [row["epoch"] for row in history] == [1, 2, 3] and set(history[0]) == {"epoch", "loss", "adjustment", "seconds"}


def test_the_loss_of_an_epoch_is_the_mean_over_its_rows_also_where_the_last_batch_is_small():
    loss, _ = evaluate(small(), small().inputDict(), DATA)
    assert train(epochs=1, lr=1e-12, batch_size=11).history[0]["loss"] == pytest.approx(loss, rel=1e-5)


def test_the_parameters_kept_are_those_of_the_best_validation_loss_and_not_the_last():
    result = train(Point(), TO_ONE, validation=TO_HALF, epochs=30, lr=0.1)
    losses = [row["validation_loss"] for row in result.history]
    assert result.best == 1 + int(np.argmin(losses)) < 30
    assert evaluate(Point(), result.parameters, TO_HALF)[0] == min(losses) < losses[-1]


def test_patience_ends_a_run_so_many_epochs_after_the_best():
    result = train(Point(), TO_ONE, validation=TO_HALF, epochs=30, lr=0.1, patience=3)
    assert len(result.history) == result.best + 3 and result.reason == "no better for 3 epochs"


def test_a_validation_loss_that_stays_the_same_is_no_better():
    result = train(Point(), TO_ONE, validation=TO_HALF, epochs=30, lr=1e-300, patience=3)
    assert result.best == 1 and len(result.history) == 4


def test_a_threshold_ends_a_run_at_the_first_epoch_that_moves_no_parameter_by_more():
    result = train(Point(), TO_ONE, epochs=200, lr=0.5, threshold=1e-3)
    *before, last = [row["adjustment"] for row in result.history]
    assert last <= 1e-3 < min(before) and "no parameter moved by 0.001" in result.reason


def test_no_epochs_give_the_parameters_as_they_were():
    result = train(epochs=0)
    assert same(result.parameters, small().inputDict())
    assert (result.history, result.best, result.reason) == ([], 0, "all 0 epochs done")


def test_one_seed_gives_the_same_bits_and_another_does_not():
    first, again, other = (train(seed=seed).parameters for seed in (5, 5, 6))
    assert same(first, again) and not same(first, other)


def test_neither_the_model_nor_the_data_are_changed():
    model, x, y = small(), X.copy(), LABELS.copy()
    before = model.inputDict()
    train(model, (x, y), validation=(x, y), optimizer="adam")
    assert same(model.inputDict(), before) and same({"X": x, "y": y}, {"X": X, "y": LABELS})


@pytest.mark.parametrize("rows", [1, 48])
def test_a_batch_larger_than_the_data_is_all_of_them(rows):
    data = X[:rows], LABELS[:rows]
    assert same(train(data=data, batch_size=1000).parameters, train(data=data, batch_size=rows).parameters)


def test_labels_and_one_hot_rows_train_to_the_same_bits_and_accuracy():
    labels, one_hot = (train(data=(X, y), validation=(X, y)) for y in (LABELS, ONE_HOT))
    assert same(labels.parameters, one_hot.parameters)
    assert labels.history[-1]["validation_accuracy"] == one_hot.history[-1]["validation_accuracy"]


def test_two_classes_of_one_output_have_an_accuracy():
    model, y = MLP([4, 1], loss="sigmoidCrossEntropy"), (LABELS == 1).astype(int)
    assert train(model, (X, y), validation=(X, y), epochs=30, lr=1.0).history[-1]["validation_accuracy"] == 1.0


def test_outputs_that_are_a_vector_have_the_accuracy_of_a_column():
    ones, loss = (np.ones(4), np.ones((4, 1))), f.mean(Point.w * Point.X)
    models = [changed(outputs=f.sigmoid(f.dot(Point.X, w)), loss=loss) for w in ones]
    (_, one), (_, other) = (evaluate(model, {"w": 1.0}, (X, (LABELS == 1).astype(int))) for model in models)
    assert one == other > 0


@pytest.mark.parametrize("y", [TARGETS, (3 * TARGETS[:, 0]).round().astype(int)], ids=["floats", "whole numbers"])
def test_the_numbers_of_a_regression_have_no_accuracy(y):
    history = train(MLP([4, 1], loss="squaredError"), (X, y), validation=(X, y)).history
    assert "validation_loss" in history[0] and "validation_accuracy" not in history[0]


@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix, coo_matrix, lil_matrix])
def test_a_sparse_matrix_of_any_kind_trains_as_the_dense_one(kind):
    x = np.where(np.abs(X) > 0.5, X, 0)
    sparse, dense = (train(LogisticRegression(4, 3), (m, LABELS), validation=(m, LABELS)) for m in (kind(x), x))
    np.testing.assert_allclose(sparse.parameters["W"], dense.parameters["W"], rtol=1e-4)
    assert sparse.history[-1]["validation_accuracy"] == dense.history[-1]["validation_accuracy"]


@pytest.mark.parametrize("size", [0, -1, 1.5])
def test_a_batch_that_has_no_rows_is_refused(size):
    with pytest.raises(XManError, match="batch_size is a whole number of at least 1, not"):
        evaluate(small(), small().inputDict(), DATA, batch_size=size)


@pytest.mark.parametrize("model", [None, MLP, {}])
def test_a_model_that_is_none_is_refused(model):
    with pytest.raises(XManError, match="the model is an XMan, not a"):
        evaluate(model, {}, DATA)


@pytest.mark.parametrize("judged", [lambda p: evaluate(small(), p, DATA), lambda p: predict(small(), p, X)])
@pytest.mark.parametrize(("change", "words"), [
    (lambda p: {**p, "W9": p["W1"]}, "the model has no register 'W9'"),
    (lambda p: {**p, "outputs": p["W1"]}, "'outputs' is computed by the model and no parameter"),
    (lambda p: {name: w for name, w in p.items() if name != "W1"}, "the parameters lack 'W1'"),
    (lambda p: {}, "the parameters lack 'W1', 'b1'"),
    (lambda p: None, "parameters are a dict, as fit(…).parameters is, not a NoneType")],
    ids=["unknown", "computed", "one missing", "none", "None"])
def test_parameters_that_are_not_the_models_are_refused(judged, change, words):
    with pytest.raises(XManError, match=re.escape(words)):
        judged(change(small().inputDict()))


def test_evaluate_gives_the_same_in_batches_of_any_size():
    whole, parts = (evaluate(small(), small().inputDict(), DATA, batch_size=size) for size in (48, 7))
    assert whole == pytest.approx(parts, rel=1e-6)


def test_evaluate_and_predict_agree_on_the_accuracy():
    parameters = train().parameters
    p = predict(small(), parameters, X)
    assert p.shape == (48, 3) and evaluate(small(), parameters, DATA)[1] == np.mean(p.argmax(1) == LABELS)


# a run that goes wrong


class Log(XMan):
    X, y = f.input(), f.input()
    w = f.param(default=1.0)
    score = f.log(X * w)
    loss = f.mean(score * y)


class Root(XMan):
    """Its values are all finite; the delta of `inside` is infinite and that of w is 0 times that."""
    X, y = f.input(), f.input()
    w = f.param(default=1.0)
    inside = X * w
    loss = f.mean(f.sqrt(inside) * y)


def test_a_logarithm_of_a_negative_number_is_named_with_its_line():
    message = refusal(train, Log(), (np.array([[1.0], [-1.0]]), ONES[:2]), error=Diverged)
    assert "epoch 1, minibatch 1" in message and "'score' (score = log(z1))" in message


def test_a_learning_rate_that_explodes_is_named_with_a_register():
    message = refusal(train, Line(), (X.astype(float), TARGETS), lr=1e30, epochs=50, error=Diverged)
    assert re.search(r"epoch \d+, minibatch \d+: .*(register|delta).* '\w+'.*learning rate below 1e\+30", message)


def test_a_nan_that_arises_in_a_delta_alone_stops_the_run_at_that_step():
    message = refusal(train, Root(), (np.zeros((2, 1)), ONES[:2]), epochs=1, error=Diverged)
    assert "epoch 1, minibatch 1" in message and "delta" in message and "'inside'" in message


def test_a_validation_loss_that_is_nan_stops_the_run():
    assert "validation" in refusal(train, Log(), TO_ONE, validation=(-ONES, ONES), error=Diverged)


def test_what_had_been_reached_before_the_nan_is_kept():
    model, calls = small(), []
    model.feed = lambda x, y: calls.append(1) or MLP.feed(model, x * (np.nan if len(calls) == 9 else 1), y)
    with pytest.raises(Diverged, match="epoch 2, minibatch 3: .*'X'") as caught:
        train(model)
    assert same(caught.value.result.parameters, train(epochs=1).parameters) and len(caught.value.result.history) == 1


def test_what_is_kept_of_a_run_that_diverged_has_a_finite_loss():
    with pytest.raises(Diverged) as caught:  # log w descends from 1 by way of 0.4 to -1.1
        train(Log(), TO_ONE, lr=0.6, epochs=9)
    assert np.isfinite(evaluate(Log(), caught.value.result.parameters, TO_ONE)[0])


# what is refused


@pytest.mark.parametrize("data, words", [
    ((X, LABELS[:-1]), ["(48, 4)", "(47,)", "rows"]),
    ((X[:0], LABELS[:0]), ["no rows"]),
    ((np.where(np.arange(48)[:, None] == 7, np.nan, X), LABELS), ["X", "NaN", "(7, 0)"]),
    ((csr_matrix(np.diag([1, 1, np.nan, 1])), LABELS[:4]), ["X", "NaN", "(2, 2)"]),
    ((X, np.where(LABELS == 1, np.inf, LABELS)), ["y", "infinity", "(1,)"]),
    ((X.astype(str), LABELS), ["X", "not numbers"]),
    ((X, np.where(LABELS == 1, None, "a")), ["y", "not numbers"]),
    ((X[:, :3], LABELS), ["line 1, z1 = dot(X, W1)", "(10, 3)", "(4, 5)"]),
    ((X, LABELS + 1), ["softmaxCrossEntropy", "label 3", "3 classes"]),
    (X, ["pair (X, y)"]),
], ids=["rows", "empty", "nan", "sparse nan", "infinite", "text", "labels", "shape", "classes", "no pair"])
def test_data_that_do_not_fit_are_refused_with_what_and_where(data, words):
    message = refusal(train, data=data)
    assert all(word in message for word in words), message


def test_bad_validation_data_are_refused_by_that_name_before_the_training():
    assert refusal(train, validation=(X, LABELS[:-1])).startswith("validation")


@pytest.mark.parametrize("settings, words", [
    ({"lr": 0}, "learning rate"), ({"lr": -0.1}, "learning rate"), ({"lr": np.nan}, "learning rate"),
    ({"lr": np.inf}, "learning rate has to be"), ({"lr": "0.1"}, "learning rate"), ({"optimizer": "adm"}, "did you mean 'adam'"),
    ({"batch_size": 0}, "batch_size"), ({"batch_size": 2.5}, "batch_size"), ({"epochs": -1}, "epochs"),
    ({"epochs": 2.5}, "epochs is a whole number of at least 0, not 2.5"), ({"patience": 1.5}, "patience is a whole"),
    ({"callbacks": len}, "callbacks is a list of functions, not <built-in function len>"),
    ({"callbacks": [len, 3]}, "callbacks is a list of functions, not [<built-in function len>, 3]"),
    ({"checkpoint_every": "x"}, "checkpoint_every is a number of at least 0, not 'x'"),
    ({"plot": 3}, "the plot 3 cannot be written"),
    ({"patience": 0}, "patience"), ({"threshold": -1.0}, "threshold"), ({"seed": -1}, "seed")], ids=str)
def test_settings_that_cannot_be_are_refused_by_name(settings, words):
    assert words in refusal(train, **settings)


def test_the_number_of_epochs_may_be_an_integer_of_numpy():
    assert train(epochs=np.int64(2)).reason == "all 2 epochs done"


def test_a_batch_size_may_be_an_integer_of_numpy():
    assert same(train(batch_size=np.int64(10)).parameters, train().parameters)


@pytest.mark.parametrize("model, words", [
    (changed(loss=f.squaredError(Point.X * Point.w, Point.y)), "f.mean"),
    (changed(loss=f.mean(Point.X)), "no parameter"),
    (changed(v=(v := f.param()), loss=f.mean(Point.X * v)), "'v' has no value to begin with"),
    (changed(loss=None), "loss"),
    (XMan(), "no register 'loss'"),
], ids=["no number", "no parameter", "no default", "None", "no loss"])
def test_a_model_that_cannot_be_trained_is_refused_with_what_to_write(model, words):
    assert words in refusal(train, model, TO_ONE)


@pytest.mark.parametrize("judge", [train, minimize, lambda model, data: evaluate(model, model.inputDict(), data)])
@pytest.mark.parametrize(("w", "y"), [(np.zeros(4), TARGETS), (np.zeros((4, 1)), TARGETS[:, 0])], ids=["vector", "column"])
def test_predictions_do_not_meet_all_targets(judge, w, y):
    model = changed(w=(w := f.param(default=w)), loss=f.mean(f.square(f.dot(Point.X, w) - Point.y)))
    assert "give predictions and targets one shape" in refusal(judge, model, (X.astype(float), y))


def test_a_nan_is_explained_with_the_line_of_the_models_file():
    message = refusal(train, Log(), (np.array([[1.0], [-1.0]]), ONES[:2]), explain=True, error=Diverged)
    assert re.search(r"; loss is NaN: line \d, score = log\(z1\) \(test_fit.py:\d+\), is NaN at z1 = -1; try", message)
    message = refusal(train, Root(), (np.zeros((2, 1)), ONES[:2]), epochs=1, explain=True, error=Diverged)
    assert re.search(r"; dloss_dw is NaN: line \d, z\d = sqrt\(inside\) \(test_fit.py:\d+\), has an infinite slope", message)


class WrittenOut(XMan):
    """Euler's method for a state of two numbers, with lines for each of its steps."""

    def __init__(self):
        self.X, self.y, h = f.input(), f.input(), None
        self.W = f.param(default=np.array([[0.3, -0.2], [0.1, 0.2]]))
        for _ in range(300):
            h = (self.X if h is None else h) + 0.01 * f.tanh((self.X if h is None else h) @ self.W)
        self.h, self.loss = h, f.mean(f.square(h - self.y))


def test_a_loss_that_is_written_out_is_differentiated_as_a_loop(monkeypatch):
    from xman.passes.loops import roll
    from xman.train import step

    lengths, compiled = [], step.Compiled
    monkeypatch.setattr(step, "Compiled", lambda *args, **options: lengths.append(len(args[0])) or compiled(*args, **options))
    rows = X[:20, :2].astype(float), X[:20, 2:].astype(float)
    loops = fit(WrittenOut(), rows, epochs=2, batch_size=8, lr=0.5)
    assert len(lengths) == 2 and max(lengths) < 60  # for minibatches of 8 rows and of 4
    monkeypatch.setattr(roll, "WRITTEN_OUT", 10 ** 6)
    lines = fit(WrittenOut(), rows, epochs=2, batch_size=8, lr=0.5)
    assert min(lengths[2:]) > 1_500
    np.testing.assert_allclose(loops.parameters["W"], lines.parameters["W"], rtol=1e-9)
