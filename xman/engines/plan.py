"""The plan of a program, for a reader: where registers live, what is computed together, what it costs."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ops import operations

from ..notation import in_notebooks
from ..wengert import Line
from .program import GEMM, Kind


class Buffer(NamedTuple):
    """A register's place: `start` bytes into the program's memory, or -1 if it is an array by itself."""
    register: str
    shape: tuple[int, ...]
    dtype: np.dtype
    start: int
    bytes = Kind.bytes


class Plan(NamedTuple):
    """The plan of a program. It prints itself.

    buffers: the registers that need memory of the program. memory: the bytes of all buffers; one may use
    the place of another that is no longer needed. outputs: the bytes of the results, which are new arrays at
    each call. updates: the inputs that are written over at once. groups: the registers that are computed
    together, in one loop or one call. calls: the lines that run the interpreter's function. flops: operations
    of one call, as `xman.cost` counts them. note: what else there is to say. products: gives (name, product)
    of each stage between the list and the program, those of the door (`specialise.stages`) and then the
    engine's; it makes a product again where that would take memory.
    """
    engine: str
    buffers: list[Buffer]
    memory: int
    outputs: int
    updates: list[str]
    groups: list[list[str]]
    calls: list[str]
    flops: int
    note: str = ""
    products: Callable[[], Iterable[tuple[str, Any]]] = tuple

    peak = property(lambda self: self.memory + self.outputs, doc="The bytes that a call takes beyond inputs.")
    stages = property(lambda self: [(name, str(product)) for name, product in self.products()],
                      doc="(name, text) of what each stage has made, from the list on, to be printed.")

    def __str__(self) -> str:
        total = sum(buffer.bytes for buffer in self.buffers)
        text = [f"engine {self.engine}: {self.flops:,} operations, {self.memory:,} bytes for "
                f"{len(self.buffers)} buffers of {total:,} together, {self.outputs:,} bytes of results"]
        text += [f"overwritten at once: {', '.join(self.updates)}"] * bool(self.updates)
        text += [f"{b.start:>12,}  {b.bytes:>12,} bytes  {b.register} {b.dtype}{b.shape}"
                 for b in self.buffers]
        text += [f"together: {', '.join(group)}" for group in self.groups if len(group) > 1]
        if self.calls:
            text.append(f"through the interpreter's function: {', '.join(self.calls)}")
            if any(f" = {op}(" in call for call in self.calls for op in ("scan", "while_loop")):
                text.append("a loop among these goes through Python in each step")
        return "\n".join([*text, self.note] if self.note else text)

    __repr__ = __str__
    _repr_html_ = in_notebooks("plan_in_html")


def flops_of(lines: Iterable[Line], kinds: Mapping[str, Kind]) -> int:
    """The operations of the lines, without those of operators that have no count or no known shape."""
    total = 0
    for dst, op, args in lines:
        if any(isinstance(a, str) and a not in kinds for a in (dst, *args)):
            continue
        if op == GEMM:
            total += 2 * int(np.prod(kinds[dst].shape)) * kinds[args[2]].shape[0 if args[3] else 1]
        elif count := operations(op):
            total += count(stand(kinds[dst]), *(stand(kinds[a]) if isinstance(a, str) else a for a in args))
    return total


@functools.lru_cache(1000)
def stand(kind: Kind) -> np.ndarray:
    """An array of that kind that takes no memory."""
    return np.broadcast_to(np.empty((), kind.dtype), kind.shape)
