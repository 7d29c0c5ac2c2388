"""Loops whose step is a function of the same program: its arguments and results are a row of pointers, which
move on from step to step; no number is copied."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..nests.tree import Applied, FunctionRun
from .arithmetic import BOOL, INDEX, INT, Number
from .function import in_memory
from .places import StepFunction

if TYPE_CHECKING:
    from .step import NestStep

OFTEN = 2 ** 24  # operations between two checks for signals


class Pointers:
    """The row of pointers that a step gets, and where each begins."""

    def __init__(self, function: StepFunction, run: FunctionRun, step: NestStep, space: str):
        self.function, self.run, self.step = function, run, step
        self.row = function.alloca(f"[{1 + len(step.arguments)} x ptr]")
        self.index = function.alloca("i64") if None in run.places.values() else ""
        self.begin = {}
        function.put(f"store ptr {function.pointer(space)}, ptr {self.row}")
        for x in step.arguments:
            place = run.places[x]
            self.begin[x] = self.index if place is None else function.place(place[0])
            self.put(x, self.begin[x])

    def put(self, x: str, pointer: str) -> None:
        slot = self.function.entry_at("ptr", self.row, 1 + self.step.arguments.index(x))
        self.function.put(f"store ptr {pointer}, ptr {slot}")

    def move(self, i: str, first: int, way: int) -> None:
        """Move on to the i-th step."""
        function = self.function
        if self.index:
            function.put(f"store i64 {function.sum({i: way}, first)}, ptr {self.index}")
        for x, start in self.begin.items():
            if self.run.places[x] and (stride := self.run.places[x][1]):
                T = in_memory(self.run.nests.tree.roots[x].dtype)
                self.put(x, function.entry_at(T, start, function.sum({i: stride}, 0)))

    def go(self) -> None:
        """Run the step; leave the program if the step refuses the values."""
        refusal = self.function.do(f"call i64 @{self.step.body}(ptr {self.row})")
        self.function.leave(Number(self.function, refusal, INDEX) != 0)


def write_applied(function: StepFunction, node: Applied, steps: Sequence[NestStep], space: str) -> None:
    """Write the loop, the branch or the single step of a node."""
    rows = [Pointers(function, run, step, space) for run, step in zip(node.runs, steps, strict=True)]
    work = sum(step.work for step in steps)
    if node.op == "cond":
        test = function.number(node.test).to(BOOL)
        for row, holds in zip(rows, (test, ~test), strict=True):
            with function.when(holds):
                row.go()
    elif node.op == "while":
        write_while(function, node, rows, work)
    elif node.count:
        many = function.number(node.count)
        function.leave(many > node.size)
        first, last = ((node.size - many).name, node.size) if node.way < 0 else ("0", many.name)
        with function.when(many > 0):
            write_scan(function, node, rows[0], work, first, last)
    else:
        write_scan(function, node, rows[0], work, "0", node.size)


def write_scan(function: StepFunction, node: Applied, row: Pointers, work: int,
               first: str, last: int | str) -> None:
    with function.stepping(last, first, lines=100) as i:
        row.move(i, node.first, node.way)
        row.go()
        listen(function, i, node.size, work)


def write_while(function: StepFunction, node: Applied, rows: Sequence[Pointers], work: int) -> None:
    second, done = function.new("B")[1:], function.new("B")[1:]
    with function.stepping(node.size + 1, lines=100) as i:
        function.put(f"store i64 {i}, ptr {function.pointer(node.count.root)}")
        rows[0].go()
        function.put(f"br {function.number(node.test).to(BOOL)}, label %{second}, label %{done}")
        function.begin(second)
        function.leave(Number(function, i, INDEX) == node.size)
        rows[1].go()
        listen(function, i, node.size, work)
    function.put(f"br label %{done}")
    function.begin(done)


def listen(function: StepFunction, i: str, size: int, work: int) -> None:
    """Write a check for signals, from time to time, so that the program can be stopped."""
    every = 1 << max(0, (OFTEN // (work + 64)).bit_length() - 1)
    if size > every:
        with function.when(Number(function, function.do(f"and i64 {i}, {every - 1}"), INDEX) == every - 1):
            lock = function.call("i32", "PyGILState_Ensure")
            signal = function.call("i32", "PyErr_CheckSignals")
            function.call("void", "PyGILState_Release", f"i32 {lock}")
            function.leave(Number(function, signal, INT) != 0)
