"""From an ONNX file to a list: each node is a formula in the language, on symbols that know an example.

Computations from shapes are done while reading. A file for any number of rows is read three times, for three
numbers: where the lists differ there is a number of rows, which the final list takes from its inputs.
"""
from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.arrays.products import einsum_parts
from ops.arrays.rearrangements import shape_of
from ops.loops.bodies import Function
from ops.writer import Shaped, WrittenLine

from ..errors import XManError, extra
from ..notation import shortened
from ..passes.writer import ListWriter
from ..register import as_arg
from ..validity import refuse_name
from ..wengert import Line, WengertList, fresh, needed
from .any_rows import general
from .meanings import MEANINGS, MOST, numeric, within_bounds
from .nodes import with_inner
from .subgraphs import GRAPHS
from .windows import WINDOWED

READ = MEANINGS | WINDOWED | GRAPHS
DEEPEST = 8  # graphs in graphs
# operators that mean something else in old files; others only take other arguments, and are refused then
CHANGED = {"Softmax", "LogSoftmax"}


class Imported(NamedTuple):
    """A list that was read from a file, the file's values for its inputs, and the names of its outputs."""
    steps: WengertList
    values: dict[str, np.ndarray]
    outputs: tuple[str, ...]


class Example(Shaped):
    """A register, with an example of its value for inputs of the shapes in the file."""

    constant = False  # whether its value is in the file

    def __init__(self, writer: ListWriter, name: str | None, value: Any):
        super().__init__(writer, name)
        self.value = value

    shape = property(lambda self: np.shape(self.value))
    dtype = property(lambda self: getattr(self.value, "dtype", None) or np.asarray(self.value).dtype)


class NodeLines(ListWriter):
    """A writer whose symbols are Examples."""

    def write(self, op: str, args: Iterable[Any]) -> Example:
        joined = args if works_entrywise(op) else ()  # a number takes their precision
        plain = {*map(np.dtype, (float, int, bool)), *(a.dtype for a in joined if isinstance(a, Example))}
        args = [a.item() if type(a) is np.ndarray and not a.ndim and a.dtype in plain else a for a in args]
        examples = [a.value if isinstance(a, Example) else a for a in args]
        within_bounds(result_shape(op, examples))
        return self.line(op, args, ops.G[op](*examples))

    def line(self, op: str, args: Iterable[Any], value: Any, name: str | None = None) -> Example:
        out = Example(self, name, value)
        self.lines.append(WrittenLine(out, op, tuple(a if isinstance(a, Example) else as_arg(a, op)
                                                     for a in args), None))
        return out


def result_shape(op: str, args: list) -> tuple[int, ...]:
    """The shape of a result that can have more entries than the arguments."""
    shapes = [np.shape(a) for a in args]
    if op == "broadcast":
        return shape_of(args[1])
    if op == "dot" and min(map(len, shapes)) > 1:
        return *np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2]), shapes[0][-2], shapes[1][-1]
    if op == "einsum":
        sizes: dict[str, int] = {}
        for letters, shape in zip(einsum_parts(args[0])[0], shapes[1:], strict=True):
            sizes.update(zip(letters[::-1], shape[::-1], strict=False))
        return tuple(sizes.values())
    if op == "concat":
        return (sum(map(math.prod, shapes[1:])),)
    if op == "take":
        return *shapes[1], *(n for k, n in enumerate(shapes[0]) if k != args[2])
    return np.broadcast_shapes(*shapes) if works_entrywise(op) else ()


def works_entrywise(op: str) -> bool:
    facts = ops.facts_of(op)
    return facts.elementwise or facts.gives is bool and ops.table.arity(ops.G[op])[1] == 2


@np.errstate(all="ignore")
def from_onnx(source: str | Path | bytes | Any, sizes: Mapping[str, int] | None = None) -> Imported:
    """The list of an ONNX model, as (steps, values, outputs): values are its weights, without its inputs.

        >>> steps, values, outputs = from_onnx("model.onnx")
        >>> eval(steps, {**values, "X": X})[outputs[0]]

    source: a file, its bytes, or a ModelProto. sizes: {name: number} for lengths that the model leaves open;
    one may be left out and stays open, the number of rows. Registers keep their names in the file if these
    are identifiers. Nothing in the file is executed. Raises XManError, with the node, for an unknown
    operator, for data in other files, for a damaged file, and for arrays of more than 2²⁷ entries.
    """
    onnx = extra("onnx", "onnx", "reading ONNX")
    graph = opened(onnx, source)
    chosen = dict(sizes or {})
    lengths = dict.fromkeys(n for x in graph_inputs(graph) for n in declared_lengths(x) if isinstance(n, str))
    free = [name for name in lengths if name not in chosen]
    if len(free) > 1:
        raise XManError(f"the model leaves {len(free)} lengths open, {', '.join(free)}: say all but one of "
                        f"them, as in sizes={{{free[1]!r}: 10}}")
    trials = free_sizes(graph) if free else [0]
    readings = [Reading(onnx, graph, {**chosen, **dict.fromkeys(free, n)}, bool(free)) for n in trials]
    lines = WengertList(general(readings, trials) if free else readings[0].lines)
    return readings[0].imported(needed(lines, readings[0].results))


def opened(onnx: Any, source: Any) -> Any:
    """The graph of a model. XManError unless the model is whole, in one file, and of a known version."""
    try:
        if isinstance(source, (str, Path)):
            source = Path(source).read_bytes()
        # of the caller's own a copy, in which operators are written out
        model = onnx.ModelProto.FromString(source if type(source) is bytes else source.SerializeToString())
        onnx.checker.check_model(model)
    except OSError as error:
        raise XManError(f"{source} cannot be read: {error.strerror}") from None
    except Exception as error:  # from Protocol Buffers or from the checker
        raise XManError(f"this is no model of ONNX, or is damaged: {shortened(str(error).strip())}") from None
    if any(t.data_location == onnx.TensorProto.EXTERNAL for t in model.graph.initializer):
        raise XManError("the model has its arrays in other files, which are not opened; save it as one file")
    version = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if version < 13 and any(node.op_type in CHANGED or version < 7 for node in model.graph.node):
        raise XManError(f"the model is of opset {version}, and {', '.join(sorted(CHANGED))} have changed "
                        "since; onnx.version_converter makes it one of opset 13")
    return in_primitives(onnx, model, version).graph


def in_primitives(onnx: Any, model: Any, version: int) -> Any:
    """The model with operators that ONNX itself defines by others, such as Attention, in terms of these.
    A model with functions of its own stays as it is: a few that call each other grow beyond all bounds."""
    from onnx.inliner import inline_selected_functions
    defined = lambda node: not node.domain and node.op_type not in READ and onnx.defs.has(node.op_type)
    for _ in range(0 if model.functions else 4):  # so deep are ONNX's definitions in one another
        nodes = [*filter(defined, with_inner(model.graph.node))]
        schemas = {node.op_type: onnx.defs.get_schema(node.op_type, version) for node in nodes}
        if not any(of.has_function or of.has_context_dependent_function for of in schemas.values()):
            break
        for node in nodes:  # the definitions ask for attributes that a node may leave out
            names = {"", *(a.name for a in node.attribute)}
            defaults = [a.default_value for a in schemas[node.op_type].attributes.values()]
            node.attribute.extend(a for a in defaults if a.name not in names)
        try:
            model = inline_selected_functions(model, [("", op) for op in schemas], False, True)
        except RuntimeError:  # of an argument that is left out ONNX does not know the type
            return model
    return model


def declared_lengths(x: Any) -> list[int | str]:
    """The length of each axis, or the name of one that is left open."""
    length = lambda d: d.dim_value if d.HasField("dim_value") else d.dim_param or f"an axis of {x.name}"
    return [*map(length, x.type.tensor_type.shape.dim)]


def graph_inputs(graph: Any) -> list:
    """The graph's inputs without a value in the file."""
    valued = {t.name for t in graph.initializer}
    return [x for x in graph.input if x.name not in valued]


def free_sizes(graph: Any) -> list[int]:
    """Three lengths that nothing else in the file has."""
    shapes = *map(declared_lengths, graph.input), *(t.dims for t in graph.initializer)
    fixed_lengths = {n for shape in shapes for n in shape}
    return [n for n in range(11, 11 + len(fixed_lengths) + 3) if n not in fixed_lengths][:3]


class Reading:
    """Reads a graph as a list, for given lengths."""

    depth = 0  # the number of graphs around it

    def __init__(self, onnx: Any, graph: Any, sizes: Mapping[str, int], free: bool):
        self.onnx, self.writer, self.free = onnx, NodeLines(), free
        self.by_name: dict[str, Any] = {"": None}  # by a name in the file: an array, or a register's Example
        self.values: dict[str, np.ndarray] = {}
        self.names: set[str] = set()
        for t in graph.initializer:
            a = array(onnx, t)
            self.by_name[t.name] = a
            if a.ndim and a.dtype.kind == "f":  # a weight becomes an input; other constants are literals
                self.by_name[t.name] = self.register(t.name, a)
                self.by_name[t.name].constant = True
                self.values[self.by_name[t.name].name] = a
        for x in graph_inputs(graph):
            kind = x.type.tensor_type
            if not kind.elem_type or kind.elem_type == onnx.TensorProto.STRING:
                raise XManError(f"the input {x.name!r} is no array of numbers")
            dtype = numeric(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
            shape = within_bounds([int(sizes.get(n, n)) for n in declared_lengths(x)])
            self.by_name[x.name] = self.register(x.name, np.zeros(shape, dtype))
        self.known_inputs = [a.name for a in self.by_name.values() if isinstance(a, Example)]
        for node in graph.node:
            self.write_node(onnx, node)
        self.results = [self.result(out.name) for out in graph.output]
        self.lines = [*self.writer.named(self.names)]
        registers = (*self.by_name.values(), *(line.out for line in self.writer.lines))
        registers = {a.name: a for a in registers if isinstance(a, Example)}
        self.shapes = {x: a.shape for x, a in registers.items()}
        self.dtypes = {x: a.dtype for x, a in registers.items()}

    def name(self, name_in_file: str) -> str:
        """A register's name: the name in the file, or one like it."""
        name = re.sub(r"\W", "_", name_in_file, flags=re.ASCII) or "x"
        try:
            refuse_name(name)
        except XManError:
            name = f"x_{name}"
        return fresh(name, self.names)

    def register(self, name_in_file: str, value: np.ndarray) -> Example:
        return Example(self.writer, self.name(name_in_file), value)

    def write_node(self, onnx: Any, node: Any) -> None:
        """Write the lines of a node."""
        where = f"the node {node.op_type} that gives {shortened(node.output[0])}"
        if node.domain not in ("", "ai.onnx") or node.op_type not in READ:
            of = f" of {node.domain}" if node.domain else ""
            raise XManError(f"{where}: that operator{of} is not among the {len(READ)} of ONNX that are read")
        graphs, n_before = [self] * (node.op_type in GRAPHS), len(self.writer.lines)
        sizes = [a.size for x in node.input if isinstance(a := self.by_name.get(x), np.ndarray)]
        if node.op_type != "Concat" and math.prod(sizes) > MOST:
            raise XManError(f"{where}: it combines constants of {' and '.join(map(str, sizes))} entries; "
                            "they are too many")
        try:
            attributes = {a.name: attribute_value(onnx, a) for a in node.attribute}
            if node.op_type in ("Split", "TopK"):
                attributes["outputs"] = len(node.output)
            args = [self.by_name[x] for x in node.input]
            real = self.free and node.op_type == "Cast" and attributes["to"].kind == "f"
            if real and type(args[0]) is np.ndarray and not args[0].ndim:  # perhaps a number of rows
                args[0] = self.writer.line("alias", [args[0].item()], args[0])
            results = READ[node.op_type](*graphs, *args, **attributes)
        except XManError as error:
            raise XManError(f"{where}: {error}") from None
        except Exception as error:  # whatever it is, the operator does not take such a node
            reason = f"{type(error).__name__}, {shortened(str(error))}"
            raise XManError(f"{where} cannot be read: {reason}") from error
        results = results if isinstance(results, list) else [results]
        if len(results) < sum(map(bool, node.output)):
            raise XManError(f"{where}: of its results the first {len(results)} are read")
        new_results = {id(line.out) for line in self.writer.lines[n_before:]}
        for name_in_file, out in zip(node.output, results, strict=False):
            if isinstance(out, Example) and out.name is None and id(out) in new_results:
                out.name = self.name(name_in_file)
            self.by_name[name_in_file] = out if isinstance(out, Example) else np.asarray(out)

    def inside(self, graph: Any, arguments: Sequence, constants: Collection[int] = ()) -> Inside:
        return Inside(self, graph, arguments, constants)

    def result(self, name_in_file: str) -> str:
        """A register for an output that is no other output's."""
        out = self.by_name[name_in_file]
        if isinstance(out, Example) and out.name not in self.known_inputs:
            return out.name
        return self.writer.line("alias", [out], getattr(out, "value", out), self.name(name_in_file)).name

    def imported(self, lines: list[Line]) -> Imported:
        steps = WengertList(lines)
        values = {x: self.values[x] for x in steps.inputs if x in self.values}
        return Imported(steps, values, tuple(self.results))


class Inside(Reading):
    """Reads a graph inside of a node, as the lines of a function.

    arguments: its inputs, or examples of them. constants: the numbers of the inputs that always have the
    value in arguments.

    Registers around it that it reads become further parameters: `outside` has each with its name here.
    """

    def __init__(self, around: Reading, graph: Any, arguments: Sequence, constants: Collection[int]):
        self.onnx, self.writer, self.free, self.names = around.onnx, NodeLines(), around.free, {*around.names}
        self.depth = around.depth + 1
        if self.depth > DEEPEST:
            raise XManError(f"its graphs lie in one another, deeper than {DEEPEST}")
        self.outside: dict[Example, Example] = {}
        self.by_name, self.parameters = Around(self, around), []
        self.by_name |= {t.name: array(self.onnx, t) for t in graph.initializer}
        for k, (x, a) in enumerate(zip(graph.input, arguments, strict=True)):
            self.by_name[x.name] = a if k in constants else self.register(x.name, getattr(a, "value", a))
            self.parameters += [] if k in constants else [self.by_name[x.name]]
        for node in graph.node:
            self.write_node(self.onnx, node)
        self.results = [self.by_name[out.name] for out in graph.output]

    def function(self, name: str, results: Sequence, outside: Iterable[Example] | None = None) -> Function:
        """The function as a literal. outside: registers around it that it takes (None: those it reads)."""
        ends = [a if isinstance(a, Example) else self.writer.line("alias", [a], a) for a in results]
        lines = [*self.writer.named(self.names)]
        outside = self.outside if outside is None else outside
        parameters, results = (tuple(a.name for a in xs) for xs in ((*self.parameters, *outside), ends))
        return "def", name, parameters, tuple(needed(lines, results)), results


class Around(dict):
    """The names that a graph inside knows; any other name is looked up in the graph around it."""

    def __init__(self, inside: Inside, around: Reading):
        self.inside, self.around = inside, around

    def __missing__(self, name: str) -> Any:
        a = self.around.by_name[name]
        if isinstance(a, Example):
            if a not in self.inside.outside:
                self.inside.outside[a] = Example(self.inside.writer, a.name, a.value)
                self.inside.outside[a].constant = a.constant
            a = self.inside.outside[a]
        return a


def array(onnx: Any, tensor: Any) -> np.ndarray:
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise XManError(f"the array {tensor.name!r} is in another file, which is not opened")
    within_bounds(tensor.dims)
    a = onnx.numpy_helper.to_array(tensor)
    numeric(a.dtype)
    return a


def attribute_value(onnx: Any, attribute: Any) -> Any:
    """An attribute of a node as a value of Python."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if attribute.name == "to":
        return numeric(onnx.helper.tensor_dtype_to_np_dtype(value))
    return array(onnx, value) if attribute.type == attribute.TENSOR else value
