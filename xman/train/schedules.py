"""Schedules: the factor of the learning rate at step t = 1, 2, …, an input of the list: `lambda t: 1 / t`."""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import XManError, at_least, nearest

Schedule = Callable[[int], float]


def step_decay(every: int, factor: float = 0.1) -> Schedule:
    """A schedule that multiplies by `factor` after each `every` steps: factor^⌊(t − 1)/every⌋."""
    at_least("every of a schedule", every, 1)
    at_least("factor of a schedule", factor, 0)
    return lambda t: factor ** ((t - 1) // every)


def exponential(factor: float) -> Schedule:
    """A schedule that multiplies by `factor` after each step: factor^(t − 1)."""
    at_least("factor of a schedule", factor, 0)
    return lambda t: factor ** (t - 1)


def cosine(steps: int, floor: float = 0.0) -> Schedule:
    """Half a cosine, from 1 down to `floor` at step `steps` (Loshchilov and Hutter 2017, SGDR, eq. 5)."""
    at_least("steps of a schedule", steps, 1)
    at_least("floor of a schedule", floor, 0)
    return lambda t: floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(t - 1, steps) / steps))


def warm_up(steps: int) -> Schedule:
    """A straight line up to 1 at step `steps`, and 1 after it (Goyal et al. 2017, §2.2)."""
    at_least("steps of a schedule", steps, 1)
    return lambda t: min(1.0, t / steps)


def product(*schedules: Schedule) -> Schedule:
    """The product of the factors of all schedules."""
    return lambda t: math.prod(schedule(t) for schedule in schedules)


def in_turn(first: Schedule, steps: int, then: Schedule) -> Schedule:
    """The schedule `first` for `steps` steps, and after it `then`, whose own steps begin with 1."""
    at_least("steps of a schedule", steps, 0)
    return lambda t: first(t) if t <= steps else then(t - steps)


class Rates:
    """The learning rate of each step: lr, times the schedule's factor where there is a schedule."""

    def __init__(self, lr: float, schedule: Schedule | None, number: type):
        if schedule is not None and not callable(schedule):
            raise XManError("a schedule is a function from the number of the step, 1, 2, …, to a factor, "
                            f"not {schedule!r}{nearest(str(schedule), globals())}")
        self.lr, self.schedule, self.number = lr, schedule, number
        self.largest = float(np.finfo(number).max)

    def __call__(self, t: int) -> np.floating:
        """The rate of step t; it is infinite if the precision cannot hold it, and the step then diverges."""
        rate = self.lr * self.factor(t)
        return self.number(rate if rate <= self.largest else np.inf)

    def factor(self, t: int) -> float:
        """The schedule's factor at step t, 1 without one. XManError if it is below 0 or not finite."""
        factor = self.schedule(t) if self.schedule else 1.0
        if not 0 <= factor < np.inf:
            raise XManError(f"the schedule gives {factor!r} at step {t}; a factor of the learning rate is at "
                            "least 0 and finite")
        return float(factor)
