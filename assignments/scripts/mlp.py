"""A perceptron with one hidden layer, trained by minibatch descent with every stage in sight."""
import numpy as np
from course import bias, data_of, run, settings, weights
from ways import by_hand, compiled, fitted

from xman import XMan, f


class MLP(XMan):
    """outputs = softmax(relu(X·W1 + b1)·W2 + b2) for rows X (n, features); loss = the mean of their cross-entropies with y."""

    def __init__(self, features, hidden, classes):
        random = np.random.default_rng(0)
        self.X, self.y = f.input(), f.input()
        self.W1, self.b1 = weights(random, features, hidden), bias(hidden)
        self.W2, self.b2 = weights(random, hidden, classes), bias(classes)
        self.h = f.relu(self.X @ self.W1 + self.b1)
        self.outputs = f.softmax(self.h @ self.W2 + self.b2)
        self.loss = f.mean(f.crossEntropy(self.outputs, self.y))

    def feed(self, X, y):
        return {"X": X.reshape(len(X), -1), "y": y}


def main(params):
    """Train as params says; ways.py has the loop, and what it saves and draws."""
    params = settings(params)
    train, valid, test = data_of(params)
    model = MLP(train[0][0].size, params["num_hid"], train[1].shape[1]).setup()
    steps = model.operationSequence(model.loss)
    print(steps)
    by_hand(model, steps, (train, valid, test), params)
    return model, steps, (train, valid, test), params


if __name__ == "__main__":
    run(main, compiled, fitted)
