"""What became of a training, in lines for a terminal, as JSON, and as a page with curves and mistakes."""
from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import XManError, extra
from ...files import Model, trained
from ...files.container import versions
from ...files.figures import drawing
from ...files.reports import judgement_of, report_text
from ...files.whole import write_whole
from ...manager import XMan
from ...notation import table_as_text
from ...scale import Stream
from ...tables import Prepared
from ...train import Dataset, Result, Trial, evaluate, predict
from ...train.plot import learning_curve
from ..commands import json_terms

TEMPLATE = Path(__file__).with_name("templates") / "model.html"
MISTAKES = 12  # the most that are shown
COLUMNS = 12   # the most of their table
LONG_SETTINGS = "history", "names", "first"  # not shown: lists


def write_model(result: Result, seconds: float, data: Dataset, facts: dict[str, Any], *,
                save: str | None, report: str | None) -> None:
    """Write the model, and the page about it, if they are asked for."""
    if not (save or report):
        return
    model = result.model(**json_terms(facts | {"names": data.names, "first": data.first}))
    if temperature := facts.get("temperature"):
        model = model.tempered(temperature)
    if save:
        model.save(save)
    if report:
        write_page(report, model, data, seconds)


def write_page(path: str, model: Model, data: Dataset, seconds: float) -> None:
    """Write the page of a model to path, judged on the test rows. seconds: the time of training. XManError
    where the page cannot be written."""
    jinja2 = extra("jinja2", "cli", "a page of a model")
    settings, modules = model.settings, map(" ".join, versions().items())
    X, y = data.test
    pairs = zip(data.prepared.columns, model.columns, strict=True)
    rows = {now.register: data.cells[before.register] for before, now in pairs if data.cells}
    outputs = (model.outputs_of(rows) if rows else model.outputs(X)).astype(float)
    mean, scale = data.prepared.scale
    truth = np.array(data.classes, object)[y] if data.classes else y.ravel().astype(float) * scale + mean
    learning_curve(settings.get("history", []), curves := io.BytesIO())
    facts = [("target", model.target), ("parameters", f"{sum(x.size for x in model.values.values()):,}"),
             ("seconds", f"{seconds:.1f}"), ("versions", ", ".join(modules)),
             *((key, x) for key, x in settings.items() if key not in LONG_SETTINGS and x is not None)]
    template = jinja2.Environment(autoescape=True).from_string(TEMPLATE.read_text("utf-8"))
    title, report = f"{settings['model']} of {settings['data']}", judgement_of(model, outputs, truth)
    judged = {"importance": importance(model, rows, truth), **mistakes(model, outputs, truth, rows)}
    write_whole(path, template.render(title=title, facts=facts, report=report_text(report),
                                      curves=base64_of(curves), steps=model.steps, **judged))


def importance(model: Model, rows: Mapping[str, np.ndarray], truth: np.ndarray) -> list[list[str]]:
    """For each column how much the loss rises when its cells change their rows, the most important first
    (Breiman 2001, §10): the log loss, the share of errors where there is none, or the root mean square error.
    """
    def loss(cells: Mapping[str, np.ndarray]) -> float:
        report = judgement_of(model, model.outputs_of(cells), truth)
        return report.get("log_loss", 1 - report["accuracy"]) if model.classes else report["rmse"]

    if not rows or len(model.columns) == 1:
        return []
    order, plain = np.random.default_rng(0).permutation(len(truth)), loss(rows)
    rises = [(loss({**rows, c.register: rows[c.register][order]}) - plain, c.name) for c in model.columns]
    return [["column", "rise"], *([name, f"{rise:.4g}"] for rise, name in sorted(rises, reverse=True))]


def base64_of(png: io.BytesIO) -> str:
    return base64.b64encode(png.getvalue()).decode()


def mistakes(model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any]) -> dict[str, Any]:
    """The rows whose predictions are farthest off; for classes, those that gave the truth the least.

    As a picture in base 64, {"images": …}, where the model reads square images; else {"mistakes": rows of a
    table}, without rows where nothing is wrong."""
    predictions = model.labels(outputs)
    if model.classes:
        place = np.array([model.classes.index(label) for label in truth.tolist()])
        scores = np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
        of_truth, wrong = scores[np.arange(len(outputs)), place], np.flatnonzero(predictions != truth)
        worst = wrong[np.argsort(of_truth[wrong])][:MISTAKES]
    else:
        worst = np.argsort(-np.abs(predictions - truth))[:MISTAKES]
    if not worst.size:
        return {"mistakes": []}
    column = model.columns[0]
    images = np.asarray(rows.get(column.register, ()))
    if column.kind == "array" and images.size and (side := math.isqrt(images[0].size)) ** 2 == images[0].size:
        with drawing(png := io.BytesIO(), 9, 3.6, 2, MISTAKES // 2) as grid:
            for axes in grid.flat:
                axes.set_axis_off()
            for axes, k in zip(grid.flat, worst, strict=False):
                axes.imshow(images[k].reshape(side, side), cmap="Greys")
                axes.set_title(f"{truth[k]}, taken for {predictions[k]}", fontsize="small", parse_math=False)
        return {"images": base64_of(png)}
    columns = [c for c in model.columns if c.register in rows][:COLUMNS]
    table = [[truth[k], predictions[k], *(str(rows[c.register][k])[:40] for c in columns)] for k in worst]
    return {"mistakes": [["truth", "prediction", *(c.name for c in columns)], *table]}


def temperature_of(network: XMan, result: Result, data: Dataset) -> float:
    """The temperature that makes the log loss of the validation rows least (Guo et al. 2017)."""
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    X, y = data.valid
    scores = np.log(np.maximum(predict(network, result.parameters, X).astype(float), 1e-30))
    if scores.shape[1:] != (len(data.classes),):
        raise XManError("--calibrate is for classes, each with an output")
    loss = lambda t: -log_softmax(scores / np.exp(t), 1)[np.arange(len(y)), y].mean()
    return float(np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x))


def rows_and_pairs(data: tuple | Stream) -> tuple[int, Iterable[tuple]]:
    """The number of rows, and pairs (X, y) of them: the one pair, or the pairs of a stream."""
    return (data.rows, data.batches(1024)) if isinstance(data, Stream) else (data[0].shape[0], [data])


def findings(data: Prepared) -> str:
    """A table of what the columns hold, and sentences below it."""
    rows = [(name[:40], kind, str(missing), values) for name, kind, missing, values in data.summary]
    rows = [("column", "kind", "missing", "range, or the commonest"), *rows]
    if len(rows) > 42:
        rows[31:-10] = [("…", "", "", f"{len(rows) - 41} more columns")]
    sentences = [f"{text[0].upper()}{text[1:]}." for text in data.remarks]
    return "\n".join([table_as_text(rows, 4), *sentences]) if data.summary else ""


def tested(network: XMan, result: Result, data: Dataset, facts: dict[str, Any]) -> dict[str, Any]:
    """The loss, the accuracy of classes, and the root mean square error of numbers, on the test rows. facts:
    the costs and the temperature, which change predictions; the loss of tempered ones is the log loss."""
    if not data.test[1].shape[0] if isinstance(data.test, tuple) else not data.test.rows:
        return {"test_rows": 0}
    majority = None
    if isinstance(data.test, tuple) and data.classes:
        majority = float(np.mean(data.test[1] == np.bincount(data.train[1]).argmax()))
    loss, accuracy = evaluate(network, result.parameters, data.test)
    rows, pairs = rows_and_pairs(data.test)
    error = None
    if not data.classes and hasattr(network, "outputs"):
        # in float64: the squares of a bad model leave the range of float32
        squares = sum(np.sum((predict(network, result.parameters, X).ravel().astype(float) - y.ravel()) ** 2)
                      for X, y in pairs)
        error = data.prepared.scale[1] * np.sqrt(squares / rows)
    elif {"costs", "temperature"} & {*facts}:
        model = model_of_features(network, result.parameters, data, facts)
        outputs, truth = zip(*((model.outputs(X), y) for X, y in pairs), strict=True)
        labels = np.array(data.classes, object)[np.concatenate(truth)]
        judgement = judgement_of(model, np.concatenate(outputs), labels)
        accuracy = judgement["accuracy"]
        loss = judgement["log_loss"] if "temperature" in facts else loss
    measured = {"test_loss": loss, "test_accuracy": accuracy, "test_error": error}
    return measured | {"test_rows": rows, "test_majority": majority}


def model_of_features(network: XMan, parameters: dict[str, np.ndarray], data: Dataset,
                      facts: dict[str, Any]) -> Model:
    """The model that reads rows of numbers, as data has them, with the costs and the temperature of facts."""
    model = trained(network, parameters, None, facts, data.prepared.shape, data.classes)
    return model.tempered(facts["temperature"]) if "temperature" in facts else model


def facts_of(result: Result, trials: Sequence[Trial], seconds: float) -> dict[str, Any]:
    """What became of the training, for a program to read."""
    each = [trial._replace(result=None)._asdict() for trial in trials]
    facts = {"history": result.history, "best_epoch": result.best, "reason": result.reason}
    return ({"trials": each} if trials else {}) | facts | {"seconds": seconds}


def print_network(network: XMan, data: Dataset) -> None:
    """Print what the columns hold, and the list of the loss, of which a long one loses its middle."""
    print(findings(data.prepared), end="\n\n" if data.prepared.summary else "")
    steps = network.operationSequence(network.loss)
    ends = f"{steps[:12]}\n…  {len(steps) - 18} more lines  …\n{steps[-6:]}"
    print(ends if len(steps) > 40 else steps, flush=True)


def print_result(result: Result, choice: str, seconds: float) -> None:
    """Print which settings were chosen, and how the training ended."""
    if choice:
        print(choice)
    size = sum(np.size(w) for w in result.parameters.values())
    print(f"{result.reason}; {size:,} parameters, those of epoch {result.best}, in {seconds:.1f} s")


def test_text(test: dict[str, Any]) -> str:
    """The line of the test, "" without rows for it."""
    if not test["test_rows"]:
        return ""
    phrases = {"test_loss": "test loss {:.4f}", "test_accuracy": ", accuracy {:.2%}",
               "test_error": ", root mean square error {:.4g}", "test_rows": " of {:,} rows",
               "test_majority": "; the commonest class alone: {:.2%}"}
    return "".join(form.format(test[key]) for key, form in phrases.items() if test[key] is not None) + "\n"
