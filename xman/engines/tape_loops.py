"""The loops of the tape, made of its rows: as machine code by Numba, or in NumPy, and the order of the lines that suits them.

For one set of inputs a loop forward chooses an operator once a run; with derivatives it leaves the partials ∂out/∂x and
∂out/∂y beside each value, and the loop back needs no operators: it adds delta·partial to the deltas of x and y. For a batch,
and where runs are long, both loops gather CHUNK lines of a run, so that what is left are loops over arrays.
"""
from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import G

from .tape_lines import ROWS, D, F, P

CHUNK = 64  # lines
SHARED = list(ROWS).index("ratio")  # rows from here on share one loop, which spares the compiler seconds
READS = np.array([[bool(re.search(rf"\b{name}\b", " ".join(row[:3]))) for row in ROWS.values()] for name in "yz"])
SENDS = np.array([[dx > "", dy > ""] for _, dx, dy, _ in ROWS.values()]).T
KINDS = np.array([kind for *_, kind in ROWS.values()], np.uint8)

HELPERS = """
@inline
def where(condition, x, y):
    return x if condition else y

@inline
def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))

@inline
def expDifference(x, y):
    if x == y:
        return 0.0 if x == -inf else 1.0
    return exp(x - y)

@inline
def mended(delta, partial, other, kind):
    if kind & 1 and delta == 0.0 and (kind & 4 == 0 or other - other == 0.0) or kind & 2 and partial == 0.0:
        return 0.0
    return delta * partial
"""
FORWARD = """
def loop(v, p, q, codes, starts, a, b, c, first):
    for t in range(len(codes)):
        code, start, stop = codes[t], starts[t], starts[t + 1]
"""
LINE = """
for k in range(start, stop):
    x, y, z = v[a[k]], v[b[k]], v[c[k]]
    v[first + k] = out = {value}
    p[k] = {dx}
    q[k] = {dy}"""
BACK = """
def loop(d, p, q, kinds, to, also, v, a, b, first):
    for k in range(len(to) - 1, -1, -1):
        delta = d[first + k]
        one, two = delta * p[k], delta * q[k]
        if one != one:
            one = mended(delta, p[k], v[b[k]], kinds[k])
        if two != two:
            two = mended(delta, q[k], v[a[k]], kinds[k] >> 4)
        d[to[k]] += one
        d[also[k]] += two
"""
CHUNKS = """
@inline
def gather(x, v, a, start, m):
    for i in range(m):
        r, s = a[start + i] * W, i * W
        {load}
        {store}

@inline
def scatter(d, p, other, kind, to, start, m, first):
    for i in range(m):
        r, s, t = (first + start + i) * W, i * W, to[start + i] * W
        {deltas}
        total = {total}
        if total != total and kind:
            {mended}
        {sums}
        {add}

def loop(v, d, X, Y, Z, P, Q, codes, starts, a, b, c, to, also, first):
    for t in range({runs}):
        code, begin, end = codes[t], starts[t], starts[t + 1]
        while begin < end:
            m = min(end - begin, CHUNK)
            start = {start}
            {step}
            place, n = (first + start) * W, m * W
            gather(X, v, a, start, m)
            if READS[0, code]:
                gather(Y, v, b, start, m)
            if READS[1, code]:
                gather(Z, v, c, start, m)
"""
