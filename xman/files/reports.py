"""How good predictions are: accuracy, confusion, precision, recall, F1, calibration; R² and RMSE."""
from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model

BINS = 10  # of calibration


def judged(model: Model, outputs: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """What the outputs come to beside the truth, in JSON's terms.

    Of numbers: rows, r2, rmse, mae. Of classes: rows, accuracy, classes with precision, recall, f1 and rows
    each, the matrix confusion [truth][prediction], log_loss, and calibration: the mean confidence,
    accuracy and rows of each tenth of confidence.
    """
    found, metrics = model.labels(outputs), scores()
    if not model.classes:
        off = found.astype(float) - truth
        return {"rows": len(truth), "r2": float(metrics.r2_score(truth, found)) if np.ptp(truth) else None,
                "rmse": float(np.sqrt(np.mean(off ** 2))), "mae": float(np.mean(np.abs(off)))}
    names = [*model.classes, *sorted({*truth.tolist()} - {*model.classes})]
    place = {name: k for k, name in enumerate(names)}
    at, guess = (np.array([place[label] for label in labels.tolist()], int) for labels in (truth, found))
    confusion = metrics.confusion_matrix(at, guess, labels=range(len(names)))
    each = metrics.precision_recall_fscore_support(at, guess, labels=range(len(names)), zero_division=0)
    right = float(metrics.accuracy_score(at, guess))
    report = {"rows": len(truth), "accuracy": right, "confusion": confusion.tolist(), "classes": [
        {"class": name, "precision": float(p), "recall": float(r), "f1": float(f), "rows": int(n)}
        for name, p, r, f, n in zip(names, *each, strict=True)]}
    return report | calibration(model, outputs, at, guess)


def scores() -> Any:
    """The functions of sklearn.metrics, or where it is not installed those that are used here."""
    try:
        from sklearn import metrics
        return metrics
    except ImportError:
        return Scores


class Scores:
    """Of sklearn.metrics what `judged` takes."""

    @staticmethod
    def r2_score(truth: np.ndarray, found: np.ndarray) -> float:
        return 1 - np.sum((found.astype(float) - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)

    @staticmethod
    def accuracy_score(truth: np.ndarray, found: np.ndarray) -> float:
        return np.mean(truth == found)

    @staticmethod
    def confusion_matrix(truth: np.ndarray, found: np.ndarray, labels: range) -> np.ndarray:
        return np.bincount(truth * len(labels) + found, minlength=len(labels) ** 2).reshape(len(labels), -1)

    @staticmethod
    def precision_recall_fscore_support(truth: np.ndarray, found: np.ndarray, labels: range,
                                        zero_division: int) -> tuple:
        confusion = Scores.confusion_matrix(truth, found, labels)
        right, given, there = confusion.diagonal(), confusion.sum(0), confusion.sum(1)
        share = lambda a, b: np.divide(a, b, out=np.full(len(b), float(zero_division)), where=b > 0)
        return share(right, given), share(right, there), share(2.0 * right, given + there), there


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
    width = max(5, *(len(row["class"][:24]) for row in report["classes"]))
    lines.append(f"{'class':{width}}  precision  recall      F1     rows")
    lines += [f"{row['class'][:24]:{width}}  {row['precision']:9.4f}  {row['recall']:6.4f}  {row['f1']:6.4f} "
              f" {row['rows']:7,}" for row in report["classes"]]
    if len(report["classes"]) <= 20:
        size = max(6, *(len(f"{n:,}") for row in report["confusion"] for n in row))
        lines.append(f"confusion: each row a class, each column what it was taken for\n{'':{width}}"
                     + "".join(f"  {row['class'][:size]:>{size}}" for row in report["classes"]))
        lines += [f"{row['class'][:24]:{width}}" + "".join(f"  {n:{size},}" for n in counts)
                  for row, counts in zip(report["classes"], report["confusion"], strict=True)]
    return "\n".join(lines)
