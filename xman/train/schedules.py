"""Schedules: the factor of the learning rate at step t = 1, 2, …, a function of t alone.

Any function will do, `lambda t: 1 / t`; these make the usual ones. The factor is an input of the training
list, so that no schedule changes a program.
"""
from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import XManError

Schedule = Callable[[int], float]


def step_decay(every: int, factor: float = 0.1) -> Schedule:
    """`factor` times less after each `every` steps: factor^⌊(t − 1)/every⌋."""
    at_least("every", every, 1)
    at_least("factor", factor, 0)
    return lambda t: factor ** ((t - 1) // every)


def exponential(factor: float) -> Schedule:
    """`factor` times less after each step: factor^(t − 1)."""
    at_least("factor", factor, 0)
    return lambda t: factor ** (t - 1)


def cosine(steps: int, floor: float = 0.0) -> Schedule:
    """Half a cosine from 1 at the first step to `floor` after `steps` (Loshchilov and Hutter 2017, SGDR, eq.
    5)."""
    at_least("steps", steps, 1)
    at_least("floor", floor, 0)
    return lambda t: floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(t - 1, steps) / steps))


def warm_up(steps: int) -> Schedule:
    """A straight line up to 1 at step `steps`, and 1 from there (Goyal et al. 2017, §2.2)."""
    at_least("steps", steps, 1)
    return lambda t: min(1.0, t / steps)


def product(*schedules: Schedule) -> Schedule:
    """All of them at once: the product of their factors."""
    return lambda t: math.prod(schedule(t) for schedule in schedules)


def in_turn(first: Schedule, steps: int, then: Schedule) -> Schedule:
    """`first` for so many steps, and `then` from there on, whose own steps begin with 1."""
    at_least("steps", steps, 0)
    return lambda t: first(t) if t <= steps else then(t - steps)


def at_least(name: str, value: float, least: int) -> None:
    if not isinstance(value, (int, float)) or not least <= value < math.inf:
        raise XManError(f"{name} of a schedule is a number of at least {least}, not {value!r}")
