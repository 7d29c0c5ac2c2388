"""The text form of a list, `z1 = mul(h, w)`: valid Python over the operators' names."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.writer import is_uniform

LONGEST = 120  # the most characters that a message quotes of a line or an argument


def to_text(steps: Sequence[tuple], aligned: bool = False) -> str:
    lines, new_names = apart_from_operators(ops.loops.functions_apart(steps, definition))
    functions = [definition(function, aligned) + "\n" for function in ops.loops.functions_in(lines)]
    comments = [f"# {sentence}" for sentence in renamings(new_names)]
    return "\n".join([*comments, *functions, *lines_as_text(lines, aligned)])


def definition(function: tuple, aligned: bool = False) -> str:
    _, name, parameters, lines, results = function
    header = f"def {name}({', '.join(parameters)}):"
    return "\n    ".join([header, *lines_as_text(lines, aligned), f"return {', '.join(results)}"])


def lines_as_text(lines: Sequence[tuple], aligned: bool) -> list[str]:
    width = max((len(dst) for dst, _, _ in lines), default=0) * aligned
    return [as_text(line, width) for line in lines]


def as_text(line: tuple, width: int = 0) -> str:
    dst, op, args = line
    return f"{dst:{width}} = {op}({', '.join(a if isinstance(a, str) else literal_text(a) for a in args)})"


def apart_from_operators(steps: Sequence[tuple]) -> tuple[Sequence[tuple], dict[str, str]]:
    """The lines with a new name for each register called like an operator, exp_ for exp; and these names.

    A list may call a register exp where a course's own tables have no such operator. In the text, whose
    operators are ours, `exp = exp(exp)` would not say which is which.
    """
    names = {a: None for dst, _, args in steps for a in (dst, *args) if isinstance(a, str)}
    clashes = [a for a in names if a in ops.G]
    if not clashes:
        return steps, {}
    # one underscore more than any name has at its end: no new name is one of the list's
    end = "_" * (1 + max(len(a) - len(a.rstrip("_")) for a in names))
    new = {a: a + end for a in clashes}
    return renamed(steps, new), new


def renamed(steps: Iterable[tuple], new: Mapping[str, str]) -> list[tuple]:
    """The lines with other names for the registers in `new`."""
    name = lambda a: new.get(a, a) if isinstance(a, str) else a
    return [(name(dst), op, tuple(map(name, args))) for dst, op, args in steps]


def renamings(new_names: Mapping[str, str]) -> list[str]:
    sentence = "{} is the register {}, which has the name of an operator"
    return [sentence.format(new, old) for old, new in new_names.items()]


def shown(line: Any) -> str:
    """A line for a message, shortened: in its text form if it has one, else as Python writes it."""
    try:
        text = as_text(line) if not isinstance(line[2], str) else repr(line)
    except (TypeError, ValueError, IndexError, KeyError, RecursionError):
        return shortened(line)
    return cut(text) if text.isprintable() else shortened(line)


def shortened(a: Any) -> str:
    """repr(a) in at most 120 characters; an integer that is too long for Python to print has one too."""
    try:
        return cut(repr(a))
    except (ValueError, RecursionError):
        return f"a {type(a).__name__} that is too large to print"


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."


def literal_text(a: Any) -> str:
    """A literal as text, which Python reads back to the same literal, of the same type."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return repr(a) if math.isfinite(a) else f"float('{a}')"
    if isinstance(a, complex) and not isinstance(a, np.generic):  # (-0+1j) reads back as 0+1j
        return f"complex({literal_text(a.real)}, {literal_text(a.imag)})"
    if ops.is_function(a):
        return a[1]
    if isinstance(a, list):  # the entries of an array
        return f"[{', '.join(map(literal_text, a))}]"
    if isinstance(a, tuple):
        entries = [repr(entry) if isinstance(entry, str) else literal_text(entry) for entry in a]
        return f"({', '.join(entries)}{',' * (len(a) == 1)})"
    if isinstance(a, slice):
        return f"slice({literal_text(a.start)}, {literal_text(a.stop)}, {literal_text(a.step)})"
    if isinstance(a, (np.ndarray, np.generic)):
        uniform = is_uniform(a)
        entries = a.flat[0].item() if uniform else a.tolist()
        shape = f", {a.shape}" if uniform or a.size == 0 and a.ndim > 1 else ""
        return f"array({literal_text(entries)}, '{a.dtype}'{shape})"
    return "..." if a is Ellipsis else repr(a)
