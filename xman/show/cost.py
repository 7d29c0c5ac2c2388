"""The cost of a list, its tangent and its adjoint: operations counted from shapes, and measured seconds."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..interpreters import backprop, eval, forward
from ..interpreters.context import varies
from ..notation import in_notebooks, table_as_text
from ..passes import gradient, simplify, tangent
from ..passes.differentiate import ending
from ..passes.held import bytes_of, most_held
from ..wengert import Steps, WengertList, all_registers, checked_list, known_registers, registers
from .explain import output

TIMED_SECONDS = 0.2  # each of the three is timed for so long


class LineCost(NamedTuple):
    """The cost of one line: operations, and the bytes of its arguments (read) and of its result (written)."""
    register: str
    op: str
    flops: int
    read: int
    written: int

    @property
    def intensity(self) -> float:
        """Operations a byte: below about ten, memory and not arithmetic sets the pace."""
        return ratio(self.flops, self.read + self.written)


class ListCost(NamedTuple):
    """The cost of a list: its lines; the median of the measured seconds, or None; and the most bytes that
    registers, inputs too, hold at a time if each is freed after its last use. It prints itself line by
    line."""
    lines: list[LineCost]
    seconds: float | None
    peak: int = 0

    flops = property(lambda self: sum(line.flops for line in self.lines))
    read = property(lambda self: sum(line.read for line in self.lines))
    written = property(lambda self: sum(line.written for line in self.lines))

    def table(self) -> list[list[str]]:
        """The titles, and a row for each line."""
        row = lambda of: [f"{of.register} = {of.op}(…)", *(f"{n:,}" for n in of[2:]), f"{of.intensity:.2f}"]
        return [["", "operations", "bytes read", "written", "per byte"], *map(row, self.lines)]

    def __str__(self) -> str: return table_as_text(self.table(), 1)


class Cost(NamedTuple):
    """The ListCost of a list's evaluation, of the list with its tangent, and of the list with its adjoint."""
    evaluation: ListCost
    tangent: ListCost
    adjoint: ListCost

    lines = property(lambda self: self.evaluation.lines, doc="The list itself, line by line.")

    @property
    def ratios(self) -> tuple[float, float]:
        """Operations with tangents, and with adjoints, divided by those of the list: Bishop's factors."""
        alone = self.evaluation.flops
        return ratio(self.tangent.flops, alone), ratio(self.adjoint.flops, alone)

    def table(self) -> list[list[str]]:
        """The titles, and a row for the list, for the list with tangents, and for the list with adjoints."""
        base, titles = self.evaluation, ["", "lines", "operations", "bytes read", "written", "held", "ratio"]
        timed = base.seconds is not None
        rows = [titles + ["microseconds", "ratio"] * timed]
        for name, work in zip(("list", "with tangents", "with adjoints"), self, strict=True):
            counts = len(work.lines), work.flops, work.read, work.written, work.peak
            times = [f"{1e6 * work.seconds:,.1f}", f"{work.seconds / base.seconds:.2f}"] if timed else []
            rows.append([name, *(f"{n:,}" for n in counts), f"{ratio(work.flops, base.flops):.2f}", *times])
        return rows

    def __str__(self) -> str: return table_as_text(self.table(), 1)

    __repr__ = __str__
    _repr_html_ = in_notebooks("cost_in_html")


def cost(steps: Steps, of: str | None = None, wrt: Collection[str] | None = None,
         values: Mapping[str, Any] | None = None, *, measured: bool = True) -> Cost:
    """The operations, bytes and seconds of a list, of the list with tangents, and of the list with adjoints.

        >>> steps = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
        >>> print(cost(steps, values={"h": 3.0, "w": 6.0}, measured=False))
                       lines  operations  bytes read  written  held  ratio
        list               2           2          24       16    32   1.00
        with tangents      6           6          80       48    64   3.00
        with adjoints      4           4          40       32    40   2.00

    steps: the list. of: the register to differentiate (None: the last line's). wrt: the inputs to
    differentiate by (None: all of floats). values: the inputs, whose shapes and precisions count. measured:
    whether to time the interpreters too, each for 0.2 s: `eval`, `eval` and `forward`, `eval` and `backprop`,
    on the list as it is. The counts are for the list, and the lists that `gradient` and `tangent` write,
    after `simplify` for these shapes: no expression twice, no line that `of` does not need, no helpers of the
    rules.

    `ops.facts` says how many operations an operator takes; your own operator says it in its row, as flops,
    or, if it is elementwise, counts as one for each entry. Bytes are those of each line's registers, read and
    written, as if nothing was cached. Held are the most bytes of registers that are still needed at a time:
    registers that the way back reads count until then (Bishop, Deep Learning, §8.2.2). By §8.2 of that book a
    gradient takes at most 6 times the operations of an evaluation, and in practice 2 or 3 times; more if the
    list consists of operators with long derivatives, such as a determinant. Raises XManError for an operator
    whose row does not say its flops, for a name that the list does not have, and as `eval` does.
    """
    steps = checked_list(steps, ops.G)
    of, values = output(steps, of), eval(steps, values)
    floats = [name for name in steps.inputs if varies(values[name])]
    wrt = floats if wrt is None else known_registers(steps, wrt, "wrt")
    if not wrt:
        raise XManError("there is nothing to differentiate by: give an input as floats, or name one in wrt")
    dot = ending(steps)
    inputs = values | {x + dot: np.ones_like(values[x]) for x in wrt if x in values}
    lists = [(steps, [of]), (tangent(steps, wrt), [of, of + dot]),
             (gradient(steps, of, wrt), [of, *(f"d{of}_d{x}" for x in wrt)])]
    runs = [lambda: None, lambda: forward(steps, values, dict.fromkeys(wrt, 1.0)),
            lambda: backprop(steps, values, ops.DG, wrt, **{of: 1.0})]
    costs = [line_costs(lines, results, inputs) for lines, results in lists]
    times = [timed(lambda run=run: (eval(steps, values), run())) if measured else None for run in runs]
    return Cost(*(ListCost(lines, time, peak) for (lines, peak), time in zip(costs, times, strict=True)))


def line_costs(steps: WengertList, results: list[str], values: Mapping[str, Any]
               ) -> tuple[list[LineCost], int]:
    """The cost of each line that the results need, and the most bytes that are held at a time."""
    registers_of_list = {*all_registers(steps)}
    results = [name for name in results if name in registers_of_list]
    steps = simplify(steps, results, {name: values[name] for name in steps.inputs})
    values = {x: np.asarray(v) if type(v) in (int, float) else v for x, v in eval(steps, values).items()}
    if missing := [op for _, op, _ in steps if not ops.operations(op)]:
        raise XManError(f"nothing says how many operations {missing[0]!r} takes; say it in its row: "
                        f"operator({missing[0]!r}, …, flops=lambda out, *args: …)")
    lines, sizes = [], {x: bytes_of(v) for x, v in values.items()}
    for dst, op, args in steps:
        arguments = [values[a] if isinstance(a, str) else a for a in args]
        flops, read = ops.operations(op)(values[dst], *arguments), sum(sizes[a] for a in registers(args))
        lines.append(LineCost(dst, op, flops, read, sizes[dst]))
    return lines, most_held(steps, results, values)


def timed(run: Callable[[], Any]) -> float:
    """The median of the seconds of at least three runs."""
    run()
    times: list[float] = []
    while len(times) < 3 or sum(times) < TIMED_SECONDS:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def ratio(a: float, b: float) -> float:
    """a / b, NaN for b = 0."""
    return a / b if b else float("nan")
