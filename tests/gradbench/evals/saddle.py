"""min over x of max over y of |x|² - |y|², by gradient descent within gradient descent."""
import numpy as np

import xman

from .descent import argmax, argmin


def prepare(given):
    return (np.array(given["start"]),)


def height(x, y):
    return np.sum(x ** 2) - np.sum(y ** 2)


def forward(fn):
    """The gradient, by a pass forward for each input."""
    return xman.jacobian(fn, mode="forward")


def of_modes(outer, inner):
    def saddle(start):
        def highest(x):
            along = lambda y: height(x, y)
            return argmax(along, inner(along), start)

        x = argmin(lambda x: height(x, highest(x)), outer(lambda x: height(x, highest(x))), start)
        along = lambda y: height(x, y)
        return np.concatenate([x, argmax(along, outer(along), start)])
    return xman.jit(saddle)


ff, fr = of_modes(forward, forward), of_modes(forward, xman.grad)
rf, rr = of_modes(xman.grad, forward), of_modes(xman.grad, xman.grad)
