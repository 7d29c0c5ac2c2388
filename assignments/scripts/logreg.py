"""Softmax regression, trained by minibatch descent with every stage in sight."""
import numpy as np
from course import bias, data_of, run, settings
from ways import by_hand, compiled, fitted

from xman import XMan, f


class SoftmaxRegression(XMan):
    """outputs = softmax(X·W + b) for rows X (n, features); loss = the mean of their cross-entropies with y."""

    def __init__(self, features, classes):
        self.X, self.y = f.input(), f.input()
        self.W, self.b = f.param(default=np.zeros((features, classes), np.float32)), bias(classes)
        self.outputs = f.softmax(self.X @ self.W + self.b)
        self.loss = f.mean(f.crossEntropy(self.outputs, self.y))

    def feed(self, X, y):
        return {"X": X.reshape(len(X), -1), "y": y}


def main(params):
    """Train as params says; ways.py has the loop, and what it saves and draws."""
    params = settings(params)
    train, valid, test = data_of(params)
    model = SoftmaxRegression(train[0][0].size, train[1].shape[1]).setup()
    steps = model.operationSequence(model.loss)
    print(steps)
    by_hand(model, steps, (train, valid, test), params)
    return model, steps, (train, valid, test), params


if __name__ == "__main__":
    run(main, compiled, fitted, dataset="digits", epochs=40)
