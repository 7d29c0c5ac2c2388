"""From a list to an ONNX file: lines become nodes.

A list for any number of rows is written three times, for three numbers of rows. The nodes have to be the
same; a constant that differs has to be a·n + b for n rows, and the file computes it from n.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import ops
from ops import Bundle

from ..errors import XManError, extra
from ..files.whole import write_whole
from ..interpreters import eval
from ..interpreters.context import has_complex, with_numpy_reals
from ..notation import shortened, shown
from ..wengert import Line, Steps, WengertList, checked_list, known_registers, needed, registers
from .any_rows import equal, straight
from .nodes import DOMAINS, Nodes, OnnxArray, with_inner
from .subgraphs import function_rows

LARGEST = 2 ** 31 - 2 ** 20  # the most bytes of a file: Protocol Buffers count in 31 bits
MOST_ROWS = 100_000  # the largest number of rows that is tried


@np.errstate(all="ignore")
def to_onnx(steps: Steps, values: Mapping[str, Any], path: str | Path | None = None, *,
            outputs: Iterable[str] | None = None,
            constants: Iterable[str] = (), rows: Iterable[str] = (),
            facts: Mapping[str, str] = {}) -> Any:
    """The list as an onnx.ModelProto of ordinary nodes; it is written to the file `path` if that is given.

        >>> training = training_list(steps, "loss", ["W", "b"], "adam")
        >>> to_onnx(training.steps, values, "step.onnx", rows=["X", "y"],
        ...         outputs=["loss", *training.inplace.values()])

    steps: a list: a model's, a gradient, a whole training step. values: examples of all its inputs, which
    give shapes and precisions. constants: inputs whose values the file keeps; the others are the model's
    inputs, under their names; one of strings can have its `codes` taken, and no more. outputs: registers
    (None: the list's outputs). rows: inputs whose first axis may have any length, the same for all. facts:
    metadata. Each node says which line it comes from. Loops become Loop, branches If; a while_loop stops
    after `most` steps without an error. Raises XManError with the line of an operator that ONNX does not
    have, or of one that needs the number of rows for more than a shape; and for a file above 2 GB.
    """
    onnx = extra("onnx", "onnx", "an ONNX file")
    steps, values, outputs, constants, rows = export_arguments(steps, values, outputs, constants, rows)
    sizes = three_sizes(needed(steps, outputs), values) if rows else [0]
    sized = lambda n: values | {x: np.resize(values[x], (n, *np.shape(values[x])[1:])) for x in rows}
    versions = [Nodes(onnx, not rows, function_rows) for n in sizes]
    for xp, n in zip(versions, sizes, strict=True):
        write(xp, steps, sized(n), outputs, constants)
    graph = graph_of(versions, sizes, steps, outputs, rows)
    opsets = [onnx.helper.make_opsetid(*domain) for domain in DOMAINS]
    model = onnx.helper.make_model(graph, producer_name="xman", ir_version=8, opset_imports=opsets)
    onnx.checker.check_model(model)
    onnx.helper.set_model_props(model, dict(facts))
    if path is not None:
        write_whole(path, model.SerializeToString())
    return model


def export_arguments(steps: Steps, values: Mapping[str, Any], outputs: Iterable[str] | None,
          constants: Iterable[str], rows: Iterable[str]) -> tuple[WengertList, dict, list, list, list]:
    """(steps, values, outputs, constants, rows) for ONNX or StableHLO. XManError where they do not fit."""
    steps = checked_list(steps, ops.G)
    outputs = known_registers(steps, steps.outputs if outputs is None else outputs, "outputs")
    if clashes := [x for x in outputs if x in steps.inputs]:
        raise XManError(f"outputs names {clashes[0]!r}, which is an input; a model gives what it computes")
    values = with_numpy_reals(values, steps.inputs)
    constants, rows = known_registers(steps, constants, "constants"), known_registers(steps, rows, "rows")
    for name in (*constants, *rows):
        if name not in steps.inputs or name in constants and name in rows:
            raise XManError(f"{name!r} is not an input of the list that can be kept in the file, or have any "
                            "number of rows")
    if has_complex(steps, values):
        raise XManError("a list with complex numbers has no exported form; write it with their real and "
                        "imaginary parts")
    for x in rows:
        if not np.ndim(values[x]) or not np.size(values[x]):
            raise XManError(f"{x} is an example of any number of rows and has to have one; its shape is "
                            f"{np.shape(values[x])}")
    return steps, values, outputs, constants, rows


# ---- the nodes ---------------------------------------------------------------------------------------------

def write(xp: Nodes, steps: WengertList, values: Mapping[str, Any], outputs: list[str],
          constants: list[str]) -> None:
    """Write the lines that the outputs need."""
    lines = WengertList(needed(steps, outputs))
    examples = eval(lines, values)
    numbered = [(k, line) for k, line in enumerate(steps, 1) if line[0] in examples]
    several = lambda a: a if isinstance(a, Bundle) else [a]
    texts = {x for x, a in examples.items() if {np.asarray(b).dtype.kind for b in several(a)} - {*"biuf"}}
    for k, line in numbered:
        dst, op, args = line
        for x in (*registers(args), dst):
            if x in texts and not (op == "codes" and x in lines.inputs):
                raise XManError(f"line {k}, {shown(line)}: {x} is {shortened(examples[x])}, and ONNX has "
                                "arrays of numbers alone")
        if dst in outputs and isinstance(examples[dst], Bundle):
            raise XManError(f"{dst} is a bundle: a model gives arrays and no bundle; name its items")
    arrays = xp.arrays
    arrays |= {x: OnnxArray(xp, x, examples[x]) for x in lines.inputs}
    xp.names |= {x: x for x in arrays}
    xp.constants |= {x: arrays[x].example for x in arrays if x in constants}
    for k, line in numbered:
        xp.dst, xp.doc = dst, _ = line[0], shown(line)
        try:
            xp.write([(k, line)], arrays, examples)
        except XManError as error:
            raise XManError(f"{error}; that cannot be written in ONNX") from error
        if isinstance(out := arrays[dst], Bundle):
            continue
        if dst in outputs and (out.name in xp.names or out.name in xp.constants):
            out = arrays[dst] = xp.node("Identity", (out,), out.example)
        if out.name not in xp.constants:
            xp.names.setdefault(out.name, dst)


# ---- the number of rows ------------------------------------------------------------------------------------

def three_sizes(steps: Iterable[Line], values: Mapping[str, Any]) -> list[int]:
    """Three numbers of rows, greater than any whole number in the list, and the length of no other axis."""
    # the fifth argument of while_loop only bounds its steps
    arguments = [args[:4] if op == "while_loop" else args for _, op, args in steps]
    literals = [np.max(np.abs(a), initial=1) for args in arguments for a in flattened(args)]
    lengths = {n for x in eval(WengertList(steps), values).values() for n in np.shape(x)}
    first = int(max(literals, default=1)) + 1
    if first > MOST_ROWS:
        raise XManError(f"the list has the number {first - 1}; a model for any number of rows is tried with "
                        f"more rows than that, and with {MOST_ROWS:,} at most: export it for one number of "
                        "rows")
    return list(itertools.islice((n for n in itertools.count(first) if n not in lengths), 3))


def flattened(a: Any) -> list[np.ndarray]:
    """The whole numbers in a literal."""
    if isinstance(a, (tuple, slice)):
        entries = a if isinstance(a, tuple) else (a.start, a.stop, a.step)
        return [n for entry in entries for n in flattened(entry)]
    integral = isinstance(a, (int, np.integer, np.ndarray)) and np.asarray(a).dtype.kind in "iu"
    return [np.asarray(a)] if integral else []


def graph_of(versions: list[Nodes], sizes: list[int], steps: WengertList, outputs: list[str],
             rows: list[str]) -> Any:
    """The graph of the nodes that the outputs need, for any number of rows. versions: for those in sizes."""
    xp = versions[0]
    nodes, arrays, constants, names = xp.written, xp.arrays, {**xp.constants}, xp.names

    def refuse(name: str) -> NoReturn:
        k = [dst for dst, _, _ in steps].index(name.partition("/")[0])
        raise XManError(f"line {k + 1}, {shown(steps[k])}, depends on the number of rows in a way that no node "
                        "of ONNX does; leave rows out, and the model is for as many as the examples have")

    for twins in itertools.zip_longest(*(version.written for version in versions)):
        if any(node != twins[0] for node in twins):
            refuse(next(node.name for node in twins if node))
    xp.written, xp.dst, xp.doc = [], "rows", "the number of rows"
    if rows := [x for x in rows if x in arrays]:
        length = xp.node("Gather", (xp.node("Shape", (arrays[rows[0]],), arrays[rows[0]].shape), 0), sizes[0])
    for name, a in constants.items():
        copies = [version.constants.get(name, a) for version in versions]
        if not all(equal(a, copy) for copy in copies):
            # for example, the 2n of a reshape to (2n,): slope 2, intercept 0
            slope, intercept = straight(copies, sizes) or refuse(name)
            affine = xp.add(xp.multiply(length, xp.asarray(slope)), xp.asarray(intercept))
            names[name] = (affine if a.dtype == int else xp.astype(affine, a.dtype)).name
    first_of: dict[Any, str] = {}
    for name, a in xp.constants.items():  # equal constants are kept once
        if name not in names:
            names[name] = first_of.setdefault((a.dtype, a.shape, a.tobytes()), name)
    xp.written += nodes
    for node in with_inner(xp.written):
        node.name = names.get(node.name, node.name)
        for words in (node.input, node.output):
            words[:] = [names.get(x, x) for x in words]

    def kind(x: str) -> tuple:
        """The precision, and the length of each axis; None where it is open."""
        lengths = [*zip(*(version.arrays[x].shape for version in versions), strict=True)]
        fits = [(0, ns[0]) if len({*ns}) == 1 else straight(ns, sizes) for ns in lengths]
        text = lambda a, b: "rows" if (a, b) == (1, 0) else f"{a}*rows + {b}" if a else b
        return arrays[x].dtype, [fit and text(*fit) for fit in fits]

    xp.dst = ""
    inputs = [x for x in steps.inputs if x in arrays and x not in xp.constants]
    graph = xp.graph({x: kind(x) for x in inputs}, {x: kind(x) for x in outputs})
    live = {x for node in with_inner(graph.node) for x in node.input}
    literals = {name: a for name, a in xp.constants.items() if name in live}
    if (size := sum(a.nbytes for a in literals.values())) > LARGEST:
        raise XManError(f"constants take {size / 2 ** 30:.1f} GB, a file of ONNX holds 2: leave them inputs")
    for name, a in literals.items():
        contiguous = np.ascontiguousarray(a).reshape(a.shape)
        graph.initializer.append(xp.onnx.numpy_helper.from_array(contiguous, name))
    return graph
