"""grad of plain NumPy functions as users write them, beside autograd's: the same text over its own NumPy."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import xman
from ops import f

from ..table import Table
from ..worker import LeftOut

R = np.random.default_rng(0)
DATA, LABELS = R.normal(size=(32, 8)), R.integers(0, 3, 32)
SIGNS, ONE_HOT = np.where(LABELS > 0, 1.0, -1.0), np.eye(3)[LABELS]
MATRIX, WAVE = R.normal(size=(8, 8)) / 8, R.normal(size=40)
LAYERS = [(R.normal(size=(m, n)) / 3, R.normal(size=n)) for m, n in ((8, 16), (16, 16), (16, 3))]
CELL = {"in": R.normal(size=(1, 8)), "state": R.normal(size=(8, 8)) / 4, "bias": R.normal(size=8), "out": R.normal(size=8)}
MIXTURE = {"weights": R.normal(size=3), "means": R.normal(size=(3, 8)), "scales": R.normal(size=(3, 8)) / 4}


def functions(np: Any, special: Any) -> Iterator[tuple[str, Callable, tuple]]:
    """(what it is, the function, where) in the names of that NumPy, with erf and logsumexp in `special`."""
    def oscillator(y):
        return np.stack([y[1], -np.sin(y[0]) - 0.1 * y[1]])

    def a_loop_of_numbers(x):
        total = x
        for k in range(1, 50):
            total = total + x * total / k - 0.5 * x
        return total

    def newton(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = x - (x * x - a) / (2.0 * x)
        return x

    def a_series_of_tanh(x):
        y = x
        for k in range(1, 20):
            y = np.tanh(y * k) + np.sin(x) / k
        return np.sum(y)

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    def logistic_regression(w):
        return np.mean(np.log(1.0 + np.exp(-SIGNS * np.dot(DATA, w)))) + 0.01 * np.sum(w ** 2)

    def network(layers):
        z = DATA
        for W, b in layers[:-1]:
            z = np.tanh(np.dot(z, W) + b)
        W, b = layers[-1]
        return np.mean((np.dot(z, W) + b - ONE_HOT) ** 2)

    def recurrent_network(cell):
        h = np.zeros(8)
        for x in WAVE[:20]:
            h = np.tanh(x * cell["in"][0] + np.dot(h, cell["state"]) + cell["bias"])
        return np.dot(h, cell["out"]) ** 2

    def gaussian_mixture(p):
        z = (DATA[:, None, :] - p["means"]) * np.exp(-p["scales"])
        logs = -0.5 * np.sum(z * z, axis=2) - np.sum(p["scales"], axis=1) + p["weights"]
        return np.sum(special.logsumexp(logs, axis=1)) - 32 * special.logsumexp(p["weights"])

    def cross_entropy(W):
        z = np.dot(DATA, W)
        e = np.exp(z - np.max(z, axis=1, keepdims=True))
        p = e / np.sum(e, axis=1, keepdims=True)
        return -np.mean(np.log(p[np.arange(32), LABELS]))

    def matrix_products(A):
        B = A
        for _ in range(5):
            B = A @ B.T + MATRIX
        return np.trace(B)

    def trapezoids(y):
        for _ in range(20):
            slope = -2.0 * y + np.cos(y)
            y = y + 0.05 * (slope + (-2.0 * (y + 0.1 * slope) + np.cos(y + 0.1 * slope)))
        return np.sum(y)

    def runge_kutta(y):
        h = 0.01
        for _ in range(100):
            k1 = oscillator(y)
            k2 = oscillator(y + h / 2 * k1)
            k3 = oscillator(y + h / 2 * k2)
            k4 = oscillator(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y[0]

    def convolution(kernel):
        n = len(WAVE) - 4
        smooth = sum(kernel[k] * WAVE[k:k + n] for k in range(5))
        return np.sum((smooth[1:] - smooth[:-1]) ** 2)

    def indices_in_a_loop(x):
        total = 0.0
        for i in range(1, 30):
            total = total + (x[i] - x[i - 1]) ** 2 * x[i]
        return total

    def branches(x):
        y = np.where(x > 0, x ** 2, -0.1 * x)
        return np.sum(np.maximum(y, 0.5) + np.minimum(x, 1.0) + np.abs(x) * np.where(y > 1, 2.0, 1.0))

    def norms_and_einsum(v):
        A = np.outer(v, v) + MATRIX
        return np.linalg.norm(A) + np.einsum("i,ij,j->", v, A, v) + np.linalg.norm(v)

    def logsumexp_by_hand(x):
        top = np.max(x)
        return top + np.log(np.sum(np.exp(x - top))) + special.logsumexp(2.0 * x)

    def black_scholes(p):
        s, k, t, v, r = p
        d1 = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
        d2 = d1 - v * np.sqrt(t)
        normal = lambda d: 0.5 * (1.0 + special.erf(d / np.sqrt(2.0)))
        return s * normal(d1) - k * np.exp(-r * t) * normal(d2)

    def likelihood_of_a_gaussian(L):
        S = np.dot(L, L.T) + np.eye(8)
        x = DATA[0]
        return 0.5 * np.dot(x, np.linalg.solve(S, x)) + 0.5 * np.log(np.linalg.det(S))

    def polynomial(x):
        y = 0.0 * x
        for c in WAVE[:15]:
            y = y * x + c
        return np.sum(y)

    def tree(p):
        return p["a"]["x"] * p["b"][0] + np.sum(p["c"] * p["a"]["y"]) - np.sum(p["b"][1]) ** 2

    def product_of_entries(A):
        return np.sum(np.prod(A, axis=1))

    def norm(v):
        return np.linalg.norm(v)

    def rearrangements(x):
        y = np.concatenate([np.repeat(x, 3), np.tile(x, 2), np.sort(x)])
        return np.sum(y * y) + np.trace(np.outer(x, x))

    def standardised(A):
        return np.sum(((A - np.mean(A, axis=0)) / np.std(A, axis=0)) ** 3)

    x = WAVE[:10]
    weights = {"a": {"x": 2.0, "y": x}, "b": [3.0, x], "c": x}
    for function, point in (
            (a_loop_of_numbers, 0.7), (newton, 2.0), (a_series_of_tanh, x), (rosenbrock, x), (logistic_regression, WAVE[:8]),
            (network, LAYERS), (recurrent_network, CELL), (gaussian_mixture, MIXTURE), (cross_entropy, LAYERS[2][0][:8]),
            (matrix_products, MATRIX), (trapezoids, x), (runge_kutta, WAVE[:2]), (convolution, WAVE[:5]),
            (indices_in_a_loop, WAVE), (branches, x), (norms_and_einsum, x[:8]), (logsumexp_by_hand, x),
            (black_scholes, (100.0, 110.0, 1.0, 0.2, 0.05)), (likelihood_of_a_gaussian, MATRIX), (polynomial, x),
            (tree, weights), (product_of_entries, MATRIX), (norm, x), (rearrangements, x), (standardised, DATA)):
        yield function.__name__.replace("_", " "), function, point


def run(compared: Callable, name: str, about: str, dtype: str, players: Any, options: Any) -> Table:
    """compared(seconds): the figures of each function; those of a column "× peer" should not be more than 1."""
    lines = players.ask("functions", compared, options.seconds)
    if isinstance(lines, LeftOut):
        return Table(name, about, dtype, players.threads, {}, [], {"all": lines.why})
    goals = [{"goal": f"{function}: not more than {column[2:]}", "found": f"{ratio:.2f} {column}", "ratio": ratio, "most": 1.0,
              "met": ratio <= 1.0}
             for function, line in lines.items() for column, ratio in line.items() if column.startswith("× ")]
    return Table(name, about, dtype, players.threads, lines, goals, {})


def compared(seconds: float) -> dict[str, dict[str, float]]:
    """For each function the ratio, the median over pairs of blocks that alternate, and the microseconds of each."""
    import autograd
    import autograd.numpy
    import autograd.scipy.special
    theirs = functions(autograd.numpy, autograd.scipy.special)
    found = {}
    for (what, mine, point), (_, other, _) in zip(functions(np, f), theirs, strict=True):
        pair = [(xman.grad(mine), point), (autograd.grad(other), point)]
        same(*(slope(point) for slope, point in pair))
        blocks = list(alternating(pair, seconds))
        xmans, autograds = (statistics.median(times) for times in zip(*blocks, strict=True))
        found[what] = {"× autograd": round(statistics.median(a / b for a, b in blocks), 3),
                       "xman µs": round(xmans * 1e6, 1), "autograd µs": round(autograds * 1e6, 1)}
    return found


def same(mine: Any, other: Any) -> None:
    """AssertionError unless the two trees of arrays agree."""
    if isinstance(mine, (list, tuple, dict)):
        for key in mine if isinstance(mine, dict) else range(len(mine)):
            same(mine[key], other[key])
    else:
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)


def alternating(pair: list, seconds: float, length: float = 0.02) -> Iterator[list[float]]:
    """Seconds of one call of each, the median of a short block, for as many pairs of blocks as fit."""
    until = time.perf_counter() + 2 * seconds
    while time.perf_counter() < until:
        times: list[list[float]] = [[], []]
        for taken, (slope, point) in zip(times, pair, strict=True):
            end = time.perf_counter() + length
            while not taken or time.perf_counter() < end:
                before = time.perf_counter()
                slope(point)
                taken.append(time.perf_counter() - before)
        yield [statistics.median(taken) for taken in times]
