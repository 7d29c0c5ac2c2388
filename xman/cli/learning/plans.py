"""What `xman train` trains: a model and its data, read and made as the options say."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import XManError
from ...manager import XMan
from ...tables import prepared
from ...train import Dataset, load
from ...train.second_order import METHODS
from ..options import received
from ..sources import (
    LARGE,
    MODELS,
    TASKS,
    defaults_of,
    defaults_of_tables,
    network_of,
    schedule_of,
    streamed,
)
from .pages import rows_and_pairs


class Shape(NamedTuple):
    """The options that say what a model of xman is like."""
    hidden: tuple[int, ...]
    activation: str | None
    last: str | None
    basis: str | None
    loss: str | None


class TrainingPlan(NamedTuple):
    """What is trained: a model and its data, and the settings that it has where no option says another."""
    model: str
    source: str
    shape: dict[str, Any]     # the options that say what the model is like
    network: XMan
    data: Dataset
    defaults: dict[str, Any]
    convex: bool              # whether training goes to the one optimum of a convex loss
    by_folds: bool            # whether folds choose the penalty, and not withheld rows
    warm_up: int

    @property
    def rows(self) -> int: return rows_and_pairs(self.data.train)[0]

    @property
    def unseen(self) -> int:
        """The rows that validate."""
        return rows_and_pairs(self.data.valid)[0]

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """The settings of `fit`: the options, and the model's defaults for all others."""
        settings = self.defaults | options
        if settings["optimizer"] in METHODS:  # these take all rows at once, and find their own step size
            settings = options | {key: x for key, x in settings.items() if key not in ("lr", "batch_size")}
        batches = -(-self.rows // settings.get("batch_size", self.rows))
        schedule = schedule_of(settings.get("schedule"), self.warm_up, settings["epochs"], batches)
        # a convex loss has one optimum, and the best epoch by a validation would be one on the way to it
        validation = self.data.valid if self.unseen and not self.convex else None
        weights = {} if self.data.weights is None else {"sample_weight": self.data.weights}
        return settings | {"schedule": schedule, "validation": validation} | weights


def read(model: str, data: str, *, memory: float | None, folds: int | None, report: str | None,
         **reading: Any) -> Dataset:
    """The data set for a model, streamed if it is on the web or the user limits the memory. reading: the
    options that `load` takes, and `prepared` for it."""
    reading["task"] = reading["task"] or (TASKS.get(MODELS[model][1]) if model in MODELS else None)
    if memory or "://" in data:
        unfit = {"folds": folds, "report": report, **{key: reading[key] for key in UNSTREAMED}}
        dataset = streamed(data, memory, unfit, **{key: reading[key] for key in STREAMED})
    else:
        dataset = load(data, **reading)
    if reading["max_len"] and dataset.alphabet is None:
        raise XManError(f"--max-len is for titles; {data} has none")
    return dataset


READERS = read, load, prepared
STREAMED = "seed", "task", "target", "ignore", "day_first", "decimal"
UNSTREAMED = "ordered_by", "weights", "category"


def planned(model: str, source: str, warm_up: int, calibrate: bool, options: dict[str, Any]) -> TrainingPlan:
    """The plan for a model's name and its data."""
    defaults = defaults_of(model, options | {"data": source, "warm_up": warm_up})
    convex = (options["optimizer"] or defaults["optimizer"]) == defaults["optimizer"] == "newton-cg"
    share, ordered = options["validation_fraction"], bool(options["ordered_by"])
    by_folds = convex and not ordered and (share is None or calibrate)
    if share is None:
        share = 0.0 if by_folds and not calibrate else 0.1
    reading = received(options | {"validation_fraction": share}, *READERS)
    data = read(model, source, **reading)
    if model in ("mlp", "residual") and data.prepared.summary:
        defaults |= defaults_of_tables(rows_and_pairs(data.train)[0], bool(data.classes))
    shape = {key: x for key, x in received(options, Shape).items() if x}
    network = network_of(model, data, options["seed"], shape)
    plan = TrainingPlan(model, source, shape, network, data, defaults, convex, by_folds, warm_up)
    numbers = sum(map(np.size, network.inputDict().values()))
    if convex and not options["optimizer"] and plan.rows * numbers > LARGE:
        return plan._replace(convex=False, by_folds=False, defaults=defaults | {"optimizer": "adam"})
    return plan
