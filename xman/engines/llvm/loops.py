"""Loops whose step is a function of the same program: its arguments and results are a row of pointers, which
move on from step to step; no number is copied."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..nests.tree import Applied, FunctionRun
from .arithmetic import BOOL, INDEX, INT, Number, number_at
from .function import in_memory

OFTEN = 2 ** 24  # operations between two checks for signals


class Pointers:
    """The row of pointers that a step gets, and where each begins."""

    def __init__(self, f: Any, run: FunctionRun, step: Any, space: str):
        self.f, self.run, self.step, self.row = f, run, step, f.alloca(f"[{1 + len(step.arguments)} x ptr]")
        self.index = f.alloca("i64") if None in run.given.values() else ""
        self.begin = {}
        f.put(f"store ptr {f.pointer(space)}, ptr {self.row}")
        for x in step.arguments:
            place = run.given[x]
            self.begin[x] = self.index if place is None else f.place(place[0])
            self.put(x, self.begin[x])

    def put(self, x: str, at: str) -> None:
        slot = self.f.entry_at("ptr", self.row, 1 + self.step.arguments.index(x))
        self.f.put(f"store ptr {at}, ptr {slot}")

    def move(self, i: str, first: int, way: int) -> None:
        """Move on to the i-th step."""
        f = self.f
        if self.index:
            f.put(f"store i64 {f.sum({i: way}, first)}, ptr {self.index}")
        for x, start in self.begin.items():
            if self.run.given[x] and (stride := self.run.given[x][1]):
                T = in_memory(self.run.nests.tree.roots[x].dtype)
                self.put(x, f.entry_at(T, start, f.sum({i: stride}, 0)))

    def go(self) -> None:
        """Run the step; leave the program if the step refuses the values."""
        found = self.f.do(f"call i64 @{self.step.body}(ptr {self.row})")
        self.f.leave(Number(self.f, found, INDEX) != 0)


def write_applied(f: Any, node: Applied, steps: Sequence[Any], space: str) -> None:
    """Write the loop, the branch or the single step of a node. f: the `StepFunction`."""
    rows = [Pointers(f, run, step, space) for run, step in zip(node.runs, steps, strict=True)]
    work = sum(step.work for step in steps)
    if node.op == "cond":
        test = truth_at(f, node)
        for row, holds in zip(rows, (test, ~test), strict=True):
            with f.when(holds):
                row.go()
    elif node.op == "while":
        write_while(f, node, rows, work)
    elif node.count:
        many = number_at(f, INDEX, f.place(node.count))
        f.leave(many > node.size)
        first, last = ((node.size - many).name, node.size) if node.way < 0 else ("0", many.name)
        with f.when(many > 0):
            write_scan(f, node, rows[0], work, first, last)
    else:
        write_scan(f, node, rows[0], work, "0", node.size)


def write_scan(f: Any, node: Applied, row: Pointers, work: int, first: str, last: int | str) -> None:
    with f.stepping(last, first, lines=100) as i:
        row.move(i, node.first, node.way)
        row.go()
        listen(f, i, node.size, work)


def write_while(f: Any, node: Applied, rows: Sequence[Pointers], work: int) -> None:
    more, done = f.new("B")[1:], f.new("B")[1:]
    with f.stepping(node.size + 1, lines=100) as i:
        f.put(f"store i64 {i}, ptr {f.pointer(node.count.root)}")
        rows[0].go()
        f.put(f"br {truth_at(f, node)}, label %{more}, label %{done}")
        f.begin(more)
        f.leave(Number(f, i, INDEX) == node.size)
        rows[1].go()
        listen(f, i, node.size, work)
    f.put(f"br label %{done}")
    f.begin(done)


def truth_at(f: Any, node: Applied) -> Number:
    """Whether the node's test, a number, holds."""
    return number_at(f, f.roots[node.test.root].dtype, f.place(node.test)).to(BOOL)


def listen(f: Any, i: str, size: int, work: int) -> None:
    """Write a check for signals, from time to time, so that the program can be stopped."""
    every = 1 << max(0, (OFTEN // (work + 64)).bit_length() - 1)
    if size > every:
        with f.when(Number(f, f.do(f"and i64 {i}, {every - 1}"), INDEX) == every - 1):
            lock = f.call("i32", "PyGILState_Ensure")
            found = f.call("i32", "PyErr_CheckSignals")
            f.call("void", "PyGILState_Release", f"i32 {lock}")
            f.leave(Number(f, found, INT) != 0)
