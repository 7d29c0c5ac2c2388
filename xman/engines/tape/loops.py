"""The loops of the tape: LLVM's text, made of the rows that a list has, and the order that suits it.

A loop forward chooses an operator once a run; with derivatives it leaves the partials ∂out/∂x and ∂out/∂y
beside each value. The loop back needs no operators: it adds delta·partial to the deltas of x and y. Both take
one set of inputs, or `width` of them at once.
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ..llvm.arithmetic import FLOAT, Number
from ..llvm.compiled import code_of, functions
from ..llvm.elementary import definitions
from ..llvm.function import Function
from ..program import WHOLE
from .lines import ROWS

ALONE = ", !llvm.access.group !1"  # no other set of inputs touches it
HINTS = ["!0 = distinct !{!0, !2}", "!1 = distinct !{}", '!2 = !{!"llvm.loop.parallel_accesses", !1}']


class LaneLoop(Function):
    """A loop that is being written, over arrays of `width` numbers a slot."""

    def __init__(self, width: int):
        super().__init__({})
        self.width, self.lane = width, ""

    def load(self, array: str, k: str, kind: str = "i64") -> str:
        """A number of an array, whole ones of 32 bits as of 64."""
        found = self.do(f"load {kind}, ptr {self.entry_at(kind, array, k)}")
        return self.do(f"zext i32 {found} to i64") if kind == "i32" else found

    def place(self, array: str, slot: str) -> str:
        """Where the number of a slot is, of this set of inputs."""
        entry = self.sum({slot: self.width, **({self.lane: 1} if self.lane else {})}, 0)
        return self.entry_at("double", array, entry)

    def put_at(self, place: str, value: Any) -> None:
        self.put(f"store {Number(self, '', FLOAT).like(value)}, ptr {place}{ALONE}")

    def number(self, place: str) -> Number:
        return Number(self, self.do(f"load double, ptr {place}{ALONE}"), FLOAT)

    def over_lanes(self, body: Callable[[], None]) -> None:
        """body for each of the sets of inputs."""
        if self.width > 1:
            lanes = self.open(self.width)
            self.lane = lanes[0]
            body()
            self.close(*lanes, hint="!0")
            self.lane = ""
        else:
            body()

    def text(self, name: str, arguments: str) -> str:
        head = f"define void @{name}({arguments}) {{\nentry:"
        return "\n".join([head, *self.entry, *self.out, " ret void", "}"])


def loop_text(rows: Sequence[str], width: int, back: bool) -> str:
    """The loop forward, with partials and the loop back where `back` holds."""
    w = LaneLoop(width)
    runs = w.open("%runs")
    start, stop = w.load("%starts", runs[0]), w.load("%starts", w.do(f"add i64 {runs[0]}, 1"))
    code = w.load("%codes", runs[0], "i32")
    w.put(f"switch i64 {code}, label %row0 [{' '.join(f'i64 {k}, label %row{k}' for k in range(len(rows)))}]")
    for k, row in enumerate(rows):
        w.block = f"row{k}"
        w.out.append(f"row{k}:")
        lines = w.open(stop, start)
        w.over_lanes(partial(row_text, w, row, lines[0], back))
        w.close(*lines)
        w.put("br label %done")
    w.block = "done"
    w.out.append("done:")
    w.close(*runs)
    arrays = "ptr %v, ptr %p, ptr %q, ptr %codes, ptr %starts, ptr %a, ptr %b, ptr %c"
    text = [w.text("forward", f"{arrays}, i64 %runs, i64 %first")]
    if back:
        text.append(back_text(width))
    return "\n".join([*definitions(w.declared, text), *text, *HINTS, ""])


def row_text(w: LaneLoop, op: str, k: str, back: bool) -> None:
    n, value, partials = ROWS[op]
    args = [w.number(w.place("%v", w.load(reads, k, "i32"))) for reads in ("%a", "%b", "%c")[:n]]
    out = args[0].like(value(*args))
    w.put_at(w.place("%v", w.do(f"add i64 {k}, %first")), out)
    for array, slope in zip(("%p", "%q"), partials.values() if back else (), strict=False):
        w.put_at(w.place(array, k), slope(out, *args))


def back_text(width: int) -> str:
    w = LaneLoop(width)
    lines = w.open("%lines")
    k = w.do(f"sub i64 %last, {lines[0]}")
    slots = [w.load(array, k, "i32") for array in ("%to", "%also")]

    def send() -> None:
        delta = w.number(w.place("%d", w.do(f"add i64 {k}, %first")))
        for partials, slot in zip(("%p", "%q"), slots, strict=True):
            part, place = delta * w.number(w.place(partials, k)), w.place("%d", slot)
            w.put_at(place, w.number(place) + part)

    w.over_lanes(send)
    w.close(*lines)
    w.entry.append(" %last = sub i64 %lines, 1")
    return w.text("back", "ptr %d, ptr %p, ptr %q, ptr %to, ptr %also, i64 %lines, i64 %first")


@cache
def loops(rows: tuple[str, ...], width: int, back: bool) -> list[Callable]:
    pointers = lambda n: ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n, ctypes.c_int64, ctypes.c_int64)
    found = {"forward": pointers(8), "back": pointers(5)} if back else {"forward": pointers(8)}
    with WHOLE:
        return functions(code_of(loop_text(rows, width, back), False), found)


def arranged(codes: np.ndarray, reads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of the lines, and where its runs begin, with the end: of one operator, and equally deep.

    codes: the operator of each line. reads: (3, lines), the lines that it reads, below 0 for none.
    """
    depth = [0] * (len(codes) + 1)  # the last is that of what is no line
    for k, (x, y, z) in enumerate(zip(*np.where(reads < 0, -1, reads).tolist(), strict=True)):
        depth[k] = 1 + max(depth[x], depth[y], depth[z])
    order = np.lexsort((codes, depth := np.array(depth[:-1])))
    changes = np.diff(codes[order]).astype(bool) | np.diff(depth[order]).astype(bool)
    return order, np.unique([0, *(np.flatnonzero(changes) + 1).tolist(), len(codes)])
