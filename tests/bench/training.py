"""One training step of softmax regression or a tanh network: forward, backward, and plain gradient descent in place.

Each function takes the work and gives a step, which trains on and returns the loss before its update. All begin with the
same parameters and see the same batch; the targets are one-hot.
"""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

RATE = 0.1


class Training(NamedTuple):
    """sizes: the columns of the inputs, of each hidden layer and of the outputs. batch: rows."""
    sizes: tuple[int, ...]
    batch: int
    dtype: str = "float32"

    @property
    def layers(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes, self.sizes[1:], strict=False))


def problem(work: Training) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights (before, after), biases (1, after), inputs (batch, features) and targets (batch, classes)."""
    random = np.random.default_rng(0)
    W = [random.uniform(-1, 1, layer).astype(work.dtype) * np.sqrt(6 / sum(layer)).astype(work.dtype) for layer in work.layers]
    b = [random.uniform(-0.1, 0.1, (1, after)).astype(work.dtype) for _, after in work.layers]
    X = random.uniform(size=(work.batch, work.sizes[0])).astype(work.dtype)
    y = np.eye(work.sizes[-1], dtype=work.dtype)[random.integers(0, work.sizes[-1], work.batch)]
    return W, b, X, y


def floor(work: Training):
    """The step's matrix products alone, each into an array that is there already."""
    W, _, X, _ = problem(work)
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


def numpy_by_hand(work: Training):
    W, b, X, y = problem(work)
    h = [X, *(np.empty((work.batch, after), work.dtype) for _, after in work.layers)]
    dW, scratch = [np.empty_like(w) for w in W], [np.empty_like(x) for x in h]
    rate = np.dtype(work.dtype).type(RATE / work.batch)

    def step():
        for k, (w, c) in enumerate(zip(W, b, strict=True)):
            np.matmul(h[k], w, out=h[k + 1])
            h[k + 1] += c
            if k < len(W) - 1:
                np.tanh(h[k + 1], out=h[k + 1])
        d, z = scratch[-1], h[-1]
        z -= z.max(axis=1, keepdims=True)
        np.exp(z, out=d)
        total = d.sum(axis=1, keepdims=True)
        loss = (np.log(total).sum() - np.vdot(y, z)) / work.batch
        d /= total
        d -= y
        d *= rate
        for k in reversed(range(len(W))):
            np.matmul(h[k].T, d, out=dW[k])
            b[k] -= d.sum(axis=0)
            if k:
                below = np.matmul(d, W[k].T, out=scratch[k])
                slope = np.multiply(h[k], h[k], out=h[k])
                np.subtract(1, slope, out=slope)
                below *= slope
            W[k] -= dW[k]
            if k:
                d = below
        return loss
    return step


def xman(engine: str, work: Training):
    from xman import compile
    from xman.models import MLP

    W, b, X, y = problem(work)
    model = MLP(work.sizes, dtype=np.dtype(work.dtype).type)
    steps, inplace = training_list(model)
    values = {**model.inputDict(X=X, y=y), **named("W", W), **named("b", b)}
    step = compile(steps, ["loss"], engine, inplace)
    return lambda: step(values)["loss"]


def training_list(model: Any) -> tuple[list, dict[str, str]]:
    """The list of a training step of a model: values, gradient and update; and which parameter each update overwrites."""
    from xman import gradient

    steps = model.operationSequence(model.loss)
    names = [name for name in steps.inputs if model.isParam(name)]
    steps = gradient(steps, "loss", names)
    for w in names:
        steps += [(f"{w}_step", "mul", (RATE, f"dloss_d{w}")), (f"{w}_next", "subtract", (w, f"{w}_step"))]
    return steps, {w: f"{w}_next" for w in names}


def named(letter: str, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{letter}{k}": x for k, x in enumerate(arrays, 1)}


def autograd(work: Training):
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy.special import logsumexp

    W, b, X, y = problem(work)

    def loss(parameters):
        h = X
        for k, (w, c) in enumerate(zip(*parameters, strict=True)):
            h = np.dot(np.tanh(h) if k else h, w) + c
        return -np.mean(np.sum(y * (h - logsumexp(h, axis=1, keepdims=True)), axis=1))

    slope = value_and_grad(loss)

    def step():
        value, gradients = slope((W, b))
        for parameters, deltas in zip((W, b), gradients, strict=True):
            for w, d in zip(parameters, deltas, strict=True):
                w -= RATE * d
        return value
    return step


def jax_ready(dispatch: str):
    """jax, in both precisions; dispatch: whether a call waits for its result, which is quicker for a small step, or not."""
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


def jax(dispatch: str, work: Training):
    jax = jax_ready(dispatch)
    W, b, X, y = jax.tree.map(jax.numpy.asarray, problem(work))

    @partial(jax.jit, donate_argnums=0)
    def update(parameters, X, y):
        loss, gradients = jax.value_and_grad(jax_loss)(parameters, X, y)
        return jax.tree.map(lambda w, d: w - RATE * d, parameters, gradients), loss

    parameters = W, b

    def step():
        nonlocal parameters
        parameters, loss = jax.block_until_ready(update(parameters, X, y))
        return loss
    return step


def torch_loss(parameters, X, y):
    import torch

    h = X
    for k, (w, c) in enumerate(zip(*parameters, strict=True)):
        h = torch.addmm(c, torch.tanh(h) if k else h, w)
    return torch.nn.functional.cross_entropy(h, y)


def torch(work: Training):
    import torch

    W, b, X, y = torch.utils._pytree.tree_map(torch.from_numpy, problem(work))
    parameters = [w.requires_grad_() for w in (*W, *b)]

    def step():
        loss = torch_loss((W, b), X, y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for w, d in zip(parameters, gradients, strict=True):
                w.sub_(d, alpha=RATE)
        return loss
    return step


def torch_compiled(work: Training):
    import torch

    W, b, X, y = torch.utils._pytree.tree_map(torch.from_numpy, problem(work))

    @torch.compile(fullgraph=True)
    def update(W, b, X, y):
        gradients, loss = torch.func.grad_and_value(torch_loss)((W, b), X, y)
        for parameters, deltas in zip((W, b), gradients, strict=True):
            for w, d in zip(parameters, deltas, strict=True):
                w.sub_(d, alpha=RATE)
        return loss

    @torch.no_grad()
    def step():
        return update(W, b, X, y)
    return step


def pytensor(work: Training):
    import pytensor
    import pytensor.tensor as pt

    W, b, X, y = problem(work)
    W, b = ([pytensor.shared(x, shape=x.shape) for x in parameters] for parameters in (W, b))
    inputs, targets = (pt.tensor(dtype=work.dtype, shape=x.shape) for x in (X, y))
    h = inputs
    for k, (w, c) in enumerate(zip(W, b, strict=True)):
        h = (pt.tanh(h) if k else h) @ w + c
    loss = -(targets * pt.special.log_softmax(h, axis=1)).sum(axis=1).mean()
    rate = np.dtype(work.dtype).type(RATE)
    updates = [(w, w - rate * d) for w, d in zip(W + b, pytensor.grad(loss, W + b), strict=True)]
    step = pytensor.function([inputs, targets], loss, updates=updates, mode="NUMBA", trust_input=True)
    return lambda: step(X, y)


ENGINES = {f"xman {engine}": engine for engine in ("auto", "numpy", "numba", "jax", "interpret")}
CONTESTANTS = {"floor: matrix products": floor, **{who: partial(xman, engine) for who, engine in ENGINES.items()},
               "NumPy by hand": numpy_by_hand, "autograd": autograd, "JAX": partial(jax, "asynchronous"),
               "JAX, waiting": partial(jax, "synchronous"), "PyTorch": torch, "PyTorch compiled": torch_compiled,
               "PyTensor": pytensor}
