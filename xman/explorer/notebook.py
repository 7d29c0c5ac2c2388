"""What notebooks show of lists and of models: a table, and the explorer behind a click."""
from __future__ import annotations

from collections.abc import Mapping
from html import escape
from inspect import getdoc
from typing import Any

import numpy as np

import ops

from ..errors import XManError
from ..manager import XMan
from ..notation import definition, literal_text
from ..show.listing import Listing, size_text
from ..wengert import WengertList
from .display import table_in_html
from .page import explore

ROWS = 200  # of a list in a notebook; its explorer has all


def list_in_html(steps: WengertList, sizes: Mapping[str, Any] = {}, values: Mapping[str, Any] = {}) -> str:
    """The lines in columns; where the pointer rests on an operator its meaning, on a register its shape,
    if sizes, (shape, dtype) by register, are known."""
    def register(a: str) -> str:
        shown = f'<span title="{escape(f"{a}: {size_text(sizes[a])}")}">' if a in sizes else "<span>"
        return f"{shown}{escape(a)}</span>"

    cell = '<td style="text-align:left">'
    rows = []
    for k, (dst, op, args) in enumerate(steps[:ROWS], 1):
        given = ", ".join(register(a) if isinstance(a, str) else escape(literal_text(a)) for a in args)
        meaning = f'<span title="{escape(said(ops.G.get(op)))}">{escape(op)}</span>'
        rows.append(f'<tr><td style="text-align:right;opacity:.6">{k}</td>{cell}<b>{register(dst)}</b>'
                    f"</td>{cell}= {meaning}({given})</td></tr>")
    rest = f"<p>… and {len(steps) - ROWS:,} lines more</p>" if len(steps) > ROWS else ""
    functions = "".join(f"<pre>{escape(definition(a, True))}</pre>" for a in ops.loops.functions_in(steps))
    return (f'{functions}<table style="font-family:monospace">{"".join(rows)}</table>{rest}'
            f"{behind_a_click(steps, values)}")


def listing_in_html(found: Listing) -> str:
    return list_in_html(found.steps, found.sizes, found.values)


def model_in_html(model: XMan) -> str:
    """The registers of a model, with their roles and the shapes of their values."""
    rows = [(name, r.role, "" if r.default is None else str(np.shape(r.default)))
            for name, r in model.namedRegisterItems()]
    return (f"<p>{escape(type(model).__name__)}: {len(rows)} registers</p>"
            f"{table_in_html(('register', 'role', 'shape'), rows)}{behind_a_click(model)}")


def said(value: Any) -> str:
    text = "" if isinstance(value, np.ufunc) else getdoc(value) or ""
    return text.partition("\n\n")[0].replace("\n", " ")[:120]


def behind_a_click(what: XMan | WengertList, values: Mapping[str, Any] = {}) -> str:
    """The explorer, folded; nothing where there is nothing to explore."""
    try:
        page = explore(what, values=values, guided=False)
    except XManError as error:
        return f"<p>{escape(str(error))}</p>"
    return f"<details><summary>Explore</summary>{page._repr_html_()}</details>"
