"""When a Wengert list is valid, and the sentence for each way in which it is not."""
from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import ops
from ops.table import MANY, arity, takes
from ops.writer import frozen

from . import notation
from .errors import XManError, nearest

RESERVED = {**dict.fromkeys((*keyword.kwlist, "__debug__"), "is a Python keyword"),
             **dict.fromkeys(notation.WORDS, "is a word of the text form")}  # as registers, and why


def as_line(line: Any) -> Any:
    """The line as tuples where it holds lists, as in §1.6 of the notes and in JSON; else as it is. Its arrays
    are copies that nobody can change: a list is the same tomorrow, whatever its user does with his arrays."""
    if isinstance(line, (tuple, list)) and len(line) == 3 and isinstance(line[2], (tuple, list)):
        # not isinstance: a traced value passes for an array
        args = [frozen(a) if issubclass(type(a), np.ndarray) else a for a in line[2]]
        return (line[0], line[1], tuple(args))
    return line


def inputs_of_valid(steps: Sequence, tables: Sequence[Mapping[str, Any]] = (),
                    depth: int = 0, checked: dict[int, int] | None = None) -> tuple[str, ...]:
    """The inputs of a list, in the order of their first use, when it is valid, by itself and for the tables.

    A register is assigned once and before its use; a name is no keyword and, by the tables of `ops`, no
    operator; an operator is in the tables and takes that number of arguments. XManError with the line.
    depth: in how many functions the lines stand. checked: the functions that were checked, by id, and the
    depth that each had: two lines often apply one function, and it is walked through once.
    """
    operators = ops.G if any(table is ours for table in tables for ours in (ops.G, ops.DG, ops.TG)) else ()
    assigned: dict[str, int] = {}  # by register, the line that assigns it
    used: dict[str, int] = {}      # by input, the first line that reads it
    arities: dict[tuple[str, int], tuple[int, int]] = {}  # by operator and table
    checked = {} if checked is None else checked
    for k, line in enumerate(steps, 1):
        refused = partial(refuse_line, k, line)
        refuse_form(line, refused)
        dst, op, args = line
        refuse_name(dst, operators, k, line)
        for a in args:
            if isinstance(a, str):
                if a not in assigned and a not in used:
                    refuse_name(a, operators, k, line)
                    used[a] = k
            elif type(a) is tuple and ops.is_function(a):
                if checked.get(id(a), -1) <= depth:
                    refuse_function_literal(a, refused, tables, depth + 1, checked)
                    checked[id(a)] = depth + 1
            elif type(a) is not float and (strange := strange_type(a)):
                inside = f" with a {strange} in it" if strange != type(a).__name__ else ""
                refused(f"has the argument {notation.shortened(a)}, a {type(a).__name__}{inside}; an argument is "
                        "a register's name, a number, a shape, a slice or an array of numbers, none longer than "
                        "64 bits")
        if dst in used:
            refused(f"assigns {dst}, which line {used[dst]} has used already; a register is assigned before "
                    "its use")
        if assigned.setdefault(dst, k) != k:
            refused(f"assigns {dst} a second time, after line {assigned[dst]}; give one of them another name")
        for table in tables:
            key = op, id(table)
            least, greatest = arities.get(key) or arities.setdefault(key, arity_of(op, table, refused))
            if not least <= len(args) <= greatest:
                refuse_number_of_args(op, args, table, least, greatest, refused)
    return tuple(used)


def refuse_form(line: Any, refused: Callable[[str], None]) -> None:
    """refused(reason) unless the line is of the form ("z1", "mul", ("h", "w"))."""
    if not (isinstance(line, tuple) and len(line) == 3):
        refused("is not a line (dst, op, args); write ('z1', 'mul', ('h', 'w'))")
    dst, op, args = line
    if not (isinstance(dst, str) and isinstance(op, str)):
        refused("has to begin with two strings, the register assigned and the operator")
    # the course has crossEnt-softMax
    if op not in ops.G and (not op.replace("-", "_").isidentifier() or keyword.iskeyword(op)):
        refused(f"calls {op!r}, which is no name of an operator")
    if isinstance(args, str):
        refused(f"has the string {args!r} where a tuple is wanted; a tuple of one is written ({args!r},)")
    if not isinstance(args, tuple):
        refused(f"has a {type(args).__name__} where a tuple of arguments is wanted")


def refuse_number_of_args(op: str, args: tuple, table: Mapping[str, Any], least: int, greatest: int,
                          refused: Callable[[str], None]) -> None:
    """refused(reason), unless the table has rules, and only literals stand beyond them, which need none."""
    if callable(table[op]):
        remedy = f"it takes {takes(table[op])}"
        if least == len(args) + 2 and table is not ops.G:  # a rule takes delta and out as well
            remedy += f", and if it is a rule it stands in a list: write {op!r}: [rule]"
    elif any(isinstance(a, str) for a in args[greatest:]):
        remedy = f"it has rules for {greatest}"
    else:
        return
    if op == "scan" and len(args) == 3:
        remedy += "; what was scan(x, a, axis) is called recurrence(x, a, axis) now"
    refused(f"gives {op} {len(args)} argument{'s' * (len(args) != 1)}; {remedy}")


def refuse_function_literal(function: tuple, refused: Callable[[str], None],
                            tables: Sequence[Mapping[str, Any]], depth: int, checked: dict[int, int]) -> None:
    """refused(reason) unless the function is closed and its lines are valid."""
    _, name, parameters, lines, results = function
    if depth > 20:
        refused("applies functions within functions, more than 20 deep")
    if not isinstance(name, str) or not all(isinstance(x, tuple) for x in (parameters, lines, results)):
        refused('has a function that is not of the form ("def", name, parameters, lines, results), of tuples')
    try:
        refuse_name(name)
        for p in (*parameters, *results):
            refuse_name(p)
        free = inputs_of_valid(lines, tables, depth, checked)
    except XManError as error:
        refused(f"in the function {notation.shortened(name)}: {error}")
    assigned = {dst for dst, _, _ in lines}
    if open_ := [a for a in (*free, *results) if a not in parameters and a not in assigned]:
        refused(f"applies {name}, where {open_[0]} is neither a parameter nor assigned: a function is closed, so "
                "make it a parameter")
    if twice := [p for p in parameters if p in assigned or parameters.count(p) > 1]:
        refused(f"applies {name}, where {twice[0]} is a parameter and given a second time")


def strange_type(a: Any, depth: int = 0) -> str:
    """The type of what cannot stand in a literal; "" for numbers, None, ... and what they make."""
    if isinstance(a, (np.ndarray, np.generic)):
        return "" if a.dtype.kind in "biufc" and a.real.itemsize <= 8 else type(a).__name__
    if isinstance(a, (bool, float, complex, type(None), type(Ellipsis))) or isinstance(a, str) and depth:
        return ""
    if isinstance(a, int) and -2 ** 63 <= a < 2 ** 64:
        return ""
    if isinstance(a, (tuple, slice)) and depth < 20:
        entries = a if isinstance(a, tuple) else (a.start, a.stop, a.step)
        return next(filter(None, (strange_type(entry, depth + 1) for entry in entries)), "")
    return type(a).__name__


def arity_of(op: str, table: Mapping[str, Any], refused: Callable[[str], None]) -> tuple[int, int]:
    """How many arguments op takes by the table: of values by its function, of rules by their number."""
    if op in table:
        return arity(table[op]) if callable(table[op]) else (0, len(table[op]))
    if table and not callable(next(iter(table.values()))):
        return 0, MANY  # a rule that nobody asks for may be missing
    course = "; xman.translated writes a list of the course in ours" * (op in ("softMax", "crossEnt"))
    refused(f"calls {op!r}, which is not in the table of operators{course}{nearest(op, table)}")


def refuse_line(k: int, line: Any, reason: str) -> None:
    raise XManError(f"line {k}, {notation.shown(line)}, {reason}") from None


def refuse_name(name: str, operators: Container[str] = ops.G, k: int | None = None, line: Any = None) -> None:
    """XManError unless `name` can be a register's: an identifier, no keyword, operator, word of the text."""
    normal = unicodedata.normalize("NFKC", name)  # as Python's parser reads it (PEP 3131)
    if name.isidentifier() and name not in RESERVED and name not in operators and normal == name:
        return
    reason = "is an operator" if name in operators else RESERVED.get(name, "is not an identifier")
    if name.isidentifier() and normal != name:
        reason = f"Python reads as {normal!r}"
    where = f"line {k}, {notation.shown(line)}: " if k else ""
    raise XManError(f"{where}a register cannot be called {name!r}, which {reason}; choose another name")
