"""Lines in JAX: how one is computed, and why JAX refuses one. A scan becomes `jax.lax.scan`, a branch becomes
`jax.lax.cond`, and a bundle becomes a tuple."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from ops import facts_of
from ops.loops.bodies import Function

from ...interpreters import eval
from ...wengert import Line, WengertList, registers
from ..program import Kind
from ..specialise.kinds import kind_of
from .table import FINITE, INEXACT, LABELS, RUN, indices

Kinds = Mapping[str, Kind]


def computed(line: Line, values: Mapping[str, Any]) -> Any:
    """The result of a line for values of JAX."""
    _, op, args = line
    return (OF_BUNDLES.get(op) or RUN[op])(*[values[a] if isinstance(a, str) else a for a in args])


def refused(line: Line, kinds: Kinds) -> str:
    """Why JAX cannot compute a line; "" if it can."""
    dst, op, args = line
    if op not in RUN:
        return "is not in the table"
    if strange := [a for a in (dst, *args) if isinstance(a, str) and a not in kinds]:
        return f"has {strange[0]}, which is no array of JAX"
    if mask := [a for a, _, _ in indices(op, args, kinds) if kinds[a].dtype.kind == "b" and op not in LABELS]:
        return f"has as many entries as {mask[0]} picks"
    facts, kind, of = facts_of(op), kinds[dst].dtype.kind, [kinds[a].dtype.kind for a in registers(args)]
    # a formula is for floats: what it subtracts may leave the range of whole numbers
    of_floats = facts.formula and not facts.flow and kind == "f"
    if (op in INEXACT and kind != "f" or of_floats and "f" not in of[:1]
        or op == "astype" and "f" in of and kind in "iu" or facts.gives is bool and {*of} >= {"i", "u"}):
        return "is of whole numbers, which JAX takes otherwise"
    return ""


def body(function: Function) -> Callable:
    """A function of the list, on arrays of JAX. ValueError if JAX cannot compute a line, or if NumPy has to
    check its values, which it cannot do inside of a loop."""
    _, name, parameters, lines, results = function

    def run(*arrays: Any) -> tuple:
        values = dict(zip(parameters, arrays, strict=True))
        ones = {p: np.ones(a.shape, a.dtype)[()] if hasattr(a, "dtype") else a for p, a in values.items()}
        kinds = {x: kind for x, v in eval(WengertList(lines), ones).items() if (kind := kind_of(v))}
        for line in lines:
            dst, op, args = line
            if op not in OF_BUNDLES:
                raises = op in FINITE or any(True for _ in indices(op, args, kinds))
                if reason := refused(line, kinds) or "may raise for a value" * raises:
                    raise ValueError(f"{dst} of {name} {reason}")
            values[dst] = computed(line, values)
        return tuple([values[r] for r in results])
    return run


def scan(function: Function, k: int, slices: int, args: tuple, reverse: bool = False) -> tuple:
    run, constants = body(function), args[k + slices:]
    xs = [jnp.arange(x, dtype=int) if type(x) is int else x for x in args[k:k + slices]]
    first, after_first = (-1, slice(-1)) if reverse else (0, slice(1, None))

    def step(carry: tuple, x: tuple) -> tuple:
        results = run(*carry, *x, *constants)
        return results[:k], results[k:]
    begun, carry = [], args[:k]
    likes = jax.eval_shape(lambda: step(carry, [x[first] for x in xs])[0])
    if any(np.shape(c) != like.shape for c, like in zip(carry, likes, strict=True)):
        carry, begun = step(carry, [x[first] for x in xs])  # alone: it can change a carry's shape
        xs = [x[after_first] for x in xs]
    carry = tuple(jnp.asarray(c, like.dtype) for c, like in zip(carry, likes, strict=True))
    last, outs = lax.scan(step, carry, tuple(xs), reverse=reverse)
    if begun:
        outs = [jnp.concatenate([out, x[None]] if reverse else [x[None], out])
                for x, out in zip(begun, outs, strict=True)]
    return *last, *outs


OF_BUNDLES: dict[str, Callable] = {
    "bundle": lambda *arrays: arrays, "item": lambda b, i: b[i], "scan": scan,
    "call": lambda function, args: body(function)(*args),
    "cond": lambda c, yes, no, args: lax.cond(c.astype(bool), body(yes), body(no), *args)}
