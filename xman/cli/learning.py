"""xman train: it reads the data, chooses among several settings, fits, and reports."""
from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ..engines import ENGINES
from ..errors import XManError, extra
from ..manager import XMan
from ..models.bases import KINDS
from ..notation import table_as_text
from ..scale.launch import launched
from ..scale.mpi import TIMEOUT, workers
from ..scale.streams import MEMORY, Stream
from ..scale.tables import tenths
from ..tables import Prepared
from ..train import Dataset, Diverged, Result, Trial, cross_validate, evaluate, fit, load, predict
from ..train.optimizers import OPTIMIZERS
from ..train.second_order import METHODS
from ..train.selection import mean_of, searched, trial_text
from ..train.settings import Settings
from .commands import json_terms, xman
from .options import JSON, READING, option_table, received
from .pages import write_page
from .sources import MODELS, TABLE, TASKS, network_of, schedule_of

SettingsOf = Callable[[dict[str, Any]], dict[str, Any]]
# (option, module, purpose): what is missing for the files at the end is said before training
WRITERS = [("report", "jinja2", "a page of a model"), ("report", "matplotlib.figure", "a plot"),
           ("plot", "matplotlib.figure", "a plot"), ("save", "safetensors.numpy", "a checkpoint or a model"),
           ("checkpoint", "safetensors.numpy", "a checkpoint or a model")]


class Shape(NamedTuple):
    """The options that say what a model of xman is like."""
    hidden: tuple[int, ...]
    activation: str | None
    last: str | None
    basis: str | None
    loss: str | None


class Choice(NamedTuple):
    """What was trained: the options that were chosen, by which trials, in a line, and the result."""
    options: dict[str, Any]
    trials: list[Trial]
    sentence: str
    result: Result
    seconds: float


def read(model: str, data: str, *, memory: float | None, folds: int | None, report: str | None,
         max_len: int | None, header: bool | None, zero_based: bool | None, task: str | None,
         seed: int, target: str | None, ignore: tuple[str, ...], day_first: bool,
         decimal: str | None) -> Dataset:
    """The data set for a model, streamed if it is on the web or the user limits the memory."""
    if data == "-":
        path = Path(tempfile.mkdtemp()) / "standard input"  # which errors name
        path.write_bytes(sys.stdin.buffer.read())
        data = str(path)
    task = task or (TASKS.get(MODELS[model][1]) if model in MODELS else None)
    columns = {"seed": seed, "target": target, "ignore": ignore, "day_first": day_first, "task": task,
               "decimal": decimal}
    if memory or "://" in data:
        dataset = streamed(data, memory, {"folds": folds, "report": report}, **columns)
    else:
        dataset = load(data, **columns, max_len=max_len, header=header, zero_based=zero_based)
    if max_len and dataset.alphabet is None:
        raise XManError(f"--max-len is for titles; {data} has none")
    return dataset


def findings(data: Prepared) -> str:
    """A table of what the columns hold, and sentences below it."""
    rows = [("column", "kind", "missing", "range, or the commonest"),
            *((name[:40], kind, str(missing), values) for name, kind, missing, values in data.summary)]
    if len(rows) > 42:
        rows[31:-10] = [("…", "", "", f"{len(rows) - 41} more columns")]
    sentences = [f"{text[0].upper()}{text[1:]}." for text in data.remarks]
    return "\n".join([table_as_text(rows, 4), *sentences]) if data.summary else ""


def sha256(source: str) -> dict[str, str]:
    """{"sha256": …} of a file; {} where the source is not a file."""
    return {"sha256": hashlib.sha256(Path(source).read_bytes()).hexdigest()} if Path(source).is_file() else {}


def streamed(source: str, memory: float | None, unfit: dict[str, Any], **columns: Any) -> Dataset:
    """The data set as streams of tables. unfit: options that streams lack; XManError if one is given."""
    if words := [word for word, value in unfit.items() if value]:
        raise XManError(f"--{words[0]} is for rows that fit into memory; leave --memory away")
    sets = tenths(source, memory or MEMORY, **columns)
    data = sets[0].prepared
    return Dataset(*sets, data.classes, None, data,
                   (*(column.name for column in data.columns), data.target.name))


def rows_and_pairs(data: tuple | Stream) -> tuple[int, Iterable[tuple]]:
    """The number of rows, and pairs (X, y) of them: the one pair, or the pairs of a stream."""
    return (data.rows, data.batches(1024)) if isinstance(data, Stream) else (data[0].shape[0], [data])


def settings_tried(network: XMan, data: Dataset, options: dict[str, Any], folds: int | None,
                   complete: SettingsOf, show: bool) -> tuple[dict[str, Any], list[Trial], str]:
    """(the options of least loss, all trials, a line that reports the choice).

    The loss is that of the validation rows, or the mean of folds. complete: from options to `fit`'s settings.
    """
    grid = {name: values for name, values in options.items() if isinstance(values, tuple)}
    if not grid and not folds:
        return options, [], ""
    if words := [word for word in ("checkpoint", "plot") if grid and word in options]:
        raise XManError(f"--{words[0]} is for one training, and {' and '.join(f'--{name}' for name in grid)} "
                        "say several: leave it out until one is chosen")
    cases = []
    for values in itertools.product(*grid.values()):
        combination = dict(zip(grid, values, strict=True))
        unfit = ("checkpoint", "plot", "patience" if folds else "")  # patience needs a validation
        cases.append((combination, network, {"progress": False} | {
            name: x for name, x in complete(options | combination).items() if name not in unfit}))
    if not grid:
        trials = cross_validate(network, data.train, folds, **cases[0][-1])
        if show:
            print(*map(trial_text, trials), sep="\n", file=sys.stderr)
        return options, trials, trial_text(mean_of(trials))
    trials = searched(cases, data.train, None if folds else data.valid, folds, show)
    best = min(trials, key=lambda trial: trial.loss)
    return options | best.settings, trials, f"chosen of {len(trials)} trials, and trained: {trial_text(best)}"


def settings_of(options: dict[str, Any], *, defaults: dict[str, Any], rows: int,
                warm_up: int) -> dict[str, Any]:
    """The settings of `fit`: the options, and the model's defaults for all others."""
    settings = defaults | options
    if settings["optimizer"] in METHODS:  # these take all rows at once, and find their own step size
        settings = options | {key: x for key, x in settings.items() if key not in ("lr", "batch_size")}
    batches = -(-rows // settings.get("batch_size", rows))
    schedule = schedule_of(settings.get("schedule"), warm_up, settings["epochs"], batches)
    return settings | {"schedule": schedule}


def choose_and_fit(network: XMan, data: Dataset, options: dict[str, Any], complete: SettingsOf, show: bool,
                   *, folds: int | None, threads: int) -> Choice:
    """The training with the best of the options. If it diverges the process ends with a sentence."""
    started = time.perf_counter()
    try:
        # loaded now: the limit does not reach a library that is loaded later
        importlib.import_module("scipy.linalg.blas")
        with extra("threadpoolctl", "cli", "--threads").threadpool_limits(threads):
            options, trials, sentence = settings_tried(network, data, options, folds, complete, show)
            settings = {"progress": show, "prepared": data.prepared, **complete(options)}
            result = fit(network, data.train, validation=data.valid, **settings)
    except Diverged as error:
        if not workers().rank:
            print(f"xman: {error}", file=sys.stderr)
        sys.exit(1)
    return Choice(options, trials, sentence, result, time.perf_counter() - started)


def tested(network: XMan, result: Result, data: Dataset) -> dict[str, Any]:
    """The loss, the accuracy of classes, and the root mean square error of numbers, on the test rows."""
    loss, accuracy = evaluate(network, result.parameters, data.test)
    rows, pairs = rows_and_pairs(data.test)
    error = None
    if not data.classes:
        squares = sum(np.sum((predict(network, result.parameters, X)[:, 0] - y.ravel()) ** 2)
                      for X, y in pairs)
        error = data.prepared.scale[1] * np.sqrt(squares / rows)
    return {"test_loss": loss, "test_accuracy": accuracy, "test_error": error, "test_rows": rows}


def write_model(choice: Choice, network: XMan, data: Dataset, facts: dict[str, Any], *, save: str | None,
                report: str | None) -> None:
    """Write the trained model, and the page about it, if the user asked for them."""
    if not (save or report):
        return
    model = choice.result.model(**json_terms(facts | {"names": data.names, "first": data.first}))
    if save:
        model.save(save)
    if report:
        X, y = data.test
        mean, scale = data.prepared.scale
        outputs = predict(network, choice.result.parameters, X).astype(float)
        truth = np.array(data.classes, object)[y] if data.classes else y.ravel().astype(float) * scale + mean
        write_page(report, model, outputs if data.classes else outputs * scale + mean, truth, data.cells,
                   choice.seconds)


def facts_of(choice: Choice) -> dict[str, Any]:
    """What became of the training, for a program to read."""
    result, trials = choice.result, [trial._replace(result=None)._asdict() for trial in choice.trials]
    return ({"trials": trials} if trials else {}) | {
        "history": result.history, "best_epoch": result.best, "reason": result.reason,
        "seconds": choice.seconds}


def print_network(network: XMan, data: Dataset) -> None:
    """Print what the columns hold, and the list of the loss, of which a long one loses its middle."""
    print(findings(data.prepared), end="\n\n" if data.prepared.summary else "")
    steps = network.operationSequence(network.loss)
    ends = f"{steps[:12]}\n…  {len(steps) - 18} more lines  …\n{steps[-6:]}"
    print(ends if len(steps) > 40 else steps, flush=True)


def print_result(choice: Choice, test: dict[str, Any]) -> None:
    """Print which settings were chosen, how the training ended, and the test."""
    if choice.trials:
        print(choice.sentence)
    result = choice.result
    size = sum(np.size(w) for w in result.parameters.values())
    print(f"{result.reason}; {size:,} parameters, those of epoch {result.best}, in {choice.seconds:.1f} s")
    accuracy, error = test["test_accuracy"], test["test_error"]
    print(f"test loss {test['test_loss']:.4f}" + ("" if accuracy is None else f", accuracy {accuracy:.2%}")
          + ("" if error is None else f", root mean square error {error:.4g}")
          + f" of {test['test_rows']:,} rows")


@xman.command()
@click.argument("model", metavar="|".join([*MODELS, "path/to/model.py:Class|…:'Class(64, 10)'"]))
@option_table(f"""
    --data=digits   digits|names|FILE  What to learn.
    --epochs        whole         Passes over the data.
    --batch-size    size,…        Rows of a minibatch.
    --optimizer     optimizer,…   Mostly adam; the last three take all rows at once, and neither a rate nor a batch size.
    --lr            number,…      The rate, of adam a hundredth of sgd's; of several, 0.1,0.01, that of the least validation loss.
    --schedule      cosine|step:EPOCHS:FACTOR|exponential:FACTOR  Falls to 0 over the epochs, by FACTOR every EPOCHS or each.
    --warm-up=0     whole         Epochs in which the rate rises.
    --weight-decay  number,…      The part of a parameter that is added to its gradient, or taken off by adamw.
    --l1            number,…      The sum of the weights' sizes in the loss, times this.
    --l2            number,…      Half the sum of the weights' squares in the loss, times this; linear is then ridge.
    --class-weight  balanced      Each class counts the same.
    --folds         folds         Cross-validate on so many folds of the rows first.
    --clip          number,…      The largest norm of the gradient.
    --clip-value    number,…      The largest entry of the gradient.
    --seed=0        whole         Of the parameters, the order of the rows, and a file's split.
    --hidden        size*         Size of a hidden layer; repeat it for more layers.
    --activation    OPERATOR      Of the hidden layers: tanh, relu, … of xman ops.
    --last          OPERATOR      An activation on the last layer too.
    --basis         basis         x^θ, exp(−(x − θ)²/θ′) or tanh(x θ + θ′).
    --loss          TEXT          crossEntropy, softmaxCrossEntropy, sigmoidCrossEntropy, squaredError or hinge.
    --max-len       size          Characters of a title that are read.
    --patience      size          Stop after so many epochs without a better validation loss.
    --threshold     least         Stop when no parameter moves by more than this in an epoch.
    --checkpoint    FILE          Save after each epoch and on Ctrl-C, and go on from it.
    {READING}
    --target        COLUMN        The column to predict.  [default: the last]
    --ignore        COLUMN*       A column to leave out; may be repeated.
    --task          classify|regress|count  What the target is; a count stays on its scale.  [default: by its looks]
    --day-first/--no-day-first  flag  Whether 03/04/2024 is in April.
    --decimal       point         The mark before decimals, where 4,216 may be 4.216 or 4216.  [default: by the column]
    --save          FILE.safetensors  Write the trained model, for xman predict and xman.load.
    --report        FILE.html     Write a page: the model, its list, its curves and its worst mistakes.
    --plot          FILE.png      Draw the learning curve.
    --engine        engine        What runs the list.  [default: auto]
    --threads=1     size          Of BLAS; more than one pays for large models alone.
    --memory        MB            Stream --data, so many megabytes of rows at a time.
    --accumulate    size          Pieces of a minibatch that a worker takes one after another.
    --mesh          data=N,model=M  JAX's devices over which rows and matrices are cut.
    --precision     mixed         Products of numbers rounded to bfloat16, summed in float32.
    --explain       flag          If the loss turns NaN, say which line made it so.
    --workers,together=1  size    Processes that share the rows, or trials, by MPI.
    --restarts=0    whole         How often a killed run goes on again.
    --timeout={TIMEOUT:g}  seconds  How long workers wait for one that hangs.
    --quiet         flag          No list and no progress, only the result.
    {JSON}
    """, optimizer=click.Choice([*OPTIMIZERS, *METHODS]), basis=click.Choice(KINDS), engine=click.Choice(["auto", *ENGINES]),
         receivers=(read, Shape, choose_and_fit, write_model, Settings), folds=click.IntRange(2),
         least=click.FloatRange(0), point=click.Choice([".", ","]), MB=click.FloatRange(1), seconds=click.FloatRange(0.1))
def train(model: str, data: str, warm_up: int, together: int, restarts: int, timeout: float,
          quiet: bool, as_json: bool, **options: Any) -> None:
    """Train a model and judge it on rows that it has not seen."""
    if together > 1 or restarts:
        sys.exit(launched(sys.argv[1:], together, restarts, options["checkpoint"]))
    workers().timeout = timeout
    if workers().rank:  # only the first worker prints
        quiet, sys.stdout = True, open(os.devnull, "w")
        options |= {"save": None, "report": None, "plot": None}
    for option, module, purpose in WRITERS:
        if options[option]:
            extra(module, "cli", purpose)
    dataset = read(model, data, **received(read, options))
    shape = {key: x for key, x in received(Shape, options).items() if x}
    network = network_of(model, dataset, options["seed"], shape)
    defaults = MODELS.get(model, MODELS["mlp"])[3] | (
        TABLE if model in ("mlp", "residual") and dataset.prepared.summary else {})
    rows, _ = rows_and_pairs(dataset.train)
    complete = partial(settings_of, defaults=defaults, rows=rows, warm_up=warm_up)
    if not quiet and not as_json:
        print_network(network, dataset)
    settings = {key: x for key, x in received(Settings, options).items() if x is not None}
    choice = choose_and_fit(network, dataset, settings, complete, not quiet,
                            **received(choose_and_fit, options))
    facts = {"model": model, "data": data, **complete(choice.options), **choice.options}
    if "schedule" not in choice.options:
        del facts["schedule"]
    test = tested(network, choice.result, dataset)
    write_model(choice, network, dataset, {**facts, **sha256(data), **shape},
                **received(write_model, options))
    if as_json:
        print(json.dumps(json_terms(facts | facts_of(choice) | test)))
    else:
        print_result(choice, test)
    if choice.result.reason.startswith("interrupted"):
        sys.exit(130)
