"""The LSTM of the course, unrolled, trained by minibatch descent with every stage in sight."""
import time

import numpy as np
from course import bias, data_of, first_values, judge, minibatches, report, run, settings, weights

from xman import XMan, backprop, compile, eval, f
from xman.train import fit, training_list


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
    """Train as params says, save the probabilities of the test rows and the loss of each minibatch."""
    params = settings(params)
    train, valid, test = data_of(params)
    model = LSTM(train[0].shape[2], params["num_hid"], train[1].shape[1], train[0].shape[1]).setup()
    steps = model.operationSequence(model.loss)
    print(f"{steps[:30]}\n… {len(steps) - 30} more lines")

    began, losses, least = time.perf_counter(), [], np.inf
    values, rate = first_values(model), np.float32(params["init_lr"])
    parameters = [name for name in values if model.isParam(name)]
    for epoch in range(params["epochs"]):
        for X, y in minibatches(train, params["batch_size"], seed=epoch):
            values = eval(steps, {**values, **model.feed(X, y)})
            delta = backprop(steps, values, loss=1.0)
            for W in parameters:
                values[W] -= rate * delta[W]
            losses.append(values["loss"])
        loss, accuracy, _ = judge(model, steps, values, valid)
        print(f"epoch {epoch + 1}: validation loss {loss:.3f}, accuracy {accuracy:.1%}", flush=True)
        if loss < least or not epoch:
            least, best = loss, {W: values[W].copy() for W in parameters}

    np.save(params["output_file"], report("eval and backprop", began, model, steps, best, test))
    np.save(params["train_loss_file"], losses)
    return model, steps, (train, valid, test), params


def compiled(model, steps, parts, params):
    """The same steps, gradient and descent in one list, compiled: a step overwrites the parameters. Those of the last epoch."""
    values = first_values(model)
    training = training_list(steps, "loss", [name for name in values if model.isParam(name)])
    values[training.lr] = np.float32(params["init_lr"])
    step = compile(training.steps, ["loss"], "numpy", training.inplace)
    for epoch in range(params["epochs"]):
        for X, y in minibatches(parts[0], params["batch_size"], seed=epoch):
            step({**values, **model.feed(X, y)})
    return {name: values[name] for name in training.inplace}


def fitted(model, steps, parts, params):
    """The loop, its order of rows and the choice of the best epoch are fit's too."""
    sizes = {name: params[name] for name in ("epochs", "batch_size")}
    return fit(model, parts[0], validation=parts[1], lr=params["init_lr"], progress=False, **sizes).parameters


if __name__ == "__main__":
    run(main, compiled, fitted, init_lr=2.0)
