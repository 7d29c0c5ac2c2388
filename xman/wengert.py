"""The Wengert list: lines (dst, op, args), where in args a string names a register and all else is a literal."""
from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.table import MANY, arity, takes

from . import notation
from .errors import XManError, nearest

Line = tuple[str, str, tuple]
Steps = Sequence[Line]


def changing(method: str) -> Callable:
    """The list's own method, after which the list has to be checked again."""
    def change(self, *args, **named):
        self.checkedFor = None
        return getattr(list, method)(self, *args, **named)
    change.__name__ = method
    return change


class WengertList(list):
    """A list of lines (dst, op, args) that prints itself, one assignment a line, and is valid when it is made.

        >>> WengertList([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))])
        z1 = mul(h, w)
        area = half(z1)

    steps: an iterable of lines. G: a table of values; where it is given, every operator has to be in it and to take that
    number of arguments. Raises XManError with the line, what was found and what to write instead.
    """

    checkedFor: dict[int, Mapping] | None = None  # the tables, by id, that the list was found valid for
    _inputs: tuple[str, ...] = ()

    def __init__(self, steps: Iterable[Line] = (), G: Mapping[str, Callable] | None = None):
        super().__init__(steps)
        check(self, G)

    def __getitem__(self, k):
        return WengertList(super().__getitem__(k)) if isinstance(k, slice) else super().__getitem__(k)

    def __add__(self, other: Iterable[Line]) -> WengertList:
        return WengertList([*self, *other])

    def copy(self) -> WengertList:
        return WengertList(self)

    def __reduce__(self) -> tuple:
        return WengertList, (list(self),)  # without the tables, which hold functions

    for method in ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse",
                   "__setitem__", "__delitem__", "__iadd__", "__imul__"):
        locals()[method] = changing(method)
    del method

    @property
    def inputs(self) -> tuple[str, ...]:
        """The registers that are read and not assigned, in the order of their first use."""
        if self.checkedFor is None:
            check(self)
        return self._inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The registers that are assigned and not read, in order."""
        read = {a for _, _, args in self for a in args if isinstance(a, str)}
        return tuple(dst for dst, _, _ in self if dst not in read)

    def __str__(self) -> str:
        return notation.to_text(self)

    __repr__ = __str__

    @classmethod
    def from_text(cls, text: str) -> WengertList:
        """The list that `str` printed. XManError names the line of text that cannot be read."""
        return cls(notation.from_text(text))

    def to_json(self) -> str:
        """The list as JSON: [[dst, op, [arg, …]], …] (see `xman.notation`)."""
        return notation.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> WengertList:
        """The list that `to_json` wrote. XManError says where the JSON is not one."""
        return cls(notation.from_json(text))


def checked(steps: Steps, *tables: Mapping[str, Any]) -> WengertList:
    """steps as a WengertList that is valid for the tables: looked through once, and again only after it was changed."""
    if not isinstance(steps, WengertList):
        if not isinstance(steps, (list, tuple)):
            mend = "WengertList.from_text(steps)" if isinstance(steps, str) else "WengertList(steps)"
            raise XManError(f"steps is a {type(steps).__name__}, not a list of lines, and one that is used up by reading would "
                            f"be empty the second time: write {mend}")
        steps = WengertList(steps)
    for table in tables:
        if steps.checkedFor is None or id(table) not in steps.checkedFor:
            check(steps, *tables)
    return steps


def check(steps: WengertList, *tables: Mapping[str, Any] | None) -> None:
    """Raise XManError unless steps is valid: the design's law of lists, in words that say what to write instead."""
    tables = tuple(table for table in tables if table is not None)
    assigned: dict[str, int] = {}
    used: dict[str, int] = {}
    sizes: dict[tuple[str, int], tuple[int, int]] = {}
    for k, line in enumerate(steps, 1):
        if not (isinstance(line, (tuple, list)) and len(line) == 3):
            refuse(k, line, "is not a line (dst, op, args); write ('z1', 'mul', ('h', 'w'))")
        dst, op, args = line
        if not (isinstance(dst, str) and isinstance(op, str)):
            refuse(k, line, "has to begin with two strings, the register assigned and the operator")
        if isinstance(args, str):
            refuse(k, line, f"has the string {args!r} where a tuple is wanted; a tuple of one is written ({args!r},)")
        if not isinstance(args, (tuple, list)):
            refuse(k, line, f"has a {type(args).__name__} where a tuple of arguments is wanted")
        if type(line) is not tuple or type(args) is not tuple:  # the notes print lists in §1.6
            list.__setitem__(steps, k - 1, (dst, op, args := tuple(args)))
        refuse_name(dst, k, line)
        for a in args:
            if isinstance(a, str):
                if a not in assigned and a not in used:
                    refuse_name(a, k, line)
                    used[a] = k
            elif found := stranger(a):
                inside = f" with a {found} in it" if found != type(a).__name__ else ""
                refuse(k, line, f"has the argument {notation.shortened(a)}, a {type(a).__name__}{inside}; an argument is a "
                                "register's name, a number, a shape, a slice or an array of numbers, none longer than 64 bits")
        if dst in used:
            refuse(k, line, f"assigns {dst}, which line {used[dst]} has used already; a register is assigned before its use")
        if assigned.setdefault(dst, k) != k:
            refuse(k, line, f"assigns {dst} a second time, after line {assigned[dst]}; give one of them another name")
        for table in tables:
            if (op, id(table)) not in sizes:
                sizes[op, id(table)] = size_of(op, table, k, line)
            least, most = sizes[op, id(table)]
            if not least <= len(args) <= most and (callable(table[op]) or any(isinstance(a, str) for a in args[most:])):
                wanted = f"it takes {takes(table[op])}" if callable(table[op]) else f"its rules are for {most}"
                refuse(k, line, f"gives {op} {len(args)} argument{'s' * (len(args) != 1)}; {wanted}")
    known = steps.checkedFor or {}
    steps.checkedFor = {id(table): table for table in tables} | (known if len(known) < 3 else {})
    steps._inputs = tuple(used)


def stranger(a: Any, depth: int = 0) -> str:
    """The type of what cannot stand in a literal, and so not in its text; nothing for numbers, None, ... and what they make."""
    if isinstance(a, (bool, float, type(None), type(Ellipsis))) and not isinstance(a, np.generic) or isinstance(a, str) and depth:
        return ""
    if isinstance(a, int) and -2 ** 63 <= a < 2 ** 64:
        return ""
    if isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "biuf" and a.dtype.itemsize <= 8:
        return ""
    if isinstance(a, (tuple, slice)) and depth < 20:
        parts = a if isinstance(a, tuple) else (a.start, a.stop, a.step)
        return next(filter(None, (stranger(part, depth + 1) for part in parts)), "")
    return type(a).__name__


def size_of(op: str, table: Mapping[str, Any], k: int, line: Line) -> tuple[int, int]:
    """How many arguments op takes by the table: one of values says by its function, one of rules by their number."""
    if op in table:
        return arity(table[op]) if callable(table[op]) else (0, len(table[op]))
    if table and not callable(next(iter(table.values()))):
        return 0, MANY  # a rule that nobody asks for may be missing
    refuse(k, line, f"calls {op!r}, which is not in the table of operators{nearest(op, table)}")


def refuse(k: int, line: Any, why: str) -> None:
    """Raise XManError about line k."""
    raise XManError(f"line {k}, {notation.shown(line)}, {why}")


def refuse_name(name: str, k: int | None = None, line: Any = None) -> None:
    """Raise XManError unless `name` can be a register's: an identifier, no keyword, no operator, no word of the notation."""
    plain = name if name.isascii() else normalized(name)
    if name.isidentifier() and name not in FORBIDDEN and name not in ops.G and plain == name:
        return
    why = (f"Python reads as {plain!r}" if name.isidentifier() and plain != name
           else "is an operator" if name in ops.G else "is a word of the text form" if name in notation.WORDS
           else "is a Python keyword" if keyword.iskeyword(name) else "is not an identifier")
    where = f"line {k}, {notation.shown(line)}: " if k else ""
    raise XManError(f"{where}a register cannot be called {name!r}, which {why}; choose another name")


def normalized(name: str) -> str:
    """The name as Python's parser reads it (PEP 3131)."""
    import unicodedata  # not before a name asks for it
    return unicodedata.normalize("NFKC", name)


FORBIDDEN = {*keyword.kwlist, *notation.WORDS}
