"""Chooses a model and settings: cross-validation, and a search over all combinations of settings."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import XManError
from ...files.digests import digest_of
from ...manager import XMan
from ...scale import dealt, joined, workers
from ..evaluation import Diverged, Result, classes_of, evaluate, labels_of, rows_and_labels
from ..loop import fit, run_of
from ..settings import Settings


class Trial(NamedTuple):
    """One training, judged on rows that it has not seen: its loss, and for classes its accuracy.

    settings: those that were searched, or the number of the fold. result: the Result of `fit`. by_fold: the
    losses of the folds of which this is the mean.
    """
    settings: dict[str, Any]
    loss: float
    accuracy: float | None
    result: Result
    by_fold: tuple[float, ...] = ()


# (the settings that are searched, a model, all settings of `fit`)
Case = tuple[dict[str, Any], XMan, dict[str, Any]]


def cross_validate(model: XMan, data: tuple, folds: int = 5, **settings: Any) -> list[Trial]:
    """A trial for each fold of the rows: `fit` on the other folds, judged on this one.

    model, data, settings: as for `fit`, with sample_weight for all rows; the seed also deals the rows out.
    folds: how many; each gets its share of every class. checkpoint: run.safetensors stands for
    run-1.safetensors, … of the trials, which are not made again. Workers share the folds. Raises as `fit`.
    """
    case = {}, model, settings | ({"progress": False} if workers().rank else {})
    return next(trials_of([case], data, None, folds, strict=True))


def search(model: XMan | Callable[..., XMan], data: tuple, grid: Mapping[str, Sequence], *,
           validation: tuple | None = None, folds: int = 5, draws: int | None = None, progress: bool = True,
           **settings: Any) -> list[Trial]:
    """A trial for each combination of the settings in grid, {"lr": [0.1, 0.01], …}, the least loss first.

    model: an XMan, or a function from settings to one, `lambda hidden, **_: MLP([64, hidden, 10])`; settings
    that `fit` does not have go to this function alone. data, settings: as for `fit`. validation: a pair (X,
    y) whose least loss counts; without it the mean loss of `folds` folds counts. draws: so many of the
    combinations, drawn at random by the seed (None: all); the grid may then have distributions of SciPy as
    well, {"lr": scipy.stats.loguniform(1e-4, 1)}. A trial that diverges has an infinite loss. progress: show
    a line per trial. checkpoint: as for `cross_validate`. Workers (`xman.scale`) share the trials. Raises as
    `fit`.
    """
    if not grid or not all(draws and hasattr(values, "ppf") or isinstance(values, (Sequence, np.ndarray))
                           and not isinstance(values, str) and len(values) for values in grid.values()):
        raise XManError("the grid is a dict from settings to the values to try, as in {'lr': [0.1, 0.01]}")
    names, fixed, cases = Settings.__dataclass_fields__, isinstance(model, XMan), []
    for values in combinations_of(grid, draws, settings.get("seed", 0)):
        combination = dict(zip(grid, values, strict=True))
        of_fit = {name: x for name, x in combination.items() if fixed or name in names}
        network = model if fixed else model(**combination)
        cases.append((combination, network, settings | {"progress": False} | of_fit))
    return sorted(searched(cases, data, validation, folds, progress), key=lambda trial: trial.loss)


def combinations_of(grid: Mapping[str, Any], draws: int | None, seed: int) -> list[tuple]:
    """All combinations of the grid's values, or so many of them at random."""
    random = np.random.default_rng(seed)
    if any(hasattr(values, "ppf") for values in grid.values()):
        draw = lambda values: (float(values.ppf(random.random())) if hasattr(values, "ppf")
                               else values[random.integers(len(values))])
        return [tuple(map(draw, grid.values())) for _ in range(draws or 0)]
    combinations = [*product(*grid.values())]
    return [combinations[k] for k in random.permutation(len(combinations))[:draws]] if draws else combinations


def searched(cases: Sequence[Case], data: tuple, validation: tuple | None, folds: int,
             progress: bool) -> list[Trial]:
    """The trial of each case, in their order. progress: whether to show a line for each."""
    trials = []
    for (combination, _, _), by_fold in zip(cases, trials_of(cases, data, validation, folds), strict=True):
        trials.append(mean_of(by_fold)._replace(settings=combination))
        if progress and not workers().rank:
            print(trial_text(trials[-1]), file=sys.stderr, flush=True)
    return trials


def trials_of(cases: Sequence[Case], data: tuple, validation: tuple | None, folds: int,
              strict: bool = False) -> Iterator[list[Trial]]:
    """For each case its trial on the validation, or one for each fold. Where one diverges its loss is
    infinite, or, if strict, Diverged is raised."""
    numbers = folds_of(data, folds) if validation is None else [None]
    if workers().size > 1:
        workers().agree({f"{name} of setting {k}": fact for k, case in enumerate(cases, 1)
                         for name, fact in case_facts(data, validation, *case[1:]).items()})
    units = [(model, settings, fold) for _, model, settings in cases for fold in numbers]

    def trial_of(k: int) -> Trial:
        """The k-th trial; its result leaves out what all workers have. Ctrl-C ends all trials."""
        model, settings, fold = units[k]
        rows, unseen, label = data, validation, {}
        if path := settings.get("checkpoint"):
            settings = settings | {"checkpoint": Path(path).with_stem(f"{Path(path).stem}-{k + 1}")}
        if fold is None:
            settings = {"validation": validation} | settings
        else:
            (rows, unseen, settings), label = fold_of(data, fold, folds, **settings), {"fold": fold + 1}
        try:
            result = fit(model, rows, **settings)
            if result.reason.startswith("interrupted"):
                raise KeyboardInterrupt
            loss, accuracy = evaluate(model, result.parameters, unseen, classes=result.classes)
        except Diverged as error:
            if strict:
                raise
            loss, accuracy, result = np.inf, None, error.result
        return Trial(label, loss, accuracy, result and result._replace(network=None, prepared=None))

    outcomes = dealt(trial_of, len(units))
    for _, model, settings in cases:
        common = {"network": model, "prepared": settings.get("prepared")}
        yield [trial._replace(result=trial.result and trial.result._replace(**common))
               for trial in islice(outcomes, len(numbers))]


def case_facts(data: tuple, validation: tuple | None, model: XMan, settings: dict[str, Any]) -> dict:
    """What all workers have to be told alike of a case, also the first values that each would begin with."""
    with joined(None):  # by itself, without what a worker alone has
        settings = {"validation": validation} | settings | {"checkpoint": None, "progress": False}
        run = run_of(model, data, Settings(**settings))
    return run.facts() | {"first values": digest_of([*run.step.start().values()])}


def folds_of(data: tuple, folds: int) -> range:
    """The numbers of the folds. XManError if there are too few rows for them."""
    _, y = rows_and_labels(data, "data", labels_of(data))
    if not isinstance(folds, (int, np.integer)) or not 2 <= folds <= len(y):
        raise XManError(f"folds is a whole number from 2 to the number of rows, {len(y):,}, not {folds!r}")
    return range(folds)


def fold_of(data: tuple, k: int, folds: int, *, seed: int = 0, sample_weight: Any = None,
            **settings: Any) -> tuple[tuple, tuple, dict[str, Any]]:
    """(training rows, the rows of fold k, the settings of `fit`)."""
    labels, targets = labels_of(data), np.asarray(data[1])
    X, y = rows_and_labels(data, "data", labels)
    order, classes = np.random.default_rng(seed).permutation(len(y)), classes_of(y)
    order = order if classes is None else order[np.argsort(classes[order], kind="stable")]
    training = np.setdiff1d(order, unseen := np.sort(order[k::folds]))
    weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[training]}
    kept = {"classes": labels} if labels else {}  # a fold may lack one
    settings = {"seed": seed, **kept, **weights, **settings}
    return (X[training], targets[training]), (X[unseen], targets[unseen]), settings


def mean_of(trials: Sequence[Trial]) -> Trial:
    """The mean of several folds' trials, with the result of the worst."""
    accuracies = [trial.accuracy for trial in trials]
    return Trial({"folds": len(trials)}, float(np.mean([trial.loss for trial in trials])),
                 None if None in accuracies else float(np.mean(accuracies)),
                 max(trials, key=lambda trial: trial.loss).result, tuple(trial.loss for trial in trials))


def trial_text(trial: Trial) -> str:
    """lr 0.01  batch_size 32  validation 0.1234  accuracy 96.50%"""
    words = [f"{name} {x}" for name, x in trial.settings.items()] + [f"validation {trial.loss:.4f}"]
    return "  ".join(words + ([] if trial.accuracy is None else [f"accuracy {trial.accuracy:.2%}"]))
