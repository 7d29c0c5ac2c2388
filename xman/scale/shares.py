"""Minibatches, and the rows of each that belong to each worker; and the pass that shares a list's rows among
workers: each computes with its own rows, and lines that join rows are added up.

The pass tries a line on three rows, two and one, to find what it does with rows: it may compute each row by
itself, add rows up, or average them. A register is then in one of three states: rows, of which each worker
has its own; a part, whose value is the sum over the workers; or whole, the same for all. Linear lines make
parts of parts; before any other line the parts are added up by a line `x = allreduce(x_here)`. In xman's
models only batch normalisation needs such a line.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.facts import linear_in

from ..errors import XManError
from ..interpreters import eval
from ..notation import shown
from ..wengert import Line, WengertList, all_registers, fresh, registers
from .mpi import workers

# bytes of X that are gathered at once: few calls for small rows, and all fits into the cache
BLOCK = 2 ** 18
ROWS = 3  # the rows on which lines are tried, as two workers would have them: two and one


class Shares:
    """The rows of each minibatch, cut into `each` pieces for each worker, which takes them one after another.

    Results of pieces are added up like those of workers, so that one process can take the steps of several.
    objective: the `train.objective.Objective` of the run. Pieces of a minibatch follow one another, and their
    sizes differ by at most a row; a piece without rows borrows one, whose result does not count.
    """

    def __init__(self, objective: Any, each: int):
        self.workers, self.each, self.objective = workers(), each, objective
        self.pieces = functools.cache(self.pieces_of)
        self.size = self.workers.size * each
        self.list = shared(objective, self.size)

    def bounds(self, piece: int, rows: int) -> tuple[int, int, int]:
        """The beginning and end of a piece of a minibatch of `rows`, of a borrowed row if it has none; and
        how many rows it has."""
        start, stop = rows * piece // self.size, rows * (piece + 1) // self.size
        first = min(start, rows - 1)
        return (start, stop, stop - start) if start < stop else (first, first + 1, 0)

    def slice_of(self, rows: int, borrowed: bool = True) -> slice:
        """The slice of a minibatch's rows that this worker has, with or without a row that it borrows."""
        first, size = self.workers.rank * self.each, self.size
        if not borrowed:
            return slice(rows * first // size, rows * (first + self.each) // size)
        return slice(self.bounds(first, rows)[0], self.bounds(first + self.each - 1, rows)[1])

    def pieces_of(self, rows: int, number: type) -> list[tuple[slice, dict[str, Any]]]:
        """(its slice of this worker's rows, the values of share and has) for each piece."""
        pieces, begin = [], self.slice_of(rows).start
        for piece in range(self.workers.rank * self.each, (self.workers.rank + 1) * self.each):
            start, stop, real = self.bounds(piece, rows)
            shares = {self.list.share: number(real / rows), self.list.has: number(real > 0)}
            pieces.append((slice(start - begin, stop - begin), shares))
        return pieces


def inputs_of_rows(objective: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(all inputs of a minibatch of three rows, those that have rows as two rows have them)."""
    numbers = np.arange(ROWS) % objective.X.shape[0]
    inputs, fewer = (objective.minibatch_inputs(objective.X[k], objective.y[k], k, 0)
                     for k in (numbers, numbers[:2]))
    return inputs, {x: a for x, a in fewer.items() if np.shape(a) != np.shape(inputs[x])}


class Minibatches:
    """The data in minibatches of `size` rows; the last one of an epoch has the rows that are left.

    X: an array, or a sparse matrix in CSR form; y: an array; both have a row for each example. Dense
    minibatches are views of a buffer, which the next ones overwrite; a minibatch of all rows is the data
    themselves. The order of an epoch depends on the seed and its number alone. slice_of: from a number of
    rows to this worker's slice of them.
    """

    def __init__(self, X: Any, y: np.ndarray, size: int, seed: int, slice_of: Callable[[int], slice] = slice):
        self.rows, self.size, self.seed, self.slice_of = X.shape[0], size, seed, slice_of
        self.count = -(-self.rows // size)
        self.dense = isinstance(X, np.ndarray)
        self.X, self.y = in_rows(X) if self.dense else X, in_rows(y)
        bytes_a_row = max(1, self.X[:1].nbytes) if self.dense else BLOCK
        self.block = max(1, BLOCK // (bytes_a_row * len(range(size)[slice_of(size)])))
        self.buffers: tuple = ()

    def epoch(self, number: int, first: int = 0) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """(X, y, numbers of the rows) for each minibatch of epoch `number`, from minibatch `first` on."""
        size = self.size
        if self.count == 1:
            if first == 0:
                arrays, share = (self.X, self.y, np.arange(self.rows)), self.slice_of(self.rows)
                yield arrays if self.slice_of is slice else tuple(a[share] for a in arrays)
            return
        order, count = np.random.default_rng([self.seed, number]).permutation(self.rows), self.rows // size
        full, last = order[:count * size].reshape(count, size)[:, self.slice_of(size)], order[count * size:]
        # a resumed epoch has the same blocks, so that each row has the same place in memory
        for block in range(first - first % self.block, self.count, self.block):
            minibatches, end = [*full[block:block + self.block]], 0
            if len(last) and block + self.block >= self.count:
                minibatches.append(last[self.slice_of(len(last))])
            X, y = self.gathered(np.concatenate(minibatches) if len(minibatches) > 1 else minibatches[0])
            for k, numbers in enumerate(minibatches, block):
                places, end = slice(end, end + len(numbers)), end + len(numbers)
                if k >= first:
                    yield (X[places], y[places], numbers) if self.dense else (X, y, numbers)

    def gathered(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """The rows with these numbers, in this order."""
        if not self.dense:
            return self.X[numbers], self.y[numbers]
        if not self.buffers:
            n = min(self.block * self.size, self.rows)
            self.buffers = tuple(np.empty((n, *a.shape[1:]), a.dtype) for a in (self.X, self.y))
        # mode "raise" would gather into another buffer first, and no number is out of range
        X, y = (buffer[:len(numbers)] for buffer in self.buffers)
        return self.X.take(numbers, 0, X, "clip"), self.y.take(numbers, 0, y, "clip")


def in_rows(a: np.ndarray) -> np.ndarray:
    """a with contiguous rows in this machine's byte order: otherwise `take` copies it at each call."""
    return np.ascontiguousarray(a, None if a.dtype.isnative else a.dtype.newbyteorder("="))


class SharedList(NamedTuple):
    """steps: the list of one worker. loss: its part of the loss. share: the input for its share of the
    minibatch's rows. has: the input for 1, or for 0 if it has no rows (and computes with a borrowed one)."""
    steps: WengertList
    loss: str
    share: str
    has: str


def shared(objective: Any, size: int) -> SharedList:
    """The list of one of `size` workers, in which the loss and what is running have the values that all rows
    together give. XManError with a line that workers cannot share."""
    steps, loss, (inputs, fewer) = objective.steps, objective.loss, inputs_of_rows(objective)
    reserved, values = {*all_registers(steps)}, objective.inputs | inputs
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
                is_part = isinstance(a, str) and a in partials
                if not is_part and ops.facts_of(op).flow == "plus":  # what all workers have is added once
                    lines.append((fresh(f"{dst}_term", reserved), "divide", (a, float(size))))
                    a = lines[-1][0]
                terms.append(partials[a] if is_part else a)
            partials[dst] = fresh(f"{dst}_here", reserved)
            lines.append((partials[dst], op, tuple(terms)))
        else:
            lines.append((dst, op, tuple(total(a) if isinstance(a, str) else a for a in args)))
    if loss not in partials:
        partials[loss] = fresh(f"{loss}_here", reserved)
        lines.append((partials[loss], "divide", (loss, float(size))))
        added[loss] = loss
    for name in (loss, *objective.running.values()):
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
    places = {name: place_of_rows(name, x, fewer[name]) for name, x in three.items()}
    return three, {name: place for name, place in places.items() if place}


def place_of_rows(name: str, x: Any, fewer: Any) -> tuple | None:
    """(the axis of a register's rows, the entries of a row along it), None where it has none; of a bundle a
    tuple of these. x, fewer: its values for three rows and for two."""
    if isinstance(x, ops.Bundle):
        places = tuple(place_of_rows(name, *pair) for pair in zip(x, fewer, strict=True))
        return places if any(places) else None
    a, b = np.shape(x), np.shape(fewer)
    return ((k := axis_of_rows(name, a, b)), a[k] // ROWS) if a != b else None


def in_rows_from(start: int, stop: int, x: Any, place: tuple | None) -> Any:
    """x for these rows alone; what has none is the same for all."""
    if place and isinstance(x, ops.Bundle):
        return ops.Bundle(in_rows_from(start, stop, *pair) for pair in zip(x, place, strict=True))
    return x[(slice(None),) * place[0] + (slice(start * place[1], stop * place[1]),)] if place else x


def joins_rows(first: Any, last: Any, out: Any, place: tuple | None) -> bool:
    """Whether out has the rows of first and last, one after another; what has none is the same in all."""
    if isinstance(out, ops.Bundle):
        return all(map(joins_rows, first, last, out, place or [None] * len(out)))
    if not place:
        return same_entries(first, out) and same_entries(last, out)
    axis, _ = place
    return (hasattr(out, "tocsr") and axis == 0) or same_entries(np.concatenate([first, last], axis), out)


def axis_of_rows(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """The axis of a register's rows. a, b: its shapes for three rows and for two, which differ."""
    k = next((k for k in range(len(a)) if len(a) == len(b) and a[k] != b[k]), 0)
    if len(a) != len(b) or a[k] * 2 != b[k] * ROWS or a[:k] + a[k + 1:] != b[:k] + b[k + 1:]:
        raise XManError(f"{name!r} has shape {a} for three rows and {b} for two: no worker can have its rows")
    return k


def taken_together(line: Line, three: Mapping[str, Any], axes: Mapping[str, tuple]) -> str:
    """"rows", "sum" or "mean": whether a line computes each row by itself, or joins them. XManError if it
    does something else."""
    dst, op, args = line

    def of(start: int, stop: int) -> Any:
        pieces = [in_rows_from(start, stop, three[a], axes.get(a)) if isinstance(a, str) else a for a in args]
        with np.errstate(all="ignore"):
            return ops.G[op](*pieces)

    first, last, out = of(0, 2), of(2, ROWS), three[dst]
    if dst in axes or isinstance(out, ops.Bundle):
        if joins_rows(first, last, out, axes.get(dst)):
            return "rows"
    else:
        combinations = {"sum": first + last, "mean": (2 * first + last) / ROWS}
        if same := [name for name, x in combinations.items() if same_entries(x, out)]:
            return same[-1] if op == "mean" else same[0]
    reason = "it combines rows by something other than a sum or a mean"
    raise XManError(f"{shown(line)}: {reason}: train by one worker, without --accumulate")


def same_entries(estimate: Any, out: Any) -> bool:
    """Whether both are equal up to rounding."""
    estimate, out = np.asarray(estimate, complex), np.asarray(out, complex)
    scale = np.max(np.abs(out), initial=0.0, where=np.isfinite(out))
    return estimate.shape == out.shape and np.allclose(estimate, out, 1e-3, 1e-4 * scale, equal_nan=True)
