"""What a line becomes on the tape: a row of the table of operators on numbers, and slots, in which numbers are kept."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

import ops
from ops import G

from ...wengert import Line

ERF, LOW = "erf(x * 0.7071067811865476)", "minimum(x, 0.0)"
SHARE, SHARE_OF_Y = "0.5 * (1.0 * (x > y) + (x >= y))", "0.5 * (1.0 * (y > x) + (y >= x))"

#   row              value                                 ∂out/∂x                         ∂out/∂y
ROWS: dict[str, tuple[str, str, str]] = {op: (*row, "", "")[:3] for op, row in {
    # z is the third argument: in a sum the sign of y, 0 for a product; the condition of where
    "arithmetic":    ("where(z == 0.0, x * y, x + z * y)", "where(z == 0.0, y, 1.0)",      "where(z == 0.0, x, z)"),
    "where":         ("where(z != 0.0, x, y)",             "1.0 * (z != 0.0)",             "1.0 * (z == 0.0)"),
    "divide":        ("x / y",                             "1.0 / y",                      "-out / y"),
    "power":         ("x ** y",                            "where(y == 0.0, 0.0, y * x ** (y - 1.0))",
                      "where(out == 0.0, 0.0, out * log(where(x == 0.0, 1.0, x)))"),
    "powerOf2":      ("x * x",                             "2.0 * x"),
    "maximum":       ("maximum(x, y)",                     SHARE,                          SHARE_OF_Y),
    "minimum":       ("minimum(x, y)",                     SHARE_OF_Y,                     SHARE),
    "abs":           ("abs(x)",                            "sign(x)"),
    "exp":           ("exp(x)",                            "out"),
    "log":           ("log(x)",                            "1.0 / x"),
    "sqrt":          ("sqrt(x)",                           "0.5 / abs(out)"),
    "sin":           ("sin(x)",                            "cos(x)"),
    "cos":           ("cos(x)",                            "-sin(x)"),
    "tanh":          ("tanh(x)",                           "1.0 - out * out"),
    "sigmoid":       ("sigmoid(x)",                        "out * (1.0 - out)"),
    "relu":          ("maximum(x, 0.0)",                   "1.0 * (x > 0.0)"),
    "less":          ("1.0 * (x < y)",),
    "greater":       ("1.0 * (x > y)",),
    # from here on one loop for all
    "ratio":         ("where(x == 0.0, 0.0, x / y)",       "1.0 / y", "where(out == 0.0, 0.0, -out / y)"),
    "scale":         ("where(x == 0.0, 0.0, x * y)",       "y",                            "x"),
    "farSin":        ("far_sin(x)",                        "far_cos(x)"),
    "farCos":        ("far_cos(x)",                        "-far_sin(x)"),
    "atLeast":       ("maximum(x, y)",                     "1.0 * (x >= y)"),
    "atMost":        ("minimum(x, y)",                     "1.0 * (x <= y)"),
    "expm1":         ("expm1(x)",                          "out + 1.0"),
    "exp2":          ("exp2(x)",                           "out * 0.6931471805599453"),
    "log1p":         ("log1p(x)",                          "1.0 / (1.0 + x)"),
    "log2":          ("log2(x)",                           "1.0 / (x * 0.6931471805599453)"),
    "log10":         ("log10(x)",                          "1.0 / (x * 2.302585092994046)"),
    "cbrt":          ("cbrt(x)",                           "1.0 / (3.0 * out * out)"),
    "tan":           ("tan(x)",                            "1.0 + out * out"),
    "arcsin":        ("arcsin(x)",                         "1.0 / sqrt(1.0 - x * x)"),
    "arccos":        ("arccos(x)",                         "-1.0 / sqrt(1.0 - x * x)"),
    "arctan":        ("arctan(x)",                         "1.0 / (1.0 + x * x)"),
    "sinh":          ("sinh(x)",                           "cosh(x)"),
    "cosh":          ("cosh(x)",                           "sinh(x)"),
    "arcsinh":       ("arcsinh(x)",                        "1.0 / hypot(x, 1.0)"),
    "arccosh":       ("arccosh(x)",                        "1.0 / sqrt((x - 1.0) * (x + 1.0))"),
    "arctanh":       ("arctanh(x)",                        "1.0 / ((1.0 - x) * (1.0 + x))"),
    "arctan2":       ("arctan2(x, y)",                     "where(y == 0.0, 0.0, y / (x * x + y * y))",
                      "where(x == 0.0, 0.0, -x / (x * x + y * y))"),
    "hypot":         ("hypot(x, y)",                       "where(x == 0.0, 0.0, x / out)", "where(y == 0.0, 0.0, y / out)"),
    "erf":           ("erf(x)",                            "1.1283791670955126 * exp(-x * x)"),
    "logaddexp":     ("logaddexp(x, y)",                   "expDifference(x, out)",        "expDifference(y, out)"),
    "expDifference": ("expDifference(x, y)",               "out",                          "-out"),
    "logSigmoid":    ("-logaddexp(0.0, -x)",               "sigmoid(-x)"),
    "softplus":      ("logaddexp(0.0, x)",                 "sigmoid(x)"),
    "silu":          ("x * sigmoid(x)",                    "sigmoid(x) * (1.0 + (x - out))"),
    "gelu":          (f"x * (0.5 * (1.0 + {ERF}))",
                      f"0.5 * (1.0 + {ERF}) + x * (exp(-0.5 * (x * x)) * 0.3989422804014327)"),
    "leakyRelu":     ("where(x > 0.0, x, y * x)",          "where(x > 0.0, 1.0, y)",       LOW),
    "elu":           (f"where(x > 0.0, x, y * expm1({LOW}))", "where(x > 0.0, 1.0, out + y)", f"expm1({LOW})"),
    "squaredError":  ("0.5 * ((x - y) * (x - y))",         "x - y",                        "y - x"),
    "equal":         ("1.0 * (x == y)",),
    "not_equal":     ("1.0 * (x != y)",),
    "less_equal":    ("1.0 * (x <= y)",),
    "greater_equal": ("1.0 * (x >= y)",),
    "logical_and":   ("1.0 * ((x != 0.0) & (y != 0.0))",),
    "logical_or":    ("1.0 * ((x != 0.0) | (y != 0.0))",),
    "logical_not":   ("1.0 * (x == 0.0)",),
    "isnan":         ("1.0 * (x != x)",),
    "isfinite":      ("1.0 * (x - x == 0.0)",),
    "stopGradient":  ("x",),
    "sign":          ("sign(x)",),
    "share":         (SHARE,),
    "floor":         ("floor(x)",),
    "ceil":          ("ceil(x)",),
    "trunc":         ("trunc(x)",),
    "rint":          ("rint(x)",),
}.items()}
CODE = {row: code for code, row in enumerate(ROWS)}


class Unwritten(Exception):
    """A line that has no row on the tape."""


SAME = {"alias", "broadcast", "unbroadcast", "reshape", "transpose", "max", "min", "prod", "sum", "mean"}  # of a number, it
KINDS_OF = {"float64": "f", "bool": "b", "int64": "i"}
GIVEN = {"leakyRelu": 0.01, "elu": 1.0}  # the second argument where it is left out
#   operator     row, number of its arguments, z, and y where that is a constant (None: x)
PLAIN = {op: (op, 2 if re.search(r"\by\b", "".join(row[:3])) else 1, 0.0, None) for op, row in ROWS.items() if op != "where"} | {
    "add":      ("arithmetic", 2, 1.0, None),
    "subtract": ("arithmetic", 2, -1.0, None),
    "mul":      ("arithmetic", 2, 0.0, None),
    "square":   ("arithmetic", 1, 0.0, None),
    "half":     ("arithmetic", 1, 0.0, 0.5),
    "negative": ("arithmetic", 1, 0.0, -1.0)}


class Writer:
    """Lines as operators and slots: inputs from 0 on, then lines; constants are −1, −2, … for now.

    A register that is known beforehand is a constant: what whole numbers and truth values make is left to NumPy. The others
    of them are in `others` with their type, b or i: 0.0 and 1.0 do for them wherever a float stands beside them.
    """

    def __init__(self, inputs: Iterable[str]):
        self.slots: dict[str, int] = {x: k for k, x in enumerate(inputs)}
        self.others: dict[str, tuple[int, str]] = {}
        self.known: dict[str, Any] = {}
        self.constants: dict[Any, int] = {}
        self.codes: list[int] = []
        self.reads: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.first = len(self.slots)

    def write(self, lines: Iterable[Line]) -> None:
        """Write the lines, the common ones at once. Unwritten names the register of one that cannot be."""
        slots, put, (put_x, put_y, put_z) = self.slots, self.codes.append, (reads.append for reads in self.reads)
        common = {op: (CODE[row], n, self.constant(z), y if y is None else self.constant(y))
                  for op, (row, n, z, y) in PLAIN.items() if op in ops.table.OURS and ops.facts_of(op).gives is not bool}
        slot = self.first
        for dst, op, args in lines:
            try:
                code, n, z, y = common[op]
                x = slots[args[0]]
                y = slots[args[1]] if n == 2 else x if y is None else y
            except (KeyError, TypeError, IndexError):  # another operator, or a literal
                try:
                    self.write_other(dst, op, args)
                except Exception:  # what an operator says to its literals, the interpreter says, too
                    raise Unwritten(dst) from None
                slot = self.first + len(self.codes)
                continue
            slots[dst] = slot
            slot += 1
            put(code)
            put_x(x)
            put_y(y)
            put_z(z)

    def write_other(self, dst: str, op: str, args: tuple) -> None:
        if op not in ops.table.OURS:
            raise Unwritten
        x, *rest = args = [self.known.get(a, a) if isinstance(a, str) else a for a in args]
        if not any(isinstance(a, str) for a in args):
            with np.errstate(all="ignore"):
                self.known[dst] = G[op](*args)
            self.operand(dst)
        elif op in SAME and all(a is None or isinstance(a, (bool, str)) or isinstance(a, tuple) and not a for a in rest):
            if not isinstance(x, str):
                if not (op == "broadcast" and self.operand(rest[0])[1] == "f"):
                    raise Unwritten
                self.known[dst] = np.float64(x)
            elif op in ("sum", "mean"):
                self.finish(dst, "add", x, 0.0)  # the sum of −0 is 0
            else:
                self.name(dst, *self.operand(x))
        elif op == "where":
            (z, _), (x, of_x), (y, of_y) = map(self.operand, args)
            self.name(dst, self.line("where", x, y, z), "f" if "f" in (of_x, of_y) else max(of_x, of_y))
        elif op == "clip":
            slot, kind = self.operand(x)
            for row, bound in zip(("atLeast", "atMost"), rest, strict=False):
                if isinstance(bound, str) or kind != "f":
                    raise Unwritten
                slot = slot if bound is None else self.line(row, slot, self.operand(bound)[0])
            self.name(dst, slot, kind)
        elif op == "reciprocal":
            self.finish(dst, "divide", 1.0, x)
        elif op == "power" and not isinstance(rest[0], str) and float(rest[0]) == 2.0:
            self.finish(dst, "powerOf2", x)
        elif op == "round" and rest in ([], [0]):
            self.finish(dst, "rint", x)
        else:
            self.finish(dst, op, *args, *([GIVEN[op]] if op in GIVEN and not rest else []))

    def finish(self, dst: str, op: str, *args: Any) -> None:
        row, n, z, y = PLAIN[op]
        (x, *given), kinds = zip(*map(self.operand, args), strict=True)
        if len(args) != n or "f" not in kinds and ops.facts_of(op).gives is not bool:
            raise Unwritten
        y = given[0] if given else x if y is None else self.constant(y)
        self.name(dst, self.line(row, x, y, self.constant(z)), "b" if ops.facts_of(op).gives is bool else "f")

    def line(self, row: str, x: int, y: int, z: int = -1) -> int:
        """The slot of a new line."""
        for slots, slot in zip((self.codes, *self.reads), (CODE[row], x, y, z), strict=True):
            slots.append(slot)
        return self.first + len(self.codes) - 1

    def name(self, dst: str, slot: int, kind: str) -> None:
        if kind == "f":
            self.slots[dst] = slot
        else:
            self.others[dst] = slot, kind

    def operand(self, a: Any) -> tuple[int, str]:
        """The slot of a register or a literal, and its kind: f, b or i."""
        if isinstance(a, str) and a not in self.known:
            return (self.slots[a], "f") if a in self.slots else self.others[a]
        value = np.asarray(self.known[a] if isinstance(a, str) else a)
        if value.ndim or value.dtype.name not in KINDS_OF:  # no number, or one of another precision, which NumPy rounds to
            raise Unwritten
        return self.constant(value.item()), KINDS_OF[value.dtype.name]

    def constant(self, value: float) -> int:
        value = float(value)
        return self.constants.setdefault(value or str(value), -1 - len(self.constants))  # 0.0 and −0.0 are two
