"""Convolutions and pools of ONNX: the entries of each window are gathered, then multiplied or reduced."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ops import f

from .meanings import Pad, operators, within_bounds


def windows(x: Any, kernel: Sequence[int], *, fill: float = 0, beyond: float = 0, pads: Sequence[int] = (),
            strides: Sequence[int] = (), dilations: Sequence[int] = (), auto_pad: str = "NOTSET",
            ceil_mode: int = 0) -> tuple[Any, tuple[int, ...]]:
    """x (n, c, …) as (n, c, positions, entries of a window), and the number of positions along each axis.

    fill: the value of the padding. beyond: the value past the padding, where the last windows reach it. The
    other arguments are attributes of ONNX's nodes.
    """
    sizes, steps, gaps = np.shape(x)[2:], [*strides] or [1] * len(kernel), [*dilations] or [1] * len(kernel)
    reach = [(k - 1) * gap + 1 for k, gap in zip(kernel, gaps, strict=True)]
    pads = [*pads] or [0] * 2 * len(kernel)
    if auto_pad.startswith("SAME"):
        total = [max(0, (-(-n // s) - 1) * s + r - n) for n, s, r in zip(sizes, steps, reach, strict=True)]
        halves = [n // 2 for n in total], [n - n // 2 for n in total]
        pads = [n for half in halves[::1 if auto_pad == "SAME_UPPER" else -1] for n in half]
    past_end = [0] * len(pads)  # what the last window needs: 5 entries, windows of 2, steps of 2 need 1 more
    for k, (n, s, r) in enumerate(zip(sizes, steps, reach, strict=True), len(kernel)):
        excess = (n := n + pads[k - len(kernel)]) + pads[k] - r
        if ceil_mode and excess % s and (excess // s + 1) * s < n:  # one more window begins inside of x
            past_end[k] = s - excess % s
    for widths, value in (pads, fill), (past_end, beyond):
        if any(widths):
            x = Pad(x, np.array(widths), np.array(value), np.arange(2, np.ndim(x)))
    lead, sizes = np.shape(x)[:2], np.shape(x)[2:]
    indices = sliding_window_view(np.arange(math.prod(sizes)).reshape(sizes), reach)  # raises if none fits
    indices = indices[tuple(slice(None, None, step) for step in (*steps, *gaps))]
    within_bounds((*lead, *indices.shape))
    positions = indices.shape[:len(kernel)]
    return f.reshape(x, (*lead, math.prod(sizes)))[:, :, indices.reshape(math.prod(positions), -1)], positions


def Conv(x, w, b=None, *, group=1, kernel_shape=(), **attributes):
    m, c, *kernel = np.shape(w)
    gathered, positions = windows(x, kernel, **attributes)
    gathered = f.reshape(gathered, (-1, group, c, *np.shape(gathered)[2:]))
    y = f.einsum(("ngcpk,gmck->ngmp",), gathered, f.reshape(w, (group, m // group, c, math.prod(kernel))))
    y = f.reshape(y, (-1, m, *positions))
    return y if b is None else y + f.reshape(b, (m, *(1 for _ in positions)))


def pool(reduce: Callable) -> Callable:
    """A node that pools. reduce: a reduction of the windows over their last axis."""
    def pooled(x, *, kernel_shape, **attributes):
        y, positions = reduce(x, kernel_shape, **attributes)
        return f.reshape(y, (-1, np.shape(x)[1], *positions))
    return pooled


def greatest(x, kernel, storage_order=0, **attributes):
    least = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    gathered, positions = windows(x, kernel, fill=least, beyond=least, **attributes)
    return f.max(gathered, -1), positions


def average(x, kernel, count_include_pad=0, **attributes):
    gathered, positions = windows(x, kernel, **attributes)
    ones = np.ones((1, 1, *np.shape(x)[2:]), x.dtype)
    counts, _ = windows(ones, kernel, fill=count_include_pad, **attributes)
    return f.sum(gathered, -1) / counts.sum(-1), positions


def power_mean(x, kernel, p=2, **attributes):
    gathered, positions = windows(f.power(f.abs(x), float(p)), kernel, **attributes)
    return f.power(f.sum(gathered, -1), 1.0 / p), positions


def over_all(op: str) -> Callable:
    return lambda x: getattr(f, op)(x, tuple(range(2, np.ndim(x))), True)


MaxPool, AveragePool, LpPool = map(pool, (greatest, average, power_mean))
GlobalMaxPool, GlobalAveragePool = map(over_all, ("max", "mean"))
WINDOWED = operators(vars())
