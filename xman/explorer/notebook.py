"""What notebooks show of lists and of models: a table, and the explorer behind a click."""
from __future__ import annotations

from html import escape

import numpy as np

import ops

from ..errors import XManError
from ..manager import XMan
from ..notation import literal_text
from ..wengert import WengertList
from .page import explore, said

ROWS = 200  # of a list in a notebook; its explorer has all


def list_in_html(steps: WengertList) -> str:
    """The lines in columns, an operator's meaning where the pointer rests on it."""
    rows = []
    for k, (dst, op, args) in enumerate(steps[:ROWS], 1):
        given = ", ".join(a if isinstance(a, str) else literal_text(a) for a in args)
        rows.append(f'<tr><td style="text-align:right;opacity:.6">{k}</td><td '
                    f'style="text-align:left"><b>{escape(dst)}</b> =</td><td style="text-align:left" '
                    f'title="{escape(said(ops.G.get(op)))}">{escape(op)}({escape(given)})</td></tr>')
    rest = f"<p>… and {len(steps) - ROWS:,} lines more</p>" if len(steps) > ROWS else ""
    return f'<table style="font-family:monospace">{"".join(rows)}</table>{rest}{behind_a_click(steps)}'


def model_in_html(model: XMan) -> str:
    """The registers of a model, with their roles and the shapes of their values."""
    cell = lambda text: f'<td style="text-align:left">{escape(text)}</td>'
    rows = [
        f"<tr>{cell(name)}{cell(r.role)}{cell('' if r.default is None else str(np.shape(r.default)))}</tr>"
            for name, r in model.namedRegisterItems()]
    return (f"<p>{escape(type(model).__name__)}: {len(rows)} registers</p>"
            f'<table style="font-family:monospace">{"".join(rows)}</table>{behind_a_click(model)}')


def behind_a_click(what: XMan | WengertList) -> str:
    """The explorer, folded; nothing where there is nothing to explore."""
    try:
        page = explore(what, guided=False)
    except XManError as error:
        return f"<p>{escape(str(error))}</p>"
    return f"<details><summary>Explore</summary>{page._repr_html_()}</details>"
