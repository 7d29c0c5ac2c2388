"""Functions whose branches and loops go by their values: `jit` follows each path and keeps it. Beside them autograd, which
walks through the function at each call, and JAX, written in its loops and conditions where these have a derivative."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..measure import medians
from .functions import same
from .training import jax_ready

R = np.random.default_rng(0)
TARGET, WEIGHTS, MATRIX = R.normal(size=8), R.normal(size=8), R.normal(size=(8, 8)) / 4
SPD = MATRIX @ MATRIX.T + np.eye(8)
BRACKETS = ((0.0, 0.1), (1.0, 0.15), (2.0, 0.2), (4.0, 0.3))


def functions(np: Any) -> dict[str, Callable]:
    """The functions in the names of that NumPy."""
    def root_by_newton(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = x - (x * x - a) / (2.0 * x)
        return x

    def huber_of_a_norm(x):
        n = np.sqrt(np.sum((x - TARGET) ** 2))
        return 0.5 * n ** 2 if n < 1.0 else n - 0.5

    def clipped(x):
        step = 2.0 * x
        n = np.sqrt(np.sum(step * step))
        if n > 1.0:
            step = step / n
        return np.sum(step * WEIGHTS)

    def tax(income):
        total = 0.0 * income
        for above, rate in BRACKETS:
            if income > above:
                total = total + rate * (income - above)
        return total * total

    def escape(c):
        x, y, turns = 0.0 * c[0], 0.0 * c[1], 0
        while x * x + y * y < 4.0 and turns < 30:
            x, y, turns = x * x - y * y + c[0], 2.0 * x * y + c[1], turns + 1
        return x * x + y * y

    def adaptive_steps(y):
        t, h = 0.0, 0.1
        while t < 1.0:
            one = y - h * y * y
            half = y - h / 2 * y * y
            two = half - h / 2 * half * half
            if abs(two - one) < 1e-2:
                y, t, h = two, t + h, h * 1.5
            else:
                h = h / 2
        return y

    def winner(x):
        k = int(np.argmax(x))
        return x[k] ** 2 + np.sum(x * WEIGHTS)

    def power_iteration(shift):
        A, v, before = SPD + shift * np.outer(WEIGHTS, WEIGHTS), TARGET, 0.0
        for _ in range(100):
            v = np.dot(A, v)
            v = v / np.sqrt(np.sum(v * v))
            now = np.dot(v, np.dot(A, v))
            if abs(now - before) < 1e-3:
                break
            before = now
        return now

    def line_search(x):
        of, slope, a = lambda x: np.sum((x - TARGET) ** 4), 4.0 * (x - TARGET) ** 3, 1.0
        while of(x - a * slope) > of(x) - 0.1 * a * np.sum(slope * slope):
            a = a / 2
        return of(x - a * slope)

    def fixed_point(b):
        z = np.tanh(b)
        while True:
            now = np.tanh(np.dot(MATRIX, z) + b)
            if np.max(np.abs(now - z)) < 1e-3:
                return np.sum(now * now)
            z = now

    return {f.__name__: f for f in (root_by_newton, huber_of_a_norm, clipped, tax, escape, adaptive_steps, winner,
                                    power_iteration, line_search, fixed_point)}


def in_jax(jax: Any) -> dict[str, Callable]:
    """(value, slope) of those that JAX can compile: loops that end by a value have the derivative forward alone, and
    three of the ten are functions of many numbers and such a loop."""
    jnp, lax = jax.numpy, jax.lax

    def root_by_newton(a):
        return lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-12, lambda x: x - (x * x - a) / (2.0 * x), a)

    def huber_of_a_norm(x):
        n = jnp.sqrt(jnp.sum((x - TARGET) ** 2))
        return lax.cond(n < 1.0, lambda: 0.5 * n ** 2, lambda: n - 0.5)

    def clipped(x):
        step = 2.0 * x
        n = jnp.sqrt(jnp.sum(step * step))
        return jnp.sum(lax.cond(n > 1.0, lambda: step / n, lambda: step) * WEIGHTS)

    def tax(income):
        return sum(lax.cond(income > above, lambda a=above, r=rate: r * (income - a), lambda: 0.0 * income)
                   for above, rate in BRACKETS) ** 2

    def escape(c):
        go = lambda s: (s[0] * s[0] + s[1] * s[1] < 4.0) & (s[2] < 30)
        x, y, _ = lax.while_loop(go, lambda s: (s[0] * s[0] - s[1] * s[1] + c[0], 2.0 * s[0] * s[1] + c[1], s[2] + 1),
                                 (0.0 * c[0], 0.0 * c[1], 0))
        return x * x + y * y

    def adaptive_steps(y):
        def step(state):
            y, t, h = state
            half = y - h / 2 * y * y
            two = half - h / 2 * half * half
            good = jnp.abs(two - (y - h * y * y)) < 1e-2
            return lax.cond(good, lambda: (two, t + h, h * 1.5), lambda: (y, t, h / 2))
        return lax.while_loop(lambda s: s[1] < 1.0, step, (y, jnp.asarray(0.0), jnp.asarray(0.1)))[0]

    def winner(x):
        return x[jnp.argmax(x)] ** 2 + jnp.sum(x * WEIGHTS)

    forward = lambda f: lambda x: (f(x), jax.jacfwd(f)(x))
    ways = {forward: (root_by_newton, escape, adaptive_steps), jax.value_and_grad: (huber_of_a_norm, clipped, tax, winner)}
    return {f.__name__: jax.jit(way(f)) for way, some in ways.items() for f in some}


def points(name: str) -> list[Any]:
    """Three places on different paths."""
    numbers = {"root_by_newton": (0.7, 3.0, 40.0), "tax": (0.7, 3.0, 40.0), "adaptive_steps": (0.7, 1.5, 3.0),
               "power_iteration": (0.1, 0.5, 2.0)}
    if name in numbers:
        return [*map(np.float64, numbers[name])]
    if name == "escape":
        return [np.array(c) for c in ((0.3, 0.1), (0.4, 0.6), (1.5, 0.2))]
    return [TARGET + 0.1 * WEIGHTS, 0.1 * TARGET, 3.0 * WEIGHTS]


def compared(seconds: float) -> dict[str, dict[str, float]]:
    """For each function the microseconds of a call, the mean over points on different paths."""
    import autograd
    import autograd.numpy

    from xman import jit, value_and_grad
    theirs, jitted, found = functions(autograd.numpy), in_jax(jax_ready("synchronous")), {}
    for name, mine in functions(np).items():
        some = points(name)
        who = {"xman": jit(value_and_grad(mine)), "autograd": autograd.value_and_grad(theirs[name])}
        who |= {"JAX": jitted[name]} if name in jitted else {}
        for point, step in itertools.product(some, who.values()):
            same(who["autograd"](point), tuple(map(np.asarray, step(point))))
        every = {player: partial(at_all, step, some) for player, step in who.items()}
        times = medians(every, 2 * seconds, 0.02)
        found[name.replace("_", " ")] = {
            **{f"{player} µs": round(t / len(some) * 1e6, 1) for player, t in times.items()},
            **{f"× {player}": round(times["xman"] / t, 3) for player, t in times.items() if player != "xman"}}
    return found


def at_all(step: Callable, some: list[Any]) -> None:
    for point in some:
        step(point)
