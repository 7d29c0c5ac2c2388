"""The text of what Numba compiles: a function for the loops of each group, and kernels that call them and BLAS in turn."""
from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Sequence

import numpy as np

from ...wengert import Line, registers
from ..text import Text
from . import cache
from .groups import Group
from .jitted import edition
from .layout import Layout
from .loops import TYPES, Loops
from .schedule import Item

HEAD = """# compiled with {edition}
from builtins import abs as {abs}, range as {range}
from math import inf as {inf}, nan as {nan}
from numba import njit as {njit}
from numpy import array as {array}, bool_ as {b1}, float32 as {f4}, float64 as {f8}, int64 as {i8}
from xman.engines.numba.jitted import function as {function}, product as {product}
{product} = {product}()
"""
COMMAND = re.compile(r"{(\w+)}")


class Kernels:
    """The kernels of a layout. memories: the names of the program's memory, as arrays of each type that is used."""

    def __init__(self, layout: Layout, names: Collection[str]):
        self.layout, self.kinds, self.text = layout, layout.kinds, Text(names)
        self.helpers = {self.text.free(word) for word in COMMAND.findall(HEAD) if word != "edition"}
        self.memories: dict[str, np.dtype] = {}
        self.imports: dict[str, None] = {}       # lines of the head
        self.functions: dict[tuple, str] = {}    # the loops, by what they say
        self.bodies: dict[str, list[str]] = {}
        self.calls: dict[str, list[int]] = {}    # of the loops: where in `starts` each begins
        self.starts: list[int] = []              # where the arrays of each call of loops begin in the memory
        self.products: list[list[int]] = []      # what BLAS has to know of each product
        self.names: list[str] = []

    def kernel(self, items: Sequence[Item]) -> tuple[str, list[str]]:
        """A kernel that does these items: its name, and the names of what it has to be called with."""
        text, before = self.text, self.text.lines
        text.lines, self.used = [], {}
        for item in items:
            self.loops(item.group) if item.group else self.gemm(item.lines[0])
        written, text.lines = text.lines, before
        name = text.free(f"kernel{len(self.names)}")
        self.names.append(name)
        text.add(f"@{text.free('njit')}(cache=True, error_model='numpy')", 0)
        text.add(f"def {name}({', '.join(self.used.values())}):", 0)
        for flat, array in self.used.items():
            if flat != array:
                text.add(f"{flat} = {array}.ravel()")
        text.lines += [*written, "    return 0", "", ""]
        return name, list(self.used.values())

    def compiled(self) -> dict[str, Callable]:
        """The kernels by name, from the module that their text makes."""
        free = self.text.free
        head = HEAD.format(edition=edition(), **{word: free(word) for word in COMMAND.findall(HEAD) if word != "edition"})
        tables = [f"{free('places')} = {free('array')}({self.starts or [0]})",
                  f"{free('products')} = {free('array')}({self.products or [[0]]})"]
        bodies = [line for name in self.bodies for line in self.body(name)]
        self.text.lines = [*head.splitlines(), *self.imports, *tables, "", "", *bodies, *self.text.lines]
        module = cache.module(str(self.text)) if self.names else None
        return {name: getattr(module, name) for name in self.names}

    def body(self, name: str) -> list[str]:
        """The function of loops; with its places written in where it is called once, so that LLVM knows that they are apart."""
        first, *more = self.calls[name]
        if more:
            return self.bodies[name]
        table = rf"{self.text.free('places')}\[{self.text.free('at')} \+ (\d+)\]"
        return [re.sub(table, lambda m: str(self.starts[first + int(m[1])]), line) for line in self.bodies[name]]

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loops(self, group: Group) -> None:
        """A call of the function with the loops of a group: the same for groups that differ in their places alone."""
        text, free, before, layout = self.text, self.text.free, self.text.lines, self.layout
        text.lines, places = [], {}

        def place(x: str) -> str | None:
            found = self.place(x)
            if found and found not in places:
                places[found] = free(f"{layout.over.get(layout.root(x), layout.root(x))}_")
            return places[found] if found else None

        Loops(text, group, self.kinds, place, self.operator, layout.kept, layout.rowwise).write()
        body, text.lines = text.lines, before
        numbers = [a for a in dict.fromkeys(a for _, _, args in group.lines for a in registers(args))
                   if a in self.layout.given and not self.kinds[a].array]
        self.used.update(dict(zip(numbers, numbers, strict=True)))
        starts, head = [], []
        for (array, start), name in places.items():
            offset = f"[{free('places')}[{free('at')} + {len(starts)}]:]" if array in self.memories else ""
            head.append(f"    {name} = {array}{offset}")
            starts += [start] * bool(offset)
        arguments = [*dict.fromkeys(array for array, _ in places), *numbers]
        head.insert(0, f"({', '.join([*arguments, free('at')])}):")
        key = canonical([*head, *body], self.helpers)
        if key not in self.functions:
            self.functions[key] = name = free(f"loops{len(self.functions)}")
            self.bodies[name] = [f"@{free('njit')}(error_model='numpy')", f"def {name}{head[0]}", *head[1:], *body, "", ""]
        self.calls.setdefault(self.functions[key], []).append(len(self.starts))
        begin = f"{free('i8')}({len(self.starts)})"  # a bare number would be compiled in
        text.add(f"{self.functions[key]}({', '.join([*arguments, begin])})")
        self.starts += starts

    def place(self, x: str) -> tuple[str, int] | None:
        """The flat array that a register lies in, and where; None for an input that is a number."""
        x = self.layout.root(x)
        if x in self.layout.places:
            dtype = self.kinds[x].dtype
            return self.memory(dtype), self.layout.places[x] // dtype.itemsize
        x = self.layout.over.get(x, x)
        flat = self.text.free(f"{x}_flat") if self.kinds[x].array else x
        self.used.setdefault(flat, x)
        return (flat, 0) if self.kinds[x].array else None

    def memory(self, dtype: np.dtype) -> str:
        """The name of the memory as an array of that type."""
        name = self.text.free(f"memory_{dtype.str[1:]}")
        self.memories[name] = dtype
        self.used.setdefault(name, name)
        return name

    def operator(self, op: str, dtype: np.dtype) -> str:
        """The name of an operator's function."""
        name = self.text.free(f"{op}_{TYPES[dtype]}")
        self.imports[f"{name} = {self.text.free('function')}({op!r}, {dtype.name!r})"] = None
        self.helpers.add(name)
        return name

    # ---- products ---------------------------------------------------------------------------------------------------

    def gemm(self, line: Line) -> None:
        """A call of BLAS, after a copy of what is added where that is to stay as it is."""
        dst, _, (alpha, s, a, ta, b, tb, c) = line
        kind, add, free = self.kinds[dst], self.text.add, self.text.free
        (m, n), k, memory = kind.shape, self.kinds[a].shape[0 if ta else 1], self.memory(kind.dtype)
        (out, start), (a_, a0), (b_, b0) = self.place(dst), self.place(a), self.place(b)
        if c and self.place(c) != (out, start):
            added, first = self.place(c)
            i = free("i")
            add(f"for {i} in {free('range')}({m * n}):")
            add(f"{out}[{start} + {i}] = {added}[{first} + {i}]", 2)
        self.products.append([
            ord({"f4": "s", "f8": "d"}[TYPES[kind.dtype]]), start, n, a0, self.kinds[a].shape[1], ord("t" if ta else "n"),
            b0, self.kinds[b].shape[1], ord("t" if tb else "n"), m, k, int(c is not None)])
        factor = f"{alpha!r} * {self.number(s)}" if s else repr(alpha)
        add(f"# {dst} = {f'{c} + ' if c else ''}{factor} * {a}{'.T' * ta} @ {b}{'.T' * tb}")
        row = f"{free('i8')}({len(self.products) - 1})"
        add(f"{free('product')}({out}, {a_}, {b_}, {factor}, {memory}, {free('products')}, {row})")

    def number(self, s: str) -> str:
        """An input with one number."""
        found = self.place(s)
        return f"{found[0]}[0]" if found else s


def canonical(lines: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """The lines with their names, but for those that are known, numbered in the order in which they come."""
    numbered: dict[str, str] = {}

    def rename(match: re.Match) -> str:
        name = match[0]
        return name if name in known or keyword.iskeyword(name) else numbered.setdefault(name, f"x{len(numbered)}")

    return tuple(re.sub(r"\b[^\W\d]\w*", rename, line) for line in lines)
