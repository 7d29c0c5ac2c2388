"""How good predictions are: accuracy, confusion, precision, recall, F1, calibration; R² and RMSE."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..notation import table_as_text
from .model import Model

BINS = 10  # of calibration


def judged(model: Model, outputs: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """What the outputs come to beside the truth, in JSON's terms.

    Of numbers: rows, r2, rmse, mae. Of classes: rows, accuracy, classes with precision, recall, f1 and rows
    each, the matrix confusion [truth][prediction], log_loss, and calibration: the mean confidence,
    accuracy and rows of each tenth of confidence.
    """
    found = model.labels(outputs)
    if not model.classes:
        off = found.astype(float) - truth
        r2 = float(1 - np.mean(off ** 2) / np.var(truth)) if np.ptp(truth) else None
        return {"rows": len(truth), "r2": r2, "rmse": float(np.sqrt(np.mean(off ** 2))),
                "mae": float(np.mean(np.abs(off)))}
    names = [*model.classes, *sorted({*truth.tolist()} - {*model.classes})]
    place = {name: k for k, name in enumerate(names)}
    at, guess = (np.array([place[label] for label in labels.tolist()], int) for labels in (truth, found))
    confusion = np.zeros((len(names), len(names)), int)
    np.add.at(confusion, (at, guess), 1)
    right, taken, there = confusion.diagonal(), confusion.sum(0), confusion.sum(1)
    shares = [(a / np.maximum(b, 1)).tolist() for a, b in ((right, taken), (right, there),
                                                           (2 * right, taken + there))]
    classes = [{"class": name, "precision": precision, "recall": recall, "f1": f1, "rows": n}
               for name, precision, recall, f1, n in zip(names, *shares, there.tolist(), strict=True)]
    return {"rows": len(truth), "accuracy": float(np.mean(at == guess)), "confusion": confusion.tolist(),
            "classes": classes, **calibration(model, outputs, at, guess)}


def calibration(model: Model, outputs: np.ndarray, truth: np.ndarray, guess: np.ndarray) -> dict[str, Any]:
    """The log loss, and how often predictions are right beside how sure they are; {} of no probabilities."""
    if not model.gives_probabilities(outputs):
        return {}
    p = np.pad(model.probabilities(outputs).astype(float),
               [(0, 0), (0, max(0, truth.max() + 1 - len(model.classes)))])
    sure = p.max(1)
    tenth = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = [{"confidence": float(sure[here].mean()), "accuracy": float((truth == guess)[here].mean()),
             "rows": int(here.sum())} for k in range(BINS) if (here := tenth == k).any()]
    chosen = np.clip(p[np.arange(len(p)), truth], np.finfo(np.float32).eps, 1)
    return {"log_loss": float(-np.log(chosen).mean()), "calibration": bins,
            "calibration_error": sum(abs(b["confidence"] - b["accuracy"]) * b["rows"] for b in bins) / len(p)}


def report_text(report: dict[str, Any]) -> str:
    """A report as text."""
    rows = f"{report['rows']:,} rows"
    if "rmse" in report:
        r2 = "no R², since the truth is one number" if report["r2"] is None else f"R² {report['r2']:.4f}"
        return f"{r2}, root mean square error {report['rmse']:.4g}, mean error {report['mae']:.4g} of {rows}"
    sure = [f", {key.replace('_', ' ')} {report[key]:.4f}" for key in ("log_loss", "calibration_error")
            if key in report]
    lines = [f"accuracy {report['accuracy']:.2%} of {rows}{''.join(sure)}"]
    names = [row["class"][:24] for row in report["classes"]]
    lines.append(table_as_text([("class", "precision", "recall", "F1", "rows"), *(
        (name, f"{row['precision']:.4f}", f"{row['recall']:.4f}", f"{row['f1']:.4f}", f"{row['rows']:,}")
        for name, row in zip(names, report["classes"], strict=True))], 1))
    if len(names) <= 20:
        counts = [[f"{n:,}" for n in row] for row in report["confusion"]]
        size = max(6, *(len(n) for row in counts for n in row))
        lines += ["confusion: each row a class, each column what it was taken for",
                  table_as_text([["", *(name[:size] for name in names)],
                                 *([name, *row] for name, row in zip(names, counts, strict=True))], 1)]
    return "\n".join(lines)
