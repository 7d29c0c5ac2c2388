"""The objective of a run: a model's loss with weights and penalties, and its inputs for a minibatch."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import XManError, at_least, refuse_unknown
from ...interpreters import eval
from ...manager import XMan
from ...passes import EXACT, STABLE, simplify
from ...reasons import refuse_pairs_of_rows
from ...scale.draws import Draws
from ...scale.streams import Stream
from ..evaluation import classes_of, feed, labels_of, list_of, rows_and_labels
from .lines import penalised, penalty_factors, weighted


class Objective:
    """The list of a model's loss on data, in its stable form, and the values of its inputs.

    It has: steps, loss: the list, and the register to make small. labels: if targets are strings; y has their
    places. names: of the parameters. running: for each input that a step updates, such as the running mean of
    a batch normalisation, the register of its next value: `mean_next` for `mean`. inputs: values for the
    first row, and defaults for what is drawn. The arguments are those of `fit`; seed: of what the model's
    `draw(random, rows)` gives. Raises XManError for data, weights and models that do not fit.
    """

    def __init__(self, model: XMan, data: tuple, seed: int = 0, sample_weight: Any = None,
                 class_weight: Mapping[Any, float] | str | None = None, l1: float | Mapping[str, float]
                 | None = None, l2: float | Mapping[str, float] | None = None, classes: Sequence[str] = ()):
        at_least("seed", seed, 0, whole_number=True)
        self.labels = labels_of(data) and (tuple(classes) or labels_of(data))
        self.model, self.seed = model, int(seed)
        if isinstance(data, Stream):
            if sample_weight is not None or class_weight is not None:
                raise XManError("rows of a stream have no weights; leave out sample_weight and "
                                "class_weight, or give arrays")
            self.stream, self.X, self.y, self.rows = data, data.X, data.y, data.rows
        else:
            self.X, self.y = rows_and_labels(data, "data", self.labels)
            self.stream, self.rows = None, self.X.shape[0]
        self.running = {name: f"{name}_next" for name in getattr(model, "running", ())}
        if lacking := [after for after in self.running.values() if not hasattr(model, after)]:
            raise XManError(f"the model says that {lacking[0].removesuffix('_next')!r} is running, and has "
                            f"no register {lacking[0]!r}, its value after a step")
        steps = list_of(model, "loss", *self.running.values())
        self.loss = model.names()[id(model.loss)]
        self.inputs = model.inputDict(**(fed := feed(model, self.X[:1], self.y[:1])))
        self.draw = getattr(model, "draw", None)
        drawn = self._drawn(np.arange(1), 0) if self.draw else {}
        if lacking := [x for x in drawn if model.isInput(x) and x not in self.inputs]:
            raise XManError(f"{lacking[0]!r} is drawn, and has no value for evaluation; write "
                            "f.input(default=…)")
        self.draw = self.draw if drawn else None  # the model can draw, but this one draws nothing
        self.names = [name for name in steps.inputs if model.isParam(name)]
        if unset := [name for name in self.names if name not in self.inputs]:
            raise XManError(f"{unset[0]!r} has no value to begin with; write f.param(default=…)")
        if not self.names:
            raise XManError("the loss depends on no parameter: there is nothing to train")
        steps = simplify(steps, [self.loss, *self.running.values()], rewrites=EXACT + STABLE)
        self.weights = weights_of(self.y, sample_weight, class_weight, self.labels)
        if self.weights is not None:
            steps, self.weight = weighted(steps, self.loss, self.inputs, fed, float(np.mean(self.weights)))
            self.inputs[self.weight] = self.weights[:1]
        factors = [penalty_factors(word, penalty, steps, self.names)
                   for word, penalty in (("l1", l1), ("l2", l2))]
        self.steps, self.loss = penalised(steps, self.loss, *factors)
        self.sized = 0  # the rows of the minibatch whose shapes were looked at

    def minibatch_inputs(self, X: Any, y: Any, rows: np.ndarray, epoch: int) -> dict[str, Any]:
        """The inputs by name for rows X with targets y in an epoch. rows: the numbers of the rows."""
        values = fed = feed(self.model, X, y)
        if self.weights is not None:
            values = values | {self.weight: self.weights[rows]}
        values = values | self._drawn(rows, epoch) if self.draw else values
        if self.sized < 2:  # one row alone does not tell
            self.sized = X.shape[0]
            registers = eval(self.steps, self.inputs | values)
            refuse_pairs_of_rows(self.steps, registers, self.names, fed, self.sized)
        return values

    def _drawn(self, rows: np.ndarray, epoch: int) -> dict[str, Any]:
        return self.draw(Draws(self.seed, epoch, rows), rows)


def weights_of(y: np.ndarray, sample_weight: Any, class_weight: Mapping[Any, float] | str | None,
               labels: tuple[str, ...] = ()) -> np.ndarray | None:
    """The weight of each row (n,): its own times that of its class. XManError where they do not fit."""
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(y)) if sample_weight is None else np.array(sample_weight)
    if weights.dtype.kind not in "biuf" or weights.shape != (len(y),):
        raise XManError(f"sample_weight is one number for each of the {len(y):,} rows, not {weights.dtype} "
                        f"of shape {weights.shape}")
    if not np.all((weights >= 0) & np.isfinite(weights)) or not np.any(weights):
        raise XManError("a weight is at least 0 and finite, and one at least is more than 0")
    weights = weights.astype(float)
    if class_weight is not None:
        if (classes := classes_of(y)) is None:
            raise XManError("class_weight is for targets that are classes, labels or one-hot rows, and these "
                            "are numbers; give each row its own by sample_weight")
        labels_in_order, place, counts = np.unique(classes, return_inverse=True, return_counts=True)
        if isinstance(class_weight, str) and class_weight == "balanced":
            return weights * (len(y) / (len(labels_in_order) * counts))[place]
        if not isinstance(class_weight, Mapping):
            raise XManError(f"class_weight is 'balanced' or a dict of classes' numbers, not {class_weight!r}")
        labels_in_order = [labels[k] for k in labels_in_order] if labels else labels_in_order.tolist()
        refuse_unknown(class_weight, labels_in_order,
                       "class_weight has a weight for {!r}, which is no class of the data")
        weights *= np.array([class_weight.get(c, 1.0) for c in labels_in_order], float)[place]
        return weights_of(y, weights, None)
    return weights
