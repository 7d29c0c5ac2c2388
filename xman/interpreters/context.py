"""The common part of the interpreters: first values, which registers have derivatives, errors with lines."""
from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ops import Bundle, Expression, f
from ops.facts import arity, is_complex
from ops.kinks import MARKS, past_roots, unrooted
from ops.walk import AtLine, live_forth

from ..errors import XManError, nearest
from ..notation import shortened, shown
from ..wengert import WengertList, registers

FLOAT = np.dtype(float)


def missing(steps: WengertList, values: Mapping[str, Any]) -> None:
    """Raise XManError unless each input of the list has a value."""
    if lacking := [name for name in steps.inputs if values.get(name) is None]:
        first = next((k, line) for k, line in enumerate(steps, 1) if lacking[0] in registers(line[2]))
        every = f"; without a value: {', '.join(lacking)}" * (len(lacking) > 1)
        raise XManError(f"line {first[0]}, {shown(first[1])}: no value for the input {lacking[0]!r}{every}"
                        f"{'' if lacking[0] in values else nearest(lacking[0], values)}")


def has_complex(steps: WengertList, values: Mapping[str, Any]) -> bool:
    """Whether the list has complex numbers. XManError where an input has no value."""
    others = [name for name in steps.inputs if getattr(values.get(name), "dtype", None) is not FLOAT]
    if not others:  # most lists are of float64
        return steps.complex
    missing(steps, values)
    return steps.complex or any([is_complex(values[name]) for name in others])


def seeds(starts: Mapping[str, Any], values: Mapping[str, Any], word: str) -> dict[str, Any]:
    """The deltas or tangents to start from, each a copy in the shape and the precision of its register."""
    seeds = {}
    if not starts:
        raise XManError(f"no {word} was given to start from; name a register and its {word}, as in loss=1.0"
                        f"{'; in the third place is DG, the table of rules' * (word == 'delta')}")
    for name, d in starts.items():
        if name not in values:
            near = nearest(name, [*values, *["wrt"] * (word == "delta")])
            raise XManError(f"a {word} was given for {name!r}, which has no value"
                            f"{near or '; values are what eval(steps, inputs) gives'}")
        if type(d) is not float and is_complex(d) and not is_complex(values[name]):
            raise XManError(f"the {word} given for {name!r} is complex, and the register real")
        x = values[name]
        try:
            seeds[name] = start = f.broadcast(d, x)
        except (TypeError, ValueError):
            raise XManError(f"the {word} given for {name!r} has shape {np.shape(d)}, the register "
                            f"{np.shape(x)}") from None
        if type(start) is np.ndarray:
            seeds[name] = start[()] if start.dtype.kind in "fc" else start.astype(float)[()]
    return seeds


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
    return live_forth(steps, names, DG)


REAL = (float, complex, np.inexact, Expression, Bundle)


def varies(x: Any) -> bool:
    """Whether x has derivatives: floats do, and whole numbers that count as floats."""
    if type(x) is not np.ndarray and isinstance(x, REAL):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc" or x.ndim == 0 and x.dtype.kind in "iu"
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def still_in(steps: WengertList, values: Mapping[str, Any], active: Collection[str]) -> set[str]:
    """The registers that hand no delta on: those that are not active, and those that are no floats.

    A sparse matrix that a line computes is not among them: the walk refuses it if a delta reaches it.
    """
    computed = lambda name: name not in steps.inputs
    return {name for name, x in values.items() if name not in active or type(x) is not np.float64
            and not varies(x) and not (hasattr(x, "tocsr") and computed(name))}


def without_roots(steps: WengertList, values: Mapping[str, Any], table: Mapping[str, Sequence]
                  ) -> tuple[Sequence, Mapping[str, Any], Mapping[str, tuple]]:
    """(the lines, in which powers go past their roots; the values, with new registers; these powers)."""
    new: dict[str, Any] = {}

    def register(value: Any, word: str) -> str:
        new[word] = value
        return word
    if not (powers := past_roots(steps, table)):
        return steps, values, powers
    lines = unrooted(steps, powers, register, values.__getitem__)
    return getattr(steps, "along", list)(lines), {**values, **new}, powers


def unshared(derivatives: Mapping[Any, Any], values: Iterable[Any]) -> dict[Any, Any]:
    """The deltas or tangents, each array in memory of its own: no view, and none of the values."""
    arrays, copies = {id(x) for x in values if type(x) is np.ndarray}, dict(derivatives)
    for name, d in derivatives.items():
        if type(d) is np.ndarray:
            if d.base is not None or id(d) in arrays:
                copies[name] = d = d.copy()
            arrays.add(id(d))
    return copies


@contextlib.contextmanager
def at_line(steps: WengertList, values: Mapping[str, Any], table: Mapping, word: str) -> Iterator[None]:
    """A context in which the error of a rule becomes an XManError that names the line."""
    try:
        yield
    except AtLine as error:
        line = next(line for line in steps if line[0] == error.line[0].rstrip(MARKS))
        sentence = failure(error.error, steps, line, values, table, word)
        sentence.line = line
        raise sentence from error.error


def with_numpy_reals(values: Mapping[str, Any], names: Iterable[str], word: str = "values") -> dict[str, Any]:
    """A copy of values; for names NumPy's reals replace Python's numbers (1/0 is ∞), and arrays lists."""
    if type(values) is not dict and not isinstance(values, Mapping):
        raise XManError(f"the {word} are a dictionary with one for each input, {{'x': 3.0}}, not "
                        f"{shortened(values)}")
    reals = {**values}
    for x in names:
        v = values.get(x)
        if type(v) is not np.ndarray and isinstance(v, (int, float, complex, list, tuple, str)):
            reals[x] = numpy_real(x, v)
    return reals


def numpy_real(name: str, v: Any) -> Any:
    if isinstance(v, (bool, np.inexact)):
        return v
    try:
        array = np.asarray(v, float if isinstance(v, int) else None)
    except (ValueError, OverflowError):  # v is a ragged list, or an int too large for a float
        array = np.asarray(None)
    if array.dtype.kind not in "biufc":
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
        expected = ("a function" if word == "value" else f"a list with a function for each argument: write "
                    f"{op!r}: [rule]")
        return XManError(f"{where}: the table has {shortened(table[op])} for {op!r}; wanted {expected}")
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
