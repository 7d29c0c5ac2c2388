"""A call within a trace, as of `grad` in `jit`, has loops in place of lines that repeat."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ops.expression import FLAT
from ops.facts import operator_called
from ops.walk import needed

from ..passes.loops.roll import rolled
from .tracer import CallTape, Tracer, size_of

if TYPE_CHECKING:
    from .call import TracedCall

def lengths(tracers: Iterable[Any]) -> dict[int, int]:
    """By the level of each trace around, how many lines it has."""
    return {x.value.level: len(x.value.tape.lines) for x in tracers if issubclass(type(x.value), Tracer)}


def with_loops(call: TracedCall, before: dict[int, int]) -> TracedCall:
    """The call with loops where its lines repeat, so that its derivative has loops as well.

    before: the lengths of the traces around, when the call began.
    """
    tape, ends = call.tape, [end for end in call.outputs if end is not None]
    trace = next(x.tape for x in call.results if issubclass(type(x), Tracer))
    if trace.level not in before:
        return call
    trace.keep()
    lines, around = merged(tape, trace, before[trace.level])
    lines, values = needed(lines, ends), tape.values | around
    # where shapes go by masks, to ask for one notes a guard
    size = size_of if not trace.masks else lambda value: (value.shape, value.dtype)
    loops = rolled(lines, ends, {x: size(value) for x, value in values.items()}, reverse=True)
    if len(loops) > len(lines) / 2:
        return call
    # what is on the tape and in the trace around it stays; loops are new lines, and so is all after them
    recorded, new, tape.lines = {*map(id, lines)}, {}, []
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
    outputs = [new.get(end, end) for end in call.outputs]
    results = [x if end is None else values[end] for end, x in zip(outputs, call.results, strict=True)]
    return replace(call, outputs=outputs, results=results)


def merged(tape: CallTape, around: CallTape, before: int) -> tuple[list[tuple], dict[str, Tracer]]:
    """(the lines of a tape and of the trace around it, in the order of time; the registers of the latter).

    before: the length of the trace around when the tape began. In `for t in …: s = tanh(w * s + x[t])` only s
    may be differentiated, and x[t] is a line of the trace around alone. A line of the tape stands where the
    trace around has recorded its value.
    """
    values: dict[str, Tracer] = {}

    def outer(name: str) -> str:
        register = f"z0{name[1:]}"  # no register of a tape has such a name
        if register not in values:
            values[register] = around.tracer(name)
        return register
    inner = [(dst, op, tuple([outer(a.name) if around.has(a) else a for a in args]))
             for dst, op, args in tape.lines]
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
