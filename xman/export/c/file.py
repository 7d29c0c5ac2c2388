"""From a list to a file of C and its header."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ops

from ...engines.nests.builder import Builder
from ...engines.nests.lines import nests_of
from ...engines.nests.tree import Call
from ...engines.program import Program
from ...engines.specialise import program_of
from ...engines.specialise.loops import capacity_of_loops
from ...errors import XManError
from ...files.whole import write_whole
from ...interpreters import eval
from ...passes import simplify
from ...passes.lower import spelt
from ...passes.patterns import shaped
from ...validity import refuse_line
from ...wengert import Line, Steps, WengertList, needed, registers
from ..to_onnx import export_arguments
from .expressions import c_type, helpers, literal
from .nests import CFunction, plain

LARGEST = 2 ** 22  # numbers: the most in all constants, which a compiler reads as text


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
        raise XManError(f"rows names {rows[0]!r}: a file of C is for one size; give examples with as many rows as "
                        "one call is to take")
    steps, values, outputs, constants, _ = export_arguments(steps, values, outputs, constants, rows)
    name = identifier(Path(path or "model").stem)
    for x in steps.inputs:
        if np.asarray(values[x]).dtype.name not in TYPES:
            raise XManError(f"{x} is {np.asarray(values[x]).dtype}, and a file of C has arrays of "
                            f"{', '.join(TYPES)}")
    kept = [(x, "alias", (np.asarray(values[x]),)) for x in constants]
    nests = nests_of_list(WengertList(needed([*kept, *steps], [*outputs, *inplace.values()])), values, outputs, inplace)
    if calls := [node for node in nests.tree.calls if isinstance(node, Call)]:
        refuse_line(*line_of(calls[0].dst, nests.program, steps), f"needs {calls[0].op}, which has no form in C; compute "
                    "it outside, and give it as an input")
    source, header = CFile(name).texts(nests, steps.inputs, facts)
    if path is not None:
        write_whole(path, source.encode())
        write_whole(Path(path).with_name(f"{name}.h"), header.encode())
    return source, header


def nests_of_list(steps: WengertList, values: Mapping[str, Any], outputs: list[str],
                  inplace: Mapping[str, str]) -> Builder:
    """The list as nests; what would be a call of NumPy is its formula for libraries of arrays, if it has one."""
    reference, written = eval(steps, values), set()  # an error of the list is raised here, as a sentence
    while True:
        program = program_of(steps, values, tuple(outputs), inplace, capacity_of_loops(steps, values))
        nests = nests_of(program)
        facts = {node.op: ops.facts_of(node.op) for node in nests.tree.calls
                 if isinstance(node, Call) and node.op not in written}
        formulas = {op: row.elsewhere or row.formula for op, row in facts.items() if row.elsewhere or row.formula}
        if not formulas:
            for x in outputs:
                if nests.kinds[x].dtype != (dtype := np.asarray(reference[x]).dtype):
                    k, line = line_of(x, program, steps)
                    refuse_line(k, line, f"is {dtype}, and by the formulas that C needs {nests.kinds[x].dtype}")
            return nests
        written |= formulas.keys()
        rewrites = [shaped(op, spelt(op, facts[op]._replace(formula=by))) for op, by in formulas.items()]
        steps = simplify(steps, [*outputs, *inplace.values()], values, rewrites)


TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def line_of(dst: str, program: Program, steps: WengertList) -> tuple[int, Line]:
    """The number of the line that a register of the program is, or is a part of, and the line."""
    numbered, reached = {line[0]: (k, line) for k, line in enumerate(steps, 1)}, {dst}
    for x, _, args in program.steps:
        if reached.intersection((x, *registers(args))):
            reached.add(x)
            if x in numbered:
                return numbered[x]
    return len(steps), steps[-1]


def identifier(stem: str) -> str:
    """The name of a file as an identifier: with _run at its end it is no word of C's, and no function."""
    return re.sub(r"^(?=\d)|^$", "m", plain(stem))


def comment(text: str) -> str:
    """Text that is safe in a comment."""
    text = text.encode("ascii", "backslashreplace").decode().replace("*/", "* /").replace("/*", "/ *")
    return re.sub(r"\s+", " ", text.replace("??", "? ?"))


class CFile:
    """A file that is being written. name: of its function, without _run."""

    def __init__(self, name: str):
        self.name = name
        self.constants: dict[tuple, str] = {}
        self.arrays: list[str] = []
        self.functions: list[str] = []
        self.bytes = self.numbers = self.steps = 0

    def constant(self, a: np.ndarray) -> str:
        """The name of a constant array."""
        key = a.dtype, a.shape, a.tobytes()
        if key not in self.constants:
            self.constants[key] = name = f"c{len(self.constants)}"
            self.numbers += a.size
            if self.numbers > LARGEST:
                raise XManError(f"the constants are more than {LARGEST:,} numbers, too many for a file of C: leave "
                                "them inputs")
            words = [literal(x, a.dtype) for x in a.ravel()] or ["0"]
            rows = [", ".join(words[k:k + 8]) for k in range(0, len(words), 8)]
            self.arrays.append(f"static const {c_type(a.dtype)} {name}[{len(words)}] = {{\n    "
                               + ",\n    ".join(rows) + "\n};")
        return self.constants[key]

    def step(self, nests: Builder) -> tuple[str, list[str]]:
        """(name, roots): the function of one step of a loop, and its parameters in order."""
        roots = [x for x, root in nests.tree.roots.items() if root.place in ("given", "output")]
        names = {x: f"p{k}_{plain(x)}" for k, x in enumerate(roots)}
        self.steps += 1
        name = f"step{self.steps}"
        self.function(name, nests, names, "static ")
        return name, roots

    def function(self, name: str, nests: Builder, names: dict[str, str], storage: str = "") -> None:
        function = CFunction(self, nests, names)
        self.bytes += function.bytes
        body = "\n".join(function.out)
        unread = [f"    (void){p};\n" for p in names.values() if not re.search(rf"\b{p}\b", body)]
        head = f"{storage}int {name}({', '.join(parameters(nests, names, 'restrict '))})"
        self.functions.append(f"{head} {{\n{''.join(unread)}{body}\n    return 0;\n}}")

    def texts(self, nests: Builder, inputs: Iterable[str], facts: Mapping[str, str]) -> tuple[str, str]:
        """(source, header) of a program. inputs: in the order of the function's parameters."""
        program, roots, name = nests.program, nests.tree.roots, f"{self.name}_run"
        overwritten = {*program.inplace.values()}
        output = {view.root: x for x, view in nests.results.items()}
        names: dict[str, str] = {}
        taken: set[str] = set()
        for root, x in ({x: x for x in inputs if x in program.original.inputs} | output).items():
            word = f"{'out' if root in output else 'io' if x in overwritten else 'in'}_{plain(x)}"
            while word in taken:
                word += "_"
            taken.add(word)
            names[root] = word
        self.function(name, nests, names)
        text = "\n\n".join([*self.arrays, *helpers("\n".join(self.functions)), *self.functions])
        about = [f"{comment(key)}: {comment(str(x))}" for key, x in facts.items()]
        about += [f"{p}: {comment(x)} {comment(str(roots[x].shape if x in roots else ()))}" for x, p in names.items()]
        title = f"/* {self.name}.c, written by xman. "
        header = "\n".join([
            f"/* {self.name}.h, written by xman. It returns 0, or 1 if the values are not for it.",
            f"   Arrays lie row by row, and do not overlap. {self.bytes:,} bytes of static memory: one thread at a time.",
            *(f"   {line}" for line in about), "*/", f"#ifndef {self.name.upper()}_RUN_H",
            f"#define {self.name.upper()}_RUN_H", "#include <stdbool.h>", "#include <stdint.h>", "#ifdef __cplusplus",
            'extern "C" {', "#endif", f"int {name}({', '.join(parameters(nests, names))});", "#ifdef __cplusplus", "}",
            "#endif", "#endif", ""])
        includes = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
        return f'{title}*/\n{includes}#include "{self.name}.h"\n\n{text}\n', header


def parameters(nests: Builder, names: Mapping[str, str], qualifier: str = "") -> list[str]:
    return [f"{'' if nests.tree.writers.get(x) else 'const '}{c_type(nests.tree.roots[x].dtype)} *{qualifier}{p}"
            for x, p in names.items()]
