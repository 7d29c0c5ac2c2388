"""The tables of docs/sparse.md and docs/taylor.md: sparse derivatives beside CasADi and JAX's dense ones, series beside
jax.experimental.jet.

    python docs/scripts/sparse.py             # ten minutes; pip install casadi jax
"""
from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np
from sparse_programs import PROGRAMS

import xman
from xman.sparse.passes import passes_by_bytes


def medians(calls: list[Callable[[], object]], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The median microseconds of each call, in turns, for three seconds."""
    seconds, end = [[] for _ in calls], clock() + 3
    while clock() < end or len(seconds[0]) < 3:
        for call, times in zip(calls, seconds, strict=True):
            start = clock()
            call()
            times.append(clock() - start)
    return [1e6 * float(np.median(times)) for times in seconds]


def timed(make: Callable[[], object]) -> tuple[object, float]:
    """What make() gives, and the seconds of the processor that it takes."""
    start = time.process_time()
    return make(), time.process_time() - start


def of_casadi(kind: str, fn: Callable, x: np.ndarray) -> tuple[Callable, Callable]:
    """(the function that gives a matrix, a call that writes the entries into memory of its own)."""
    import casadi
    symbol = casadi.SX.sym("x", len(x))
    named = {name: getattr(casadi, name) for name in ("sqrt", "sin", "cos")}
    y = fn(symbol, SimpleNamespace(sum=casadi.sum1, concatenate=lambda arrays: casadi.vertcat(*arrays), **named))
    matrix = casadi.hessian(y, symbol)[0] if kind == "hessian" else casadi.jacobian(y, symbol)
    function = casadi.Function("f", [symbol], [matrix])
    buffer, run = function.buffer()
    entries = np.zeros(matrix.nnz())
    buffer.set_arg(0, memoryview(x))
    buffer.set_res(0, memoryview(entries))
    run()

    def call():  # it holds on to the memory that the buffer points at
        run()
        return buffer, x, entries
    return function, call


def colours_of_casadi(kind: str, function: Callable) -> int:
    pattern = function.sparsity_out(0)
    sides = (pattern, pattern.T), (pattern.T, pattern)
    colourings = [pattern.star_coloring()] if kind == "hessian" else [one.uni_coloring(other) for one, other in sides]
    return min(colouring.size2() for colouring in colourings)


def of_xman(kind: str, fn: Callable, x: np.ndarray) -> Callable:
    passes_by_bytes.cache_clear()
    matrix = getattr(xman, f"sparse_{kind}")(lambda x: fn(x, np))
    matrix(x)
    return matrix


def of_jax(kind: str, fn: Callable, x: np.ndarray) -> Callable:
    import jax
    jax.config.update("jax_enable_x64", True)
    dense = jax.jit(getattr(jax, {"jacobian": "jacfwd"}.get(kind, kind))(lambda x: fn(x, jax.numpy)))
    matrix = lambda x: jax.block_until_ready(dense(x))
    matrix(x)
    return matrix


def of_list(kind: str, fn: Callable, x: np.ndarray) -> tuple[int, Callable]:
    """The passes of the compressed list, and its call alone, compiled."""
    steps = xman.trace(lambda x: fn(x, np), x)
    make = getattr(xman, kind.capitalize())
    compressed = make(steps, steps.outputs[0], ["x"], sparse=True).compressed({"x": x})
    program = xman.compile(compressed.steps, [compressed.entries])
    program.settle()
    program({"x": x})
    return compressed.passes, lambda: program({"x": x})


def sparse_row(name: str, n: int | None = None) -> str:
    """A line of the table. n: about how many columns; None: as many as the table has, and JAX's dense matrix too."""
    kind, make, usual = PROGRAMS[name]
    fn, columns = make(n or usual)
    x, makers, set_ups = np.random.default_rng(0).random(columns), [of_xman, of_casadi, *[of_jax] * (n is None)], []
    for _ in range(3 if n is None else 1):
        made, seconds = zip(*(timed(partial(maker, kind, fn, x)) for maker in makers), strict=True)
        set_ups.append(seconds)
    matrix, (function, run), *dense = made
    passes, program = of_list(kind, fn, x)
    expected, ours = function(x).sparse(), matrix(x)
    assert abs(ours - expected).max() < 1e-8 * abs(expected).max()
    assert all(np.allclose(other(x), ours.toarray()) for other in dense)
    matrix.compiled.settle()
    # JAX's by itself: its large matrices would put the others' memory out of the caches
    rounds = [lambda: matrix(x), lambda: function(x), program, run], [partial(other, x) for other in dense]
    micros = [f"{t:,.0f}" for calls in rounds if calls for t in medians(calls, time.process_time)]
    of_set_up, of_call = [f"{1e3 * t:,.0f}" for t in np.median(set_ups, 0)], [*micros[:2], *micros[4:]]
    pairs = [f"{passes}", f"{colours_of_casadi(kind, function)}"], of_set_up, of_call, micros[2:4]
    return f"| {name} | {columns:,} | {ours.nnz:,} | {' | '.join(map(', '.join, pairs))} |"


def taylor_row(name: str, fn: Callable, order: int) -> str:
    import jax
    from jax.experimental.jet import jet
    jax.config.update("jax_enable_x64", True)
    x, v = np.linspace(0.1, 0.9, 1000), np.ones(1000)
    ours = xman.jit(lambda x, v: xman.taylor(lambda x: fn(np, x), x, v, order))
    theirs = jax.jit(lambda x, v: jet(lambda x: fn(jax.numpy, x), (x,), ([v] + [0 * v] * (order - 1),)))
    (coefficients, set_up), (_, set_up_of_jet) = timed(lambda: ours(x, v)), timed(lambda: jax.block_until_ready(theirs(x, v)))
    factorials = np.cumprod(np.arange(1.0, order + 1))
    for k, (y, z) in enumerate(zip(coefficients[1:], theirs(x, v)[1], strict=True)):
        np.testing.assert_allclose(y * factorials[k], z, rtol=1e-8, atol=1e-8)
    calls = medians([lambda: ours(x, v), lambda: jax.block_until_ready(theirs(x, v))])
    return f"| {name} | {order} | {set_up:.2f} s, {set_up_of_jet:.2f} s | {calls[0]:,.0f} µs, {calls[1]:,.0f} µs |"


if __name__ == "__main__":
    for library in of_xman, of_casadi, of_jax:  # they import what they need
        library("jacobian", lambda x, _: x, np.ones(9))
    for n, third in (None, ", JAX dense"), (100_000, ""):
        libraries = "xman, CasADi" + third
        print(f"\n| {libraries} | columns | entries | passes | set-up, ms | a matrix, µs | entries alone, µs |\n{'|---' * 7}|")
        for name in PROGRAMS:
            print(sparse_row(name, n), flush=True)
    print("\n| | order | set-up: xman, jet | a call: xman, jet |\n|---|---|---|---|")
    for name, fn in {"exp(sin(x))": lambda np, x: np.exp(np.sin(x)), "tanh(x)/(1 + x²)": lambda np, x: np.tanh(x) / (1 + x * x),
                     "log(1 + exp(x)) sqrt(x)": lambda np, x: np.log(1 + np.exp(x)) * np.sqrt(x)}.items():
        for order in (3, 8):
            print(taylor_row(name, fn, order), flush=True)
