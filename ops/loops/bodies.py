"""Functions as literals, by which a list applies a list: how they are written, run and differentiated.

A function is the plain tuple ("def", name, parameters, lines, results): lines (dst, op, args) over registers
of its own, which are its parameters and those that its lines assign. It is closed: weights are arguments.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..expression import Expression, G
from ..facts import IN_USE, OURS, is_function, operator_called
from ..kinks import derivatives_by
from ..walk import back, forth, live_back, live_forth, needed
from ..writer import Symbol, Traced, Writer, literal, temporaries

Function = tuple  # ("def", name, parameters, lines, results)


class Bundle(tuple):
    """The arrays of one register, in order; and the table of values that made them, if it is not ops.G."""

    table: Mapping[str, Callable] | None = None

    shape = property(lambda self: tuple(map(np.shape, self)))
    ndim = property(len)
    size = property(lambda self: sum(map(np.size, self)))
    nbytes = property(lambda self: sum(np.asarray(a).nbytes for a in self))
    dtype = np.dtype(object)


class Parts(dict):
    """The delta or the tangent of a bundle: {i: that of array i}, for arrays that have one."""

    def __add__(self, terms: Parts) -> Parts:
        return Parts({**self, **terms, **{i: self[i] + terms[i] for i in self.keys() & terms.keys()}})


# ---- as parts of a list ------------------------------------------------------------------------------------

def functions_in(lines: Iterable[tuple]) -> list[tuple]:
    """The functions that the lines apply, each name once, after the functions that it applies itself."""
    functions: dict[str, tuple] = {}

    def gather(lines: Iterable[tuple], depth: int = 0) -> None:
        for line in lines:
            is_line = isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], tuple)
            for a in line[2] if is_line else ():  # deeper ones are an error
                if type(a) is tuple and is_function(a) and depth < 20 and a[1] not in functions:
                    gather(a[3], depth + 1)
                    functions[a[1]] = a
    gather(lines)
    return [*functions.values()]


def operators_in(function: tuple) -> list[tuple]:
    """What each line computes, and by which operator."""
    return [line[:2] for line in function[3]]


def functions_apart(steps: Sequence, definition: Callable[[Function], str]) -> list:
    """The lines; different functions of one name become step, step2, …. definition: gives their text."""
    if not functions_in(steps):
        return [*steps]
    registers = (a for dst, _, args in steps for a in (dst, *args) if isinstance(a, str))
    by_name: dict[str, Any] = dict.fromkeys(registers)  # a function, or None for a register
    texts: dict[int, tuple] = {}  # by id: the function, so that the id stays its own, and its text
    done: dict[int, Any] = {}  # by id, so that a function that is applied twice is renamed once

    def renamed(a: Any, depth: int = 0) -> Any:
        if id(a) not in done:
            done[id(a)] = renamed_once(a, depth)
        return done[id(a)]

    def text(function: tuple) -> str:
        if id(function) not in texts:
            texts[id(function)] = function, definition(function).partition("(")[2]
        return texts[id(function)][1]

    def same(function: tuple, namesake: tuple) -> bool:
        if function[2::2] != namesake[2::2] or operators_in(function) != operators_in(namesake):
            return False
        return text(function) == text(namesake)  # last, for literals may have a million entries

    def renamed_once(a: Any, depth: int) -> Any:
        if not is_function(a) or depth > 20 or not (isinstance(a[1], str) and isinstance(a[3], tuple)):
            return a
        name, function = a[1], (*a[:3], tuple(inside(line, depth + 1) for line in a[3]), a[4])
        try:
            for k in itertools.count(2):
                namesake = by_name.setdefault(name, function)
                if namesake is function or namesake and same(function, namesake):
                    return a[0], name, *function[2:]
                name = f"{a[1]}{k}"
        except (TypeError, ValueError):
            return a  # a later check refuses it in a sentence

    def inside(line: Any, depth: int = 0) -> Any:
        if (isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], tuple)
            and any(map(is_function, line[2]))):
            return (*line[:2], tuple([renamed(a, depth) for a in line[2]]))
        return line
    return [inside(line) for line in steps]


# ---- running -----------------------------------------------------------------------------------------------

def as_python(function: Function) -> Callable:
    """The function on arrays, as Python that calls the values in the present table, line by line."""
    table = IN_USE.get().G
    def program():
        _, _, parameters, lines, results = function
        names = {x: f"r{k}" for k, x in enumerate((*parameters, *(dst for dst, _, _ in lines)))}
        space: dict[str, Any] = {}
        text = [f"def run({', '.join(names[p] for p in parameters)}):"]
        for k, (dst, op, args) in enumerate(lines):
            space[f"op{k}"] = table[op]
            space |= {f"a{k}_{j}": a for j, a in enumerate(args)}
            called = ", ".join([names[a] if type(a) is str else f"a{k}_{j}" for j, a in enumerate(args)])
            text.append(f"    {names[dst]} = op{k}({called})")
        text.append(f"    return {''.join(f'{names[r]}, ' for r in results) or '()'}")
        exec(compile("\n".join(text), FILE, "exec"), space)
        return space["run"]
    # the values are part of the key: a user may define an operator anew
    return remembered("program", function, program, *[table[op] for _, op, _ in function[3]])


REMEMBERED: dict[tuple, tuple] = {}
FILE = "<a function of a list>"


def remembered(kind: str, function: Function, make: Callable, *keys: Any) -> Any:
    """make(), once for each kind, function and keys; but each time anew with tables of a user."""
    if IN_USE.get() is not OURS and kind != "program":
        return make()
    key = (kind, id(function), *keys)
    if key not in REMEMBERED:
        REMEMBERED[key] = make(), function  # the function is kept alive, so that its id stays its own
        if len(REMEMBERED) > 4000:  # for speed alone
            del REMEMBERED[next(iter(REMEMBERED))]
    return REMEMBERED[key][0]


def explained(function: Function, error: Exception) -> Exception:
    """An error in `as_python` of the function, with the line and the shapes of its arguments."""
    frame = error.__traceback__
    while frame and frame.tb_frame.f_code.co_filename != FILE:
        frame = frame.tb_next
    if frame is None or isinstance(error, (TimeoutError, MemoryError, RecursionError)):
        return error
    _, name, parameters, lines, _ = function
    k = frame.tb_lineno - 1
    dst, op, args = lines[k - 1]
    place = {x: f"r{i}" for i, x in enumerate((*parameters, *(line[0] for line in lines)))}
    inputs = {a: frame.tb_frame.f_locals[place[a]] for a in args if isinstance(a, str)}
    sizes = ", ".join(f"{a} has shape {np.shape(x)}" for a, x in inputs.items())
    return ValueError(f"in {name}, line {k}, {dst} = {op}(…): {sizes}: {error}")


# ---- writing -----------------------------------------------------------------------------------------------

class Body(Writer):
    """Writes the lines of a function. A value from outside becomes a further parameter.

    parameters: their names. near: names of values outside, by id.
    """

    def __init__(self, parameters: Iterable[str], near: Mapping[int, str] = {}):
        super().__init__()
        self.level, self.near = next(Traced.levels), near
        self.outside: dict[int, tuple[Any, Symbol]] = {}  # by id the value, and the parameter for it
        self.starts = [self.symbol(p) for p in parameters]

    def argument(self, a: Any, op: str = "") -> Any:
        if not isinstance(a, Expression):
            return literal(a)
        if isinstance(a, Symbol) and a.writer is self:
            return a
        name = self.near.get(id(a)) or (None if isinstance(a, Traced) else getattr(a, "name", None))
        parameter = self.symbol(name)
        return self.outside.setdefault(id(a), (a, parameter))[1]

    def function(self, name: str, ends: Sequence[tuple[str | None, Any]]) -> tuple[Function, list]:
        """(the literal with these results, the values from outside). ends: (the wanted name, the value)."""
        results = []
        for word, end in ends:
            if not (isinstance(end, Symbol) and end.writer is self):
                end = self.write("alias", [end])
            end.name = end.name or word
            results.append(end)
        self.lines = needed(self.lines, results)
        read = {*map(id, results), *(id(a) for line in self.lines for a in line.args)}
        outside = [(a, parameter) for a, parameter in self.outside.values() if id(parameter) in read]
        names = {*(p.name for p in self.starts), *G}
        for symbol in (*(parameter for _, parameter in outside), *(line.out for line in self.lines)):
            symbol.name = None if symbol.name in names else symbol.name
            names.add(symbol.name)
        for _, parameter in outside:
            parameter.name = parameter.name or next(temporaries(names))
            names.add(parameter.name)
        lines = tuple(self.named(names))
        parameters = (*(p.name for p in self.starts), *(parameter.name for _, parameter in outside))
        return ("def", name, parameters, lines, tuple(end.name for end in results)), [a for a, _ in outside]


# ---- differentiating ---------------------------------------------------------------------------------------

class RerunBody:
    """One run of a function: the values of its registers, and both modes along its lines.

    values: those that need not be computed again. Where values are symbols, they get the registers' names.
    """

    def __init__(self, function: Function, inputs: Sequence[Any], values: Mapping[str, Any] = {}):
        self.lines, self.values = function[3], dict(zip(function[2], inputs, strict=True))
        for dst, op, args in self.lines:
            if dst in values:
                self.values[dst] = values[dst]
                continue
            inputs = [self.values[a] if isinstance(a, str) else a for a in args]
            self.values[dst] = out = operator_called(op)(*inputs)
            if isinstance(out, Symbol):
                out.name = out.name or dst

    def adjoints(self, deltas: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """The deltas of the parameters, from those of the results."""
        walk = lambda seeds: back(self.lines, self.values, seeds, IN_USE.get().DG)
        return self.walked(walk, deltas)

    def tangents(self, tangents: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """The tangents of all registers, from those of the parameters."""
        walk = lambda seeds: forth(self.lines, self.values, seeds, IN_USE.get().TG)
        return self.walked(walk, tangents, forward=True)

    def walked(self, walk: Callable, starts: Iterable[tuple[str, Any]], forward: bool = False) -> dict:
        seeds: dict[str, Any] = {}
        for x, d in starts:
            seeds[x] = seeds[x] + d if x in seeds else d
        return derivatives_by(walk, seeds, seeds, self.lines, (), None, forward)


def reaches(function: Function, registers: Collection[str]) -> set[str]:
    """The registers that get a delta if the named registers have one."""
    return live_back(function[3], registers, ruled_lines(function, IN_USE.get().DG))


def moves(function: Function, registers: Collection[str]) -> set[str]:
    """The registers that have a tangent if the named registers have one."""
    return live_forth(function[3], registers, ruled_lines(function, IN_USE.get().TG))


def carried_on(function: Function, first: Collection[int], k: int,
               reached: Callable) -> tuple[set[int], set[str]]:
    """(the results that have a delta, with the carries that get one in further steps; what has one inside).

    first: the results that begin with a delta, the carries being the first k. reached: `reaches`; or `moves`,
    for parameters that begin with a tangent.
    """
    ends = function[4], function[2]
    begin, end = ends if reached is reaches else ends[::-1]
    active, live = {*first}, reached(function, [begin[j] for j in first])
    while more := {i for i in range(k) if end[i] in live} - active:
        active |= more
        live = reached(function, [begin[j] for j in active])
    return active, live


def ruled_lines(function: Function, rules: Mapping) -> Mapping:
    """The rules. An error unless there are rules for all lines of the function."""
    if lacking := [op for _, op, _ in function[3] if op not in rules]:
        raise TypeError(f"in {function[1]}: the operator {lacking[0]!r} has no rule; put it in the table")
    return rules
