"""Folding: lines that one call of BLAS computes become one line, in an order that saves memory.

A line `gemm(alpha, s, a, ta, b, tb, c)` is alpha·s·a@b + c: alpha is a number, s a register with one number
or None; a and b are matrices, transposed where ta and tb hold; c is a register of the product's shape, or
None. W_next = W − lr·(Xᵀ @ d) is one such line; as it overwrites W, the gradient never takes memory.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..notation.text import lines_as_text
from ..wengert import Line, needed, registers
from .program import GEMM, Kind, Program

TINY = 512  # multiplications: for a product with no more of them loops are quicker than a call of BLAS


class FoldedLines(list[Line]):
    """Lines that print themselves as a WengertList does, which has no operator `gemm()`."""

    def __str__(self) -> str: return "\n".join(lines_as_text(self, aligned=False))


def folded(program: Program) -> FoldedLines:
    """The lines, with products of matrices as `gemm`; tiny products, and those with vectors, stay.

        t = transpose(X)            t in `flipped` leads to X
        g = dot(t, d)               gemm(1.0, None, X, True, d, False, None)
        s = mul(g, lr)              gemm(1.0, lr, X, True, d, False, None), as only this line reads g
        W_next = subtract(W, s)     gemm(-1.0, lr, X, True, d, False, W), as only this line reads s

    Nothing reads t, g and s any more: one line is left.
    """
    kinds = program.kinds
    uses = Counter(a for _, _, args in program.steps for a in registers(args))
    uses.update((*program.outputs, *program.inplace))
    gemms: dict[str, tuple] = {}      # the arguments of each gemm
    flipped: dict[str, str] = {}     # the matrix that each is the transpose of
    lines: list[Line] = []
    for line in program.steps:
        dst, op, args = line
        if op in ("transpose", "mT") and is_matrix(args[0], kinds) and args[1:] in ((), (None,), ((1, 0),)):
            flipped[dst] = args[0]
        if gemm := gemm_of(line, kinds, flipped) or absorbed(line, program, gemms, uses):
            gemms[dst] = gemm
        lines.append((dst, GEMM, gemm) if gemm else line)
    return FoldedLines(needed(lines, program.at_the_end))


def is_matrix(a: Any, kinds: Mapping[str, Kind]) -> bool:
    return isinstance(a, str) and a in kinds and len(kinds[a].shape) == 2


def gemm_of(line: Line, kinds: Mapping[str, Kind], flipped: Mapping[str, str]) -> tuple | None:
    """The arguments of gemm for a dot of two matrices of one precision; None for others."""
    dst, op, args = line
    if op != "dot" or not all(is_matrix(a, kinds) for a in args):
        return None
    a, b = args
    (m, k), n, dtype = kinds[a].shape, kinds[b].shape[1], kinds[dst].dtype
    if {kinds[a].dtype, kinds[b].dtype} != {dtype} or dtype.char not in "fd":
        return None
    if m * n * k <= TINY or 1 in (m, n, k):
        return None
    return 1.0, None, flipped.get(a, a), a in flipped, flipped.get(b, b), b in flipped, None


def absorbed(line: Line, program: Program, gemms: Mapping[str, tuple], uses: Counter[str]) -> tuple | None:
    """The gemm of a product together with the one line that reads it: scaled, negated, or a sum."""
    dst, op, args = line
    kinds, takes = program.kinds, op in ("negative", "mul", "add", "subtract")
    free = [a for a in registers(args) if takes and a in gemms and uses[a] == 1]
    for z in reversed(free):  # the product that was computed last takes in the other term
        alpha, s, a, ta, b, tb, c = gemms[z]
        term, = [term for term in args if term is not z] or [None]
        kind = kinds.get(term) if isinstance(term, str) else None
        if c is not None or dst not in kinds or kinds[dst][:2] != kinds[z][:2]:
            continue
        if op == "negative":
            return -alpha, s, a, ta, b, tb, None
        if op == "mul" and is_number(term):
            return alpha * term, s, a, ta, b, tb, None
        is_argument = term in program.arguments
        if op == "mul" and s is None and kind and kind.shape == () and kind.dtype.kind == "f" and is_argument:
            return alpha, term, a, ta, b, tb, None
        if kind and kind[:2] == kinds[dst][:2] and (op == "add" or op == "subtract" and args[1] is z):
            return alpha if op == "add" else -alpha, s, a, ta, b, tb, term
    return None


def is_number(a: Any) -> bool:
    """Whether a is a number other than 0: when BLAS multiplies by 0 it does not read the matrices."""
    return isinstance(a, (int, float)) and not isinstance(a, bool) and a != 0 and bool(np.isfinite(a))


# ---- order -------------------------------------------------------------------------------------------------

def ordered(program: Program, lines: list[Line], holds: Mapping[str, frozenset[str]],
            calls: Collection[str]) -> tuple[list[Line], set[str]]:
    """The lines with each update as early as possible, and the updates that can overwrite inputs at once.

    holds: for each register those whose memory it lies in. calls: the lines that may fail. An update stands
    after these, and after the last line that reads its input. A line that only leads to updates, and has
    their shape, stands beside them, so that no gradient takes memory till the end: right after the last
    register that it reads, or, if it reads only inputs, before its first reader.

        g = exp(x)                  g = exp(x)
        y = mul(W, g)               s = mul(g, lr)              right behind g, whose memory it takes
        loss = sum(y)               y = mul(W, g)               the last line that reads W
        s = mul(g, lr)              W_next = subtract(W, s)     so it can overwrite W at once
        W_next = subtract(W, s)     loss = sum(y)
    """
    if not (inplace := program.inplace):
        return lines, set()
    # what a line waits for, who reads a register, and who reads the memory of an input, through views too
    index = {dst: k for k, (dst, _, _) in enumerate(lines)}
    waits = {dst: {a for a in registers(args) if a in index} for dst, _, args in lines}
    readers: dict[str, list[str]] = defaultdict(list)
    inside: dict[str, list[str]] = defaultdict(list)  # for each input the lines that read its memory
    for dst, _, args in lines:
        for a in {*registers(args)}:
            readers[a].append(dst)
            for x in holds.get(a, ()):
                inside[x].append(dst)
    of_updates = beside_updates(program, index, readers)
    leaves: set[str] = set()  # those of them that read inputs alone
    for dst in index:
        if dst in of_updates and dst not in inplace and dst not in calls and waits[dst] <= leaves:
            leaves.add(dst)
    first = {y: {*inside[x], *calls} - {y} for y, x in inplace.items() if y in index}
    for y, lines_before in first.items():
        waits[y] |= lines_before
    place = settled_places(index, waits, readers, of_updates, leaves)
    moved = sorted(lines, key=lambda line: place[line[0]])
    index = {dst: k for k, (dst, _, _) in enumerate(moved)}
    # the registers that are copied out at the end
    given_back = {x for name in (*program.outputs, *inplace) for x in holds.get(name, ())}
    direct = {y for y in first if all(index[r] < index[y] for r in first[y])}
    return moved, {y for y in direct if inplace[y] not in given_back}


def beside_updates(program: Program, index: Mapping[str, int], readers: Mapping[str, list[str]]) -> set[str]:
    """The updates, and the lines of their shapes that lead to them alone, as s in the example."""
    of_updates, shapes = set(program.inplace), {program.kinds[x].shape for x in program.inplace.values()}
    inner = readers.keys() & program.kinds.keys() - {*program.outputs}
    for dst in reversed(index):
        if dst in inner and program.kinds[dst].shape in shapes and of_updates.issuperset(readers[dst]):
            of_updates.add(dst)
    return of_updates


def settled_places(index: Mapping[str, int], waits: Mapping[str, set[str]], readers: Mapping[str, list[str]],
                   of_updates: Collection[str], leaves: Collection[str]) -> dict[str, tuple[int, int]]:
    """The place of each line when nothing has to move back any more. A line's own place k is (k, -1); behind
    it stand the lines (k, their own places) that are moved there."""
    place, before = {dst: (-1, -1) for dst in index}, {}
    while place != before:
        before = dict(place)
        for dst, k in index.items():
            last = max([place[a] for a in waits[dst]], default=(-1, -1))
            place[dst] = (last[0], k) if dst in of_updates else max(last, (k, -1))
            if dst in leaves:
                place[dst] = min([place[r] for r in readers[dst]])
    return place
