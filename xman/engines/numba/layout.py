"""The layout of a program with loops: what is computed together, in which order, and where each register lies."""
from __future__ import annotations

import numpy as np

from ...wengert import Line, registers
from ..folded import folded, ordered
from ..memory import ALIGNED, Event, placed
from ..program import GEMM, Program, held
from .groups import PLACE, ROW, ROWS, level, role
from .loops import loopable
from .schedule import Item, scheduled

SHAPED = {"broadcast", "astype"}  # operators whose second argument says no more than a shape or a type


class Layout:
    """Where everything of a program is.

    items: what is done, one after another. places: the bytes of the memory at which a register begins. roots: the register
    in whose memory a view lies. over: the input that an update is written over. arrays: the results that are new arrays.
    rowwise: registers with memory for one row alone. kept: those that others than their own group read.
    """

    def __init__(self, program: Program):
        self.program, self.kinds, self.outputs = program, program.kinds, program.outputs
        self.given = {*program.original.inputs, *program.constants}
        lines = [self.bare(line) for line in folded(program, rows=False)]
        self.roots: dict[str, str] = {}
        for dst, op, args in lines:
            if op in ("reshape", "alias") and all(x in self.kinds for x in (dst, args[0])) and (
                    args[0] not in self.given or self.is_array(args[0])):
                self.roots[dst] = self.root(args[0])
        hows = {line[0]: self.how(line) for line in lines}
        holds = held(lines, self.kinds) | {x: frozenset([root]) for x, root in self.roots.items()}
        uncertain = [k for k, line in enumerate(lines) if hows[line[0]] == "call"]
        self.lines, direct = ordered(lines, program.inplace, self.outputs, holds, self.kinds, max(uncertain, default=-1))
        entrywise = {line[0] for line in lines if hows[line[0]] == "loops" and level(line, self.kinds) == PLACE}
        self.over = {y: program.inplace[y] for y in direct if hows[y] == "gemm" or y in entrywise}
        self.items = scheduled(self.lines, lambda line: hows[line[0]], self.kinds, self.roots, self.over)
        self.kept = self.read_elsewhere()
        self.rowwise = {dst for item in self.items if item.group for dst in self.between_turns(item)}
        self.arrays = {x for x in self.outputs if x in hows and x not in self.roots and self.is_array(x)} - {*self.over}
        events = [Event({self.root(a) for line in item.lines for a in registers(line[2])},
                        {dst: self.bytes(dst) for dst, _, _ in item.lines if self.buffered(dst)}, self.heirs(item))
                  for item in self.items]
        events.append(Event({self.root(x) for x in (*self.outputs, *program.inplace)}, {}))  # what is taken out at the end
        places, size = placed(events)
        # the factors of products stand before all else
        self.places, self.size = {x: start + ALIGNED for x, start in places.items()}, size + ALIGNED

    def is_array(self, x: str) -> bool: return x in self.kinds and self.kinds[x].array
    def root(self, x: str) -> str: return self.roots.get(x, x)

    def bare(self, line: Line) -> Line:
        """The line without arguments that only say which shape or type it has, when loops compute it."""
        dst, op, args = line
        short = (dst, op, args[:1])
        return short if op in SHAPED and loopable(line, self.kinds) and level(short, self.kinds) else line

    def how(self, line: Line) -> str:
        """How a line is computed: by `gemm`, in `loops`, as a `view`, or by a `call` of the interpreter's function."""
        dst, op, _ = line
        if dst in self.roots or op == GEMM:
            return "gemm" if op == GEMM else "view"
        return "loops" if loopable(line, self.kinds) and level(line, self.kinds) else "call"

    def read_elsewhere(self) -> set[str]:
        """The registers that another item reads than that which computes them, or that are wanted, or that no loops compute."""
        home = {line[0]: k for k, item in enumerate(self.items) for line in item.lines}
        kept = {self.root(x) for x in (*self.outputs, *self.program.inplace)}
        for k, item in enumerate(self.items):
            for dst, _, args in item.lines:
                kept.update(self.root(a) for a in registers(args) if home.get(self.root(a)) != k)
                if not item.group:
                    kept.add(dst)
        return kept

    def between_turns(self, item: Item) -> set[str]:
        """The registers of a group whose numbers wait for a later turn through the columns of the same row, and no longer."""
        group = item.group
        return {a for dst, _, args in group.lines for a in registers(args) if group.levels.get(a) == PLACE
                and group.turns[a] < group.turns[dst] and a not in self.kept}

    def bytes(self, x: str) -> int:
        """The memory that a register takes."""
        return self.kinds[x].dtype.itemsize * int(np.prod(self.shape(x)))

    def shape(self, x: str) -> tuple[int, ...]:
        return self.kinds[x].shape[-1:] if x in self.rowwise else self.kinds[x].shape

    def buffered(self, x: str) -> bool:
        return x in self.kinds and (x in self.kept or x in self.rowwise) and x not in self.arrays and x not in self.over

    def heirs(self, item: Item) -> dict[str, list[str]]:
        """For each register that is computed, those whose memory it may take: nothing of them is read after it is written."""
        if item.how == "gemm":
            (dst, _, args), = item.lines
            return {dst: [args[6]] if args[6] and args[6] not in (args[2], args[4]) else []}
        if not item.group:
            return {}
        group, last, otherwise = item.group, {}, set()
        for dst, _, args in group.lines:
            for a in args:
                if isinstance(a, str) and a not in group.levels:
                    last[a] = max(last.get(a, 0), group.turns[dst])
                    if a in self.roots or role(self.kinds[a].shape, group.shape) != PLACE or group.levels[dst] in (ROW, ROWS):
                        otherwise.add(self.root(a))
        return {dst: [a for a in last if a not in otherwise and last[a] <= group.turns[dst]
                      and self.kinds[a].dtype == self.kinds[dst].dtype]
                for dst in group.levels if group.levels[dst] == PLACE and dst not in self.rowwise}
