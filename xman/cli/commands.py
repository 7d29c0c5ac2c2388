"""The commands show, eval, grad, check and train, and the group that all commands belong to."""
from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

import ops

from .. import __version__
from ..engines import ENGINES
from ..errors import XManError, extra
from ..interpreters import backprop, check, eval, shapes
from ..interpreters.context import varies
from ..models.bases import KINDS
from ..scale.launch import launched
from ..scale.mpi import TIMEOUT, workers
from ..show import picture
from ..train import Diverged, evaluate, fit, load, predict
from ..train.optimizers import OPTIMIZERS
from ..train.second_order import METHODS
from ..wengert import WengertList
from .drawing import DOT, HTML, MERMAID, SVG, draw, print_list, write_explorer
from .learning import findings, rows_and_parts, settings_tried, sha256, streamed
from .options import JSON, OF, READING, option_table
from .pages import write_page
from .sources import MODELS, TABLE, TASKS, list_and_values, model_of, network_of, schedule_of

VALUES = click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
SOURCE = click.argument("source", metavar="LIST")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def xman() -> None:
    """Wengert lists: write, evaluate, differentiate, check and train.

    LIST is a file of lines such as `z1 = mul(h, w)`, a .json file, - for standard input, an .onnx file, one
    that `xman train --save` wrote, or a model: path/to/model.py:Class.
    """


def of_a_list(table: str, name: str | None = None, **kinds: Any) -> Callable:
    """The decorator that makes a command of a function of a list, the values of its inputs, and a register
    (that of the last line by default). table: the command's other options."""
    def command(function: Callable) -> Callable:
        @option_table(f"{OF}\n{table}", **kinds)
        @functools.wraps(function)
        def reading(source: str, values: tuple[str, ...], of: str | None, **said: Any) -> None:
            steps, known = list_and_values(source, of, values)
            function(steps, known, of or steps[-1][0], **said)
        return xman.command(name)(SOURCE(VALUES(reading)))
    return command


@xman.command()
@SOURCE
@VALUES
@option_table(f"{OF}\n{JSON}\n{DOT}\n{MERMAID}\n{SVG}\n{HTML}")
def show(source: str, values: tuple[str, ...], of: str | None, as_json: bool, dot: bool, mermaid: bool,
         svg: str | None, html: str | None) -> None:
    """Print the list, with values its shapes; or draw it, a model without --of and values as its objects."""
    if html:
        return write_explorer(source, of, values, html)
    if (dot or svg or mermaid) and source.partition(":")[0].endswith(".py") and not (of or values):
        return draw(picture(model_of(source)), svg, mermaid)
    steps, known = list_and_values(source, of, values)
    sizes = shapes(steps, known) if values else {}
    if dot or svg or mermaid:
        return draw(picture(steps, {name: f"{shape} {kind}" for name, (shape, kind) in sizes.items()}), svg,
                    mermaid)
    if not as_json:
        return print_list(steps, sizes)
    known_shapes = {name: [list(shape), str(kind)] for name, (shape, kind) in sizes.items()}
    told = {"list": json.loads(steps.to_json()), "shapes": known_shapes}
    print(json.dumps(told) if sizes else steps.to_json())


@xman.command(name="eval")
@SOURCE
@VALUES
@option_table(f"""{OF}
    {JSON}
    --all,everything  flag  Print every register, not only the result.""")
def eval_(source: str, values: tuple[str, ...], of: str | None, as_json: bool, everything: bool) -> None:
    """Evaluate the list: xman eval f.wl x1=3 x2=7."""
    steps, known = list_and_values(source, of, values)
    result = eval(steps, known)
    names = [dst for dst, _, _ in steps] if everything else [of] if of else list(steps.outputs)
    tell({name: found(result, name) for name in names}, as_json)


@of_a_list(f"""{JSON}
    --wrt  REGISTER*  Differentiate by this input only; may be repeated.""")
def grad(steps: WengertList, known: dict[str, Any], of: str, as_json: bool, wrt: tuple[str, ...]) -> None:
    """Differentiate the list by its inputs: xman grad f.wl x1=3 x2=7."""
    result = eval(steps, known | {x: np.asarray(known[x], float) for x in wrt if x in known})
    if np.size(found(result, of)) != 1:
        raise XManError(f"{of!r} has shape {np.shape(result[of])}; a gradient is of one number: say which "
                        "with --of")
    deltas = backprop(steps, result, ops.DG, wrt or None, **{of: 1.0})
    constant = [name for name in wrt or steps.inputs if not varies(result[name])]
    if constant and (wrt or len(constant) == len(steps.inputs)):
        raise XManError(f"{constant[0]!r} is an array of whole numbers and has no gradient; write its "
                        "numbers as 3.0")
    names = [name for name in wrt or steps.inputs if name not in constant]
    tell({name: deltas.get(name, np.zeros(np.shape(result[name]))) for name in names}, as_json)


@of_a_list(f"""{JSON}
    --wrt      REGISTER*  Check this input only; may be repeated.
    --sides=2  sides      Sides of the difference quotient.
    --seed=0   whole      Of the random directions where a register is large.""", "check", sides=click.IntRange(1, 2))
def check_(steps: WengertList, known: dict[str, Any], of: str, as_json: bool, wrt: tuple[str, ...],
           sides: int, seed: int) -> None:
    """Compare backprop with difference quotients, element by element. Exit status 1 where they differ."""
    report = check(steps, known, of=of, wrt=wrt or None, sides=sides, seed=seed)
    wrong = [json_terms(entry._asdict()) for entry in report.wrong]
    told = {"ok": report.ok, "checked": len(report.entries), "misshapen": report.misshapen, "wrong": wrong}
    print(json.dumps(told) if as_json else report)
    sys.exit(0 if report.ok else 1)


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
    --save          FILE.safetensors  Write the trained model, for xman predict and xman.load.
    --report        FILE.html     Write a page: the model, its list, its curves and its worst mistakes.
    --plot          FILE.png      Draw the learning curve.
    --engine        engine        What runs the list.  [default: auto]
    --threads=1     size          Of BLAS; more than one pays for large models alone.
    --memory        MB            Stream --data, so many megabytes of rows at a time.
    --accumulate    size          Pieces of a minibatch that a worker takes one after another.
    --mesh          data=N,model=M  JAX's devices over which rows and matrices are cut.
    --precision     mixed         Products of numbers rounded to bfloat16, summed in float32.
    --workers,together=1  size    Processes that share the rows, or trials, by MPI.
    --restarts=0    whole         How often a killed run goes on again.
    --timeout={TIMEOUT:g}  seconds  How long workers wait for one that hangs.
    --quiet         flag          No list and no progress, only the result.
    {JSON}
    """, optimizer=click.Choice([*OPTIMIZERS, *METHODS]), basis=click.Choice(KINDS), engine=click.Choice(["auto", *ENGINES]),
         folds=click.IntRange(2), least=click.FloatRange(0), MB=click.FloatRange(1), seconds=click.FloatRange(0.1))
def train(model: str, data: str, **options: Any) -> None:
    """Train a model and judge it on rows that it has not seen."""
    said = SimpleNamespace(**options)
    if said.together > 1 or said.restarts:
        sys.exit(launched(sys.argv[1:], said.together, said.restarts, said.checkpoint))
    workers().timeout = said.timeout
    if workers().rank:  # only the first worker prints
        said.quiet, said.save, said.report, said.plot = True, None, None, None
        sys.stdout = open(os.devnull, "w")
    said.task = said.task or (TASKS.get(MODELS[model][1]) if model in MODELS else None)
    some = lambda *names: {name: getattr(said, name) for name in names}
    how, streams = some("seed", "target", "ignore", "day_first", "task"), said.memory or "://" in data
    sets = (streamed(data, said.memory, some("folds", "report"), **how) if streams else
            load(data, **how, **some("max_len", "header", "zero_based")))
    if said.max_len and sets.alphabet is None:
        raise XManError(f"--max-len is for titles; {data} has none")
    shape = {key: x for key, x in some("hidden", "activation", "last", "basis", "loss").items() if x}
    network = network_of(model, sets, said.seed, shape)
    given = {key: x for key, x in vars(said).items() if key in fit.__kwdefaults__ and x is not None}
    default = MODELS.get(model, MODELS["mlp"])[3] | (
        TABLE if model in ("mlp", "residual") and sets.prepared.found else {})
    (rows, _), (tested, parts) = map(rows_and_parts, (sets.train, sets.test))

    def settings_of(given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `fit` beside the data."""
        settings = default | given
        if settings["optimizer"] in METHODS:  # these take all rows at once, and find their own step size
            settings = given | {key: x for key, x in settings.items() if key not in ("lr", "batch_size")}
        batches = -(-rows // settings.get("batch_size", rows))
        schedule = schedule_of(settings.get("schedule"), said.warm_up, settings["epochs"], batches)
        return settings | {"schedule": schedule}

    if not said.quiet and not said.as_json:
        print(findings(sets.prepared), end="\n\n" if sets.prepared.found else "")
        steps = network.operationSequence(network.loss)
        long = f"{steps[:12]}\n…  {len(steps) - 18} more lines  …\n{steps[-6:]}"
        print(long if len(steps) > 40 else steps, flush=True)
    started, show = time.perf_counter(), not said.quiet
    try:
        # loaded now: the limit does not reach a library that is loaded later
        importlib.import_module("scipy.linalg.blas")
        with extra("threadpoolctl", "cli", "--threads").threadpool_limits(said.threads):
            given, trials, choice = settings_tried(network, sets, given, said.folds, settings_of, show)
            settings = {"progress": show, "prepared": sets.prepared, **settings_of(given)}
            result = fit(network, sets.train, validation=sets.valid, **settings)
    except Diverged as error:
        print(*[f"xman: {error}"] * (not workers().rank), file=sys.stderr)
        sys.exit(1)
    seconds = time.perf_counter() - started
    told = {"model": model, "data": data, **settings_of(given), **given}
    told = {key: x for key, x in told.items() if key != "schedule" or key in given}
    test_loss, accuracy = evaluate(network, result.parameters, sets.test)
    off = None
    if not sets.classes:
        squares = sum(np.sum((predict(network, result.parameters, X)[:, 0] - y.ravel()) ** 2)
                      for X, y in parts)
        off = sets.prepared.scale[1] * np.sqrt(squares / tested)
    if said.save or said.report:
        own = {**sha256(data), **shape, "names": sets.names, "first": sets.first}
        made = result.model(**json_terms(told | own))
        if said.save:
            made.save(said.save)
        if said.report:
            X, y = sets.test
            (mean, scale), outputs = sets.prepared.scale, predict(network, result.parameters, X)
            truth = np.array(sets.classes, object)[y] if sets.classes else y.ravel() * scale + mean
            write_page(said.report, made, outputs if sets.classes else outputs * scale + mean, truth,
                       sets.cells, seconds)
    if said.as_json:
        told |= {"trials": [trial._replace(result=None)._asdict() for trial in trials]} if trials else {}
        came_to = {"best_epoch": result.best, "reason": result.reason, "seconds": seconds,
                   "test_loss": test_loss, "test_accuracy": accuracy, "test_error": off, "test_rows": tested}
        print(json.dumps(json_terms({**told, "history": result.history, **came_to})))
    else:
        if trials:
            print(choice)
        size = sum(np.size(w) for w in result.parameters.values())
        print(f"{result.reason}; {size:,} parameters, those of epoch {result.best}, in {seconds:.1f} s")
        print(f"test loss {test_loss:.4f}" + ("" if accuracy is None else f", accuracy {accuracy:.2%}")
              + ("" if off is None else f", root mean square error {off:.4g}") + f" of {tested:,} rows")
    if result.reason.startswith("interrupted"):
        sys.exit(130)


def found(values: dict[str, Any], name: str) -> Any:
    if name not in values:
        raise XManError(f"the list has no register {name!r}")
    return values[name]


def tell(results: dict[str, Any], as_json: bool) -> None:
    """Print a line for each register, name = value; or one JSON object."""
    results = {name: json_terms(x) for name, x in results.items()}
    print(json.dumps(results) if as_json else "\n".join(f"{name} = {x}" for name, x in results.items()))


def json_terms(x: Any) -> Any:
    """x in JSON's terms: nested lists of numbers; NaN and infinities, which JSON lacks, as strings."""
    if isinstance(x, (np.ndarray, np.generic)):
        return json_terms(x.tolist())
    if isinstance(x, dict):
        return {key: json_terms(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [json_terms(part) for part in x]
    return str(x) if isinstance(x, float) and not np.isfinite(x) else x
