"""What notebooks show of objects: tables, small pictures without scripts, the explorer behind a click."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import numpy as np

import ops

from ..errors import XManError
from ..manager import XMan
from ..notation import definition, literal_text
from ..show.listing import Listing, size_text
from ..wengert import WengertList
from .page import explore

if TYPE_CHECKING:
    from ..engines.door import Compiled
    from ..engines.plan import Plan
    from ..interpreters import Report
    from ..matrices.linear import DerivativeMatrix
    from ..show import Cost, Explanation
    from ..train.evaluation import Result

HEAT_ROWS = 64     # the most rows, and columns, of a heat map; a larger matrix is thinned out
EPOCHS = 12        # the most epochs in the table of a run
TABLE_ROWS = 100   # the most rows of any other table
LIST_LINES = 200   # the most lines that are shown of a list; its explorer has all


def table_in_html(head: Sequence[str], rows: Iterable[Sequence[Any]], titles: Sequence[str] = ()) -> str:
    """A table, text to the left and numbers to the right. titles: for each row, what its tooltip says."""
    rows = list(rows)
    side_of = lambda cell: "left" if isinstance(cell, str) and not re.match(r"-?\d", cell) else "right"
    sides = [*map(side_of, rows[-1] if rows else head)]
    number = lambda cell: f"{cell:,}" if isinstance(cell, int) else f"{cell:.6g}"
    shown = lambda cell: escape(cell) if isinstance(cell, str) else number(cell)

    def line(tag: str, row: Sequence[Any], title: str = "") -> str:
        cells = (f'<{tag} style="text-align:{side};padding:2px 8px">{shown(cell)}</{tag}>'
                 for side, cell in zip(sides, row, strict=True))
        return f'<tr title="{escape(title)}">{"".join(cells)}</tr>' if title else f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row, titles[k] if titles else "") for k, row in enumerate(rows[:TABLE_ROWS]))
    body = f"<thead>{line('th', head)}</thead><tbody>{body}</tbody>"
    return f'<table style="font-family:monospace">{body}</table>{not_shown(rows, TABLE_ROWS, "rows")}'


def not_shown(rows: Sequence, limit: int, noun: str) -> str:
    return f"<p>… and {len(rows) - limit:,} {noun} more</p>" * (len(rows) > limit)


def in_words(sentence: Any) -> str:
    return f"<p>{escape(str(sentence))}</p>"


def behind_summary(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


def as_written(text: Any) -> str:
    return f"<pre>{escape(str(text))}</pre>"


class HeatMap:
    """A matrix with a title as a picture: blue below 0, white 0, orange above, strongest farthest from 0."""

    def __init__(self, matrix: Any, title: str):
        x = np.asarray(matrix, float)
        self.matrix, self.title = x.reshape(-1, x.shape[-1] if x.ndim else 1), title

    def svg(self) -> str:
        """The picture as SVG; what is not finite is purple."""
        x, size = self.matrix, 12
        rows, columns = (range(0, n, -(-n // HEAT_ROWS) or 1) for n in x.shape)
        strongest = np.abs(x[np.isfinite(x)]).max(initial=0) or 1.0
        cells = "".join(f'<rect x="{j * size}" y="{i * size}" width="{size}" height="{size}" '
                        f'fill="{colour(x[r, c] / strongest)}"><title>[{r}, {c}] {x[r, c]:.6g}</title></rect>'
                        for i, r in enumerate(rows) for j, c in enumerate(columns))
        look = 'style="border:1px solid #8888"'
        return svg_of(self.title, size * len(columns), size * len(rows), cells, look)

    def _repr_html_(self) -> str:
        return f"<figure><figcaption>{escape(repr(self))}</figcaption>{self.svg()}</figure>"

    def __repr__(self) -> str:
        x, finite = self.matrix, self.matrix[np.isfinite(self.matrix)]
        span = f", {finite.min():.4g} to {finite.max():.4g}" if finite.size else ""
        return f"{self.title}: {x.shape[0]}×{x.shape[1]}{span}"


def svg_of(title: str, width: int, height: int, inside: str, look: str = "") -> str:
    start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}"'
    return f'{start} width="{width}" height="{height}"{" " * bool(look)}{look}>{inside}</svg>'


def colour(share: float) -> str:
    if not np.isfinite(share):
        return "#780078"
    end = np.array([9, 105, 218] if share < 0 else [217, 101, 0])
    return "#" + "".join(f"{int(v):02x}" for v in 255 + (end - 255) * min(1.0, abs(share)))


def report_in_html(report: Report) -> str:
    """The report of `check`: a row for each register, then what is wrong, the worst first."""
    rows = []
    for name in dict.fromkeys(e.register for e in report.entries):
        entries = [e for e in report.entries if e.register == name]
        right, worst = sum(e.right for e in entries), max(abs(e.backprop - e.difference) for e in entries)
        rows.append((name, f"{right} of {len(entries)}", float(worst)))
    wrong = "".join(f'<p style="color:#c62828">{escape(text)}</p>'
                    for text in [*report.misshapen, *map(str, report.wrong[:10])])
    verdict = "backprop and the difference quotients agree" if report.ok else "they do not agree"
    return in_words(verdict) + table_in_html(("register", "agree", "worst difference"), rows) + wrong


def cost_in_html(cost: Cost) -> str:
    """Operations and bytes of the list, with its tangents, and with its adjoints."""
    head, *rows = cost.table()
    return table_in_html(head, rows)


def plan_in_html(plan: Plan) -> str:
    """Where each buffer lies in the program's memory, as bars and in numbers."""
    memory = max(plan.memory, 1)
    bars = "".join(f'<rect x="{400 * b.start / memory:.1f}" y="{14 * k}" '
                   f'width="{max(1.0, 400 * b.bytes / memory):.1f}" height="12" fill="#0969da">'
                   f"<title>{escape(b.register)}: {b.bytes:,} bytes</title></rect>"
                   for k, b in enumerate(plan.buffers[:TABLE_ROWS]))
    svg = svg_of("The buffers in memory", 400, 14 * min(len(plan.buffers), TABLE_ROWS), bars) if bars else ""
    rows = [(b.register, f"{b.dtype}{b.shape}", b.start, b.bytes) for b in plan.buffers]
    table = table_in_html(("register", "kind", "starts at", "bytes"), rows)
    return in_words(str(plan).partition("\n")[0]) + svg + table


def linear_in_html(matrix: DerivativeMatrix) -> str:
    """A Jacobian or a Hessian before it has values: what it differentiates, and the list of its products."""
    summary = f"Its list, of {len(matrix.steps):,} lines"
    return in_words(repr(matrix)) + behind_summary(summary, as_written(matrix.steps))


def result_in_html(result: Result) -> str:
    """The result of `fit`: the curve of the losses, and a table of the epochs that names the best."""
    history = result.history
    names = [name for name in ("loss", "validation_loss") if any(name in row for row in history)]
    points = lambda name: [(row["epoch"], row[name]) for row in history if np.isfinite(row.get(name, np.nan))]
    curves = {name: points(name) for name in names}
    picked = history if len(history) <= EPOCHS else [*history[:EPOCHS // 2], *history[-EPOCHS // 2:]]
    columns = list(dict.fromkeys(name for row in history for name in row))
    best = lambda row: "best" * (row["epoch"] == result.best)
    rows = [[best(row), *(row.get(name, "") for name in columns)] for row in picked]
    left_out = len(history) - len(picked)
    skipped = f"<p>{left_out:,} epochs between are left out.</p>" * (left_out > 0)
    return in_words(repr(result)) + curve_in_svg(curves) + table_in_html(["", *columns], rows) + skipped


def curve_in_svg(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """A line over the epochs for each curve; the picture reaches from the least to the greatest value."""
    points = [p for line in curves.values() for p in line]
    if len(points) < 2:
        return ""
    (left, low), (right, high) = np.min(points, 0), np.max(points, 0)
    place = lambda x, y: (f"{50 + 340 * (x - left) / (right - left or 1):.1f},"
                          f"{10 + 130 * (high - y) / (high - low or 1):.1f}")
    lines = "".join(f'<polyline fill="none" stroke="{hue}" stroke-width="2" '
                    f'points="{" ".join(place(*p) for p in line)}"/>'
                    f'<text x="{60 + 130 * k}" y="172" fill="{hue}">{escape(name.replace("_", " "))}</text>'
                    for k, (hue, (name, line)) in enumerate(zip(("#0969da", "#bc4c00"), curves.items(),
                                                                strict=False)))
    marks = "".join(f'<text x="46" y="{y}" text-anchor="end" fill="#8b949e">{v:.3g}</text>'
                    for y, v in ((14, high), (144, low)))
    look = 'font-size="11" font-family="sans-serif"'
    return svg_of("The losses by epoch", 400, 180, marks + lines, look)


def program_in_html(program: Compiled) -> str:
    """A compiled list: what it gives, and its source once it has run."""
    try:
        source = behind_summary("Its source", as_written(program.source))
    except XManError as error:  # it has not run yet
        source = in_words(error)
    return in_words(repr(program)) + source


def trace_in_html(rows: Explanation) -> str:
    """The table of `explain`, with shapes as tooltips."""
    head, *lines = rows.table()
    return table_in_html(head, lines, [f"{row.register}: shape {np.shape(row.value)}" for row in rows])


# ---- lists and models --------------------------------------------------------------------------------------

def list_in_html(steps: WengertList, sizes: Mapping[str, Any] = {}, values: Mapping[str, Any] = {}) -> str:
    """The lines in columns; tooltips say what an operator means and which shape a register has."""
    def register(a: str) -> str:
        shown = f'<span title="{escape(f"{a}: {size_text(sizes[a])}")}">' if a in sizes else "<span>"
        return f"{shown}{escape(a)}</span>"

    cell = '<td style="text-align:left">'
    rows = []
    for k, (dst, op, args) in enumerate(steps[:LIST_LINES], 1):
        arguments = ", ".join(register(a) if isinstance(a, str) else escape(literal_text(a)) for a in args)
        meaning = f'<span title="{escape(summary_of(ops.G.get(op)))}">{escape(op)}</span>'
        rows.append(f'<tr><td style="text-align:right;opacity:.6">{k}</td>{cell}<b>{register(dst)}</b>'
                    f"</td>{cell}= {meaning}({arguments})</td></tr>")
    functions = "".join(as_written(definition(a, True)) for a in ops.loops.functions_in(steps))
    table = f'<table style="font-family:monospace">{"".join(rows)}</table>'
    return functions + table + not_shown(steps, LIST_LINES, "lines") + behind_a_click(steps, values)


def listing_in_html(listing: Listing) -> str:
    return list_in_html(*listing)


def model_in_html(model: XMan) -> str:
    """The registers of a model, with their roles and the shapes of their values."""
    shape = lambda r: "" if r.default is None else str(np.shape(r.default))
    rows = [(name, r.role, shape(r)) for name, r in model.namedRegisterItems()]
    table = table_in_html(("register", "role", "shape"), rows)
    return in_words(f"{type(model).__name__}: {len(rows)} registers") + table + behind_a_click(model)


def summary_of(value: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    text = "" if isinstance(value, np.ufunc) else getdoc(value) or ""
    return text.partition("\n\n")[0].replace("\n", " ")[:120]


def behind_a_click(source: XMan | WengertList, values: Mapping[str, Any] = {}) -> str:
    """The explorer, folded; "" where there is nothing to explore."""
    try:
        page = explore(source, values=values, guided=False)
    except XManError as error:
        return in_words(error)
    return behind_summary("Explore", page._repr_html_())
