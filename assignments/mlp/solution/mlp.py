"""A multilayer perceptron on the characters of names: in which of 24 languages is this name written?

    python mlp.py        trains on data/names.train and judges on data/names.valid, once the tasks are done
"""
from itertools import pairwise
from urllib.parse import unquote

import numpy as np

from xman import XMan, backprop, eval, f


def read(lines):
    """(titles, labels) of the lines of a file, two lists of strings.

    lines: strings `title<TAB>label`, none of them empty, which may end in a line end, \\n or \\r\\n. A title is
    percent-encoded: %25 stands for a percent sign.
    """
    # task 1: names as numbers
    pairs = [line.rstrip("\r\n").split("\t") for line in lines]
    return [unquote(title) for title, _ in pairs], [label for _, label in pairs]
    # end of task 1


def distinct(items):
    """The items (of a string: its characters), each once, in a sorted list: the order of the columns, and of the classes."""
    # task 1: names as numbers
    return sorted(set(items))
    # end of task 1


def encode(titles, alphabet, max_len):
    """One-hot titles: an array (titles, max_len, len(alphabet) + 1) of zeros and ones.

    alphabet: a list of characters, as from `distinct`. X[i, t, k] = 1 where the character t of title i is alphabet[k]; the last
    column is for characters that alphabet does not have. What a title has beyond max_len is cut off; where it is shorter, all
    columns are 0.
    """
    # task 1: names as numbers
    column = {character: k for k, character in enumerate(alphabet)}
    X = np.zeros((len(titles), max_len, len(alphabet) + 1))
    for i, title in enumerate(titles):
        for t, character in enumerate(title[:max_len]):
            X[i, t, column.get(character, len(alphabet))] = 1
    return X
    # end of task 1


def targets(labels, classes):
    """One-hot labels: an array (labels, classes), 1 in the column of the row's class and 0 elsewhere. classes: a list."""
    # task 1: names as numbers
    return np.eye(len(classes))[[classes.index(label) for label in labels]]
    # end of task 1


def start(sizes, uniform):
    """Where the parameters begin: {"W1": array, "b1": array, "W2": …}, Wk and bk those of the k-th layer.

    sizes: those of the inputs, the hidden layers and the outputs, as in [60, 16, 4]: two layers.
    uniform(low, high, shape): draws an array; np.random.default_rng(0).uniform is one. Call it once for each array, in any
    order, its three arguments by position.
    Wk (inputs of the layer, its outputs): Glorot and Bengio's bounds; bk (1, outputs): ±0.1.
    """
    # task 2: where the parameters begin
    parameters = {}
    for k, (before, after) in enumerate(pairwise(sizes), 1):
        limit = np.sqrt(6 / (before + after))
        parameters[f"W{k}"] = uniform(-limit, limit, (before, after))
        parameters[f"b{k}"] = uniform(-0.1, 0.1, (1, after))
    return parameters
    # end of task 2


class MLP(XMan):
    """h1 = act(X·W1 + b1), h2 = act(h1·W2 + b2), …, scores = h·Wn + bn, outputs = softmax(scores), and the loss.

    parameters: {"W1": array, "b1": array, …}, the defaults of the registers of those names. activation: "tanh" or "relu".
    penalty: the weight of the sum of the weights' Frobenius norms in the loss; at 0 no norm is in the list.
    Attributes, all of them registers: X, y (inputs); W1, b1, … (parameters); h1, … (one for each hidden layer); scores;
    outputs; loss.
    """

    def __init__(self, parameters, activation="tanh", penalty=0.0):
        self.X, self.y = f.input(), f.input()
        # task 3: the model
        act = {"tanh": f.tanh, "relu": f.relu}[activation]
        layers = len(parameters) // 2
        h = self.X
        norms = []
        for k in range(1, layers + 1):
            W = f.param(default=parameters[f"W{k}"])
            b = f.param(default=parameters[f"b{k}"])
            setattr(self, f"W{k}", W)  # self.W1 = W, and so on
            setattr(self, f"b{k}", b)
            if penalty:
                norms.append(f.frobeniusNorm(W))
            a = h @ W + b
            if k < layers:
                h = act(a)
                setattr(self, f"h{k}", h)
        self.scores = a
        self.outputs = f.softmax(self.scores)
        self.loss = f.mean(f.crossEntropy(self.outputs, self.y))
        if penalty:
            self.loss = self.loss + penalty * sum(norms[1:], norms[0])
        # end of task 3
        self.setup()


def train(parameters, gradient, validation_loss, rows, epochs, size, rate, shuffle):
    """The parameters of the epoch with the least validation loss: {name: array}.

    parameters: where to begin, {name: array}; they are not changed. gradient(parameters, some): {name: array}, the gradient of
    the loss of the rows whose numbers the array `some` holds. validation_loss(parameters): a number, which may be NaN; of equal
    ones the first is the least. If none was a number, what was handed in comes back.
    rows: how many there are; their numbers are 0, 1, …, rows − 1. epochs: how many. size: rows of a minibatch.
    rate: α. shuffle(rows): the order of an epoch, an array of all row numbers; np.random.default_rng(0).permutation is one.
    """
    # task 4: training
    best, least = parameters, np.inf
    for _ in range(epochs):
        order = shuffle(rows)
        for first in range(0, rows, size):
            deltas = gradient(parameters, order[first:first + size])
            parameters = {name: w - rate * deltas[name] for name, w in parameters.items()}
        loss = validation_loss(parameters)
        if loss < least:
            best, least = parameters, loss
    return best
    # end of task 4


def evaluate(predict, X, Y, size):
    """(loss, accuracy): two numbers, the mean cross entropy of all rows and the share of rows that are right.

    predict(some rows of X): their probabilities (rows, classes); it is called with `size` rows at a time, and each row once.
    Y: the one-hot labels (rows, classes). Of a row only the probability of its own class counts: the others may be 0. Where its
    own is 0, the loss is infinite, as it should be.
    """
    # task 5: evaluation
    outputs = np.concatenate([predict(X[first:first + size]) for first in range(0, len(X), size)])
    loss = -np.mean(np.log(outputs[Y == 1]))
    return loss, np.mean(outputs.argmax(axis=1) == Y.argmax(axis=1))
    # end of task 5


def confusion(outputs, Y):
    """Which classes are taken for which: an array (classes, classes); [i, j] counts the rows of class i that are taken for j.

    outputs: probabilities (rows, classes). Y: the one-hot labels.
    """
    # task 5: evaluation
    counts = np.zeros((Y.shape[1], Y.shape[1]), int)
    np.add.at(counts, (Y.argmax(axis=1), outputs.argmax(axis=1)), 1)
    return counts
    # end of task 5


def main():
    """Trains on the names and judges on those that training did not see."""
    with open("data/names.train", encoding="utf-8") as train_file, open("data/names.valid", encoding="utf-8") as valid_file:
        (train_titles, train_labels), (titles, labels) = read(train_file), read(valid_file)
    alphabet, classes, max_len = distinct("".join(train_titles)), distinct(train_labels), 12

    def arrays(titles, labels):
        return encode(titles, alphabet, max_len).reshape(len(titles), -1), targets(labels, classes)

    X, Y = arrays(train_titles, train_labels)
    half = len(titles) // 2  # one half to choose by, one to judge by
    (X_valid, Y_valid), (X_test, Y_test) = arrays(titles[:half], labels[:half]), arrays(titles[half:], labels[half:])
    rng = np.random.default_rng(0)
    parameters = start([X.shape[1], 64, len(classes)], rng.uniform)
    model = MLP(parameters, penalty=1e-4)
    steps = model.operationSequence(model.outputs, model.loss)
    print(f"{len(X):,} names, {len(alphabet)} characters, {len(classes)} languages\n\n{steps}\n")

    def gradient(parameters, some):
        values = eval(steps, {**parameters, "X": X[some], "y": Y[some]})
        deltas = backprop(steps, values, loss=1.0)
        return {name: deltas[name] for name in parameters}

    def predict(parameters, X):
        return eval(model.operationSequence(model.outputs), {**parameters, "X": X})["outputs"]

    def validation_loss(parameters):
        loss, accuracy = evaluate(lambda X: predict(parameters, X), X_valid, Y_valid, 256)
        print(f"validation loss {loss:.3f}, accuracy {accuracy:.1%}")
        return loss

    best = train(parameters, gradient, validation_loss, len(X), epochs=8, size=64, rate=0.5, shuffle=rng.permutation)
    loss, accuracy = evaluate(lambda X: predict(best, X), X_test, Y_test, 256)
    print(f"\nof names that nobody has chosen by: loss {loss:.3f}, accuracy {accuracy:.1%}\n")
    counts = confusion(predict(best, X_test), Y_test)
    np.fill_diagonal(counts, 0)
    for place in np.argsort(counts, axis=None)[:-6:-1]:
        i, j = np.unravel_index(place, counts.shape)
        print(f"{counts[i, j]:g} times {classes[i]} was taken for {classes[j]}")


if __name__ == "__main__":
    main()
