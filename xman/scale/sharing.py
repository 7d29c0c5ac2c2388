"""A pass that shares a list's rows among workers: each computes with its own rows, and lines that join rows
are added up.

The pass tries a line on three rows, two and one, to find what it does with rows: it may compute each row by
itself, add rows up, or average them. A register is then in one of three states: rows, of which each worker
has its own; a part, whose value is the sum over the workers; or whole, the same for all. Linear lines make
parts of parts; before any other line the parts are added up by a line `x = allreduce(x_here)`. In xman's
models only batch normalisation needs such a line.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.facts import linear_in

from ..errors import XManError
from ..interpreters import eval
from ..notation import shown
from ..wengert import Line, WengertList, all_registers, fresh, registers

ROWS = 3  # the rows on which lines are tried, as two workers would have them: two and one


class SharedList(NamedTuple):
    """steps: the list of one worker. loss: its part of the loss. share: the input for its share of the
    minibatch's rows. has: the input for 1, or for 0 if it has no rows (and computes with a borrowed one)."""
    steps: WengertList
    loss: str
    share: str
    has: str


def shared(steps: WengertList, loss: str, values: Mapping[str, Any], fewer: Mapping[str, Any],
           outputs: Iterable[str], size: int) -> SharedList:
    """The list of one of `size` workers, in which the loss and the registers in outputs have the values that
    all rows together give.

    values: all inputs, of which those with rows have three; fewer: two rows of these. XManError with a line
    that workers cannot share.
    """
    reserved = {*all_registers(steps)}
    steps = in_means(steps, *tried_on_rows(steps, values, fewer), reserved)
    three, axes = tried_on_rows(steps, values, fewer)
    share, has = fresh("share_of_rows", reserved), fresh("has_rows", reserved)
    lines: list[Line] = []
    partials: dict[str, str] = {}   # for each register that is a part, the register of this worker's part
    added: dict[str, str] = {}

    def total(a: Any) -> Any:
        """The register, added up over the workers if it is a part."""
        if a in partials and a not in added:
            lines.append((a, "allreduce", (partials[a],)))
            added[a] = a
        return a

    for line in steps:
        dst, op, args = line
        names = [*registers(args)]
        if any(a in axes for a in names):
            args = tuple(total(a) if isinstance(a, str) else a for a in args)
            combination = taken_together(line, three, axes)
            if combination == "rows":
                lines.append((dst, op, args))
                continue
            partials[dst], local = fresh(f"{dst}_here", reserved), fresh(f"{dst}_of_rows", reserved)
            weight = share if combination == "mean" else has
            lines += [(local, op, args), (partials[dst], "mul", (local, weight))]
        elif not any(a in partials for a in names):
            lines.append(line)
        elif linear_in(op, [k for k, a in enumerate(args) if isinstance(a, str) and a in partials]):
            terms = []
            for a in args:
                if a in partials or ops.facts_of(op).flow != "plus":
                    terms.append(partials.get(a, a) if isinstance(a, str) else a)
                elif isinstance(a, str):  # a value that all workers have is added once
                    terms.append(fresh(f"{a}_here", reserved))
                    lines.append((terms[-1], "divide", (a, float(size))))
                else:
                    terms.append(a / size)
            partials[dst] = fresh(f"{dst}_here", reserved)
            lines.append((partials[dst], op, tuple(terms)))
        else:
            lines.append((dst, op, tuple(total(a) if isinstance(a, str) else a for a in args)))
    if loss not in partials:
        partials[loss] = fresh(f"{loss}_here", reserved)
        lines.append((partials[loss], "divide", (loss, float(size))))
        added[loss] = loss
    for name in (loss, *outputs):
        total(name)
    return SharedList(WengertList(lines), partials[loss], share, has)


def in_means(steps: WengertList, three: Mapping[str, Any], axes: Mapping[str, tuple],
             reserved: set[str]) -> WengertList:
    """The list with means in place of variances over rows, E(x − E x)², and of centered rows, x − E x."""
    lines: list[Line] = []
    for dst, op, args in steps:
        if op not in ("var", "centered") or args[0] not in axes:
            lines.append((dst, op, args))
            continue
        x, axis, *keepdims = (*args, None) if len(args) == 1 else args
        over = range(np.ndim(three[x])) if axis is None else np.ravel(axis) % np.ndim(three[x])
        if axes[x][0] not in over or len(keepdims) > 1:
            lines.append((dst, op, args))
            continue
        mean = fresh(f"{dst}_mean", reserved)
        apart = fresh(f"{dst}_apart", reserved) if op == "var" else dst
        lines += [(mean, "mean", (x, axis, True)), (apart, "subtract", (x, mean))]
        if op == "var":
            square = fresh(f"{dst}_square", reserved)
            lines += [(square, "square", (apart,)), (dst, "mean", (square, axis, *keepdims))]
    return WengertList(lines)


def tried_on_rows(steps: WengertList, values: Mapping[str, Any],
          two: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple]]:
    """(the values for three rows, {register: (the axis of its rows, the entries of a row along it)})."""
    random = np.random.default_rng(0)
    moved = {name: x + random.normal(0, 0.1, x.shape).astype(x.dtype) for name, x in values.items()
             if name not in two and isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.ndim}
    values = {**values, **moved}  # not zeros, for which every line would seem to do everything
    with np.errstate(all="ignore"):
        three = eval(steps, values)
        fewer = eval(steps, values | two)
    axes = {}
    for name, x in three.items():
        a, b = np.shape(x), np.shape(fewer[name])
        if a != b:
            k = next((k for k in range(len(a)) if len(a) == len(b) and a[k] != b[k]), 0)
            if len(a) != len(b) or a[k] * 2 != b[k] * ROWS or a[:k] + a[k + 1:] != b[:k] + b[k + 1:]:
                raise XManError(f"{name!r} has shape {a} for three rows and {b} for two, so workers cannot "
                                "share its rows")
            axes[name] = k, a[k] // ROWS
    return three, axes


def taken_together(line: Line, three: Mapping[str, Any], axes: Mapping[str, tuple]) -> str:
    """"rows", "sum" or "mean": whether a line computes each row by itself, or joins them. XManError if it
    does something else."""
    dst, op, args = line

    def of(start: int, stop: int) -> Any:
        def piece(a: Any) -> Any:
            if not isinstance(a, str) or a not in axes:
                return three[a] if isinstance(a, str) else a
            axis, m = axes[a]
            return three[a][(slice(None),) * axis + (slice(start * m, stop * m),)]
        with np.errstate(all="ignore"):
            return ops.G[op](*map(piece, args))

    first, last, out = of(0, 2), of(2, ROWS), three[dst]
    if dst in axes:
        axis = axes[dst][0]
        if (hasattr(out, "tocsr") and axis == 0) or same_entries(np.concatenate([first, last], axis), out):
            return "rows"
    else:
        combinations = [name for name, joined in (("sum", first + last), ("mean", (2 * first + last) / ROWS))
                        if same_entries(joined, out)]
        if combinations:
            return combinations[-1] if op == "mean" else combinations[0]
    raise XManError(f"{shown(line)}: it takes rows together by more than a sum or a mean, so workers cannot "
                    "share them; train by one worker, without --accumulate")


def same_entries(estimate: Any, out: Any) -> bool:
    """Whether both are equal up to rounding."""
    estimate, out = np.asarray(estimate, float), np.asarray(out, float)
    scale = np.max(np.abs(out), initial=0.0, where=np.isfinite(out))
    return estimate.shape == out.shape and np.allclose(estimate, out, 1e-3, 1e-4 * scale, equal_nan=True)
