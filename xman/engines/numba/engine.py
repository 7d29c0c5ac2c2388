"""The Numba engine: what is computed entry by entry in fused loops, products by BLAS from within, the step in one function.

Results are the interpreter's to rounding: each operator is computed in the type in which NumPy does, sums and products of
matrices in another order, and exp, log, tanh and their like to the last bits (`vectorised` says how many).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ops

from ...errors import XManError
from ...wengert import Line
from ..memory import arena
from ..plan import Buffer, Plan, flops_of
from ..program import GEMM, Built, Program
from ..text import Text, guard, own_array
from .jitted import numba_itself
from .kernels import Kernels
from .layout import Layout
from .schedule import Item

LOOPS = 1000  # lines of loops, 20 ms each: more take Numba twenty seconds and longer
INLINED = {"sin": 12, "cos": 12, **dict.fromkeys(  # takes as long to compile as so many lines of a loop
    ("exp", "expm1", "log", "log1p", "logaddexp", "sigmoid", "softplus", "erf", "power"), 5)}
AT_ONCE = 60  # items of a kernel: Numba's time grows faster than a kernel's length


def build(program: Program) -> Built:
    """The program in Numba, compiled at its first run, or loaded from the cache on disk."""
    numba_itself()
    writer = Writer(program)
    run = writer.function()
    source = f"{writer.kernels.text}\n\n{writer.text}"
    lines = source.count("\n")
    if not program.asked and lines + sum(INLINED.get(op, 0) for _, op, _ in program.steps) > LOOPS:
        raise XManError(f"Numba would take long to compile {lines:,} lines of loops")
    return Built(run, source, writer.plan())


class Writer:
    """Writes the function in Python, which looks at the values, takes memory, calls the kernels and hands out the results."""

    def __init__(self, program: Program):
        self.program, self.kinds, self.outputs = program, program.kinds, program.outputs
        self.layout = layout = Layout(program)
        names = {a for dst, _, args in layout.lines for a in (dst, *args) if isinstance(a, str)}
        self.text, self.kernels = Text(names | layout.given), Kernels(layout, names | layout.given)
        self.text.objects |= {x: np.array(v, order="C") if layout.is_array(x) else v for x, v in program.constants.items()}
        self.spaces: list[tuple] = []  # memory that no run uses now
        self.give_back = self.spaces.append

    def function(self) -> Callable:
        """The function from the values to the results."""
        text, program, layout = self.text, self.program, self.layout
        step, results, overwritten = text.free("step"), text.free("results"), program.inplace.values()
        text.add(f"def {step}({text.free('values')}):", 0)
        guard(text, program, program.original.inputs, overwritten)
        for x in program.original.inputs:
            if layout.is_array(x) and x not in overwritten:
                text.add(f"if not {x}.flags.c_contiguous: {x} = {self.text.call('contiguous', np.ascontiguousarray, x)}")
        for s in dict.fromkeys(args[1] for _, op, args in layout.lines if op == GEMM and args[1]):
            text.add(f"if {s} == 0: return None")  # BLAS would not look at the matrices
        parts = [part if isinstance(part, tuple) else self.kernels.kernel(part) for part in self.parts()]
        self.take_memory(parts)
        for x in self.outputs:
            if x in layout.arrays:
                dtype = text.object(self.kinds[x].dtype.name, self.kinds[x].dtype)
                text.add(f"{x} = {self.text.call('empty', np.empty, repr(self.kinds[x].shape), dtype)}")
        for y, x in layout.over.items():
            text.add(f"{y} = {x}")
        for part in parts:
            if len(part) == 3:
                self.interpreted(*part)
            else:
                text.add(f"if {text.free(part[0])}({', '.join(part[1])}):")
                self.leave("None", 2)
        text.add(f"{results} = {{{', '.join(f'{x!r}: {self.result(x)}' for x in self.outputs)}}}")
        for y, x in program.inplace.items():
            if y not in layout.over:
                text.add(self.text.call("copyto", np.copyto, x, self.in_python(y)))
        self.leave(results, 1)
        text.objects |= {text.free(name): kernel for name, kernel in self.kernels.compiled().items()}
        return text.function(step)

    def parts(self) -> Iterator[list[Item] | Line]:
        """The items: as many together as a kernel takes, and each line that is a call by itself."""
        run: list[Item] = []
        for item in self.layout.items:
            if run and (item.how == "call" or len(run) == AT_ONCE):
                yield run
                run = []
            if item.how == "call":
                yield item.lines[0]
            else:
                run.append(item)
        if run:
            yield run

    # ---- memory -----------------------------------------------------------------------------------------------------

    def take_memory(self, parts: list[tuple]) -> None:
        """Lines that take memory for one run, and name what Python touches of it: for kernels, for calls and for results."""
        text, layout = self.text, self.layout
        touched = {layout.root(x) for x in (*self.outputs, *self.program.inplace)}
        touched |= {layout.root(a) for part in parts if len(part) == 3 for a in (part[0], *part[2]) if isinstance(a, str)}
        views, memories = [x for x in layout.places if x in touched], self.kernels.memories

        def space() -> tuple:
            memory = arena(layout.size)
            part = lambda x: memory[layout.places[x]:layout.places[x] + layout.bytes(x)]
            return (*map(memory.view, memories.values()),
                    *(part(x).view(self.kinds[x].dtype).reshape(layout.shape(x)) for x in views))

        taken = text.object("taken", lambda: self.spaces.pop() if self.spaces else space())
        text.add(f"{text.free('memory')} = {taken}()")
        if memories or views:
            text.add(f"{', '.join([*memories, *views])}, = {text.free('memory')}")

    def leave(self, what: str, depth: int) -> None:
        self.text.add(self.text.call("give_back", self.give_back, self.text.free("memory")), depth)
        self.text.add(f"return {what}", depth)

    # ---- calls and results ------------------------------------------------------------------------------------------

    def interpreted(self, dst: str, op: str, args: tuple) -> None:
        """Lines that compute a line by its operator's own function."""
        value = self.text.free("value") if dst in self.kinds else dst
        written = [self.in_python(a) if isinstance(a, str) else self.text.literal(a) for a in args]
        self.text.add(f"with {self.text.object('errstate', np.errstate)}(all='ignore'):")
        self.text.add(f"{value} = {self.text.call(op, ops.G[op], *written)}", 2)
        if dst in self.kinds:
            self.text.add(f"if not {self.text.call('put', put, value, dst)}:")
            self.leave("None", 2)

    def in_python(self, x: str) -> str:
        """A register as an array or a number of NumPy."""
        root, kind = self.layout.root(x), self.kinds.get(x)
        if not kind:
            return x
        if not kind.array:
            return f"{root}[()]" if root in self.layout.places else root
        return root if root == x else f"{root}.reshape({kind.shape})"

    def result(self, x: str) -> str:
        """An output, as an array that nobody else has."""
        kind = self.kinds.get(x)
        if kind and (not kind.array or kind.shape and x in self.layout.arrays):
            return self.in_python(x)
        return self.text.call("own", own_array, self.in_python(x))

    def plan(self) -> Plan:
        """What the program is made of."""
        kinds, layout = self.kinds, self.layout
        calls = [f"{dst} = {op}(…)" for item in layout.items if item.how == "call" for dst, op, _ in item.lines]
        groups = [[dst for dst, _, _ in item.lines] for item in layout.items if item.group]
        buffers = [Buffer(x, layout.shape(x), kinds[x].dtype, start) for x, start in layout.places.items()]
        return Plan("numba", buffers, layout.size, sum(kinds[x].bytes for x in self.outputs if x in kinds),
                    sorted(layout.over.values()), groups, calls, flops_of(layout.lines, kinds))


def put(value: Any, out: np.ndarray) -> bool:
    """Whether value has out's shape; then it is copied there."""
    if np.shape(value) != out.shape:
        return False  # the shape depends on the values, and they are others
    out[...] = value
    return True
