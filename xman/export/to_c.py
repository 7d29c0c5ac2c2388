"""From a list to a file of C and its header."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ops
from ops.loops import functions_in

from ..engines.c import CFile, identifier
from ..engines.nests.builder import Builder
from ..engines.nests.lines import nests_of
from ..engines.nests.tree import SPECIAL, Call
from ..engines.program import Program
from ..engines.specialise import program_of
from ..engines.specialise.loops import capacity_of_loops
from ..errors import XManError
from ..files.whole import write_whole
from ..interpreters import eval
from ..passes import simplify
from ..passes.lower import spelt
from ..passes.patterns import shaped
from ..validity import refuse_line
from ..wengert import Line, Steps, WengertList, needed, registers
from .to_onnx import export_arguments


def to_c(steps: Steps, values: Mapping[str, Any], path: str | Path | None = None, *,
         outputs: Iterable[str] | None = None, constants: Iterable[str] = (), rows: Iterable[str] = (),
         inplace: Mapping[str, str] = {}, facts: Mapping[str, str] = {}) -> tuple[str, str]:
    """(source, header): the list as a function of C99; written to `path` and beside it, if that is given.

        >>> training = training_list(steps, "loss", ["W", "b"], "adam")
        >>> to_c(training.steps, values, "step.c", outputs=["loss"], inplace=training.inplace)

    steps: a list: a model's, a gradient, a whole training step. values: examples of all its inputs, which
    give shapes and precisions. constants: inputs whose values the file keeps. outputs: registers (None: the
    list's outputs). inplace: {input: the register that overwrites it}. facts: for the file's first lines.

    The function of step.c is step_run. It gets a pointer for each input and each output; it takes no memory,
    but has some of its own, so that two threads cannot run it at once, and it returns 0, or 1 if the values
    are not for it: an index outside of its array, a singular matrix, a loop that does not end. Loops and
    small matrices are loops. Raises XManError with the line of an operator that C does not have, and for
    rows, since the file is for one size.
    """
    if rows := [*rows]:
        raise XManError(f"rows names {rows[0]!r}: a file of C is for one size; give examples with as many "
                        "rows as one call is to take")
    steps, values, outputs, constants, _ = export_arguments(steps, values, outputs, constants, rows)
    name = identifier(Path(path or "model").stem)
    for x in steps.inputs:
        if np.asarray(values[x]).dtype.name not in TYPES:
            raise XManError(f"{x} is {np.asarray(values[x]).dtype}, and a file of C has arrays of "
                            f"{', '.join(TYPES)}")
    kept = [(x, "alias", (np.asarray(values[x]),)) for x in constants]
    lines = WengertList(needed([*kept, *steps], [*outputs, *inplace.values()]))
    nests = nests_of_list(lines, values, outputs, inplace)
    for dst, op in without_c(nests):
        words = f"needs {op}, which has no form in C; compute it outside, and give it as an input"
        refuse_line(*refused_line(dst, nests.program, steps), words)
    source, header = CFile(name).texts(nests, steps.inputs, facts)
    if path is not None:
        write_whole(path, source.encode())
        write_whole(Path(path).with_name(f"{name}.h"), header.encode())
    return source, header


def nests_of_list(steps: WengertList, values: Mapping[str, Any], outputs: list[str],
                  inplace: Mapping[str, str]) -> Builder:
    """The list as nests, with formulas for libraries of arrays in place of calls of NumPy."""
    reference, written = eval(steps, values), set()  # an error of the list is raised here, as a sentence
    while True:
        program = program_of(steps, values, tuple(outputs), inplace, capacity_of_loops(steps, values))
        nests = nests_of(program)
        rows = {op: ops.facts_of(op) for _, op in without_c(nests) if op not in written}
        formulas = {op: by for op, row in rows.items() if (by := row.elsewhere or row.formula)}
        if not formulas:
            break
        written |= formulas.keys()
        rewrites = [shaped(op, spelt(op, rows[op]._replace(formula=by))) for op, by in formulas.items()]
        steps = simplify(steps, [*outputs, *inplace.values()], values, rewrites)
    for x in outputs:
        if nests.kinds[x].dtype != (dtype := np.asarray(reference[x]).dtype):
            words = f"is {dtype}, and by the formulas that C needs {nests.kinds[x].dtype}"
            refuse_line(*refused_line(x, program, steps), words)
    return nests


def without_c(nests: Builder) -> list[tuple[str, str]]:
    """(register, operator) of the lines that NumPy or SciPy computes, in functions too."""
    within = lambda line: {line[1], *(op for function in functions_in([line]) for _, op, _ in function[3])}
    special = [(line[0], op) for line in nests.program.steps for op in within(line) if op in SPECIAL]
    return [(node.dst, node.op) for node in nests.tree.calls if isinstance(node, Call)] + special


TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def refused_line(dst: str, program: Program, steps: WengertList) -> tuple[int, Line]:
    """The number of the line that a register of the program is, or is a part of, and the line."""
    numbered, reached = {line[0]: (k, line) for k, line in enumerate(steps, 1)}, {dst}
    for x, _, args in program.steps:
        if reached.intersection((x, *registers(args))):
            reached.add(x)
            if x in numbered:
                return numbered[x]
    return len(steps), steps[-1]

