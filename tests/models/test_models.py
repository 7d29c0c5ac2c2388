"""Facts about the models: their lists, their values against plain NumPy, their gradients, and what they refuse."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import ops
from xman import XManError, backprop, check, eval, f
from xman.models import LSTM, MLP, LogisticRegression

LOSSES = ["crossEntropy", "softmaxCrossEntropy", "sigmoidCrossEntropy", "squaredError", "hinge"]
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
N, FEATURES, STEPS, CLASSES = 5, 4, 3, 3
ROWS = np.random.default_rng(1).standard_normal((N, FEATURES))
SEQUENCES = np.random.default_rng(2).standard_normal((N, STEPS, FEATURES))
LABELS = np.array([0, 2, 1, 1, 0])
ONE_HOT = np.eye(CLASSES)[LABELS]


def logreg(**options):
    return LogisticRegression(FEATURES, CLASSES, dtype=np.float64, **options)


def mlp(**options):
    return MLP([FEATURES, 6, CLASSES], dtype=np.float64, **options)


def lstm(**options):
    return LSTM(FEATURES, 4, CLASSES, steps=STEPS, dtype=np.float64, **options)


MODELS = {"logreg": (logreg, ROWS), "mlp": (mlp, ROWS), "lstm": (lstm, SEQUENCES)}
each_model = pytest.mark.parametrize("make, X", MODELS.values(), ids=MODELS)
each_loss = pytest.mark.parametrize("loss", LOSSES)


def run(model, X, y):
    """(values, deltas) of the model's loss, and its outputs, for rows X and targets y."""
    steps = model.operationSequence(model.outputs, model.loss)
    values = eval(steps, model.inputDict(**model.feed(X, y)))
    return values, backprop(steps, values, loss=1.0)



def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# the same in plain NumPy


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def outputs_and_loss(z, loss):
    rows = np.arange(N)
    if loss in ("crossEntropy", "softmaxCrossEntropy"):
        return softmax(z), -np.log(softmax(z)[rows, LABELS]).mean()
    if loss == "sigmoidCrossEntropy":
        p = sigmoid(z)
        return p, -(ONE_HOT * np.log(p) + (1 - ONE_HOT) * np.log(1 - p)).mean()
    if loss == "squaredError":
        return z, 0.5 * ((z - ONE_HOT) ** 2).mean()
    margins = np.maximum(1 + z - z[rows, LABELS][:, None], 0)
    margins[rows, LABELS] = 0
    return z, margins.sum(1).mean()


def lstm_scores(w):
    h, c = np.zeros((N, 4)), np.zeros((N, 4))
    for t in range(STEPS):
        x = SEQUENCES[:, t]
        i, keep, o = (sigmoid(x @ w[f"W{k}"] + h @ w[f"U{k}"] + w[f"b{k}"]) for k in "ifo")
        c = keep * c + i * np.tanh(x @ w["Wc"] + h @ w["Uc"] + w["bc"])
        h = o * np.tanh(c)
    return h @ w["W2"] + w["b2"]


# the lists


def test_the_courses_mlp_is_these_nine_lines():
    model = MLP([10, 5, 4], activation="relu", last="relu", loss="crossEntropy")
    assert repr(model.operationSequence(model.loss)) == (
        "z1 = dot(X, W1)\nz2 = add(z1, b1)\nh1 = relu(z2)\nz3 = dot(h1, W2)\nz4 = add(z3, b2)\nscores = relu(z4)\n"
        "outputs = softmax(scores)\nz5 = crossEntropy(outputs, y)\nloss = mean(z5)")


@pytest.mark.parametrize("steps, lines, registers", [(10, 256, 283), (3, 81, 101)])
def test_the_courses_lstm_has_the_lines_and_registers_of_the_course(steps, lines, registers):
    model = LSTM(7, 5, 4, steps=steps)
    sequence = model.operationSequence(model.loss)
    assert (len(sequence), len(sequence) + len(sequence.inputs)) == (lines, registers)


@each_model
def test_the_inputs_of_the_list_that_are_no_parameters_are_those_that_feed_gives_and_the_first_states(make, X):
    model = make()
    inputs = {name for name in model.operationSequence(model.loss).inputs if model.isInput(name)}
    assert inputs - {"h0", "c0"} == set(model.feed(X, LABELS))


@each_model
def test_the_loss_of_a_batch_is_the_mean_of_the_losses_of_its_rows_by_one_and_the_same_list(make, X):
    model = make()
    steps = model.operationSequence(model.loss)
    loss = lambda X, y: eval(steps, model.inputDict(**model.feed(X, y)))["loss"]
    single = [loss(X[k:k + 1], LABELS[k:k + 1]) for k in range(N)]
    assert loss(X, LABELS) == pytest.approx(np.mean(single), rel=1e-12)


# values


@each_loss
def test_logistic_regression_is_what_numpy_gives(loss):
    model = logreg(loss=loss)
    values, _ = run(model, ROWS, LABELS)
    outputs, expected = outputs_and_loss(ROWS @ values["W"] + values["b"], loss)
    np.testing.assert_allclose(values["outputs"], outputs, rtol=1e-12)
    assert values["loss"] == pytest.approx(expected, rel=1e-12)


@each_loss
@pytest.mark.parametrize("last", [None, *ACTIVATIONS])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_mlp_is_what_numpy_gives(activation, last, loss):
    values, _ = run(mlp(activation=activation, last=last, loss=loss), ROWS, LABELS)
    z = ACTIVATIONS[activation](ROWS @ values["W1"] + values["b1"]) @ values["W2"] + values["b2"]
    outputs, expected = outputs_and_loss(ACTIVATIONS[last](z) if last else z, loss)
    np.testing.assert_allclose(values["outputs"], outputs, rtol=1e-12)
    assert values["loss"] == pytest.approx(expected, rel=1e-12)


@each_loss
@pytest.mark.parametrize("last", [None, *ACTIVATIONS])
def test_an_lstm_is_what_numpy_gives(last, loss):
    values, _ = run(lstm(last=last, loss=loss), SEQUENCES, LABELS)
    z = lstm_scores(values)
    outputs, expected = outputs_and_loss(ACTIVATIONS[last](z) if last else z, loss)
    np.testing.assert_allclose(values["outputs"], outputs, rtol=1e-12)
    assert values["loss"] == pytest.approx(expected, rel=1e-12)


def test_an_mlp_may_have_any_number_of_layers():
    values, _ = run(MLP([FEATURES, 7, 6, 5, CLASSES], dtype=np.float64), ROWS, LABELS)
    h = ROWS
    for k in (1, 2, 3):
        h = np.tanh(h @ values[f"W{k}"] + values[f"b{k}"])
    np.testing.assert_allclose(values["outputs"], softmax(h @ values["W4"] + values["b4"]), rtol=1e-12)


def test_an_mlp_without_a_hidden_layer_has_the_list_of_logistic_regression():
    flat, soft = MLP([FEATURES, CLASSES]), LogisticRegression(FEATURES, CLASSES)
    text = repr(flat.operationSequence(flat.loss))
    assert text.replace("W1", "W").replace("b1", "b") == repr(soft.operationSequence(soft.loss))


def test_the_penalty_adds_itself_times_the_norm_of_the_weights():
    (plain, plain_deltas), (values, deltas) = (run(logreg(penalty=p), ROWS, LABELS) for p in (0.0, 0.3))
    norm = np.linalg.norm(values["W"])
    assert values["loss"] == pytest.approx(plain["loss"] + 0.3 * norm, rel=1e-12)
    np.testing.assert_allclose(deltas["W"], plain_deltas["W"] + 0.3 * values["W"] / norm, rtol=1e-12)


@each_loss
def test_a_sparse_matrix_gives_logistic_regression_the_values_and_deltas_of_the_dense_one(loss):
    X = np.where(np.abs(ROWS) > 0.7, ROWS, 0)
    (dense, dense_deltas), (sparse, sparse_deltas) = (run(logreg(loss=loss), x, LABELS) for x in (X, csr_matrix(X)))
    assert sparse["loss"] == pytest.approx(dense["loss"], rel=1e-12)
    for name in ("W", "b"):
        np.testing.assert_allclose(sparse_deltas[name], dense_deltas[name], rtol=1e-12, atol=1e-15)


# gradients


def assert_checked(model, X):
    steps = model.operationSequence(model.loss)
    report = check(steps, model.inputDict(**model.feed(X, LABELS)))
    assert report.ok, str(report)
    assert {name for name in steps.inputs if model.isParam(name)} <= {entry.register for entry in report.entries}


@each_loss
@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_the_gradient_of_logistic_regression_is_that_of_differences(loss, penalty):
    assert_checked(logreg(loss=loss, penalty=penalty), ROWS)


@each_loss
@pytest.mark.parametrize("last", [None, *ACTIVATIONS])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_of_an_mlp_is_that_of_differences(activation, last, loss):
    assert_checked(mlp(activation=activation, last=last, loss=loss), ROWS)


@each_loss
@pytest.mark.parametrize("last", [None, "relu"])
def test_the_gradient_of_an_lstm_is_that_of_differences(last, loss):
    assert_checked(lstm(last=last, loss=loss), SEQUENCES)


# targets, seeds, precision


@each_loss
@each_model
def test_labels_and_one_hot_rows_give_the_same_loss_and_deltas(make, X, loss):
    (labels, left), (one_hot, right) = (run(make(loss=loss), X, y) for y in (LABELS, ONE_HOT))
    assert labels["loss"] == one_hot["loss"]
    assert all(np.array_equal(left[name], right[name]) for name in make().inputDict())


@each_model
def test_a_seed_reproduces_the_parameters_and_another_gives_others(make, X):
    first, same, other = (make(seed=seed).inputDict() for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], same[name]) for name in first)
    model = make()
    assert not any(np.array_equal(first[name], other[name]) for name in first if model.isParam(name))


@each_model
def test_two_instances_share_no_register(make, X):
    one, other = make(), make()  # held: ids of what is gone are given again
    assert not {id(r) for r in one.registers().values()} & {id(r) for r in other.registers().values()}


def test_weights_are_uniform_within_glorots_limit_and_biases_within_a_tenth():
    parameters = MLP([300, 200, 100]).inputDict()
    limit = np.sqrt(6 / 500)
    assert 0.99 * limit < np.abs(parameters["W1"]).max() <= limit and abs(parameters["W1"].mean()) < 0.01 * limit
    assert 0.09 < np.abs(parameters["b1"]).max() <= 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_loss
@pytest.mark.parametrize("make, X", [(lambda **o: LogisticRegression(FEATURES, CLASSES, penalty=0.5, **o), ROWS),
                                     (lambda **o: MLP([FEATURES, 5, CLASSES], **o), ROWS),
                                     (lambda **o: LSTM(FEATURES, 5, CLASSES, steps=STEPS, **o), SEQUENCES)], ids=MODELS)
def test_values_and_deltas_have_the_precision_of_the_parameters(make, X, loss, dtype):
    values, deltas = run(make(loss=loss, dtype=dtype), X.astype(dtype), LABELS)
    assert {x.dtype for name, x in values.items() if name != "y"} | {d.dtype for d in deltas.values()} == {np.dtype(dtype)}


def test_images_are_fed_as_flat_rows():
    images = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(MLP([12, 3]).feed(images, None)["X"], images.reshape(2, 12))


# what is refused


@pytest.mark.parametrize("sizes", [[], [4], [4, 0, 3], [4, -2, 3], [0, 3], [4, 2.5, 3], [4, "5", 3]], ids=str)
def test_sizes_that_make_no_mlp_are_refused(sizes):
    assert "layer" in refusal(MLP, sizes)


@pytest.mark.parametrize("call", [lambda: LogisticRegression(0, 3), lambda: LogisticRegression(4, 0), lambda: LSTM(4, 0, 3),
                                  lambda: LSTM(0, 4, 3), lambda: LSTM(4, 5, 0)])
def test_a_layer_of_no_numbers_is_refused(call):
    assert "at least one" in refusal(call)


@pytest.mark.parametrize("steps", [0, -1])
def test_an_lstm_that_reads_no_step_is_refused(steps):
    assert "steps" in refusal(LSTM, 4, 5, 3, steps=steps)


@pytest.mark.parametrize("call", [lambda **o: MLP([4, 5, 3], **o), lambda **o: MLP([4, 3], **o)], ids=["hidden", "none hidden"])
def test_an_unknown_activation_is_refused_with_those_that_there_are(call):
    said = refusal(call, activation="relo")
    assert said.startswith("there is no activation 'relo'; the activations are tanh, relu, sigmoid and")
    assert said.endswith("a function of your own; did you mean 'relu'?")


@pytest.mark.parametrize("activation", ["gelu", "leakyRelu", "sin", lambda h: h * f.sigmoid(1.7 * h)])
def test_an_activation_is_any_entrywise_operator_or_a_function_of_ones_own(activation):
    model = mlp(activation=activation)
    values, _ = run(model, ROWS, LABELS)
    entrywise = activation if callable(activation) else ops.G[activation]
    np.testing.assert_allclose(values["h1"], entrywise(ROWS @ values["W1"] + values["b1"]), rtol=1e-5, atol=1e-6)
    assert_checked(model, ROWS)


@pytest.mark.parametrize("call", [mlp, lstm])
def test_an_unknown_last_activation_is_refused_with_those_that_there_are(call):
    assert "'softmax'; the activations are tanh, relu, sigmoid and" in refusal(call, last="softmax")


@pytest.mark.parametrize("call", [logreg, mlp, lstm])
def test_an_unknown_loss_is_refused_with_those_that_there_are(call):
    message = refusal(call, loss="mse")
    assert "'mse'" in message and all(loss in message for loss in LOSSES)


@pytest.mark.parametrize("given", [STEPS - 1, STEPS + 1])
def test_sequences_of_another_length_than_the_lstms_are_refused_with_both_lengths(given):
    message = refusal(lstm().feed, np.zeros((N, given, FEATURES)), LABELS)
    assert str(given) in message and str(STEPS) in message


def test_the_targets_of_one_output_are_a_column_and_those_of_several_are_labels():
    for model, shape in ((LogisticRegression(3, 1), (4, 1)), (MLP([3, 1]), (4, 1)), (MLP([3, 2]), (4,))):
        assert model.feed(np.ones((4, 3)), np.zeros(4, int))["y"].shape == shape
