"""One training step of the course's LSTM: characters one-hot, many to one, unrolled, with plain gradient descent in place.

xman takes the list as the course writes it, with sixteen matrices of parameters. The others keep the four gates side by
side, W (features, 4 hidden) and U (hidden, 4 hidden), and multiply the inputs of all steps at once, as their users do.
"""
from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .training import ENGINES, RATE, jax_ready, torch_arrays, training_list

GATES = "ifoc"


class Sequences(NamedTuple):
    """steps, batch, features: of the inputs."""
    steps: int = 10
    batch: int = 64
    features: int = 180
    hidden: int = 50
    classes: int = 5
    dtype: str = "float32"


def problem(work: Sequences) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Parameters W, U, b of the gates i f o c side by side, W2 and b2; inputs (steps, batch, features), targets one-hot."""
    steps, batch, features, hidden, classes, dtype = work
    random = np.random.default_rng(0)

    def glorot(fan_in, fan_out):
        return random.uniform(-1, 1, (fan_in, fan_out)).astype(dtype) * np.sqrt(6 / (fan_in + fan_out)).astype(dtype)

    bias = lambda size: random.uniform(-0.1, 0.1, (1, size)).astype(dtype)
    W, U = (np.hstack([glorot(size, hidden) for _ in GATES]) for size in (features, hidden))
    X = np.eye(features, dtype=dtype)[random.integers(0, features, (steps, batch))]
    y = np.eye(classes, dtype=dtype)[random.integers(0, classes, batch)]
    return [W, U, bias(4 * hidden), glorot(hidden, classes), bias(classes)], X, y


def floor(gates_together: bool, work: Sequences):
    """The step's matrix products alone: those of the four gates and of the inputs of all steps at once, or each by itself."""
    steps, batch, features, hidden, classes, dtype = work
    ones = lambda *shape: np.ones(shape, dtype)
    if gates_together:
        products = [(ones(steps * batch, features), ones(features, 4 * hidden))]
        products += [(ones(batch, hidden), ones(hidden, 4 * hidden))] * steps
        products += [(ones(batch, 4 * hidden), ones(4 * hidden, hidden))] * (steps - 1)
        products += [(ones(steps * batch, features).T, ones(steps * batch, 4 * hidden)),
                     (ones(steps * batch, hidden).T, ones(steps * batch, 4 * hidden))]
    else:
        products = [(ones(batch, features), ones(features, hidden)), (ones(batch, hidden), ones(hidden, hidden)),
                    (ones(batch, features).T, ones(batch, hidden)), (ones(batch, hidden).T, ones(batch, hidden))] * 4 * steps
        products += [(ones(batch, hidden), ones(hidden, hidden).T)] * 4 * (steps - 1)
    products += [(ones(batch, hidden), ones(hidden, classes)), (ones(batch, hidden).T, ones(batch, classes)),
                 (ones(batch, classes), ones(hidden, classes).T)]
    products = [(a, b, a @ b) for a, b in products]

    def step():
        for a, b, out in products:
            np.matmul(a, b, out=out)
    return step


def numpy_by_hand(work: Sequences):
    (W, U, b, W2, b2), X, y = problem(work)
    steps, batch, features, n, _, dtype = work
    rows = X.reshape(steps * batch, features)
    gates = np.empty((steps, batch, 4 * n), dtype)
    slopes, h, c, tanh_c = np.empty_like(gates), *(np.zeros((steps + 1, batch, n), dtype) for _ in range(3))
    half, rate = np.dtype(dtype).type(0.5), np.dtype(dtype).type(RATE)

    def step():
        np.matmul(rows, W, out=gates.reshape(steps * batch, -1))
        for t, z in enumerate(gates):
            z += h[t] @ U
            z += b
            z[:, :3 * n] *= half
            np.tanh(z, out=z)          # sigmoid(x) = (1 + tanh(x/2))/2
            z[:, :3 * n] *= half
            z[:, :3 * n] += half
            i, f, o, g = (z[:, k * n:(k + 1) * n] for k in range(4))
            np.multiply(f, c[t], out=c[t + 1])
            c[t + 1] += i * g
            np.tanh(c[t + 1], out=tanh_c[t])
            np.multiply(o, tanh_c[t], out=h[t + 1])
        scores = h[-1] @ W2
        scores += b2
        open = scores > 0
        scores *= open
        scores -= scores.max(axis=1, keepdims=True)
        d = np.exp(scores)
        total = d.sum(axis=1, keepdims=True)
        loss = (np.log(total).sum() - np.vdot(y, scores)) / batch
        d /= total
        d -= y
        d *= open
        d *= rate / batch
        dh = d @ W2.T
        dc = np.zeros_like(dh)
        W2[...] -= h[-1].T @ d
        b2[...] -= d.sum(axis=0)
        np.multiply(gates, gates, out=slopes)
        np.subtract(gates[..., :3 * n], slopes[..., :3 * n], out=slopes[..., :3 * n])
        np.subtract(1, slopes[..., 3 * n:], out=slopes[..., 3 * n:])
        for t in reversed(range(steps)):
            i, f, o, g = (gates[t, :, k * n:(k + 1) * n] for k in range(4))
            di, df, do, dg = (slopes[t, :, k * n:(k + 1) * n] for k in range(4))
            do *= dh
            do *= tanh_c[t]
            dh *= o
            tanh_c[t] *= tanh_c[t]
            np.subtract(1, tanh_c[t], out=tanh_c[t])
            dh *= tanh_c[t]
            dc += dh
            di *= dc
            di *= g
            df *= dc
            df *= c[t]
            dg *= dc
            dg *= i
            if t:
                dc *= f
                np.matmul(slopes[t], U.T, out=dh)
        dz = slopes.reshape(steps * batch, -1)
        W[...] -= rows.T @ dz
        U[...] -= h[:-1].reshape(steps * batch, n).T @ dz
        b[...] -= dz.sum(axis=0)
        return loss
    return step


def xman(engine: str, work: Sequences):
    from xman import compile
    from xman.models import LSTM

    (W, U, b, W2, b2), X, y = problem(work)
    steps, _, features, hidden, classes, dtype = work
    model = LSTM(features, hidden, classes, steps=steps, dtype=np.dtype(dtype).type)
    lines, inplace = training_list(model)
    part = lambda x, k: x[:, k * hidden:(k + 1) * hidden].copy()
    parameters = {f"{name}{gate}": part(x, k) for name, x in (("W", W), ("U", U), ("b", b)) for k, gate in enumerate(GATES)}
    values = {**model.inputDict(**model.feed(X.swapaxes(0, 1), y)), **parameters, "W2": W2, "b2": b2}
    values |= {f"X{t}": x for t, x in enumerate(X, 1)}
    step = compile(lines, ["loss"], engine, inplace)
    return lambda: step(values)["loss"]


def autograd(work: Sequences):
    import autograd.numpy as np
    from autograd import value_and_grad
    from autograd.scipy.special import logsumexp

    parameters, X, y = problem(work)
    n, rows = work.hidden, X.reshape(-1, work.features)

    def loss(parameters):
        W, U, b, W2, b2 = parameters
        XW = np.reshape(np.dot(rows, W), (work.steps, work.batch, 4 * n))
        h = c = np.zeros((work.batch, n), work.dtype)
        for t in range(work.steps):
            z = XW[t] + np.dot(h, U) + b
            gates = 0.5 * np.tanh(0.5 * z[:, :3 * n]) + 0.5
            c = gates[:, :n] * np.tanh(z[:, 3 * n:]) + gates[:, n:2 * n] * c
            h = gates[:, 2 * n:] * np.tanh(c)
        scores = np.maximum(np.dot(h, W2) + b2, 0)
        return -np.mean(np.sum(y * (scores - logsumexp(scores, axis=1, keepdims=True)), axis=1))

    slope = value_and_grad(loss)

    def step():
        value, deltas = slope(parameters)
        for w, d in zip(parameters, deltas, strict=True):
            w -= RATE * d
        return value
    return step


def jax_loss(scan: bool, parameters, X, y):
    """scan: whether the steps are a loop, for long sequences, or written out, which runs faster and compiles slower."""
    import jax
    import jax.numpy as jnp

    W, U, b, W2, b2 = parameters
    XW = X @ W + b

    def cell(state, xw):
        h, c = state
        i, f, o, g = jnp.split(xw + h @ U, 4, axis=1)
        c = jax.nn.sigmoid(i) * jnp.tanh(g) + jax.nn.sigmoid(f) * c
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    h = jnp.zeros((X.shape[1], U.shape[0]), X.dtype)
    (h, _), _ = jax.lax.scan(cell, (h, h), XW, unroll=1 if scan else len(X))
    scores = jax.nn.relu(h @ W2 + b2)
    return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(scores), axis=1))


def jax(dispatch: str, scan: bool, work: Sequences):
    jax = jax_ready(dispatch)
    parameters, X, y = jax.tree.map(jax.numpy.asarray, problem(work))

    @partial(jax.jit, donate_argnums=0)
    def update(parameters, X, y):
        loss, gradients = jax.value_and_grad(partial(jax_loss, scan))(parameters, X, y)
        return jax.tree.map(lambda w, d: w - RATE * d, parameters, gradients), loss

    def step():
        nonlocal parameters
        parameters, loss = jax.block_until_ready(update(parameters, X, y))
        return loss
    return step


def torch_loss(parameters, X, y):
    import torch

    W, U, b, W2, b2 = parameters
    XW = (X.reshape(-1, X.shape[2]) @ W).reshape(*X.shape[:2], -1) + b
    h = c = X.new_zeros(X.shape[1], U.shape[0])
    n = 3 * U.shape[0]
    for xw in XW.unbind():
        z = torch.addmm(xw, h, U)
        i, f, o = torch.sigmoid(z[:, :n]).chunk(3, 1)
        c = i * torch.tanh(z[:, n:]) + f * c
        h = o * torch.tanh(c)
    return torch.nn.functional.cross_entropy(torch.relu(torch.addmm(b2, h, W2)), y)


def torch(work: Sequences):
    """torch.nn.LSTM, faster than `torch_loss`. Its gates come in the order i f g o; its second bias is 0 and stays so."""
    import torch

    (W, U, b, W2, b2), X, y = torch_arrays(problem(work))
    i, f, o, g = torch.arange(4 * work.hidden).chunk(4)
    order = torch.cat([i, f, g, o])
    cells = torch.nn.LSTM(work.features, work.hidden, dtype=X.dtype)
    with torch.no_grad():
        for name, value in (("weight_ih_l0", W.T), ("weight_hh_l0", U.T), ("bias_ih_l0", b[0])):
            getattr(cells, name).copy_(value[order])
        cells.bias_hh_l0.zero_().requires_grad_(False)
    parameters = [cells.weight_ih_l0, cells.weight_hh_l0, cells.bias_ih_l0, W2.requires_grad_(), b2.requires_grad_()]

    def step():
        _, (h, _) = cells(X)
        loss = torch.nn.functional.cross_entropy(torch.relu(torch.addmm(b2, h[0], W2)), y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for w, d in zip(parameters, gradients, strict=True):
                w.sub_(d, alpha=RATE)
        return loss.detach()
    return step


def torch_compiled(work: Sequences):
    import torch
    torch.compiler.reset()
    parameters, X, y = torch_arrays(problem(work))

    @torch.compile(fullgraph=True)
    def update(parameters, X, y):
        gradients, loss = torch.func.grad_and_value(torch_loss)(parameters, X, y)
        for w, d in zip(parameters, gradients, strict=True):
            w.sub_(d, alpha=RATE)
        return loss

    @torch.no_grad()
    def step():
        return update(parameters, X, y)
    return step


CONTESTANTS = {"floor: products of gates together": partial(floor, True), "floor: products as in the list": partial(floor, False),
               **{who: partial(xman, engine) for who, engine in ENGINES.items()},
               "NumPy by hand": numpy_by_hand, "autograd": autograd, "JAX": partial(jax, "asynchronous", False),
               "JAX synchronous": partial(jax, "synchronous", False), "PyTorch": torch, "PyTorch compiled": torch_compiled}
