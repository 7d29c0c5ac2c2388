"""Three ways to train a model of the scripts, the same descent each time: by eval and backprop, compiled, and by fit."""
import time
from importlib.util import find_spec

import numpy as np
from course import first_values, judge, minibatches, report

from xman import backprop, compile, eval
from xman.files.figures import drawing
from xman.train import fit, training_list


def by_hand(model, steps, parts, params):
    """Every stage in sight; save the probabilities of the test rows and the loss of each minibatch, and draw it."""
    train, valid, test = parts
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
    if find_spec("matplotlib"):
        draw(losses, best[parameters[0]], parameters[0], f"{params['train_loss_file']}.png")


def draw(losses, W, name, path):
    """The loss of each minibatch, and the entries of a matrix of weights."""
    with drawing(path, 9, 4, 1, 2) as (left, right):
        left.plot(losses)
        left.set(xlabel="minibatch", ylabel="loss")
        picture = right.imshow(W, aspect="auto", cmap="RdBu_r", vmin=-abs(W).max(), vmax=abs(W).max())
        right.figure.colorbar(picture)
        right.set(title=name, xlabel="column", ylabel="row")


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
