"""A Hessian–vector product of a network's loss: forward mode over reverse mode, as everybody recommends it."""
from __future__ import annotations

from functools import partial

import numpy as np

from . import training
from .training import ENGINES, Training, data, jax_ready, named, parameters, torch_arrays


def directions(work: Training) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of weights and biases."""
    random = np.random.default_rng(1)
    shapes = work.layers, [(1, after) for _, after in work.layers]
    V, c = ([random.normal(size=shape).astype(work.dtype) for shape in group] for group in shapes)
    return V, c


def floor(work: Training):
    """The matrix products alone, of values, their tangents, the adjoints and the adjoints' tangents."""
    (W, _), (X, _) = parameters(work), data(work)
    h = [X, *(np.ones((work.batch, after), work.dtype) for _, after in work.layers)]
    dW, dh, forward = [np.empty_like(w) for w in W], [np.empty_like(x) for x in h], [np.empty_like(x) for x in h]

    def step():
        for k, w in enumerate(W):          # h·W, and its tangent h_dot·W + h·V
            for _ in range(3 if k else 2):
                np.matmul(h[k], w, out=forward[k + 1])
        for k in reversed(range(len(W))):  # the tangents of hᵀ·d and of d·Wᵀ, which is needed as well
            for _ in range(2 if k else 1):
                np.matmul(h[k].T, h[k + 1], out=dW[k])
            for _ in range(3 if k else 0):
                np.matmul(h[k + 1], W[k].T, out=dh[k])
    return step


def numpy_by_hand(work: Training):
    """Pearlmutter's R-operator (1994) on backpropagation."""
    (W, b), (X, y), (V, c) = parameters(work), data(work), directions(work)
    last = len(W) - 1

    def run():
        h, Rh = [X], [None]
        for k in range(last + 1):
            z = h[k] @ W[k]
            z += b[k]
            Rz = h[k] @ V[k]
            Rz += c[k]
            if k:
                Rz += Rh[k] @ W[k]
            if k < last:
                z = np.tanh(z, out=z)
                slope = 1 - z * z
                Rz *= slope
            h.append(z)
            Rh.append(Rz)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        Rd = p * (Rz - (p * Rz).sum(axis=1, keepdims=True)) / work.batch
        d = (p - y) / work.batch
        Hv, Hc = [None] * (last + 1), [None] * (last + 1)
        for k in reversed(range(last + 1)):
            Hv[k] = h[k].T @ Rd
            Hc[k] = Rd.sum(axis=0, keepdims=True)
            if k:
                Hv[k] += Rh[k].T @ d
                slope = 1 - h[k] * h[k]
                dh = d @ W[k].T
                Rd = Rd @ W[k].T
                Rd += d @ V[k].T
                Rd *= slope
                Rd -= 2 * dh * h[k] * Rh[k]
                dh *= slope
                d = dh
        return *Hv, *Hc
    return run


def xman(engine: str, work: Training):
    from xman import Hessian, compile

    (W, b), (X, y), (V, c) = parameters(work), data(work), directions(work)
    model = training.mlp(work)
    names = [*named("W", W), *named("b", b)]
    H = Hessian(model.operationSequence(model.loss), "loss", names)
    values = {**model.inputDict(X=X, y=y), **named("W", W), **named("b", b)}
    values |= dict(zip((H.dots[x] for x in names), [*V, *c], strict=True))
    wanted = [H.map.images[x] for x in names]
    step = compile(H.steps, wanted, engine)

    def run():
        found = step(values)
        return [found[name] for name in wanted]
    return run


def autograd(work: Training):
    """Reverse mode over reverse mode: autograd's forward mode has no rule for some of the operators."""
    import autograd.numpy as np
    from autograd import grad

    point, batch, v = parameters(work), data(work), directions(work)
    slope = grad(training.autograd_loss, 2)

    def along(w):
        return sum(np.sum(d * u) for ds, us in zip(slope(*batch, w), v, strict=True) for d, u in zip(ds, us, strict=True))

    product = grad(along)

    def run():
        Hv, Hc = product(point)
        return *Hv, *Hc
    return run


def jax(dispatch: str, work: Training):
    jax = jax_ready(dispatch)
    point, batch, v = jax.tree.map(jax.numpy.asarray, (parameters(work), data(work), directions(work)))

    @jax.jit
    def product(point, v, X, y):
        return jax.jvp(lambda w: jax.grad(training.jax_loss)(w, X, y), (point,), (v,))[1]

    def run():
        Hv, Hc = jax.block_until_ready(product(point, v, *batch))
        return *Hv, *Hc
    return run


def torch(compiled: bool, work: Training):
    import torch
    torch.compiler.reset()
    point, batch, v = torch_arrays((parameters(work), data(work), directions(work)))

    def product(point, v, X, y):
        return torch.func.jvp(torch.func.grad(lambda w: training.torch_loss(w, X, y)), (point,), (v,))[1]

    if compiled:
        product = torch.compile(product, fullgraph=True)

    def run():
        Hv, Hc = product(point, v, *batch)
        return *Hv, *Hc
    return run


CONTESTANTS = {"floor: matrix products": floor, **{who: partial(xman, engine) for who, engine in ENGINES.items()},
               "NumPy by hand": numpy_by_hand, "autograd": autograd, "JAX": partial(jax, "asynchronous"),
               "JAX synchronous": partial(jax, "synchronous"), "PyTorch": partial(torch, False),
               "PyTorch compiled": partial(torch, True)}
