"""What is drawn of a model, of a list, of a computation graph and of a trace."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ops

from ...manager import XMan
from ...notation import literal_text
from ...register import Register, evaluation_order
from ...wengert import Line, Steps, checked_list, registers
from ..explain import Explanation, shown_number_or_array
from ..expressions import expression, mathematical
from ..graph import compact, edges_between
from ..paths import Paths
from .drawing import Arrow, BoxOfLines, Picture

LONGEST = 44  # characters of a line of text


def picture(of: XMan | Steps | Paths | Explanation, notes: Mapping[str, Any] | None = None) -> Picture:
    """What `of` is, drawn: the inputs at the bottom, and each result above all that it is made of.

        picture(model)                              its Registers, blue, its Operations, green, their pointers
        picture(steps)                              its registers, with definitions, as one depends on another
        picture(explain(steps, "f", "x1", values))  the same with values, tangents and adjoints
        picture(paths(steps, "h", "x", values))     the computation graph, partial derivatives at its edges
        picture(graph, graph.forward())             and the path problem from x: sums at the nodes up to h
        picture(steps, deltas)                      and the adjoint of each register

    notes: what is written in green at a register, by its name. Raises XManError for a list that is not valid.
    Cohen, Automatic Reverse-Mode Differentiation, Fig. 1; Bishop, Deep Learning, Figs. 8.4 and 8.5; Reps,
    Automatic Differentiation and Backpropagation, Figs. 2, 3, 4 and 9.
    """
    if isinstance(of, XMan):
        return objects(of, notes or {})
    if isinstance(of, Explanation):
        extra = {row.register: [f"{word:<8}{shown_number_or_array(x, of.digits)}"
                                for word, x in row._asdict().items()
                                if word in ("value", "tangent", "adjoint") and x is not None] for row in of}
        return drawn([row[:3] for row in of], extra, notes or {})
    if isinstance(of, Paths):
        return graph(of, notes)
    steps = checked_list(of, ops.G)
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
            key = f"{name} = {operation.fun}"  # no register has such a name
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
    defined = {name: [mathematical(expression(op, args))] if op else [] for name, op, args in rows}
    nodes = [BoxOfLines(name, cut_lines(name, *defined[name], *extra.get(name, ())), "register",
                        *cut_lines(*remark(notes, name)))
             for name, _, _ in rows]
    found = [Arrow(a, name) for name, _, args in rows for a in registers(args)]
    return Picture(nodes, found if arrows is None else arrows)


def graph(of: Paths, notes: Mapping[str, Any] | None) -> Picture:
    """The graph of `of`. Notes are shown between wrt and of, and what they came along is green."""
    ways = [edges_between(of.edges, x, y) for x in of.wrt for y in of.of]
    way = {end for edges in ways for edge in edges for end in edge[:2]} | {*of.wrt} & {*of.of}
    near = {name: x for name, x in (notes or {}).items() if name in way}
    kind = lambda e: "" if notes is None else "on" if e.source in near and e.target in near else "off"
    label = lambda e: " = ".join(dict.fromkeys(filter(None, (e.label, e.number))))
    arrows = [Arrow(e.source, e.target, label(e), False, kind(e)) for e in of.edges]
    kept = {*of.of, *of.wrt, *(end for arrow in arrows for end in arrow[:2])}
    rows = [row for row in [*((x, None, ()) for x in of.steps.inputs), *of.steps] if row[0] in kept]
    extra = {} if of.values is None else {name: ["= " + x for x in remark(of.values, name)] for name in kept}
    return drawn(rows, extra, near, arrows)


def remark(notes: Mapping[str, Any], name: str) -> list[str]:
    """What the notes have for name, in a line: a number in six digits, an array in brief."""
    x = notes.get(name)
    if isinstance(x, np.ndarray) and x.ndim:
        return [shown_number_or_array(x, 4)]
    return [compact(x) if isinstance(x, (float, np.floating)) else str(x)] * (name in notes)


def cut_lines(*lines: str) -> tuple[str, ...]:
    return tuple(line if len(line) <= LONGEST else line[:LONGEST - 1] + "…" for line in lines)
