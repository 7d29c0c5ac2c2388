"""python -m tests.bench.rolled [turns or programs …]: loops that Python wrote out, found again, beside JAX, as a table.

Each row is a program of `programs_of_loops` with so many turns: lines as traced and as rolled; seconds of the first three
calls and microseconds of a later one (processor time, medians) of `jit(value_and_grad)`, of `jax.jit(jax.value_and_grad)` of the
same Python loop (not above 300 turns, where its first call takes minutes), and of the gradient of the rolled list on the engine
jax, where it is a `lax.scan`.
"""
from __future__ import annotations

import statistics
import sys
import types

import numpy as np

import xman
from tests.passes import programs_of_loops as programs
from tests.passes.test_roll import computed

from .loops import timed

r, scaled = programs.r, programs.scaled


def rows(n: int) -> dict:
    """By program its arguments for n turns."""
    square = lambda k: (np.eye(k) + 0.1 * r((k, k))) / 2
    return {
        programs.garch: (-2.0, 0.1, 0.8, r(n)), programs.horner: (0.7, r(n)), programs.products: (1 + r(n) / n,),
        programs.rnn: (r((2, n, 3)), scaled(3, 4), scaled(4, 4), np.zeros((2, 4))),
        programs.gru: (r((n, 1, 3)), scaled(3, 3, 4), scaled(3, 4, 4), np.zeros((1, 4))),
        programs.lstm: (r((n, 1, 3)), scaled(3, 16), scaled(4, 16), np.zeros((1, 4)), np.zeros((1, 4))),
        programs.crf: (r((n, 4)), scaled(4, 4)),
        programs.kalman: (r(2), np.eye(2), scaled(2, 2), np.eye(2), r((n, 2))),
        programs.regulator: (r(3), r((n, 2)), scaled(3, 3), scaled(3, 2)),
        programs.attention: (r((4, 3)), scaled(n, 3, 3), scaled(n, 3, 3), scaled(n, 3, 3)),
        programs.backwards: (r(n),), programs.every_other: (r(2 * n),), programs.columns: (r((3, n, 2)),),
        programs.diagonal: (square(min(n, 1000)),), programs.windows: (r(n), r(3)),
        programs.planes: (r((min(n, 100), 3, min(n, 100))),),
    }


def for_jax(fn):
    """The function with JAX's NumPy, and JAX's own of our activations."""
    import jax
    from jax import numpy as jnp
    ours = types.SimpleNamespace(sigmoid=jax.nn.sigmoid, softmax=jax.nn.softmax, logsumexp=jax.scipy.special.logsumexp)
    return types.FunctionType(fn.__code__, {**fn.__globals__, "np": jnp, "f": ours}, fn.__name__, fn.__defaults__)


def measured(call, settle=lambda: None) -> str:
    first = sum(timed(call) for _ in range(3))  # plain Python, the trace and the program, where it is `jit` of auto
    settle()
    return f"{first:.2f}, {statistics.median(timed(call) for _ in range(50)) * 1e6:,.0f}"


def row(fn, args: tuple, n: int) -> list[str]:
    import jax
    total = lambda *args: np.sum(fn(*args))
    steps, values = programs.listed(fn, args)
    rolled = xman.roll(steps, values)
    assert all(np.array_equal(xman.eval(steps, values)[x], xman.eval(rolled, values)[x]) for x in steps.outputs)
    numbers: dict = {}
    if n <= 300:
        assert computed(xman.unroll(rolled, values), values, numbers) == computed(steps, values, numbers)
    run = xman.jit(xman.value_and_grad(total, tuple(range(len(args)))))
    cells = [f"{len(steps):,}", str(len(rolled)), measured(lambda: run(*args), run.settle)]
    if n <= 300:
        theirs = for_jax(fn)
        jitted = jax.jit(jax.value_and_grad(lambda *args: jax.numpy.sum(theirs(*args)), tuple(range(len(args)))))
        np.testing.assert_allclose(jitted(*args)[1][0], run(*args)[1][0], rtol=1e-7, atol=1e-9)
        jax.clear_caches()
        jitted = jax.jit(jax.value_and_grad(lambda *args: jax.numpy.sum(theirs(*args)), tuple(range(len(args)))))
        cells.append(measured(lambda: jax.block_until_ready(jitted(*args))))
    else:
        cells.append("–")
    (out,) = rolled.outputs
    derivative = xman.gradient(rolled, out, rolled.inputs)
    scan = xman.compile(derivative, [out, *(f"d{out}_d{x}" for x in rolled.inputs)], engine="jax")
    arrays = {x: jax.numpy.asarray(v) for x, v in values.items()}
    return [*cells, measured(lambda: jax.block_until_ready(scan(arrays)))]


def main(counts: list[int], names: list[str]) -> None:
    import jax
    jax.config.update("jax_enable_x64", True)
    titles = "program", "turns", "lines", "rolled", "jit: first three s, call µs", "JAX's", "lax.scan's"
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    for n in counts:
        for fn, args in rows(n).items():
            if fn.__name__ not in (names or [fn.__name__]):
                continue
            print(f"| {fn.__name__} | {n:,} | {' | '.join(row(fn, args, n))} |", flush=True)


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:] if x.isdigit()] or [10, 100, 1_000, 10_000], [x for x in sys.argv[1:] if x.isalpha()])
