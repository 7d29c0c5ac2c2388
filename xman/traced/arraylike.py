"""ArrayLike behaves like the array `self.value` in NumPy's code: the base of Tracer and Dual."""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import Bundle, Expression, f, facts_of
from ops.expression import HABITS, habit
from ops.facts import INSTEAD, is_complex

from ..errors import XManError
from .dispatch import NAMES, call_numpy, cast_to, universal
from .refusals import IN_PLACE, INDEX, in_text, refuse, refuse_conversion, refuse_plain

# attributes that NumPy's numbers have, and its arrays have not
OF_NUMBERS = {*dir(np.float64), *dir(np.int64)} - {*dir(np.ndarray)}


class ArrayLike(Expression):
    """An Expression that knows its value: an array, a NumPy number, or another ArrayLike, of a lower level.

    isinstance and np.isscalar see an array or a number of NumPy. But `type(x) is` sees Tracer or Dual, and
    hasattr finds __len__ and __iter__ in numbers too. For a number `x += y` gives x a new object.
    """

    __slots__ = ()
    value: Any

    __class__ = property(lambda self: np.ndarray if self.ndim else self.dtype.type)
    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))

    # ---- Python takes its path by the value ----------------------------------------------------------------

    def branch_value(self) -> Any:
        """Its value, which decides the path that Python takes."""
        return self.value

    def as_numpy(self) -> Any:
        """The same as a number or an array of NumPy; a Python float is neither."""
        return self

    def __bool__(self):
        if self.size != 1:
            refuse(f"an array of shape {self.shape} has no single truth value",
                   "write np.where(condition, x, y), or condition.any() or condition.all()", numpys=True)
        return bool(plain(self if self.dtype == bool else f.not_equal(self, 0)))

    def is_integer(self): return bool(np.isfinite(self) & (np.floor(self) == self))

    def __index__(self):
        if self.dtype.kind in "iu" and self.ndim == 0:
            return operator.index(plain(self))
        refuse(*INDEX, numpys=True)

    def __int__(self):
        sure = self.size == 1 and (self.dtype.kind in "biu" or self.is_flat() or in_text())
        return int(plain(self)) if sure else refuse_conversion("int()")

    def __len__(self):
        if not self.shape:
            raise TypeError("a number has no len()")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("a number is not a sequence")
        return (self[i] for i in range(len(self)))

    def __contains__(self, item): return bool((self == item).any())

    # ---- as text, and copied -------------------------------------------------------------------------------

    def __repr__(self): return f"{type(self).__name__}({self.value!r})"
    def __format__(self, spec): return format(self.branch_value(), spec)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self  # a copy's tape would be another one, and the copy a constant

    __str__ = __repr__  # so float(str(x)) fails, and does not make a constant

    # ---- never a silent constant ---------------------------------------------------------------------------

    def __hash__(self):
        if self.shape:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        refuse("a set, a dict or a cache would take a traced number for another one that is equal to it",
               "compare it, x == key, or look up a plain number")

    def __float__(self):
        return float(plain(self)) if self.is_flat() or in_text() else refuse_conversion("float()")

    def __complex__(self): refuse_conversion("complex()")

    def __array__(self, dtype=None, copy=None):
        return (np.array(plain(self), dtype) if self.is_flat()
                else refuse_conversion("a conversion to an array"))

    def is_flat(self) -> bool:
        """Whether it may become a constant: whole numbers, booleans and np.floor(x) have no derivative."""
        return self.dtype.kind in "biu" or self.slopeless

    def __reduce_ex__(self, protocol):
        refuse("a traced value cannot be pickled", "return it from the function, and pickle the result")

    def __setitem__(self, key, new):
        refuse(*IN_PLACE)

    def item(self, *place):
        if self.is_flat():
            return plain(self).item(*place)
        refuse_plain("item()", "leave the array as it is, or index it: x[i, j]")

    def tolist(self):
        if self.is_flat():
            return plain(self).tolist()
        refuse_plain("tolist()", "write list(x)")

    def __getattr__(self, name):
        of_number = name in OF_NUMBERS and not self.ndim
        if (of_number or hasattr(np.ndarray, name)) and not name.startswith("__"):
            has_function = getattr(np, name, None) in NAMES
            instead = (f"write np.{name}(x)" if has_function else
                       HABITS.get(name, "use a function of NumPy in its place"))
            kind = "number" if of_number else "array"
            refuse(f"the {kind}'s .{name} has no operator and so no derivative here", instead)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{habit(name)}")

    # ---- operators beyond those of Expression --------------------------------------------------------------

    def __pow__(self, y):
        # int8 for truth values in NumPy, whose np.power gives int64
        squared = self.dtype.kind == "b" and type(y) is int and y == 2
        return np.square(self) if squared else super().__pow__(y)

    def __round__(self, decimals=0): return np.round(self, decimals or 0)

    def __getitem__(self, key):
        return f.getitem(self, *map(plain_key, key if isinstance(key, tuple) else (key,)))

    # ---- methods -------------------------------------------------------------------------------------------

    def reshape(self, *to, **options): return np.reshape(self, to[0] if len(to) == 1 else to, **options)
    def transpose(self, *axes): return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)
    def compress(self, condition, axis=None): return np.compress(condition, self, axis)
    def clip(self, min=None, max=None): return np.clip(self, min, max)
    def conjugate(self): return f.conj(self) if is_complex(self) else self
    conj = conjugate
    def astype(self, dtype, **_): return cast_to(self, dtype)
    def copy(self, order="C"): return self

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return universal(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        return call_numpy(function, args, options)


def rebound(name: str, sign: str) -> Callable:
    """x += y for a number."""
    def change(self, y):
        if self.shape:
            refuse(f"x {sign}= y writes into the array x, and what else holds it would not see that here",
                   f"write x = x {sign} y")
        return getattr(operator, name)(self, y)
    return change


def method(function: Callable) -> Callable:
    """The method that is this function of NumPy."""
    return lambda self, *args, **options: function(self, *args, **options)


SIGNS = dict(add="+", sub="-", mul="*", truediv="/", floordiv="//", mod="%", pow="**", matmul="@")
for _name, _sign in SIGNS.items():
    setattr(ArrayLike, f"__i{_name}__", rebound(_name, _sign))
for _name, _function in {"floordiv": np.floor_divide, "mod": np.remainder, "divmod": np.divmod,
                         "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items():
    setattr(ArrayLike, f"__{_name}__", method(_function))
    setattr(ArrayLike, f"__r{_name}__", lambda self, y, function=_function: function(y, self))
for _function in (np.trunc, np.floor, np.ceil):  # whole numbers have no derivative, wherever they come from
    setattr(ArrayLike, f"__{_function.__name__}__", lambda self, function=_function: int(function(self)))
for _name in ("all any argmax argmin argsort cumprod cumsum diagonal dot max mean min "
              "nonzero prod ravel repeat round squeeze std sum swapaxes take trace var").split():
    setattr(ArrayLike, _name, method(getattr(np, _name)))
ArrayLike.flatten, ArrayLike.__invert__ = method(np.ravel), method(np.invert)


def plain_key(key: Any) -> Any:
    """An index in an operator's form: the ends of a slice become numbers, a list becomes an array."""
    if isinstance(key, slice):
        ends = key.start, key.stop, key.step
        return slice(*(None if end is None else operator.index(end) for end in ends))
    return np.asarray(key, None if key else int) if isinstance(key, list) else key


def is_traced(x: Any) -> bool:
    """Whether x is a traced value, or holds one in lists, tuples and dicts."""
    if isinstance(x, dict):
        x = list(x.values())
    return isinstance(x, ArrayLike) or isinstance(x, (list, tuple)) and any(map(is_traced, x))


def as_numpys(value: Any) -> Any:
    """An operator's result as NumPy's array or number, or as an Expression."""
    if isinstance(value, (np.ndarray, np.generic, Expression, Bundle)):
        return value
    return np.asarray(value)[()]  # it was a Python number


def for_complex(op: str) -> str:
    """The operator that computes op of complex numbers. XManError where none is known to be right."""
    operator = facts_of(op).complex
    if operator is True or type(operator) is str:
        return op if operator is True else operator
    refuse(f"{op} is not defined for complex numbers here", INSTEAD)


def plain(x: Any) -> Any:
    """The array inside of an ArrayLike, below all levels; anything else as it is."""
    while isinstance(x, ArrayLike):
        x = x.branch_value()
    return x


def noted(x: Any) -> Any:
    """x without levels whose tapes record no guards: a check of its numbers is computed from this."""
    while isinstance(x, ArrayLike) and getattr(getattr(x, "tape", None), "guards", None) is None:
        x = x.value
    return x


def differentiable(x: Any, where: Callable[[], str]) -> Any:
    """x as a differentiable value: an array or a NumPy number of floats or complex, or an ArrayLike of them.

    Python's int counts as float64. XManError for integers, booleans and all else. where: names x in the
    error.
    """
    if type(x) in (np.ndarray, np.memmap) and x.dtype.kind in "fc":
        return np.asarray(x)[()]
    if type(x) is float or issubclass(type(x), (int, np.integer)) and type(x) is not bool:
        return np.float64(x)
    if isinstance(x, ArrayLike) and (x.dtype.kind in "fc" or x.dtype.kind in "iu" and not x.ndim):
        return cast_to(x.as_numpy(), x.dtype if x.dtype.kind in "fc" else float)
    if issubclass(type(x), (float, np.inexact)):
        return x
    if type(x) is complex:
        return np.complex128(x)
    if isinstance(x, (np.ndarray, np.generic, ArrayLike)) and x.dtype.kind in "biu":
        instead = "write x.astype(float), or choose other arguments with argnums"
        raise XManError(f"{where()} is an array of {x.dtype}, and only floats have derivatives; {instead}")
    kind = f"an array of {x.dtype}" if type(x) is np.ndarray else f"of type {type(x).__name__}"
    raise XManError(f"{where()} is {kind}; wanted a float or an array of floats, "
                    "as np.asarray(x, float) gives")
