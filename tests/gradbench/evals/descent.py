"""Gradient descent whose step doubles after ten steps down and halves where it would go up."""
import numpy as np

SMALL, FIRST = 1e-5, 1e-5  # what is near enough, and the first step


def argmin(fn, slope, x):
    """The point where fn's slope, or the next step, is at most 1e-5 long; all that Python goes by may be
    traced."""
    value, down, step, good = fn(x), slope(x), FIRST, 0
    while np.sqrt(np.sum(down ** 2)) > SMALL:
        if good == 10:
            step, good = 2 * step, 0
            continue
        there = x - step * down
        if np.sqrt(np.sum((x - there) ** 2)) <= SMALL:
            break
        height = fn(there)
        if height < value:
            x, value, down, good = there, height, slope(there), good + 1
        else:
            step, good = step / 2, 0
    return x


def argmax(fn, slope, x):
    return argmin(lambda x: -fn(x), lambda x: -slope(x), x)
