"""The tables of docs/sparse.md and docs/taylor.md: sparse derivatives beside CasADi, series beside jax.experimental.jet.

    python docs/scripts/sparse.py             # two minutes; pip install casadi jax
"""
from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

import xman

# functions of the point and of the library's sum
PROGRAMS: dict[str, tuple[str, Callable]] = {
    "Burgers' equation, Jacobian": (
        "jacobian", lambda u, _: u[1:-1] * (u[2:] - u[:-2]) / 2 - 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])),
    "an arrow, Hessian": ("hessian", lambda x, total: total(x[0] * x[1:] ** 2) + x[0] ** 4),
    "Rosenbrock's function, Hessian": ("hessian", lambda x, total: total(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))}


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
    y = fn(symbol, casadi.sum1)
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


def of_xman(kind: str, fn: Callable, x: np.ndarray) -> Callable:
    matrix = getattr(xman, f"sparse_{kind}")(lambda x: fn(x, np.sum))
    matrix(x)
    return matrix


def program_of_list(kind: str, fn: Callable, x: np.ndarray) -> Callable:
    """The call of the compressed list alone, compiled."""
    steps = xman.trace(lambda x: fn(x, np.sum), x)
    make = getattr(xman, kind.capitalize())
    compressed = make(steps, steps.outputs[0], ["x"], sparse=True).compressed({"x": x})
    program = xman.compile(compressed.steps, [compressed.entries])
    program.settle()
    program({"x": x})
    return lambda: program({"x": x})


def sparse_row(name: str, n: int) -> str:
    (kind, fn), draw = PROGRAMS[name], np.random.default_rng(0)
    set_ups = []
    for size in range(n, n + 5 if n < 10_000 else n + 1):  # other sizes, since colours are remembered
        x = draw.random(size)
        (matrix, ours), ((function, run), theirs) = (timed(partial(make, kind, fn, x)) for make in (of_xman, of_casadi))
        set_ups.append((ours, theirs))
    program = program_of_list(kind, fn, x)
    assert abs(matrix(x) - function(x).sparse()).max() < 1e-9
    matrix.compiled.settle()
    micros = [f"{t:,.0f}" for t in medians([lambda: matrix(x), lambda: function(x), program, run], time.process_time)]
    seconds = [f"{1e3 * t:,.0f}" for t in np.median(set_ups, 0)]
    return f"| {name} | {n:,} | {' | '.join(', '.join(pair) for pair in (seconds, micros[:2], micros[2:]))} |"


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
    for library in of_xman, of_casadi:  # they import what they need
        library("jacobian", lambda x, _: x, np.ones(9))
    print("| xman, CasADi | columns | set-up, ms | a matrix, µs | its entries alone, µs |\n|---|---|---|---|---|")
    for name in PROGRAMS:
        for n in (1_000, 100_000):
            print(sparse_row(name, n), flush=True)
    print("\n| | order | set-up: xman, jet | a call: xman, jet |\n|---|---|---|---|")
    for name, fn in {"exp(sin(x))": lambda np, x: np.exp(np.sin(x)), "tanh(x)/(1 + x²)": lambda np, x: np.tanh(x) / (1 + x * x),
                     "log(1 + exp(x)) sqrt(x)": lambda np, x: np.log(1 + np.exp(x)) * np.sqrt(x)}.items():
        for order in (3, 8):
            print(taylor_row(name, fn, order), flush=True)
