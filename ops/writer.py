"""Writing lists: an operator that meets a Symbol computes nothing, and its writer records a line.

    >>> writer = Writer()
    >>> x = writer.symbol("x")
    >>> y = f.exp(2 * x)               # so a rule of `DG`, given symbols, writes the lines of an adjoint
    >>> [*writer.named({"x"})]
    [("z1", "mul", (2, "x")), ("z2", "exp", ("z1",))]

Names come last: a symbol that has none when all lines are there is a temporary, z1, z2, … in the order of
the lines. Until then it can still get the name of a result or of a variable.
"""
from __future__ import annotations

import itertools
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .expression import FLAT, Expression
from .facts import operator_called


class Symbol(Expression):
    """A register of a list that is being written.

    writer: records the operators that it meets. name: None for a temporary. op, args: the line that defines
    it; op is "" for a register that no line defines.
    """

    __slots__ = "writer", "name", "op", "args", "level", "slopeless"

    def __init__(self, writer: Writer, name: str | None = None, op: str = "", args: tuple = ()):
        self.writer, self.name, self.op, self.args = writer, name, op, args
        self.level, self.slopeless = writer.level, op in FLAT

    def record(self, op: str, args: tuple) -> Any: return self.writer.write(op, args)
    def __repr__(self) -> str: return f"<symbol {self.name or 'without a name'}>"


class Shaped(Symbol):
    """A symbol that passes for an array in formulas. A subclass has its shape and dtype."""

    __slots__ = ()
    ndim = property(lambda self: len(self.shape))

    def astype(self, dtype: Any) -> Any: return self.record("astype", (self, (np.dtype(dtype).name,)))

    def __array_function__(self, function, types, args, options):
        if function in (np.shape, np.ndim):
            return self.shape if function is np.shape else self.ndim
        return super().__array_function__(function, types, args, options)


def defining_line(a: Any) -> tuple[str, tuple]:
    """(op, args) of the line that defines a symbol; ("", ()) for an input and for a literal."""
    return (a.op, a.args) if isinstance(a, Symbol) else ("", ())


class WrittenLine(NamedTuple):
    """A line with symbols in place of names, and the line of another list for which it was written."""
    out: Symbol
    op: str
    args: tuple
    origin: Any = None


LIBRARIES = {"ops", "xman", "numpy", "scipy", "functools", "contextlib"}
Place = tuple[str, int]  # a file and the number of its line


def user_line() -> Place:
    """The line of the innermost frame that runs the user's code."""
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Writer:
    """Records lines. A subclass says which symbols there are, and what may be an argument.

    level: as in Expression; of symbols of several writers, the one with the highest level records.
    """

    level = 0

    def __init__(self) -> None:
        self.lines: list[WrittenLine] = []
        self.origin: Any = None  # the line of another list for which the next lines are written

    def symbol(self, name: str | None = None, op: str = "", args: tuple = ()) -> Symbol:
        return Symbol(self, name, op, args)

    def argument(self, a: Any, op: str) -> Any:
        """An argument in the form that a line holds: a symbol, or a literal."""
        return a if isinstance(a, Expression) else literal(a)

    def write(self, op: str, args: Iterable[Any]) -> Any:
        """The symbol of a new line."""
        return self.add(op, tuple([self.argument(a, op) for a in args]))

    def add(self, op: str, args: tuple) -> Symbol:
        out = self.symbol(None, op, args)
        self.lines.append(WrittenLine(out, op, args, self.origin))
        return out

    def named(self, names: Collection[str]) -> Iterator[tuple[str, str, tuple]]:
        """The lines (dst, op, args). A symbol without a name gets that of the next temporary not in names."""
        spare = temporaries(names)
        for out, op, args, _ in self.lines:
            out.name = out.name or next(spare)
            yield out.name, op, tuple([a.name if isinstance(a, Symbol) else a for a in args])


# ---- lines that are computed while they are recorded -------------------------------------------------------

class Names(dict):
    """The names z0, z1, … of the registers of tapes. All tapes have the same, so the first ones are kept."""

    def __missing__(self, k: int) -> str:
        return self.setdefault(k, f"z{k}") if k < 10_000 else f"z{k}"


NAMES = Names()


class Recording(Writer):
    """A tape: lines that are computed while they are recorded.

    Its lines are plain, as those of a list, and what walks through a list walks through them. values: of all
    registers, by name. flat: the registers that no operator with a slope has made.
    """

    def __init__(self) -> None:
        self.level = next(Traced.levels)
        self.lines: list[tuple[str, str, tuple]] = []
        self.values: dict[str, Any] = {}
        self.numbers_of_names = itertools.count()
        self.walked = False  # whether a derivative was taken of its values
        self.flat: set[str] = set()

    def has(self, a: Any) -> bool: return isinstance(a, Traced) and a.writer is self

    def write(self, op: str, args: Iterable[Any]) -> Traced:
        value = operator_called(op)(*[a.value if self.has(a) else a for a in args])
        out = Traced(value, self, op in FLAT)
        operands = tuple([a.name if self.has(a) else self.argument(a, op) for a in args])
        self.lines.append((out.name, op, operands))
        return out


class Traced(Symbol):
    """A register of a tape, with its value."""

    __slots__ = ("value",)
    levels = itertools.count(1)  # a later trace is inside of an earlier one, and records first
    op, args = "", ()  # its tape has the lines

    def __init__(self, value: Any, tape: Recording, slopeless: bool = False):
        self.value, self.writer, self.level, self.slopeless = value, tape, tape.level, slopeless
        self.name = name = NAMES[next(tape.numbers_of_names)]
        tape.values[name] = value
        if slopeless:
            tape.flat.add(name)

    tape = Symbol.writer

    # an operator's value that asks isinstance takes the same branch as with an array
    __class__ = property(lambda self: self.value.__class__)
    shape = property(lambda self: np.shape(self.value))
    ndim = property(lambda self: np.ndim(self.value))
    dtype = property(lambda self: getattr(self.value, "dtype", None) or (
        None if isinstance(self.value, Expression) else np.asarray(self.value).dtype))  # a register has none


# ---- literals and names ------------------------------------------------------------------------------------

def literal(a: Any) -> Any:
    """What is no register, as a line holds it: an array as a copy that nobody can change, a string in a
    tuple."""
    if isinstance(a, np.ndarray):
        return frozen(a)
    return (a,) if isinstance(a, str) else a.item() if isinstance(a, np.generic) else a


def frozen(array: np.ndarray) -> np.ndarray:
    """A copy that nobody can change; the array itself if it is one. One number that is spread stays that."""
    if is_uniform(array):
        number = array[(0,) * array.ndim]
        return array if is_frozen(array.base) else np.broadcast_to(frozen(number), array.shape)
    if not is_frozen(array):
        array = np.array(array, order="K")
        array.flags.writeable = False
    return array


def is_frozen(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.base is None and not array.flags.writeable


def is_uniform(array: np.ndarray) -> bool:
    """Whether its entries are one number in memory."""
    return array.size > 1 and not any(array.strides)


def temporaries(names: Collection[str], word: str = "z") -> Iterator[str]:
    """The names z1, z2, … that are not among the names; or with another word."""
    return (z for k in itertools.count(1) if (z := f"{word}{k}") not in names)


def fresh(name: str, taken: set[str]) -> str:
    """The name, with underscores at its end until it is not among those taken, to which it is added."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
