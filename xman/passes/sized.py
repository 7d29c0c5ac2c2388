"""Symbols whose shapes and precisions are known from examples, and what rewrites ask of them."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import ops
from ops import Expression
from ops.facts import parameters
from ops.writer import Shaped, Symbol, Writer, defining_line

from .writer import ListWriter


class Sized(Shaped):
    """A symbol with an example of its value, whose shape and precision it has; None where there is none.

    hollow: whether the example is right in its shape and precision alone. certain: whether it is a float, or
    an array of floats, for any inputs.
    """

    __slots__ = "example", "hollow", "certain"

    def __init__(self, writer: Writer, name: str | None = None, op: str = "", args: tuple = ()):
        super().__init__(writer, name, op, args)
        self.example, self.hollow, self.certain = None, False, False

    shape = property(lambda self: None if self.example is None else np.shape(self.example))
    dtype = property(lambda self: getattr(self.example, "dtype", None) or np.asarray(self.example).dtype)

    def constant(self, a: Any) -> Any: return a

def is_hollow(a: Any) -> bool: return isinstance(a, Sized) and a.hollow


class SizedWriter(ListWriter):
    """A writer of Sized symbols, and what a rewrite may ask of its arguments, which are these or literals.

    G: the table of values.
    """

    def __init__(self, G: Mapping[str, Callable]):
        super().__init__()
        self.G = G
        self.precisions: set[np.dtype] = set()  # of examples that are floats or complex, but Python's complex
        self.logarithms: dict[int, Any] = {}    # by a symbol's id, if a rewrite has asked for it

    def symbol(self, *line: Any) -> Sized: return Sized(self, *line)

    def exemplify(self, symbol: Sized, example: Any) -> None:
        symbol.example = np.float64(example) if type(example) in (int, float) else example
        if symbol.dtype.kind in "fc" and symbol.dtype != complex:
            self.precisions.add(symbol.dtype)

    def value(self, a: Any) -> Any:
        """A literal itself; the example of a symbol; None if there is none."""
        return a.example if isinstance(a, Symbol) else a

    def shape(self, a: Any) -> tuple | None:
        return None if (value := self.value(a)) is None else np.shape(value)

    def alike(self, a: Any, like: Any) -> bool:
        """Whether a surely has the shape and the precision of like; a literal number fits any number."""
        if not isinstance(like, Symbol) or like.example is None:
            return False
        if not isinstance(a, Symbol):
            return isinstance(a, float) and like.shape == () and self.one_precision
        return a.example is not None and (a.shape, a.dtype) == (like.shape, like.dtype)

    def real(self, a: Any) -> bool:
        """Whether a is known to be a float or an array of floats."""
        if not isinstance(a, Symbol):
            return isinstance(a, float)
        return a.certain if a.example is None else a.dtype.kind == "f"

    def discrete(self, a: Any) -> bool:
        """Whether a is known to hold whole numbers or truth values."""
        if isinstance(a, Symbol) and a.example is not None:
            return a.dtype.kind != "f"
        return ops.facts_of(defining_line(a)[0]).gives is not float

    @property
    def one_precision(self) -> np.dtype | None:
        """The one precision of all floats, or None, as beside complex64: with one, a literal number
        may stand for any float."""
        only = next(iter(self.precisions)) if len(self.precisions) == 1 else None
        return only if only and only.kind == "f" else None

    def brief(self, op: str, args: tuple) -> tuple:
        """args without the last ones, as far as they have their default value."""
        defaults, count = self.defaults(op)
        while (len(args) > count - len(defaults) and len(args) <= count and args
               and equal(args[-1], defaults[len(args) - 1 - count])):
            args = args[:-1]
        return args

    def full(self, op: str, args: tuple) -> tuple:
        """args, completed with the defaults of the missing ones."""
        defaults, count = self.defaults(op)
        return args + defaults[len(defaults) - (count - len(args)):] if len(args) < count else args

    def defaults(self, op: str) -> tuple[tuple, int]:
        """The defaults of the last arguments of op, and the number of its named arguments."""
        names, defaults, *_ = parameters(self.G[op])
        return (*defaults.values(),), len(names)


def equal(a: Any, b: Any) -> bool:
    """Whether two arguments are the same: numbers by value, but 1 is not True, and −0.0 is not 0."""
    if isinstance(a, Expression) or isinstance(b, Expression):
        return a is b
    if {type(a), type(b)} <= {int, float}:
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return key_of(a) == key_of(b)


def key_of(a: Any) -> tuple:
    """A key for an argument: equal for the same symbol and for literals of the same type and bits."""
    if isinstance(a, Expression):
        return "symbol", str(id(a))
    if isinstance(a, np.ndarray):
        return "array", f"{a.dtype}{a.shape}", a.tobytes()
    return type(a).__name__, repr(a)
