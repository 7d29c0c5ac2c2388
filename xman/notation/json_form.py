"""The JSON form of a list: [["z1", "mul", ["h", "w"]], …].

A register is a string; each literal but numbers is an object of one key, so that a tuple is no list.
"""
from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ops.writer import is_uniform

from .parsing import array_literal


def to_json(steps: Iterable[tuple]) -> str:
    return json.dumps(json_lines(steps), allow_nan=False)


def json_lines(steps: Iterable[tuple]) -> list[list]:
    argument = lambda a: a if isinstance(a, str) else json_literal(a)
    return [[dst, op, [*map(argument, args)]] for dst, op, args in steps]


def json_literal(a: Any) -> Any:
    """A literal in JSON's terms; a string inside a tuple stays a string."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        return a if math.isfinite(a) else {"float": str(a)}
    if isinstance(a, complex) and not isinstance(a, np.generic):
        return {"complex": [*map(json_literal, (a.real, a.imag))]}
    if isinstance(a, tuple):
        return {"tuple": [*map(json_literal, a)]}
    if isinstance(a, slice):
        return {"slice": [*map(json_literal, (a.start, a.stop, a.step))]}
    if isinstance(a, (np.ndarray, np.generic)):
        plain = lambda n: type(n) is not complex and math.isfinite(n)
        numbers = [n if plain(n) else str(n) for n in (a.flat[:1] if is_uniform(a) else np.ravel(a)).tolist()]
        entries = numbers[0] if is_uniform(a) else numbers
        return {"array": entries, "dtype": str(a.dtype), "shape": list(a.shape)}
    return {"ellipsis": True} if a is Ellipsis else a


def from_json(text: str) -> list[tuple]:
    """The lines of a JSON text. ValueError says what is wrong with it."""
    try:
        lines = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(lines, list):
        raise ValueError('the JSON of a list is [["z1", "mul", ["h", "w"]], …]; found '
                         f"{type(lines).__name__}")
    try:
        return [(dst, op, tuple(a if isinstance(a, str) else literal_of_json(a) for a in a_list(args)))
                for dst, op, args in map(a_list, lines)]
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError('a line of the JSON is not of the form ["z1", "mul", ["h", 2.0]]: '
                         f"{error}") from None


def a_list(a: Any) -> list:
    if not isinstance(a, list):
        raise ValueError(f"found {str(a)[:80]!r} where a list is wanted")
    return a


def literal_of_json(a: Any) -> Any:
    """The literal that `json_literal` wrote. ValueError for anything else."""
    match a:
        case {"float": text} if len(a) == 1:
            return float(text)
        case {"complex": [real, imag]} if len(a) == 1:
            return complex(literal_of_json(real), literal_of_json(imag))
        case {"tuple": list(entries)} if len(a) == 1:
            return tuple(map(literal_of_json, entries))
        case {"slice": list(ends)} if len(a) == 1:
            return slice(*map(literal_of_json, ends))
        case {"array": entries, "dtype": dtype, "shape": shape} if len(a) == 3:
            numbers = entries if isinstance(entries, list) else [entries]  # one that is spread
            if any(isinstance(n, (type(None), list, dict)) for n in numbers):
                raise ValueError("an array holds numbers")
            number = complex if np.dtype(dtype).kind == "c" else float
            numbers = [number(n) if isinstance(n, str) else n for n in numbers]
            return array_literal(numbers if isinstance(entries, list) else numbers[0], dtype, tuple(shape))
        case {"ellipsis": _} if len(a) == 1:
            return Ellipsis
        case list() | dict():
            raise ValueError(f"found {str(a)[:80]}; a literal is a number or an object of one key, float, "
                             'tuple, slice, array or ellipsis: a tuple is written {"tuple": […]}')
    return a
