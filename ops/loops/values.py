"""What the rows that apply functions compute, on arrays."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """A bundle that knows by which table it was computed."""
    out, table = Bundle(results), IN_USE.get().G
    if table is not G:
        out.table = table
    return out


def call(function, args, *, program=as_python):
    """The bundle of the function's results, for one of its arguments. program(function): what runs it."""
    return with_table(applied(function, args, program(function)))


def cond(c, yes, no, args, *, program=as_python):
    """The bundle that the function `yes` makes of the bundle args where the number c holds, else `no`."""
    return call(yes if one_truth("the condition", c) else no, args, program=program)


def one_truth(what: str, c: Any) -> bool:
    """Whether c holds, one number."""
    if np.ndim(c) or getattr(c, "dtype", np.dtype(float)).kind not in "biuf" or c is None:
        raise ValueError(f"{what} gives {f'an array of shape {np.shape(c)}' if np.ndim(c) else repr(c)}, and one "
                         "truth value is wanted, as of np.all(…) or np.any(…)")
    return bool(c)


def scan(function, carries, slices, args, reverse=False, *, program=as_python):
    """The function step by step, each with the carries of the one before; reverse: from the last step on.

    args: the bundle of its arguments, the first carries, then the slices, arrays whose leading axis are the
    steps, and the constants, which are the same in all. Where a slice is the whole number n, the steps are 0,
    …, n − 1. The function returns the carries for the next step, and then what it gives.
    The bundle of the last carries, and of what all steps gave, stacked.
    """
    if not is_function(function):
        raise ValueError("the first argument of scan is a function")
    k, m = carries, carries + slices
    if not 0 <= k <= len(function[4]) or not k <= m <= len(function[2]):
        raise ValueError(f"{function[1]} has {len(function[2])} parameters and {len(function[4])} results, "
                         f"too few for {k} carries and {slices} slices")
    refuse_arguments(function, args)
    carry, constants = args[:k], args[m:]
    xs = [range(x) if np.ndim(x) == 0 and np.asarray(x).dtype.kind in "iu" else x for x in args[k:m]]
    slice_of = dict(zip(function[2][k:m], xs, strict=True))
    if lacking := [p for p, x in slice_of.items() if type(x) is not range and not np.ndim(x)]:
        raise ValueError(f"a slice is an array with a leading axis, or a whole number of steps; {lacking[0]} "
                         "is neither")
    lengths = {p: len(x) for p, x in slice_of.items()}
    if len({*lengths.values()}) != 1:
        raise ValueError(f"the steps of {function[1]} "
                         "are " + (", ".join(f"{n} by {p}" for p, n in lengths.items()) or
                         "not said, since it has no slices: give it a whole number of steps as one"))
    n = next(iter(lengths.values()))
    if not n:
        return Bundle((*carry, *map(np.array, one_step(function, carries, slices, args)[k:])))
    run, outs, t = program(function), [], 0
    try:
        for done, t in enumerate(range(n - 1, -1, -1) if reverse else range(n)):
            inputs = (*carry, *[x[t] for x in xs], *constants)
            try:
                results = run(*inputs)
            except Exception as error:
                if ((said := explained(function, error)) is error
                    and not isinstance(error, (ValueError, TypeError))):
                    raise
                raise ValueError(f"step {t}: {said}") from error
            if done < 2:
                same_kinds(function, carry, results, broadens=not done)
            if done < 2 or any([getattr(y, "dtype", None) is not out.dtype
                                for y, out in zip(results[k:], outs, strict=True)]):
                outs = [*map(room_for, results[k:], outs or itertools.repeat(n))]
            carry = results[:k]
            for y, stacked in zip(results[k:], outs, strict=True):
                stacked[t] = y
    except KeyboardInterrupt as stop:
        deeper = f": {stop}" * bool(stop.args)
        raise KeyboardInterrupt(f"stopped in step {t:,} of {function[1]}{deeper}") from None
    return with_table((*carry, *outs))


def room_for(y: Any, before: Any) -> np.ndarray:
    """Where all y of a scan are stacked: n of them, or those that are in a narrower place already,
    as those of a carry that began as a whole number of Python."""
    dtype = np.asarray(y).dtype
    if isinstance(before, np.ndarray):
        dtype = np.result_type(before, dtype)
        if before.shape[1:] == np.shape(y) and before.dtype == dtype:
            return before
    room = np.empty((len(before) if np.ndim(before) else before, *np.shape(y)), dtype)
    if np.ndim(before):
        room[:] = before.reshape(len(before), *(1,) * (room.ndim - before.ndim), *before.shape[1:])
    return room


def one_step(function, carries, slices, args, reverse=False, *, program=as_python):
    """A value of the shapes that `scan` gives, after one step, and more where these change a carry's kind."""
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
    """The number of steps that a slice makes."""
    return x if np.ndim(x) == 0 else len(x)


def one_of(x: Any) -> Any:
    """What the first step sees of a slice."""
    return np.int64(0) if np.ndim(x) == 0 else x[0] if len(x) else np.zeros(x.shape[1:], x.dtype)


def while_loop(test, function, carries, args, most=None, *, program=as_python):
    """The function on its own results as long as test, of the same arguments, holds; at most `most` times.

    args: a bundle, the first carries, then constants. The bundle of the last carries, and of the steps.
    """
    carry, constants, n = args[:carries], args[carries:], 0
    whether, run = program(test), program(function)
    try:
        while one_truth(test[1], applied(test, (*carry, *constants), whether)[0]):
            if most is not None and n >= most:
                raise ValueError(f"{test[1]} still holds after {n:,} steps of {function[1]}; if it does end, "
                                 "give it more, most=")
            results = applied(function, (*carry, *constants), run)
            if n < 2:
                same_kinds(function, carry, results, broadens=not n)
            carry, n = results, n + 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped in step {n:,} of {function[1]}, while {test[1]} held") from None
    return with_table((*carry, n))


def of_values(*_: Any) -> None:
    raise TypeError("the number of steps does not follow from shapes")


def refuse_arguments(function: Function, args: Any) -> None:
    """Raise ValueError unless args is a bundle of one for each parameter."""
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


def same_kinds(function: Function, carry: Sequence, results: Sequence, broadens: bool) -> None:
    """ValueError where a carry is handed on as something else. The first may broaden: (1, 3) to (5, 3)."""
    for p, old, new in zip(function[2], carry, results, strict=False):
        before, after = np.shape(old), np.shape(new)
        kinds = [x.dtype for x in (old, new) if hasattr(x, "dtype")]
        wider = (len(before) <= len(after)
                 and all(a in (1, b) for a, b in zip(before[::-1], after[::-1], strict=False)))
        if before != after and not (broadens and wider):
            raise ValueError(f"{function[1]} takes {p} of shape {before} and hands it on with shape {after}; "
                             "a carry keeps its shape")
        if len({*kinds}) > 1:
            raise ValueError(f"{function[1]} takes {p} as {kinds[0]} and hands it on as {kinds[1]}; begin "
                             f"with {p} as {kinds[1]}, or end with astype")


def of_function(out, function, args):
    """The operations of its lines, for these arguments."""
    env, total = dict(zip(function[2], args, strict=True)), 0
    for dst, op, names in function[3]:
        inputs = [env[a] if isinstance(a, str) else a for a in names]
        env[dst] = operator_called(op)(*inputs)
        total += (operations(op) or (lambda *_: 0))(env[dst], *inputs)
    return total


def of_scan(out, function, k, slices, args, reverse=False):
    """The operations of a step, as often as there are steps."""
    xs = args[k:k + slices]
    n = length(xs[0])
    return n and n * of_function(out, function, (*args[:k], *map(one_of, xs), *args[k + slices:]))


# ---- for a list from elsewhere -----------------------------------------------------------------------------

RUN = 100_000  # lines that the functions of a list may run


def metered(steps: Sequence, before: Callable[[str, tuple], None],
            after: Callable[[str, tuple, Any], Any]) -> Mapping[str, Callable]:
    """The table for these steps: before(op, args), the value of G, after(op, args, out), whose result it is.

    Where op applies functions, their own lines are asked in its place, once they are run, and of a scan what
    it will stack. Raises ValueError where the functions have run more than RUN lines.
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
        def entrywise(*args: Any) -> Any:
            before(op, args)
            return after(op, args, G[op](*args))

        def applying(*args: Any) -> Any:
            if op == "scan" and is_function(args[0]):
                n, lines = length(args[3][args[1]]), 1 + len(args[0][3])
                if not isinstance(n, float):  # which scan refuses
                    if n * lines > left:
                        raise ValueError(f"{n:,} steps of {args[0][1]} run {n * lines:,} lines: too many")
                    after("stack", (), one_step(*args, program=program))
            return Bundle(G[op](*args, program=program))  # whose derivatives go by G
        if "program" in (getattr(G[op], "__kwdefaults__", None) or ()):
            return applying
        return G[op] if op == "bundle" else entrywise

    return {op: value(op) for lines in (steps, *[function[3] for function in functions_in(steps)])
            for _, op, _ in lines}
