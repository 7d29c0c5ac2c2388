"""The text and the JSON form of a list, written and read.

Text is one assignment a line, valid Python over the operators' names: `z1 = mul(h, w)`. Registers are names;
literals are numbers, None, True, False, ..., tuples, slice(0, 3, None), float('nan') and array([[1.0, 2.0]],
'float64'). A function that lines apply stands before them, `def step(h, x): …`, and is applied by its name.
JSON is [["z1", "mul", ["h", "w"]], …]: a register is a string, each literal but numbers an object of one key.
"""
from __future__ import annotations

import ast
import importlib
import itertools
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ops

from .errors import XManError

WORDS = ("array", "float", "slice")  # the text form calls these; no register may have such a name


def to_text(steps: Sequence[tuple], aligned: bool = False) -> str:
    lines, renamed = apart_from_operators(ops.loops.functions_apart(steps, definition))
    functions = [definition(function, aligned) + "\n" for function in ops.loops.functions_in(lines)]
    return "\n".join([*(f"# {said}" for said in renamings(renamed)), *functions,
                      *lines_as_text(lines, aligned)])


def definition(function: tuple, aligned: bool = False) -> str:
    _, name, parameters, lines, results = function
    lines = lines_as_text(lines, aligned)
    return "\n    ".join([f"def {name}({', '.join(parameters)}):", *lines, f"return {', '.join(results)}"])


def lines_as_text(lines: Sequence[tuple], aligned: bool) -> list[str]:
    width = max((len(dst) for dst, _, _ in lines), default=0) * aligned
    return [as_text(line, width) for line in lines]


def as_text(line: tuple, width: int = 0) -> str:
    dst, op, args = line
    return f"{dst:{width}} = {op}({', '.join(a if isinstance(a, str) else literal_text(a) for a in args)})"


def apart_from_operators(steps: Sequence[tuple]) -> tuple[Sequence[tuple], dict[str, str]]:
    """The lines with a new name for each register called like an operator, exp_ for exp; and these names."""
    taken = {a: None for dst, _, args in steps for a in (dst, *args) if isinstance(a, str)}
    found = [a for a in taken if a in ops.G]
    end = "_" * (1 + max((len(a) - len(a.rstrip("_")) for a in taken if found), default=0))
    new = {a: a + end for a in found}
    return renamed(steps, new) if new else steps, new


def renamed(steps: Iterable[tuple], new: Mapping[str, str]) -> list[tuple]:
    """The lines with other names for the registers in `new`."""
    name = lambda a: new.get(a, a) if isinstance(a, str) else a
    return [(name(dst), op, tuple(map(name, args))) for dst, op, args in steps]


def renamings(renamed: dict[str, str]) -> list[str]:
    return [f"{new} is the register {old}, which has the name of an operator" for old, new in renamed.items()]


def shown(line: Any) -> str:
    """A line, shortened, for a message; in its text form if it has one."""
    try:
        text = as_text(line) if not isinstance(line[2], str) else repr(line)
    except (TypeError, ValueError, IndexError, KeyError, RecursionError):
        text = shortened(line)
    return shortened(line) if not text.isprintable() else text if len(text) <= 120 else text[:117] + "..."


def shortened(a: Any) -> str:
    """repr(a) in at most 120 characters; an integer that is too long for Python to print has one too."""
    try:
        text = repr(a)
    except (ValueError, RecursionError):
        text = f"a {type(a).__name__} that is too large to print"
    return text if len(text) <= 120 else text[:117] + "..."


def literal_text(a: Any) -> str:
    """A literal as text."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return repr(a) if math.isfinite(a) else f"float('{a}')"
    if ops.is_function(a):
        return a[1]
    if isinstance(a, list):  # the entries of an array
        return f"[{', '.join(map(literal_text, a))}]"
    if isinstance(a, tuple):
        parts = [repr(part) if isinstance(part, str) else literal_text(part) for part in a]
        return f"({', '.join(parts)}{',' * (len(a) == 1)})"
    if isinstance(a, slice):
        return f"slice({literal_text(a.start)}, {literal_text(a.stop)}, {literal_text(a.step)})"
    if isinstance(a, (np.ndarray, np.generic)):
        shape = f", {a.shape}" if a.size == 0 and a.ndim > 1 else ""
        return f"array({literal_text(a.tolist())}, '{a.dtype}'{shape})"
    return "..." if a is Ellipsis else repr(a)


def from_text(text: str) -> list[tuple]:
    """The lines of a text, without empty ones and comments. XManError names a line that cannot be read."""
    functions: dict[str, tuple] = {}
    lines, header = [], None
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if header and not line[0].isspace():
            raise XManError(f"line {number} of the text stands where {header[0]} has not returned; it ends "
                            "with return h1")
        line = line.strip()
        try:
            match ast.parse(line + " pass" * line.startswith("def ")).body:
                case [ast.Assign([ast.Name(dst)], ast.Call(ast.Name(op), args, []))]:
                    args = map(argument_of_node, args)
                    args = tuple([functions.get(a, a) if isinstance(a, str) else a for a in args])
                    (header[2] if header else lines).append((dst, op, args))
                case [ast.FunctionDef(name, ast.arguments([], args, None, [], [], None, []))] if not header:
                    header = name, tuple(a.arg for a in args), []
                case [ast.Return(ast.Name() | ast.Tuple() as given)] if header:
                    results = tuple([r.id for r in getattr(given, "elts", [given])])
                    functions[header[0]] = ("def", *header[:2], tuple(header[2]), results)
                    header = None
                case _:
                    raise SyntaxError
        except (SyntaxError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
                RecursionError, MemoryError):
            raise XManError(f"line {number} of the text cannot be read: {line[:80]!r}; wanted an assignment of "
                            "one operator on registers and literals, as in z1 = mul(h, 2.0); a function begins "
                            "as in def step(h, x): and ends with return h1") from None
    if header:
        raise XManError(f"the text ends before {header[0]} returns; a function ends with return h1")
    return lines


def argument_of_node(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        raise ValueError("a string is not a literal by itself")
    return node.id if isinstance(node, ast.Name) else literal_of_node(node)


def literal_of_node(node: ast.expr) -> Any:
    """The literal that the syntax tree stands for; ValueError for anything else."""
    match node:
        case ast.Call(ast.Name("slice"), args, []):
            return slice(*map(literal_of_node, args))
        case ast.Call(ast.Name("float"), [ast.Constant(str(text))], []):
            return float(text)
        case ast.Call(ast.Name("array"), args, []):
            return array_literal(*map(literal_of_node, args))
        case ast.Tuple(parts):
            return tuple(map(literal_of_node, parts))
        case ast.List(parts):
            return list(map(literal_of_node, parts))
        case ast.Constant(a) if not isinstance(a, (bytes, complex)):
            return a
        case ast.UnaryOp(ast.USub(), operand):
            return -literal_of_node(operand)
    raise ValueError


def array_literal(entries: Any, dtype: str, shape: tuple | None = None) -> np.ndarray:
    """An array literal. ValueError unless its dtype is a kind of number."""
    if not isinstance(dtype, str) or np.dtype(dtype).kind not in "biuf":
        raise ValueError(f"{dtype!r} is not a dtype of numbers")
    result = np.array(entries, dtype)
    result = result if shape is None else result.reshape(shape)
    result.flags.writeable = False
    return result


def to_json(steps: Iterable[tuple]) -> str:
    import json
    return json.dumps(json_lines(steps), allow_nan=False)


def json_lines(steps: Iterable[tuple]) -> list[list]:
    argument = lambda a: a if isinstance(a, str) else json_literal(a)
    return [[dst, op, [*map(argument, args)]] for dst, op, args in steps]


def json_literal(a: Any) -> Any:
    """A literal in JSON's terms; a string inside a tuple stays a string."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return a if math.isfinite(a) else {"float": str(a)}
    if isinstance(a, tuple):
        return {"tuple": [json_literal(part) for part in a]}
    if isinstance(a, slice):
        return {"slice": [json_literal(a.start), json_literal(a.stop), json_literal(a.step)]}
    if isinstance(a, (np.ndarray, np.generic)):
        return {"array": [n if math.isfinite(n) else str(n) for n in np.ravel(a).tolist()],
                "dtype": str(a.dtype), "shape": list(a.shape)}
    return {"ellipsis": True} if a is Ellipsis else a


def from_json(text: str) -> list[tuple]:
    """The lines of a JSON text. XManError says what is wrong with it."""
    import json
    try:
        lines = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise XManError(f"this is not JSON: {error}") from None
    if not isinstance(lines, list):
        raise XManError('the JSON of a list is [["z1", "mul", ["h", "w"]], …]; found ' + type(lines).__name__)
    try:
        return [(dst, op, tuple(a if isinstance(a, str) else unplain(a) for a in a_list(args)))
                for dst, op, args in map(a_list, lines)]
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
        raise XManError(f'a line of the JSON is not of the form ["z1", "mul", ["h", 2.0]]: {error}') from None


def a_list(a: Any) -> list:
    if not isinstance(a, list):
        raise ValueError(f"found {str(a)[:80]!r} where a list is wanted")
    return a


def unplain(a: Any) -> Any:
    match a:
        case {"float": text} if len(a) == 1:
            return float(text)
        case {"tuple": list(parts)} if len(a) == 1:
            return tuple(map(unplain, parts))
        case {"slice": list(parts)} if len(a) == 1:
            return slice(*map(unplain, parts))
        case {"array": list(entries), "dtype": dtype, "shape": shape} if len(a) == 3:
            if any(isinstance(n, (type(None), list, dict)) for n in entries):
                raise ValueError("an array holds numbers")
            entries = [float(n) if isinstance(n, str) else n for n in entries]
            return array_literal(entries, dtype, tuple(shape))
        case {"ellipsis": _} if len(a) == 1:
            return Ellipsis
        case list() | dict():
            raise ValueError(f"found {str(a)[:80]}; a literal is a number or an object of one key, float, "
                             'tuple, slice, array or ellipsis: a tuple is written {"tuple": […]}')
    return a


def in_notebooks(name: str) -> Callable[[Any], str]:
    """A method `_repr_html_`: what the explorer's function of that name writes of an object."""
    return lambda self: getattr(importlib.import_module(f"{__package__}.explorer.display"), name)(self)


def table_as_text(table: Sequence[Sequence[str]], left: int, columns: int | None = None) -> str:
    """The table as text, its first `left` columns flush left. columns: the width of the page (None: no end).
    A table too wide for it is turned on its side if it has few rows; else words go on in the line below."""
    widths, words = ([max(map(long, column)) for column in zip(*table, strict=True)]
                     for long in (len, lambda cell: max(map(len, cell.split()), default=0)))
    excess = lambda k: (widths[k] > words[k], widths[k] if k < left or widths[k] > words[k] else 0)
    while sum(widths) + 2 * len(widths) - 2 > (columns or 10 ** 9):
        if len(table) < len(widths):
            return table_as_text([*zip(*table, strict=True)], 1, columns)
        if excess(widest := max(range(len(widths)), key=excess)) <= (False, 8):
            break
        widths[widest] -= 1
    cut = lambda cell, width: textwrap.wrap(cell, width, break_on_hyphens=False)
    return "\n".join("  ".join(cell.rjust(widths[k]) if k >= left else cell.ljust(widths[k])
                               for k, cell in enumerate(line)).rstrip()
                     for row in table for line in itertools.zip_longest(*map(cut, row, widths), fillvalue=""))
