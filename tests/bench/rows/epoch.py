"""One epoch of a network over rows in memory, in an order drawn anew: fit, and the loop that each peer's users write.

Each function gives a step that trains through all rows and returns their mean loss, as met. The last batch is a shorter one.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from . import training
from .training import RATE, Training, data, jax_ready, jax_update, named, parameters, torch_arrays


def orders(work: Training) -> Iterator[np.ndarray]:
    """The order of the rows in each epoch, as fit draws it."""
    epoch = 1
    while True:
        yield np.random.default_rng([0, epoch]).permutation(work.rows)
        epoch += 1


def floor(work: Training):
    """The matrix products of all batches, and the rows put in their order."""
    W, _ = parameters(work)
    X, _ = data(work)
    h = [np.empty((work.batch, size), work.dtype) for size in work.sizes]
    dW, dh, drawn = [np.empty_like(w) for w in W], [np.empty_like(x) for x in h], orders(work)
    for x in h:
        x.fill(1)

    def epoch():
        order = next(drawn)
        for start in range(0, work.rows, work.batch):
            rows = len(order[start:start + work.batch])
            x = [part[:rows] for part in h]
            np.take(X, order[start:start + work.batch], axis=0, out=x[0], mode="clip")
            for k, w in enumerate(W):
                np.matmul(x[k], w, out=x[k + 1])
            for k in reversed(range(len(W))):
                np.matmul(x[k].T, x[k + 1], out=dW[k])
                if k:
                    np.matmul(x[k + 1], W[k].T, out=dh[k][:rows])
    return epoch


def loop(work: Training, update: Callable, X, y, of: Callable = lambda order: order):
    """A loop over minibatches; update(X, y) trains and returns the loss. of: the order in the framework's own kind."""
    drawn = orders(work)

    def epoch():
        order, total = of(next(drawn)), 0.0
        for start in range(0, work.rows, work.batch):
            some = order[start:start + work.batch]
            total += float(update(X[some], y[some])) * len(some)
        return np.dtype(work.dtype).type(total / work.rows)
    return epoch


def xman(work: Training):
    """`fit` begins with the model's parameters each time; its list is planned and compiled within the time."""
    from xman.train import fit

    W, b = parameters(work)
    model, rows = training.mlp(work), data(work)
    for name, value in {**named("W", W), **named("b", b)}.items():
        getattr(model, name).default = value

    def epoch():
        result = fit(model, rows, epochs=1, batch_size=work.batch, optimizer="sgd", lr=RATE, seed=0, progress=False)
        return np.dtype(work.dtype).type(result.history[0]["loss"])
    return epoch


def numpy_by_hand(work: Training):
    point = parameters(work)
    updates = {rows: training.numpy_update(*point, rows) for rows in {work.batch, work.rows % work.batch or work.batch}}
    return loop(work, lambda X, y: updates[len(X)](X, y), *data(work))


def autograd(work: Training):
    return loop(work, training.autograd_update(*parameters(work)), *data(work))


def jax_loop(work: Training):
    jax = jax_ready("synchronous")
    now, (X, y) = jax.tree.map(jax.numpy.asarray, (parameters(work), data(work)))
    jitted = jax.jit(jax_update, donate_argnums=0)

    def update(X, y):
        nonlocal now
        now, loss = jitted(now, X, y)
        return loss
    return loop(work, update, X, y)


def jax_scan(work: Training):
    """The whole epoch as one compiled function; the shorter batch comes after the scan."""
    jax = jax_ready("synchronous")
    now, (X, y) = jax.tree.map(jax.numpy.asarray, (parameters(work), data(work)))
    whole = work.rows // work.batch * work.batch

    @partial(jax.jit, donate_argnums=0)
    def train(now, X, y, order):
        some = lambda now, rows: jax_update(now, X[rows], y[rows])
        now, losses = jax.lax.scan(some, now, order[:whole].reshape(-1, work.batch))
        total = losses.sum() * work.batch
        if whole < work.rows:
            now, loss = some(now, order[whole:])
            total += loss * (work.rows - whole)
        return now, total / work.rows

    drawn = orders(work)

    def epoch():
        nonlocal now
        now, loss = jax.block_until_ready(train(now, X, y, next(drawn)))
        return loss
    return epoch


def torch(compiled: bool, work: Training):
    import torch

    update = (training.torch_compiled_update if compiled else training.torch_update)(*torch_arrays(parameters(work)))
    return loop(work, update, *torch_arrays(data(work)), torch.from_numpy)


def pytensor(work: Training):
    return loop(work, training.pytensor_update(*parameters(work), None), *data(work))


CONTESTANTS = {"floor: matrix products, rows in order": floor, "xman fit": xman, "NumPy by hand": numpy_by_hand,
               "autograd": autograd, "JAX loop": jax_loop, "JAX scan": jax_scan, "PyTorch": partial(torch, False),
               "PyTorch compiled": partial(torch, True), "PyTensor": pytensor}
