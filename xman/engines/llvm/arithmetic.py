"""Numbers that a function computes: operations on a `Number` become LLVM's text.

So formulas, and rules with the delta 1, that are given Numbers are written as text. No flag lets LLVM change
a result, except that sums may be taken in another order, and that functions of `elementary` may use FMA.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ops import Expression, f, facts_of

from ..nests.tree import SPECIAL, of_none
from .function import Function, llvm_literal, llvm_type

BOOL, BYTE, INT, INDEX, FLOAT = map(np.dtype, ("bool", "uint8", "int32", "int64", "float64"))
COMPARISONS = dict(equal="eq", not_equal="ne", less="lt", less_equal="le", greater="gt", greater_equal="ge")
ARITHMETIC = {"add": "add", "subtract": "sub", "mul": "mul", "divide": "div"}
INTRINSICS = {op: op for op in ("sqrt", "floor", "ceil", "trunc", "rint")} | {"abs": "fabs"}
LIBRARY = "exp2 log2 log10 tan sinh cosh cbrt hypot arctan2 arcsin arccos arctan arcsinh arccosh arctanh".split()  # of C
FORMULAS = "exp expm1 tanh sigmoid erf log log1p logaddexp sin cos power".split()  # of `elementary`
ALONE = {"alias", "broadcast", "unbroadcast", "getitem", "oneHot"}  # of a single number these are the number


class Number(Expression):
    """A number in a function that is being written, or `lanes` numbers at once: operations on it append
    instructions to the function `by`. A number of Python's beside it is a literal.

    name: its name in LLVM. size: its bytes. digits, bias: for a float of this size, the digits of the
    significand after the first, and the bias of the exponent.
    """
    def __init__(self, by: Function, name: str, dtype: np.dtype, lanes: int = 1):
        self.by, self.name, self.dtype, self.lanes, self.real = by, name, dtype, lanes, dtype.kind == "f"
        self.size = dtype.itemsize
        self.digits, self.bias = (52, 1023) if self.size == 8 else (23, 127)
        self.type = llvm_type(dtype) if lanes == 1 else f"<{lanes} x {llvm_type(dtype)}>"

    def __str__(self) -> str: return f"{self.type} {self.name}"

    def named(self, name: str) -> Number:
        return Number(self.by, name, self.dtype, self.lanes)

    def do(self, text: str, dtype: np.dtype | None = None) -> Number:
        """The number that an instruction computes."""
        return Number(self.by, self.by.do(text), dtype or self.dtype, self.lanes)

    def like(self, x: Any) -> Number:
        """A number or a literal in the type of this number."""
        if isinstance(x, Number):
            return x.to(self.dtype)
        entry = llvm_literal(x, self.dtype)
        vector = f"<{', '.join([f'{llvm_type(self.dtype)} {entry}'] * self.lanes)}>"
        return Number(self.by, entry if self.lanes == 1 else vector, self.dtype, self.lanes)

    def to(self, dtype: np.dtype) -> Number:
        source, kind = self.dtype, self.dtype.kind
        if source == dtype:
            return self
        if dtype == BOOL:
            return self != 0
        if dtype.kind == "f":
            wider = "fpext" if dtype.itemsize > source.itemsize else "fptrunc"
            conversion = {"f": wider, "i": "sitofp"}.get(kind, "uitofp")
        elif self.real:
            conversion = "fptoui" if dtype.kind == "u" else "fptosi"
        elif kind != "b" and dtype.itemsize <= source.itemsize:
            conversion = "bitcast" if dtype.itemsize == source.itemsize else "trunc"
        else:
            conversion = "sext" if kind == "i" else "zext"
        return self.cast(conversion, dtype)

    def cast(self, conversion: str, dtype: np.dtype) -> Number:
        return self.do(f"{conversion} {self} to {Number(self.by, '', dtype, self.lanes).type}", dtype)

    def call(self, name: str, *args: Number) -> Number:
        """The result of LLVM's own function `name` of this number and the others."""
        kind = f"{f'v{self.lanes}' * (self.lanes > 1)}{'f' if self.real else 'i'}{8 * self.size}"
        return self.named(self.by.call(self.type, f"llvm.{name}.{kind}", self, *args))

    def __invert__(self): return self ^ -1

    def record(self, op: str, args: Sequence[Any]) -> Any:
        """An operator in the type of its floats; the formula of one that is not known here."""
        if op in ALONE:
            return args[0]
        if op not in OPERATORS:
            return facts_of(op).formula(*args)
        numbers = [a for a in args[op == "where":] if isinstance(a, Number)]
        numbers = numbers or [args[0].to(FLOAT)]  # both branches of this `where` are literals
        return result_of(op, args, next((a for a in numbers if a.real), numbers[0]))


for _name, _word in {"and": "and", "or": "or", "xor": "xor", "lshift": "shl", "rshift": "lshr"}.items():
    setattr(Number, f"__{_name}__", lambda x, y, word=_word: x.do(f"{word} {x}, {x.like(y).name}"))


def result_of(op: str, args: Sequence[Any], like: Number) -> Number:
    """`op` of numbers and literals in that type; the first argument of `where` is a truth value."""
    truths = 1 if op == "where" else 0
    truth = Number(like.by, "", BOOL, like.lanes)
    return OPERATORS[op](*map(truth.like, args[:truths]), *map(like.like, args[truths:]))


def number_at(function: Function, dtype: np.dtype, place: str) -> Number:
    """The number of this type at that place in memory."""
    stored = BYTE if dtype == BOOL else dtype
    return Number(function, function.do(f"load {llvm_type(stored)}, ptr {place}"), stored).to(dtype)


def store(x: Number, place: str) -> None:
    x = x.to(BYTE) if x.dtype == BOOL else x
    x.by.put(f"store {x}, ptr {place}")


def calculated(op: str, x: Number, y: Number, flags: str = "") -> Number:
    flags = flags or ("contract " if op == "mul" else x.by.flags)
    return x.do(f"f{ARITHMETIC[op]} {flags}{x}, {y.name}" if x.real else f"{ARITHMETIC[op]} {x}, {y.name}")


def compared(op: str, x: Number, y: Number) -> Number:
    word = COMPARISONS[op]
    if x.real:
        return x.do(f"fcmp {'u' if op == 'not_equal' else 'o'}{word} {x}, {y.name}", BOOL)
    sign = "" if op in ("equal", "not_equal") else "s" if x.dtype.kind == "i" else "u"
    return x.do(f"icmp {sign}{word} {x}, {y.name}", BOOL)


def extreme(op: str, x: Number, y: Number) -> Number:
    """The larger or the smaller of two numbers; NaN if one of them is."""
    return x.call(f"{op[:3]}imum" if x.real else f"{'s' if x.dtype.kind == 'i' else 'u'}{op[:3]}", y)


def called(op: str, *args: Number) -> Number:
    """The result of a function of C, or of `elementary`, which is then a part of the program's text."""
    x, T = args[0], args[0].type
    if op in LIBRARY:
        name = op.replace("arc", "a") + "f" * (x.size == 4)
        return x.named(x.by.call(T, name, *args, facts="memory(none)"))
    x.by.declare((op, x.dtype.name))
    return x.do(f"call {T} @xman_{op}_{x.dtype.name}({', '.join(map(str, args))})")


def of_scipy(op: str, *args: Number) -> Number:
    """The result of a function of SciPy's, which computes in double."""
    value = args[0].by.call("double", f"xman_{SPECIAL[op]}", *[x.to(FLOAT) for x in args], "i32 0",
                            facts="memory(none)")
    return Number(args[0].by, value, FLOAT).to(args[0].dtype)


def digamma(x: Number) -> Number:
    """By reflection beside a pole, as the row has it."""
    steps = x.call("rint")
    distance = x - steps
    close = (abs(distance) < 1e-3) & (steps < 0) & (distance != 0)
    of_pole = f.where(close, np.pi / f.tan(np.pi * distance), 0.0)
    return of_scipy("digamma", f.where(close, 1.0 - x, x)) - of_pole


def unless_undefined(x: Number, y: Number) -> Number:
    """y, but 0 where x is 0 and y is NaN: elsewhere 0 keeps its sign."""
    return f.where((x == 0) & (y != y), 0, y)


def remainder(x: Number, y: Number) -> Number:
    """The rest of a division with the sign of y."""
    rest = x.do(f"frem {x}, {y.name}")
    return f.where(rest == 0, rest.call("copysign", y), f.where((rest < 0) ^ (y < 0), rest + y, rest))


def bits(x: Number) -> Number: return x.cast("bitcast", np.dtype(f"i{x.dtype.itemsize}"))


OPERATORS: dict[str, Callable[..., Number]] = {
    **{op: partial(compared, op) for op in COMPARISONS}, **{op: partial(calculated, op) for op in ARITHMETIC},
    **{op: partial(extreme, op) for op in ("maximum", "minimum")}, **{op: partial(called, op) for op in (*LIBRARY, *FORMULAS)},
    **{op: lambda x, name=name: x.call(name) for op, name in INTRINSICS.items()},
    **{op: partial(of_scipy, op) for op in SPECIAL}, "digamma": digamma,
    "logical_and": lambda x, y: x.to(BOOL) & y.to(BOOL),
    "logical_or":  lambda x, y: x.to(BOOL) | y.to(BOOL),
    "logical_not": lambda x: ~x.to(BOOL),
    "isnan":       lambda x: x != x,
    "isfinite":    lambda x: abs(x) < np.inf,
    "signbit":     lambda x: bits(x) < 0,
    "copy":        lambda x: x,
    "where":       lambda c, x, y: x.do(f"select {c}, {x}, {y}"),
    "negative":    lambda x: x.do(f"fneg {x}") if x.real else 0 - x,
    "sign":        lambda x: f.where(x != x, x, f.where(x > 0, 1, f.where(x < 0, -1, x.like(0)))),
    "remainder":   remainder,
    "scale":       lambda x, w: unless_undefined(x, x * w),
    "ratio":       lambda x, y: unless_undefined(x, x / y),
    "share":       lambda x, y: f.where(x > y, 1, f.where(x >= y, 0.5, x.like(0)))}


def combined(reduction: str, x: Number, y: Number) -> Number:
    """The reduction so far, with one more number."""
    if reduction in ("max", "min"):
        return extreme(reduction, x, y)
    if x.dtype == BOOL:
        return x | y
    return calculated("mul" if reduction == "prod" else "add", x, y, "reassoc contract ")


def gathered_of_none(function: Function, reduction: str, dtype: np.dtype) -> Number:
    return Number(function, llvm_literal(of_none(reduction, dtype), dtype), dtype)
