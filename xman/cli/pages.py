"""The report of a trained model as a page: its list, its curves, how good it is, its worst mistakes."""
from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..files import Model
from ..files.container import versions
from ..files.figures import drawing
from ..files.reports import judged, report_text
from ..files.whole import write_whole
from ..train.plot import learning_curve

STYLE = ("body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
         "pre{background:#f6f8fa;padding:1rem;overflow-x:auto;font-size:13px}table{border-collapse:collapse}"
         "td{padding:.15rem .7rem;text-align:left;border-bottom:1px solid #d0d7de}")
WORST = 12  # so many mistakes are shown
LONG = "history", "names", "first"  # these settings are not shown


def write_page(path: str, model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any],
               seconds: float) -> None:
    """Write the page of a model to path.

    outputs, truth: for rows that it was not trained on. rows: the cells of these rows by register, as far as
    they are known. seconds: the time of training. XManError where the page cannot be written.
    """
    report, settings = judged(model, outputs, truth), model.settings
    learning_curve(settings.get("history", []), curves := io.BytesIO())
    size, modules = sum(x.size for x in model.values.values()), map(" ".join, versions().items())
    facts = [("target", model.target), ("parameters", f"{size:,}"), ("seconds", f"{seconds:.1f}")]
    told = [(key, x) for key, x in settings.items() if key not in LONG and x is not None]
    title = escape(" of ".join(settings[key] for key in ("model", "data")))
    page = f"""<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>
<h1>{title}</h1>{table([*facts, ("versions", ", ".join(modules)), *told])}
<h2>How good it is</h2><pre>{escape(report_text(report))}</pre>
<h2>Curves</h2>{embedded(curves)}
<h2>Worst mistakes</h2>{mistakes(model, outputs, truth, rows)}
<h2>The list</h2><pre>{escape(model.steps)}</pre>"""
    write_whole(path, page)


def escape(text: Any) -> str:
    return html.escape(str(text))


def table(rows: Iterable[Iterable]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def embedded(png: io.BytesIO) -> str:
    return f"<img width=800 src='data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}'>"


def mistakes(model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any]) -> str:
    """The rows whose predictions are farthest off; for classes, those that gave the truth the least."""
    found = model.labels(outputs)
    if model.classes:
        place = np.array([model.classes.index(label) for label in truth.tolist()])
        given = np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
        of_truth = given[np.arange(len(outputs)), place]
        wrong = np.flatnonzero(found != truth)
        worst = wrong[np.argsort(of_truth[wrong])][:WORST]
    else:
        worst = np.argsort(-np.abs(found - truth))[:WORST]
    if not worst.size:
        return "<p>None.</p>"
    column = model.columns[0]
    images = np.asarray(rows.get(column.register, ()))
    if column.kind == "array" and images.size and (side := math.isqrt(images[0].size)) ** 2 == images[0].size:
        with drawing(png := io.BytesIO(), 9, 3.6, 2, WORST // 2) as grid:
            for axes in grid.flat:
                axes.set_axis_off()
            for axes, k in zip(grid.flat, worst, strict=False):
                axes.imshow(images[k].reshape(side, side), cmap="Greys")
                axes.set_title(f"{truth[k]}, taken for {found[k]}", fontsize="small", parse_math=False)
        return embedded(png)
    shown = [c for c in model.columns if c.register in rows][:12]
    told = [[truth[k], found[k], *(str(rows[c.register][k])[:40] for c in shown)] for k in worst]
    return table([["truth", "prediction", *(c.name for c in shown)], *told])
