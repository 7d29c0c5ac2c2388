"""Lines on the tape: each becomes a row of a table of operators on numbers, and slots for numbers."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

import ops
from ops import DG, G, f
from ops.facts import FACTS, parameters

from ...passes.lower import HALF_IS_ROOT
from ...wengert import Line
from ..llvm.arithmetic import OPERATORS
from ..nests.tree import SPECIAL


class TapeRow(NamedTuple):
    """An operator of n numbers, and its partials by at most two of them: functions of the result and them."""
    n: int
    value: Callable[..., Any]
    partials: dict[int, Callable[..., Any]]


def row_of(op: str, n: int) -> TapeRow:
    """The value of an operator, and its partials, which the rules of DG give for the delta 1."""
    partials = {i: partial(rule, 1.0) for i, rule in enumerate(DG.get(op, ())) if rule}
    return TapeRow(n, lambda *args: args[0].record(op, args), partials)


SPELT = {op for op, facts in FACTS.items() if facts.formula and (facts.elementwise or op == "stopGradient")}
ROWS = {op: row_of(op, len(DG[op])) for op in sorted((SPELT | OPERATORS.keys() - SPECIAL) & ops.OURS)
        if len(DG[op]) <= 3 and op != "remainder"}  # its slope is a floor_divide, which loops do not have
ROWS |= {"rint": row_of("rint", 1),
         "clip": ROWS["clip"]._replace(partials={0: ROWS["clip"].partials[0]}),  # its bounds are constants
         "arithmetic": TapeRow(3, lambda x, y, z: f.where(f.equal(z, 0.0), x * y, x + z * y),
                               {0: lambda out, x, y, z: f.where(f.equal(z, 0.0), y, 1.0),
                                1: lambda out, x, y, z: f.where(f.equal(z, 0.0), x, z)})}
# operators that run as the row `arithmetic`, whose runs are longer: the constants after their own arguments
PLAIN = {"add": (1.0,), "subtract": (-1.0,), "mul": (0.0,), "half": (0.5, 0.0), "negative": (-1.0, 0.0)}
CODE = {row: code for code, row in enumerate(ROWS)} | dict.fromkeys(PLAIN, len(ROWS) - 1)
# of a number, itself
SAME = {"alias", "broadcast", "unbroadcast", "reshape", "transpose", "max", "min", "prod", "sum", "mean"}


class Unwritten(Exception):
    """A line has no row on the tape."""


class TapeWriter:
    """Lines as operators and slots: inputs from 0 on, then lines; constants are −1, −2, … for now.

    A register that depends on no input is a literal: NumPy computes its line. A line of the tape that gives
    whole numbers or truth values, i or b, is in `discrete`; beside a float these count as 0.0 and 1.0.
    """

    def __init__(self, inputs: Iterable[str]):
        self.slots: dict[str, int] = {x: k for k, x in enumerate(inputs)}
        self.discrete: dict[str, tuple[int, str]] = {}
        self.literals: dict[str, Any] = {}
        self.constants: dict[Any, int] = {}
        self.coded: list[int] = []  # four of each line: the row, x, y and z
        self.first = len(self.slots)

    def write(self, lines: Iterable[Line]) -> None:
        """Write the lines, common ones on a short path. Unwritten names a line that cannot be written."""
        slots, first, coded = self.slots, self.first, self.coded
        common = {(op, ROWS[op].n): (CODE[op], [self.constant(c) for c in PLAIN.get(op, ())])
                  for op in ROWS if op in ops.table.OURS - {"clip", "where"}
                  and ops.facts_of(op).gives is not bool}
        for dst, op, args in lines:
            try:
                (code, constants), reads = common[op, len(args)], [slots[a] for a in args]
            except (KeyError, TypeError):  # another operator, or a literal
                try:
                    self.write_other(dst, op, args)
                except Exception:  # the interpreter raises the operator's error on its literals
                    raise Unwritten(dst) from None
                continue
            slots[dst] = first + len(coded) // 4
            coded += code, *(*reads, *constants, reads[0], reads[0])[:3]

    def write_other(self, dst: str, op: str, args: tuple) -> None:
        if op not in ops.table.OURS:
            raise Unwritten
        x, *options = args = [self.literals.get(a, a) if isinstance(a, str) else a for a in args]
        if not any(isinstance(a, str) for a in args):
            with np.errstate(all="ignore"):
                self.literals[dst] = G[op](*args)
            self.operand(dst)
        elif op in SAME and all(a is None or isinstance(a, (bool, str)) or a == () for a in options):
            if not isinstance(x, str):
                if not (op.endswith("broadcast") and self.operand(options[0])[1] == "f"):
                    raise Unwritten
                self.literals[dst] = np.float64(x)
            elif op in ("sum", "mean"):
                self.finish(dst, "add", x, 0.0)  # the sum of −0 is 0
            else:
                self.name(dst, *self.operand(x))
        elif op == "power" and not isinstance(options[0], str) and float(options[0]) == 2.0:
            self.finish(dst, "square", x)
        elif op == "power" and options == [0.5] and HALF_IS_ROOT:
            self.finish(dst, "sqrt", x)
        elif op == "round" and options in ([], [0]):
            self.finish(dst, "rint", x)
        elif op == "clip" and options in ([], [None], [None, None]):
            self.name(dst, *self.operand(x))
        else:
            names, defaults, *_ = parameters(G[op])
            args += [defaults[name] for name in names[len(args):]]
            if op == "clip":
                if any(isinstance(a, str) for a in args[1:]):
                    raise Unwritten
                args[1:] = [bound if a is None else a for a, bound in zip(args[1:], (-inf, inf), strict=True)]
            self.finish(dst, op, *args)

    def finish(self, dst: str, op: str, *args: Any) -> None:
        """Write a line of a row, and note its kind: if no argument is a float, NumPy decides it."""
        reads, kinds = zip(*map(self.operand, args), strict=True)
        of = {*kinds[op == "where":]}
        kind = "b" if ops.facts_of(op).gives is bool else "f" if "f" in of else max(of) * (op == "where")
        if len(args) != ROWS[op].n or not kind:
            raise Unwritten
        constants = map(self.constant, PLAIN.get(op, ()))
        self.coded += CODE[op], *(*reads, *constants, reads[0], reads[0])[:3]
        self.name(dst, self.first + len(self.coded) // 4 - 1, kind)

    def name(self, dst: str, slot: int, kind: str) -> None:
        if kind == "f":
            self.slots[dst] = slot
        else:
            self.discrete[dst] = slot, kind

    def operand(self, a: Any) -> tuple[int, str]:
        """The slot of a register or a literal, and its kind: f, b or i."""
        if isinstance(a, str) and a not in self.literals:
            return (self.slots[a], "f") if a in self.slots else self.discrete[a]
        value = np.asarray(self.literals[a] if isinstance(a, str) else a)
        # the value is not a number, or of another precision, to which NumPy would round
        if value.ndim or value.dtype not in (float, bool, np.int64):
            raise Unwritten
        return self.constant(value.item()), value.dtype.kind

    def constant(self, value: float) -> int:
        value = float(value)
        # 0.0 and −0.0 are different constants
        return self.constants.setdefault(value or str(value), -1 - len(self.constants))
