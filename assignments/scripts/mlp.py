"""A perceptron with one hidden layer, trained by minibatch descent with every stage in sight."""
import time

import numpy as np
from course import bias, data_of, first_values, judge, minibatches, report, run, settings, weights

from xman import XMan, backprop, compile, eval, f
from xman.train import fit, training_list


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
    """Train as params says, save the probabilities of the test rows and the loss of each minibatch."""
    params = settings(params)
    train, valid, test = data_of(params)
    model = MLP(train[0][0].size, params["num_hid"], train[1].shape[1]).setup()
    steps = model.operationSequence(model.loss)
    print(steps)

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
    run(main, compiled, fitted)
