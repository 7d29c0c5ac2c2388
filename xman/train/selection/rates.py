"""Finds a learning rate: steps at rising rates tell at which the loss falls fastest."""
from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ...errors import XManError, refuse_unknown
from ...manager import XMan
from ..loop import run_of
from ..optimizers import OPTIMIZERS
from ..settings import Settings

WINDOW = 4  # so many losses before and after one are in its mean


class Rate(NamedTuple):
    """A learning rate, and what it was found from: the rates of the steps, and their smoothed losses."""
    lr: float
    rates: np.ndarray
    losses: np.ndarray


def find_rate(model: XMan, data: tuple, *, least: float = 1e-6, greatest: float = 10.0, steps: int = 100,
              **settings: Any) -> Rate:
    """The learning rate at which the loss falls fastest, a Rate; the model is not changed.

    So many steps are taken, each at a rate greater by one factor, from least to greatest, until the loss is
    far above its first (Smith 2017, Cyclical Learning Rates for Training Neural Networks, §3.3); the losses
    are means over neighbours, for minibatches are of different rows. settings: as for `fit`, without lr and
    schedule. XManError where no rate lets the loss fall.
    """
    names = [name for name in Settings.__dataclass_fields__ if name not in ("lr", "schedule")]
    refuse_unknown(settings, names, "find_rate has no setting {!r}")
    if not 0 < least < greatest or steps < 10:
        raise XManError("the rates rise from above 0 in at least 10 steps, and not from "
                        f"{least:g} to {greatest:g} in {steps}")
    if (optimizer := settings.get("optimizer", "sgd")) not in OPTIMIZERS and isinstance(optimizer, str):
        raise XManError(f"{optimizer} finds its own step size; a rate is found for {', '.join(OPTIMIZERS)}")
    rates, losses = np.geomspace(least, greatest, steps), []
    run = run_of(model, data, Settings(**{"progress": False, **settings}, lr=1.0,
                                       schedule=lambda t: rates[min(t, steps) - 1]))
    run.begin(run.state)
    minibatches = ((epoch, k, minibatch) for epoch in count(1)
                   for k, minibatch in enumerate(run.minibatches.epoch(epoch)))
    for t, (epoch, k, minibatch) in zip(range(1, steps + 1), minibatches, strict=False):
        losses.append(run.step.take(run.step.ready(minibatch, epoch, k, t)))
        if not losses[-1] - min(losses) <= 3 * (max(losses[:9]) - min(losses)) + abs(min(losses)):
            break
    # a mean to both sides: a running one would be late, at rates that are too great
    window = np.full(2 * WINDOW + 1, 1 / (2 * WINDOW + 1))
    smooth = np.convolve(np.pad(losses, WINDOW, "edge"), window, "valid")
    lowest = int(np.argmin(smooth))
    if lowest < WINDOW:
        raise XManError(f"the loss falls at no rate from {least:g} to {greatest:g}: look at the data, or begin "
                        "lower")
    steepest = int(np.argmin(np.gradient(smooth[:lowest + 1])))  # by the logarithm of the rate
    return Rate(float(f"{rates[steepest]:.2g}"), rates[:len(smooth)], smooth)
