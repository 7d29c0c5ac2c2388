"""What a line becomes on the tape: a row of the table of operators on numbers, and slots,
in which numbers are kept."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

import ops
from ops import DG, Expression, G
from ops.facts import FACTS, parameters
from ops.table import ELEMENTWISE

from ...wengert import Line

#   operator       its value, of the numbers x and y; its partials are DG's
VALUES = {
    "divide":        "x / y",
    "power":         "x ** y",
    "maximum":       "maximum(x, y)",
    "minimum":       "minimum(x, y)",
    "abs":           "abs(x)",
    **{op: f"{op}(x)" for op in ("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid")},
    "relu":          "maximum(x, 0.0)",
    "less":          "x < y",
    "greater":       "x > y",
    # from here on one loop for all
    "ratio":         "where(x == 0.0, 0.0, x / y)",
    "scale":         "where(x == 0.0, 0.0, x * y)",
    **{op: f"{op}(x)" for op in ("expm1", "exp2", "log1p", "log2", "log10", "cbrt", "tan", "arcsin", "arccos", "arctan", "sinh",
                                 "cosh", "arcsinh", "arccosh", "arctanh", "erf", "sign", "floor", "ceil", "trunc")},
    **{op: f"{op}(x, y)" for op in ("arctan2", "hypot", "logaddexp", "expDifference")},
    "equal":         "x == y",
    "not_equal":     "x != y",
    "less_equal":    "x <= y",
    "greater_equal": "x >= y",
    "logical_and":   "(x != 0.0) & (y != 0.0)",
    "logical_or":    "(x != 0.0) | (y != 0.0)",
    "logical_not":   "x == 0.0",
    "isnan":         "x != x",
    "isfinite":      "x - x == 0.0",
    "stopGradient":  "x",
    "share":         "0.5 * (1.0 * (x > y) + (x >= y))",
}
#   a row of its own value                               ∂out/∂x                   ∂out/∂y
OWN = {
    # z is the third argument: in a sum the sign of y, 0 for a product; the condition of where
    "arithmetic": ("where(z == 0.0, x * y, x + z * y)",  "where(z == 0.0, y, 1.0)", "where(z == 0.0, x, z)"),
    "where":      ("where(z != 0.0, x, y)",              "1.0 * (z != 0.0)",        "1.0 * (z == 0.0)"),
    "powerOf2":   ("x * x",                              "2.0 * x",                 "")}
LAST = {
    "farSin":     ("far_sin(x)",                         "far_cos(x)",              ""),
    "farCos":     ("far_cos(x)",                         "-far_sin(x)",             ""),
    "atLeast":    ("maximum(x, y)",                      "1.0 * (x >= y)",          ""),
    "atMost":     ("minimum(x, y)",                      "1.0 * (x <= y)",          ""),
    "rint":       ("rint(x)",                            "",                        "")}
#   operator     row, number of its arguments, z, and y where that is a constant (None: x)
PLAIN = {
    "add":      ("arithmetic", 2, 1.0, None),
    "subtract": ("arithmetic", 2, -1.0, None),
    "mul":      ("arithmetic", 2, 0.0, None),
    "square":   ("arithmetic", 1, 0.0, None),
    "half":     ("arithmetic", 1, 0.0, 0.5),
    "negative": ("arithmetic", 1, 0.0, -1.0)}
# what formulas and rules are written with besides
# all is a number
TEXTS = VALUES | dict.fromkeys(("alias", "broadcast", "unbroadcast", "getitem", "oneHot"), "x") | {
    "add": "x + y", "subtract": "x - y", "mul": "x * y", "negative": "-x", "where": "where(x, y, z)"}


class Said(Expression):
    """A number as the text that computes it: what an operator's formula or rule is given here."""

    def __init__(self, text: str, truth: bool = False): self.text, self.truth = text, truth

    def record(self, op: str, args: tuple) -> Any:
        x, y = (*args, None)[:2]
        if op == "mul" and type(x) is float and x == 1.0:
            return y
        if op == "scale" and type(y) is float and y == 1.0:
            return Said(f"1.0 * ({x.text})") if x.truth else x
        if op not in TEXTS:
            return ops.facts_of(op).formula(*args)
        parts = dict(zip("xyz", [f"({said(a)})" for a in args], strict=False))
        return Said(re.sub(r"\b[xyz]\b", lambda name: parts[name[0]], TEXTS[op]),
                    ops.facts_of(op).gives is bool)


def said(a: Any) -> str:
    return a.text if isinstance(a, Said) else repr(float(a))


def row_of(op: str) -> tuple[str, str, str]:
    """The value of an operator as its row or VALUES has it, and its partials:
    what the rules of DG make of the delta 1."""
    args = [Said("x"), Said("y")][:len(DG[op])]
    value = VALUES.get(op) or ops.facts_of(op).formula(*args).text
    partials = [said(rule(1.0, Said("out"), *args)) if rule else "" for rule in DG[op]]
    return (f"1.0 * ({value})" if ops.facts_of(op).gives is bool else value, *partials, "")[:3]


SPELT = [op for op, facts in FACTS.items() if facts.formula and op in ELEMENTWISE & ops.OURS
         and len(DG[op]) <= 2]
ROWS = OWN | {op: row_of(op) for op in (*VALUES, *SPELT) if op not in PLAIN} | LAST
CODE = {row: code for code, row in enumerate(ROWS)}


class Unwritten(Exception):
    """A line that has no row on the tape."""


SAME = {"alias", "broadcast", "unbroadcast", "reshape", "transpose", "max", "min", "prod", "sum", "mean"}  # of a number, it
KINDS_OF = {"float64": "f", "bool": "b", "int64": "i"}
PLAIN |= {op: (op, 2 if re.search(r"\by\b", "".join(row)) else 1, 0.0, None) for op, row in ROWS.items()
          if op != "where"}


class TapeWriter:
    """Lines as operators and slots: inputs from 0 on, then lines; constants are −1, −2, … for now.

    A register that is known beforehand is a constant: what whole numbers and truth values make is left to
    NumPy. The others of them are in `others` with their type,
    b or i: 0.0 and 1.0 do for them wherever a float stands beside them.
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
        slots, put, (put_x, put_y, put_z) = (self.slots, self.codes.append,
                                             (reads.append for reads in self.reads))
        common = {op: (CODE[row], n, self.constant(z), y if y is None else self.constant(y))
                  for op, (row, n, z, y) in PLAIN.items() if op in ops.table.OURS
                  and ops.facts_of(op).gives is not bool}
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
        elif op in SAME and all(a is None or isinstance(a, (bool, str)) or isinstance(a, tuple) and not a
                                for a in rest):
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
        elif op == "power" and not isinstance(rest[0], str) and float(rest[0]) == 2.0:
            self.finish(dst, "powerOf2", x)
        elif op == "round" and rest in ([], [0]):
            self.finish(dst, "rint", x)
        else:
            names, defaults = parameters(G[op])
            self.finish(dst, op, *args, *[defaults[name] for name in names[len(args):]])

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
        # no number, or one of another precision, which NumPy rounds to
        if value.ndim or value.dtype.name not in KINDS_OF:
            raise Unwritten
        return self.constant(value.item()), KINDS_OF[value.dtype.name]

    def constant(self, value: float) -> int:
        value = float(value)
        # 0.0 and −0.0 are two
        return self.constants.setdefault(value or str(value), -1 - len(self.constants))
