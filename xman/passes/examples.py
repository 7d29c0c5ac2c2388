"""Examples of all registers in their shapes and precisions, most of them hollow, for passes and engines.

All entries of a hollow array are one number in memory. The kind of a row says how to compute its result for
hollow arguments: an elementwise row is computed for one entry.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

import ops
from ops.loops import ROWS
from ops.loops.bodies import as_python
from ops.loops.values import cond, has_loops
from ops.silence import silent

from ..wengert import Line, registers


class DependsOnValues(Exception):
    """The shape of a line's result depends on values, and not on shapes alone."""


def alongside(op: str) -> bool:
    """Whether the shape of op's result follows from shapes, even if arguments are whole numbers."""
    facts = ops.facts_of(op)
    return facts.elementwise or facts.like is not None and facts.flow == "moved"


def shaping(op: str, args: tuple, cycles: int) -> tuple:
    """The arguments whose values may give the result its shape, as masks and numbers of steps do."""
    if op in ROWS:
        return () if cycles and op == "bundle" else args[3:] if ops.G[op] is cond else args
    return () if alongside(op) or isinstance(ops.G[op], np.ufunc) else args[1:]


@silent
def examples(lines: Iterable[Line], inputs: Mapping[str, Any], fixed: Collection[str] = (),
             cycles: int = 0) -> dict[str, Any]:
    """An example of every register in its shape and precision; hollow if it depends on arrays of floats.

    A register that depends only on whole numbers, truth values and registers in `fixed` has its real value.
    cycles: each `while_loop` counts as so many steps. Raises DependsOnValues where this does not give the
    shape, and whatever an operator raises.
    """
    if any(isinstance(v, ops.Expression) for v in inputs.values()):
        raise DependsOnValues("what stands for numbers")
    floats = {x for x, v in inputs.items() if x not in fixed and np.asarray(v).dtype.kind == "f"}
    values = {x: hollow(v) if x in floats else v for x, v in inputs.items()}
    for dst, op, args in lines:
        operands = [values[a] if isinstance(a, str) else a for a in args]
        if cycles and op == "while_loop":
            if floats.isdisjoint(registers(args)):
                raise DependsOnValues(op)
            floats.add(dst)
            values[dst] = after_cycles(cycles, *operands)
        elif cycles and op == "item" and type(operands[0][operands[1]]) is int:
            values[dst] = operands[0][operands[1]]  # the item is a number of steps
        elif floats.isdisjoint(registers(args)):
            values[dst] = ops.G[op](*operands)
        else:
            masks = [values[a] for a in registers(shaping(op, args, cycles)) if a in floats]
            if any([not isinstance(x, ops.Bundle) and np.asarray(x).dtype.kind != "f" for x in masks]):
                raise DependsOnValues(op)
            floats.add(dst)
            values[dst] = example(op, operands, cycles)
    return values


def program_for_examples(cycles: int, function: tuple) -> Callable:
    """The function, from examples to examples: it does not run loops that end on values."""
    _, _, parameters, lines, results = function

    def run(*args: Any) -> tuple:
        values = examples(lines, dict(zip(parameters, args, strict=True)), (), cycles)
        return tuple([values[r] for r in results])
    return run if has_loops(function, "while_loop") else as_python(function)


def example(op: str, args: Iterable[Any], cycles: int = 0) -> Any:
    """The result of op for arguments of which some are hollow: right in shape and precision, and hollow."""
    facts, args = ops.facts_of(op), [*args]
    value = facts.example or ops.G[op]
    if "program" in (getattr(value, "__kwdefaults__", None) or ()):  # it applies functions
        value = functools.partial(value, program=functools.partial(program_for_examples, cycles))
    if ops.G[op] is cond:  # either branch may be taken
        ways = [value(way, *args[1:]) for way in (True, False)]
        if len({tuple([(np.shape(x), np.asarray(x).dtype) for x in way]) for way in ways}) > 1:
            raise DependsOnValues(op)
        return ops.Bundle(map(hollow, ways[0]))
    if op not in ops.table.OURS and not facts.elementwise and not facts.example:
        raise DependsOnValues(op)
    labels = any([type(a) is np.ndarray and a.dtype.kind in "iu" for a in args])  # may be one a row
    if isinstance(value, np.ufunc) or facts.elementwise and not labels:
        out = (of_ones(value, *[(a.ndim, a.dtype) for a in args])
               if all([type(a) is np.ndarray for a in args]) else
               value(*[np.ones((1,) * a.ndim, a.dtype) if type(a) is np.ndarray else a for a in args]))
        shape = np.broadcast_shapes(*map(np.shape, args))
        return np.broadcast_to(out.reshape(()), shape) if type(out) is np.ndarray else out
    try:
        return hollow(value(*args))
    except np.linalg.LinAlgError:  # a matrix of ones has no inverse
        return hollow(value(*map(invertible, args)))


@functools.lru_cache(1000)
def of_ones(value: Callable, *kinds: tuple[int, np.dtype]) -> Any:
    """The result of a function for ones of these (axes, precision). It is cached: many lines are alike."""
    return value(*[np.ones((1,) * axes, dtype) for axes, dtype in kinds])


def after_cycles(cycles: int, test: tuple, function: tuple, k: int, args: tuple, limit: Any = None) -> tuple:
    """The result of a loop of so many cycles. DependsOnValues if its carries change their kinds, as it may
    make no step."""
    carry = program_for_examples(cycles, function)(*args)
    if any(np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype
           for a, b in zip(args, carry, strict=False)):
        raise DependsOnValues("while_loop")
    return ops.Bundle((*map(hollow, carry[:k]), cycles))


def hollow(x: Any) -> Any:
    return np.broadcast_to(np.ones((), x.dtype), x.shape) if type(x) is np.ndarray and x.size > 1 else x


def invertible(x: Any) -> Any:
    """The unit matrix in place of a square hollow matrix."""
    if type(x) is not np.ndarray or x.ndim < 2 or x.shape[-1] != x.shape[-2] or any(x.strides):
        return x
    return np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
