"""Facts about the zoo: every list against differences, and every model fitted on real data, beside a peer where it has one."""

import os

import numpy as np
import pytest

import xman
from xman import XManError, backprop, check, compile, eval, files, gradient
from xman.models import (
    GRU,
    LSTM,
    MLP,
    RNN,
    Autoencoder,
    ConvolutionalNetwork,
    GaussianMixture,
    LinearRegression,
    LogisticRegression,
    MatrixFactorization,
    PoissonRegression,
    ResidualMLP,
    Transformer,
    WordEmbeddings,
)
from xman.train import evaluate, fit, load, predict

ALL = bool(os.environ.get("XMAN_ALL_CASES"))  # else two of four models that read sequences
RANDOM = np.random.default_rng(0)
ROWS, SEQUENCES, LABELS = RANDOM.standard_normal((6, 5)), RANDOM.standard_normal((6, 3, 5)), RANDOM.integers(0, 3, 6)
NUMBERS, COUNTS, WORDS = RANDOM.standard_normal(6), RANDOM.integers(0, 9, 6), RANDOM.integers(0, 7, 6)
IMAGES, PLACES = RANDOM.standard_normal((6, 4, 6)), RANDOM.integers(0, 4, (6, 2))
DIGITS, NAMES = load("digits"), load("names", max_len=12)
DOUBLE = {"dtype": np.float64}

ZOO = {
    "linear": (LinearRegression(5, **DOUBLE), ROWS, NUMBERS),
    "ridge": (LinearRegression(5, ridge=0.3, **DOUBLE), ROWS, NUMBERS),
    "poisson": (PoissonRegression(5, **DOUBLE), ROWS, COUNTS),
    "logistic": (LogisticRegression(5, 1, **DOUBLE), ROWS, LABELS % 2),
    "softmax": (LogisticRegression(5, 3, **DOUBLE), ROWS, LABELS),
    "residual": (ResidualMLP(5, 4, 3, **DOUBLE), ROWS, LABELS),
    "batch normalised": (ResidualMLP(5, 4, 3, normalization="batch", dropout=0.5, **DOUBLE), ROWS, LABELS),
    "rnn": (RNN(5, 4, 3, steps=3, **DOUBLE), SEQUENCES, LABELS),
    "gru": (GRU(5, 4, 3, steps=3, **DOUBLE), SEQUENCES, LABELS),
    "lstm": (LSTM(5, 4, 3, steps=3, **DOUBLE), SEQUENCES, LABELS),
    "convolution": (ConvolutionalNetwork((4, 6), 3, filters=2, **DOUBLE), IMAGES, LABELS),
    "transformer": (Transformer(5, 4, 3, steps=3, blocks=2, **DOUBLE), SEQUENCES, LABELS),
    "autoencoder": (Autoencoder([5, 4, 2], **DOUBLE), ROWS, None),
    "factors": (MatrixFactorization(4, 4, 2, ridge=0.1, **DOUBLE), PLACES, NUMBERS),
    "embeddings": (WordEmbeddings(7, 2, **DOUBLE), WORDS, WORDS[::-1]),
    "mixture": (GaussianMixture(3, 5), ROWS, None),
}
each_model = pytest.mark.parametrize("model, X, y", ZOO.values(), ids=ZOO)


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def fitted(model, data, **options):
    return fit(model, data, progress=False, **{"optimizer": "adam", **options}).parameters


# the lists


@each_model
def test_the_gradient_is_that_of_differences(model, X, y):
    given = model.feed(X, y) if hasattr(model, "feed") else {"X": X, "y": y}
    steps = model.operationSequence(model.loss)
    report = check(steps, model.inputDict(**given))
    assert report.ok, str(report)
    assert {name for name in steps.inputs if model.isParam(name)} <= {entry.register for entry in report.entries}


@each_model
def test_the_interpreter_and_the_compiled_list_agree_on_the_outputs(model, X, y):
    given = model.feed(X, y) if hasattr(model, "feed") else {"X": X, "y": y}
    values = model.inputDict(**{name: value for name, value in given.items() if value is not None})
    steps = model.operationSequence(model.outputs)
    found = compile(steps, ["outputs"], "numpy")(values)["outputs"]
    np.testing.assert_allclose(found, eval(steps, values)["outputs"], rtol=1e-12)


def test_a_convolution_is_the_sum_over_its_window_and_a_pool_its_greatest():
    model, X, _ = ZOO["convolution"]
    values = eval(model.operationSequence(model.h2), model.inputDict(X=X.reshape(6, -1)))
    W, b = values["W1"].reshape(3, 3, 2), values["b1"][0]
    rim = np.pad(X, ((0, 0), (1, 1), (1, 1)))
    h = np.array([[[[max((rim[n, i:i + 3, j:j + 3] * W[..., k]).sum() + b[k], 0) for k in range(2)]
                    for j in range(6)] for i in range(4)] for n in range(6)])
    pooled = h.reshape(6, 2, 2, 3, 2, 2).max((2, 4)).reshape(6, -1)
    np.testing.assert_allclose(values["h2"], pooled, rtol=1e-12)


def test_the_transformer_sees_the_order_of_a_sequence_and_its_attention_sums_to_one():
    model, X, _ = ZOO["transformer"]
    values = eval(model.operationSequence(model.outputs, model.attention1), model.inputDict(X=X))
    np.testing.assert_allclose(values["attention1"].sum(-1), 1, rtol=1e-12)
    assert values["attention1"].shape == (6, 2, 3, 3)
    reversed_ = eval(model.operationSequence(model.outputs), model.inputDict(X=X[:, ::-1]))
    assert not np.allclose(reversed_["outputs"], values["outputs"])


def test_a_gru_whose_gate_keeps_all_keeps_its_state():
    model, X, _ = ZOO["gru"]
    values = model.inputDict(**model.feed(X, None), bz=np.full((1, 4), 1e3), h0=np.full((1, 4), 0.7))
    values.pop("y")
    np.testing.assert_array_equal(eval(model.operationSequence(model.h3), values)["h3"], np.full((6, 4), 0.7))


# beside their peers


def test_ridge_poisson_and_logistic_regression_come_to_the_peers_weights():
    newton = {"optimizer": "newton-cg", "epochs": 50}
    datasets, linear_model = map(pytest.importorskip, ("sklearn.datasets", "sklearn.linear_model"))
    X, y = datasets.load_diabetes(return_X_y=True)
    X = X / X.std(0)
    ridge = fitted(LinearRegression(10, ridge=0.1, **DOUBLE), (X, y), **newton)
    np.testing.assert_allclose(ridge["W"][:, 0], linear_model.Ridge(alpha=0.1 * len(X)).fit(X, y).coef_, rtol=1e-5)
    poisson = fitted(PoissonRegression(10, **DOUBLE), (X, np.round(y / 20)), **newton)
    peer = linear_model.PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000).fit(X, np.round(y / 20))
    np.testing.assert_allclose(poisson["W"][:, 0], peer.coef_, atol=1e-4)
    X, y = datasets.load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    model = LogisticRegression(30, 1)
    loss, accuracy = evaluate(model, fitted(model, (X[::2], y[::2]), epochs=20, lr=0.05), (X[1::2], y[1::2]))
    peer = linear_model.LogisticRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert accuracy >= peer - 0.01


def test_a_mixture_of_gaussians_finds_the_likelihood_of_expectation_maximization():
    datasets, mixture = map(pytest.importorskip, ("sklearn.datasets", "sklearn.mixture"))
    X = datasets.load_iris().data
    model = GaussianMixture(3, 4, begin=X[[0, 60, 120]])
    parameters = fitted(model, (X, X), epochs=800, lr=0.05, batch_size=len(X))
    peer = mixture.GaussianMixture(3, reg_covar=1e-9, tol=1e-8, means_init=X[[0, 60, 120]]).fit(X)
    assert evaluate(model, parameters, (X, X))[0] == pytest.approx(-peer.score(X), abs=0.05)
    assert np.unique(predict(model, parameters, X).argmax(1)[:50]).size == 1  # setosa lies apart


@pytest.mark.parametrize("options", [{}, {"normalization": "batch", "dropout": 0.2}], ids=["layer", "batch"])
def test_skip_connections_and_norms_learn_digits(options):
    model = ResidualMLP(64, 32, 10, **options)
    assert evaluate(model, fitted(model, DIGITS.train, epochs=6, lr=0.005), DIGITS.test)[1] > 0.93


def test_an_autoencoder_comes_near_the_principal_components_of_digits():
    X, held = DIGITS.train[0], DIGITS.test[0]
    model = Autoencoder([64, 16])
    loss, _ = evaluate(model, fitted(model, (X, X), epochs=40, lr=0.003), (held, held))
    middle = X.mean(0)
    V = np.linalg.svd(X - middle, full_matrices=False)[2][:16]
    assert loss < 1.2 * np.mean(((held - middle) - (held - middle) @ V.T @ V) ** 2) / 2


# on real data


def test_a_convolution_is_better_on_digits_than_a_perceptron_by_the_mean_of_several_seeds():
    def accuracy(model, seed, **options):
        return evaluate(model, fitted(model, DIGITS.train, lr=0.01, batch_size=64, seed=seed, **options), DIGITS.test)[1]

    seeds = range(5 if ALL else 2)
    convolution = np.mean([accuracy(ConvolutionalNetwork((8, 8), 10, seed=seed), seed, epochs=8) for seed in seeds])
    assert convolution > np.mean([accuracy(MLP([64, 64, 10], seed=seed), seed, epochs=16) for seed in seeds])


@pytest.mark.parametrize("make, least", [(GRU, 0.35), (Transformer, 0.35)] + [(RNN, 0.25), (LSTM, 0.35)] * ALL)
def test_what_reads_sequences_learns_the_language_of_names(make, least):
    X, y = NAMES.train
    options = {} if make is Transformer else {"last": None, "loss": "softmaxCrossEntropy"}
    model = make(X.shape[2], 24, len(NAMES.classes), steps=12, **options)
    parameters = fitted(model, (X[::2], y[::2]), epochs=3, lr=0.005)
    assert evaluate(model, parameters, NAMES.test)[1] > least > 3 * np.bincount(NAMES.test[1]).max() / len(NAMES.test[1])


def test_factors_fill_in_pixels_that_are_missing():
    images = DIGITS.train[0][:300]
    places = np.argwhere(np.ones_like(images))
    held = RANDOM.random(len(places)) < 0.1
    entries = images[tuple(places.T)]
    model = MatrixFactorization(*images.shape, 10)
    parameters = fitted(model, (places[~held], entries[~held]), epochs=10, lr=0.01, batch_size=256)
    wrong = predict(model, parameters, places[held])[:, 0] - entries[held]
    assert np.mean(wrong ** 2) < np.var(images - images.mean(0)) * 0.6


def test_embeddings_of_letters_put_vowels_beside_vowels():
    letters, there = NAMES.train[0].argmax(2), NAMES.train[0].any(2)
    pairs = [(letters[:, :-1][there[:, 1:]], letters[:, 1:][there[:, 1:]])]
    model = WordEmbeddings(len(NAMES.alphabet), 8)
    X, y = np.concatenate([*pairs[0]]), np.concatenate([*pairs[0][::-1]])
    E = fitted(model, (X, y), epochs=1, lr=0.02, batch_size=256)["E"][[NAMES.alphabet.index(letter) for letter in "aeiourtnls"]]
    near = (E @ E.T) / np.linalg.norm(E, axis=1) / np.linalg.norm(E, axis=1)[:, None] - 2 * np.eye(10)
    assert [k < 5 for k in near.argmax(1)[:5]].count(True) >= 4


# what they refuse


@pytest.mark.parametrize("wrong, said", [
    (lambda: ConvolutionalNetwork((8, 8), 10, window=4), "odd number of pixels"),
    (lambda: ConvolutionalNetwork((8, 9), 10), "do not divide an image of 8 x 9"),
    (lambda: Transformer(5, 5, 3, heads=2), "hidden is a multiple of heads"),
    (lambda: ResidualMLP(5, 4, 3, normalization="group"), "'layer', 'batch' or None"),
    (lambda: ResidualMLP(5, 4, 3, dropout=1.0), "below 1"),
    (lambda: GaussianMixture(3, 5, begin=ROWS), "begin at an array of shape (3, 5)"),
    (lambda: ZOO["transformer"][0].feed(ROWS, LABELS), "reads sequences (n, 3, features)"),
    (lambda: ZOO["factors"][0].feed(PLACES + 4, NUMBERS), "table of 4 x 4"),
    (lambda: ZOO["factors"][0].feed(ROWS[:, :2], NUMBERS), "whole numbers (n, 2)"),
])
def test_wrong_sizes_get_a_sentence(wrong, said):
    assert said in refusal(wrong)


@pytest.mark.parametrize("network", [RNN, GRU, LSTM])
def test_a_recurrent_network_as_a_loop_is_the_unrolled_one(network, tmp_path):
    one, other = (network(5, 4, 3, steps=3, unrolled=unrolled, **DOUBLE) for unrolled in (True, False))
    steps, loop = (model.operationSequence(model.loss) for model in (one, other))
    params = [name for name, _ in one.namedRegisterItems() if one.isParam(name)]
    values = eval(steps, one.inputDict(**one.feed(SEQUENCES, LABELS)))
    right = backprop(steps, values, wrt=params, loss=1.0)
    inputs = other.inputDict(**other.feed(SEQUENCES, LABELS))
    slopes = eval(gradient(loop, "loss", params), inputs)
    compiled = compile(gradient(loop, "loss", params), [f"dloss_d{x}" for x in params])(inputs)
    assert slopes["loss"] == values["loss"]
    assert len(loop) == len((longer := network(5, 4, 3, steps=200)).operationSequence(longer.loss)) == 9
    files.trained(other, {}, shape=(3, 5)).save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(xman.load(tmp_path / "model.safetensors").outputs(SEQUENCES), slopes["outputs"])
    for x in params:
        np.testing.assert_allclose(slopes[f"dloss_d{x}"], right[x], rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(compiled[f"dloss_d{x}"], right[x], rtol=1e-12, atol=1e-14)


def test_no_rate_is_above_the_most_and_the_loss_is_that_of_the_rates_themselves():
    X, y, parameters = np.array([[0.0], [50.0]]), np.array([1.0, 2.0]), {"W": np.ones((1, 1)), "b": np.zeros((1, 1))}
    bounded, free = PoissonRegression(1, largest=7.0, **DOUBLE), PoissonRegression(1, **DOUBLE)
    assert predict(bounded, parameters, X).ravel().tolist() == [1.0, 7.0] and predict(free, parameters, X)[1, 0] > 1e21
    assert evaluate(bounded, parameters, (X, y)) == evaluate(free, parameters, (X, y))
