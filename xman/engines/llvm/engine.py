"""The engine llvm: its Python looks at the values, takes memory, runs the code, and gives the results.

Results are the interpreter's up to rounding: operators are computed in NumPy's types, sums and products of
matrices in another order, and exp, log, tanh and their like up to their last bits (see `formulas`).
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..bodies import value_of
from ..memory import arena, array_at
from ..nests import lines
from ..nests.emission import lines_within
from ..nests.tree import Call, Loop
from ..nests.views import View
from ..plan import Buffer, Plan, flops_of
from ..program import Built, Program
from ..text import Text, own_array
from .compiled import STEP, code_of, functions
from .step import NestStep
from .threads import as_blas

# each takes the program and what the stage before it made
STAGES = [*lines.STAGES, ("text", lambda program, nests: NestStep(nests))]


def stages(program: Program) -> Iterator[tuple[str, Any]]:
    """(name, product) of each stage, from the program to LLVM's text."""
    product: tuple = ()
    for name, stage in STAGES:
        product = stage(program, *product),
        yield name, *product


def build(program: Program) -> Built:
    """The program as machine code, compiled or loaded from the disk."""
    return begin(program, apart=False)()


def begin(program: Program, apart: bool = True) -> Callable[[], Built]:
    """Do the slow part of `build`, in another process if `apart`; return a function that does the rest."""
    *_, (_, step) = stages(program)
    code = code_of(step.text, apart)

    def end() -> Built:
        threads = step.threaded * (program.threads or as_blas())
        kinds = {f"step{k}": STEP for k in range(len(step.segments))}
        steps = functions(code, kinds, step.routines, threads)
        writer = PythonWriter(step)
        run = writer.function(steps)
        return Built(run, f"{step.nests}\n\n{writer.text}", writer.plan())
    return end


class PythonWriter:
    def __init__(self, step: NestStep):
        nests = self.nests = step.nests
        self.step, self.program, self.kinds = step, nests.program, nests.kinds
        roots = self.roots = nests.tree.roots
        names = {a for dst, _, args in nests.layout.steps for a in (dst, *args) if isinstance(a, str)}
        self.text = Text({x for x in names.union(nests.arguments) if x.isidentifier()})
        for x, value in self.program.constants.items():
            if x in roots:
                kind = self.kinds[x]
                value = np.array(value, kind.dtype, order="C")[... if kind.array else ()]
            self.text.objects[x] = value
        self.called = {call.dst for call in step.calls if call.target and not self.kinds[call.dst].array}
        touched = {v.root for call in step.calls for v in (*call.views, call.target) if v}
        # the roots in the arena that Python reads or writes
        self.inside = sorted(x for x in step.places if x in touched or roots[x].place == "number")

    def name(self, root: str) -> str:
        if root in self.nests.constants:
            return self.text.object("constant", self.nests.constants[root])
        word = re.sub(r"\W|^(?=\d)", "_", f"{root}_")
        return root if root in self.nests.arguments else self.text.free(word, root)

    def function(self, steps: list[Callable]) -> Callable:
        text, program, roots, arguments = self.text, self.program, self.roots, self.text.free("arguments")
        memory = text.free("memory")
        text.begin(program, self.nests.layout.steps, self.space, [memory, *map(self.name, self.inside)])
        for x in program.original.inputs:
            if x in roots and self.kinds[x].array and x not in program.inplace.values():
                rows = text.call("contiguous", np.ascontiguousarray, x)
                text.add(f"if not {x}.flags.c_contiguous: {x} = {rows}")
            elif x in roots and not self.kinds[x].array and self.kinds[x].dtype.kind == "b":
                text.add(f"{x} = {text.call('bool_', np.bool_, x)}")
        for x in self.step.arguments:
            if roots[x].place == "output":
                text.add(f"{self.name(x)} = {text.empty(roots[x])}")
        text.add(f"{arguments} = ({', '.join([memory, *map(self.name, self.step.arguments)])},)")
        for k, call in enumerate([*self.step.calls, None]):
            if self.step.segments[k] or k == 0 and self.nests.bounds:
                text.add(f"if {text.object('run', steps[k])}({arguments}):")
                text.leave("None", 2)
            if call:
                self.call(call)
        return text.end(program, self.output_text, [y for y in program.inplace if y in self.nests.objects])

    def space(self) -> tuple:
        memory = arena(self.step.size)
        return memory, *(array_at(memory, self.step.places[x], self.roots[x]) for x in self.inside)

    def call(self, call: Call) -> None:
        text, kind = self.text, self.kinds.get(call.dst)
        value = text.free("value") if call.target and kind.array else call.dst
        text.add(f"with {text.object('errstate', np.errstate)}(all='ignore'):")
        function = value_of(call.op, "llvm")
        text.add(f"{value} = {text.call(call.op, function, *map(self.argument, call.args))}", 2)
        if call.target:
            text.add(f"if not {text.call('put', put_into, value, self.name(call.target.root))}:")
            text.leave("None", 2)

    def argument(self, a: Any) -> str:
        if not isinstance(a, View):
            return self.text.literal(a)
        if a.root in self.called:  # as it was given: a number of Python's differs from NumPy's
            return a.root
        if a.root in self.program.constants and not self.kinds[a.root].array:
            return self.text.literal(self.program.constants[a.root])
        number = a.root in self.nests.scalars and a.root not in self.nests.arguments
        return self.name(a.root) + "[()]" * number

    def output_text(self, x: str) -> str:
        """The text of an output, as a number, or an array that nothing else uses."""
        if x in self.nests.objects:
            return self.text.call("own", own_array, x)
        name = self.name(self.nests.results[x].root)
        return name if self.kinds[x].shape else f"{name}[()]"

    def plan(self) -> Plan:
        roots, loops = self.roots, [node for node in self.nests.tree.body if isinstance(node, Loop)]
        groups = [list(dict.fromkeys(line.target.root for line in lines_within(node))) for node in loops]
        calls = [f"{call.dst} = {call.op}(…)" for call in self.step.calls]
        buffers = [Buffer(x, roots[x].shape, roots[x].dtype, start) for x, start in self.step.places.items()]
        outputs = sum(root.bytes for root in roots.values() if root.place == "output")
        updates = sorted(self.program.inplace[y] for y in self.nests.direct)
        flops = flops_of(self.nests.layout.steps, self.kinds)
        program = self.program
        return Plan("llvm", buffers, self.step.size, outputs, updates, groups, calls, flops,
                    products=lambda: [*program.stages, *stages(program)])


def put_into(value: Any, out: np.ndarray) -> bool:
    """Copy value into out if it has the same shape; return whether it has."""
    if np.shape(value) != out.shape:
        return False  # the shape depends on the values, which have changed
    out[...] = value
    return True
