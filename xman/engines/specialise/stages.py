"""The stages between a list and an engine: each takes a Program and returns the Program that it makes of it.

    written     y = tanh(s),  s = dot(X, [[1.], [2.]])    the list that the user compiles
    literals    s = dot(X, constant)                      literal arrays are registers with a known value
    simplified  fewer lines, of few operators             the rewrites for these shapes, each register's kind
    settled     without lines that need no input          ready for an engine, whose stages go on from here
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.loops import functions_in

from ...interpreters import eval
from ...passes import EXACT, simplify
from ...passes.examples import examples
from ...passes.lower import lowered
from ...wengert import WengertList, all_registers, needed, registers, temporaries
from ..program import Program, Values
from .kinds import kind_of, on_host, same_but_number
from .loops import loops_of_counts, loops_of_stacks


class Sample(NamedTuple):
    """The values for which a list is specialised.

    by_shapes: whether only the shapes of arrays of floats count. Stand-ins replace them then, so that
    nothing is computed; where a shape inside depends on values, all values count, and everything is computed.
    """
    values: dict[str, Any]
    by_shapes: bool

    def run(self, steps: WengertList, constants: dict[str, Any], capacity: int) -> dict[str, Any]:
        """All registers of the list, or stand-ins for them."""
        values = self.values | constants
        if not self.by_shapes:
            return eval(steps, values)
        # where no shape can depend on the number of steps of a loop, one step shows them all
        functions = [steps, *(lines for _, _, _, lines, _ in functions_in(steps))]
        return examples(steps, values, constants, capacity or not any(map(loops_of_counts, functions)))

    def likes(self) -> dict[str, Any]:
        """What `simplify` may know of the inputs: values, or of an array of floats (shape, precision)."""
        kinds = {x: kind_of(v) for x, v in self.values.items()} if self.by_shapes else {}
        return self.values | {x: kind[:2] for x, kind in kinds.items()
                              if kind and kind.array and kind.dtype.kind == "f"}


def program_of(steps: WengertList, values: Values, outputs: tuple[str, ...], inplace: Mapping[str, str],
               capacity: int = 0) -> Program:
    """The Program for these values. capacity: as in `Program`. XManError where the list fails for them."""
    values = {name: on_host(values[name]) for name in steps.inputs}
    written = Program(steps, {}, outputs, {y: x for x, y in inplace.items()}, steps, capacity=capacity)
    try:
        return specialised(written, Sample(values, by_shapes=True))
    except TimeoutError:
        raise  # a time limit that the user set
    except Exception:  # shapes are not enough: the values decide, and an error of the list has its sentence
        return specialised(written._replace(capacity=0), Sample(values, by_shapes=False))


def specialised(program: Program, sample: Sample) -> Program:
    """The Program after all stages, with the list after each of them."""
    lists = [("written", program.steps)]
    for name, stage in STAGES:
        program = stage(program, sample)
        lists.append((name, program.steps))
    return program._replace(stages=lists)


def literals_lifted(program: Program, _: Sample) -> Program:
    """The program with a register in place of each literal array, so that no rewrite looks into arrays."""
    steps, constants = lifted(program.steps)
    return program._replace(steps=steps, constants=constants)


def simplified_for_shapes(program: Program, sample: Sample) -> Program:
    """The program after all rewrites for its shapes, with kinds, and with the values of all registers that
    depend on no input among its constants."""
    outputs, steps, constants = program.at_the_end, program.steps, program.constants
    values = sample.run(steps, constants, program.capacity)
    before = {name: kind_of(values[name]) for name in outputs}
    short, literals = lifted(simplify(steps, outputs, sample.likes() | constants, EXACT + lowered()))
    values = sample.run(short, constants | literals, program.capacity)
    if not all(same_but_number(kind_of(values[name]), kind) for name, kind in before.items()):
        # in a list of several precisions a rewrite can change a type: such a list stays as it was
        short, literals, values = steps, {}, sample.run(steps, constants, program.capacity)
    kinds = {name: kind for name, x in values.items() if (kind := kind_of(x))}
    objects = {x: (type(v), np.shape(v)) for x, v in sample.values.items() if x not in kinds}
    constants = constants | literals
    for dst, op, args in short:
        if op in ops.table.OURS and all(a in constants for a in registers(args)):
            constants[dst] = values[dst]
    return program._replace(steps=short, kinds=kinds, objects=objects, constants=constants)


def settled(program: Program, sample: Sample) -> Program:
    """The program without the lines of constants and those that no output needs, and with shapes in place of
    registers that serve as shapes: z = broadcast(x, y) becomes z = broadcast(x, (3, 2)), and y can go."""
    outputs, constants, kinds = program.at_the_end, program.constants, program.kinds
    counts = loops_of_stacks(program.steps, outputs) if program.capacity else {}
    # where a loop ends on values, shapes change with them
    fixed = sample.by_shapes or "while_loop" not in {op for _, op, _ in program.steps}
    lines = [line for line in program.steps if line[0] not in constants]
    for k, (dst, op, args) in enumerate(lines):
        if fixed and op in ("reshape", "broadcast") and isinstance(args[1], str):
            kind, operand = kinds.get(dst), kinds.get(args[0])
            if kind and operand and kind.dtype == operand.dtype:
                lines[k] = dst, op, (args[0], kind.shape, *args[2:])
    steps = WengertList(needed(lines, outputs))
    read = {x: constants[x] for x in dict.fromkeys((*steps.inputs, *outputs)) if x in constants}
    return program._replace(steps=steps, constants=read, counts=counts)


STAGES: list[tuple[str, Callable[[Program, Sample], Program]]] = [
    ("literals", literals_lifted), ("simplified", simplified_for_shapes), ("settled", settled)]


def lifted(steps: WengertList) -> tuple[WengertList, dict[str, Any]]:
    """The list with a register in place of each literal array that is not a key, and these arrays by name."""
    arrays, names = {}, temporaries({*all_registers(steps)}, "constant")
    as_register = lambda a: arrays.setdefault(id(a), (next(names), a))[0] if isinstance(a, np.ndarray) else a
    lines = [(dst, op, (*map(as_register, args[:(first := ops.facts_of(op).keys)]), *args[first:]))
             for dst, op, args in steps]
    return WengertList(lines), dict(arrays.values())
