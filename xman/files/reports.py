"""Reports on how good predictions are: accuracy, confusion, precision, recall, F1, calibration; R², RMSE."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..notation import table_as_text
from .model import Model

BINS = 10  # the tenths of confidence in a calibration


def judgement_of(model: Model, outputs: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """A report on the outputs of a model, compared with the truth, in JSON's terms.

    For numbers it has rows, r2, rmse, mae, and mean_rmse, that of the mean alone. For classes it has rows,
    accuracy, classes (each with precision, recall, f1 and rows), majority, the share of the commonest class,
    the matrix confusion [truth][prediction], log_loss, and calibration: the mean confidence, accuracy and
    rows of each tenth of confidence.
    """
    predicted = model.labels(outputs)
    if not model.classes:
        off = predicted.astype(float) - truth
        square, size = float(np.mean(off ** 2)), float(np.mean(np.abs(off)))
        r2, alone = float(1 - square / np.var(truth)) if np.ptp(truth) else None, float(np.std(truth))
        return {"rows": len(truth), "r2": r2, "rmse": square ** 0.5, "mae": size, "mean_rmse": alone}
    names = [*model.classes, *sorted({*truth.tolist()} - {*model.classes})]
    place = {name: k for k, name in enumerate(names)}
    actual, guess = (np.array([place[label] for label in a.tolist()], int) for a in (truth, predicted))
    confusion = np.bincount(actual * len(names) + guess, minlength=len(names) ** 2).reshape(len(names), -1)
    right, guess_totals, class_totals = confusion.diagonal(), confusion.sum(0), confusion.sum(1)
    each = {"precision": right / np.maximum(guess_totals, 1), "recall": right / np.maximum(class_totals, 1),
            "f1": 2 * right / np.maximum(guess_totals + class_totals, 1), "rows": class_totals}
    classes = [{"class": name, **{key: x[k].item() for key, x in each.items()}}
               for k, name in enumerate(names)]
    facts = {"accuracy": float(np.mean(actual == guess)), "confusion": confusion.tolist(), "classes": classes}
    facts["majority"] = float(class_totals.max() / len(truth))
    return {"rows": len(truth), **facts, **calibration(model, outputs, actual, guess)}


def calibration(model: Model, outputs: np.ndarray, truth: np.ndarray, guess: np.ndarray) -> dict[str, Any]:
    """The log loss, and how often predictions of each confidence are right; {} without probabilities."""
    if (probabilities := model.probabilities_if_any(outputs)) is None:
        return {}
    unknown = max(0, truth.max() + 1 - len(model.classes))
    p = np.pad(probabilities.astype(float), [(0, 0), (0, unknown)])
    sure, right = p[np.arange(len(p)), guess], truth == guess  # not the greatest: costs may choose another
    tenth = np.minimum((sure * BINS).astype(int), BINS - 1)
    each = zip(*(np.bincount(tenth, weight, BINS).tolist() for weight in (sure, right, None)), strict=True)
    bins = [{"confidence": c / n, "accuracy": a / n, "rows": n} for c, a, n in each if n]
    off = np.abs(np.bincount(tenth, sure - right)).sum() / len(p)
    chosen = np.clip(p[np.arange(len(p)), truth], np.finfo(np.float32).eps, 1)
    return {"log_loss": float(-np.log(chosen).mean()), "calibration": bins, "calibration_error": float(off)}


def report_text(report: dict[str, Any]) -> str:
    """A report as text."""
    rows = f"{report['rows']:,} rows"
    if "rmse" in report:
        r2 = "no R², since the truth is one number" if report["r2"] is None else f"R² {report['r2']:.4f}"
        return (f"{r2}, root mean square error {report['rmse']:.4g}, mean error {report['mae']:.4g} "
                f"of {rows}; the mean alone: {report['mean_rmse']:.4g}")
    keys = [key for key in ("log_loss", "calibration_error") if key in report]
    sure = "".join(f", {key.replace('_', ' ')} {report[key]:.4f}" for key in keys)
    table, counts = [["class", "precision", "recall", "F1", "rows"]], [[""]]
    for row, confused in zip(report["classes"], report["confusion"], strict=True):
        name, shares = row["class"][:24], [row[key] for key in ("precision", "recall", "f1")]
        table.append([name, *(f"{share:.4f}" for share in shares), f"{row['rows']:,}"])
        counts.append([name, *(f"{n:,}" for n in confused)])
    size = max(6, *(len(n) for _, *row in counts for n in row))
    counts[0] += [name[:size] for name, *_ in table[1:]]
    lines = [f"accuracy {report['accuracy']:.2%} of {rows}{sure}; the commonest class alone: "
             f"{report['majority']:.2%}", table_as_text(table, 1)]
    if len(table) <= 21:
        lines += ["confusion: each row a class, each column what it was taken for", table_as_text(counts, 1)]
    return "\n".join(lines)
