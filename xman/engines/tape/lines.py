"""What a line becomes on the tape: a row of the table of operators on numbers, and slots for numbers."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import DG, Expression, G, f
from ops.facts import FACTS, parameters

from ...wengert import Line
from ..llvm import arithmetic
from ..llvm.arithmetic import BOOL, converted, literal

FLOAT = np.dtype(float)


class Said(Expression):
    """A number in a loop that is being written: what is done with it becomes LLVM's text.
    An operator's formula, and its rules with the delta 1, are given such numbers."""

    def __init__(self, loop: Any, name: str, dtype: np.dtype = FLOAT):
        self.loop, self.name, self.dtype = loop, name, dtype

    def record(self, op: str, args: tuple) -> Any:
        if op in ALONE:
            return args[0]
        if op not in COMPUTED:
            return ops.facts_of(op).formula(*args)
        types = [BOOL] * (op == "where") + [FLOAT] * len(args)
        given = [as_type(a, to, self.loop) for a, to in zip(args, types, strict=False)]
        return Said(self.loop, *arithmetic.value(self.loop, op, FLOAT, given))


def as_type(a: Any, dtype: np.dtype, loop: Any) -> str:
    """A number or a literal in LLVM's text, in that type."""
    return converted(loop, a.name, a.dtype, dtype) if isinstance(a, Said) else literal(a, dtype)


COMPUTED = arithmetic.TRUTHS | arithmetic.OF_FLOATS
ALONE = {"alias", "broadcast", "unbroadcast", "getitem", "oneHot"}  # all is a number


class TapeRow(NamedTuple):
    """A value, and its partials if it has them: functions of x, y, z and out. n: the number of arguments."""
    value: Callable[..., Any]
    partials: tuple[Callable[..., Any] | None, Callable[..., Any] | None]
    n: int = 0


def row_of(op: str) -> TapeRow:
    """The value of an operator, and its partials: what the rules of DG make of the delta 1."""
    n = len(DG[op])
    partial = lambda rule: rule and (lambda x, y, z, out: rule(1.0, out, *(x, y)[:n]))
    return TapeRow(lambda x, y, z, out: getattr(f, op)(*(x, y)[:n]), (*map(partial, DG[op]), None)[:2], n)


#   rows of their own value, with z as third argument: in a sum the sign of y, 0 for a product; a condition
OWN = {
    "arithmetic": TapeRow(lambda x, y, z, out: f.where(f.equal(z, 0.0), x * y, x + z * y),
                          (lambda x, y, z, out: f.where(f.equal(z, 0.0), y, 1.0),
                           lambda x, y, z, out: f.where(f.equal(z, 0.0), x, z))),
    "where":      TapeRow(lambda x, y, z, out: f.where(z, x, y),
                          (lambda x, y, z, out: f.where(z, 1.0, 0.0), lambda x, y, z, out: f.where(z, 0.0, 1.0))),
    "atLeast":    TapeRow(lambda x, y, z, out: f.maximum(x, y), (lambda x, y, z, out: x >= y, None), 2),
    "atMost":     TapeRow(lambda x, y, z, out: f.minimum(x, y), (lambda x, y, z, out: x <= y, None), 2),
    "rint":       TapeRow(lambda x, y, z, out: x.record("rint", (x,)), (None, None), 1)}
#   operator     row, number of its arguments, z, and y where that is a constant (None: x)
PLAIN = {
    "add":      ("arithmetic", 2, 1.0, None),
    "subtract": ("arithmetic", 2, -1.0, None),
    "mul":      ("arithmetic", 2, 0.0, None),
    "square":   ("arithmetic", 1, 0.0, None),
    "half":     ("arithmetic", 1, 0.0, 0.5),
    "negative": ("arithmetic", 1, 0.0, -1.0)}
SPELT = {op for op, known in FACTS.items() if known.formula and (known.elementwise or op == "stopGradient")}
ROWS = OWN | {op: row_of(op) for op in sorted((SPELT | COMPUTED) & ops.OURS)
              if op not in PLAIN and op != "where" and len(DG[op]) <= 2}
CODE = {row: code for code, row in enumerate(ROWS)}
SAME = {"alias", "broadcast", "unbroadcast", "reshape", "transpose", "max", "min", "prod", "sum", "mean"}  # of a number, it
KINDS_OF = {"float64": "f", "bool": "b", "int64": "i"}
PLAIN |= {op: (op, row.n, 0.0, None) for op, row in ROWS.items() if row.n}


class Unwritten(Exception):
    """A line that has no row on the tape."""


class TapeWriter:
    """Lines as operators and slots: inputs from 0 on, then lines; constants are −1, −2, … for now.

    A register that is known beforehand is a constant: what whole numbers and truth values make is left to
    NumPy. The others are in `others` with their type, b or i: 0.0 and 1.0 do for them beside a float.
    """

    def __init__(self, inputs: Iterable[str]):
        self.slots: dict[str, int] = {x: k for k, x in enumerate(inputs)}
        self.others: dict[str, tuple[int, str]] = {}
        self.known: dict[str, Any] = {}
        self.constants: dict[Any, int] = {}
        self.coded: list[int] = []  # four of each line: the row, x, y and z
        self.first = len(self.slots)

    def write(self, lines: Iterable[Line]) -> None:
        """Write the lines, the common ones at once. Unwritten names the register of one that cannot be."""
        slots, first, coded = self.slots, self.first, self.coded
        common = {op: (CODE[row], n, self.constant(z), y if y is None else self.constant(y))
                  for op, (row, n, z, y) in PLAIN.items() if op in ops.table.OURS
                  and ops.facts_of(op).gives is not bool}
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
                continue
            slots[dst] = first + len(coded) // 4
            coded += code, x, y, z

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
                if not (op.endswith("broadcast") and self.operand(rest[0])[1] == "f"):
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
            self.finish(dst, "square", x)
        elif op == "round" and rest in ([], [0]):
            self.finish(dst, "rint", x)
        else:
            names, defaults, *_ = parameters(G[op])
            self.finish(dst, op, *args, *[defaults[name] for name in names[len(args):]])

    def finish(self, dst: str, op: str, *args: Any) -> None:
        row, n, z, y = PLAIN[op]
        (x, *given), kinds = zip(*map(self.operand, args), strict=True)
        if len(args) != n or "f" not in kinds and ops.facts_of(op).gives is not bool:
            raise Unwritten
        y = given[0] if given else x if y is None else self.constant(y)
        self.name(dst, self.line(row, x, y, self.constant(z)), "b" if ops.facts_of(op).gives is bool else "f")

    def line(self, row: str, x: int, y: int, z: int = -1) -> int:
        self.coded += CODE[row], x, y, z
        return self.first + len(self.coded) // 4 - 1

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
