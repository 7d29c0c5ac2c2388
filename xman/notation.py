"""The text and the JSON form of a list, written and read.

Text is one assignment a line, valid Python over the operators' names: `z1 = mul(h, w)`. Registers are names; literals
are numbers, None, True, False, ..., tuples, slice(0, 3, None), float('nan') and array([[1.0, 2.0]], 'float64'). JSON is
[["z1", "mul", ["h", "w"]], …], a register a string, a number a number, and each other literal an object of one key.
"""
from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import XManError

WORDS = ("array", "float", "slice")  # what the text form calls; no register may have the name


# ---- text -----------------------------------------------------------------------------------------------------------

def to_text(steps: Iterable[tuple]) -> str:
    return "\n".join(f"{dst} = {op}({', '.join(a if isinstance(a, str) else written(a) for a in args)})"
                     for dst, op, args in steps)


def shown(line: Any) -> str:
    """A line for a message: in its text form where it has one, in a few words in any case."""
    try:
        text = to_text([line]) if not isinstance(line[2], str) else repr(line)
    except (TypeError, ValueError, IndexError, KeyError, RecursionError):
        text = shortened(line)
    return shortened(line) if not text.isprintable() else text if len(text) <= 120 else text[:117] + "..."


def shortened(a: Any) -> str:
    """repr in at most 120 characters, of an integer too long to print as well."""
    try:
        text = repr(a)
    except (ValueError, RecursionError):
        text = f"a {type(a).__name__} that is too large to print"
    return text if len(text) <= 120 else text[:117] + "..."


def written(a: Any) -> str:
    """A literal as text."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return repr(a) if math.isfinite(a) else f"float('{a}')"
    if isinstance(a, tuple):
        return f"({', '.join(repr(part) if isinstance(part, str) else written(part) for part in a)}{',' * (len(a) == 1)})"
    if isinstance(a, slice):
        return f"slice({written(a.start)}, {written(a.stop)}, {written(a.step)})"
    if isinstance(a, (np.ndarray, np.generic)):
        shape = f", {a.shape}" if a.size == 0 and a.ndim > 1 else ""
        return f"array({nested(a.tolist())}, '{a.dtype}'{shape})"
    return "..." if a is Ellipsis else repr(a)


def nested(a: Any) -> str:
    return f"[{', '.join(map(nested, a))}]" if isinstance(a, list) else written(a)


def from_text(text: str) -> list[tuple]:
    """The lines of a text; empty lines and comments are passed over. XManError names the line that is none."""
    return [read_line(number, line) for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")]


def read_line(number: int, line: str) -> tuple:
    try:
        body = ast.parse(line.strip()).body
        if len(body) == 1 and isinstance(assign := body[0], ast.Assign) and len(assign.targets) == 1:
            target, call = assign.targets[0], assign.value
            if isinstance(target, ast.Name) and isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                if not call.keywords:
                    return target.id, call.func.id, tuple(argument(a) for a in call.args)
    except (SyntaxError, ValueError, TypeError, IndexError, OverflowError, RecursionError, MemoryError):
        pass  # whatever it was, the line is not of the form, as the next sentence says
    raise XManError(f"line {number} of the text cannot be read: {line.strip()[:80]!r}; wanted an assignment of one operator "
                    "on registers and literals, as in z1 = mul(h, 2.0)")


def argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        raise ValueError("a string is not a literal by itself")
    return node.id if isinstance(node, ast.Name) else value(node)


def value(node: ast.expr) -> Any:
    """The literal that the syntax tree stands for; ValueError for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        args = [value(a) for a in node.args]
        if node.func.id == "slice":
            return slice(*args)
        if node.func.id == "float" and isinstance(args[0], str):
            return float(args[0])
        if node.func.id == "array":
            return array(*args)
    elif isinstance(node, ast.Tuple):
        return tuple(value(part) for part in node.elts)
    elif isinstance(node, ast.List):
        return [value(part) for part in node.elts]
    elif isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, complex)):
        return node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    raise ValueError


def array(entries: Any, dtype: str, shape: tuple | None = None) -> np.ndarray:
    """An array literal. ValueError unless its dtype is one of numbers."""
    if not isinstance(dtype, str) or np.dtype(dtype).kind not in "biuf":
        raise ValueError(f"{dtype!r} is not a dtype of numbers")
    result = np.array(entries, dtype)
    result = result if shape is None else result.reshape(shape)
    result.flags.writeable = False
    return result


# ---- JSON -----------------------------------------------------------------------------------------------------------

def to_json(steps: Iterable[tuple]) -> str:
    import json
    return json.dumps([[dst, op, [a if isinstance(a, str) else plain(a) for a in args]] for dst, op, args in steps],
                      allow_nan=False)


def plain(a: Any) -> Any:
    """A literal in JSON's terms; a string inside a tuple stays a string."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return a if math.isfinite(a) else {"float": str(a)}
    if isinstance(a, tuple):
        return {"tuple": [plain(part) for part in a]}
    if isinstance(a, slice):
        return {"slice": [plain(a.start), plain(a.stop), plain(a.step)]}
    if isinstance(a, (np.ndarray, np.generic)):
        return {"array": [number if math.isfinite(number) else str(number) for number in np.ravel(a).tolist()],
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
    if not isinstance(a, dict):
        if isinstance(a, list):
            raise ValueError(f"found the list {str(a)[:80]}; a tuple is written {{\"tuple\": […]}}")
        return a
    kind = next(iter(a), "nothing")
    if len(a) != (3 if kind == "array" else 1):
        raise ValueError(f"found an object with the keys {', '.join(a)}")
    if kind == "float":
        return float(a["float"])
    if kind == "tuple":
        return tuple(unplain(part) for part in a_list(a["tuple"]))
    if kind == "slice":
        return slice(*map(unplain, a["slice"]))
    if kind == "array":
        if any(isinstance(n, (type(None), list, dict)) for n in a_list(a["array"])):
            raise ValueError("an array holds numbers")
        return array([float(n) if isinstance(n, str) else n for n in a["array"]], a["dtype"], tuple(a["shape"]))
    if kind == "ellipsis":
        return Ellipsis
    raise ValueError(f"found an object of {kind!r}; wanted float, tuple, slice, array or ellipsis")
