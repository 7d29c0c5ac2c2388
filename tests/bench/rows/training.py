"""One training step of softmax regression or a tanh network: forward, backward, and plain gradient descent in place.

`CONTESTANTS` gives for each what makes a step from the work; a step trains on and returns the loss before its update. All
begin with the same parameters and see the same batch; the targets are one-hot. What is called update takes a batch.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

RATE = 0.1


class Training(NamedTuple):
    """sizes: the columns of the inputs, of each hidden layer and of the outputs. batch: rows at once. rows: in an epoch."""
    sizes: tuple[int, ...]
    batch: int
    dtype: str = "float32"
    rows: int = 0

    @property
    def layers(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes, self.sizes[1:], strict=False))


def parameters(work: Training) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Weights (before, after) and biases (1, after)."""
    random = np.random.default_rng(0)
    W = [random.uniform(-1, 1, layer).astype(work.dtype) * np.sqrt(6 / sum(layer)).astype(work.dtype) for layer in work.layers]
    return W, [random.uniform(-0.1, 0.1, (1, after)).astype(work.dtype) for _, after in work.layers]


def data(work: Training) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (rows, features) and targets (rows, classes): those of an epoch, or of one batch."""
    random, rows = np.random.default_rng(1), work.rows or work.batch
    X = random.random((rows, work.sizes[0]), np.dtype(work.dtype).type)
    return X, np.eye(work.sizes[-1], dtype=work.dtype)[random.integers(0, work.sizes[-1], rows)]


def floor(work: Training):
    """The step's matrix products alone, each into an array that is there already."""
    (W, _), (X, _) = parameters(work), data(work)
    h = [X, *(np.ones((work.batch, after), work.dtype) for _, after in work.layers)]
    dW, dh = [np.empty_like(w) for w in W], [np.empty_like(x) for x in h]

    def step():
        for k, w in enumerate(W):
            np.matmul(h[k], w, out=h[k + 1])
        for k in reversed(range(len(W))):
            np.matmul(h[k].T, h[k + 1], out=dW[k])
            if k:
                np.matmul(h[k + 1], W[k].T, out=dh[k])
    return step


def numpy_update(W: list[np.ndarray], b: list[np.ndarray], batch: int) -> Callable:
    """By hand, each product and each function into an array that is there already."""
    h = [None, *(np.empty((batch, w.shape[1]), w.dtype) for w in W)]
    dW, dh = [np.empty_like(w) for w in W], [None, *(np.empty_like(x) for x in h[1:])]
    rate = W[0].dtype.type(RATE / batch)

    def update(X, y):
        h[0] = X
        for k, (w, c) in enumerate(zip(W, b, strict=True)):
            np.matmul(h[k], w, out=h[k + 1])
            h[k + 1] += c
            if k < len(W) - 1:
                np.tanh(h[k + 1], out=h[k + 1])
        d, z = dh[-1], h[-1]
        z -= z.max(axis=1, keepdims=True)
        np.exp(z, out=d)
        total = d.sum(axis=1, keepdims=True)
        loss = (np.log(total).sum() - np.vdot(y, z)) / batch
        d /= total
        d -= y
        d *= rate
        for k in reversed(range(len(W))):
            np.matmul(h[k].T, d, out=dW[k])
            b[k] -= d.sum(axis=0)
            if k:
                d = np.matmul(d, W[k].T, out=dh[k])
                slope = np.multiply(h[k], h[k], out=h[k])
                np.subtract(1, slope, out=slope)
                d *= slope
            W[k] -= dW[k]
        return loss
    return update


def numpy_by_hand(work: Training):
    return partial(numpy_update(*parameters(work), work.batch), *data(work))


def xman(engine: str, work: Training):
    from xman import compile

    (W, b), (X, y) = parameters(work), data(work)
    # a list knows no sizes: a model of one unit a layer gives it, without large parameters of its own
    steps, inplace = training_list(mlp(work._replace(sizes=(1,) * len(work.sizes))))
    values = {"X": X, "y": y, **named("W", W), **named("b", b)}
    step = compile(steps, ["loss"], engine, inplace)
    return lambda: step(values)["loss"]


def mlp(work: Training) -> Any:
    from xman.models import MLP

    return MLP(work.sizes, dtype=np.dtype(work.dtype).type)


def training_list(model: Any) -> tuple[list, dict[str, str]]:
    """The list of a training step of a model: values, gradient and update; and which parameter each update overwrites."""
    from xman import gradient

    steps = model.operationSequence(model.loss)
    names = [name for name in steps.inputs if model.isParam(name)]
    steps = gradient(steps, "loss", names)
    for w in names:
        steps += [(f"{w}_step", "mul", (RATE, f"dloss_d{w}")), (f"{w}_next", "subtract", (w, f"{w}_step"))]
    return steps, {w: f"{w}_next" for w in names}


def named(letter: str, arrays: list) -> dict[str, Any]:
    return {f"{letter}{k}": x for k, x in enumerate(arrays, 1)}


def autograd_loss(X, y, parameters):
    import autograd.numpy as np
    from autograd.scipy.special import logsumexp

    h = X
    for k, (w, c) in enumerate(zip(*parameters, strict=True)):
        h = np.dot(np.tanh(h) if k else h, w) + c
    return -np.mean(np.sum(y * (h - logsumexp(h, axis=1, keepdims=True)), axis=1))


def autograd_update(W: list[np.ndarray], b: list[np.ndarray]) -> Callable:
    from autograd import value_and_grad

    slope = value_and_grad(autograd_loss, 2)

    def update(X, y):
        loss, gradients = slope(X, y, (W, b))
        for parameters, deltas in zip((W, b), gradients, strict=True):
            for w, d in zip(parameters, deltas, strict=True):
                w -= RATE * d
        return loss
    return update


def autograd(work: Training):
    return partial(autograd_update(*parameters(work)), *data(work))


def jax_ready(dispatch: str):
    """jax, in both precisions. dispatch: asynchronous, as it is by itself, or synchronous, which is faster for a small step."""
    import jax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", dispatch == "asynchronous")
    return jax


def jax_loss(parameters, X, y):
    import jax

    h = X
    for k, (w, c) in enumerate(zip(*parameters, strict=True)):
        h = (jax.numpy.tanh(h) if k else h) @ w + c
    return -jax.numpy.mean(jax.numpy.sum(y * jax.nn.log_softmax(h), axis=1))


def jax_update(parameters, X, y):
    import jax

    loss, gradients = jax.value_and_grad(jax_loss)(parameters, X, y)
    return jax.tree.map(lambda w, d: w - RATE * d, parameters, gradients), loss


def jax(dispatch: str, work: Training):
    jax = jax_ready(dispatch)
    now, (X, y) = jax.tree.map(jax.numpy.asarray, (parameters(work), data(work)))
    update = jax.jit(jax_update, donate_argnums=0)

    def step():
        nonlocal now
        now, loss = jax.block_until_ready(update(now, X, y))
        return loss
    return step


def torch_arrays(arrays):
    import torch

    return torch.utils._pytree.tree_map(torch.from_numpy, arrays)


def torch_loss(parameters, X, y):
    import torch

    h = X
    for k, (w, c) in enumerate(zip(*parameters, strict=True)):
        h = torch.addmm(c, torch.tanh(h) if k else h, w)
    return torch.nn.functional.cross_entropy(h, y)


def torch_update(W: list, b: list) -> Callable:
    import torch

    parameters = [w.requires_grad_() for w in (*W, *b)]

    def update(X, y):
        loss = torch_loss((W, b), X, y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for w, d in zip(parameters, gradients, strict=True):
                w.sub_(d, alpha=RATE)
        return loss.detach()
    return update


def torch_compiled_update(W: list, b: list) -> Callable:
    """The whole step, its updates in place included, as one compiled function."""
    import torch
    torch.compiler.reset()  # of what rows before this one compiled: it keeps eight variants of a function

    @torch.compile(fullgraph=True)
    def whole(W, b, X, y):
        gradients, loss = torch.func.grad_and_value(torch_loss)((W, b), X, y)
        for parameters, deltas in zip((W, b), gradients, strict=True):
            for w, d in zip(parameters, deltas, strict=True):
                w.sub_(d, alpha=RATE)
        return loss

    return torch.no_grad()(partial(whole, W, b))


def torch(compiled: bool, work: Training):
    update = torch_compiled_update if compiled else torch_update
    return partial(update(*torch_arrays(parameters(work))), *torch_arrays(data(work)))


def pytensor_update(W: list[np.ndarray], b: list[np.ndarray], batch: int | None) -> Callable:
    import pytensor
    import pytensor.tensor as pt

    dtype, features, classes = W[0].dtype, W[0].shape[0], W[-1].shape[1]
    W, b = ([pytensor.shared(x, shape=x.shape) for x in parameters] for parameters in (W, b))
    X, y = pt.tensor(dtype=dtype, shape=(batch, features)), pt.tensor(dtype=dtype, shape=(batch, classes))
    h = X
    for k, (w, c) in enumerate(zip(W, b, strict=True)):
        h = (pt.tanh(h) if k else h) @ w + c
    loss = -(y * pt.special.log_softmax(h, axis=1)).sum(axis=1).mean()
    updates = [(w, w - dtype.type(RATE) * d) for w, d in zip(W + b, pytensor.grad(loss, W + b), strict=True)]
    return pytensor.function([X, y], loss, updates=updates, mode="NUMBA", trust_input=True)


def pytensor(work: Training):
    return partial(pytensor_update(*parameters(work), work.batch), *data(work))


ENGINES = {f"xman {engine}": engine for engine in ("auto", "numpy", "llvm", "jax", "interpret")}
CONTESTANTS = {"floor: matrix products": floor, **{who: partial(xman, engine) for who, engine in ENGINES.items()},
               "NumPy by hand": numpy_by_hand, "autograd": autograd, "JAX": partial(jax, "asynchronous"),
               "JAX synchronous": partial(jax, "synchronous"), "PyTorch": partial(torch, False),
               "PyTorch compiled": partial(torch, True), "PyTensor": pytensor}
