"""Plain data as JSON, of bounded size: all that crosses the pipe between grader and submission.

None, bool, int, float, str, list are themselves; tuples, dicts, arrays and functions are objects of one key:
{"tuple": [...]}, {"dict": [[key, value], ...]}, {"array": [type, shape, elements]}, {"function": its name}.
"""
import json
import math
import sys

TYPES = "bool", "int64", "float32", "float64"
DIGITS, AXES = 30, 8  # the most digits of a whole number, and axes of an array
CHANGES = {list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
           dict: "update pop popitem clear setdefault __setitem__ __delitem__ __ior__"}
REFUSALS = "that belongs to the caller", "read-only"  # NumPy says the second
DEPTH = 100           # the most lists inside of one another
MOST = 4_000_000      # the most items and characters of a message
# the most keys of a dict that are not strings: an enemy can choose numbers that all have the same hash
KEYS = 2000


def numpy_kinds():
    """The types of arrays and of their numbers; none if NumPy is not loaded, since its import is slow."""
    numpy = sys.modules.get("numpy")
    return (numpy.ndarray, numpy.generic) if numpy else ()


def encoded(value, name_of=None) -> bytes:
    """The value as a line of JSON. name_of: gives a function's name; without it functions are a TypeError.

    TypeError also for more than MOST items and characters, even if few objects hold them.
    """
    remaining, kinds = MOST, numpy_kinds()

    def tree(value):
        nonlocal remaining
        remaining -= (len(value) if isinstance(value, (str, list, tuple, dict))
                      else value.size if isinstance(value, kinds) else 1)
        if remaining < 0:
            raise TypeError(f"more than {MOST:,} items and characters")
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            if abs(value) >= 10 ** DIGITS:
                raise TypeError(f"a whole number of more than {DIGITS} digits")
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, kinds):
            return _array(value)
        if isinstance(value, list):
            return [tree(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [tree(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[tree(key), tree(item)] for key, item in value.items()]}
        if callable(value) and name_of:
            return {"function": name_of(value)}
        raise TypeError(f"a {type(value).__name__}")
    return json.dumps(tree(value), separators=(",", ":")).encode() + b"\n"


def decoded(line: bytes, function_of=None):
    """The value of a line that `encoded`, or an enemy, wrote: ValueError says what is wrong with it."""
    try:
        return _value(json.loads(line, parse_int=_whole), function_of, DEPTH)
    except (RecursionError, OverflowError, TypeError, KeyError, UnicodeError) as error:
        raise ValueError(f"not plain data: {error}") from None


def _refusing(kind):
    """The class of lists, or of dicts, that stay as they are; a copy of one is an ordinary list or dict."""
    def refuse(self, *_, **__):
        raise TypeError(f"a {kind.__name__} is changed {REFUSALS[0]}, and has to stay as it is")
    return type(kind.__name__, (kind,), {**dict.fromkeys(CHANGES[kind].split(), refuse),
                                         "__reduce_ex__": lambda self, _: (kind, (kind(self),))})


FrozenList, FrozenDict = map(_refusing, (list, dict))


def frozen(value):
    """The value, which cannot be changed: lists and dicts refuse it, the memory of arrays is read-only."""
    if isinstance(value, (list, tuple)):
        return (FrozenList if isinstance(value, list) else tuple)(map(frozen, value))
    if isinstance(value, dict):
        return FrozenDict({key: frozen(inner) for key, inner in value.items()})
    if isinstance(value, numpy_kinds()):
        return type(value)(value.shape, value.dtype, value.tobytes())
    return value


def _array(array):
    import numpy as np
    array = np.asarray(array)
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    elif array.dtype.name == "float16":
        array = array.astype(np.float32)
    if array.dtype.name not in TYPES:
        raise TypeError(f"an array of {array.dtype.name}")
    return (array.item() if array.ndim == 0
            else {"array": [array.dtype.name, list(array.shape), array.ravel().tolist()]})


def _whole(digits):
    if len(digits) > DIGITS + 1:
        raise ValueError(f"a whole number of more than {DIGITS} digits")
    return int(digits)


def _value(tree, function_of, depth):
    if not isinstance(tree, (list, dict)):
        return tree
    if depth == 0:
        raise ValueError(f"not plain data: more than {DEPTH} lists in each other")
    if isinstance(tree, list):
        return [_value(item, function_of, depth - 1) for item in tree]
    (kind, inner), = tree.items() if len(tree) == 1 else [("several keys", None)]
    if kind == "tuple" and isinstance(inner, list):
        return tuple([_value(item, function_of, depth - 1) for item in inner])
    if kind == "dict" and isinstance(inner, list):
        if len(inner) > KEYS and not all(isinstance(key, str) for key, _ in inner):
            raise ValueError(f"not plain data: a dict of more than {KEYS:,} keys that are not strings")
        return {_value(key, function_of, depth - 1): _value(item, function_of, depth - 1)
                for key, item in inner}
    if kind == "array":
        return _elements(*inner)
    if kind == "function" and function_of:
        return function_of(inner)
    raise ValueError(f"not plain data: an object of {kind!r:.40}")


def _elements(name, shape, elements):
    if name not in TYPES or not isinstance(elements, list) or not all(type(item) in (bool, int, float)
                                                                      for item in elements):
        raise ValueError("not plain data: an array of something other than numbers")
    if (len(shape) > AXES or not all(type(n) is int and n >= 0 for n in shape)
        or math.prod(shape) != len(elements)):
        raise ValueError("not plain data: an array whose shape does not fit its elements")
    if not elements and max(shape) > KEYS:  # a sum along the empty axis would have this size
        raise ValueError("not plain data: an empty array with a long axis")
    import numpy as np
    with np.errstate(all="ignore"):  # a float32 of 1e300 is infinite, as it was before
        return np.array(elements, dtype=name).reshape(shape)
