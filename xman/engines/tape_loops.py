"""What a tape runs: a row for each operator on numbers, the loops that are made of the rows, and the order of the lines.

The loop forward goes through runs of lines with one operator, so that it chooses an operator once a run; beside each value
it leaves the partial derivatives ∂out/∂x and ∂out/∂y. The loop back needs no operators then: it adds delta·partial to the
deltas of x and y. Each loop comes in two widths, for one number a register and for WIDTH rows of a batch at once.
"""
from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ops import G

WIDTH = 8  # rows of a batch: 64 bytes of float64, a line of the cache

# what the rules of ops make 0 although delta·partial is NaN; of x, and ×16 of y
D, P, F = 1, 2, 4  # where the delta is 0 · where the partial is 0 · with D: only if the other argument is finite

ERF, LOW = "erf(x * 0.7071067811865476)", "minimum(x, 0.0)"

#    operator          value                                    ∂out/∂x                            ∂out/∂y
ROWS: dict[str, tuple[str, str, str, int]] = {op: (*row, *("", "", 0)[len(row) - 1:]) for op, row in {
    # z, the third argument: 0 for a product, in a sum the sign of y; the condition of where
    "arithmetic":     ("where(z == 0.0, x * y, x + z * y)",     "where(z == 0.0, y, 1.0)",         "where(z == 0.0, x, z)"),
    "where":          ("where(z != 0.0, x, y)",                 "1.0 * (z != 0.0)",                "1.0 * (z == 0.0)", P + P * 16),
    "divide":         ("x / y",                                 "1.0 / y",                         "-out / y", D + (D + F) * 16),
    "power":          ("x ** y",                                "where(y == 0.0, 0.0, y * x ** (y - 1.0))",
                       "where(out == 0.0, 0.0, out * log(where(x == 0.0, 1.0, x)))", D + F + D * 16),
    "powerOf2":       ("x * x",                                 "2.0 * x", "", D),
    "ratio":          ("where(x == 0.0, 0.0, x / y)",           "1.0 / y",                         "where(out == 0.0, 0.0, -out / y)", D + D * 16),
    "scale":          ("where(x == 0.0, 0.0, x * y)",           "y",                               "x", D + P * 16),
    "maximum":        ("maximum(x, y)",                         "0.5 * (1.0 * (x > y) + (x >= y))", "0.5 * (1.0 * (y > x) + (y >= x))"),
    "minimum":        ("minimum(x, y)",                         "0.5 * (1.0 * (x < y) + (x <= y))", "0.5 * (1.0 * (y < x) + (y <= x))"),
    "atLeast":        ("maximum(x, y)",                         "1.0 * (x >= y)"),
    "atMost":         ("minimum(x, y)",                         "1.0 * (x <= y)"),
    "remainder":      ("remainder(x, y)",                       "1.0",                             "-floor_divide(x, y)"),
    "abs":            ("abs(x)",                                "sign(x)"),
    "exp":            ("exp(x)",                                "out", "", D),
    "expm1":          ("expm1(x)",                              "out + 1.0", "", D),
    "exp2":           ("exp2(x)",                               "out * 0.6931471805599453", "", D),
    "log":            ("log(x)",                                "1.0 / x", "", D),
    "log1p":          ("log1p(x)",                              "1.0 / (1.0 + x)", "", D),
    "log2":           ("log2(x)",                               "1.0 / (x * 0.6931471805599453)", "", D),
    "log10":          ("log10(x)",                              "1.0 / (x * 2.302585092994046)", "", D),
    "sqrt":           ("sqrt(x)",                               "0.5 / abs(out)", "", D),
    "cbrt":           ("cbrt(x)",                               "1.0 / (3.0 * out * out)", "", D),
    "sin":            ("sin(x)",                                "cos(x)"),
    "cos":            ("cos(x)",                                "-sin(x)"),
    "tan":            ("tan(x)",                                "1.0 + out * out", "", D),
    "arcsin":         ("arcsin(x)",                             "1.0 / sqrt(1.0 - x * x)", "", D),
    "arccos":         ("arccos(x)",                             "-1.0 / sqrt(1.0 - x * x)", "", D),
    "arctan":         ("arctan(x)",                             "1.0 / (1.0 + x * x)"),
    "sinh":           ("sinh(x)",                               "cosh(x)", "", D),
    "cosh":           ("cosh(x)",                               "sinh(x)", "", D),
    "tanh":           ("tanh(x)",                               "1.0 - out * out"),
    "arcsinh":        ("arcsinh(x)",                            "1.0 / hypot(x, 1.0)"),
    "arccosh":        ("arccosh(x)",                            "1.0 / sqrt((x - 1.0) * (x + 1.0))", "", D),
    "arctanh":        ("arctanh(x)",                            "1.0 / ((1.0 - x) * (1.0 + x))", "", D),
    "arctan2":        ("arctan2(x, y)",                         "where(y == 0.0, 0.0, y / (x * x + y * y))",
                       "where(x == 0.0, 0.0, -x / (x * x + y * y))", (D + F) * 17),
    "hypot":          ("hypot(x, y)",                           "where(x == 0.0, 0.0, x / out)",   "where(y == 0.0, 0.0, y / out)"),
    "erf":            ("erf(x)",                                "1.1283791670955126 * exp(-x * x)"),
    "logaddexp":      ("logaddexp(x, y)",                       "expDifference(x, out)",           "expDifference(y, out)"),
    "expDifference":  ("expDifference(x, y)",                   "out",                             "-out"),
    "sigmoid":        ("sigmoid(x)",                            "out * (1.0 - out)"),
    "logSigmoid":     ("-logaddexp(0.0, -x)",                   "sigmoid(-x)"),
    "softplus":       ("logaddexp(0.0, x)",                     "sigmoid(x)"),
    "silu":           ("x * sigmoid(x)",                        "sigmoid(x) * (1.0 + (x - out))"),
    "gelu":           (f"x * (0.5 * (1.0 + {ERF}))",            f"0.5 * (1.0 + {ERF}) + x * (exp(-0.5 * (x * x)) * 0.3989422804014327)"),
    "relu":           ("maximum(x, 0.0)",                       "1.0 * (x > 0.0)"),
    "leakyRelu":      ("where(x > 0.0, x, y * x)",              "where(x > 0.0, 1.0, y)",          LOW),
    "elu":            (f"where(x > 0.0, x, y * expm1({LOW}))",  "where(x > 0.0, 1.0, out + y)",    f"expm1({LOW})"),
    "squaredError":   ("0.5 * ((x - y) * (x - y))",             "x - y",                           "y - x"),
    "equal":          ("1.0 * (x == y)",),
    "not_equal":      ("1.0 * (x != y)",),
    "less":           ("1.0 * (x < y)",),
    "less_equal":     ("1.0 * (x <= y)",),
    "greater":        ("1.0 * (x > y)",),
    "greater_equal":  ("1.0 * (x >= y)",),
    "logical_and":    ("1.0 * ((x != 0.0) & (y != 0.0))",),
    "logical_or":     ("1.0 * ((x != 0.0) | (y != 0.0))",),
    "logical_not":    ("1.0 * (x == 0.0)",),
    "isnan":          ("1.0 * (x != x)",),
    "isfinite":       ("1.0 * (x - x == 0.0)",),
    "sign":           ("sign(x)",),
    "floor":          ("floor(x)",),
    "ceil":           ("ceil(x)",),
    "trunc":          ("trunc(x)",),
    "rint":           ("rint(x)",),
    "floor_divide":   ("floor_divide(x, y)",),
}.items()}
CODE = {op: code for code, op in enumerate(ROWS)}
INLINE = CODE["atLeast"]  # operators from here on share one loop, which spares the compiler seconds

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
        code, start, stop = codes[t], starts[t], starts[t + 1]"""
BACK = """
def loop(d, p, q, kinds, to, also, v, a, b, first):
    for k in range(len(to) - 1, -1, -1):
        for j in range({width}):
            delta = d[first + k{j}]
            one, two = delta * p[k{j}], delta * q[k{j}]
            if one != one:
                one = mended(delta, p[k{j}], v[b[k]{j}], kinds[k])
            if two != two:
                two = mended(delta, q[k{j}], v[a[k]{j}], kinds[k] >> 4)
            d[to[k]{j}] += one
            d[also[k]{j}] += two
"""


def source(kind: str, width: int) -> str:
    """The text of a loop: its kind is values, partials or back."""
    j = ", j" if width > 1 else ""
    if kind == "back":
        return HELPERS + BACK.format(width=width, j=j)
    each = f"""
            for k in range(start, stop):
                for j in range({width}):
                    x, y, z = v[a[k]{j}], v[b[k]{j}], v[c[k]{j}]"""
    text = HELPERS + FORWARD
    for code, (value, dx, dy, _) in enumerate(ROWS.values()):
        shared = code >= INLINE
        if code == INLINE:
            text += f"\n        else:{each}"
        found = [f"v[first + k{j}] = out = {value}", *(f"{name}[k{j}] = {partial}" for name, partial in (("p", dx), ("q", dy))
                                                     if partial and kind == "partials")]
        indent = "\n" + " " * (24 if shared else 20)
        text += f"\n        {' ' * 12 * shared}{'if' if code in (0, INLINE) else 'elif'} code == {code}:{'' if shared else each}"
        text += "".join(indent + line for line in found)
    return text + "\n"


@functools.cache
def compiled(kind: str, width: int) -> Callable:
    """The loop as machine code, from Numba's cache on disk where it is there."""
    import numba
    text = source(kind, width)
    names = {op: value for op, value in G.items() if isinstance(value, np.ufunc)}
    space: dict[str, Any] = {**names, "inline": numba.njit, "erf": math.erf, "rint": np.rint, "inf": math.inf}
    space["__name__"] = __name__  # where the cache looks for names
    exec(compile(text, __file__, "exec"), space)
    space["loop"].__qualname__ = f"{kind}{width}"
    return numba.njit(cache=True, nogil=True, error_model="numpy")(space["loop"])


@functools.cache
def arranging() -> Callable:
    """`arrange` as machine code."""
    import numba
    return numba.njit(cache=True)(arrange)


# ---- without Numba: the same rows, a run at a time ---------------------------------------------------------------------

@functools.cache
def functions() -> list[tuple]:
    """For each row its kind and its functions of arrays (x, y, z, out): the value and the partials that it has."""
    space = {**G, "abs": np.abs, "rint": np.rint}
    return [(kind, *(eval(f"lambda x, y, z, out: {text}", space) if text else None for text in row)) for *row, kind in ROWS.values()]


@np.errstate(all="ignore")
def forward_in_numpy(kind, v, p, q, codes, starts, a, b, c, first):
    for code, start, stop in zip(codes.tolist(), starts.tolist(), starts[1:].tolist(), strict=False):
        k, place = slice(start, stop), slice(first + start, first + stop)
        x, y, z = v[a[k]], v[b[k]], v[c[k]]
        _, value, dx, dy = functions()[code]
        v[place] = out = value(x, y, z, None)
        if kind == "partials" and dx:
            p[k] = dx(x, y, z, out)
        if kind == "partials" and dy:
            q[k] = dy(x, y, z, out)


@np.errstate(all="ignore")
def back_in_numpy(d, p, q, codes, starts, to, also, v, a, b, first):
    for code, start, stop in zip(codes[::-1].tolist(), starts[-2::-1].tolist(), starts[:0:-1].tolist(), strict=False):
        k, kind = slice(start, stop), functions()[code][0]
        delta = d[first + start:first + stop]
        for partial, place, other, bits in (p[k], to[k], v[b[k]], kind), (q[k], also[k], v[a[k]], kind >> 4):
            part = delta * partial
            if bits and np.isnan(part).any():
                zero = (delta == 0) & ((bits & F == 0) | np.isfinite(other)) & (bits & D > 0) | (partial == 0) & (bits & P > 0)
                part = np.where(zero, 0.0, part)
            np.add.at(d, place, part)


# ---- the order of the lines --------------------------------------------------------------------------------------------

def arrange(codes, reads, ends, waits, after, queue, head, tail, order, starts):
    """An order of the lines in long runs of one operator: of those that can run, all of the most frequent operator next.

    codes: the operator of each line. reads: three for each line, the lines that it reads, −1 for none. The others are zeros to
    work with, but `order`, which receives the lines in their order, and `starts`, where runs begin. Returns the number of
    runs. Linear in the lines; it only indexes, so that arrays serve when it is compiled and lists when it is not.
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
