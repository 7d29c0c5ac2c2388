"""Gradient descent whose step doubles after ten steps down and halves where it would go up."""
import numpy as np

import xman

SMALL, FIRST = 1e-5, 1e-5  # what is near enough, and the first step


def length(x):
    return np.sqrt(np.sum(x ** 2))


def argmin(fn, slope, x):
    """The point where fn's slope, or the next step, is at most 1e-5 long: one loop, which may be traced."""
    def moves(at):
        return at["on"]

    def step(at):
        ten = at["good"] == 10
        step, good = np.where(ten, 2 * at["step"], at["step"]), np.where(ten, 0, at["good"])
        there = at["x"] - step * at["down"]
        height, near = fn(there), length(at["x"] - there) <= SMALL
        better = np.logical_and(height < at["value"], np.logical_not(near))
        down = xman.cond(better, lambda: slope(there), lambda: at["down"])
        return {"x": np.where(better, there, at["x"]), "value": np.where(better, height, at["value"]), "down": down,
                "step": np.where(better, step, step / 2), "good": np.where(better, good + 1, 0),
                "on": np.logical_and(length(down) > SMALL, np.logical_not(near))}
    down = slope(x)
    begin = {"x": x, "value": fn(x), "down": down, "step": np.float64(FIRST), "good": np.int64(0), "on": length(down) > SMALL}
    return xman.while_loop(moves, step, begin)["x"]


def argmax(fn, slope, x):
    return argmin(lambda x: -fn(x), lambda x: -slope(x), x)
