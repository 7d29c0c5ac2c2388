"""For `jit`: tracers that answer as the floats, numbers and arrays do that they stand for."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import Expression, G, f
from ops.facts import facts_of
from ops.silence import ERRORS, loud

from ..traced.refusals import OURS, STANDARD, inside
from .tracer import NAME, TAPE, VALUE, CallTape, Discarded, Tracer, unheard

# the classes of arguments that tracers stand for
EXACT = {float, np.ndarray, np.memmap, np.bool_, *(np.dtype(char).type for kind in ("AllInteger", "AllFloat")
                                                   for char in np.typecodes[kind])}
# operators that give numbers, and no arrays without axes, as NumPy's ufuncs do
NUMBERS = {"getitem", "dot", "sum", "mean", "max", "min", "prod", "argmax", "norm", "count"}
LARGE = 2 ** 12  # bytes of an array that goes with its last tracer; of fewer there may be several tracers


class GuardedTape(CallTape):
    """The tape of a call that `jit` traces.

    no_errors: truth values: where one is False, an operator of Python's floats raises an error where NumPy
    gives inf or NaN. kinds: the classes of the inputs, by name. numbers: the names of results that are
    numbers, and no arrays without axes. failures: (operator, arguments, error) of
    what raised an error. plain: a sentence, if a tracer was asked for what it cannot tell, so that the
    function is to run as plain Python; or "".
    """

    def __init__(self):
        super().__init__(guards={})
        self.kind = GuardedTracer
        self.no_errors: list[Tracer] = []
        self.kinds: dict[str, type] = {}
        self.numbers: set[str] = set()
        self.failures: list[tuple[str, tuple, type]] = []
        self.plain = ""

    def __exit__(self, *_: Any) -> None:
        super().__exit__()
        self.failures.clear()
        self.no_errors.clear()

    def argument(self, leaf: Any) -> Tracer:
        if type(leaf) not in EXACT:
            self.plain = f"an argument is a {type(leaf).__name__}, which a list takes for an array"
        out = super().argument(leaf)
        self.kinds[out.name] = type(leaf)
        return self.tracer(out.name, FloatTracer) if type(leaf) is float else out

    def write(self, op: str, args: tuple) -> Any:
        if FloatTracer in map(type, args) and op != "astype":
            args = self.weakened(op, args)
        try:
            out = super().write(op, args)
        except Exception as error:
            self.failures.append((op, args, type(error)))
            raise
        if loud(ERRORS.get()):
            self.plain = "it computes while np.errstate or np.seterr asks for errors"
        if op in NUMBERS and not any([a is Ellipsis for a in args]) or isinstance(G[op], np.ufunc):
            self.numbers.add(NAME(out))
        return out

    def weakened(self, op: str, args: tuple) -> tuple:
        """The arguments, with Python's floats in the precision of arrays beside them, as NumPy takes them."""
        dtypes = [a.dtype for a in args if hasattr(a, "dtype") and type(a) is not FloatTracer]
        dtype = np.result_type(*(x for x in dtypes if x.kind == "f"), np.float16)
        if dtype.itemsize >= 8 or not any(x.kind == "f" for x in dtypes):
            return args
        if not (facts_of(op).elementwise or isinstance(G[op], np.ufunc)):
            self.plain = f"{op} takes a Python float beside an array of {dtype}"
        return tuple([f.astype(a, (dtype.name,)) if type(a) is FloatTracer else a for a in args])


class Hidden(type):
    """A class in which an abstract base class, as Iterable, finds no methods: it asks `__class__` too."""
    __mro__ = property(lambda cls: ())


class GuardedTracer(Tracer, metaclass=Hidden):
    """What a user's code has in place of a float, a number or an array: it has the class and the attributes
    of that, or else the tape notes that the function is to run as plain Python."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if sys._getframe(1).f_code.co_filename.startswith(OURS):
            return object.__getattribute__(self, name)
        return unheard(answer, self, name)

    def __getattr__(self, name: str) -> Any:
        if hasattr(kind := self.kinds()[0], name):
            return super().__getattr__(name)
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")

    def kinds(self) -> list[type]:
        """The classes that the value may have in Python: some operators give arrays without axes."""
        kinds = self.tape.kinds
        if self.name in kinds:
            return [kinds[self.name]]
        if self.ndim:
            return [np.ndarray, np.memmap] if np.memmap in kinds.values() else [np.ndarray]
        return [self.dtype.type] if self.name in self.tape.numbers else Either.kinds(self)

    def as_numpy(self) -> Tracer: return self if self.ndim else self.tape.tracer(self.name, Either)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return of_numpy(super().__array_ufunc__(ufunc, method, *inputs, **options))

    def __array_function__(self, function, types, args, options):
        if function is np.result_type:  # a float of Python's is weak there
            args = [0.0 if type(x) is FloatTracer else x for x in args]
            return function(*[x.dtype if issubclass(type(x), Tracer) else x for x in args])
        return of_numpy(super().__array_function__(function, types, args, options))

    def __round__(self, decimals=None):
        if np.ndarray in self.kinds() or decimals is not None and type(self) is FloatTracer:
            self.tape.plain = "it rounds an array without axes, or a Python float to some digits"
        return int(np.round(self)) if decimals is None and not self.ndim else super().__round__(decimals)

    def __del__(self):
        if type(x := VALUE(self)) is np.ndarray and x.nbytes > LARGE and (tape := TAPE(self)).open:
            tape.values[NAME(self)] = Discarded(x.shape, x.dtype)

    def __pos__(self): return np.positive(self)
    def __str__(self): return str(self.branch_value())
    def __repr__(self): return repr(self.branch_value())


def answer(x: GuardedTracer, name: str) -> Any:
    """An attribute of x, as the user's code reads it."""
    if name.startswith("__array"):  # NumPy asks for those; `jit` takes no code that does
        return getattr(x, name)
    kinds = x.kinds()
    if len({hasattr(kind, name) for kind in kinds}) > 1 or name == "__class__" and len(kinds) > 1:
        x.tape.plain = f"it asks whether a value is an array or a number, by its {name}"
    if name == "__class__":
        return kinds[0]
    missing = not hasattr(kinds[0], name)
    if name[:2] == "__" or (np.memmap in kinds if missing else not hasattr(Tracer, name)):
        x.tape.plain = f"it reads {name} of an argument"
    if missing:
        raise AttributeError  # __getattr__ has the words
    return getattr(x, name)


class Either(GuardedTracer):
    """A number that may be an array without axes: many of NumPy's functions make arrays of numbers."""

    __slots__ = ()

    def kinds(self) -> list[type]: return [self.dtype.type, np.ndarray]


def of_numpy(result: Any) -> Any:
    """The result of one of NumPy's functions, where it may be an argument itself, as another class."""
    if issubclass(type(result), (tuple, list)):
        return type(result)(map(of_numpy, result))
    same = type(result) is FloatTracer or type(result) is GuardedTracer and result.name in result.tape.kinds
    return result.as_numpy() if same else result


# ---- Python's floats ---------------------------------------------------------------------------------------

class FloatTracer(GuardedTracer):
    """What a user's code has in place of a Python float: its operators give Python's floats and truth values,
    and no operands are there."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if numerical(sys._getframe(1).f_code.co_filename):
            return object.__getattribute__(self, name)
        return unheard(answer, self, name)

    def kinds(self) -> list[type]: return [float]
    def branch_value(self): return float(super().branch_value())
    def __pos__(self): return self


@functools.cache
def numerical(file: str) -> bool:
    """Whether the file is of xman, NumPy or SciPy, to which a Python float is a number of NumPy."""
    return inside(file) and not file.startswith((STANDARD, "<frozen"))


def operator_of(name: str) -> Callable:
    """Python's operator with that name, for a float and operands."""
    base, word = getattr(Tracer, f"__{name}__"), name.removeprefix("r")

    def operate(x: FloatTracer, *operands: Any) -> Any:
        tape, y = x.tape, operands[0] if operands else 0.0
        if type(y) not in (float, int, bool, FloatTracer):
            return base(x, y) if isinstance(y, (np.ndarray, np.generic, Expression)) else NotImplemented
        out = base(x, *operands)
        if word in COMPARISONS:
            if type(y) is int and abs(y) > 2 ** 53:
                tape.plain = "it compares a Python float with an int that no float is equal to"
            return bool(out)
        divisor = x if word != name else y
        if word in DIVISIONS and type(divisor) is FloatTracer:
            tape.no_errors.append(f.not_equal(divisor, 0))
        if word == "pow":  # of infinite numbers it may be infinite
            tape.no_errors.append(f.logical_or(f.isfinite(out), f.isnan(f.add(f.mul(x, 0.0), f.mul(y, 0.0)))))
        return tape.tracer(out.name, FloatTracer)
    return operate


def for_users(operate: Callable, base: Callable) -> Callable:
    """A method that operates in a user's code, and is that of a number of NumPy in libraries."""
    def method(x: FloatTracer, *operands: Any) -> Any:
        library = numerical(sys._getframe(1).f_code.co_filename)
        return unheard(base if library else operate, x, *operands)
    return method


def no_operator(x: FloatTracer, *_: Any) -> Any: raise TypeError("a float has no such operator")


DIVISIONS, COMPARISONS = {"truediv", "floordiv", "mod"}, {"lt", "le", "gt", "ge", "eq", "ne"}
ARITHMETIC = {"add", "sub", "mul", "pow", *DIVISIONS}
OPERATORS = {name: operator_of(name) for name in (*ARITHMETIC, *COMPARISONS, "neg", "abs")}
OPERATORS |= {f"r{name}": operator_of(f"r{name}") for name in ARITHMETIC}
OPERATORS |= {f"i{name}": OPERATORS[name] for name in ARITHMETIC}
OPERATORS |= {f"{r}divmod": lambda x, y, r=r: (OPERATORS[f"{r}floordiv"](x, y), OPERATORS[f"{r}mod"](x, y))
              for r in ("", "r")}
OPERATORS |= dict.fromkeys("and rand or ror xor rxor invert matmul rmatmul getitem setitem contains".split(),
                           no_operator)
for _name, _operate in OPERATORS.items():
    setattr(FloatTracer, f"__{_name}__", for_users(_operate, getattr(Tracer, f"__{_name}__")))
FloatTracer.__hash__ = GuardedTracer.__hash__
