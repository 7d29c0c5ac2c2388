"""The tape: a list of numbers becomes arrays of operators and slots, which loops in machine code run.

The list is taken as it was written, however long it is: lines that no output needs are left out, and the rest
is sorted into long runs of one operator. The registers are slots of one array.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import G

from ...errors import XManError
from ...interpreters import backprop, eval
from ...interpreters.context import missing, numpy_real, with_numpy_reals
from ...notation import shown
from ...passes import unroll
from ...wengert import Steps, WengertList, checked_list, known_registers, needed
from .. import interpret
from ..memory import arena
from ..program import Built, Program, is_installed
from .lines import ROWS, TapeWriter, Unwritten
from .loops import arranged, loop_text, loops

WIDTH = 8  # rows of a batch at a time: as many numbers as a line of the cache holds


class Tape:
    """A list of numbers that is evaluated and differentiated many times, also for a batch of inputs at once.

        >>> tape = Tape(steps)
        >>> loss, gradient = tape.value_and_gradient({"x": 3.0, "y": 0.5})
        >>> loss, gradient = tape.value_and_gradient(np.array([3.0, 0.5]))      # in the order of tape.inputs

    steps: a list whose every register is a number. of: the register that is wanted (None: the last line's).
    wrt: the inputs to differentiate by (None: all). An operator of your own, and one that has no row here,
    make the list run on the interpreter; `plan` says so. Several threads may use one tape. It is reverse mode
    as in Griewank and Walther, Evaluating Derivatives (2008), §3.2, with the partial derivatives of each line
    kept beside it: a partial that overflows is infinite even where delta times it would not be. Raises
    XManError for a list that is not valid, names that it does not have, and a line that is not of numbers.
    """

    def __init__(self, steps: Steps, of: str | None = None, wrt: Iterable[str] | None = None):
        self.steps = steps = checked_list(steps, G)
        if not steps:
            raise XManError("the list is empty: there is nothing to compute")
        (self.of,) = known_registers(steps, steps[-1][0] if of is None else of, "of", one=True)
        self.inputs = steps.inputs
        self.wrt = self.inputs if wrt is None else tuple(known_registers(steps, wrt, "wrt"))
        place = {x: k for k, x in enumerate(self.inputs)}
        if computed := [x for x in self.wrt if x not in place]:
            raise XManError(f"wrt names {computed[0]!r}, which is computed; wrt takes inputs")
        self._columns = np.array([place[x] for x in self.wrt], np.intp)
        self._machine = tape_or_interpreter(steps, (self.of,))

    plan = property(lambda self: self._machine.plan, doc="The parts of the tape, in words.")

    def value(self, values: Mapping[str, Any] | np.ndarray) -> Any:
        """The register `of`: a number, or an array (batch,) where inputs are arrays of that length.

        values: each input by name, a number or an array (batch,), numbers standing for all rows; or one array
        (inputs,) or (batch, inputs), its columns in the order of `inputs`. All count as float64.
        Raises XManError for a missing input, another shape, and lengths that differ.
        """
        return self._machine.run(stacked_inputs(self.steps, values), False)[0][0]

    def value_and_gradient(self, values: Mapping[str, Any] | np.ndarray) -> tuple[Any, Any]:
        """The register `of` and its derivatives, by one loop forward and one back.

        values: as `value` takes them. The derivatives are {x: ∂of/∂x} for x in wrt, numbers or arrays
        (batch,); where values is an array, one array (wrt,) or (batch, wrt) in the order of `wrt`.
        """
        (value, *_), slopes = self._machine.run(stacked_inputs(self.steps, values), True)
        if isinstance(values, np.ndarray):
            return value, slopes[self._columns].T
        return value, dict(zip(self.wrt, slopes[self._columns], strict=True))


def stacked_inputs(steps: WengertList, values: Any) -> np.ndarray:
    """The inputs as one array of floats, (inputs,) or (inputs, batch). XManError where they do not fit."""
    names = steps.inputs
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biuf" or values.ndim not in (1, 2) or values.shape[-1] != len(names):
            raise XManError(f"the values are an array of {values.dtype} of shape {values.shape}; wanted "
                            f"numbers of shape ({len(names)},) or (batch, {len(names)}), in the order of "
                            "`inputs`")
        return values.T.astype(float, copy=False)
    if type(values) is dict and {*map(type, reals := [values.get(x) for x in names])} <= {float, np.float64}:
        return np.array(reals, float)
    missing(steps, values := with_numpy_reals(values, ()))
    arrays = [np.asarray(numpy_real(name, values[name]), float) for name in names]
    wide = {name: x.shape for name, x in zip(names, arrays, strict=True) if x.shape}
    for name, shape in wide.items():
        if len(shape) > 1:
            raise XManError(f"{name} has shape {shape}; the tape is for lists of numbers, so an input is a "
                            "number, or an array (batch,) of them: use engine numpy")
        if shape != (first := next(iter(wide.values()))):
            raise XManError(f"{next(iter(wide))} has {first[0]} rows and {name} has {shape[0]}; a batch has "
                            "as many of each")
    return np.array(np.broadcast_arrays(*arrays))


def tape_or_interpreter(steps: WengertList, outputs: tuple[str, ...]) -> Recorded | Interpreted:
    """The tape that runs the list, or else the interpreter. XManError for a line that is not of numbers."""
    if not is_installed("llvmlite"):
        hint = "without the package llvmlite lists of numbers are interpreted: pip install 'xman[fast]'"
        return Interpreted(steps, outputs, f"{len(steps):,} lines; {hint}")
    looped = any(op == "bundle" for _, op, _ in steps)
    lines = unroll(steps, dict.fromkeys(steps.inputs, 0.5)) if looped else steps
    try:
        return Recorded(steps, lines, outputs)
    except Unwritten as error:
        k, line = next((k, line) for k, line in enumerate(lines, 1) if line[0] == error.args[0])
    (_, op, args), where = line, f"line {k}, {shown(line)}"
    halves = [np.float64(0.5) if isinstance(a, str) else a for a in args]
    try:
        with np.errstate(all="ignore"):
            number = op not in ops.table.OURS or not np.ndim(G[op](*halves))
    except Exception:
        number = False
    if not number:
        has_both = ", and for no while_loop and no cond; engine llvm has both"
        raise XManError(f"{where}: the tape is for lists of numbers"
                        f"{has_both if op == 'bundle' else '; use engine numpy'}")
    by = f"by the interpreter: there is no row for {where}"
    return Interpreted(steps, outputs, f"{len(steps):,} lines {by}")


class Recorded:
    """A list as arrays, with the loops that run it. lines: those of steps, with no loops in them.

    The slots of `v` are the inputs, the lines in their order, and the constants. `to` and `also` say where a
    line sends its delta: to the slots of x and y, or to itself, where it is lost.
    """

    def __init__(self, steps: WengertList, lines: WengertList, outputs: tuple[str, ...]):
        self.interpreted = Interpreted(steps, outputs, "")
        writer = TapeWriter(steps.inputs)
        writer.write(needed(lines, outputs))
        ends, kinds = zip(*map(writer.operand, outputs), strict=True)
        self.types = [{"f": float, "b": bool, "i": int}[kind] for kind in kinds]
        if not writer.coded:  # the loops need at least one line
            writer.finish("", "add", 0.0, 0.0)
        self.inputs, self.constants = writer.first, np.array([float(x) for x in writer.constants])[::-1, None]
        # a line is (its operator, the slots that it reads); sorted into runs of one operator, it moves to
        # another slot, and `place` says where everything that the writer numbered is now
        codes, *reads = np.array(writer.coded, np.int64).reshape(-1, 4).T
        used, codes = np.unique(codes, return_inverse=True)
        self.rows = tuple(list(ROWS)[code] for code in used)
        order, starts = arranged(codes, np.array(reads) - self.inputs)
        self.lines, self.runs, varied = len(order), len(starts) - 1, self.inputs + len(order)
        place = np.arange(varied + len(self.constants), dtype=np.uint32)  # of what the writer numbers
        place[self.inputs + order] = home = place[self.inputs:varied].copy()
        codes, slots = codes[order].astype(np.uint32), np.ascontiguousarray(place[np.array(reads)[:, order]])
        # by line, which of its arguments get p·d and q·d; -1, and what is a constant, send it home, to be
        # lost
        sends = np.array([(*ROWS[row].partials, -1, -1)[:2] for row in self.rows])[codes].T
        sent = (slots[arg, np.arange(self.lines)] for arg in sends)
        to, also = (np.where((arg >= 0) & (slot < varied), slot, home)
                    for arg, slot in zip(sends, sent, strict=True))
        self.outputs, self.arrays = place[list(ends)], (codes[starts[:-1]], starts, *slots, to, also)
        self._pool: dict[tuple[int, bool], list] = {}
        coded = f"{self.lines:,} of them needed, in {self.runs:,} runs of one operator"
        self.plan = f"{len(lines):,} lines, {coded}"

    def run(self, X: np.ndarray, back: bool) -> tuple[list, np.ndarray]:
        """The outputs, for inputs of shape (inputs,) or (inputs, batch), and where `back` holds the first's
        derivatives in the shape of X."""
        single = X.ndim == 1
        X = X[:, None] if single else X
        rows, width = X.shape[1], 1 if single else WIDTH
        numbers, slopes = np.empty((len(self.outputs), rows)), np.empty((self.inputs, rows if back else 1))
        forward, *to_inputs = loops(self.rows, width, back)
        codes, starts, a, b, c, to, also = (x.ctypes.data for x in self.arrays)
        pool = self._pool.setdefault((width, back), [])
        try:
            buffers = pool.pop()
        except IndexError:
            buffers = self._buffers(width, back)
        values, deltas, *_ = buffers
        v, d, p, q = (x.ctypes.data for x in buffers)
        for start in range(0, rows, width):
            batch = X[:, start:start + width]
            m = batch.shape[1]  # of a last batch that is not full, the last row fills the other columns
            values[:self.inputs, :m], values[:self.inputs, m:] = batch, batch[:, -1:]
            forward(v, p, q, codes, starts, a, b, c, self.runs, self.inputs)
            numbers[:, start:start + m] = values[self.outputs, :m]
            if back:
                deltas[...] = 0.0
                deltas[self.outputs[0]] = 1.0
                to_inputs[0](d, p, q, to, also, self.lines, self.inputs)
                slopes[:, start:start + m] = deltas[:self.inputs, :m]
        pool.append(buffers)
        outputs = [x.astype(kind) for x, kind in zip(numbers, self.types, strict=True)]
        if back and (unclear := np.isnan(slopes).any(0)).any():  # backprop computes these again
            again = self.interpreted.run(X[:, unclear], True)[1]
            slopes[:, unclear] = np.where(np.isnan(slopes[:, unclear]), again, slopes[:, unclear])
        return ([x[0] for x in outputs], slopes[:, 0]) if single else (outputs, slopes)

    def _buffers(self, width: int, back: bool) -> list[np.ndarray]:
        """[values, with the constants in place, deltas, partials of x, partials of y]."""
        slots = self.inputs + self.lines + len(self.constants)
        sizes = slots, slots * back, self.lines * back, self.lines * back
        # each begins at a line of the cache: numbers that lie in two lines move at half the speed
        buffers = [arena(8 * size * width).view(float).reshape(size, width) for size in sizes]
        buffers[0][self.inputs + self.lines:] = self.constants
        return buffers


class Interpreted(NamedTuple):
    """A list with an operator that has no row: the interpreters run it, one row of the batch at a time."""
    steps: WengertList
    outputs: tuple[str, ...]
    plan: str

    def run(self, X: np.ndarray, back: bool) -> tuple[list, np.ndarray]:
        """The outputs and derivatives, in the form of `Recorded.run`."""
        rows, inputs = np.atleast_2d(X.T), self.steps.inputs
        values, slopes = [], np.zeros(rows.shape)
        for row, slope in zip(rows, slopes, strict=True):
            registers = eval(self.steps, dict(zip(inputs, row, strict=True)))
            for y in self.outputs:
                if shape := np.shape(registers[y]):
                    raise XManError(f"{y} has shape {shape}: the tape is for lists of numbers; use engine "
                                    "numpy")
            values.append([registers[y] for y in self.outputs])
            if back:
                deltas = backprop(self.steps, registers, ops.DG, inputs, **{self.outputs[0]: 1.0})
                slope[:] = [deltas.get(x, 0.0) for x in inputs]
        if X.ndim == 1:
            return values[0], slopes[0]
        return [np.array([x[k] for x in values]) for k in range(len(self.outputs))], slopes.T


def build(program: Program) -> Built:
    """The list as a tape, for numbers. The interpreter takes precisions other than float64, arrays to
    overwrite, and operators without a row. Raises XManError for a line that is not of numbers, and so does
    `run` for arrays."""
    steps, tape = program.original, tape_or_interpreter(program.original, program.outputs)
    if isinstance(tape, Interpreted):
        return interpret.build(program)._replace(plan=tape.plan)

    loops(tape.rows, 1, False)  # LLVM compiles here, and not in the first run

    def run(values: Mapping[str, Any]) -> dict[str, Any] | None:
        if not {type(values[x]) for x in steps.inputs} <= {float, np.float64, int}:
            if arrays := [x for x in steps.inputs if isinstance(values[x], np.ndarray)]:
                raise XManError(f"{arrays[0]} is an array of shape {values[arrays[0]].shape}: the tape is "
                                "for numbers here, for a batch of them as xman.Tape; use engine numpy")
            return None
        return dict(zip(program.outputs, tape.run(stacked_inputs(steps, values), False)[0], strict=True))

    return Built(run, loop_text(tape.rows, 1, False), tape.plan)
