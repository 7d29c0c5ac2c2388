"""Softmax regression on images of digits: the model as an XMan, its gradient checked, minibatch descent.

The parameters of a model are a dictionary {"W": array, "b": array}. Helper functions of your own are welcome.
"""
import numpy as np

import xman
from xman import XMan, f


class SoftmaxRegression(XMan):
    """outputs = softmax(X·W + b), and the loss of their rows.

    features, classes: the columns of X and of the outputs. rng: a NumPy Generator, which the parameters are drawn from.
    penalty: the weight of frobeniusNorm(W) in the loss; at 0 it is left out.
    """

    def __init__(self, features, classes, rng, penalty=0.0):
        # task 1: the model
        limit = np.sqrt(6 / (features + classes))
        self.X, self.y = f.input(), f.input()
        self.W = f.param(default=rng.uniform(-limit, limit, (features, classes)))
        self.b = f.param(default=rng.uniform(-0.1, 0.1, (1, classes)))
        self.scores = self.X @ self.W + self.b
        self.outputs = f.softmax(self.scores)
        self.loss = f.mean(f.softmaxCrossEntropy(self.scores, self.y))
        if penalty:
            self.loss = self.loss + penalty * f.frobeniusNorm(self.W)
        # end of task 1
        self.setup()


def register(name, features, classes, seed, penalty=0.0):
    """(the list of a register of a model, its name in that list, the parameters). The checks ask for it; leave it as it is."""
    model = SoftmaxRegression(features, classes, np.random.default_rng(seed), penalty)
    steps = model.operationSequence(getattr(model, name))
    values = model.inputDict()
    return list(steps), steps[-1][0], {leaf: values[leaf] for leaf in values if model.isParam(leaf)}


def value_and_gradient(steps, values, names):
    """(the value of the last register of the list, a number; its gradient, {name: an array of the shape of values[name]}).

    steps: a Wengert list. values: its inputs and parameters by name. names: those of `values` that the gradient is wanted for,
    floats or arrays of floats; where the list does not read one of them, its gradient is zeros.
    """
    # task 2: loss, gradient and accuracy
    last = steps[-1][0]
    values = xman.eval(steps, values)
    deltas = xman.backprop(steps, values, **{last: 1.0})
    return values[last], {name: deltas.get(name, np.zeros(np.shape(values[name]))) for name in names}
    # end of task 2


def predict(steps, parameters, X):
    """The outputs for the rows of X. steps: the list whose last register they are; besides the parameters it reads X."""
    # task 2: loss, gradient and accuracy
    return xman.eval(steps, {**parameters, "X": X})[steps[-1][0]]
    # end of task 2


def mean_loss(outputs, y):
    """The mean over the rows of −log of the probability that the row's own class was given.

    outputs: probabilities (n, classes), above 0. y: the classes of the rows, whole numbers (n,).
    """
    # task 2: loss, gradient and accuracy
    return -np.mean(np.log(outputs[np.arange(len(y)), y]))
    # end of task 2


def accuracy(outputs, y):
    """The share of the rows whose most probable class is their own: a number from 0 to 1."""
    # task 2: loss, gradient and accuracy
    return np.mean(outputs.argmax(axis=1) == y)
    # end of task 2


def difference_quotients(loss, parameters, epsilon):
    """The central difference quotient of every element of every parameter: {name: an array of the shape of the parameter}.

    loss: a function of such a dictionary of parameters that gives a number. parameters: where; they stay as they are.
    """
    # task 3: the gradient check
    quotients = {}
    for name, value in parameters.items():
        quotients[name] = np.zeros(value.shape)
        for index in np.ndindex(value.shape):
            shift = np.zeros(value.shape)
            shift[index] = epsilon
            up, down = loss({**parameters, name: value + shift}), loss({**parameters, name: value - shift})
            quotients[name][index] = (up - down) / (2 * epsilon)
    return quotients
    # end of task 3


def disagreements(gradient, quotients, tolerance):
    """The places where two gradients differ: a list of pairs (name, index), index a tuple as in gradient[name][index].

    a and b agree where |a − b| ≤ tolerance · max(1, |a|, |b|). NaN and infinity agree with nothing.
    """
    # task 3: the gradient check
    return [(name, index) for name in quotients for index, b in np.ndenumerate(quotients[name])
            if not abs((a := gradient[name][index]) - b) <= tolerance * max(1.0, abs(a), abs(b)) < np.inf]
    # end of task 3


def minibatches(X, y, size, rng):
    """One epoch: pairs (rows of X, their labels) of `size` rows each, the last of what is left, in an order drawn from rng;
    the first row of an epoch, too, is drawn.

    Yield them one by one, or return them in a list. X (n, features) and y (n,) stay as they are.
    """
    # task 4: minibatches
    order = rng.permutation(len(X))
    for start in range(0, len(X), size):
        some = order[start:start + size]
        yield X[some], y[some]
    # end of task 4


def epochs_of(X, y, size, seed, count):
    """So many epochs of minibatches, all from one rng: [[(X, y), …], …]. The checks ask for it; leave it as it is."""
    rng = np.random.default_rng(seed)
    return [list(minibatches(X, y, size, rng)) for _ in range(count)]


def step(parameters, gradient, rate):
    """The parameters after one step of gradient descent: a new dictionary of new arrays; the old ones stay as they are."""
    # task 5: descent
    return {name: value - rate * gradient[name] for name, value in parameters.items()}
    # end of task 5


def train(value_and_gradient, validation, batches, parameters, epochs, rate):
    """The parameters after that one of the epochs whose validation loss was the least.

    value_and_gradient: a function (parameters, minibatch) -> (loss, gradient). validation: a function (parameters) -> loss.
    batches: a function () -> the list of the minibatches of the next epoch; each, a pair, goes to value_and_gradient as it is.
    Of equal losses the first is the least; NaN and infinity never are. parameters: where to begin; they come back if no
    validation loss was a number below infinity.
    """
    # task 5: descent
    best, least = parameters, np.inf
    for _ in range(epochs):
        for batch in batches():
            _, gradient = value_and_gradient(parameters, batch)
            parameters = step(parameters, gradient, rate)
        loss = validation(parameters)
        if loss < least:
            best, least = parameters, loss
    return best
    # end of task 5


def settings():
    """{"size": rows in a minibatch, "rate": step length}, with which eight epochs over 400 rows of the digits go far."""
    # task 5: descent
    return {"size": 10, "rate": 0.5}
    # end of task 5


def main():
    """Train on 400 images of digits, and say how well it went on others."""
    from xman.train import load
    digits, rng, chosen = load("digits"), np.random.default_rng(0), settings()
    model = SoftmaxRegression(64, 10, rng)
    steps, outputs = model.operationSequence(model.loss), model.operationSequence(model.outputs)
    start = {"W": model.W.default, "b": model.b.default}

    def of_rows(parameters, batch):
        X, y = batch
        return value_and_gradient(steps, {**parameters, "X": X, "y": y}, ["W", "b"])
    some, (X, y) = (digits.train[0][:400], digits.train[1][:400]), digits.valid
    quotients = difference_quotients(lambda parameters: of_rows(parameters, (X, y))[0], start, 1e-5)
    wrong = disagreements(of_rows(start, (X, y))[1], quotients, 1e-6)
    print("gradient check:", f"{len(wrong)} of 650 elements disagree, first {wrong[0]}" if wrong else "all 650 elements agree")
    found = train(of_rows, lambda parameters: of_rows(parameters, (X, y))[0],
                  lambda: list(minibatches(*some, chosen["size"], rng)), start, 8, chosen["rate"])
    X, y = digits.test
    probabilities = predict(outputs, found, X)
    print(f"test loss {mean_loss(probabilities, y):.4f}, accuracy {accuracy(probabilities, y):.2%} of {len(y)} rows")


if __name__ == "__main__":
    main()
