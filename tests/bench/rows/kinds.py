"""Functions of kinds that lists of matrices are not: their value and gradient, compiled, as `jit` makes them of plain NumPy."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .training import jax_ready


class Kind(NamedTuple):
    """name: of the function below. dtype: its precision."""
    name: str
    dtype: str = "float64"


def functions(np: Any) -> dict[str, Callable]:
    """The functions in the names of that NumPy."""
    def slices(x):
        wave = x[2:] - 2.0 * x[1:-1] + x[:-2]
        return np.sum(wave ** 2) + np.sum(np.tanh(x[::2] * x[1::2])) + np.sum(x[::-1] * x)

    def three_axes(x, scale):
        centred = x - np.mean(x, axis=1, keepdims=True)
        y = centred / np.sqrt(np.mean(centred ** 2, axis=(0, 2), keepdims=True) + 1e-3)
        return np.sum(np.max(np.tanh(y * scale), axis=1) ** 2)

    def attention(q, k, v):
        z = q @ np.swapaxes(k, 1, 2) / 8.0
        e = np.exp(z - np.max(z, axis=-1, keepdims=True))
        return np.sum((e / np.sum(e, axis=-1, keepdims=True) @ v) ** 2)

    def mixture(x, weights, means, scales):
        z = (x[:, None, :] - means) * np.exp(-scales)
        logs = weights - np.sum(scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
        top = np.max(logs, axis=1, keepdims=True)
        return np.sum(top[:, 0] + np.log(np.sum(np.exp(logs - top), axis=1)))

    def gather(table, weights, places):
        return np.mean(np.tanh(table[places] @ weights) ** 2)

    return {f.__name__: f for f in (slices, three_axes, attention, mixture, gather)}


def point(work: Kind) -> tuple[tuple, int]:
    """Where the function is evaluated, and by how many of its arguments it is differentiated."""
    random = np.random.default_rng(0)
    draw = lambda *shapes: tuple(random.normal(size=shape).astype(work.dtype) for shape in shapes)
    places = random.integers(0, 5000, 4096)
    return {"slices": (draw(100_000), 1), "three_axes": (draw((64, 32, 48), 48), 2), "attention": (draw(*[(8, 64, 64)] * 3), 3),
            "mixture": (draw((1000, 8), 16, (16, 8), (16, 8)), 4),
            "gather": ((*draw((5000, 32), (32, 32)), places), 2)}[work.name]


def xman(work: Kind) -> Callable:
    from xman import jit, value_and_grad
    args, n = point(work)
    step = jit(value_and_grad(functions(np)[work.name], tuple(range(n))))

    def run():
        value, slopes = step(*args)
        return [value, *slopes]
    return run


def autograd(work: Kind) -> Callable:
    import autograd.numpy
    from autograd import value_and_grad
    args, n = point(work)
    step = value_and_grad(functions(autograd.numpy)[work.name], tuple(range(n)))

    def run():
        value, slopes = step(*args)
        return [np.asarray(value, work.dtype), *slopes]
    return run


def jax(work: Kind) -> Callable:
    jax = jax_ready("synchronous")
    args, n = point(work)
    args = [jax.numpy.asarray(a) for a in args]
    step = jax.jit(jax.value_and_grad(functions(jax.numpy)[work.name], tuple(range(n))))

    def run():
        value, slopes = jax.block_until_ready(step(*args))
        return [value, *slopes]
    return run


CONTESTANTS = {"xman jit": xman, "autograd": autograd, "JAX": jax}
