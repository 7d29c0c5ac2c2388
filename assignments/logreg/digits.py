"""The digits, shuffled beyond recognition, and a softmax regression by hand that trains on them."""
import functools

import numpy as np

from xman.grade import expect_mapping, expect_that
from xman.train import load

from .solution import logreg as reference


def expect_places(parameters, like):
    """ValueError, which the submission is told, unless parameters are arrays as those in like."""
    for name, value in like.items():
        found = parameters.get(name) if isinstance(parameters, dict) else None
        if not isinstance(found, np.ndarray) or found.shape != value.shape:
            raise ValueError(f"wanted a dictionary of parameters, {name} among them, an array of shape {value.shape}")


def log_probabilities(scores):
    """log softmax of each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@functools.cache
def digits():
    """All rows of the digits: (X, y)."""
    parts = load("digits")[:3]
    return np.concatenate([X for X, _ in parts]).astype(float), np.concatenate([y for _, y in parts])


class Digits:
    """The digits with pixels and classes permuted, so that no parameters fit them that were found elsewhere: 400 rows to train
    on, 100 to choose by, 300 to judge by. What tells of the rows is counted: gradients of minibatches as they were handed out,
    and validation losses, one for each epoch and one for the start."""

    def __init__(self, rng, epochs):
        X, y = digits()
        some = rng.permutation(len(X))[:800]
        X, y = X[some][:, rng.permutation(64)], rng.permutation(10)[y[some]]
        self.train, self.valid, self.test = (X[:400], y[:400]), (X[400:500], y[400:500]), (X[500:], y[500:])
        self.start = {"W": rng.uniform(-0.28, 0.28, (64, 10)), "b": rng.uniform(-0.1, 0.1, (1, 10))}
        self.rng, self.epochs, self.seen, self.judged, self.handed = rng, epochs, 0, 0, set()

    def loss(self, parameters, X, y):
        """(loss, gradient) of softmax regression, by hand (Bishop 8.11, 8.10)."""
        logs = log_probabilities(X @ parameters["W"] + parameters["b"])
        delta = (np.exp(logs) - (np.arange(10) == y[:, None])) / len(y)
        return float(-logs[np.arange(len(y)), y].mean()), {"W": X.T @ delta, "b": delta.sum(axis=0, keepdims=True)}

    def value_and_gradient(self, parameters, batch):
        expect_places(parameters, self.start)
        rows = batch[0] if isinstance(batch, (tuple, list)) and len(batch) == 2 else None
        if not isinstance(rows, np.ndarray) or rows.dtype != np.int64 or rows.ndim != 1 or rows.tobytes() not in self.handed:
            raise ValueError("wanted a minibatch as batches() gave it")
        if self.seen >= 8000:
            raise ValueError("that is more than 20 passes over the data")
        self.seen += len(rows)
        return self.loss(parameters, self.train[0][rows], self.train[1][rows])

    def validation(self, parameters):
        expect_places(parameters, self.start)
        if self.judged > self.epochs:
            raise ValueError(f"the validation loss was asked for more than {self.epochs + 1} times, in {self.epochs} epochs")
        self.judged += 1
        return self.loss(parameters, *self.valid)[0]

    def batches(self, size):
        """An epoch. A minibatch is a pair, as from minibatches; here it holds the numbers of the rows, and nothing for labels."""
        order = self.rng.permutation(400)
        rows = [order[k:k + size] for k in range(0, 400, size)]
        self.handed.update(some.tobytes() for some in rows)
        return [(some, "their labels") for some in rows]

    def accuracy(self, parameters):
        """Of rows that had no part in the training; 0 for parameters that are none."""
        expect_mapping(parameters, self.start, "the parameters")
        for name, value in self.start.items():
            found = parameters[name]
            right = isinstance(found, np.ndarray) and found.shape == value.shape and np.isfinite(found).all()
            expect_that(right, f"{name}: finite numbers of shape {value.shape}", found)
        X, y = self.test
        with np.errstate(all="ignore"):
            return float(((X @ parameters["W"] + parameters["b"]).argmax(axis=1) == y).mean())


def accuracy_with(data, size, rate):
    """What the reference reaches with these settings."""
    def value_and_gradient(parameters, batch):
        return data.loss(parameters, data.train[0][batch[0]], data.train[1][batch[0]])
    with np.errstate(all="ignore"):
        found = reference.train(value_and_gradient, data.validation, lambda: data.batches(size), data.start, 8, rate)
    return data.accuracy(found)
