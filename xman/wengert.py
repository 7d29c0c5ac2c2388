"""The Wengert list: lines (dst, op, args), where a string in args names a register, all else is a literal."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.facts import makes_complex
from ops.walk import needed as needed
from ops.writer import fresh as fresh
from ops.writer import temporaries as temporaries

from . import notation
from .errors import XManError, nearest
from .validity import as_line, inputs_of_valid

Line = tuple[str, str, tuple]
Steps = Sequence[Line]
Size = tuple[tuple, np.dtype]  # of a register: its shape and precision


def read(parse: Callable[[str], list[Line]], text: str) -> list[Line]:
    """The lines that `parse` finds in the text. XManError where it cannot be read."""
    try:
        return parse(text)
    except ValueError as error:
        raise XManError(str(error)) from None


def changing(method: str) -> Callable:
    """A method of list that changes the list, which then has to be checked again."""
    def change(self, *args, **named):
        self.checked_for = self.differentiates = None
        return getattr(list, method)(self, *args, **named)
    change.__name__ = method
    return change


def equal_lines(a: Any, b: Any) -> bool:
    """Whether lines, or arguments, are equal; arrays are by precision, shape and bits, and so is NaN."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if type(a) is type(b) and isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal_lines, a, b))
    return a == b


class WengertList(list):
    """A list of lines (dst, op, args), valid when it is made, that prints itself with its signs = aligned.

        >>> WengertList([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))])
        z1 = mul(h, w)
        area = half(z1)

    steps: lines. G: a table of values; where it is given, every operator has to be in it and to take that
    number of arguments. Raises XManError with the line, what was found and what to write instead.
    """

    checked_for: dict[int, Mapping] | None = None  # by id, the tables for which the list was found valid
    places: Mapping[str, Any] = {}  # where in the user's files registers come from, as far as it is known
    differentiates: tuple | None = None  # of a list that `gradient` wrote: its (steps, of, wrt, seed, DG)
    complex = False  # whether a line has complex numbers, whatever the inputs are
    _inputs: tuple[str, ...] = ()

    def __init__(self, steps: Iterable[Line] = (), G: Mapping[str, Callable] | None = None):
        super().__init__(steps)
        self._check([] if G is None else [G])

    def __getitem__(self, k):
        lines = super().__getitem__(k)
        # steps[::-1] is a plain list: read backwards, no list is valid
        return WengertList(lines) if isinstance(k, slice) and (k.step or 1) > 0 else lines

    def __eq__(self, lines: object) -> bool: return isinstance(lines, list) and equal_lines([*self], [*lines])
    def __ne__(self, lines: object) -> bool: return not self == lines
    __hash__ = None  # it may change

    def __add__(self, lines: Iterable[Line]) -> WengertList: return WengertList([*self, *lines])
    def __reduce__(self) -> tuple: return WengertList, (list(self),)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The registers that are read and not assigned, in the order of their first use."""
        if self.checked_for is None:
            self._check([])
        return self._inputs

    def _check(self, tables: Sequence[Mapping[str, Any]]) -> None:
        # read now: the change of the lines in the next line clears both
        before, differentiates = self.checked_for or {}, self.differentiates
        self[:] = ops.loops.functions_apart([*map(as_line, self)], notation.definition)
        self._inputs, self.differentiates = inputs_of_valid(self, tables), differentiates
        self.complex = makes_complex(self)
        # a loop that makes tables anew each time must not have the list hold on to all of them
        self.checked_for = {id(table): table for table in tables} | (before if len(before) < 3 else {})

    @property
    def outputs(self) -> tuple[str, ...]:
        """The registers that are assigned and not read, in order."""
        read = {a for _, _, args in self for a in registers(args)}
        return tuple(dst for dst, _, _ in self if dst not in read)

    def __str__(self) -> str: return notation.to_text(self, aligned=True)

    def __repr__(self) -> str:  # a long list shows both its ends
        if len(self) <= 100:
            return notation.to_text(self)
        return f"{self[:20]!r}\n…  {len(self) - 40:,} more lines  …\n{self[-20:]!r}"

    _repr_html_ = notation.in_notebooks("list_in_html")

    @classmethod
    def from_text(cls, text: str) -> WengertList:
        """The list that `str` printed. XManError names the line of text that cannot be read."""
        return cls(read(notation.from_text, text))

    def to_json(self) -> str:
        """The list as JSON: [[dst, op, [arg, …]], …] (see `xman.notation`)."""
        return notation.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> WengertList:
        """The list that `to_json` wrote. XManError says where the JSON is not one."""
        return cls(read(notation.from_json, text))


for _method in ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse",
                "__setitem__", "__delitem__", "__iadd__", "__imul__"):
    setattr(WengertList, _method, changing(_method))


def checked_list(steps: Steps, *tables: Mapping[str, Any]) -> WengertList:
    """steps as a WengertList that is valid for the tables. It is checked once, and again after a change."""
    if not isinstance(steps, WengertList):
        if not isinstance(steps, (list, tuple)):
            remedy = ("WengertList.from_text(steps)" if isinstance(steps, str) else
                      "xman.trace(fn, x) for its list" if callable(steps) else "WengertList(steps)")
            trap = ", and would be empty the second time it is read" * isinstance(steps, Iterator)
            raise XManError(f"steps is a {type(steps).__name__}, not a list of lines{trap}: write {remedy}")
        steps = WengertList(steps, *tables[:1])
    tables = [getattr(table, "like", table) for table in tables]
    for table in tables:
        if steps.checked_for is None or id(table) not in steps.checked_for:
            steps._check(tables)
    return steps


def known_registers(steps: WengertList, names: Iterable[str], word: str, one: bool = False) -> list[str]:
    """A name or names of registers of steps as a list, each once.

    word: what the message calls the argument. one: whether it has to be one name alone. XManError for what
    is no register of steps, and for several names or none where one is needed.
    """
    single = isinstance(names, (str, Mapping) if one else str) or not isinstance(names, Iterable)
    names = [names] if single else list(names)
    in_list = {*all_registers(steps)}
    for name in names:
        if isinstance(name, Mapping):
            raise XManError(f"{word} is a register's name, and found a dictionary; the order is (steps, of, "
                            "wrt, values)")
        if not isinstance(name, str):
            raise XManError(f"{word} takes the names of registers, strings, and found "
                            f"{notation.shortened(name)}")
        if name not in in_list:
            raise XManError(f"{word} names {name!r}, which the list does not have{nearest(name, in_list)}")
    names = list(dict.fromkeys(names))
    if one and len(names) != 1:
        raise XManError(f"{word} names one register here, and found {', '.join(names) or 'none'}")
    return names


def inputs_of(steps: WengertList, wrt: Collection[str]) -> tuple[str, ...]:
    """The names in wrt. XManError unless they are inputs of the list, at least one."""
    if not (wrt := known_registers(steps, wrt, "wrt")):
        raise XManError(f"wrt is empty: name at least one of the inputs {', '.join(steps.inputs)}")
    if computed := [x for x in wrt if x not in steps.inputs]:
        raise XManError(f"wrt names {computed[0]!r}, which is computed; it takes inputs: "
                        f"{', '.join(steps.inputs)}")
    return tuple(wrt)


def registers(args: Iterable) -> list[str]:
    """The registers among the arguments of a line."""
    return [a for a in args if isinstance(a, str)]


def all_registers(steps: WengertList) -> list[str]:
    """All registers of a list."""
    return [*steps.inputs, *(dst for dst, _, _ in steps)]

