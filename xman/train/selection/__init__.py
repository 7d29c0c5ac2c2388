"""Which model, and which settings: cross-validation, and a search over all combinations of settings."""
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import XManError
from ...manager import XMan
from ..evaluation import Diverged, Result, classes_of, evaluate, rows_and_labels
from ..loop import fit


class Trial(NamedTuple):
    """What one training came to on rows that it has not seen: the loss, and of classes the accuracy.

    settings: those that were searched, or the number of the fold. result: as that of `fit`.
    """
    settings: dict[str, Any]
    loss: float
    accuracy: float | None
    result: Result


def cross_validate(model: XMan, data: tuple, folds: int = 5, *, seed: int = 0,
                   **settings: Any) -> list[Trial]:
    """For each of so many folds of the rows `fit` on the others, judged on it; each has its share of classes.

    model, data, settings: as for `fit`, with sample_weight of all rows. seed: of folds too. Raises as `fit`.
    """
    X, y = rows_and_labels(data, "data")
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= len(y):
        raise XManError(f"folds is a whole number from 2 to the number of rows, {len(y):,}, not {folds!r}")
    order, classes = np.random.default_rng(seed).permutation(len(y)), classes_of(y)
    order = order if classes is None else order[np.argsort(classes[order], kind="stable")]
    weights, trials = settings.pop("sample_weight", None), []
    for k in range(folds):
        kept = np.setdiff1d(order, some := np.sort(order[k::folds]))
        mine = {} if weights is None else {"sample_weight": np.asarray(weights)[kept]}
        result = fit(model, (X[kept], y[kept]), seed=seed, **mine, **settings)
        trials.append(Trial({"fold": k + 1}, *evaluate(model, result.parameters, (X[some], y[some])), result))
    return trials


def search(model: XMan | Callable[..., XMan], data: tuple, grid: Mapping[str, Sequence], *,
           validation: tuple | None = None, folds: int = 5, progress: bool = True,
           **settings: Any) -> list[Trial]:
    """A trial for each combination of the settings in grid, {"lr": [0.1, 0.01], …}, the least loss first.

    model: an XMan, or a function of the grid that gives one, `lambda hidden, **_: MLP([64, hidden, 10])`;
    what is no setting of `fit` goes to it alone. The loss is the least validation loss, or the mean over so
    many folds. A trial that diverges has an infinite one. progress: a line a trial. Raises as `fit`.
    """
    if not grid or not all(isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str)
                           and len(values) for values in grid.values()):
        raise XManError("the grid is a dict from settings to the values to try, as in {'lr': [0.1, 0.01]}")
    known, trials = fit.__kwdefaults__, []
    for values in itertools.product(*grid.values()):
        said = dict(zip(grid, values, strict=True))
        made = model if isinstance(model, XMan) else model(**said)
        here = settings | {"progress": False} | {name: x for name, x in said.items()
                                                 if isinstance(model, XMan) or name in known}
        try:
            if validation is None:
                trials.append(mean_of(cross_validate(made, data, folds, **here))._replace(settings=said))
            else:
                result = fit(made, data, validation=validation, **here)
                trials.append(Trial(said, *evaluate(made, result.parameters, validation), result))
        except Diverged as error:
            trials.append(Trial(said, np.inf, None, error.result))
        if progress:
            print(trial_text(trials[-1]), file=sys.stderr, flush=True)
    return sorted(trials, key=lambda trial: trial.loss)


def mean_of(trials: list[Trial]) -> Trial:
    accuracy = None if trials[0].accuracy is None else float(np.mean([trial.accuracy for trial in trials]))
    return Trial({"folds": len(trials)}, float(np.mean([trial.loss for trial in trials])), accuracy,
                 trials[-1].result)


def trial_text(trial: Trial) -> str:
    """lr 0.01  batch_size 32  validation 0.1234  accuracy 96.50%"""
    said = [f"{name} {x}" for name, x in trial.settings.items()] + [f"validation {trial.loss:.4f}"]
    return "  ".join(said + ([] if trial.accuracy is None else [f"accuracy {trial.accuracy:.2%}"]))
