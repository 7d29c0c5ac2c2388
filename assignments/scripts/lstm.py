"""The LSTM of the course, unrolled, trained by minibatch descent with every stage in sight."""
import numpy as np
from course import bias, data_of, run, settings, weights
from ways import by_hand, compiled, fitted

from xman import XMan, f


class LSTM(XMan):
    """Reads X1, X2, … (n, features), from h = c = 0; outputs = softmax(h·W2 + b2) of the last h (n, hidden)."""

    def __init__(self, features, hidden, classes, steps):
        random = np.random.default_rng(0)
        self.y, self.zeros = f.input(), f.input(default=np.zeros((1, hidden), np.float32))
        gates = [(weights(random, features, hidden, f"W{k}"), weights(random, hidden, hidden, f"U{k}"), bias(hidden, f"b{k}"))
                 for k in "ifog"]  # what comes in, is kept, goes out, is new
        h = c = self.zeros
        for t in range(1, steps + 1):
            X = f.input(f"X{t}")
            i, keep, o, g = (h @ U + X @ W + b for W, U, b in gates)
            c = f.sigmoid(i) * f.tanh(g) + f.sigmoid(keep) * c
            h = f.sigmoid(o) * f.tanh(c)
            c.name, h.name = f"c{t}", f"h{t}"
        self.outputs = f.softmax(h @ weights(random, hidden, classes, "W2") + bias(classes, "b2"))
        self.loss = f.mean(f.crossEntropy(self.outputs, self.y))

    def feed(self, X, y):
        return {**{f"X{t}": X[:, t - 1] for t in range(1, X.shape[1] + 1)}, "y": y}


def main(params):
    """Train as params says; ways.py has the loop, and what it saves and draws."""
    params = settings(params)
    train, valid, test = data_of(params)
    model = LSTM(train[0].shape[2], params["num_hid"], train[1].shape[1], train[0].shape[1]).setup()
    steps = model.operationSequence(model.loss)
    print(f"{steps[:30]}\n… {len(steps) - 30} more lines")
    by_hand(model, steps, (train, valid, test), params)
    return model, steps, (train, valid, test), params


if __name__ == "__main__":
    run(main, compiled, fitted, init_lr=2.0)
