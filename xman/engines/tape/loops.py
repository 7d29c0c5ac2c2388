"""The loops of the tape: LLVM's text, made of the rows that a list has, and the order that suits it.

The loop forward chooses an operator once for each run of lines; with derivatives it stores the partials
∂out/∂x and ∂out/∂y beside each value. The loop back needs no operators: it adds delta·partial to the deltas
of x and y. Both take one set of inputs, or `width` sets at once.
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from ..llvm.arithmetic import FLOAT, INDEX, number_at, store
from ..llvm.compiled import code_of, functions
from ..llvm.elementary import definitions
from ..llvm.function import Function
from ..program import WHOLE
from .lines import ROWS

SLOT = np.dtype(np.uint32)
ALONE = ", !llvm.access.group !1"  # no other set of inputs touches it
HINTS = ["!0 = distinct !{!0, !2}", "!1 = distinct !{}", '!2 = !{!"llvm.loop.parallel_accesses", !1}']


class LaneLoop(Function):
    """A loop that is being written, over arrays of `width` numbers a slot."""

    def __init__(self, width: int):
        super().__init__({})
        self.width, self.lane = width, ""

    def integer(self, array: str, k: str) -> str:
        """A whole number of an array."""
        return number_at(self, SLOT, self.entry_at("i32", array, k)).to(INDEX).name

    def place(self, array: str, slot: str) -> str:
        """The place of a slot's number for this set of inputs."""
        entry = self.sum({slot: self.width, **({self.lane: 1} if self.lane else {})}, 0)
        return self.entry_at("double", array, entry) + ALONE

    def over_lanes(self, body: Callable[[], None]) -> None:
        """Write body for each of the sets of inputs."""
        if self.width > 1:
            with self.stepping(self.width, hint="!0") as self.lane:
                body()
            self.lane = ""
        else:
            body()


def loop_text(rows: Sequence[str], width: int, back: bool) -> str:
    """The text of the loop forward; with `back` also partials, and the loop back."""
    w = LaneLoop(width)
    labels = " ".join(f"i64 {k}, label %row{k}" for k in range(len(rows)))
    with w.stepping("%runs") as run:
        start, stop = (w.integer("%starts", k) for k in (run, w.sum({run: 1}, 1)))
        w.put(f"switch i64 {w.integer('%codes', run)}, label %row0 [{labels}]")
        for k, row in enumerate(rows):
            w.begin(f"row{k}")
            with w.stepping(stop, start) as line:
                w.over_lanes(partial(row_text, w, row, line, back))
            w.put("br label %done")
        w.begin("done")
    arrays = "ptr %v, ptr %p, ptr %q, ptr %codes, ptr %starts, ptr %a, ptr %b, ptr %c"
    text = [w.text(f"define void @forward({arrays}, i64 %runs, i64 %first)", " ret void")]
    if back:
        text.append(back_text(width))
    return "\n".join([*definitions(w.declared, text), *text, *HINTS, ""])


def row_text(w: LaneLoop, op: str, k: str, back: bool) -> None:
    n, value, partials = ROWS[op]
    args = [number_at(w, FLOAT, w.place("%v", w.integer(reads, k))) for reads in ("%a", "%b", "%c")[:n]]
    out = args[0].like(value(*args))
    store(out, w.place("%v", w.do(f"add i64 {k}, %first")))
    for array, slope in zip(("%p", "%q"), partials.values() if back else (), strict=False):
        store(out.like(slope(out, *args)), w.place(array, k))


def back_text(width: int) -> str:
    w = LaneLoop(width)
    with w.stepping("%lines") as line:
        k = w.do(f"sub i64 %last, {line}")
        slots = [w.integer(array, k) for array in ("%to", "%also")]

        def send() -> None:
            delta = number_at(w, FLOAT, w.place("%d", w.do(f"add i64 {k}, %first")))
            for partials, slot in zip(("%p", "%q"), slots, strict=True):
                place, slope = w.place("%d", slot), number_at(w, FLOAT, w.place(partials, k))
                store(number_at(w, FLOAT, place) + delta * slope, place)

        w.over_lanes(send)
    w.entry.append(" %last = sub i64 %lines, 1")
    arrays = "ptr %d, ptr %p, ptr %q, ptr %to, ptr %also"
    return w.text(f"define void @back({arrays}, i64 %lines, i64 %first)", " ret void")


@cache
def loops(rows: tuple[str, ...], width: int, back: bool) -> list[Callable]:
    pointers = lambda n: ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n, ctypes.c_int64, ctypes.c_int64)
    types = {"forward": pointers(8), "back": pointers(5)} if back else {"forward": pointers(8)}
    with WHOLE:
        return functions(code_of(loop_text(rows, width, back), False), types)


def arranged(codes: np.ndarray, reads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(an order of the lines, where its runs begin, and the end): a run has one operator and one depth.

    codes: the operator of each line. reads: (3, lines), the lines that it reads, below 0 for none.
    """
    depth = [0] * (len(codes) + 1)  # the last is for what is no line
    for k, (x, y, z) in enumerate(zip(*np.where(reads < 0, -1, reads).tolist(), strict=True)):
        depth[k] = 1 + max(depth[x], depth[y], depth[z])
    order = np.lexsort((codes, depth := np.array(depth[:-1])))
    changes = np.diff(codes[order]).astype(bool) | np.diff(depth[order]).astype(bool)
    return order, np.unique([0, *(np.flatnonzero(changes) + 1).tolist(), len(codes)]).astype(SLOT)
