"""From a list to an ONNX file: lines become nodes.

A list for any number of rows is written three times, for three numbers of rows. The nodes have to be the
same; a constant that differs has to be a·n + b for n rows, and the file computes it from n.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ops

from ..engines.arrays import on
from ..errors import XManError, extra
from ..files.whole import write_whole
from ..interpreters import eval
from ..interpreters.context import has_complex, with_numpy_reals
from ..notation import shortened, shown
from ..wengert import Line, Steps, WengertList, checked_list, known_registers, needed, registers
from .any_rows import equal, straight
from .nodes import DOMAINS, DOUBLE, Nodes, OnnxNode, beyond, in_either
from .subgraphs import Subgraph, function_rows

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
    written = [write(steps, sized(n), outputs, constants) for n in sizes]
    model = assembled(onnx, written, sizes, steps, outputs, rows)
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
        raise XManError("a list with complex numbers has no exported form; write it with their real and imaginary parts")
    for x in rows:
        if not np.ndim(values[x]) or not np.size(values[x]):
            raise XManError(f"{x} is an example of any number of rows and has to have one; its shape is "
                            f"{np.shape(values[x])}")
    return steps, values, outputs, constants, rows


# ---- the nodes ---------------------------------------------------------------------------------------------

def write(steps: WengertList, values: Mapping[str, Any], outputs: list[str], constants: list[str]
          ) -> tuple[list[OnnxNode], dict[str, OnnxNode]]:
    """The nodes in order, each line's result named as its register, and the node of each register."""
    numbered, lines = {line[0]: k for k, line in enumerate(steps, 1)}, WengertList(needed(steps, outputs))
    examples = eval(lines, values)
    for line in lines:
        words = [x for x in (*registers(line[2]), line[0])
                 for a in (examples[x] if isinstance(examples[x], ops.Bundle) else [examples[x]])
                 if np.asarray(a).dtype.kind not in "biuf" and not (line[1] == "codes" and x in lines.inputs)]
        if words:
            raise XManError(f"line {numbered[line[0]]}, {shown(line)}: {words[0]} is "
                            f"{shortened(examples[words[0]])}, and ONNX has arrays of numbers alone")
    xp = Nodes()
    table, node_of = on(xp, **beyond(xp)), {}
    table |= function_rows(xp, table)
    table |= {op: in_either(table, op) for op in DOUBLE}
    for name in lines.inputs:
        node_of[name] = xp.node("Constant" if name in constants else "Input", (), examples[name])
        node_of[name].name = name
    for line in lines:
        dst, op, args = line
        xp.line = numbered[dst]
        try:
            out = table[op](*[node_of[a] if isinstance(a, str) else a for a in args])
            if isinstance(examples[dst], ops.Bundle):
                if dst in outputs:
                    raise XManError("a model gives arrays and no bundle; name its items")
                node_of[dst] = out
                continue
            example, out = np.asarray(examples[dst]), out if isinstance(out, OnnxNode) else xp.asarray(out)
            out = out if out.dtype == example.dtype else xp.astype(out, example.dtype)
            if out.shape != example.shape:
                raise XManError(f"its nodes make the shape {out.shape} of {example.shape}")
        except Exception as error:  # any error means that the line cannot be written
            where = f"line {xp.line}, {shown(line)}"
            raise XManError(f"{where}: {error}; that cannot be written in ONNX") from error
        if dst in outputs and (out.name or out.op == "Constant"):
            out = xp.node("Identity", (out,), out.example)
        out.example, out.name = example, out.name or dst
        node_of[dst] = out
    return xp.written, node_of


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


def slopes(written: list[tuple], sizes: list[int], steps: WengertList) -> dict[OnnxNode, tuple]:
    """(a, b) for each constant that is a·n + b for n rows; XManError where one depends otherwise on n."""
    positions = {node: k for nodes, _ in written for k, node in enumerate(nodes)}
    form = lambda node: (node.op, node.attributes, [positions[a] for a in node.args])
    coefficients = {}
    for versions in itertools.zip_longest(*(nodes for nodes, _ in written)):
        node, *twins = versions
        fit: Any = None not in versions and all(form(node) == form(twin) for twin in twins)
        if fit and node.op == "Constant" and not all(equal(node.example, twin.example) for twin in twins):
            coefficients[node] = fit = straight([version.example for version in versions], sizes)
        if not fit:
            k = max(1, *(version.line for version in versions if version))
            raise XManError(f"line {k}, {shown(steps[k - 1])}, depends on the number of rows in a way that "
                            "no node of ONNX does; leave rows out, and the model is for as many as the "
                            "examples have")
    return coefficients


# ---- the file ----------------------------------------------------------------------------------------------

class File:
    """The nodes of a file, in order, and its constants; equal constants are kept once."""

    def __init__(self, onnx: Any):
        self.onnx, self.nodes, self.constants, self.graph = onnx, {None: []}, {}, None

    def add(self, op: str, args: Iterable[str], name: str, doc: str, outs: Sequence[str] = (),
            **attributes: Any) -> str:
        attributes = {key: self.code(v) if isinstance(v, np.dtype) else v for key, v in attributes.items()}
        node = self.onnx.helper.make_node(op, [*args], [*outs, name], name, doc, **attributes)
        self.nodes.setdefault(self.graph, []).append(node)
        return name

    def constant(self, a: Any, name: str = "") -> str:
        a = np.asarray(a)
        key = name or (a.dtype, a.shape, a.tobytes())
        return self.constants.setdefault(key, (name or f"constant/{len(self.constants)}", a))[0]

    def code(self, dtype: np.dtype) -> int: return self.onnx.helper.np_dtype_to_tensor_dtype(dtype)

    def info(self, name: str, dtype: np.dtype, shape: Sequence[int | str]) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, self.code(dtype), shape)


def inner_graph(file: File, name: str, graph: Subgraph, sized: bool) -> Any:
    """The graph inside of a node, when its nodes are written. sized: whether no shape depends on the rows."""
    infos = [[file.info(a.name, a.dtype, [n if sized else None for n in a.shape]) for a in arrays]
             for arrays in (graph.inputs, graph.results)]
    return file.onnx.helper.make_graph(file.nodes.pop(graph, []), name, *infos)


def assembled(onnx: Any, written: list[tuple], sizes: list[int], steps: WengertList, outputs: list[str],
              rows: list[str]) -> Any:
    """The model of the nodes that the outputs need."""
    file, sloping, (nodes, node_of) = File(onnx), slopes(written, sizes, steps), written[0]
    lines, subgraph_outputs = [(node, node.op, node.args) for node in nodes], {}
    needed_nodes = {node for node, _, _ in needed(lines, [node_of[x] for x in outputs])}
    for node in nodes:
        if node.op == "Part":
            subgraph_outputs.setdefault(node.args[0], []).append(node)
    if sloping:
        shape = file.add("Shape", [next(x for x in rows if x in node_of)], "rows/shape", "")
        count = file.add("Gather", [shape, file.constant(0)], "rows/count", "the number of rows")
    for k, node in enumerate(nodes):
        if node.op in ("Input", "Part") or node not in needed_nodes:
            continue
        dst, doc = (steps[node.line - 1][0], shown(steps[node.line - 1])) if node.line else ("", "")
        name, file.graph = node.name or f"{dst}/{node.op}_{k}", node.graph
        if node in sloping:  # for example, the 2n of a reshape to (2n,): slope 2, intercept 0
            slope, intercept = sloping[node]
            affine = file.add("Mul", [count, file.constant(slope)], f"{name}/times", doc)
            affine = file.add("Add", [affine, file.constant(intercept)], f"{name}/plus", doc)
            is_index = node.dtype == int and not node.name
            node.name = affine if is_index else file.add("Cast", [affine], name, doc, to=node.dtype)
        elif node.op == "Constant":
            node.name = file.constant(node.example, node.name)
        elif node.graphs:
            for output in subgraph_outputs[node]:
                output.name = output.name or f"{name}/{output.attributes['part']}"
            inner = lambda word, graph, name=name: inner_graph(file, f"{name}/{word}", graph, not rows)
            graphs = {word: inner(word, graph) for word, graph in node.graphs.items()}
            *outs, last = [output.name for output in subgraph_outputs[node]]
            file.add(node.op, [a.name for a in node.args[:node.given]], last, doc, outs, **graphs)
        else:
            outs = [f"{name}/values"] * (node.op == "TopK")
            node.name = file.add(node.op, [a.name for a in node.args], name, doc, outs, **node.attributes)
    if (size := sum(a.nbytes for _, a in file.constants.values())) > LARGEST:
        raise XManError(f"constants take {size / 2 ** 30:.1f} GB, a file of ONNX holds 2: leave them inputs")

    def length(lengths: tuple[int, ...]) -> int | str | None:
        """The length of an axis of an input or an output; None where it is open."""
        if len({*lengths}) == 1:
            return lengths[0]
        a, b = straight(lengths, sizes) or (0, 0)
        return ("rows" if (a, b) == (1, 0) else f"{a}*rows + {b}") if a else None

    shape = lambda name: [*map(length, zip(*(of[name].shape for _, of in written), strict=True))]
    inputs = [x for x in steps.inputs if x in node_of and node_of[x].op == "Input"]
    infos = [[file.info(x, node_of[x].dtype, shape(x)) for x in names] for names in (inputs, outputs)]
    contiguous = lambda a: np.ascontiguousarray(a).reshape(a.shape)
    arrays = [onnx.numpy_helper.from_array(contiguous(a), name) for name, a in file.constants.values()]
    graph = onnx.helper.make_graph(file.nodes[None], "xman", *infos, arrays)
    opsets = [onnx.helper.make_opsetid(*domain) for domain in DOMAINS]
    model = onnx.helper.make_model(graph, producer_name="xman", ir_version=8, opset_imports=opsets)
    onnx.checker.check_model(model)
    return model
