"""A call within a trace, as of `grad` in `jit`, has loops in place of lines that repeat."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from ops.expression import FLAT
from ops.facts import operator_called
from ops.walk import needed

from ..notation import renamed
from ..passes.loops.roll import rolled
from .tracer import CallTape, Discarded, Tracer, size_of

if TYPE_CHECKING:
    from .call import TracedCall

MOST = 60_000  # lines that a tape records before it looks whether they repeat: some 50 megabytes


def with_loops(call: TracedCall, before: dict[int, int]) -> TracedCall:
    """The call with loops where its lines repeat, so that its derivative has loops as well.

    before: the lengths of the traces around, when the call began.
    """
    tape, ends = call.tape, [end for end in call.outputs if end is not None]
    trace = next(x.tape for x in call.results if issubclass(type(x), Tracer))
    new = put_loops(tape, trace, 0, before[trace.level], ends) if trace.level in before else {}
    outputs = [new.get(end, end) for end in call.outputs]
    results = [x if end is None else tape.values[end] for end, x in zip(outputs, call.results, strict=True)]
    return replace(call, outputs=outputs, results=results)


def put_loops(tape: CallTape, trace: CallTape, first: int, before: int, ends: Iterable[str]) -> dict:
    """Put loops in place of lines of the tape that repeat, if that halves them: {end: its new register}.

    trace: the trace around. first, before: the lines of the tape, and those of the trace around, that stay.
    """
    trace.keep()
    lines, around = merged(tape, trace, first, before)
    lines, values = needed(lines, ends), tape.values | around
    # where shapes go by masks, to ask for one notes a guard
    size = size_of if not trace.masks else lambda value: (value.shape, value.dtype)
    loops = rolled(lines, ends, {x: size(value) for x, value in values.items()}, reverse=True)
    if len(loops) > len(lines) / 2:
        return {}
    # what is on the tape and in the trace around it stays; loops are new lines, and so is all after them
    recorded, new, tape.lines = {*map(id, lines)}, {}, tape.lines[:first]
    for line in loops:
        dst, op, args = line
        args = tuple([new.get(a, a) if type(a) is str else a for a in args])
        if id(line) not in recorded:
            value = operator_called(op)(*[values[a] if type(a) is str else a for a in args])
            out = Tracer(value, tape, op in FLAT)
            new[dst], values[out.name] = out.name, out.value
        if dst in new or dst not in around:
            operands = [around.get(a, a) if type(a) is str else a for a in args]
            tape.lines.append((new.get(dst, dst), op, tuple(operands)))
    return new


@contextmanager
def kept_short(tape: CallTape, trace: CallTape | None = None, before: int = 0) -> Iterator[None]:
    """A `with` in which a tape is rolled as it grows, so that 10⁵ turns of Python's take the room of a few.

    Only registers that a living tracer stands for stay of what is rolled. tape: of a call within the trace,
    or without one that of `jit`. before: the lines of the trace when the call began.
    """
    first = 0

    def shorten() -> None:
        nonlocal first, before
        living = alive(tape)
        ends, old, new = {x.name for x in living}, results_of(tape.lines[first:]), {}
        # where each turn leaves something behind, as in a list of results, a loop at the end has them in one
        if 10 * len(living) < len(old) and not (tape.calls or tape.masks or trace and trace.masks):
            new = put_loops(tape, trace, first, before, ends) if trace else roll_alone(tape, first, ends)
        tape.most = MOST + (len(tape.lines) if new else tape.most)
        for x in living if new and trace else ():
            x.name = new.get(x.name, x.name)
            x.value = tape.values[x.name]
        if new:
            forget(tape, old - results_of(tape.lines[first:]))
            first = len(tape.lines)
        if new and trace:  # without what led to the values that the tape has forgotten
            old = results_of(trace.lines[before:])
            trace.lines[before:] = needed(trace.lines[before:], [x.name for x in alive(trace)])
            forget(trace, old - results_of(trace.lines[before:]))
            before = len(trace.lines)
    tape.refs, tape.most, tape.full = [], MOST, shorten
    try:
        yield
    finally:
        tape.refs = tape.full = None


def roll_alone(tape: CallTape, first: int, ends: set[str]) -> dict[str, str]:
    """`put_loops` for a tape with no trace around it: registers keep their values, and ends their names."""
    lines = needed(tape.lines[first:], ends)
    loops = rolled(lines, ends, {x: size_of(value) for x, value in tape.values.items()})
    if len(loops) > len(lines) / 2:
        return {}
    extra = sorted(results_of(loops) - results_of(lines), key=lambda dst: int(dst[1:]))
    new = {dst: Tracer(Discarded((), np.dtype("O")), tape).name for dst in extra}
    tape.lines[first:] = renamed(loops, new)
    return new


@contextmanager
def within_traces(tape: CallTape, inputs: Sequence[Tracer]) -> Iterator[dict[int, int]]:
    """A `with` in which no trace around a call of these inputs is rolled, and its tape is kept short if it is
    within one alone, which is kept short too. By the level of each, how many lines it has."""
    traces = [*{x.value.tape for x in inputs if issubclass(type(x.value), Tracer)}]
    before = {trace.level: len(trace.lines) for trace in traces}
    for trace in traces:
        trace.calls += 1
    one = len(traces) == 1 and traces[0].refs is not None and tape.tangents is None
    try:
        with kept_short(tape, traces[0], before[traces[0].level]) if one else nullcontext():
            yield before
    finally:
        for trace in traces:
            trace.calls -= 1


def results_of(lines: Iterable[tuple]) -> set[str]: return {dst for dst, _, _ in lines}


def alive(tape: CallTape) -> list[Tracer]:
    """The tracers on the tape that are in use."""
    tracers = [x for x in [tracer() for tracer in tape.refs] if x is not None]
    tape.refs[:] = map(ref, tracers)
    return tracers


def forget(tape: CallTape, names: set[str]) -> None:
    """Keep nothing of these registers, which no line reads or gives any more."""
    for name in names & tape.values.keys():
        del tape.values[name]
    for kept in (tape.flat, getattr(tape, "numbers", set())):
        kept -= names


def merged(tape: CallTape, around: CallTape, first: int, before: int) -> tuple[list, dict[str, Tracer]]:
    """(the lines of a tape and of the trace around it, in the order of time; the registers of the latter).

    first, before: their lines from which on. In `for t in …: s = tanh(w * s + x[t])` only s may be
    differentiated, and x[t] is a line of the trace around alone. A line of the tape stands where the trace
    around has recorded its value.
    """
    values: dict[str, Tracer] = {}

    def outer(name: str) -> str:
        register = f"z0{name[1:]}"  # no register of a tape has such a name
        if register not in values:
            values[register] = around.tracer(name)
        return register
    inner = [(dst, op, tuple([outer(a.name) if around.has(a) else a for a in args]))
             for dst, op, args in tape.lines[first:]]
    recorded = {x.name: k for k, (dst, _, _) in enumerate(inner) if around.has(x := tape.values[dst])}
    lines: list[tuple] = []
    done = 0
    for dst, op, args in around.lines[before:]:
        if dst in recorded:
            lines += inner[done:recorded[dst] + 1]
            done = max(done, recorded[dst] + 1)
        else:
            lines.append((outer(dst), op, tuple([outer(a) if type(a) is str else a for a in args])))
    return lines + inner[done:], values
