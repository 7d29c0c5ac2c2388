"""Loops, branches and calls of Python functions as one line of a list: on arrays, traced values, registers.

Python's `for` is unrolled, with a line for each operator in each step; a body that these run is written once.
"""
from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ops import Expression, G, f
from ops.loops.bodies import Body, Function
from ops.writer import Symbol, fresh

from ..errors import XManError, with_habits
from ..manager import XMan
from ..traced.arraylike import ArrayLike
from .call import callable_or_refused, constant_output, name_of
from .trace import allowed, parameter_names, unused, watched
from .tracer import CallTape, Tracer, as_constant, is_on, replayed
from .trees import LEAF, flattened_tree, leaf_names, look, unflatten

SLICED = re.compile(r"[\w)\]]\[[^\[\]]*:[^\[\]]*\]")  # x[i:i + 2] in a line of text


@with_habits
def scan(fn: Callable, carry: Any, xs: Any = None, *, length: int | None = None, reverse: bool = False,
         keep: bool = True) -> tuple:
    """(the last carry, all y stacked), where carry, y = fn(carry, x) for each x along the first axis of xs.

        >>> h, H = xman.scan(lambda h, x: (np.tanh(h @ U + x @ W), h), h0, X)

    fn: a function from (carry, x) to (carry, y); values that it takes from outside are the same in all steps.
    carry, xs, y: arrays, numbers and registers, and lists, tuples and dicts of them, or None; a carry keeps
    its shape and precision. If xs is a whole number n, x counts from 0 to n − 1. length: the number of steps,
    if xs is None. reverse: go from the last x to the first; y is stacked in the order of xs. keep: whether
    all carries are kept for the way back, in T times their memory, or else computed again. Raises XManError
    for lengths that differ, for a carry that changes, and for a fn that branches on a value or does not
    return a pair.
    """
    callable_or_refused("scan", fn)
    (first, carries), (slices, xs) = flattened_tree(carry), flattened_tree(xs)
    if length is not None and (not isinstance(length, (int, np.integer)) or length < 0 or slices):
        beside = " beside xs" * bool(slices)
        raise XManError(f"length is the whole number of steps where there are no xs, not {length!r}{beside}")
    if not slices:
        if length is None:
            raise XManError(f"scan of {name_of(fn)} has neither xs nor a number of steps: give it length=100")
        slices = [int(length)]
    k, m, shape = len(first), len(first) + len(slices), []

    def step(fn, *leaves):
        result = fn(unflatten(carries, leaves[:k]), unflatten(xs, leaves[k:m]))
        if not (isinstance(result, tuple) and len(result) == 2):
            raise XManError(f"{name_of(fn)} returned a {type(result).__name__}; scan wants a pair (carry, "
                            "y), y None where there is none")
        (after, next_carry), (y, ys) = [flattened_tree(tree) for tree in result]
        if look(next_carry) != look(carries):
            raise XManError(f"{name_of(fn)} made {next_carry} of the carry {carries}; they have to be alike")
        shape[:] = [ys]
        # A scan stacks all results behind the carries. The carries come again there if they are to be kept
        # for the way back, but not twice if y has them already, as in lambda h, x: (h1, h1).
        return [*after, *y, *[c for c in after if keep and not any(c is output for output in y)]]

    words = leaf_words(fn, [carries, xs], ["t"] if xs is None else ())  # t: the number of the step
    function, outside = function_of(fn, "step", step, words, [*first, *[slice_seen(x) for x in slices]], k)
    bundle = f.bundle(*[entry(x) for x in first], *slices, *outside)
    return applied_in((carries, *shape), f.scan, function, k, m - k, bundle, *[True] * reverse)


@with_habits
def map(fn: Callable, xs: Any) -> Any:
    """All fn(x) stacked, for each x along the first axis of xs: a scan without carries.

    fn, xs: fn's argument and result, and xs, are as for `scan`, which raises the same errors.
    """
    callable_or_refused("map", fn)
    def each(_, x): return None, fn(x)
    # errors and registers have the names of fn and of its parameter, not those of `each`
    each.__name__ = name_of(fn)
    names = "none", *parameter_names(fn, 1)
    each.__wrapped__, each.__signature__ = fn, inspect.Signature([inspect.Parameter(p, 1) for p in names])
    return scan(each, None, xs)[1]


def call(fn: Callable, *args: Any) -> Any:
    """fn(*args) as one line; the way back keeps its results alone, and computes the rest again.

    fn: a function. args: arrays, numbers, registers, and lists, tuples and dicts of them, as fn's result is.
    Raises as `scan`.
    """
    function, inputs, shape = procedure(fn, args, "procedure", "call")
    return applied_in(shape, f.call, function, f.bundle(*inputs))


@with_habits
def cond(c: Any, yes: Callable, no: Callable, *args: Any) -> Any:
    """yes(*args) if the number c is true, else no(*args); the other one is not run (`np.where` runs both).

    c: one number or truth value. yes, no: functions of args that return the same structure. args: as for
    `call`. Raises XManError if the structures differ, and as `scan`.
    """
    (left, right, entries), (shape, shape_of_no) = both_functions("cond", args, yes=yes, no=no)
    if look(shape) != look(shape_of_no):
        raise XManError(f"{name_of(yes)} returns {shape} and {name_of(no)} {shape_of_no}; the branches of cond "
                        "return the same structure")
    c = c if isinstance(c, Expression) else np.asarray(c)[()]
    return applied_in(shape, f.cond, c, left, right, f.bundle(*entries))


@with_habits
def while_loop(test: Callable, fn: Callable, carry: Any, *, most: int = 1_000_000) -> Any:
    """The last carry, where carry = fn(carry) is repeated as long as test(carry) holds.

        >>> xman.while_loop(lambda x: abs(x * x - a) > 1e-12,    # √a by Newton's method
        ...                 lambda x: (x + a / x) / 2, 1.0)

    test: a function from the carry to a truth value. fn: a function from the carry to the next. carry: as for
    `scan`. most: the most steps; XManError if the test still holds after them. Derivatives go through the
    steps that were made.
    """
    if not isinstance(most, (int, np.integer)) or most < 0:
        raise XManError(f"most is the greatest number of steps, a whole number, not {most!r}")
    (whether, step, entries), (truth, after) = both_functions("while_loop", (carry,), test=test, step=fn)
    leaves, structure = flattened_tree(carry)
    if truth is not LEAF or look(after) != look(structure):
        raise XManError(f"{name_of(test)} returns one truth value, and {name_of(fn)} a carry {structure}; "
                        f"found {truth} and {after}")
    return applied_in(structure, f.while_loop, whether, step, len(leaves), f.bundle(*entries), most)


# ---- what they have in common ------------------------------------------------------------------------------

def applied_in(structure: Any, apply: Callable, *args: Any) -> Any:
    """The first results of apply(*args), in this structure. XManError where apply finds something wrong."""
    try:
        bundle = apply(*args)
    except ValueError as error:
        raise error if isinstance(error, XManError) else XManError(str(error)) from None
    return unflatten(structure, (f.item(bundle, i) for i in itertools.count()))


def entry(x: Any) -> Any:
    """A leaf as a bundle holds it."""
    if isinstance(x, Expression) or type(x) in (int, float):
        return x
    if np.asarray(x).dtype.kind not in "biufc":
        raise XManError(f"a loop takes arrays of numbers, and found {x!r}")
    return as_constant(np.asarray(x)[()])


def numbers_within(x: Any) -> Any:
    """The array inside of a traced value, read without recording a guard."""
    while isinstance(x, ArrayLike):
        x = x.value
    return x


def slice_seen(x: Any) -> Any:
    """The example that a step sees of a slice; for a number n a number. XManError if it has no steps."""
    if isinstance(x, Expression) and not isinstance(x, ArrayLike):
        return x
    x = numbers_within(x)
    if np.ndim(x) and np.asarray(x).dtype.kind in "biufc":
        return x[0] if len(x) else np.zeros(np.shape(x)[1:], np.asarray(x).dtype)
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool) and x >= 0:
        return np.int64(0)
    raise XManError(f"a loop goes along the leading axis of its xs, arrays of numbers, and found {x!r}; give "
                    "arrays, a list of numbers as np.array(…), or a whole number of steps")


def leaf_words(fn: Callable, structures: Sequence, counters: Sequence[str] = ()) -> list[str]:
    """A name for each leaf of the arguments: that of fn's parameter, or of the key in a dict."""
    words: list[str] = []
    pairs = zip(parameter_names(fn, len(structures)), structures, strict=True)
    paths = [(name, path) for name, structure in pairs for path in leaf_names(structure, name)]
    names = [key if (key := path.removeprefix(f"{name}_")).isidentifier() else path for name, path in paths]
    for name in [*names, *counters]:
        words.append(unused(name, words))
    return words


def procedure(fn: Callable, args: Sequence, role: str, of: str) -> tuple[Function, list, Any]:
    """(fn(*args) as a literal, its bundle's entries, its result's structure). role: its part in `of`."""
    callable_or_refused(of, fn)
    leaves, structure = flattened_tree(tuple(args))
    shape: list = []

    def run(fn, *leaves):
        ends, result = flattened_tree(fn(*unflatten(structure, leaves)))
        shape[:] = [result]
        return ends
    carries = len(leaves) * (role == "step")
    function, outside = function_of(fn, role, run, leaf_words(fn, structure), leaves, carries)
    return function, [*[entry(x) for x in leaves], *outside], shape[0]


def both_functions(of: str, args: Sequence, **functions: Callable) -> tuple[tuple, list]:
    """(both functions of args, with the parameters of both, and these arguments; the results' structures).

    The common arguments come first, then what the first function takes from outside, then what the second
    alone takes: of (x, U) -> … and (x, b, U) -> …, where x is common, both become functions of (x, U, b).
    """
    procedures = [procedure(fn, args, role, of) for role, fn in functions.items()]
    literals, bundles, shapes = zip(*procedures, strict=True)
    n = len(flattened_tree(tuple(args))[0])
    outside = {id(x): x for entries in bundles for x in entries[n:]}
    words = [{id(x): word for x, word in zip(entries[n:], parameters[n:], strict=True)}
             for (_, _, parameters, *_), entries in zip(literals, bundles, strict=True)]

    def widened(function: Function, names: dict[int, str], spare: dict[int, str]) -> Function:
        registers = {*G, *function[2], *(line[0] for line in function[3])}
        parameters = (*function[2][:n], *(names.get(x) or fresh(spare[x], registers) for x in outside))
        return (*function[:2], parameters, *function[3:])
    first, second = widened(literals[0], *words), widened(literals[1], *words[::-1])
    return (first, second, [*bundles[0][:n], *outside.values()]), [*shapes]


def names_around(fn: Callable) -> dict[int, str]:
    """{id: name} of the values that fn takes from outside."""
    fn, names = inspect.unwrap(fn), {}
    variables = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    for name, cell in zip(variables, getattr(fn, "__closure__", None) or (), strict=False):
        if cell == CellType():  # the variable has no value yet
            continue
        names[id(cell.cell_contents)] = name
        if isinstance(cell.cell_contents, XMan):
            names |= {id(register): word for word, register in cell.cell_contents.namedRegisterItems()}
    return names


def function_of(fn: Callable, role: str, run: Callable, words: Sequence[str],
                examples: Sequence, carries: int = 0) -> tuple[Function, list]:
    """(run(fn, *leaves), which calls fn, as a literal; the values that it took from outside).
    carries: so many results come first and are carries; h is called h1 there.

    Examples that all have numbers are traced as by `trace`; otherwise only registers are known.
    """
    name = unused(name_of(fn), ()) if name_of(fn).isidentifier() else role
    body = Body(words, names_around(fn))
    if any(isinstance(x, Expression) and not isinstance(x, ArrayLike) for x in examples):
        ends, variables = watched(partial(run, fn), body.starts, {}, code_of=fn)
    else:
        ends, variables = by_numbers(fn, run, body, examples)
    for word, value in variables.items():
        if isinstance(value, Symbol) and value.writer is body and value.name is None and allowed(word):
            value.name = word + "1" * (word in words)  # h = tanh(h …) is called h1
    after = [*(word + "1" for word in words[:carries]), *[None] * (len(ends) - carries)]
    return body.function(name, [*zip(after, ends, strict=True)])


def with_traced_arrays(x: Any, tape: CallTape, copies: dict[int, Any]) -> Any:
    """A copy of the function x, in which the arrays that it, and functions that it calls, take from outside
    are on the tape. copies: filled with (object, its copy), by id. Anything else as it is."""
    if id(x) in copies:
        return copies[id(x)][1]
    if type(x) is np.ndarray and x.dtype.kind in "biufc":
        copies[id(x)] = x, Tracer(as_constant(x), tape)
    elif type(x) is FunctionType:
        space, cells = {**x.__globals__}, tuple(CellType() for _ in x.__closure__ or ())
        copy = FunctionType(x.__code__, space, x.__name__, x.__defaults__, cells)
        copy.__kwdefaults__ = x.__kwdefaults__
        copies[id(x)] = x, copy
        again = partial(with_traced_arrays, tape=tape, copies=copies)
        copy.__defaults__ = x.__defaults__ and tuple([again(a) for a in x.__defaults__])
        for cell, old in zip(cells, x.__closure__ or (), strict=True):
            if old != CellType():  # the variable has a value
                cell.cell_contents = again(old.cell_contents)
        for name in {*x.__code__.co_names} & space.keys():
            if getattr(space[name], "__globals__", x.__globals__) is x.__globals__:  # not those of libraries
                space[name] = again(space[name])
    else:
        return x
    return copies[id(x)][1]


def by_numbers(fn: Callable, run: Callable, body: Body, examples: Sequence, arrays_traced: bool = False
               ) -> tuple[list, dict[str, Any]]:
    """The results of run and the variables of fn, as symbols of the body: its lines are first recorded on a
    tape, with numbers, so that shapes are known. arrays_traced: whether arrays from outside are traced too,
    for W[t] of a plain array W, which asks t for its number."""
    with CallTape(exact=False, guards={}) as tape:
        starts = [tape.argument(numbers_within(x)) for x in examples]
        copies: dict[int, Any] = {}
        traced = with_traced_arrays(fn, tape, copies) if arrays_traced else fn
        ends, variables = watched(partial(run, traced), starts, {}, code_of=fn)
        if tape.guards and not arrays_traced:
            return by_numbers(fn, run, body, examples, True)
        if tape.guards:
            decided, line = next(iter(tape.guards.values()))
            instead = "write np.where, or xman.cond for a branch that is costly"
            if decided.dtype.kind in "iu" and SLICED.search(line):
                instead = ("write np.take(x, i + np.arange(2), 0) for x[i:i + 2], and f.take (from xman import f) "
                           "for a plain array x")
            reason = "goes by a value"
            if tape.asking:
                reason = f"calls {tape.asking}, which looks at the numbers of its arguments"
                instead = "call it before or after, or write the loop as a for of Python's"
                if tape.asking == "np.linalg.cholesky":
                    instead = "write f.cholesky (from xman import f), which takes the matrix for symmetric"
            raise XManError(f"{line}: {name_of(fn)} {reason}, and is written once for all; {instead}")
        for end in ends:
            if not is_on(tape, end):
                constant_output("a loop", fn, numbers_within(end))
        inputs = {x.name: symbol for x, symbol in zip(starts, body.starts, strict=True)}
        inputs |= {x.name: x.value for _, x in copies.values() if isinstance(x, Tracer)}
        symbols = replayed(tape, body, inputs, [end.name for end in ends if tape.has(end)])
        for k, (_, parameter) in enumerate(body.outside.values(), 1):
            parameter.name = parameter.name or f"w{k}"
        return ([symbols[end.name] if tape.has(end) else entry(end) for end in ends],
                {word: symbols.get(x.name) for word, x in variables.items() if tape.has(x)})
