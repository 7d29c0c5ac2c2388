"""The memory of a list: how many bytes its registers hold at a time."""
from __future__ import annotations

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
    owners = {name: memory_of(x) for name, x in values.items()}
    live = {name for name in values if name in last and not any(name == dst for dst, _, _ in steps)}
    peak = 0
    for k, (dst, op, args) in enumerate(steps):
        live.add(dst)
        memory: dict[int, int] = {}
        for name in live:
            memory |= owners[name]
        inputs = [values[a] if isinstance(a, str) else a for a in args]
        inside = [within_step(*body) for body in first_steps(op, inputs)]
        peak = max(peak, sum(memory.values()) + max(inside, default=0))
        live = {name for name in live if last[name] > k}
    return peak


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
