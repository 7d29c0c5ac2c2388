"""The text of a group's loops, for Numba: one function of the numbers of a place for each operator."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from ...wengert import Line, registers
from ..program import Kind
from ..text import Text
from .groups import ALL, ALONG, DOWN, PLACE, REDUCTIONS, ROW, ROWS, Group, role

# an operator on numbers, of the type T that NumPy computes in: {0}, {1} its arguments
EXPRESSIONS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "mul": "{0} * {1}", "divide": "{0} / {1}", "negative": "-{0}",
    "abs": "{abs}({0})", "alias": "{0}", "broadcast": "{0}", "astype": "{0}",
    "maximum": "{0} if {0} >= {1} or {0} != {0} else {1}", "minimum": "{0} if {0} <= {1} or {0} != {0} else {1}",
    "scale": "{T}(0) if {0} == {T}(0) else {0} * {1}", "ratio": "{T}(0) if {0} == {T}(0) else {0} / {1}",
    "share": "{T}(0.5) * ({T}({0} > {1}) + {T}({0} >= {1}))",
    "sign": "{0} if {0} != {0} else {T}({0} > {T}(0)) - {T}({0} < {T}(0))",
    "equal": "{0} == {1}", "not_equal": "{0} != {1}", "less": "{0} < {1}", "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}", "greater_equal": "{0} >= {1}", "isnan": "{0} != {0}", "isfinite": "{0} * {T}(0) == {T}(0)",
    "logical_and": "({0} != {T}(0)) & ({1} != {T}(0))", "logical_or": "({0} != {T}(0)) | ({1} != {T}(0))",
    "logical_not": "{0} == {T}(0)",
    **{op: f"{op}({{0}})" for op in (
        "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
        "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "sigmoid", "erf")},
    **{op: f"{op}({{0}}, {{1}})" for op in ("power", "arctan2", "hypot", "logaddexp")},
}
FUNCTIONS = {op for op, text in EXPRESSIONS.items() if text.startswith(f"{op}(")}
TYPES = {np.dtype(np.float32): "f4", np.dtype(np.float64): "f8", np.dtype(bool): "b1"}
LONG = 4096  # numbers, above which single precision is added up in double
NAN = "nan"


def loopable(line: Line, kinds: Mapping[str, Kind]) -> bool:
    """Whether these loops have the operator, for the types of this line."""
    dst, op, args = line
    read = registers(args)
    if any(a not in kinds for a in (dst, *read)) or kinds[dst].dtype not in TYPES or any(
            kinds[a].dtype.itemsize not in (1, 4, 8) for a in read):
        return False
    literals = [a for a in args if not isinstance(a, str)]
    if op in REDUCTIONS:
        return kinds[args[0]].dtype == kinds[dst].dtype and kinds[dst].dtype.kind == "f" and len(read) == 1
    if op in ("broadcast", "astype"):
        return len(args) <= 2 or args[2:] == ((),)
    if not all(isinstance(a, (int, float)) for a in literals):
        return False
    if kinds[dst].dtype.kind == "f":
        return op in EXPRESSIONS or op == "where"
    return op in EXPRESSIONS and kinds[dst].dtype == bool and op not in ("add", "mul", "maximum", "minimum")


def computed_in(line: Line, kinds: Mapping[str, Kind]) -> np.dtype:
    """The type that NumPy computes the line in."""
    dst, op, args = line
    if kinds[dst].dtype.kind == "f":
        return kinds[dst].dtype
    found = np.result_type(*[kinds[a].dtype if isinstance(a, str) else a for a in args])
    return found if found in TYPES else np.dtype(np.float64)


class Loops:
    """Writes the loops of a group into a text.

    place(x): the name of the flat array with the numbers of register x; None for a number that is a variable.
    function(op, dtype): the name of an operator's function. kept: the registers that are read elsewhere. rowwise:
    those that have memory for the columns of one row alone.
    """

    def __init__(self, text: Text, group: Group, kinds: Mapping[str, Kind], place: Callable[[str], str | None],
                 function: Callable[[str, np.dtype], str], kept: Collection[str], rowwise: Collection[str]):
        self.text, self.group, self.kinds, self.place, self.function = text, group, kinds, place, function
        self.kept, self.rowwise = kept, rowwise
        self.i, self.j, self.range = text.free("i"), text.free("j"), text.free("range")
        flat = flattened(group, kinds)
        self.rows, self.columns = (1, group.rows * group.columns) if flat else (group.rows, group.columns)

    def write(self) -> None:
        """The loops, over rows where there are several."""
        levels, add = self.group.levels, self.text.add
        for dst, op, args in self.group.lines:
            for a in args:
                if isinstance(a, str) and self.spread(a) == ALL and a not in levels and self.place(a):
                    add(f"{a} = {self.at(a, ALL)}")
            if levels[dst] in (ALL, ROWS):
                add(f"{self.total(dst)} = {self.start(op, np.dtype(np.float64) if op == 'sum' else self.kinds[dst].dtype)}")
            elif levels[dst] == DOWN:
                add(f"for {self.j} in {self.range}({self.columns}):")
                add(f"{self.at(dst, DOWN)} = {self.typed(dst, '0')}", 2)
        depth = 1
        if self.rows > 1:
            add(f"for {self.i} in {self.range}({self.rows}):")
            depth = 2
        for a in dict.fromkeys(a for dst, _, args in self.group.lines for a in registers(args) if a not in levels
                               and (self.spread(a) == ROW or levels[dst] in (ROW, ROWS) and self.spread(a) != ALL)):
            add(f"{a} = {self.at(a, ROW)}", depth)
        self.numbers_of_rows(-1, depth)
        for k in range(1 + max(self.group.turns.values())):
            self.turn(k, depth)
            self.numbers_of_rows(k, depth)
        for dst, _, _ in self.group.lines:
            if levels[dst] in (ALL, ROWS):
                add(f"{self.at(dst, ALL)} = {self.typed(dst, self.total(dst))}")

    def turn(self, k: int, depth: int) -> None:
        """One turn through the columns of a row, and the numbers of the row that come of it."""
        levels, add = self.group.levels, self.text.add
        lines = [line for line in self.group.lines if self.group.turns[line[0]] == k and levels[line[0]] not in (ROW, ROWS)]
        if not lines:
            return
        known = {a for a in levels if levels[a] in (ALONG, ROW)}
        for dst, op, _ in lines:
            if levels[dst] in (ALONG, ALL):
                add(f"{self.partial(dst)} = {self.start(op, self.added_in(dst, op))}", depth)
                if op != "sum":
                    add(f"{self.strange(dst)} = False", depth)
        add(f"for {self.j} in {self.range}({self.columns}):", depth)
        for dst, op, args in lines:
            for a in args:
                if isinstance(a, str) and a not in known and self.spread(a) in (PLACE, DOWN):
                    add(f"{a} = {self.at(a, self.spread(a))}", depth + 1)
                    known.add(a)
            if levels[dst] == PLACE:
                add(f"{dst} = {self.value(dst, op, args)}", depth + 1)
                known.add(dst)
            elif levels[dst] == DOWN:
                add(f"{self.at(dst, DOWN)} += {args[0]}", depth + 1)
            else:
                self.gather(self.partial(dst), self.strange(dst), op, self.added_in(dst, op), args[0], depth + 1)
        for dst, _, _ in lines:  # all that is read has been read: it may be written over
            if levels[dst] == PLACE and (dst in self.kept or dst in self.rowwise):
                add(f"{self.at(dst, PLACE)} = {dst}", depth + 1)
        for dst, op, _ in lines:
            if levels[dst] in (ALONG, ALL):
                result = self.typed(dst, self.partial(dst))
                add(f"{dst} = {result if op == 'sum' else f'{self.typed(dst, NAN)} if {self.strange(dst)} else {result}'}", depth)
                self.row_done(dst, op, depth)

    def numbers_of_rows(self, k: int, depth: int) -> None:
        """What is computed of numbers of rows, after turn k."""
        for dst, op, args in self.group.lines:
            if self.group.levels[dst] in (ROW, ROWS) and self.group.turns[dst] == k:
                value = args[0] if self.group.levels[dst] == ROWS else self.value(dst, op, args)
                self.text.add(f"{dst} = {value}", depth)
                self.row_done(dst, op, depth)

    def row_done(self, dst: str, op: str, depth: int) -> None:
        """Keeps a number of a row, or puts it to those of the rows before."""
        if self.group.levels[dst] in (ALL, ROWS):
            total, add = self.total(dst), self.text.add
            if op == "sum":
                add(f"{total} += {dst}", depth)
            else:
                add(f"{total} = {dst} if {dst} {'>' if op == 'max' else '<'} {total} or {dst} != {dst} else {total}", depth)
        elif dst in self.kept:
            self.text.add(f"{self.at(dst, ROW)} = {dst}", depth)

    # ---- parts ------------------------------------------------------------------------------------------------------

    def at(self, x: str, spread: str) -> str:
        """Where the number of x lies in its array."""
        array = self.place(x)
        i, j = self.i if self.rows > 1 else "0", self.j
        index = {PLACE: j if x in self.rowwise or self.rows == 1 else f"{i} * {self.columns} + {j}", ROW: i, DOWN: j, ALL: "0"}
        return f"{array}[{index[spread]}]"

    def value(self, dst: str, op: str, args: tuple) -> str:
        """The expression of a line, computed in the type in which NumPy does."""
        dtype = computed_in((dst, op, args), self.kinds)
        T = self.text.free(TYPES[dtype])
        args = args[:1] if op in ("broadcast", "astype") else args
        written = [a if isinstance(a, str) and self.kinds[a].dtype == dtype else
                   f"{T}({a})" if isinstance(a, str) else f"{T}({self.number(a)})" for a in args]
        if op == "where":
            return f"{written[1]} if {args[0]} != 0 else {written[2]}"
        if op in FUNCTIONS:
            return f"{self.function(op, dtype)}({', '.join(written)})"
        return EXPRESSIONS[op].format(*written, T=T, abs=self.text.free("abs"))

    def number(self, a: float) -> str:
        return repr(float(a)) if np.isfinite(a) else f"{'-' * (a < 0)}{self.text.free('nan' if a != a else 'inf')}"

    def added_in(self, dst: str, op: str) -> np.dtype:
        """The type in which a row is added up."""
        return np.dtype(np.float64) if op == "sum" and self.columns > LONG else self.kinds[dst].dtype

    def start(self, op: str, dtype: np.dtype) -> str:
        inf = self.text.free("inf")
        return f"{self.text.free(TYPES[dtype])}({ {'sum': '0', 'max': '-' + inf, 'min': inf}[op]})"

    def gather(self, partial: str, strange: str, op: str, dtype: np.dtype, a: str, depth: int) -> None:
        """Puts one more number to those of its row. Sums and maxima may be taken in any order, so that they run in parallel."""
        if op == "sum":
            wide = a if dtype == self.kinds[a].dtype else f"{self.text.free(TYPES[dtype])}({a})"
            self.text.add(f"{partial} = {self.function('plus', dtype)}({partial}, {wide})", depth)
        else:
            self.text.add(f"{partial} = {self.function('larger' if op == 'max' else 'smaller', dtype)}({partial}, {a})", depth)
            self.text.add(f"{strange} |= {a} != {a}", depth)

    def partial(self, dst: str) -> str: return self.text.free(f"{dst}_of_row")
    def strange(self, dst: str) -> str: return self.text.free(f"{dst}_is_nan")
    def total(self, dst: str) -> str: return self.text.free(f"{dst}_of_all")
    def spread(self, a: str) -> str | None: return role(self.kinds[a].shape, self.group.shape)

    def typed(self, dst: str, value: str) -> str:
        return f"{self.text.free(TYPES[self.kinds[dst].dtype])}({value})"


def flattened(group: Group, kinds: Mapping[str, Kind]) -> bool:
    """Whether rows do not matter to a group: each line is entry by entry, or of all, and nothing is one row or one column."""
    return set(group.levels.values()) <= {PLACE, ALL} and all(
        role(kinds[a].shape, group.shape) in (PLACE, ALL) for _, _, args in group.lines for a in registers(args))
