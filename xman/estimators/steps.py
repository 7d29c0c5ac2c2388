"""Steps of training on rows that come one minibatch after the other."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..engines import Compiled
from ..manager import XMan
from ..train import training_list
from ..train.objective import Objective


class Steps:
    """An optimizer at work: its moments, and the parameters that it has come to.

    model, X, y: as `fit` takes them, with some rows to begin with. start: parameters to begin with, by name,
    for all or some. lr: the learning rate. The loss is weighted; without weights they are 1.
    """

    def __init__(self, model: XMan, X: Any, y: np.ndarray, start: dict[str, np.ndarray], optimizer: Any,
                 lr: float, seed: int, engine: str, **penalties: Any):
        self.objective = Objective(model, (X, y), seed, np.ones(len(y)), **penalties)
        names, inputs = self.objective.names, self.objective.inputs | start
        self.list = training_list(self.objective.steps, self.objective.loss, names, optimizer,
                                  running=self.objective.running)
        self.values = {x: inputs[x] for x in self.list.steps.inputs if x in inputs}
        self.values |= {moment: np.zeros_like(inputs[w]) for moment, w in self.list.moments.items()}
        self.number = min((np.asarray(inputs[w]).dtype for w in names), key=lambda dtype: dtype.itemsize).type
        self.lr, self.t = self.number(lr), 0
        self.program = Compiled(self.list.steps, [self.objective.loss, *self.list.inplace.values()], engine,
                                None, adapts=False)

    def step(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        """Take one step with these rows; the loss before it."""
        self.t += 1
        given = self.objective.given(X, y, np.zeros(len(y), int), self.t)
        if weights is not None:
            given[self.objective.weight] = weights
        found = self.program(self.values | given | {self.list.lr: self.lr, self.list.t: self.number(self.t)})
        self.values.update((x, found[after]) for x, after in self.list.inplace.items())
        return float(found[self.objective.loss])

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        return {x: self.values[x] for x in (*self.objective.names, *self.objective.running)}
