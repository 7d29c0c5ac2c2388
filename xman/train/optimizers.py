"""Optimizers: from a parameter and its delta to the parameter's next value. They descend.

Reps, Automatic Differentiation and Backpropagation, §6, prints w := w + η ∂Cost/∂w, which climbs; meant is minus.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Optimizer(NamedTuple):
    """update(w, delta, moments, t, lr) -> (next w, next moments) at step t = 1, 2, …; moments: how many it keeps."""
    update: Callable
    moments: int


def sgd(w, d, moments, t, lr):
    return w - lr * d, ()


def momentum(w, d, moments, t, lr):
    """Polyak's heavy ball, 0.9 of the last step kept."""
    velocity = 0.9 * moments[0] - lr * d
    return w + velocity, (velocity,)


def adam(w, d, moments, t, lr):
    """Kingma and Ba (2015), Algorithm 1, with their β₁ = 0.9, β₂ = 0.999, ε = 1e-8."""
    m = 0.9 * moments[0] + 0.1 * d
    v = 0.999 * moments[1] + 0.001 * (d * d)
    return w - lr * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8), (m, v)


OPTIMIZERS = {"sgd": Optimizer(sgd, 0), "momentum": Optimizer(momentum, 1), "adam": Optimizer(adam, 2)}
