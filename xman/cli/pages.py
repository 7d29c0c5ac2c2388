"""The report of a trained model as a page: its list, its curves, how good it is, its worst mistakes."""
from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import extra
from ..files import Model
from ..files.container import versions
from ..files.figures import drawing
from ..files.reports import judged, report_text
from ..files.whole import write_whole
from ..train.plot import learning_curve

TEMPLATE = Path(__file__).with_name("templates") / "model.html"
MISTAKES = 12  # the most that are shown
COLUMNS = 12   # the most of their table
LONG_SETTINGS = "history", "names", "first"  # not shown: lists


def write_page(path: str, model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any],
               seconds: float) -> None:
    """Write the page of a model to path.

    outputs, truth: for rows that it was not trained on. rows: the cells of these rows by register, as far as
    they are known. seconds: the time of training. XManError where the page cannot be written.
    """
    jinja2 = extra("jinja2", "cli", "a page of a model")
    settings, modules = model.settings, map(" ".join, versions().items())
    learning_curve(settings.get("history", []), curves := io.BytesIO())
    facts = [("target", model.target), ("parameters", f"{sum(x.size for x in model.values.values()):,}"),
             ("seconds", f"{seconds:.1f}"), ("versions", ", ".join(modules)),
             *((key, x) for key, x in settings.items() if key not in LONG_SETTINGS and x is not None)]
    write_whole(path, jinja2.Environment(autoescape=True).from_string(TEMPLATE.read_text("utf-8")).render(
        title=" of ".join(settings[key] for key in ("model", "data")), facts=facts,
        report=report_text(judged(model, outputs, truth)), curves=base64_of(curves), steps=model.steps,
        **mistakes(model, outputs, truth, rows)))


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
