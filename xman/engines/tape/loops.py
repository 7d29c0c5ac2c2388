"""The loops of the tape, made of its rows: as machine code by Numba, or in NumPy,
and the order of the lines that suits them.

For one set of inputs a loop forward chooses an operator once a run; with derivatives it leaves the partials
∂out/∂x and ∂out/∂y beside each value, and the loop back needs no operators: it adds delta·partial to the
deltas of x and y. For a batch, and where runs are long, both loops gather CHUNK lines of a run,
so that what is left are loops over arrays.
"""
from __future__ import annotations

import functools
import math
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ops import G

from . import lanes
from .lines import CODE, ROWS

CHUNK = 64  # lines
SHARED = list(ROWS).index("ratio")  # rows from here on share one loop, which spares the compiler seconds
READS = np.array([[bool(re.search(rf"\b{name}\b", " ".join(row[:3]))) for row in ROWS.values()] for name in ("y", "z", "out")])
SENDS = np.array([[dx > "", dy > ""] for _, dx, dy in ROWS.values()]).T

HELPERS = """
@inline
def sigmoid(x):
    e = exp(-abs(x))
    return where(x < 0.0, e, 1.0) / (1.0 + e)

@inline
def sin(x):
    return near_sin(x) if NEAR or abs(x) < FAR else far_sin(x)

@inline
def cos(x):
    return near_cos(x) if NEAR or abs(x) < FAR else far_cos(x)

@inline
def expDifference(x, y):
    if x == y:
        return 0.0 if x == -inf else 1.0
    return exp(x - y)
"""
LOOP = """
def loop(v, d, p, q, X, Y, Z, O, E, codes, starts, a, b, c, to, also, first):
"""
FORWARD = f"""{LOOP}    found = v[first:]
    for t in range(len(codes)):
        code, start, stop = codes[t], starts[t], starts[t + 1]
"""
BACK = f"""{LOOP}    own = d[first:]
    for k in range(len(to) - 1, -1, -1):
        delta = own[k]
        d[to[k]] += delta * p[k]
        d[also[k]] += delta * q[k]
"""
CHUNKS = """
@inline
def gather(X, v, a, start, m):
    for i in range(m):
        move(X, i * W, v, a[start + i] * W)

@inline
def back(O, v, place, m):
    r = m * W
    for i in range(m):
        r -= W
        move(O, r, v, place + r)

@inline
def far(X, n):
    count = 0
    for i in range(n):
        count += abs(X[i]) > FAR
    return count

@inline
def scatter(d, E, p, to, start, m):
    for i in range(m * W):
        p[i] *= E[i]
    for i in range(m):
        add(d, to[start + i] * W, p, i * W)

{loop}    for t in range({runs}):
        begin, end = starts[t], starts[t + 1]
        while begin < end:
            code, m = codes[t], min(end - begin, CHUNK)
            start = {start}
            {step}
            place, n = (first + start) * W, m * W
            gather(X, v, a, start, m)
            if READS[0, code]:
                gather(Y, v, b, start, m)
            if READS[1, code]:
                gather(Z, v, c, start, m)
            if (code == SIN or code == COS) and far(X, n):
                code += FARTHER
"""
OWN = """            back(E, d, place, m)
            if READS[2, code]:
                back(O, v, place, m)
"""
SCATTER = """            if SENDS[0, code]:
                scatter(d, E, p, to, start, m)
            if SENDS[1, code]:
                scatter(d, E, q, also, start, m)
"""


def loop_text(kind: str) -> str:
    """The text of a loop: values, partials or back for one set of inputs,
    chunks or chunks back for W of them."""
    if kind == "back":
        return HELPERS + BACK
    if kind in ("values", "partials"):
        reads, targets = ("x, y, z = v[a[k]], v[b[k]], v[c[k]]", ["found[k] = out"] + ["p[k]", "q[k]"]
                          * (kind == "partials"))
        return HELPERS + FORWARD + switch("for k in range(start, stop):", reads, targets, " " * 8)
    if kind == "chunks":
        text = CHUNKS.format(loop=LOOP, runs="len(codes)", start="begin", step="begin += m")
        return HELPERS + text + switch("for i in range(n):", "x, y, z = X[i], Y[i], Z[i]", ["v[place + i]"],
                                       " " * 12)
    text = CHUNKS.format(loop=LOOP, runs="len(codes) - 1, -1, -1", start="end - m", step="end = start")
    reads, targets = "x, y, z, out = X[i], Y[i], Z[i], O[i]", ("", "p[i]", "q[i]")
    return HELPERS + text + OWN + switch("for i in range(n):", reads, targets, " " * 12, apart=True) + SCATTER


def switch(loop: str, reads: str, targets: Sequence[str], indent: str, apart: bool = False) -> str:
    """The choice of a row by `code`, and its loop: it reads,
    and puts the row's value and partials into the targets.

    apart: with a loop for each target, without which LLVM would not vectorise it.
    """
    text, shared = [], []
    for code, row in enumerate(ROWS.values()):
        puts = [f"{target} = {part}" for target, part in zip(targets, row[:3], strict=False) if target
                and part]
        if code >= SHARED and puts:
            shared += [f"        {'elif' if shared else 'if'} code == {code}:",
                       *(f"            {put}" for put in puts)]
        elif puts:
            text.append(f"{'elif' if text else 'if'} code == {code}:")
            for some in [[put] for put in puts] if apart else [puts]:
                text += [f"    {loop}", f"        {reads}", *(f"        {put}" for put in some)]
    return "".join(f"{indent}{line}\n" for line in [*text, "else:", f"    {loop}", f"        {reads}",
                                                    *shared])


@functools.cache
def compiled(kind: str, width: int) -> Callable:
    """The loop as machine code, from Numba's cache on disk where it is there."""
    import numba

    from .vectorised import edition
    move, add = lanes.lane_moves(width)
    names = {op: value for op, value in G.items() if isinstance(value, np.ufunc)}
    space: dict[str, Any] = {**names, "inline": numba.njit, "rint": np.rint, "inf": math.inf, "move": move,
                             "add": add,
                             "W": np.uint64(width), "CHUNK": np.uint64(CHUNK), "READS": READS, "SENDS": SENDS,
                             "NEAR": kind.startswith("chunks"), "FAR": lanes.FAR, "SIN": CODE["sin"],
                             "COS": CODE["cos"],
                             # where the cache looks for names
                             "FARTHER": CODE["farSin"] - CODE["sin"], "__name__": __name__}
    exec(compile(text := loop_text(kind), __file__, "exec"), space)
    space |= lanes.loop_functions(kind)
    made_of = [text, width, CHUNK, Path(lanes.__file__).read_text("utf-8"), edition()]
    space["loop"].__qualname__ = f"{kind.replace(' ', '_')}_{zlib.crc32(repr(made_of).encode()):x}"
    return numba.njit(cache=True, nogil=True, error_model="numpy")(space["loop"])


def loops(jit: bool, chunked: bool, width: int, back: bool) -> tuple[Callable, Callable]:
    """The loops forward and back. back: whether the one forward is to leave partials."""
    if not jit:
        return forward_in_numpy, back_in_numpy
    if chunked:
        return compiled("chunks", width), compiled("chunks back", width)
    return compiled("partials" if back else "values", 1), compiled("back", 1)


# ---- without Numba: the same rows, a run at a time ---------------------------------------------------------

@functools.cache
def row_functions() -> list[tuple]:
    """For each row its functions of arrays (x, y, z, out): the value, and the partials that it has."""
    space = {**G, "abs": np.abs, "rint": np.rint, "far_sin": np.sin, "far_cos": np.cos}
    return [tuple(text and eval(f"lambda x, y, z, out: {text}", space) for text in row[:3])
            for row in ROWS.values()]


@np.errstate(all="ignore")
def forward_in_numpy(v, d, p, q, X, Y, Z, O, E, codes, starts, a, b, c, to, also, first):
    for code, start, stop in zip(codes.tolist(), starts.tolist(), starts[1:].tolist(), strict=False):
        value, *partials = row_functions()[code]
        k = slice(start, stop)
        x, y, z = v[a[k]], v[b[k]], v[c[k]]
        v[first + start:first + stop] = out = value(x, y, z, None)
        for partial, found in zip(partials, (p, q), strict=True):
            if partial and len(found):
                found[k] = partial(x, y, z, out)


@np.errstate(all="ignore")
def back_in_numpy(v, d, p, q, X, Y, Z, O, E, codes, starts, a, b, c, to, also, first):
    for start, stop in zip(starts[-2::-1].tolist(), starts[:0:-1].tolist(), strict=True):
        k = slice(start, stop)
        delta = d[first + start:first + stop].copy()  # a line may send to itself
        for partial, place in (p[k], to[k]), (q[k], also[k]):
            np.add.at(d, place, delta * partial)


# ---- the order of the lines --------------------------------------------------------------------------------

def arranged(codes: np.ndarray, reads: np.ndarray, jit: bool) -> tuple[np.ndarray, np.ndarray]:
    """The order of the lines for `codes` and `reads` as `arrange` takes them, and where its runs begin,
    with the end."""
    n = len(codes)
    sizes = n + 1, n, np.count_nonzero(reads >= 0), n, len(ROWS) + 1, len(ROWS), n, n + 1
    if jit:
        work = [np.zeros(size, np.int32) for size in sizes]
        runs = machine_code(arrange)(codes, reads, *work)
    else:
        work = [[0] * size for size in sizes]
        runs = arrange(codes.tolist(), reads.tolist(), *work)
    return np.array(work[-2], np.int32), np.array(work[-1][:runs + 1], np.uint64 if jit else int)


@functools.cache
def machine_code(function: Callable) -> Callable:
    import numba
    return numba.njit(cache=True)(function)


def reach(reached, to, also, first):
    """Mark the slots that a delta comes to from those that are marked: to what
    only a condition reads there comes none."""
    for k in range(len(to) - 1, -1, -1):
        if reached[first + k]:
            reached[to[k]] = reached[also[k]] = True


def arrange(codes, reads, ends, waits, after, queue, head, tail, order, starts):
    """An order of the lines in long runs of one operator: of those that can run,
    all of the most frequent operator next.

    codes: the operator of each line. reads: three for each line, the lines that it reads, −1 for none. The
    others are zeros to work with, but `order`, which receives the lines in their order, and `starts`, where
    runs begin. Returns the number of runs. Linear in the lines;
    it only indexes, so that arrays serve when it is compiled and lists when it is not.
    """
    n = len(codes)
    for i in range(3 * n):
        if reads[i] >= 0:
            ends[reads[i]] += 1
            waits[i // 3] += 1
    for k in range(n):
        head[codes[k] + 1] += 1
        ends[k + 1] += ends[k]
    for i in range(3 * n - 1, -1, -1):
        if reads[i] >= 0:
            ends[reads[i]] -= 1
            after[ends[reads[i]]] = i // 3  # those that line k lets run: from ends[k] to ends[k + 1]
    for code in range(len(tail)):
        head[code + 1] += head[code]
        tail[code] = head[code]
    for k in range(n):
        if waits[k] == 0:
            queue[tail[codes[k]]] = k
            tail[codes[k]] += 1
    done = runs = 0
    while done < n:
        best = 0
        for code in range(len(tail)):
            if tail[code] - head[code] > tail[best] - head[best]:
                best = code
        starts[runs] = done
        runs += 1
        stop = tail[best]
        while head[best] < stop:
            k = queue[head[best]]
            head[best] += 1
            order[done] = k
            done += 1
            for i in range(ends[k], ends[k + 1]):
                waits[after[i]] -= 1
                if waits[after[i]] == 0:
                    queue[tail[codes[after[i]]]] = after[i]
                    tail[codes[after[i]]] += 1
    starts[runs] = n
    return runs
