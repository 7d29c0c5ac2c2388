"""Loops whose step is a function of the same program: its arguments and results are a row of pointers, which
move on from step to step; no number is copied."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..nests.tree import Applied, Run
from .arithmetic import BOOL, number_at
from .function import Function, in_memory

OFTEN = 2 ** 24  # operations between two checks for signals
INTERRUPTED = """define internal i1 @interrupted() noinline {
 %lock = call i32 @PyGILState_Ensure()
 %found = call i32 @PyErr_CheckSignals()
 call void @PyGILState_Release(i32 %lock)
 %stop = icmp ne i32 %found, 0
 ret i1 %stop
}
declare i32 @PyGILState_Ensure()
declare i32 @PyErr_CheckSignals()
declare void @PyGILState_Release(i32)"""


class Pointers:
    """The row of pointers that a step gets, and where each begins."""

    def __init__(self, f: Any, run: Run, step: Any, space: str):
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
                T = in_memory(self.run.lines.tree.roots[x].dtype)
                self.put(x, f.entry_at(T, start, f.sum({i: stride}, 0)))

    def go(self) -> None:
        """Run the step; leave the program if the step refuses the values."""
        found = self.f.do(f"call i64 @{self.step.body}(ptr {self.row})")
        self.f.leave(self.f.do(f"icmp ne i64 {found}, 0"))


def write_applied(f: Any, node: Applied, steps: Sequence[Any], space: str) -> None:
    """Write the loop, the branch or the single step of a node. f: the `StepFunction`."""
    rows = [Pointers(f, run, step, space) for run, step in zip(node.runs, steps, strict=True)]
    if node.op == "cond":
        yes, no, after = (f.new("B")[1:] for _ in range(3))
        f.put(f"br i1 {number_holds(f, node)}, label %{yes}, label %{no}")
        for row, label in zip(rows, (yes, no), strict=True):
            f.begin(label)
            row.go()
            f.put(f"br label %{after}")
        f.begin(after)
        return
    more, done = (f.new("B")[1:] for _ in range(2))
    first, last = "0", node.size + (node.op == "while")
    if counted := node.op == "scan" and node.count:
        many = f.do(f"load i64, ptr {f.place(node.count)}")
        f.leave(f.do(f"icmp sgt i64 {many}, {node.size}"))
        f.put(f"br i1 {f.do(f'icmp sgt i64 {many}, 0')}, label %{more}, label %{done}")
        f.begin(more)
        first, last = (f.do(f"sub i64 {last}, {many}"), last) if node.way < 0 else (first, many)
    loop = f.open(last, first)
    if node.op == "while":
        f.put(f"store i64 {loop[0]}, ptr {f.pointer(node.count.root)}")
        rows[0].go()
        f.put(f"br i1 {number_holds(f, node)}, label %{more}, label %{done}")
        f.begin(more)
        f.leave(f.do(f"icmp eq i64 {loop[0]}, {node.size}"))
        rows[1].go()
    else:
        rows[0].move(loop[0], node.first, node.way)
        rows[0].go()
    listen(f, loop[0], node.size, sum(step.work for step in steps))
    f.close(*loop, lines=100)
    if node.op == "while" or counted:
        f.put(f"br label %{done}")
        f.begin(done)


def number_holds(f: Any, node: Applied) -> str:
    """The text of the node's test, a number."""
    return number_at(f, f.roots[node.test.root].dtype, f.place(node.test)).to(BOOL).name


def listen(f: Function, i: str, size: int, work: int) -> None:
    """Write a check for signals, from time to time, so that the program can be stopped."""
    every = 1 << max(0, (OFTEN // (work + 64)).bit_length() - 1)
    if size > every:
        due, on = (f.new("B")[1:] for _ in range(2))
        last = f.do(f"and i64 {i}, {every - 1}")
        f.put(f"br i1 {f.do(f'icmp eq i64 {last}, {every - 1}')}, label %{due}, label %{on}")
        f.begin(due)
        f.declare(INTERRUPTED)
        f.leave(f.do("call i1 @interrupted()"))
        f.put(f"br label %{on}")
        f.begin(on)
