"""xman train: it reads the data, chooses among several settings, fits, and reports."""
from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ...engines import ENGINES
from ...errors import XManError, extra
from ...models.bases import KINDS
from ...scale.launch import launched, report_end
from ...scale.mpi import TIMEOUT, Workers, workers
from ...train import Diverged, Result, Trial, cross_validate, fit
from ...train.optimizers import OPTIMIZERS
from ...train.second_order import METHODS
from ...train.selection import combinations_of, mean_of, searched, trial_text
from ...train.selection.rates import find_rate
from ...train.settings import Settings
from ..commands import json_terms, xman
from ..options import JSON, READING, option_table, received
from ..sources import MODELS, costs_of, penalties_of, sha256
from .pages import (
    facts_of,
    model_of_features,
    print_network,
    print_result,
    rows_and_pairs,
    temperature_of,
    test_text,
    tested,
    write_model,
)
from .plans import READERS, Shape, TrainingPlan, planned

OPTIONS = Path(__file__).with_name("options.txt")  # of `xman train`: names, kind, help
# (option, module, purpose): what is missing for the files at the end is said before training
WRITERS = [("report", "jinja2", "a page of a model"), ("report", "matplotlib.figure", "a plot"),
           ("plot", "matplotlib.figure", "a plot"), ("save", "safetensors.numpy", "a checkpoint or a model"),
           ("checkpoint", "safetensors.numpy", "a checkpoint or a model")]


class Choice(NamedTuple):
    """What was trained: the options that were chosen, by which trials, in a line, and the result."""
    options: dict[str, Any]
    trials: list[Trial]
    sentence: str
    result: Result
    seconds: float


def indistinguishable(trial: Trial, best: Trial) -> bool:
    """Whether folds cannot tell the two apart: the mean difference is within its standard error."""
    difference, n = np.subtract(trial.by_fold, best.by_fold), len(best.by_fold)
    return trial is best or n > 1 and difference.mean() <= difference.std(ddof=1) / n ** 0.5


def settings_tried(plan: TrainingPlan, options: dict[str, Any], folds: int | None, show: bool,
                   usual: float | None, draws: int | None) -> tuple[dict[str, Any], list[Trial], str]:
    """(the options of least loss, all trials, a line that reports the choice).

    The loss is that of the validation rows, or the mean of folds. usual: the l2 that is taken where folds
    cannot tell others from it; few rows choose at random.
    """
    grid = {name: values for name, values in options.items() if isinstance(values, tuple)}
    if not grid and not folds:
        return options, [], ""
    cases = []
    for values in combinations_of(grid, draws, options["seed"]):
        combination = dict(zip(grid, values, strict=True))
        # patience needs a validation
        unfit = ("plot", *("patience", "validation") * bool(folds))
        fixed = {name: x for name, x in plan.settings(options | combination).items() if name not in unfit}
        cases.append((combination, plan.network, {"progress": False} | fixed))
    if not grid:
        trials = cross_validate(plan.network, plan.data.train, folds, **cases[0][-1])
        if show:
            print(*map(trial_text, trials), sep="\n", file=sys.stderr)
        return options, trials, trial_text(mean_of(trials))
    trials = searched(cases, plan.data.train, None if folds else plan.data.valid, folds, show)
    best = min(trials, key=lambda trial: trial.loss)
    if usual is not None:
        equal = [trial for trial in trials if indistinguishable(trial, best)]
        best = min(equal, key=lambda trial: abs(np.log(trial.settings["l2"] / usual)))
    count = f"chosen of {len(trials)} trials, and " * (len(trials) > 1)
    return options | best.settings, trials, f"{count}trained: {trial_text(best)}"


@contextlib.contextmanager
def with_threads(threads: int) -> Iterator[None]:
    """A context with so many threads of BLAS. If training diverges the process ends with a sentence."""
    try:
        # loaded now: the limit does not reach a library that is loaded later
        importlib.import_module("scipy.linalg.blas")
        with extra("threadpoolctl", "cli", "--threads").threadpool_limits(threads):
            yield
    except Diverged as error:
        if not workers().rank:
            print(f"xman: {error}", file=sys.stderr)
        sys.exit(1)


def rate_of(plan: TrainingPlan, options: dict[str, Any]) -> float:
    """The learning rate that is found for these options, which have none."""
    several = [name for name, x in options.items() if isinstance(x, tuple)]
    if word := [*several, *({"lr"} & {*options})]:
        raise XManError(f"--find-lr is for one value of each setting, and no --lr: leave --{word[0]} away")
    unfit = "lr", "schedule", "validation", "patience", "checkpoint", "plot"
    fixed = {name: x for name, x in plan.settings(options).items() if name not in unfit}
    rate = find_rate(plan.network, plan.data.train, **fixed).lr
    print(f"the loss falls fastest at the rate {rate:g}", file=sys.stderr)
    return rate


def choose_and_fit(plan: TrainingPlan, options: dict[str, Any], show: bool, *, folds: int | None,
                   draws: int | None) -> Choice:
    """The training with the best of the options; a convex model tries penalties, if they say none."""
    started, usual = time.perf_counter(), None
    if plan.convex and "l2" not in options:
        penalties, usual = penalties_of(plan.model, plan.rows)
        options = options | {"l2": penalties}
    if (plan.by_folds or not plan.unseen) and any(isinstance(x, tuple) for x in options.values()):
        folds = folds or (5 if plan.rows > 1000 else min(10, plan.rows))
    options, trials, sentence = settings_tried(plan, options, folds, show, usual, draws)
    settings = {"progress": show, "prepared": plan.data.prepared} | plan.settings(options)
    result = fit(plan.network, plan.data.train, **settings)
    return Choice(options, trials, sentence, result, time.perf_counter() - started)


def facts_of_training(plan: TrainingPlan, choice: Choice) -> dict[str, Any]:
    """What is written with the model, and printed as JSON."""
    unsaid = {"validation", "schedule", "sample_weight"} - choice.options.keys()
    settings = {key: x for key, x in plan.settings(choice.options).items() if key not in unsaid}
    return {"model": plan.model, "data": plan.source, **settings, **choice.options, "rows": plan.rows}


def tell_training(choice: Choice, facts: dict[str, Any], test: dict[str, Any], plan: TrainingPlan, *,
                  as_json: bool) -> None:
    """Print what became of a training, in lines or as JSON."""
    if as_json:
        facts = facts | facts_of(choice.result, choice.trials, choice.seconds) | test
        return print(json.dumps(json_terms(facts)))
    print_result(choice.result, choice.sentence, choice.seconds)
    if "temperature" in facts:
        print(f"temperature {facts['temperature']:.3g}, of {plan.unseen:,} validation rows")
    print(test_text(test), end="")


def file_of_standard_input() -> str:
    """The path of a file with what standard input gives; errors name it."""
    path = Path(tempfile.mkdtemp()) / "standard input"
    path.write_bytes(sys.stdin.buffer.read())
    return str(path)


@xman.command()
@click.argument("model", metavar="|".join([*MODELS, "path/to/model.py:Class|…:'Class(64, 10)'"]))
@option_table(OPTIONS.read_text("utf-8").format(READING=READING, JSON=JSON, TIMEOUT=TIMEOUT),
              receivers=(*READERS, Shape, choose_and_fit, write_model, tell_training, Settings),
              optimizer=click.Choice([*OPTIMIZERS, *METHODS]), basis=click.Choice(KINDS),
              engine=click.Choice(["auto", *ENGINES]), point=click.Choice([".", ","]),
              folds=click.IntRange(2), least=click.FloatRange(0), MB=click.FloatRange(1),
              seconds=click.FloatRange(0.1), share=click.FloatRange(0, 1, max_open=True))
def train(model, data, warm_up, together, restarts, timeout, threads, cost, calibrate, find_lr, quiet,
          **options) -> None:
    """Train a model and judge it on rows that it has not seen."""
    if together > 1 or restarts:
        sys.exit(launched(sys.argv[1:], together, restarts, options["checkpoint"], timeout))
    Workers.timeout = timeout
    if workers().rank:  # only the first worker prints and writes
        quiet, sys.stdout = True, open(os.devnull, "w")
        options |= {"save": None, "report": None, "plot": None}
    for option, module, purpose in WRITERS:
        if options[option]:
            extra(module, "cli", purpose)
    if options["report"] and not options["test_fraction"]:
        raise XManError("--report shows rows that the model has not seen: give a --test-fraction above 0")
    plan = planned(model, file_of_standard_input() if data == "-" else data, warm_up, calibrate, options)
    costs = costs_of(cost, plan.data.classes)
    if calibrate and not (plan.unseen and plan.data.classes):
        raise XManError("--calibrate is for classes, and takes validation rows: leave their fraction above 0")
    corrections = ({"costs": costs} if costs else {}) | ({"temperature": 1.0} if calibrate else {})
    if options["save"] or options["report"] or corrections:  # what would fail after training fails now
        model_of_start = model_of_features(plan.network, {}, plan.data, corrections)
        X, _ = next(iter(rows_and_pairs(plan.data.train)[1]))
        model_of_start.labels(model_of_start.outputs(X[:1]))
    if not quiet and not options["as_json"]:
        print_network(plan.network, plan.data)
    settings = {key: x for key, x in received(options, Settings).items() if x is not None}
    with with_threads(threads):
        if find_lr:
            settings["lr"] = rate_of(plan, settings)
        choice = choose_and_fit(plan, settings, not quiet, folds=options["folds"], draws=options["draws"])
    if calibrate:
        corrections["temperature"] = temperature_of(plan.network, choice.result, plan.data)
    facts = facts_of_training(plan, choice) | corrections
    kept = {**facts, **sha256(plan.source), **plan.shape}
    write_model(choice.result, choice.seconds, plan.data, kept, **received(options, write_model))
    test = tested(plan.network, choice.result, plan.data, corrections)
    tell_training(choice, facts, test, plan, **received(options, tell_training))
    if choice.result.reason.startswith("interrupted"):
        sys.exit(130)
    if not workers().rank:
        report_end()
