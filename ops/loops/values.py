"""The values of the rows that apply functions, on arrays."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..expression import G
from ..facts import IN_USE, operations, operator_called
from ..table import expressed
from .bodies import Bundle, Function, as_python, explained, functions_in, is_function

# ---- the values --------------------------------------------------------------------------------------------

# the values that are one expression, and what they are
bundle = expressed(lambda *arrays: Bundle(arrays), "The arrays in one register.")
item   = expressed(lambda b, i: b[i],              "The i-th array of a bundle.")


def with_table(results: Iterable) -> Bundle:
    """A bundle that knows the table by which it was computed."""
    out, table = Bundle(results), IN_USE.get().G
    if table is not G:
        out.table = table
    return out


def call(function, args, *, program=as_python):
    """The bundle of the function's results for a bundle of arguments. program: makes a function callable."""
    return with_table(applied(function, args, program(function)))


def cond(c, yes, no, args, *, program=as_python):
    """The results of the function `yes` for the bundle args if the number c is true, else those of `no`."""
    return call(yes if one_truth("the condition", c) else no, args, program=program)


def one_truth(word: str, c: Any) -> bool:
    """Whether c, one number, is true."""
    if np.ndim(c) or getattr(c, "dtype", np.dtype(float)).kind not in "biuf" or c is None:
        raise ValueError(f"{word} gives {f'an array of shape {np.shape(c)}' if np.ndim(c) else repr(c)}, and one "
                         "truth value is wanted, as of np.all(…) or np.any(…)")
    return bool(c)


def scan(function, carries, slices, args, reverse=False, *, program=as_python):
    """The bundle of the last carries, and of the stacked results of all steps.

    function: a step; it returns the carries for the next step, and then its results. carries, slices: their
    numbers. args: the bundle of its arguments: the first carries, then the slices, arrays whose first axis
    are the steps, then the constants, which are the same in all steps. A slice that is a whole number n gives
    0, …, n − 1. reverse: begin with the last step. program: as for `call`.
    """
    k, m = carries, carries + slices
    xs = slices_of(function, k, m, args)
    carry, constants, n = args[:k], args[m:], len(xs[0])
    if n * len(function[3]) >= LARGE and program is as_python and (large_loop := LARGE_LOOP.get()):
        return large_loop("scan", function, carries, slices, args, reverse)
    if not n:
        return Bundle((*as_arrays(carry), *map(np.array, one_step(function, carries, slices, args)[k:])))
    run, outs, t = program(function), [], 0
    try:
        for done, t in enumerate(range(n - 1, -1, -1) if reverse else range(n)):
            inputs = (*carry, *[x[t] for x in xs], *constants)
            try:
                results = run(*inputs)
            except Exception as error:
                sentence = explained(function, error)
                if sentence is error and not isinstance(error, (ValueError, TypeError)):
                    raise
                raise ValueError(f"step {t}: {sentence}") from error
            if done < 2:
                same_kinds(function, inputs, results, args[:k])
            if done < 2 or any([getattr(y, "dtype", None) is not out.dtype
                                for y, out in zip(results[k:], outs, strict=True)]):
                outs = [*map(room_for, results[k:], outs or itertools.repeat(n))]
            carry = results[:k]
            for y, stacked in zip(results[k:], outs, strict=True):
                stacked[t] = y
    except KeyboardInterrupt as stop:
        deeper = f": {stop}" * bool(stop.args)
        raise KeyboardInterrupt(f"stopped in step {t:,} of {function[1]}{deeper}") from None
    return with_table((*as_arrays(carry), *outs))


def slices_of(function: Any, k: int, m: int, args: Any) -> list:
    """The slices, args[k:m], of one length; a range for a whole number. ValueError for what is no loop."""
    if not is_function(function):
        raise ValueError("the first argument of scan is a function")
    if not 0 <= k <= len(function[4]) or not k <= m <= len(function[2]):
        raise ValueError(f"{function[1]} has {len(function[2])} parameters and {len(function[4])} results, "
                         f"too few for {k} carries and {m - k} slices")
    refuse_arguments(function, args)
    names = function[2][k:m]
    xs = [range(x) if np.ndim(x) == 0 and np.asarray(x).dtype.kind in "iu" else x for x in args[k:m]]
    if lacking := [p for p, x in zip(names, xs, strict=True) if type(x) is not range and not np.ndim(x)]:
        raise ValueError(f"a slice is an array with a leading axis, or a whole number of steps; {lacking[0]} "
                         "is neither")
    if len({*map(len, xs)}) != 1:
        lengths = ", ".join(f"{len(x)} by {p}" for p, x in zip(names, xs, strict=True))
        raise ValueError(f"the steps of {function[1]} are "
                         f"{lengths or 'not said, since it has no slices: give it a whole number of steps as one'}")
    return xs


LARGE = 1_000_000  # operators of all steps: as plain NumPy they take about a second, half of that to compile
# (operator, *arguments) -> the bundle of a loop of so many operators, or of loops: `jit` puts an engine here
LARGE_LOOP: ContextVar[Callable | None] = ContextVar("what runs large loops of arrays", default=None)


def room_for(y: Any, before: Any) -> np.ndarray:
    """The array for all y of a scan, with the entries of the array before it, which was too narrow, as for a
    carry that began as a whole number of Python."""
    dtype = np.asarray(y).dtype
    if isinstance(before, np.ndarray):
        dtype = np.result_type(before, dtype)
        if before.shape[1:] == np.shape(y) and before.dtype == dtype:
            return before
    stack = np.empty((len(before) if np.ndim(before) else before, *np.shape(y)), dtype)
    if np.ndim(before):
        stack[:] = before.reshape(len(before), *(1,) * (stack.ndim - before.ndim), *before.shape[1:])
    return stack


def one_step(function, carries, slices, args, reverse=False, *, program=as_python):
    """A value with the shapes of `scan`'s result, from one step, or more if a step changes a carry's kind."""
    k, m = carries, carries + slices
    carry, n, run, outs = args[:k], length(args[k]), program(function), []
    for _ in range(max(1, min(n, k + 2))):
        results = applied(function, (*carry, *map(one_of, args[k:m]), *args[m:]), run)
        outs = [*map(room_for, results[k:], outs or itertools.repeat(1))]
        for y, out in zip(results[k:], outs, strict=True):
            out[0] = y
        changes = any(np.shape(a) != np.shape(b) or getattr(a, "dtype", 0) != getattr(b, "dtype", 0)
                      for a, b in zip(carry, results, strict=False))
        carry = results[:k] if n else carry
        if not changes:
            break
    return Bundle((*carry, *[np.broadcast_to(y[0], (n, *y.shape[1:])) for y in outs]))


def length(x: Any) -> int:
    """The number of steps along a slice."""
    return x if np.ndim(x) == 0 else len(x)


def one_of(x: Any) -> Any:
    """The entry of a slice in the first step."""
    return np.int64(0) if np.ndim(x) == 0 else x[0] if len(x) else np.zeros(x.shape[1:], x.dtype)


def while_loop(test, function, carries, args, most=None, *, program=as_python):
    """The bundle of the last carries and the number of steps, where a step follows as long as test holds.

    test, function: of the same arguments; function gives the next carries. carries: their number. args: a
    bundle, the first carries, then constants. most: the most steps. program: as for `call`.
    """
    if program is as_python and any(map(has_loops, (test, function))) and (large_loop := LARGE_LOOP.get()):
        return large_loop("while_loop", test, function, carries, args, most)
    carry, constants, n = args[:carries], args[carries:], 0
    whether, run = program(test), program(function)
    try:
        while one_truth(test[1], applied(test, (*carry, *constants), whether)[0]):
            if most is not None and n >= most:
                raise ValueError(f"{test[1]} still holds after {n:,} steps of {function[1]}; if it does end, "
                                 "give it more, most=")
            results = applied(function, (*carry, *constants), run)
            if n < 2:
                same_kinds(function, (*carry, *constants), results, args[:carries])
            carry, n = results, n + 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped in step {n:,} of {function[1]}, while {test[1]} held") from None
    return with_table((*as_arrays(carry), n))


def as_arrays(carry: Sequence) -> list:
    """The carries, where a step may hand on a number of Python as it is."""
    return [np.asarray(x)[()] if type(x) in (bool, int, float, complex) else x for x in carry]


def has_loops(function: Function, *which: str) -> bool:
    """Whether the function, or one that it applies, has a loop. which: of these operators (any)."""
    inside = functions_in([("", "", (function,))])
    return any(op in (which or ("scan", "while_loop")) for _, _, _, lines, _ in inside for _, op, _ in lines)


def of_values(*_: Any) -> None:
    raise TypeError("the number of steps does not follow from shapes")


def refuse_arguments(function: Function, args: Any) -> None:
    """Raise ValueError unless args is a bundle with one array for each parameter."""
    if not isinstance(args, tuple):
        parameters = ", ".join(function[2])
        raise ValueError(f"{function[1]} takes a bundle of {parameters}; write b = bundle({parameters})")
    if len(args) != len(function[2]):
        raise ValueError(f"{function[1]} takes {', '.join(function[2])}, and the bundle has {len(args)}")


def applied(function: Function, args: Sequence[Any], run: Callable) -> tuple:
    """The results of the function, which `run` runs; an error names its line."""
    refuse_arguments(function, args)
    try:
        return run(*args)
    except Exception as error:
        raise explained(function, error) from error


def same_kinds(function: Function, inputs: Sequence, results: Sequence, first: Sequence) -> None:
    """ValueError if a step changes a carry's kind. The first step may broaden it: (1, 3) to (5, 3).

    inputs: those of the step, carries before others. first: the carries of the first step."""
    broadens = all(a is b for a, b in zip(first, inputs, strict=False))
    for p, start, old, new in zip(function[2], first, inputs, results, strict=False):
        shapes = np.shape(start), np.shape(old), np.shape(new)
        before, after = shapes[:2] if shapes[0] != shapes[1] else shapes[1:]  # of the first step that differs
        kinds = [x.dtype for x in (old, new) if hasattr(x, "dtype")]
        wider = (broadens and len(before) <= len(after)
                 and all(a in (1, b) for a, b in zip(before[::-1], after[::-1], strict=False)))
        if shapes[1] != shapes[2] and not wider:
            raise ValueError(f"{function[1]} takes {p} of shape {before} and hands it on with shape {after}; "
                             "a carry keeps its shape")
        if len({*kinds}) > 1:
            like = [f", as {q} is" for q, x in zip(function[2], inputs, strict=True)
                    if getattr(x, "dtype", None) == kinds[1]]
            raise ValueError(f"{function[1]} takes {p} as {kinds[0]} and hands it on as {kinds[1]}"
                             f"{''.join(like[:1])}; begin with {p} as {kinds[1]}, or end with astype")


def of_function(out, function, args):
    """The operations of the function's lines, for these arguments."""
    values, total = dict(zip(function[2], args, strict=True)), 0
    for dst, op, names in function[3]:
        inputs = [values[a] if isinstance(a, str) else a for a in names]
        values[dst] = operator_called(op)(*inputs)
        total += (operations(op) or (lambda *_: 0))(values[dst], *inputs)
    return total


def of_scan(out, function, k, slices, args, reverse=False):
    """The operations of a step, times the number of steps."""
    xs = args[k:k + slices]
    n = length(xs[0])
    return n and n * of_function(out, function, (*args[:k], *map(one_of, xs), *args[k + slices:]))


# ---- for a list from elsewhere -----------------------------------------------------------------------------

RUN = 100_000  # the most lines that the functions of a list may run


class Metered(dict):
    """A table of values for what a list calls, with a count beside each."""
    like = G  # a list that is valid for G is valid for it


def metered(steps: Sequence, before: Callable[[str, tuple], None],
            after: Callable[[str, tuple, Any], Any]) -> Mapping[str, Callable]:
    """A table for these steps that calls before(op, args), computes out by G, and gives after(op, args, out).

    If op applies functions, their lines are metered as they run, and for a scan the stacks that it will make.
    Raises ValueError if the functions run more than RUN lines.
    """
    left = RUN

    def program(function: tuple) -> Callable:
        run = as_python(function)

        def counted(*args: Any) -> tuple:
            nonlocal left
            left -= 1 + len(function[3])
            if left < 0:
                raise ValueError(f"the functions that it applies have run {RUN:,} lines, the last {function[1]}: "
                                 "too many")
            return run(*args)
        return counted

    def value(op: str) -> Callable:
        run = G[op]

        def entrywise(*args: Any) -> Any:
            before(op, args)
            return after(op, args, run(*args))
        if "program" not in (getattr(run, "__kwdefaults__", None) or ()):
            return run if op == "bundle" else entrywise

        def applying(*args: Any) -> Any:
            if op == "scan" and is_function(args[0]):
                n, lines = length(args[3][args[1]]), 1 + len(args[0][3])
                if not isinstance(n, float):  # scan itself refuses a float
                    if n * lines > left:
                        raise ValueError(f"{n:,} steps of {args[0][1]} run {n * lines:,} lines: too many")
                    after("stack", (), one_step(*args, program=program))
            return Bundle(run(*args, program=program))  # without a table: its derivatives use G
        return applying

    bodies = [function[3] for function in functions_in(steps)]
    return Metered({op: value(op) for op in {op for lines in (steps, *bodies) for _, op, _ in lines}})
