"""A submission's list, which is plain data: it is read, evaluated and differentiated within bounds."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.facts import FACTS
from ops.functions import ORDERED
from ops.loops.values import metered

from ..errors import XManError, nearest
from ..interpreters import backprop, eval
from ..notation import shown
from ..validity import as_line
from ..wengert import Line, WengertList, needed, registers
from .compare import Wrong, expect, expect_that

# operators whose lines take memory that the inputs of the list bound
MODEL = frozenset(op for op in ops.OURS if FACTS[op].within or FACTS[op].elementwise and op not in ORDERED)
# operators that apply functions, for tasks that allow MODEL | LOOPS; slices of a scan have to be arrays
LOOPS = ops.loops.ROWS
ENTRIES = 10 ** 7      # the most numbers in all registers of a list together
OPERATIONS = 10 ** 9   # the most operations of its evaluation
ARGUMENTS = ("which argument of crossEntropy is the prediction? It comes first; the logarithm of y's zeros "
             "is −∞")
NAMES = "inputs and parameters go by the name of the attribute that holds them (self.W is 'W')"
ARRAYS = ("an argument is a register's name, a number, None, or an axis; an array comes in by an input or a "
          "parameter of its own, so that it can be given and differentiated")


class CountedWork(NamedTuple):
    """The work of a list: the number of its lines, and of operations in one evaluation."""
    lines: int
    flops: int


def read_list(lines: Any, inputs: Collection[str], operators: Collection[str] = MODEL, most: int = 2000,
              what: str = "the model's list", names: str = NAMES) -> WengertList:
    """A submission's list: it is valid, has only these operators, and reads only `inputs` unassigned.

    lines: [(dst, op, args), …] as lists or tuples; args: names of registers, numbers, None, tuples of a few
    whole numbers. Whole numbers become floats where the operator has a rule for them, so that none can grow.
    inputs: names that the list may read without assigning them. operators: names of rows of `ops`; a caller
    who allows more than MODEL and LOOPS has to bound the memory. most: the most lines, with those of
    functions. what: the list's name in errors. names: how inputs are named. Wrong says the line, and what to
    write instead.
    """
    is_list, form = isinstance(lines, (list, tuple)), f"{what}: a list of lines (dst, op, args)"
    expect_that(is_list, form, f"a {type(lines).__name__}", "operationSequence(register) makes it")
    look = "can more be computed for all rows at once?" if lines else "an input or a parameter has no lines"
    bound = f"{what}: at least one line and at most {most:,}, also with those of its functions"
    expect_that(1 <= len(lines) <= most, bound, f"{len(lines):,} lines", look)
    lines = [line_with_functions(line) for line in lines]
    # todo grows while it is read: the lines of a function in a line wait behind those of the list
    todo, total = [("", lines, 0)], 0
    for of, inside, depth in todo:
        total += len(inside)
        expect_that(total <= most and depth <= 5, f"{bound}, at most five deep", "more than that")
        for k, line in enumerate(inside, 1):
            expect_line(f"{k}{of}", line, operators, what)
            todo += [(f" of {a[1]}", a[3], depth + 1) for a in line[2] if ops.is_function(a)]
    try:
        steps = WengertList(lines, ops.G)
    except XManError as error:
        raise Wrong(f"{what}: a valid Wengert list", str(error)) from None
    if strange := [name for name in steps.inputs if name not in inputs]:
        k, line = next((k, line) for k, line in enumerate(steps, 1) if strange[0] in registers(line[2]))
        came_back = f"line {k}, {shown(line)}, reads {strange[0]!r}{did_you_mean(strange[0], inputs)}"
        raise Wrong(f"{what}: it reads {', '.join(inputs)} and what earlier lines assign", came_back, names)
    return WengertList(map(with_floats, steps))


def line_with_functions(line: Any, depth: int = 0) -> Any:
    """The line, and the functions in it, with tuples in place of lists."""
    # a function is a literal of a line: ("def", name, (parameters), (lines), (results))
    def as_function(a: Any) -> Any:
        if not (isinstance(a, (list, tuple)) and len(a) == 5 and type(a[0]) is str and a[0] == "def"
                and all(isinstance(field, (list, tuple)) for field in a[2:])):
            return a
        lines = tuple(line_with_functions(inner, depth + 1) for inner in a[3])
        return (*a[:2], tuple(a[2]), lines, tuple(a[4]))

    line = as_line(line)
    if depth < 7 and isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], tuple):
        return (*line[:2], tuple(map(as_function, line[2])))
    return line


def with_floats(line: Line) -> Line:
    """The line with floats in place of whole numbers that have a derivative."""
    dst, op, args = line

    def argument(i: int, a: Any) -> Any:
        if ops.is_function(a):
            return (*a[:3], tuple(map(with_floats, a[3])), a[4])
        return float(a) if type(a) is int and ops.DG[op][i] else a
    return dst, op, tuple(map(argument, range(len(args)), args))


def did_you_mean(name: str, names: Collection[str]) -> str:
    """'; did you mean …?' for a known name that is close, also in other case; or ""."""
    same = [candidate for candidate in names if candidate.lower() == name.lower()]
    return nearest(name, names) or "".join(nearest(candidate, same) for candidate in same[:1])


def expect_line(k: str, line: Any, operators: Collection[str], what: str) -> None:
    """Wrong unless the line is a triple of a short name, an allowed operator, and small arguments."""
    def wrong(problem: str, look: str | None = None):
        form = "lines (dst, op, args) such as ('z1', 'dot', ('X', 'W'))"
        return Wrong(f"{what}: {form}", f"line {k}{problem}", look)

    if not (isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], tuple)):
        raise wrong(" is no such triple", "a tuple of one argument is ('z2',)")
    dst, op, args = line
    functions = [a for a in args if ops.is_function(a) and op in LOOPS]
    for _, _, parameters, lines, results in functions:
        if not all(isinstance(field, tuple) for field in (parameters, lines, results)) or max(
                len(parameters), len(results)) > 40:
            raise wrong(" has a function that is not one", "it has parameters, lines and results, at most 40")
    for name in (dst, op, *registers(args), *(a for f in functions for a in (f[1], *f[2], *f[4]))):
        if not isinstance(name, str) or len(name) > 80 or not name.isprintable():
            raise wrong(" has a name that is no string of at most 80 printable characters")
    if len(args) > (max_arguments := 40 if op == "bundle" else 8):
        raise wrong(f" has {len(args):,} arguments", f"no operator here needs more than {max_arguments}")
    if op not in operators:
        look = f"the operators are {', '.join(sorted(operators))}" if len(operators) <= 40 else None
        strange = f"{op!r}, which is not among the operators of this task{nearest(op, operators)}"
        raise wrong(f", {dst} = {op}(…), calls {strange}", look)
    for a in args:
        if not (isinstance(a, str) or is_small(a) or any(a is f for f in functions)):
            raise wrong(f", {dst} = {op}(…), has an argument of type {type(a).__name__}", ARRAYS)


def is_small(a: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) <= 4 and all(type(number) is int and abs(number) < 16 for number in a)
    return a is None or type(a) in (bool, float) or type(a) is int and abs(a) < 2 ** 31


def from_given(steps: WengertList, of: str, known_registers: Collection[str]) -> WengertList:
    """The lines that `of` needs when the known registers have values: these lines are judged alone."""
    return WengertList(needed([line for line in steps if line[0] not in known_registers], [of]))


def values_of(steps: WengertList, inputs: Mapping[str, Any],
              what: str = "the model's list") -> dict[str, Any]:
    """The values of all registers of a list from `read_list`. Wrong: a line fails or costs too much."""
    if lacking := [name for name in steps.inputs if name not in inputs]:
        look = "a parameter needs a default: f.param(default=…)"
        raise Wrong(f"{what}: a value for each register that it reads", f"none for {lacking[0]!r}", look)
    entries = operations = 0

    def counted(op: str, args: tuple, out: Any) -> Any:
        nonlocal entries, operations
        out = np.float64(out) if isinstance(out, (int, float)) else out
        entries += np.size(out)
        operations += ops.operations(op)(out, *args)
        if entries > ENTRIES or operations > OPERATIONS:
            raise ValueError(f"the list has taken {operations:,} operations and holds {entries:,} numbers "
                             "here, more than the task can need; which shape is larger than you think?")
        return out

    try:
        return eval(steps, inputs, metered(steps, lambda *_: None, counted))
    except XManError as error:
        look = ("dot takes (n, k) and (k, m): is one transposed that should not be, or are the two exchanged?"
                if "dot(" in str(error) else "xman.shapes(steps, …) tells the shape of every register")
        raise Wrong(f"{what}: operators that fit the shapes of their arguments", str(error), look) from None


def deltas_of(steps: WengertList, values: Mapping[str, Any], of: str, wrt: Collection[str],
              what: str = "the model's list", delta: Any = 1.0) -> dict[str, Any]:
    """The deltas of the registers in wrt. Wrong unless `of` depends on each of them.

    values: from `values_of`. delta: the delta of `of`, in its shape; 1 gives the gradient of one number.
    """
    if (own_shape := np.shape(values[of])) != (shape := np.shape(delta)):
        kind = f"an array of shape {shape}" if shape else "one number"
        look = None if shape else "the loss of a batch is the mean of the losses of its rows"
        raise Wrong(f"{what}: {of} is {kind}", f"shape {own_shape}", look)
    try:
        deltas = backprop(steps, values, ops.DG, [name for name in wrt if name in values], **{of: delta})
    except XManError as error:
        raise Wrong(f"{what}: a derivative for every line", str(error)) from None
    for name in wrt:
        look = f"go back from {of}: which line reads {name}, and which line passes no derivative on?"
        derivative = f"{what}: {of} has a derivative by {name}"
        expect_that(name in deltas, derivative, f"nothing arrives at {name}", look)
    return {name: deltas[name] for name in wrt}


def work_of(steps: WengertList, values: Mapping[str, Any]) -> CountedWork:
    """The lines of the list and the operations of one evaluation, as `xman.cost` counts them."""
    argument_values = lambda args: (values[a] if isinstance(a, str) else a for a in args)
    flops = sum(ops.operations(op)(values[dst], *argument_values(args)) for dst, op, args in steps)
    return CountedWork(len(steps), flops)


def loss_of(values: Mapping[str, Any], loss: str = "loss") -> Any:
    """The value of the loss. Wrong unless it is one finite number."""
    if shape := np.shape(values[loss]):
        look = "crossEntropy gives one number for each row, (rows, 1); the loss is their mean"
        raise Wrong("a loss that is one number", f"an array of shape {shape}", look)
    expect_that(np.isfinite(values[loss]), "a loss that is a finite number", values[loss], ARGUMENTS)
    return values[loss]


def alike(got: Any, want: Any) -> bool:
    return np.shape(got) == np.shape(want) and np.allclose(got, want, 1e-9)


def expect_deltas(steps: WengertList, right: WengertList, inputs: Mapping[str, Any], of: str,
                  names: Collection[str], what: str = "the model's list", same: Collection[str] = (),
                  share: float = 1 / 3) -> None:
    """Wrong unless both lists have equal values of `same` and `of`, and equal deltas of the names.

    If a value differs, right deltas of the list's own `of` get a share of the credit. right: the right list.
    """
    same, values, standard = same or [of], values_of(steps, inputs, what), values_of(right, inputs)
    stopping = next((line for line in steps if line[1] == "stopGradient"), None)
    stop = f"{stopping[0]} = stopGradient({stopping[2][0]}) hands no delta on" if stopping else None
    agree = all(alike(values[name], standard[name]) for name in same)
    through = WengertList((dst, "alias" if op == "stopGradient" else op, args) for dst, op, args in steps)
    want = deltas_of(right, standard, of, names) if agree else deltas_of(through, values, of, names, what)
    try:
        deltas = deltas_of(steps, values, of, names, what)
    except Wrong as wrong:
        raise Wrong(wrong.expected, wrong.came_back, stop or wrong.look) from None
    for name in names:
        expect_that(np.isfinite(deltas[name]).all(), f"delta of {name}: finite numbers", deltas[name])
        expect(deltas[name], want[name], f"delta of {name}", stop)
    if not agree:
        look = "The way back is all points where the way forward is right: see the parts above."
        expected = f"the deltas of the right {' and '.join(same)}"
        raise Wrong(expected, "the slope of other values", look, credit=share)
