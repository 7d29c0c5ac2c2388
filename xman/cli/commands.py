"""The commands, as click reads them."""
from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import reduce
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
from .drawing import DOT, HTML, MERMAID, SVG, draw, print_list, write_explorer
from .learning import Several, findings, settings_tried, sha256, streamed
from .pages import write_page
from .sources import MODELS, TABLE, built_in, list_and_values, model_of, schedule_of

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for a program to read.")
OF = click.option("--of", metavar="REGISTER", help="The register meant; the last line's, or a model's loss, if not said.")
VALUES = click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
SOURCE = click.argument("source", metavar="LIST")
HEADER = click.option("--header/--no-header", default=None,
                      help="Whether the first line of a CSV file names the columns.  [default: by its looks]")
ZERO_BASED = click.option("--zero-based/--one-based", default=None,
                          help="Where the indices of a LIBSVM file begin.  [default: at 0 where one of them is 0]")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def xman() -> None:
    """Wengert lists: write, evaluate, differentiate, check and train.

    LIST is a file of lines such as `z1 = mul(h, w)`, a .json file, - for standard input, an .onnx file, one
    that `xman train --save` wrote, or a model: path/to/model.py:Class.
    """


def of_a_list(*options: Callable, name: str | None = None) -> Callable:
    """The command of a list, the values of its inputs and a register, with these options."""
    each = [*reversed(options), OF, VALUES, SOURCE, xman.command(name)]
    return lambda function: reduce(lambda made, option: option(made), each, function)


@of_a_list(AS_JSON, DOT, MERMAID, SVG, HTML)
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
    print(json.dumps({"list": json.loads(steps.to_json()), "shapes": known_shapes}) if sizes
          else steps.to_json())


@of_a_list(AS_JSON, click.option("--all", "everything", is_flag=True,
                                 help="Print every register, not only the result."), name="eval")
def eval_(source: str, values: tuple[str, ...], of: str | None, as_json: bool, everything: bool) -> None:
    """Evaluate the list: xman eval f.wl x1=3 x2=7."""
    steps, known = list_and_values(source, of, values)
    result = eval(steps, known)
    names = [dst for dst, _, _ in steps] if everything else [of] if of else list(steps.outputs)
    tell({name: found(result, name) for name in names}, as_json)


@of_a_list(AS_JSON, click.option("--wrt", multiple=True, metavar="REGISTER",
                                 help="Differentiate by this input only; may be repeated."))
def grad(source: str, values: tuple[str, ...], of: str | None, as_json: bool, wrt: tuple[str, ...]) -> None:
    """Differentiate the list by its inputs: xman grad f.wl x1=3 x2=7."""
    steps, known = list_and_values(source, of, values)
    result = eval(steps, known | {x: np.asarray(known[x], float) for x in wrt if x in known})
    of = of or steps[-1][0]
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


@of_a_list(AS_JSON, click.option("--wrt", multiple=True, metavar="REGISTER",
                                 help="Check this input only; may be repeated."),
           click.option("--sides", type=click.IntRange(1, 2), default=2, show_default=True,
                        help="Sides of the difference quotient."),
           click.option("--seed", default=0, show_default=True,
                        help="Of the random directions where a register is large."), name="check")
def check_(source: str, values: tuple[str, ...], of: str | None, as_json: bool, wrt: tuple[str, ...],
           sides: int, seed: int) -> None:
    """Compare backprop with difference quotients, element by element. Exit status 1 where they differ."""
    steps, known = list_and_values(source, of, values)
    report = check(steps, known, of=of, wrt=wrt or None, sides=sides, seed=seed)
    if as_json:
        print(json.dumps({"ok": report.ok, "checked": len(report.entries), "misshapen": report.misshapen,
                          "wrong": [json_terms(entry._asdict()) for entry in report.wrong]}))
    else:
        print(report)
    sys.exit(0 if report.ok else 1)


@xman.command()
@click.argument("model", metavar="|".join([*MODELS, "path/to/model.py:Class|…:'Class(64, 10)'"]))
@click.option("--data", default="digits", show_default=True, metavar="digits|names|FILE",
              help="What to learn.")
@click.option("--epochs", type=click.IntRange(0), help="Passes over the data.")
@click.option("--batch-size", type=Several(click.IntRange(1)), help="Rows of a minibatch.")
@click.option("--optimizer", type=Several(click.Choice([*OPTIMIZERS, *METHODS])),
              help="Mostly adam; the last three take all rows at once, and neither a rate nor a batch size.")
@click.option("--lr", type=Several(float), help="The learning rate, for adam about a hundredth of sgd's; of "
                                                "several, 0.1,0.01, that of the least validation loss.")
@click.option("--schedule", metavar="cosine|step:EPOCHS:FACTOR|exponential:FACTOR",
              help="How the rate falls: to 0 over the epochs, by FACTOR every EPOCHS, by FACTOR an epoch.")
@click.option("--warm-up", type=click.IntRange(0), default=0, help="Epochs in which the rate rises.")
@click.option("--weight-decay", type=Several(float),
              help="The part of a parameter that is added to its gradient, or taken off by adamw.")
@click.option("--l1", type=Several(float), help="The sum of the weights' sizes in the loss, times this.")
@click.option("--l2", type=Several(float),
              help="Half the sum of the weights' squares in the loss, times this; linear is then ridge.")
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Each class counts the same.")
@click.option("--folds", type=click.IntRange(2), help="Cross-validate on so many folds of the rows first.")
@click.option("--clip", type=Several(float), help="The largest norm of the gradient.")
@click.option("--clip-value", type=Several(float), help="The largest entry of the gradient.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Of the parameters, the order of the rows, and a file's split.")
@click.option("--hidden", type=click.IntRange(1), multiple=True,
              help="Size of a hidden layer; repeat it for more layers.")
@click.option("--activation", metavar="OPERATOR", help="Of the hidden layers: tanh, relu, … of xman ops.")
@click.option("--last", metavar="OPERATOR", help="An activation on the last layer too.")
@click.option("--basis", type=click.Choice(KINDS), help="x^θ, exp(−(x − θ)²/θ′) or tanh(x θ + θ′).")
@click.option("--loss", help="crossEntropy, softmaxCrossEntropy, sigmoidCrossEntropy, squaredError or hinge.")
@click.option("--max-len", type=click.IntRange(1), help="Characters of a title that are read.")
@click.option("--patience", type=click.IntRange(1),
              help="Stop after so many epochs without a better validation loss.")
@click.option("--threshold", type=click.FloatRange(0),
              help="Stop when no parameter moves by more than this in an epoch.")
@click.option("--checkpoint", metavar="FILE", help="Save after each epoch and on Ctrl-C, and go on from it.")
@HEADER
@ZERO_BASED
@click.option("--target", metavar="COLUMN", help="The column to predict.  [default: the last]")
@click.option("--ignore", metavar="COLUMN", multiple=True, help="A column to leave out; may be repeated.")
@click.option("--task", type=click.Choice(["classify", "regress", "count"]),
              help="What the target is; a count stays on its scale.  [default: by its looks]")
@click.option("--day-first/--no-day-first", default=False, help="Whether 03/04/2024 is in April.")
@click.option("--save", metavar="FILE.safetensors",
              help="Write the trained model, for xman predict and xman.load.")
@click.option("--report", metavar="FILE.html", help="Write a page: the model, its list, its curves and its "
                                                    "worst mistakes.")
@click.option("--plot", metavar="FILE.png", help="Draw the learning curve.")
@click.option("--engine", type=click.Choice(["auto", *ENGINES]), help="What runs the list.  [default: auto]")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True,
              help="Of BLAS; more than one pays for large models alone.")
@click.option("--memory", type=click.FloatRange(1), metavar="MB",
              help="Stream --data, so many megabytes of rows at a time.")
@click.option("--accumulate", type=click.IntRange(1),
              help="Pieces of a minibatch that a worker takes one after another.")
@click.option("--mesh", metavar="data=N,model=M", help="JAX's devices over which rows and matrices are cut.")
@click.option("--precision", type=click.Choice(["mixed"]),
              help="Products of numbers rounded to bfloat16, summed in float32.")
@click.option("--workers", "together", type=click.IntRange(1), default=1,
              help="Processes that share the rows, or trials, by MPI.")
@click.option("--restarts", type=click.IntRange(0), default=0, metavar="K",
              help="How often a killed run goes on again.")
@click.option("--timeout", type=click.FloatRange(0.1), default=TIMEOUT,
              help="Seconds that workers wait for one that hangs.")
@click.option("--quiet", is_flag=True, help="No list and no progress, only the result.")
@AS_JSON
def train(model: str, data: str, header: bool | None, zero_based: bool | None, target: str | None,
          ignore: tuple[str, ...], task: str | None, day_first: bool, save: str | None, report: str | None,
          seed: int, max_len: int | None, hidden: tuple[int, ...], activation: str | None, last: str | None,
          basis: str | None, loss: str | None, warm_up: int, folds: int | None, memory: float | None,
          threads: int, together: int, restarts: int, timeout: float, quiet: bool, as_json: bool,
          **given: Any) -> None:
    """Train a model and judge it on rows that it has not seen."""
    if together > 1 or restarts:
        sys.exit(launched(sys.argv[1:], together, restarts, given["checkpoint"]))
    workers().timeout = timeout
    if workers().rank:  # the first tells what came of it
        quiet, save, report, given["plot"], sys.stdout = True, None, None, None, open(os.devnull, "w")
    how = {"seed": seed, "target": target, "ignore": ignore, "day_first": day_first,
           "task": task or (MODELS[model][4] if model in MODELS else None)}
    sets = (streamed(data, memory, {"folds": folds, "report": report}, **how)
            if (streams := memory or "://" in data) else
            load(data, max_len=max_len, header=header, zero_based=zero_based, **how))
    if max_len and sets.alphabet is None:
        raise XManError(f"--max-len is for titles; {data} has none")
    shape = {"hidden": hidden, "activation": activation, "last": last, "basis": basis, "loss": loss}.items()
    said = {key: value for key, value in shape if value}
    if model in MODELS:
        network = built_in(model, sets, seed, said)
    elif ".py" in model:
        if said:
            raise XManError(f"--{next(iter(said))} is for the models of xman; {model} says itself what it is")
        network = model_of(model)
    else:
        raise XManError(f"there is no model {model!r}; there are {', '.join(MODELS)}, and your own: "
                        "path/to/model.py:Class")
    given = {key: value for key, value in given.items() if value is not None}
    default = MODELS.get(model, MODELS["mlp"])[3] | (
        TABLE if model in ("mlp", "residual") and sets.prepared.found else {})
    rows = sets.train.rows if streams else sets.train[0].shape[0]

    def settings_of(given: dict[str, Any]) -> dict[str, Any]:
        """What `fit` is given beside the data."""
        settings = default | given
        if settings["optimizer"] in METHODS:  # they take all rows at once, and find the length of their steps
            settings = {key: value for key, value in settings.items() if key in given
                        or key not in ("lr", "batch_size")}
        batches = -(-rows // settings.get("batch_size", rows))
        schedule = schedule_of(settings.get("schedule"), warm_up, settings["epochs"], batches)
        return settings | {"schedule": schedule, "seed": seed}

    if not quiet and not as_json:
        print(findings(sets.prepared), end="\n\n" if sets.prepared.found else "")
        steps = network.operationSequence(network.loss)
        long = f"{steps[:12]}\n…  {len(steps) - 18} more lines  …\n{steps[-6:]}"
        print(long if len(steps) > 40 else steps, flush=True)
    started = time.perf_counter()
    try:
        # a library that is loaded later would not hear of the limit
        importlib.import_module("scipy.linalg.blas")
        with extra("threadpoolctl", "cli", "--threads").threadpool_limits(threads):
            given, trials, choice = settings_tried(network, sets.train, sets.valid, given, folds,
                                                   settings_of, not quiet)
            result = fit(network, sets.train, validation=sets.valid, progress=not quiet,
                         prepared=sets.prepared, **settings_of(given))
    except Diverged as error:
        print(*[f"xman: {error}"] * (not workers().rank), file=sys.stderr)
        sys.exit(1)
    seconds = time.perf_counter() - started
    settings = {key: x for key, x in (settings_of(given) | given).items() if key != "schedule"
                or key in given}
    test_loss, accuracy = evaluate(network, result.parameters, sets.test)
    tested = sets.test.rows if streams else len(sets.test[1])
    off = None if sets.classes else sets.prepared.scale[1] * np.sqrt(sum(
        np.sum((predict(network, result.parameters, X)[:, 0] - y.ravel()) ** 2)
        for X, y in (sets.test.batches(1024) if streams else [sets.test])) / tested)
    if save or report:
        made = result.model(**json_terms({"model": model, "data": data, **sha256(data), **said, **settings,
                                          "names": sets.names, "first": sets.first}))
        if save:
            made.save(save)
        if report:
            X, y = sets.test
            (mean, scale), outputs = sets.prepared.scale, predict(network, result.parameters, X)
            truth = np.array(sets.classes, object)[y] if sets.classes else y.ravel() * scale + mean
            write_page(report, made, outputs if sets.classes else outputs * scale + mean, truth, sets.cells,
                       seconds)
    if as_json:
        tried = {"trials": [trial._replace(result=None)._asdict() for trial in trials]} if trials else {}
        print(json.dumps(json_terms({
            "model": model, "data": data, **settings, "history": result.history, **tried,
            "best_epoch": result.best, "reason": result.reason, "seconds": seconds, "test_loss": test_loss,
            "test_accuracy": accuracy, "test_error": off, "test_rows": tested})))
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
    """One line a register, name = value, or one JSON object."""
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
