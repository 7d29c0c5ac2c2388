"""The report of a trained model as a page: its list, its curves, how good it is, its worst mistakes."""
from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .container import versions
from .model import Model
from .reports import judged, report_text
from .whole import write_whole

STYLE = ("body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
         "pre{background:#f6f8fa;padding:1rem;overflow-x:auto;font-size:13px}table{border-collapse:collapse}"
         "td{padding:.15rem .7rem;text-align:left;border-bottom:1px solid #d0d7de}"
         "figure{display:inline-block;margin:.4rem;text-align:center;font-size:13px}")
WORST = 12  # mistakes that are shown
COLOURS = {"loss": "#0969da", "validation_loss": "#cf222e", "validation_accuracy": "#1a7f37"}


def write_page(path: str, model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any],
               seconds: float) -> None:
    """Write the page of a model to path.

    outputs, truth: those of rows that it was not trained on, and rows: their cells by register, as far as
    they are known. seconds: of training. XManError where it cannot be written.
    """
    report, settings = judged(model, outputs, truth), model.settings
    history = settings.get("history", [])
    facts = {"target": model.target, "parameters": f"{sum(x.size for x in model.values.values()):,}",
             "seconds": f"{seconds:.1f}", "versions": ", ".join(map(" ".join, versions().items())),
             **{key: value for key, value in settings.items()
                if key not in ("history", "names", "first") and value is not None}}
    title = escape(" of ".join(settings[key] for key in ("model", "data")))
    parts = [f"<h1>{title}</h1>", table(facts.items()),
             "<h2>How good it is</h2>", f"<pre>{escape(report_text(report))}</pre>", "<h2>Curves</h2>",
             *(curve(history, names) for names in (("loss", "validation_loss"), ("validation_accuracy",))),
             "<h2>Worst mistakes</h2>", mistakes(model, outputs, truth, rows),
             "<h2>The list</h2>", f"<pre>{escape(str(model.steps))}</pre>"]
    page = f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    write_whole(path, "".join([page, *parts]))


def escape(text: Any) -> str:
    return html.escape(str(text))


def table(rows: Iterable[Iterable]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def curve(history: Sequence[Mapping[str, float]], names: Sequence[str]) -> str:
    """What the history has of these, epoch by epoch, as a picture; nothing where it has none of them."""
    known = {name: [float(row[name]) for row in history if name in row] for name in names}
    known = {name: ys for name, ys in known.items() if len(ys) > 1 and np.isfinite(ys).all()}
    if not known:
        return ""
    low, high = min(map(min, known.values())), max(map(max, known.values()))
    at = lambda k, y, n: f"{60 + 500 * k / (n - 1):.1f},{190 - 170 * (y - low) / ((high - low) or 1):.1f}"
    lines = [f"<polyline fill=none stroke='{COLOURS[name]}' stroke-width=1.5 points='"
             f"{' '.join(at(k, y, len(ys)) for k, y in enumerate(ys))}'/>" for name, ys in known.items()]
    words = [f"<text x={70 + 150 * k} y=14 fill='{COLOURS[name]}'>{name.replace('_', ' ')}</text>"
             for k, name in enumerate(known)]
    ends = f"<text x=0 y=194>{low:.3g}</text><text x=0 y=26>{high:.3g}</text>"
    return f"<svg width=600 height=210 font-size=12>{''.join(lines + words)}{ends}</svg>"


def mistakes(model: Model, outputs: np.ndarray, truth: np.ndarray, rows: Mapping[str, Any]) -> str:
    """The rows whose predictions are the farthest off: of classes those that gave the truth the least."""
    found = model.labels(outputs)
    if model.classes:
        place = np.array([model.classes.index(label) for label in truth.tolist()])
        of_truth = (np.where(place == 1, 1, -1) * outputs[:, 0] if outputs.shape[1] == 1
                    else outputs[np.arange(len(outputs)), place])
        wrong = np.flatnonzero(found != truth)
        worst = wrong[np.argsort(of_truth[wrong])][:WORST]
    else:
        worst = np.argsort(-np.abs(found - truth))[:WORST]
    if not worst.size:
        return "<p>None.</p>"
    column = model.columns[0]
    images = np.asarray(rows.get(column.register, ()))
    if column.kind == "array" and images.size and (side := math.isqrt(images[0].size)) ** 2 == images[0].size:
        figure = "<figure>{}<figcaption>{}, taken for {}</figcaption></figure>"
        return "".join(figure.format(grey_squares(images[k].reshape(side, side)), escape(truth[k]),
                                     escape(found[k])) for k in worst)
    shown = [c for c in model.columns if c.register in rows][:12]
    return table([["truth", "prediction", *(c.name for c in shown)],
                  *([truth[k], found[k], *(str(rows[c.register][k])[:40] for c in shown)] for k in worst)])


def grey_squares(image: np.ndarray) -> str:
    """An image as squares of grey, its least entry white and its greatest black."""
    low, span = image.min(), np.ptp(image) or 1
    size = max(1, 96 // len(image))
    squares = "".join(f"<rect x={size * j} y={size * i} width={size} height={size} fill='rgb({v},{v},{v})'/>"
                      for (i, j), x in np.ndenumerate(image)
                      if (v := int(255 - 255 * (x - low) / span)) < 255)
    return f"<svg width={size * len(image)} height={size * len(image)}>{squares}</svg>"
