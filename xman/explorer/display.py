"""What notebooks show of objects: tables, small pictures without scripts, the explorer behind a click."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import Any

import numpy as np

import ops

from ..errors import XManError
from ..manager import XMan
from ..notation import definition, literal_text
from ..show.listing import Listing, size_text
from ..wengert import WengertList
from .page import explore, rendered

HEAT_ROWS = 64     # the most rows, and columns, of a heat map; a larger matrix is thinned out
EPOCHS = 12        # the most epochs in the table of a run
TABLE_ROWS = 100   # the most rows of any other table
LIST_LINES = 200   # the most lines that are shown of a list; its explorer has all


def shown(head: Sequence[str] = (), rows: Sequence[Sequence[Any]] = (), **parts: Any) -> str:
    """The HTML of a table, text to the left and numbers to the right, and of notebook.html's other parts."""
    is_text = lambda cell: isinstance(cell, str) and not re.match(r"-?\d", cell)
    parts |= {"head": head, "rows": rows[:TABLE_ROWS], "number": number, "size_text": size_text}
    parts |= {"sides": ["left" if is_text(cell) else "right" for cell in (rows[-1] if rows else head)]}
    parts |= {"notes": [*not_shown(rows, TABLE_ROWS, "rows"), *parts.get("notes", ())]}
    return rendered("notebook.html", literal_text=literal_text, summary_of=summary_of, **parts)


def number(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:.6g}"


def not_shown(rows: Sequence, limit: int, noun: str) -> list[str]:
    return [f"… and {len(rows) - limit:,} {noun} more"] * (len(rows) > limit)


class HeatMap:
    """A matrix with a title as a picture: blue below 0, white 0, orange above, strongest farthest from 0."""

    def __init__(self, matrix: Any, title: str):
        x = np.asarray(matrix, float)
        self.matrix, self.title = x.reshape(-1, x.shape[-1] if x.ndim else 1), title

    def svg(self, **caption: str) -> str:
        """The picture as SVG; what is not finite is purple."""
        x, size = self.matrix, 12
        rows, columns = (range(0, n, -(-n // HEAT_ROWS) or 1) for n in x.shape)
        strongest = np.abs(x[np.isfinite(x)]).max(initial=0) or 1.0
        boxes = [(j * size, i * size, size, size, colour(x[r, c] / strongest), f"[{r}, {c}] {x[r, c]:.6g}")
                 for i, r in enumerate(rows) for j, c in enumerate(columns)]
        picture = self.title, size * len(columns), size * len(rows)
        return shown(picture=picture, boxes=boxes, framed=True, **caption)

    def _repr_html_(self) -> str: return self.svg(sentence=repr(self))

    def __repr__(self) -> str:
        x, finite = self.matrix, self.matrix[np.isfinite(self.matrix)]
        span = f", {finite.min():.4g} to {finite.max():.4g}" if finite.size else ""
        return f"{self.title}: {x.shape[0]}×{x.shape[1]}{span}"


def colour(share: float) -> str:
    if not np.isfinite(share):
        return "#780078"
    end = np.array([9, 105, 218] if share < 0 else [217, 101, 0])
    return "#" + "".join(f"{int(v):02x}" for v in 255 + (end - 255) * min(1.0, abs(share)))


def report_in_html(report) -> str:
    """The Report of `check`: a row for each register, then what is wrong, the worst first."""
    rows = []
    for name in dict.fromkeys(e.register for e in report.entries):
        entries = [e for e in report.entries if e.register == name]
        right, worst = sum(e.right for e in entries), max(abs(e.backprop - e.difference) for e in entries)
        rows.append((name, f"{right} of {len(entries)}", float(worst)))
    verdict = "backprop and the difference quotients agree" if report.ok else "they do not agree"
    head, wrong = ("register", "agree", "worst difference"), [*report.misshapen, *report.wrong[:10]]
    return shown(head, rows, sentence=verdict, notes=wrong, wrong=True)


def cost_in_html(cost) -> str:
    """A Cost: operations and bytes of the list, with its tangents, and with its adjoints."""
    head, *rows = cost.table()
    return shown(head, rows)


def plan_in_html(plan) -> str:
    """A Plan: where each buffer lies in the program's memory, as bars and in numbers."""
    share = 400 / max(plan.memory, 1)
    boxes = []
    for k, b in enumerate(plan.buffers[:TABLE_ROWS]):
        place = f"{share * b.start:.1f}", 14 * k, f"{max(1.0, share * b.bytes):.1f}", 12
        boxes.append((*place, "#0969da", f"{b.register}: {b.bytes:,} bytes"))
    rows = [(b.register, f"{b.dtype}{b.shape}", b.start, b.bytes) for b in plan.buffers]
    head, sentence = ("register", "kind", "starts at", "bytes"), str(plan).partition("\n")[0]
    picture = boxes and ("The buffers in memory", 400, 14 * len(boxes))
    return shown(head, rows, sentence=sentence, picture=picture, boxes=boxes)


def linear_in_html(matrix) -> str:
    """A Jacobian or a Hessian before it has values: what it differentiates, and the list of its products."""
    summary = f"Its list, of {len(matrix.steps):,} lines"
    return shown(sentence=repr(matrix), summary=summary, inside=matrix.steps)


def result_in_html(result) -> str:
    """The Result of `fit`: the curve of the losses, and a table of the epochs that names the best."""
    history = result.history
    names = [name for name in ("loss", "validation_loss") if any(name in row for row in history)]
    points = lambda name: [(row["epoch"], row[name]) for row in history if np.isfinite(row.get(name, np.nan))]
    picked = history if len(history) <= EPOCHS else [*history[:EPOCHS // 2], *history[-EPOCHS // 2:]]
    columns = list(dict.fromkeys(name for row in history for name in row))
    best = lambda row: "best" * (row["epoch"] == result.best)
    rows = [[best(row), *(row.get(name, "") for name in columns)] for row in picked]
    skipped = [f"{len(history) - len(picked):,} epochs between are left out."] * (len(picked) < len(history))
    curves = curves_drawn({name: points(name) for name in names})
    return shown(["", *columns], rows, sentence=repr(result), notes=skipped, **curves)


def curves_drawn(curves: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, Any]:
    """A line over the epochs for each curve; the picture reaches from the least to the greatest value."""
    points = [p for line in curves.values() for p in line]
    if len(points) < 2:
        return {}
    (left, low), (right, high) = np.min(points, 0), np.max(points, 0)
    across, down = 340 / (right - left or 1), 130 / (high - low or 1)
    place = lambda x, y: f"{50 + across * (x - left):.1f},{10 + down * (high - y):.1f}"
    paths = [(name.replace("_", " "), " ".join(place(*p) for p in line)) for name, line in curves.items()]
    lines = [(x, hue, *path) for x, hue, path in zip((60, 190), ("#0969da", "#bc4c00"), paths, strict=False)]
    marks = [(14, f"{high:.3g}"), (144, f"{low:.3g}")]
    return {"picture": ("The losses by epoch", 400, 180), "marks": marks, "curves": lines}


def program_in_html(program) -> str:
    """A compiled list: what it gives, and its source once it has run."""
    try:
        return shown(sentence=repr(program), summary="Its source", inside=program.source)
    except XManError as error:  # it has not run yet
        return shown(sentence=repr(program), notes=[error])


def trace_in_html(rows) -> str:
    """The Explanation of `explain`, with shapes as tooltips."""
    head, *lines = rows.table()
    return shown(head, lines, titles=[f"{row.register}: shape {np.shape(row.value)}" for row in rows])


# ---- lists and models --------------------------------------------------------------------------------------

def list_in_html(steps: WengertList, sizes: Mapping[str, Any] = {}, values: Mapping[str, Any] = {}) -> str:
    """The lines in columns; tooltips say what an operator means and which shape a register has."""
    functions = [definition(a, True) for a in ops.loops.functions_in(steps)]
    explorer = behind_a_click(steps, not_shown(steps, LIST_LINES, "lines"), values=values)
    return shown(functions=functions, lines=steps[:LIST_LINES], sizes=sizes, **explorer)


def listing_in_html(listing: Listing) -> str:
    return list_in_html(*listing)


def model_in_html(model: XMan) -> str:
    """The registers of a model, with their roles and the shapes of their values."""
    shape = lambda r: "" if r.default is None else str(np.shape(r.default))
    rows = [(name, r.role, shape(r)) for name, r in model.namedRegisterItems()]
    sentence, head = f"{type(model).__name__}: {len(rows)} registers", ("register", "role", "shape")
    return shown(head, rows, sentence=sentence, **behind_a_click(model))


def summary_of(op: str) -> str:
    """The first paragraph of an operator's docstring, in one line."""
    value = ops.G.get(op)
    text = "" if isinstance(value, np.ufunc) else getdoc(value) or ""
    return text.partition("\n\n")[0].replace("\n", " ")[:120]


def behind_a_click(source: XMan | WengertList, notes: Sequence = (), **values: Any) -> dict[str, Any]:
    """The explorer, folded, after the notes; a note of the reason where there is nothing to explore."""
    try:
        return {"notes": notes, "summary": "Explore", "page": explore(source, guided=False, **values)}
    except XManError as error:
        return {"notes": [*notes, error]}
