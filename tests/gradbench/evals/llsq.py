"""Half the squared distance of a polynomial from the sign of t, at n places in [-1, 1]."""
import numpy as np

import xman


def prepare(given):
    return np.array(given["x"]), np.linspace(-1, 1, given["n"])


def half_squares(x, t):
    return np.sum((np.sign(t) - np.polyval(x[::-1], t)) ** 2) / 2


primal = xman.jit(half_squares)
gradient = xman.jit(xman.grad(half_squares))
