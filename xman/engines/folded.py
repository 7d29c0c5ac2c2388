"""Folding: what BLAS does in one call becomes one line, and the lines stand in the order in which memory likes them.

A line `gemm(alpha, s, a, ta, b, tb, c)` is alpha·s·a@b + c: alpha a number, s a register with one number or None, a and b
matrices, transposed where ta and tb hold, c a register that spreads to the product, or None. A gradient that only moves
its parameter, W_next = W − lr·(Xᵀ @ d), is one such line, and with W overwritten by it there is no gradient in memory.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..wengert import Line, needed, registers
from .program import GEMM, Kind, Program


def folded(program: Program, rows: bool = True) -> list[Line]:
    """The lines of the program with its products of matrices as `gemm`. rows: also where c is a row that is spread."""
    kinds = program.kinds
    uses = Counter(a for _, _, args in program.steps for a in registers(args))
    uses.update((*program.outputs, *program.inplace))
    made: dict[str, tuple] = {}      # the arguments of each gemm
    flipped = {dst: args[0] for dst, op, args in program.steps if op in ("transpose", "mT") and dst in kinds
               and len(kinds[dst].shape) == 2 and args[1:] in ((), (None,), ((1, 0),))}
    lines: dict[str, Line] = {}
    for dst, op, args in program.steps:
        found = gemm_of(dst, op, args, kinds, flipped) or absorbed(dst, op, args, kinds, made, uses, rows)
        if found:
            made[dst] = found
            for z in args:  # the product that this line is made of
                if z in made and z != dst and uses[z] == 1 and z in lines and z not in found:
                    del lines[z]
            lines[dst] = (dst, GEMM, found)
        else:
            lines[dst] = (dst, op, args)
    return needed([*lines.values()], (*program.outputs, *program.inplace))


def gemm_of(dst: str, op: str, args: tuple, kinds: Mapping[str, Kind], flipped: Mapping[str, str]) -> tuple | None:
    """The gemm that a dot of two matrices of one precision is."""
    if op != "dot" or not all(isinstance(a, str) and a in kinds and len(kinds[a].shape) == 2 for a in args):
        return None
    a, b = args
    if not kinds[a].dtype == kinds[b].dtype == kinds[dst].dtype or kinds[dst].dtype.kind != "f" or kinds[dst].dtype.itemsize < 4 \
            or 0 in (*kinds[a].shape, *kinds[b].shape):
        return None
    return 1.0, None, flipped.get(a, a), a in flipped, flipped.get(b, b), b in flipped, None


def absorbed(dst: str, op: str, args: tuple, kinds: Mapping[str, Kind], made: Mapping[str, tuple], uses: Mapping[str, int],
             rows: bool) -> tuple | None:
    """The gemm that a product becomes together with the line that alone reads it: scaled, negated, or something added."""
    free = [a for a in registers(args) if a in made and uses[a] == 1]
    for z in reversed(free):  # what was computed last is added to what was there before
        alpha, s, a, ta, b, tb, c = made[z]
        rest = [other for other in args if other is not z]
        if dst not in kinds or kinds[dst][:2] != kinds[z][:2]:
            continue
        if op == "negative" and c is None:
            return -alpha, s, a, ta, b, tb, None
        if op == "mul" and c is None and len(rest) == 1:
            if is_number(rest[0]):
                return alpha * rest[0], s, a, ta, b, tb, None
            if s is None and isinstance(rest[0], str) and rest[0] in kinds and kinds[rest[0]].shape == () \
                    and kinds[rest[0]].dtype.kind == "f":
                return alpha, rest[0], a, ta, b, tb, None
        if c is None and len(rest) == 1 and isinstance(rest[0], str) and kinds[rest[0]].dtype == kinds[dst].dtype \
                and (kinds[rest[0]].shape == kinds[dst].shape or rows):
            if op == "add":
                return alpha, s, a, ta, b, tb, rest[0]
            if op == "subtract" and args[1] is z:
                return -alpha, s, a, ta, b, tb, rest[0]
    return None


def is_number(a: Any) -> bool:
    """Whether a is a literal other than 0, with which BLAS would not look at the matrices."""
    return isinstance(a, (int, float)) and not isinstance(a, bool) and a != 0 and bool(np.isfinite(a))


# ---- order ----------------------------------------------------------------------------------------------------------

def ordered(lines: list[Line], inplace: Mapping[str, str], outputs: Collection[str], holds: Mapping[str, frozenset[str]],
            kinds: Mapping[str, Kind], after: int = -1) -> tuple[list[Line], set[str]]:
    """The lines with each update as early as it can be, and the updates that can be written over their inputs at once.

    inplace: the input that each update overwrites. holds: the registers whose memory each register is in. An update
    stands after the last line that reads what it overwrites, and after line number `after`, the last that may fail. What
    leads to updates alone and has their shape stands with them, so that no gradient waits for the end.
    """
    index = {dst: k for k, (dst, _, _) in enumerate(lines)}
    readers: dict[str, list[str]] = {}
    inside: dict[str, list[str]] = {}  # the lines that read the memory of an input that is overwritten
    for dst, _, args in lines:
        for a in {*registers(args)}:
            readers.setdefault(a, []).append(dst)
            for x in holds.get(a, ()):
                inside.setdefault(x, []).append(dst)
    of_updates, shapes = set(inplace), {kinds[x].shape for x in inplace.values()}
    for dst, _, _ in reversed(lines):
        if dst not in outputs and dst in readers and of_updates.issuperset(readers[dst]) and dst in kinds and (
                kinds[dst].shape in shapes):
            of_updates.add(dst)
    position: dict[str, float] = {}
    of_inputs = []  # what leads to updates and is computed from inputs alone: it stands before its first reader
    for k, (dst, _, args) in enumerate(lines):
        position[dst] = k
        if dst in of_updates:
            position[dst] = max([position[a] for a in registers(args) if a in position], default=-1)
            of_inputs += [dst] * (position[dst] == -1 and dst not in inplace)
        if dst in inplace:
            others = [position.get(r, index[r]) for r in inside.get(inplace[dst], ()) if r != dst]
            position[dst] = max([position[dst], after, *others]) + 0.5
    for dst in reversed(of_inputs):
        position[dst] = min(position[r] for r in readers[dst]) - 0.25
    moved = sorted(lines, key=lambda line: position[line[0]])
    place = {dst: k for k, (dst, _, _) in enumerate(moved)}
    if any(place[a] >= place[dst] for dst, _, args in moved for a in registers(args) if a in place):
        moved, place = lines, index
    given_back = {x for name in outputs for x in holds.get(name, ())}
    direct = {y for y, x in inplace.items() if y in place and x not in given_back and place[y] > after
              and all(place[r] < place[y] for r in inside.get(x, ()) if r != y)}
    return moved, direct
