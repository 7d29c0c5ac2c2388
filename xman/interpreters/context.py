"""The common part of the interpreters: first values, which registers have derivatives, errors with lines."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ops import Bundle, Expression, f
from ops.derived import precise
from ops.flows import Masked
from ops.table import arity

from ..errors import XManError, nearest
from ..notation import shortened, shown
from ..wengert import WengertList, registers


def missing(steps: WengertList, values: Mapping[str, Any]) -> None:
    """Raise XManError unless each input of the list has a value."""
    if lacking := [name for name in steps.inputs if values.get(name) is None]:
        first = next((k, line) for k, line in enumerate(steps, 1) if lacking[0] in registers(line[2]))
        raise XManError(f"line {first[0]}, {shown(first[1])}: no value for the input {lacking[0]!r}; "
                        f"without a value: {', '.join(lacking)}"
                        f"{'' if lacking[0] in values else nearest(lacking[0], values)}")


def seeds(given: Mapping[str, Any], values: Mapping[str, Any], word: str) -> dict[str, Any]:
    """The deltas or tangents to start from, each a copy in the shape and the precision of its register."""
    result = {}
    if not given:
        raise XManError(f"no {word} was given to start from; name a register and its {word}, as in loss=1.0"
                        f"{'; in the third place is DG, the table of rules' * (word == 'delta')}")
    for name, d in given.items():
        if name not in values:
            near = nearest(name, [*values, *["wrt"] * (word == "delta")])
            raise XManError(f"a {word} was given for {name!r}, which has no value{near}")
        x = values[name]
        try:
            result[name] = start = f.broadcast(d, x)
        except (TypeError, ValueError):
            raise XManError(f"the {word} given for {name!r} has shape {np.shape(d)}, the register "
                            f"{np.shape(x)}") from None
        if type(start) is np.ndarray:
            result[name] = start[()] if start.dtype.kind == "f" else start.astype(float)[()]
    return result


def names_wanted(wrt: Any, DG: Any) -> Collection[str] | None:
    """The name or names in wrt. XManError if wrt, or DG, is meant as the delta of a register of that name."""
    names = [wrt] if isinstance(wrt, str) else wrt
    listed = isinstance(names, Sequence | Set | Mapping) and all(isinstance(x, str) for x in names)
    if isinstance(DG, Mapping) and (names is None or listed):
        return names
    word, takes, x = ("wrt", "names in a list", wrt) if isinstance(DG, Mapping) else ("DG", "the rules", DG)
    raise XManError(f"{word} takes {takes}, and found {shortened(x)}; a register called {word} needs another "
                    "name to have a delta, r.name = 'x'")


def depends(steps: WengertList, names: Collection[str], values: Mapping[str, Any],
            DG: Mapping[str, Sequence] | None = None) -> set[str]:
    """The names, and all registers that depend on them; with DG those with slopes. XManError: no value."""
    if unknown := [name for name in names if name not in values]:
        raise XManError(f"wrt names {unknown[0]!r}, which has no value{nearest(unknown[0], values)}")
    found = set(names)
    for dst, op, args in steps:
        rules = DG.get(op) if DG else args
        rules = rules if isinstance(rules, Sequence) else args
        pairs = zip(args, rules, strict=False)
        if any([rule is not None and a in found for a, rule in pairs if type(a) is str]):
            found.add(dst)
    return found


REAL = (float, np.floating, Expression, Bundle)


def varies(x: Any, name: str = "", steps: WengertList | None = None) -> bool:
    """Whether x has derivatives: floats do, sparse data do not. XManError for a computed sparse matrix."""
    if isinstance(x, REAL):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f" or x.ndim == 0 and x.dtype.kind in "iu"
    if hasattr(x, "tocsr") and steps is not None and name not in steps.inputs:
        raise XManError(f"{name} is a sparse matrix, which has no rules: only dot takes one, on its left")
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def own(part: Any, x: Any, held: set[int], around: Collection[Any], a: str = "an argument") -> Any:
    """The part in x's precision, in memory of its own: not a view, and not held (by id) or in `around`."""
    if type(part) is not type(x) or type(x) is np.ndarray and part.dtype is not x.dtype:
        if isinstance(part, Masked):
            return part.at(own(part.value, x, held, around, a))
        part = precise(part, x, a)
    if type(part) is np.ndarray:
        if part.base is not None or id(part) in held or id(part) in map(id, around):
            part = part.copy()
        held.add(id(part))
    return part


def with_numpy_reals(values: Mapping[str, Any], names: Iterable[str], word: str = "values") -> dict[str, Any]:
    """A copy of values; for names NumPy's reals replace Python's numbers (1/0 is ∞), and arrays lists."""
    if type(values) is not dict and not isinstance(values, Mapping):
        raise XManError(f"the {word} are a dictionary with one for each input, {{'x': 3.0}}, not "
                        f"{shortened(values)}")
    found = {**values}
    for x in names:
        if isinstance(v := values.get(x), (int, float, list, tuple, str)):
            found[x] = numpy_real(x, v)
    return found


def numpy_real(name: str, v: Any) -> Any:
    if isinstance(v, (bool, np.floating)):
        return v
    try:
        array = np.asarray(v, float if isinstance(v, int) else None)
    except (ValueError, OverflowError):  # v is a ragged list, or an int too large for a float
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise XManError(f"the value of {name!r} is {shortened(v)}; wanted a number or an array of numbers")
    return array[()]


def failure(error: Exception, steps: WengertList, line: tuple, values: Mapping[str, Any], table: Mapping,
            word: str) -> XManError:
    """The error of an operator or a rule, as a sentence with the line and the shapes of its arguments."""
    if isinstance(error, (TimeoutError, MemoryError, RecursionError)):
        raise error  # a time limit, the memory or the stack is the cause, and not the operator
    dst, op, args = line
    where = f"line {[known for known, _, _ in steps].index(dst) + 1}, {shown(line)}"
    if op not in table:
        return XManError(f"{where}: there is no {word} for the operator {op!r}; put it in the "
                         f"table{nearest(op, table)}")
    if callable(table[op]) != (word == "value"):
        wanted = ("a function" if word == "value" else f"a list with a function for each argument: write "
                  f"{op!r}: [rule]")
        return XManError(f"{where}: the table has {shortened(table[op])} for {op!r}; wanted {wanted}")
    names = dict.fromkeys(registers(args))
    if lacking := [name for name in (*names, *(() if word == "value" else (dst,))) if name not in values]:
        return XManError(f"{where}: no value for {lacking[0]!r}; the values have to be those that eval "
                         "returned for this list")
    sizes = [f"{a} has shape {np.shape(x)}" for a in names if not isinstance(x := values[a], Expression)]
    if word != "value" and isinstance(error, TypeError) and any(
            rule and arity(rule)[1] == len(args) for _, rule in zip(args, table[op], strict=False)):
        return XManError(f"{where}: a rule is given the delta or tangent, the result and the arguments, "
                         "lambda d, out, x: …; a table of partial derivatives, of the arguments alone (the "
                         "notes, §1.3), goes in as partials(DG)")
    return XManError(f"{where}: {', '.join(sizes)}{': ' * bool(sizes)}{error}")
