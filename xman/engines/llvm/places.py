"""The function to which the nodes of a tree are written: it knows where the numbers of its roots are."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..nests.views import View
from .arithmetic import Number, number_at
from .function import Function, in_memory

if TYPE_CHECKING:
    from .step import NestStep

# bytes of an object of CPython before a tuple's items, and before an array's pointer or a number (`compiled`
# makes sure)
ITEMS, DATA = 24, 16
ON_STACK = 4096  # bytes: the largest arena that a step of a loop has on the stack


class StepFunction(Function):
    """A function of a program that is being written; it knows where roots begin."""

    def __init__(self, step: NestStep):
        super().__init__(step.declared)
        self.step, self.roots = step, step.roots
        self.where: dict[str, str] = {}
        self.arena = self.item(0)
        self.entry += [" %thread = call ptr @PyEval_SaveThread()"] * (not step.outer)

    def item(self, k: int, number: bool = False) -> str:
        """The pointer to the numbers of item k: a step of a loop has it as it is, and a program an object."""
        first = 0 if self.step.outer else ITEMS // 8
        pointer = self.early(f"load ptr, ptr {self.early(f'getelementptr ptr, ptr %args, i64 {first + k}')}")
        if not self.step.outer:
            pointer = self.early(f"getelementptr i8, ptr {pointer}, i64 {DATA}")
            pointer = pointer if number else self.early(f"load ptr, ptr {pointer}")
        return pointer

    def pointer(self, x: str) -> str:
        if x not in self.where:
            step, root = self.step, self.roots[x]
            if x in step.arguments:
                number = root.place == "given" and x in step.nests.kinds and not step.nests.kinds[x].array
                self.where[x] = self.item(1 + step.arguments.index(x), number)
            elif step.outer and step.size <= ON_STACK:
                self.where[x] = self.alloca(f"[{root.bytes} x i8]")
            else:
                self.where[x] = self.early(f"getelementptr i8, ptr {self.arena}, i64 {step.places[x]}")
        return self.where[x]

    def place(self, view: View, loops: Sequence[str] = ()) -> str:
        """The pointer to the part of a view at which loops over its first axes are."""
        terms = {index: s for index, s in zip(loops, view.strides, strict=False) if s}
        T, base = in_memory(self.roots[view.root].dtype), self.pointer(view.root)
        return self.entry_at(T, base, self.sum(terms, view.offset))

    def dtype(self, view: View) -> np.dtype:
        return self.roots[view.root].dtype

    def number(self, view: View) -> Number:
        return number_at(self, self.dtype(view), self.place(view))
