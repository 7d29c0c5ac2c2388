"""Functions that a list applies, in JAX: `jax.lax.scan`, `jax.lax.cond`, and a bundle is a tuple."""
from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ops import G
from ops.loops.bodies import Function

from ...wengert import Steps
from ..program import Kind, kind_of
from ..text import Text
from .table import FINITE, indices


def operators_on_bundles(refused: Callable, call_text: Callable, casts: Callable) -> dict[str, Callable]:
    """The operators on bundles. Of the engine: why a line is not for JAX, its text and its casts."""
    import jax
    from jax import lax
    from jax import numpy as jnp

    def body(function: Function) -> Callable:
        _, name, parameters, lines, results = function

        def run(*arrays: Any) -> tuple:
            text, env = Text(()), dict(zip(parameters, arrays, strict=True))
            values: dict[str, Any] = {p: np.ones(a.shape, a.dtype)[()] if hasattr(a, "dtype") else a
                                      for p, a in env.items()}
            for dst, op, args in lines:
                with np.errstate(all="ignore"):
                    values[dst] = G[op](*[values[a] if isinstance(a, str) else a for a in args])
                kinds = {x: kind for x, v in values.items() if (kind := kind_of(v))}
                if op in APPLIED:
                    env[dst] = found[op](*[env[a] if isinstance(a, str) else a for a in args])
                    continue
                if reason := refused((dst, op, args), kinds) or looked_at(op, args, kinds):
                    raise ValueError(f"{dst} of {name} {reason}")
                call = call_text(text, op, args, casts(dst, op, args, kinds))
                env[dst] = builtins.eval(call, dict(text.objects), env)
            return tuple([env[r] for r in results])
        return run

    def scan(function: Function, k: int, slices: int, args: tuple, reverse: bool = False) -> tuple:
        step, rest = body(function), args[k + slices:]
        xs = [jnp.arange(x, dtype=int) if type(x) is int else x for x in args[k:k + slices]]
        first = jax.eval_shape(lambda: step(*args[:k], *[x[0] for x in xs], *rest)[:k])
        carry = tuple(jnp.broadcast_to(jnp.asarray(c, like.dtype), like.shape)
                      for c, like in zip(args[:k], first, strict=True))

        def one(carry: tuple, x: tuple) -> tuple:
            results = step(*carry, *x, *rest)
            return results[:k], results[k:]
        last, outs = lax.scan(one, carry, tuple(xs), reverse=reverse)
        return *last, *outs

    found: Mapping[str, Callable] = {
        "bundle": lambda *arrays: arrays, "item": lambda b, i: b[i], "scan": scan,
        "call": lambda function, args: body(function)(*args),
        "cond": lambda c, yes, no, args: lax.cond(c.astype(bool), body(yes), body(no), *args)}
    return dict(found)


def looked_at(op: str, args: tuple, kinds: Mapping[str, Kind]) -> str:
    """Why a line of a loop is not for JAX: NumPy, which has the last word on it, cannot be asked there."""
    return "may raise for a value" if op in FINITE or any(True for _ in indices(op, args, kinds)) else ""


def together(steps: Steps, why: dict[str, str]) -> dict[str, str]:
    """`why` for all lines on bundles where it is for one: no bundle goes from JAX to NumPy or back."""
    if not any(op in APPLIED and dst in why for dst, op, _ in steps):
        return why
    return why | {dst: why.get(dst, "is of a bundle that NumPy has") for dst, op, _ in steps if op in APPLIED}


APPLIED = ("bundle", "item", "scan", "call", "cond")
