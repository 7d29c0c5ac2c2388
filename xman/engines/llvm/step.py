"""The function of a program: it runs nests and products one after the other, and knows the places of roots.

There are several functions if NumPy computes something in between. Each takes a tuple of Python's: the arena,
the inputs, then the outputs, all of them NumPy's arrays or numbers. A function returns 1 if the values are
not for it.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ..memory import ALIGNED, Event, placed
from ..nests.builder import Builder
from ..nests.tree import Applied, Call, Line, Loop, Product
from ..plan import flops_of
from .arithmetic import INDEX, number_at
from .elementary import definitions
from .emit import Nest
from .function import HINTS, in_memory
from .loops import write_applied
from .places import StepFunction
from .products import write_product, write_routine
from .threads import chunks_of, write_chunks

FEW = 16  # numbers of a root: the most that a step of a loop keeps in processor registers


class Item(NamedTuple):
    """A part of a function. roots: those that it touches. write: writes its text; None for a Call."""
    roots: list[str]
    write: Callable[[StepFunction], None] | None


class NestStep:
    """The text of a program. places: of roots in the arena. size: of the arena. arguments: the items of each
    function's tuple.

    outer: the program that runs these lines as one step; the tuple then holds pointers to numbers, and the
    text is a part of outer's, as `body`. work: about how many operations it has. threaded: whether threads
    run some of its nests.
    """

    def __init__(self, nests: Builder, outer: NestStep | None = None):
        self.nests, self.roots, self.tree, self.outer = nests, nests.tree.roots, nests.tree, outer
        self.declared, self.names = (outer.declared, outer.names) if outer else ({}, {})
        self.filled: set[str] = set()
        self.threaded = False
        self.work = flops_of(nests.layout.steps, nests.kinds)
        items = self.items()
        self.places, self.size = self.memory(items)
        self.arguments = [x for x, root in self.roots.items() if root.place in ("given", "output")]
        self.calls = [node for node in self.tree.body if isinstance(node, Call)]
        ends = [-1, *(k for k, item in enumerate(items) if not item.write), len(items)]
        self.segments = [items[k + 1:end] for k, end in pairwise(ends)]  # what lies between two calls
        self.body = f"body{len(self.declared)}"
        functions = [self.function(k, segment) for k, segment in enumerate(self.segments)]
        self.declared.update(dict.fromkeys(functions))
        if not outer:
            texts = [text.replace("NAME", name, 1) for text, name in self.names.items()]
            self.text = "\n".join([OF_PYTHON, *definitions(self.declared, texts), *texts, *HINTS, ""])
            self.routines = re.findall(r"^declare \w+ @xman_(\w+)", self.text, re.M)

    def __str__(self) -> str: return self.text

    def items(self) -> list[Item]:
        """An item for each node at the top of the tree; neighbouring single numbers share one."""
        items: list[Item] = []
        touched_by: dict[str, list[str]] = {}  # the roots that Python's objects hold
        for numbers, nodes in groupby(self.tree.body, lambda node: isinstance(node, Line)):
            for group in [[*nodes]] if numbers else [[node] for node in nodes]:
                node, = group[:1]
                if isinstance(node, (Line, Loop)):
                    items.append(self.nest(group))
                    continue
                touched = [v.root for v in node.views] + ([node.target.root] if node.target else [])
                write: Callable[[StepFunction], None] | None = None
                if isinstance(node, Applied):
                    steps = [NestStep(run.nests, self) for run in node.runs]
                    self.work += node.size * sum(step.work for step in steps)
                    space = self.tree.root("space", (0,), np.uint8).root
                    self.roots[space].size = max(step.size for step in steps)
                    touched.append(space)
                    write = partial(write_applied, node=node, steps=steps, space=space)
                elif isinstance(node, Call):
                    touched += [x for a in node.args if isinstance(a, str) for x in touched_by.get(a, ())]
                    touched_by |= {} if node.target else {node.dst: touched}
                else:
                    write = partial(write_product if isinstance(node, Product) else write_routine, node=node)
                items.append(Item(list(dict.fromkeys(touched)), write))
        return items

    def nest(self, group: list) -> Item:
        """The item of a loop, which is cut into chunks if that pays, or of several single numbers."""
        node = group[0]
        self.tree.narrow_numbers(group)
        chunks = chunks_of(node, self.tree) if isinstance(node, Loop) and not self.outer else None
        nest = Nest(self.tree, group, self.declared, bool(chunks))
        few = self.outer and all(self.roots[x].size <= FEW for x in nest.memory)
        text = nest.named("NAME", "alwaysinline" if few else "noinline")
        name, memory = self.names.setdefault(text, f"nest{len(self.names)}"), list(nest.memory)
        if not chunks:
            return Item(memory, partial(write_call, nest=name, memory=memory))
        self.threaded = True
        return Item([*memory, *chunks.sums], partial(write_chunks, nest=name, chunks=chunks, memory=memory))

    def memory(self, items: list[Item]) -> tuple[dict[str, int], int]:
        """({root: its place in the arena}, the bytes of the arena)."""
        written: set[str] = set()
        events = []
        for item in items:
            inside = [x for x in item.roots if self.roots[x].place in ("arena", "number")]
            events.append(Event(inside, {x: self.roots[x].bytes for x in inside if x not in written}))
            written.update(inside)
        events.append(Event([x for x in written if self.roots[x].place == "number"], {}))
        places, size = placed(events)
        return places, size + ALIGNED

    def function(self, k: int, segment: list[Item]) -> str:
        function = StepFunction(self)
        for x, low, high in self.nests.bounds if k == 0 else ():
            bounded(function, x, low, high)
        for roots, write in segment:
            for x in roots:
                self.fill(function, x)
            write(function)
        free = [] if self.outer else [" call void @PyEval_RestoreThread(ptr %thread)"]
        name = f"internal i64 @{self.body}" if self.outer else f"i64 @step{k}"
        left = ["bad:", *free, " ret i64 1"] * function.leaves
        return function.text(f"define {name}(ptr %args)", *free, " ret i64 0", *left)

    def fill(self, function: StepFunction, x: str) -> None:
        """Write zeros into a root to which lines add, before the first item that touches it."""
        starts = x not in self.filled and self.roots[x].place != "given"
        if starts and any(isinstance(w, Line) and w.mode == "into" for w in self.tree.writers.get(x, ())):
            zeros = "i8 0", f"i64 {self.roots[x].bytes}", "i1 false"
            function.call("void", "llvm.memset.p0.i64", f"ptr {function.pointer(x)}", *zeros)
        self.filled.add(x)


def write_call(function: StepFunction, nest: str, memory: Sequence[str]) -> None:
    pointers = ", ".join(f"ptr {function.pointer(x)}" for x in memory)
    function.put(f"call void @{nest}({pointers})")


def bounded(function: StepFunction, x: str, low: int, high: int) -> None:
    """Leave the program if a root has a whole number outside of low … high − 1."""
    root = function.roots[x]
    least = max(low, 0) if root.dtype.kind == "u" else low  # as large as 2⁶³ are below it
    if root.size:
        with function.over(root.size) as (k,):
            place = function.entry_at(in_memory(root.dtype), function.pointer(x), k)
            number = number_at(function, root.dtype, place).to(INDEX)
            function.leave((number < least) | (number >= high))


OF_PYTHON = """declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)"""
