"""The charge's place w for which a particle that it repels meets the origin, by gradient descent through
Euler's method."""
import numpy as np

import xman

from .descent import argmin

STEP = 0.1


def prepare(given):
    return (np.array([given["w"]], float),)


def potential(x, charges):
    return np.sum(1 / np.sqrt(np.sum((x - charges) ** 2, axis=1)))


def forward(fn):
    """The gradient, by a pass forward for each input."""
    return xman.jacobian(fn, mode="forward")


def of_modes(outer, inner):
    def missed(w):
        """The square of the place where the path meets the first axis."""
        charges = np.stack([np.array([10.0, 0.0]), np.array([10.0, 10.0]) - w[0] * np.array([0.0, 1.0])])
        slope = inner(lambda x: potential(x, charges))
        above = lambda at: at[0][1] + STEP * at[1][1] > 0
        step = lambda at: (at[0] + STEP * at[1], at[1] - STEP * slope(at[0]))
        x, speed = xman.while_loop(above, step, (np.array([0.0, 8.0]), np.array([0.75, 0.0])))
        return (x[0] - x[1] / speed[1] * speed[0]) ** 2

    return xman.jit(lambda w: argmin(missed, outer(missed), w)[0])


ff, fr = of_modes(forward, forward), of_modes(forward, xman.grad)
rf, rr = of_modes(xman.grad, forward), of_modes(xman.grad, xman.grad)
