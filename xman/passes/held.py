"""The memory of a list: how many bytes its registers hold at a time."""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ops.loops.values import one_of

from ..interpreters import eval
from ..wengert import Steps, WengertList, registers


def most_held(steps: Steps, keep: Collection[str], values: Mapping[str, Any]) -> int:
    """The most bytes that registers hold at a time, each freed after its last use, in steps of loops too.

    keep: the registers that are not freed. values: the inputs."""
    last = {a: k for k, (dst, _, args) in enumerate(steps) for a in (dst, *registers(args))}
    last |= dict.fromkeys([*keep, *WengertList(steps).inputs], len(steps))
    freed = defaultdict(list)  # by line, the registers that it is the last to use
    for name, k in last.items():
        freed[k].append(name)
    memory, peak, computed = Held(), 0, {dst for dst, _, _ in steps}
    for name in values.keys() & last.keys() - computed:
        memory.take(values[name])
    for k, (dst, op, args) in enumerate(steps):
        memory.take(values[dst])
        inputs = [values[a] if isinstance(a, str) else a for a in args]
        inside = [within_step(*body) for body in first_steps(op, inputs)]
        peak = max(peak, memory.bytes + max(inside, default=0))
        for name in freed[k]:
            memory.free(values[name])
    return peak


class Held:
    """Pieces of memory, each counted once, however many registers lie in it."""

    def __init__(self) -> None:
        self.bytes, self.holders = 0, Counter[int]()

    def take(self, x: Any) -> None:
        for piece, size in memory_of(x).items():
            self.bytes += 0 if self.holders[piece] else size
            self.holders[piece] += 1

    def free(self, x: Any) -> None:
        for piece, size in memory_of(x).items():
            self.holders[piece] -= 1
            self.bytes -= 0 if self.holders[piece] else size


def memory_of(x: Any) -> dict[int, int]:
    """{id: bytes} of each piece of memory that x lies in; a view counts as the memory that it views."""
    if isinstance(x, tuple):
        return {key: size for entry in x for key, size in memory_of(entry).items()}
    while isinstance(getattr(x, "base", None), np.ndarray):
        x = x.base
    return {id(x): bytes_of(x)}


def first_steps(op: str, args: list) -> list[tuple[tuple, tuple]]:
    """The functions that op applies, each with its arguments in the first step."""
    if op == "scan":
        function, k, slices, b = args[:4]
        return [(function, (*b[:k], *map(one_of, b[k:k + slices]), *b[k + slices:]))]
    if op == "while_loop":
        return [(function, args[3]) for function in args[:2]]
    if op == "cond":
        return [(args[1 if args[0] else 2], args[3])]
    return [(args[0], args[1])] if op == "call" else []


def within_step(function: tuple, args: tuple) -> int:
    """The most bytes that a function holds at a time, without its arguments."""
    _, _, parameters, lines, results = function
    values = dict(zip(parameters, args, strict=True))
    peak = most_held(lines, results, eval(WengertList(lines), values)) if lines else 0
    return max(0, peak - sum(memory_of(tuple(values.values())).values()))


def bytes_of(x: Any) -> int:
    """The bytes of an array, dense or sparse."""
    if hasattr(x, "indptr"):
        return sum(array.nbytes for array in (x.data, x.indices, x.indptr))
    return x.nbytes if hasattr(x, "nbytes") else np.asarray(x).nbytes
