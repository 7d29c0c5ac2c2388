"""Runge-Kutta's fourth order on y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁ from 0 to 2, and the gradient of the last y."""
import numpy as np

import xman


def prepare(given):
    return np.array(given["x"]), given["s"]


def solved(x, steps):
    h, y = 2 / steps, np.zeros(len(x))
    slope = lambda y: x * np.concatenate([np.ones(1), y[:-1]])

    def step(y, _):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        return y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c)), None
    return xman.scan(step, y, length=int(steps))[0]


def last(x, steps):
    return solved(x, steps)[-1]


primal = xman.jit(solved)
gradient = xman.jit(xman.grad(last))
