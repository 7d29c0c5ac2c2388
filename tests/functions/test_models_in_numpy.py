"""Losses written in plain NumPy have the gradients of the models of xman.models, to 1e-12."""
from __future__ import annotations

import numpy as np
import pytest

from xman import backprop
from xman import eval as evaluate
from xman.functions import grad
from xman.models import LSTM, MLP, LogisticRegression

R = np.random.default_rng(8)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cross_entropy(scores, y):
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_p = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(y)), y])


def logistic_regression(p, X, y):
    return cross_entropy(X @ p["W"] + p["b"], y)


def mlp(p, X, y):
    h = X
    for k in range(1, 3):
        h = np.tanh(np.dot(h, p[f"W{k}"]) + p[f"b{k}"])
    return cross_entropy(h.dot(p["W3"]) + p["b3"], y)


def lstm(p, X, y):
    h = c = np.zeros((len(X), 5))
    for t in range(X.shape[1]):
        i, keep, o, g = (act(h @ p[f"U{gate}"] + X[:, t] @ p[f"W{gate}"] + p[f"b{gate}"])
                         for act, gate in ((sigmoid, "i"), (sigmoid, "f"), (sigmoid, "o"), (np.tanh, "c")))
        c = i * g + keep * c
        h = o * np.tanh(c)
    return cross_entropy(np.maximum(h @ p["W2"] + p["b2"], 0), y)


@pytest.mark.parametrize(("model", "fn", "shape"), [
    (LogisticRegression(6, 3, dtype=float), logistic_regression, (7, 6)),
    (MLP([6, 5, 4, 3], dtype=float), mlp, (7, 6)),
    (LSTM(6, 5, 3, steps=4, loss="softmaxCrossEntropy", dtype=float), lstm, (7, 4, 6)),
], ids=["logistic regression", "MLP", "LSTM"])
def test_the_gradient_is_that_of_the_model(model, fn, shape):
    X, y = R.normal(size=shape), R.integers(0, 3, shape[0])
    inputs = model.inputDict(**model.feed(X, y))
    params = {name: inputs[name] for name, reg in model.namedRegisterItems() if model.isParam(name)}
    steps = model.operationSequence(model.loss)
    deltas = backprop(steps, evaluate(steps, inputs), loss=1.0)
    slope = grad(fn)(params, X, y)
    assert slope.keys() == params.keys() and len(params) >= 2
    for name in params:
        np.testing.assert_allclose(slope[name], deltas[name], rtol=1e-12, atol=1e-14, err_msg=name)
