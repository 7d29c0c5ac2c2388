"""Which model, and which settings: cross-validation, and a search over all combinations of settings."""
from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import XManError
from ...manager import XMan
from ...scale import dealt, workers
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


Case = tuple[dict[str, Any], XMan, dict[str, Any]]  # the settings that are searched, a model, all settings of `fit`


def cross_validate(model: XMan, data: tuple, folds: int = 5, **settings: Any) -> list[Trial]:
    """For each of so many folds of the rows `fit` on the others, judged on it; each has its share of classes.

    model, data, settings: as for `fit`, with sample_weight of all rows; its seed is of the folds too. Of
    processes that mpiexec started (`xman.scale`) each takes some of the folds. Raises as `fit`.
    """
    return trials_of([({}, model, settings)], data, None, folds, each=True, progress=False)


def search(model: XMan | Callable[..., XMan], data: tuple, grid: Mapping[str, Sequence], *,
           validation: tuple | None = None, folds: int = 5, progress: bool = True,
           **settings: Any) -> list[Trial]:
    """A trial for each combination of the settings in grid, {"lr": [0.1, 0.01], …}, the least loss first.

    model: an XMan, or a function of the grid that gives one, `lambda hidden, **_: MLP([64, hidden, 10])`;
    what is no setting of `fit` goes to it alone. The loss is the least validation loss, or the mean over so
    many folds. A trial that diverges has an infinite one. progress: a line a trial. Of processes that
    mpiexec started (`xman.scale`) each takes some of the trials. Raises as `fit`.
    """
    if not grid or not all(isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str)
                           and len(values) for values in grid.values()):
        raise XManError("the grid is a dict from settings to the values to try, as in {'lr': [0.1, 0.01]}")
    known, cases = fit.__kwdefaults__, []
    for values in itertools.product(*grid.values()):
        said = dict(zip(grid, values, strict=True))
        cases.append((said, model if isinstance(model, XMan) else model(**said), settings | {
            "progress": False} | {name: x for name, x in said.items() if isinstance(model, XMan) or name in known}))
    trials = trials_of(cases, data, validation, folds, each=False, progress=progress)
    return sorted(trials, key=lambda trial: trial.loss)


def trials_of(cases: Sequence[Case], data: tuple, validation: tuple | None, folds: int, each: bool,
              progress: bool) -> list[Trial]:
    """A trial for each case, in their order, on the validation or the mean over the folds.

    each: a trial for each fold of the only case, where one that diverges raises Diverged. progress: a line
    a trial. What is trained is dealt out to the workers, unless they have one mesh.
    """
    parts: Sequence = folds_of(data, folds) if validation is None else [None]
    units = [(case, fold) for case in cases for fold in parts]
    size, quiet = 1 if each else len(parts), {"progress": False} if workers().rank else {}
    gone: dict[int, tuple] = {}

    def trained(k: int) -> tuple[float, float | None, Result | None]:
        """Of a part of a trial the loss, the accuracy and what of the result only its worker has."""
        if k // size in gone:
            return gone[k // size]
        (_, model, settings), fold = units[k]
        rows, unseen, settings = ((data, validation, settings | {"validation": validation}) if fold is None
                                  else fold_of(data, fold, folds, **settings))
        try:
            result = fit(model, rows, **settings | quiet)
            if result.reason.startswith("interrupted"):
                raise KeyboardInterrupt
            loss, accuracy = evaluate(model, result.parameters, unseen)
        except Diverged as error:
            if each:
                raise
            loss, accuracy, result = np.inf, None, error.result
        found = loss, accuracy, result and result._replace(network=None, prepared=None)
        if loss == np.inf:
            gone[k // size] = found
        return found

    found, trials = {}, {}
    together = any(settings.get("mesh") for _, _, settings in cases)
    outcomes = enumerate(map(trained, range(len(units)))) if together else dealt(trained, len(units))
    for k, (loss, accuracy, result) in outcomes:
        (said, model, settings), fold = units[k]
        result = result and result._replace(network=model, prepared=settings.get("prepared"))
        found[k] = Trial({"fold": fold + 1} if each else said, loss, accuracy, result)
        first = k - k % size
        if {*range(first, first + size)} <= {*found}:
            trials[first] = mean_of([found[j] for j in range(first, first + size)])
            if progress and not workers().rank:
                print(trial_text(trials[first]), file=sys.stderr, flush=True)
    return [trials[k] for k in sorted(trials)]


def folds_of(data: tuple, folds: int) -> range:
    """The numbers of so many folds of the rows. XManError where there cannot be so many."""
    _, y = rows_and_labels(data, "data")
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= len(y):
        raise XManError(f"folds is a whole number from 2 to the number of rows, {len(y):,}, not {folds!r}")
    return range(folds)


def fold_of(data: tuple, k: int, folds: int, *, seed: int = 0, sample_weight: Any = None,
            **settings: Any) -> tuple[tuple, tuple, dict[str, Any]]:
    """The rows that are trained on beside fold k, those of the fold, and the settings of `fit`."""
    X, y = rows_and_labels(data, "data")
    order, classes = np.random.default_rng(seed).permutation(len(y)), classes_of(y)
    order = order if classes is None else order[np.argsort(classes[order], kind="stable")]
    kept = np.setdiff1d(order, some := np.sort(order[k::folds]))
    weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[kept]}
    return (X[kept], y[kept]), (X[some], y[some]), {"seed": seed, **weights, **settings}


def mean_of(trials: Sequence[Trial]) -> Trial:
    """The trial of several folds; its result is that of one that diverged, or of the last."""
    known = [trial.accuracy for trial in trials if trial.accuracy is not None]
    return Trial(trials[0].settings, float(np.mean([trial.loss for trial in trials])),
                 float(np.mean(known)) if len(known) == len(trials) else None,
                 next((trial for trial in trials if trial.loss == np.inf), trials[-1]).result)


def trial_text(trial: Trial) -> str:
    """lr 0.01  batch_size 32  validation 0.1234  accuracy 96.50%"""
    said = [f"{name} {x}" for name, x in trial.settings.items()] + [f"validation {trial.loss:.4f}"]
    return "  ".join(said + ([] if trial.accuracy is None else [f"accuracy {trial.accuracy:.2%}"]))
