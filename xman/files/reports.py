"""How good predictions are: of classes accuracy, confusion, precision, recall, F1 and calibration; of numbers R² and RMSE."""
from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model

BINS = 10  # of calibration


def judged(model: Model, outputs: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """What the outputs come to beside the truth, in JSON's terms.

    Of numbers: rows, r2, rmse, mae. Of classes: rows, accuracy, classes with precision, recall, f1 and rows each, the matrix
    confusion [truth][prediction], log_loss, and calibration: the mean confidence, accuracy and rows of each tenth of confidence.
    """
    found = model.labels(outputs)
    if not model.classes:
        off = found.astype(float) - truth
        spread = np.sum((truth - truth.mean()) ** 2)
        return {"rows": len(truth), "r2": float(1 - np.sum(off ** 2) / spread) if spread else None,
                "rmse": float(np.sqrt(np.mean(off ** 2))), "mae": float(np.mean(np.abs(off)))}
    names = [*model.classes, *sorted({*truth.tolist()} - {*model.classes})]
    place = {name: k for k, name in enumerate(names)}
    at, guess = (np.array([place[label] for label in labels.tolist()], int) for labels in (truth, found))
    confusion = np.bincount(at * len(names) + guess, minlength=len(names) ** 2).reshape(len(names), -1)
    right, given, there = confusion.diagonal(), confusion.sum(0), confusion.sum(1)
    share = lambda a, b: np.divide(a, b, out=np.zeros(len(names)), where=b > 0)
    precision, recall, f1 = share(right, given), share(right, there), share(2.0 * right, given + there)
    report = {"rows": len(truth), "accuracy": float(right.sum() / len(truth)), "confusion": confusion.tolist(), "classes": [
        {"class": name, "precision": float(p), "recall": float(r), "f1": float(f), "rows": int(n)}
        for name, p, r, f, n in zip(names, precision, recall, f1, there, strict=True)]}
    return report | calibration(model, outputs, at, guess)


def calibration(model: Model, outputs: np.ndarray, truth: np.ndarray, guess: np.ndarray) -> dict[str, Any]:
    """The log loss, and how often predictions are right beside how sure they are; nothing where outputs are no probabilities."""
    if not model.gives_probabilities(outputs):
        return {}
    p = np.pad(model.probabilities(outputs).astype(float), [(0, 0), (0, max(0, truth.max() + 1 - len(model.classes)))])
    sure = p.max(1)
    tenth = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = [{"confidence": float(sure[here].mean()), "accuracy": float((truth == guess)[here].mean()), "rows": int(here.sum())}
            for k in range(BINS) if (here := tenth == k).any()]
    chosen = np.clip(p[np.arange(len(p)), truth], np.finfo(np.float32).eps, 1)
    return {"log_loss": float(-np.log(chosen).mean()), "calibration": bins,
            "calibration_error": sum(abs(b["confidence"] - b["accuracy"]) * b["rows"] for b in bins) / len(p)}


def report_text(report: dict[str, Any]) -> str:
    """A report as text."""
    rows = f"{report['rows']:,} rows"
    if "rmse" in report:
        r2 = "no R², since the truth is one number" if report["r2"] is None else f"R² {report['r2']:.4f}"
        return f"{r2}, root mean square error {report['rmse']:.4g}, mean error {report['mae']:.4g} of {rows}"
    sure = [f", {key.replace('_', ' ')} {report[key]:.4f}" for key in ("log_loss", "calibration_error") if key in report]
    lines = [f"accuracy {report['accuracy']:.2%} of {rows}{''.join(sure)}"]
    width = max(5, *(len(row["class"][:24]) for row in report["classes"]))
    lines.append(f"{'class':{width}}  precision  recall      F1     rows")
    lines += [f"{row['class'][:24]:{width}}  {row['precision']:9.4f}  {row['recall']:6.4f}  {row['f1']:6.4f}  {row['rows']:7,}"
              for row in report["classes"]]
    if len(report["classes"]) <= 20:
        size = max(6, *(len(f"{n:,}") for row in report["confusion"] for n in row))
        lines.append(f"confusion: each row a class, each column what it was taken for\n{'':{width}}"
                     + "".join(f"  {row['class'][:size]:>{size}}" for row in report["classes"]))
        lines += [f"{row['class'][:24]:{width}}" + "".join(f"  {n:{size},}" for n in counts)
                  for row, counts in zip(report["classes"], report["confusion"], strict=True)]
    return "\n".join(lines)
