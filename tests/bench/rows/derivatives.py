"""Derivatives beyond the first gradient, and those of plain NumPy functions, against the peers that are installed."""
from __future__ import annotations

import numpy as np

import ops
from xman import Hessian, backprop, grad
from xman import eval as evaluate
from xman.matrices import packed
from xman.models import MLP, LogisticRegression

from ..table import Goal


def hvp() -> tuple[dict, list]:
    """A Hessian–vector product of the loss of a 64→32→10 tanh network, batch 32, float32, against its gradient."""
    random = np.random.default_rng(0)
    model = MLP([64, 32, 10])
    steps, weights = model.operationSequence(model.loss), ("W1", "b1", "W2", "b2")
    values = model.inputDict(X=random.normal(size=(32, 64)).astype(np.float32), y=random.integers(0, 10, 32))
    v = {x: random.normal(size=values[x].shape).astype(np.float32) for x in weights}
    H = Hessian(steps, "loss", weights)

    contestants = {"xman gradient": lambda: backprop(steps, evaluate(steps, values), ops.DG, weights, loss=1.0),
                   "xman hvp": lambda: H.times(values, v)}
    try:
        import jax
    except ImportError:
        return contestants, GOALS

    def loss(w):
        z = jax.numpy.tanh(values["X"] @ w["W1"] + w["b1"]) @ w["W2"] + w["b2"]
        return jax.numpy.mean(jax.nn.logsumexp(z, axis=1) - z[np.arange(32), values["y"]])

    w = {x: jax.numpy.asarray(values[x]) for x in weights}
    slope, product = jax.jit(jax.grad(loss)), jax.jit(lambda w, v: jax.jvp(jax.grad(loss), (w,), (v,))[1])
    contestants["JAX jit gradient"] = lambda: jax.block_until_ready(slope(w))
    contestants["JAX jit hvp"] = lambda: jax.block_until_ready(product(w, v))
    for x in weights:
        np.testing.assert_allclose(contestants["xman hvp"]()[x], product(w, v)[x], rtol=1e-3, atol=1e-5)
    return contestants, GOALS


GOALS = [Goal("xman gradient", 4, mine="xman hvp")]


def hessian() -> tuple[dict, list]:
    """The full Hessian, 650 × 650, of 64→10 softmax regression, batch 32, float64."""
    random = np.random.default_rng(0)
    model = LogisticRegression(64, 10, dtype=np.float64)
    steps = model.operationSequence(model.loss)
    values = model.inputDict(X=random.normal(size=(32, 64)), y=random.integers(0, 10, 32))
    H = Hessian(steps, "loss", ("W", "b"))
    contestants = {"xman": lambda: H(values)}
    try:
        import jax
    except ImportError:
        return contestants, []
    jax.config.update("jax_enable_x64", True)

    def loss(w):
        z = values["X"] @ w[:640].reshape(64, 10) + w[640:]
        return jax.numpy.mean(jax.nn.logsumexp(z, axis=1) - z[np.arange(32), values["y"]])

    w, full = jax.numpy.asarray(packed(values, ("W", "b"))), jax.jit(jax.hessian(loss))
    np.testing.assert_allclose(H(values), full(w), atol=1e-10)
    contestants["JAX jit"] = lambda: jax.block_until_ready(full(w))
    return contestants, []


def function() -> tuple[dict, list]:
    """grad of a 64→32→10 tanh network's loss written in plain NumPy, batch 32, float64; traced anew at each call."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(32, 64)), np.eye(10)[random.integers(0, 10, 32)]
    w = [random.normal(size=shape) * 0.1 for shape in ((64, 32), (32,), (32, 10), (10,))]

    def loss_in(np):
        def loss(w):
            z = np.dot(np.tanh(np.dot(X, w[0]) + w[1]), w[2]) + w[3]
            z = z - np.max(z, axis=1, keepdims=True)
            return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(y * z, axis=1))
        return loss

    slope = grad(loss_in(np))
    contestants, goals = {"xman": lambda: slope(w)}, []
    for name, module, numpy in (("autograd", "autograd", "autograd.numpy"), ("JAX, no jit", "jax", "jax.numpy")):
        try:
            peer, its = __import__(module), __import__(numpy, fromlist=["x"])
        except ImportError:
            continue
        theirs = peer.grad(loss_in(its))
        contestants[name] = lambda theirs=theirs: [np.asarray(d) for d in theirs(w)]
        for mine, other in zip(slope(w), theirs(w), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-6)
        goals.append(Goal(name))
    return contestants, goals
