"""Nodes and arrows, written as text for Graphviz and as SVG."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import east_asian_width

import numpy as np

import ops

from ...errors import XManError
from ...formulas.expressions import expression, mathematical
from ...manager import XMan
from ...notation import literal_text
from ...register import Register, evaluation_order
from ...wengert import Line, Steps, checked_list, registers
from ..explain import Explanation, shown_number_or_array
from ..graph import compact, edges_between
from ..paths import Paths
from .layout import Pair, layout

LETTER, LINE = 7.3, 16  # a letter's width and a line's height, in pixels


class BoxOfLines(NamedTuple):
    """A box of lines of text, the first of which is its title. note: one more line, in green."""
    key: str
    lines: tuple[str, ...]
    kind: str = "register"
    note: str = ""


class Arrow(NamedTuple):
    """An arrow between two nodes; `low` is drawn below `high`, and the arrow leads up, or down."""
    low: str
    high: str
    label: str = ""
    down: bool = False
    kind: str = ""  # "on" for an arrow of the path problem, "off" for another beside it


class Picture:
    """Nodes, each above those that it is made of, and arrows, as `picture` draws them. Notebooks show it."""

    def __init__(self, nodes: Sequence[BoxOfLines], arrows: Sequence[Arrow]):
        self.nodes, self.arrows = tuple(nodes), tuple(arrows)

    def dot(self) -> str:
        """The picture as text for Graphviz, `dot -Tpdf`; a note is its node's last line."""
        lines = ["rankdir=BT;", 'node [shape=box, style="rounded,filled", fontname=monospace];',
                 "edge [fontname=monospace];"]
        for key, rows, kind, note in self.nodes:
            fill, line = COLOURS[kind]
            lines.append(f'{quoted(key)} [label={quoted(*rows, note)}, fillcolor="{fill}", color="{line}"];')
        for low, high, label, down, kind in self.arrows:
            options = filter(None, (label and f"label={quoted(label)}", down and "dir=back", DOT_STYLE[kind]))
            lines.append(f"{quoted(low)} -> {quoted(high)} [{', '.join(options)}];")
        return "\n  ".join(["digraph {", *lines]) + "\n}"

    def svg(self) -> str:
        """The picture as SVG, legible on light and on dark pages. XManError where it would be too large."""
        sizes = [text_size(*node.lines, node.note) for node in self.nodes]
        places = {node.key: k for k, node in enumerate(self.nodes)}
        labels = [text_size(arrow.label, around=3) for arrow in self.arrows]
        links, shapes = [(places[arrow.low], places[arrow.high]) for arrow in self.arrows], []
        middles, routes, marks, (width, height) = layout(sizes, links, labels)
        for (_, _, _, down, kind), route in zip(self.arrows, routes, strict=True):
            (x, y), way = (route[0], 1) if down else (route[-1], -1)
            shapes += [f'<path class="line {kind}" d="{curved_path(route)}"/>',
                       f'<path class="head {kind}" d="M{x:.1f} {y:.1f}l-4 {-8 * way}h8z"/>']
        for arrow, (x, y) in zip(self.arrows, marks, strict=True):
            shapes += [words([arrow.label], x, y, f"label {arrow.kind}")] * bool(arrow.label)
        for (_, rows, kind, note), (x, y), (w, h) in zip(self.nodes, middles, sizes, strict=True):
            place = f'x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h}"'
            shapes += [f'<rect class="{kind}" {place} rx="5"/>', words(rows, x, y, "", note)]
        box = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="xman-picture" role="img" {box}>'
        paper = f'<style>{CSS}</style>\n<rect class="paper" width="100%" height="100%"/>'
        return "\n".join([head, paper, *shapes, "</svg>\n"])

    _repr_svg_ = svg

    def save(self, path: str | Path) -> None:
        """Write the picture to path, which ends in .svg, .dot or .gv. XManError if it cannot be written."""
        from ...files.whole import write_whole  # not at the top: its package imports models
        forms = {".svg": self.svg, ".dot": self.dot, ".gv": self.dot}
        if (suffix := Path(path).suffix) not in forms:
            raise XManError(f"a picture's name ends in .svg, .dot or .gv, not {path}; Graphviz makes .png")
        write_whole(path, forms[suffix]().encode())

    def __repr__(self) -> str:
        return f"<picture of {len(self.nodes)} nodes and {len(self.arrows)} arrows: svg(), dot(), save(path)>"


COLOURS = {"register": ("#ddf4ff", "#0969da"), "operation": ("#dafbe1", "#1a7f37")}  # fill, line
DOT_STYLE = {"": "", "on": 'color="#1a7f37", penwidth=2', "off": 'color="#b0b7be"'}
CSS = "".join(f".xman-picture {name}{{{rule}}}" for name, rule in {
    "text": "font:12px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;white-space:pre",
    ".title": "font-weight:bold", ".note": "font-weight:bold;fill:#1a7f37", ".paper": "fill:#fff",
    ".label": "paint-order:stroke;stroke:#fff;stroke-width:5px", ".off": "opacity:.45",
    ".line": "fill:none;stroke:#6e7781", ".line.on": "stroke:#1a7f37;stroke-width:2px",
    ".head": "fill:#6e7781", ".head.on": "fill:#1a7f37",
    **{f".{kind}": f"fill:{fill};stroke:{line}" for kind, (fill, line) in COLOURS.items()}}.items()) + (
    ".xman-picture{max-width:100%;height:auto}"
    "@media(prefers-color-scheme:dark){.xman-picture{filter:invert(.93) hue-rotate(180deg)}}")


def quoted(*lines: str) -> str:
    """A name or a label in Graphviz's quotes."""
    return json.dumps("\n".join(filter(None, lines)).replace("&", "&amp;"), ensure_ascii=False)


def text_size(*lines: str, around: int = 12) -> Pair:
    """The width and the height of lines of text, with `around` pixels around them; (0, 0) without lines."""
    lines = tuple(filter(None, lines))
    letters = max((sum(2 if east_asian_width(c) in "WF" else 1 for c in line) for line in lines), default=0)
    return (letters * LETTER + 2 * around, LINE * len(lines) + around * (around > 3)) if lines else (0.0, 0.0)


def words(lines: Sequence[str], x: float, y: float, kind: str, note: str = "") -> str:
    """The lines of a box around (x, y), with the title of a node in bold, and the note."""
    kinds = [kind] * len(lines) if kind else ["title", *[""] * (len(lines) - 1)]
    rows = [*zip(kinds, lines, strict=True), *[("note", note)] * bool(note)]
    first = y - LINE * (len(rows) - 1) / 2 + 4
    return "".join(f'<text class="{style}" x="{x:.1f}" y="{first + LINE * i:.1f}">{escape(row)}</text>'
                   for i, (style, row) in enumerate(rows))


def curved_path(route: Sequence[Pair]) -> str:
    """The route as a path of SVG: vertical within layers, and curved from one layer to the next."""
    curves = [f"V{b:.1f}" if k % 2 == 0 else
              f"C{x:.1f} {(y + b) / 2:.1f} {a:.1f} {(y + b) / 2:.1f} {a:.1f} {b:.1f}"
              for k, ((x, y), (a, b)) in enumerate(pairwise(route))]
    return "".join([f"M{route[0][0]:.1f} {route[0][1]:.1f}", *curves])


# ---- what is drawn -----------------------------------------------------------------------------------------

LONGEST_ROW = 44  # the most characters of a line of text


def picture(expression: XMan | Steps | Paths | Explanation | None = None,
            notes: Mapping[str, Any] | None = None, of: None = None) -> Picture:
    """A picture of `expression`: the inputs at the bottom, and each result above all that it depends on.

        picture(model)                              its Registers (blue), Operations (green) and pointers
        picture(steps)                              the registers, with definitions and dependences
        picture(explain(steps, "f", "x1", values))  the same with values, tangents and adjoints
        picture(paths(steps, "h", "x", values))     the computation graph, partial derivatives at its edges
        picture(graph, graph.forward())             the same with the sums of the path problem from x
        picture(steps, deltas)                      the list with the adjoint of each register

    notes: {register: what is written beside it in green}. Raises XManError for a list that is not valid.
    Cohen, Automatic Reverse-Mode Differentiation, Fig. 1; Bishop, Deep Learning, Figs. 8.4 and 8.5; Reps,
    Automatic Differentiation and Backpropagation, Figs. 2, 3, 4 and 9.
    """
    if of is not None:
        raise XManError("picture takes what is to be drawn, like explore: picture(expression, notes)")
    if isinstance(expression, XMan):
        return objects(expression, notes or {})
    if isinstance(expression, Explanation):
        text = lambda word, x: [f"{word:<8}{shown_number_or_array(x, expression.digits)}"] * (x is not None)
        extra = {row.register: [*chain(*map(text, row._fields[3:], row[3:]))] for row in expression}
        return drawn([row[:3] for row in expression], extra, notes or {})
    if isinstance(expression, Paths):
        return graph(expression, notes)
    steps = checked_list(expression, ops.G)
    return drawn([*((x, None, ()) for x in steps.inputs), *steps], {}, notes or {})


def objects(model: XMan, notes: Mapping[str, Any]) -> Picture:
    """The Registers and the Operations that the model's registers lead to."""
    every = list(evaluation_order(*model.registers().values()))
    read = {id(a) for r in every for a in r.inputsTo()}
    results = [r for r in every if r.definedAs and id(r) not in read]
    steps = model.operationSequence(*results) if results else []
    computed = [r for r in evaluation_order(*results) if r.definedAs]
    names = model.names(every) | {id(r): dst for r, (dst, _, _) in zip(computed, steps, strict=True)}
    nodes, arrows = [], []
    for r in every:
        name = names[id(r)]
        if operation := r.definedAs:
            key = f"{name} = {operation.fun}"  # no register can have such a name
            args = [(f"args[{i}]", a) for i, a in enumerate(operation.args)]
            literals = [f"{place} = {literal_text(a)}" for place, a in args if not isinstance(a, Register)]
            nodes.append(BoxOfLines(key, cut_lines(operation.fun, *literals), "operation"))
            arrows += [Arrow(names[id(a)], key, place, True) for place, a in args if isinstance(a, Register)]
            arrows += [Arrow(key, name, "definedAs", True), Arrow(key, name, "outputReg")]
        nodes.append(BoxOfLines(name, cut_lines(name, r.role), "register", *cut_lines(*remark(notes, name))))
    return Picture(nodes, arrows)


def drawn(rows: Sequence[Line], extra: Mapping[str, Sequence[str]], notes: Mapping[str, Any],
          arrows: Sequence[Arrow] | None = None) -> Picture:
    """A node for each row (register, op or None, args), with the extra lines; an arrow from each argument."""
    nodes, to_arguments = [], [Arrow(a, name) for name, _, args in rows for a in registers(args)]
    for name, op, args in rows:
        defined = [mathematical(expression(op, args))] if op else []
        lines = cut_lines(name, *defined, *extra.get(name, ()))
        nodes.append(BoxOfLines(name, lines, "register", *cut_lines(*remark(notes, name))))
    return Picture(nodes, to_arguments if arrows is None else arrows)


def graph(of: Paths, notes: Mapping[str, Any] | None) -> Picture:
    """The picture of a computation graph. Notes are shown between wrt and of; the arrows there are green."""
    ways = [edges_between(of.edges, x, y) for x in of.wrt for y in of.of]
    way = {end for edges in ways for edge in edges for end in edge[:2]} | {*of.wrt} & {*of.of}
    near = {name: x for name, x in (notes or {}).items() if name in way}
    kind = lambda e: "" if notes is None else "on" if e.source in near and e.target in near else "off"
    label = lambda e: " = ".join(dict.fromkeys(filter(None, (e.label, e.number))))
    arrows = [Arrow(e.source, e.target, label(e), False, kind(e)) for e in of.edges]
    ends = {*of.of, *of.wrt, *(end for arrow in arrows for end in arrow[:2])}
    rows = [row for row in [*((x, None, ()) for x in of.steps.inputs), *of.steps] if row[0] in ends]
    extra = {} if of.values is None else {name: ["= " + x for x in remark(of.values, name)] for name in ends}
    return drawn(rows, extra, near, arrows)


def remark(notes: Mapping[str, Any], name: str) -> list[str]:
    """The note for a name, in a line: a number in six digits, an array in brief."""
    x = notes.get(name)
    if isinstance(x, np.ndarray) and x.ndim:
        return [shown_number_or_array(x, 4)]
    return [compact(x) if isinstance(x, (float, np.floating)) else str(x)] * (name in notes)


def cut_lines(*lines: str) -> tuple[str, ...]:
    return tuple(line if len(line) <= LONGEST_ROW else line[:LONGEST_ROW - 1] + "…" for line in lines)
