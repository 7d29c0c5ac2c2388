"""The Numba engine: what is computed entry by entry in fused loops, products by BLAS from within, the step in one function.

Results are the interpreter's to rounding: each operator is computed in the type in which NumPy does, sums and products of
matrices in another order, and exp, log, tanh and their like to the last two bits or so (`vectorised`).
"""
from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

import ops

from ..errors import extra
from ..wengert import Line
from . import cache
from .compiled import Built
from .folded import folded, ordered
from .groups import PLACE, level, role
from .jitted import edition
from .loops import TYPES, Loops, loopable
from .memory import ALIGNED, Event, arena, placed
from .plan import Buffer, Plan, flops_of
from .program import Program, held
from .schedule import Item, scheduled
from .text import Text, guard, own_array

HEAD = """from math import inf as {inf}, nan as {nan}
from numba import njit as {njit}
from numpy import array as {array}, bool_ as {b1}, float32 as {f4}, float64 as {f8}, int64 as {i8}
from builtins import abs as {abs}, range as {range}
from xman.engines.jitted import function as {function}, product as {product}
{product} = {product}()
"""
AT_ONCE = 60  # items of a kernel: Numba's time grows faster than a kernel's length
SHAPED = {"broadcast", "oneHot", "astype"}  # operators whose second argument says no more than a shape or a type


def build(program: Program) -> Built:
    """The program in Numba, compiled at its first run, or loaded from the cache on disk."""
    extra("numba", "fast", "the engine numba")
    writer = Writer(program)
    run = writer.function()
    return Built(run, f"{writer.kernels}\n\n{writer.text}", writer.plan())


class Writer:
    """Writes a program: kernels that Numba compiles, and a function in Python that checks the values and calls them."""

    def __init__(self, program: Program):
        self.program, self.kinds, self.outputs = program, program.kinds, program.outputs
        lines = [self.bare(line) for line in folded(program, rows=False)]
        self.roots: dict[str, str] = {}
        for dst, op, args in lines:
            if op in ("reshape", "alias") and self.known(dst, args[0]) and self.kinds[dst].dtype == self.kinds[args[0]].dtype:
                self.roots[dst] = self.roots.get(args[0], args[0])
        hows = {line[0]: self.how(line) for line in lines}
        holds = held(lines, self.kinds) | {x: frozenset([root]) for x, root in self.roots.items()}
        uncertain = [k for k, line in enumerate(lines) if hows[line[0]] == "call" or line[1] == "oneHot"]
        lines, direct = ordered(lines, program.inplace, self.outputs, holds, self.kinds, max(uncertain, default=-1))
        self.over = {y: program.inplace[y] for y in direct if hows[y] == "gemm" or hows[y] == "loops" and level(
            next(line for line in lines if line[0] == y), self.kinds) == PLACE}
        self.lines = lines
        self.items = scheduled(lines, lambda line: hows[line[0]], self.kinds, self.roots, self.over)
        self.kept = self.read_elsewhere()
        self.rowwise = {dst for item in self.items if item.group for dst in self.between_turns(item)}
        self.arrays = {x for x in self.outputs if x in hows and x not in self.roots and self.array(x)} - {*self.over}
        events = [Event({self.root(a) for line in item.lines for a in line[2] if isinstance(a, str)},
                        {dst: self.bytes(dst) for dst, _, _ in item.lines if self.buffered(dst)}, self.heirs(item))
                  for item in self.items]
        events.append(Event({self.root(x) for x in (*self.outputs, *program.inplace)}, {}))  # what is taken out at the end
        self.places, size = placed(events)
        self.size = size + ALIGNED  # the factors of products stand before all else
        names = {a for dst, _, args in lines for a in (dst, *args) if isinstance(a, str)}.union(program.original.inputs)
        self.text, self.kernels = Text(names), Text(names)
        self.functions: dict[tuple, str] = {}    # the loops, by what they say
        self.bodies: dict[str, list[str]] = {}
        self.imports: dict[str, None] = {}       # lines of the head
        self.starts: list[int] = []              # where the arrays of each call of loops begin in the memory
        self.rows: list[list[int]] = []          # what BLAS has to know of each product
        self.helpers = {self.kernels.free(word) for word in re.findall(r"{(\w+)}", HEAD)}

    # ---- what goes where --------------------------------------------------------------------------------------------

    def known(self, *names: str) -> bool:
        return all(x in self.kinds for x in names)

    def array(self, x: str) -> bool:
        return x in self.kinds and self.kinds[x].array

    def root(self, x: str) -> str:
        return self.roots.get(x, x)

    def bare(self, line: Line) -> Line:
        """The line without arguments that only say which shape or type it has, when loops compute it."""
        dst, op, args = line
        short = (dst, op, args[:1])
        return short if op in SHAPED and loopable(line, self.kinds) and level(short, self.kinds) else line

    def how(self, line: Line) -> str:
        """How a line is computed: by `gemm`, in `loops`, as a `view`, or by a `call` of the interpreter's function."""
        dst, op, args = line
        if dst in self.roots:
            return "view"
        if op == "gemm":
            return "gemm"
        return "loops" if loopable(line, self.kinds) and level(line, self.kinds) else "call"

    def read_elsewhere(self) -> set[str]:
        """The registers whose numbers are read by another item than that which computes them, or by nobody but the user."""
        home = {line[0]: k for k, item in enumerate(self.items) for line in item.lines}
        kept = {self.root(x) for x in (*self.outputs, *self.program.inplace)}
        for k, item in enumerate(self.items):
            for _, _, args in item.lines:
                kept.update(self.root(a) for a in args if isinstance(a, str) and home.get(self.root(a), -1) != k)
        return kept | {dst for item in self.items if not item.group for dst, _, _ in item.lines}

    def between_turns(self, item: Item) -> set[str]:
        """The registers of a group whose numbers wait for a later turn through the columns of the same row, and no longer."""
        group = item.group
        return {a for dst, _, args in group.lines for a in args if isinstance(a, str) and group.levels.get(a) == PLACE
                and group.turns[a] < group.turns[dst] and a not in self.kept}

    def bytes(self, x: str) -> int:
        shape = self.kinds[x].shape if x in self.kinds else ()
        return self.kinds[x].dtype.itemsize * int(np.prod(shape[-1:] if x in self.rowwise else shape))

    def buffered(self, x: str) -> bool:
        return x in self.kinds and (x in self.kept or x in self.rowwise) and x not in self.arrays and x not in self.over

    def heirs(self, item: Item) -> dict[str, list[str]]:
        """For each register that is computed, those whose memory it may take: nothing of them is read after it is written."""
        if item.how == "gemm":
            (dst, _, args), = item.lines
            return {dst: [args[6]] if args[6] and args[6] not in (args[2], args[4]) else []}
        if not item.group:
            return {}
        group, last, other = item.group, {}, set()
        for dst, _, args in group.lines:
            for a in args:
                if isinstance(a, str) and a not in group.levels:
                    last[a] = max(last.get(a, 0), group.turns[dst])
                    if a in self.roots or role(self.kinds[a].shape, group.shape) != PLACE or group.levels[dst] in ("row", "rows"):
                        other.add(self.root(a))
        return {dst: [a for a in last if a not in other and last[a] <= group.turns[dst] and self.kinds[a].dtype == self.kinds[dst].dtype]
                for dst in group.levels if group.levels[dst] == PLACE and dst not in self.rowwise}

    # ---- kernels ----------------------------------------------------------------------------------------------------

    def kernel(self, items: list[Item]) -> tuple[str, list[str]]:
        """A function that does these items, and what the function in Python calls it with."""
        text, before = self.kernels, self.kernels.lines
        text.lines, self.used = [], {}
        for item in items:
            self.loops(item.group) if item.group else self.gemm(item.lines[0])
        written, text.lines = text.lines, before
        name = text.object(f"kernel{self.count('kernel')}", object())
        text.add(f"@{text.free('njit')}(cache=True, error_model='numpy')", 0)
        text.add(f"def {name}({', '.join(self.used.values())}):", 0)
        for flat, array in self.used.items():
            if flat != array:
                text.add(f"{flat} = {array}.ravel()")
        text.lines += [*written, "    return 0", "", ""]
        return name, list(self.used.values())

    def count(self, word: str) -> int:
        return sum(name.startswith(word) for name in self.kernels.objects)

    def loops(self, group: Group) -> None:
        """A call of the function with the loops of a group: the same for groups that differ in their places alone."""
        text, free, before = self.kernels, self.kernels.free, self.kernels.lines
        text.lines, places = [], {}

        def place(x: str) -> str | None:
            found = self.place(x)
            if found and found not in places:
                places[found] = text.free(f"{self.over.get(self.root(x), self.root(x))}_")
            return places[found] if found else None

        Loops(text, group, self.kinds, place, self.operator, self.kept, self.rowwise).write()
        body, text.lines = text.lines, before
        numbers = [a for a in dict.fromkeys(a for _, _, args in group.lines for a in args if isinstance(a, str))
                   if a in self.program.original.inputs and not self.kinds[a].array]
        for a in numbers:
            self.used.setdefault(a, a)
        arrays = list(dict.fromkeys(array for array, _ in places))
        starts = [start for array, start in places if array.startswith("memory")]
        at = iter(range(len(starts)))
        head = [f"    {name} = {array}[{free('places')}[{free('at')} + {next(at)}]:]" if array.startswith("memory") else
                f"    {name} = {array}" for (array, _), name in places.items()]
        parameters = ", ".join([*arrays, *numbers, free("at")])
        key = canonical([parameters, *head, *body], self.helpers)
        if key not in self.functions:
            name = self.functions[key] = text.object(f"loops{self.count('loops')}", object())
            self.bodies[name] = [f"@{free('njit')}(error_model='numpy')", f"def {name}({parameters}):", *head, *body, "", ""]
        begin = f"{free('i8')}({len(self.starts)})"  # a bare number would be compiled in
        text.add(f"{self.functions[key]}({', '.join([*arrays, *numbers, begin])})")
        self.starts += starts

    def place(self, x: str) -> tuple[str, int] | None:
        """The flat array that a register lies in, and where; None for an input that is a number."""
        x = self.root(x)
        if x in self.places:
            dtype = self.kinds[x].dtype
            memory = self.kernels.free(f"memory_{TYPES[dtype]}")
            self.used.setdefault(memory, memory)
            return memory, (self.places[x] + ALIGNED) // dtype.itemsize
        x = self.over.get(x, x)
        if not self.kinds[x].array:
            self.used.setdefault(x, x)
            return None
        flat = self.kernels.free(f"{x}_flat")
        self.used.setdefault(flat, x)
        return flat, 0

    def operator(self, op: str, dtype: np.dtype) -> str:
        """The name of an operator's function in the kernels."""
        name = self.kernels.free(f"{op}_{TYPES[dtype]}")
        line = f"{name} = {self.kernels.free('function')}({op!r}, {dtype.name!r})"
        self.imports[line] = None
        self.helpers.add(name)
        return name

    def gemm(self, line: Line) -> None:
        dst, _, (alpha, s, a, ta, b, tb, c) = line
        kind, add, free = self.kinds[dst], self.kernels.add, self.kernels.free
        (m, n), k = kind.shape, self.kinds[a].shape[0 if ta else 1]
        memory = free(f"memory_{TYPES[kind.dtype]}")
        self.used.setdefault(memory, memory)
        out, start = self.place(dst)
        if c and self.place(c) != (out, start):
            added, first = self.place(c)
            i = free("i")
            add(f"for {i} in {free('range')}({m * n}):")
            add(f"{out}[{start} + {i}] = {added}[{first} + {i}]", 2)
        (a_, a0), (b_, b0) = self.place(a), self.place(b)
        letter = {"f4": "s", "f8": "d"}[TYPES[kind.dtype]]
        row = [ord(letter), start, n, a0, self.kinds[a].shape[1], ord("t" if ta else "n"), b0, self.kinds[b].shape[1],
               ord("t" if tb else "n"), m, k, int(c is not None)]
        factor = f"{alpha!r} * {self.number(s)}" if s else repr(alpha)
        add(f"# {dst} = {f'{c} + ' if c else ''}{factor} * {a}{'.T' * ta} @ {b}{'.T' * tb}")
        add(f"{free('product')}({out}, {a_}, {b_}, {factor}, {memory}, {free('products')}, {free('i8')}({len(self.rows)}))")
        self.rows.append(row)

    def number(self, s: str) -> str:
        """An input with one number, in a kernel."""
        found = self.place(s)
        return f"{found[0]}[0]" if found else s

    # ---- the function in Python -------------------------------------------------------------------------------------

    def function(self) -> Any:
        """The function from the values to the results."""
        text, program = self.text, self.program
        step, results = text.free("step"), text.free("results")
        text.add(f"def {step}({text.free('values')}):", 0)
        guard(text, program, program.original.inputs, program.inplace.values())
        for x in program.original.inputs:
            if self.array(x) and x not in program.inplace.values():
                text.add(f"if not {x}.flags.c_contiguous: {x} = {self.call('contiguous', np.ascontiguousarray, x)}")
        for s in dict.fromkeys(args[1] for _, op, args in self.lines if op == "gemm" and args[1]):
            text.add(f"if {s} == 0: return None")  # BLAS would not look at the matrices
        parts = [self.kernel(list(run)) if jitted else next(run).lines[0]
                 for jitted, run in self.stretches()]
        self.take_memory(parts)
        for x in self.outputs:
            if x in self.arrays:
                text.add(f"{x} = {self.call('empty', np.empty, repr(self.kinds[x].shape), self.dtype(x))}")
        for y, x in self.over.items():
            text.add(f"{y} = {x}")
        for part in parts:
            if len(part) == 3:
                self.interpreted(*part)
            else:
                text.add(f"if {part[0]}({', '.join(part[1])}):")
                self.leave("None", 2)
        text.add(f"{results} = {{{', '.join(f'{x!r}: {self.result(x)}' for x in self.outputs)}}}")
        for y, x in program.inplace.items():
            if y not in self.over:
                text.add(self.call("copyto", np.copyto, x, self.in_python(y)))
        self.leave(results, 1)
        self.compile(part[0] for part in parts if len(part) == 2)
        return text.function(step)

    def stretches(self) -> Iterator[tuple[bool, Iterator[Item]]]:
        """The items: as many together as one kernel can do, and each call by itself."""
        run: list[Item] = []
        for item in self.items:
            if item.how != "call":
                run.append(item)
                if len(run) == AT_ONCE:
                    yield True, iter(run)
                    run = []
                continue
            if run:
                yield True, iter(run)
                run = []
            yield False, iter([item])
        if run:
            yield True, iter(run)

    def take_memory(self, parts: list) -> None:
        """Lines that take memory for one run, and give names to what Python touches of it."""
        names = dict.fromkeys(name for part in parts if len(part) == 2 for name in part[1] if name.startswith("memory_"))
        touched = {self.root(x) for x in (*self.outputs, *self.program.inplace)}
        touched |= {self.root(a) for part in parts if len(part) == 3 for a in (part[0], *part[2]) if isinstance(a, str)}
        views = [x for x in self.places if x in touched]
        self.text.add(f"{self.text.free('memory')} = {self.text.object('taken', self.taken(list(names), views))}()")
        if names or views:
            self.text.add(f"{', '.join([*names, *views])}, = {self.text.free('memory')}")

    def taken(self, names: list[str], views: list[str]) -> Callable[[], tuple]:
        dtypes = {f"memory_{short}": dtype for dtype, short in TYPES.items()}
        self.spaces: list[tuple] = []

        def space() -> tuple:
            memory = arena(self.size)
            flat = [memory.view(dtypes[name.rstrip("_")]) for name in names]
            return (*flat, *(memory[self.places[x] + ALIGNED:][:self.bytes(x)].view(self.kinds[x].dtype).reshape(self.kinds[x].shape)
                             for x in views))
        return lambda: self.spaces.pop() if self.spaces else space()

    def leave(self, what: str, depth: int) -> None:
        self.text.add(self.call("give_back", self.spaces.append, self.text.free("memory")), depth)
        self.text.add(f"return {what}", depth)

    def interpreted(self, dst: str, op: str, args: tuple) -> None:
        """Lines that compute a line by its operator's own function."""
        value = self.text.free("value") if dst in self.kinds else dst
        self.text.add(f"with {self.text.object('errstate', np.errstate)}(all='ignore'):")
        written = [self.in_python(a) if isinstance(a, str) else self.text.literal(a) for a in args]
        self.text.add(f"{value} = {self.call(op, ops.G[op], *written)}", 2)
        if dst in self.kinds:
            self.text.add(f"if not {self.call('put', put, value, dst)}:")
            self.leave("None", 2)

    def in_python(self, x: str) -> str:
        """A register as an array or a number of NumPy."""
        if x not in self.kinds:
            return x
        root, kind = self.root(x), self.kinds[x]
        if not kind.array:
            return f"{root}[()]" if root in self.places else root
        return root if root == x else f"{root}.reshape({kind.shape})"

    def result(self, x: str) -> str:
        """An output, as an array that nobody else has."""
        kind = self.kinds.get(x)
        if kind and (not kind.array or kind.shape and x in self.arrays):
            return self.in_python(x)
        return self.call("own", own_array, self.in_python(x))

    def call(self, word: str, function: Any, *args: str) -> str:
        return f"{self.text.object(word, function)}({', '.join(args)})"

    def dtype(self, x: str) -> str:
        return self.text.object(self.kinds[x].dtype.name, self.kinds[x].dtype)

    def compile(self, names: Iterable[str]) -> None:
        """Puts the head before the kernels, and the kernels, from their module, among the objects of the function in Python."""
        free = self.kernels.free
        head = HEAD.format(**{word: free(word) for word in re.findall(r"{(\w+)}", HEAD)}).splitlines()
        tables = [f"{free('places')} = {free('array')}({self.starts or [0]})",
                  f"{free('products')} = {free('array')}({self.rows or [[0]]})"]
        self.kernels.lines = [f"# compiled with {edition()}", *head, *self.imports, *tables, "", "", *(line for body in self.bodies.values() for line in body),
                              *self.kernels.lines]
        names = list(names)
        if names:
            compiled = cache.module(str(self.kernels))
            self.text.objects.update({name: getattr(compiled, name) for name in names})

    def plan(self) -> Plan:
        kinds = self.kinds
        calls = [f"{dst} = {op}(…)" for item in self.items if item.how == "call" for dst, op, _ in item.lines]
        groups = [[dst for dst, _, _ in item.lines] for item in self.items if item.group]
        return Plan("numba", [Buffer(x, kinds[x].shape[-1:] if x in self.rowwise else kinds[x].shape, kinds[x].dtype, start)
                              for x, start in self.places.items()], self.size,
                    sum(kinds[x].bytes for x in self.outputs if x in kinds), sorted(self.over.values()), groups, calls,
                    flops_of(self.lines, kinds))


def canonical(lines: list[str], known: Collection[str]) -> tuple[str, ...]:
    """The lines with their names, but for those that are known, numbered in the order in which they come."""
    numbered: dict[str, str] = {}
    rename = lambda m: m[0] if m[0] in known or keyword.iskeyword(m[0]) else numbered.setdefault(m[0], f"x{len(numbered)}")
    return tuple(re.sub(r"\b[^\W\d]\w*", rename, line) for line in lines)


def put(value: Any, out: np.ndarray) -> bool:
    """Whether value is of out's kind; then it is copied there."""
    if np.shape(value) != out.shape:
        return False  # the shape depends on the values, and they are others
    out[...] = value
    return True
