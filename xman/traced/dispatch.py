"""NumPy hands calls of functions and ufuncs over to this file, which finds our function and its arguments."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ops import Expression, G, f
from ops.expression import SAME
from ops.facts import INSTEAD, is_complex, parameters

from .refusals import IN_PLACE, refuse, refuse_function

# for each function of NumPy our function on an ArrayLike, filled by `xman.numpy`. Ours takes by position the
# arguments that NumPy's requires, and by name the options that it knows;
# other options are refused unless they equal NumPy's defaults.
NAMES: dict[Any, Callable] = {}
COMPLEX: set[Any] = set()  # those of these functions that are right for complex numbers


def defined_in(module: Mapping[str, Any]) -> dict[str, Callable]:
    """The functions that a module defines, by their names."""
    return {name: x for name, x in module.items() if getattr(x, "__module__", "") == module["__name__"]}


def log_times_itself(x, sign=1.0):
    """± x log x; at 0 the derivatives of x log x are −∞, +∞, −∞, …, as those of −√x are."""
    zero = f.equal(x, 0)
    y = f.where(zero, 1.0, x)
    return f.where(zero, 0.0 - sign * f.sqrt(f.where(zero, x, 1.0)), sign * y * f.log(y))


def xlogy(x, y): return log_times_itself(x) if x is y else f.where(f.isnan(y), y, f.scale(x, f.log(y)))


# our functions for those of scipy.special, by name, so that SciPy need not be imported
SPECIAL: dict[str, Callable] = {
    "logit": lambda p: f.log(p) - f.log1p(-p),
    "xlogy": xlogy,
    "xlog1py": lambda x, y: f.where(f.isnan(y), y, f.scale(x, f.log1p(y))),
    "entr": lambda x: f.where(x < 0, -np.inf, log_times_itself(x, -1.0)),
    "round": lambda x: f.where(f.equal(x, 0), x, f.round(x) + 0)}

# for each method of a ufunc the function that does the same
METHODS = {"reduce": {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
                      np.logical_and: np.all, np.logical_or: np.any, np.logaddexp: f.logsumexp},
           "accumulate": {np.add: np.cumsum, np.multiply: np.cumprod},
           "any": {}}  # for each method one for all other ufuncs, of (ufunc, *inputs)


FLOAT = np.dtype(float)


def universal(ufunc: np.ufunc, method: str, inputs: Iterable, options: dict) -> Any:
    """ufunc(*inputs), or its .reduce, .accumulate, .reduceat or .outer, in the precisions that NumPy uses."""
    inputs = [np.asarray(x) if issubclass(type(x), (list, tuple)) else x for x in inputs]
    if method == "at" or options.get("out") is not None:
        refuse(*IN_PLACE)
    if method in METHODS["any"] and ufunc not in METHODS.get(method, ()):
        return METHODS["any"][method](ufunc, *inputs, **options)
    if method in ("reduce", "accumulate"):
        function, options = METHODS[method][ufunc], {"axis": 0} | options
        inputs = tuple(inputs)
        return call_numpy(function, inputs, options) if function in NAMES else function(*inputs, **options)
    if method == "outer":
        a, b = inputs
        return universal(ufunc, "__call__", [np.reshape(a, (*np.shape(a), *(1,) * np.ndim(b))), b], options)
    dtype = options.pop("dtype", None)
    if options:
        refuse_function(ufunc, f"takes no {', '.join(options)} here")
    op, same = operator_of(ufunc)
    if not same and ufunc in NAMES:
        refuse_complex_arguments(ufunc, inputs)
    if (dtype is None
        and (same or all([type(x) is float or getattr(x, "dtype", int) == FLOAT for x in inputs]))):
        return op(*inputs)
    n, outputs = len(inputs), (None,) * ufunc.nout
    forced = {} if dtype is None else {"signature": (*(None,) * n, *(np.dtype(dtype) for _ in outputs))}
    kinds = (type(x) if type(x) in (int, float, complex) else with_shape(x).dtype for x in inputs)
    loop = ufunc.resolve_dtypes((*kinds, *outputs), **forced)
    result = op(*(cast_to(x, kind) for x, kind in zip(inputs, loop, strict=False)))
    if [x.dtype for x in (result if len(outputs) > 1 else (result,))] != list(loop[n:]):
        refuse_function(ufunc, f"of {', '.join(map(str, loop[:n]))} has no operator here")
    return result


@functools.cache
def operator_of(ufunc: np.ufunc) -> tuple[Callable, bool]:
    """(our function for the ufunc, whether it is the operator whose value the ufunc is)."""
    name = SAME.get(ufunc.__name__, ufunc.__name__)
    op = NAMES.get(ufunc) or SPECIAL.get(ufunc.__name__) or getattr(f, name, None) or refuse_function(ufunc)
    return op, G.get(name) is ufunc


def call_numpy(function: Any, args: tuple, options: dict) -> Any:
    """The result of NumPy's function for these arguments, some of which are traced values."""
    if function not in COMPLEX:
        if function not in NAMES:
            refuse_function(function)
        refuse_complex_arguments(function, (*args, *options.values()))
    names, defaults, variadic, named = parameters(function)
    least = len(names) - len(defaults)  # of what is required
    if names and not variadic and (options or len(args) > least):
        options |= zip(names[least:], args[least:], strict=False)
        args = *args[:least], *[options.pop(name) for name in names[len(args):least]]
        options = {name: x for name, x in options.items() if x is not (defaults | named).get(name, function)}
    try:
        return NAMES[function](*args, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        if option := re.search("unexpected keyword argument '(.*)'", str(error)):
            instead = "leave out= out and use the result"
            if option[1] != "out":
                instead = "write it without that option, with np.where or np.concatenate"
            refuse_function(function, f"with {option[1]}= has no derivative here", instead)
        refuse_function(function, f"takes other arguments: {error}")


def refuse_complex_arguments(function: Any, args: Iterable) -> None:
    """XManError for complex numbers, in lists too, if our function is not known to be right for them."""
    if function not in COMPLEX and any(map(is_complex, args)):
        refuse_function(function, "is not defined for complex numbers here", INSTEAD)
    for a in args:
        if type(a) in (list, tuple):
            refuse_complex_arguments(function, a)


def with_shape(x: Any) -> Any:
    """An ArrayLike as it is; a list as an array."""
    return x if isinstance(x, Expression) else np.asarray(x)


def cast_to(x: Any, dtype: Any) -> Any:
    """x in that precision."""
    x, dtype = with_shape(x), np.dtype(dtype)
    if dtype == x.dtype:
        return x
    if dtype.kind not in "biufc":
        refuse(f"an array of {dtype} has no operators here", "keep to numbers")
    if x.dtype.kind == "c" != dtype.kind:
        refuse(f"an array of {dtype} has no place for complex numbers", "take np.real or np.imag of them")
    return f.astype(x if dtype.kind in "fc" else f.stopGradient(x), (str(dtype),))


def blank(x: Any) -> Any:
    """Ones in the shape and the precision of x, also inside of a list; any other argument as it is."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(blank, x))
    return np.broadcast_to(np.ones((), x.dtype), x.shape) if isinstance(x, (Expression, np.ndarray)) else x


def checked(ours: Callable, function: Any = None) -> Callable:
    """Our function, checked by NumPy's (of the same name) on ones: it has its errors, shape and precision."""
    function = function or getattr(np, ours.__name__)

    @functools.wraps(ours)
    def call(*args, **options):
        with np.errstate(all="ignore"):
            like = function(*map(blank, args), **{name: blank(x) for name, x in options.items()})
        y = ours(*args, **options)
        return cast_to(y if np.shape(y) == like.shape else f.broadcast(y, like.shape), like.dtype)
    return call
