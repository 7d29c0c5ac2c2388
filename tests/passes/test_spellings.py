"""Facts about STABLE: however users spell softmax, its logarithm, sigmoids and their losses, values and gradients are right."""

import numpy as np
import pytest

from xman import EXACT, STABLE, eval, f, grad, gradient, simplify, trace

ROWS = [np.array(v, float) for v in ([1000, 0, -5], [-1000, -1001, -1002], [1000, 1000, 1000], [-1000, 1000, 3], [1e-3, 50, -50])]
TABLES = [np.array(v, float) for v in ([[1000, 0, -5], [0, 1, 2]], [[-1000, -1001, -1002], [5, 1000, 3]])]
NUMBERS = [np.array(v, float) for v in ([1000, -1000, 0], [50, -50, 1], [800, -800, 1e-20], [-40, 40, -36])]
Y, LABELS = np.array([1.0, 0, 1]), np.array([0, 2])

SOFTMAX = [  # of one axis
    lambda z: np.exp(z) / np.sum(np.exp(z)), lambda z: np.exp(z) / np.exp(z).sum(), lambda z: (lambda e: e / e.sum())(np.exp(z)),
    lambda z: np.exp(z) / np.sum(np.exp(z), axis=0), lambda z: np.exp(z) / np.sum(np.exp(z), axis=-1),
    lambda z: np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True), lambda z: np.exp(z) / np.sum(np.exp(z), keepdims=True),
    lambda z: np.exp(z - np.max(z)) / np.sum(np.exp(z - np.max(z))), lambda z: (lambda e: e / e.sum())(np.exp(z - z.max())),
    lambda z: (lambda e: e / e.sum(axis=-1, keepdims=True))(np.exp(z - z.max(axis=-1, keepdims=True))),
    lambda z: np.exp(z) * (1 / np.sum(np.exp(z))), lambda z: 1 / np.sum(np.exp(z)) * np.exp(z),
    lambda z: np.exp(z - np.log(np.sum(np.exp(z)))), lambda z: np.exp(z - np.logaddexp.reduce(z))]
SOFTMAX_OF_ROWS = [
    lambda z: np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True), lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True),
    lambda z: np.exp(z) / np.sum(np.exp(z), axis=1)[:, None], lambda z: np.exp(z) / np.sum(np.exp(z), axis=1).reshape(-1, 1),
    lambda z: np.exp(z) / np.expand_dims(np.sum(np.exp(z), axis=1), 1), lambda z: np.exp(z) / np.exp(z).sum(axis=-1)[..., np.newaxis],
    lambda z: (np.exp(z).T / np.sum(np.exp(z), axis=1)).T, lambda z: np.exp(z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))),
    lambda z: (lambda e: e / e.sum(axis=1, keepdims=True))(np.exp(z - z.max(axis=1, keepdims=True))),
    lambda z: (lambda e: e / e.sum(axis=1)[:, None])(np.exp(z - z.max(axis=1)[:, None]))]
LOGSUMEXP = [
    lambda z: np.log(np.sum(np.exp(z))), lambda z: np.log(np.exp(z).sum(axis=0)), lambda z: np.log(np.sum(np.exp(z), keepdims=True))[0],
    lambda z: np.max(z) + np.log(np.sum(np.exp(z - np.max(z)))), lambda z: np.log(np.exp(z[0]) + np.exp(z[1]) + np.exp(z[2]))]
LOGSOFTMAX = [
    lambda z: z - np.log(np.sum(np.exp(z))), lambda z: z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True)),
    lambda z: np.log(np.exp(z)) - np.log(np.exp(z).sum()), lambda z: (lambda s: s - np.log(np.sum(np.exp(s))))(z - z.max()),
    lambda z: z - np.logaddexp.reduce(z), *(lambda z, p=p: np.log(p(z)) for p in SOFTMAX)]
SIGMOID = [
    lambda x: 1 / (1 + np.exp(-x)), lambda x: 1.0 / (np.exp(-x) + 1.0), lambda x: (1 + np.exp(-x)) ** -1, lambda x: (1 + np.exp(-x)) ** -1.0,
    lambda x: np.exp(x) / (1 + np.exp(x)), lambda x: np.reciprocal(1 + np.exp(-x)), f.sigmoid, lambda x: 0.5 * (1 + np.tanh(x / 2)),
    lambda x: (np.tanh(x / 2) + 1) / 2, lambda x: 1 - 1 / (1 + np.exp(x)), lambda x: 1 - f.sigmoid(-x), lambda x: np.exp(x) / (np.exp(x) + 1)]
LOGSIGMOID = [
    *(lambda x, p=p: np.log(p(x)) for p in SIGMOID), *(lambda x, p=p: np.log(1 - p(-x)) for p in SIGMOID),
    *(lambda x, p=p: np.log1p(-p(-x)) for p in SIGMOID), lambda x: np.log1p(-1 / (1 + np.exp(x))),
    lambda x: np.log1p(-np.exp(-x) / (1 + np.exp(-x))), lambda x: -np.log(1 + np.exp(-x)), lambda x: -np.log1p(np.exp(-x)),
    lambda x: x - np.log(1 + np.exp(x)), lambda x: x - np.log1p(np.exp(x))]
SOFTPLUS = [
    *(lambda x, p=p: -p(-x) for p in LOGSIGMOID[-6:]), lambda x: np.log(1 + np.exp(x)), lambda x: np.log1p(np.exp(x)),
    lambda x: np.log(np.exp(x) + 1), lambda x: np.logaddexp(0, x), lambda x: np.log(np.exp(0.0) + np.exp(x)),
    lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), lambda x: x + np.log(1 + np.exp(-x)), lambda x: x + np.log1p(np.exp(-x))]
BINARY = [
    *(lambda x, p=p: -(Y * np.log(p(x)) + (1 - Y) * np.log(1 - p(x))) for p in SIGMOID),
    *(lambda x, p=p: -Y * np.log(p(x)) - (1 - Y) * np.log1p(-p(x)) for p in SIGMOID)]
FIRST = [*(lambda z, p=p: -np.log(p(z))[0] for p in SOFTMAX), *(lambda z, p=p: -np.log(p(z)[0]) for p in SOFTMAX),
         *(lambda z, p=p: -p(z)[0] for p in LOGSOFTMAX)]
SUMMED = [lambda z, p=p: -np.sum(Y * np.log(p(z))) for p in SOFTMAX]
MEANS = [*(lambda z, p=p: -np.mean(np.log(p(z)[np.arange(2), LABELS])) for p in SOFTMAX_OF_ROWS),
         *(lambda z, p=p: -np.mean(np.log(p(z))[np.arange(2), LABELS]) for p in SOFTMAX_OF_ROWS),
         *(lambda z, p=p: -np.sum(np.eye(3)[LABELS] * np.log(p(z))) / 2 for p in SOFTMAX_OF_ROWS)]
SPELLINGS = {  # what is meant, how it is spelled, and at what
    "softmax": (f.softmax, SOFTMAX, ROWS), "softmax of rows": (f.softmax, SOFTMAX_OF_ROWS, TABLES), "logsumexp": (f.logsumexp, LOGSUMEXP, ROWS),
    "log softmax": (f.logSoftmax, LOGSOFTMAX, ROWS), "sigmoid": (f.sigmoid, SIGMOID, NUMBERS), "log sigmoid": (f.logSigmoid, LOGSIGMOID, NUMBERS),
    "softplus": (f.softplus, SOFTPLUS, NUMBERS), "first": (lambda z: -f.logSoftmax(z)[0], FIRST, ROWS),
    "binary cross-entropy": (lambda z: f.sigmoidCrossEntropy(z, Y), BINARY, NUMBERS),
    "cross-entropy": (lambda z: -np.sum(Y * f.logSoftmax(z)), SUMMED, ROWS),
    "mean cross-entropy": (lambda z: np.mean(f.softmaxCrossEntropy(z, LABELS)), MEANS, TABLES)}


@pytest.mark.parametrize("meant", SPELLINGS)
def test_every_spelling_has_the_value_and_the_gradient_that_are_meant(meant):
    right, spellings, points = SPELLINGS[meant]
    weights = np.arange(1.0, 7)[:np.size(right(points[0]))].reshape(np.shape(right(points[0])))
    rights = [(right(x), grad(lambda x: np.sum(right(x) * weights))(x)) for x in points]
    for k, spelled in enumerate(spellings):
        steps = simplify(trace(lambda z: spelled(z), points[0]), rewrites=EXACT + STABLE)  # noqa: B023
        out = steps[-1][0]
        steps = gradient([*steps, ("weighted", "mul", (out, weights)), ("total", "sum", ("weighted",))], "total", ["z"])
        for x, (value, slope) in zip(points, rights, strict=True):
            found = eval(steps, {"z": x})
            np.testing.assert_allclose(found[out], value, rtol=1e-9, atol=1e-300, err_msg=f"spelling {k} at {x}")
            np.testing.assert_allclose(found["dtotal_dz"], slope, rtol=1e-7, atol=1e-12, err_msg=f"spelling {k} at {x}")


def test_a_long_sum_of_exponentials_needs_no_recursion():
    steps = simplify(trace(lambda x: np.log(sum(np.exp(x * k) for k in range(1, 400))), 0.5), rewrites=EXACT + STABLE)
    assert np.isfinite(eval(steps, {"x": 0.5})[steps[-1][0]])
