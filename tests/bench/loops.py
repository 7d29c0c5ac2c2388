"""python -m tests.bench.loops: the gradient of a recurrent network of T steps, beside `lax.scan`, as a table of docs/loops.md.

In turns, one thread; microseconds of the processor's time a step, medians;
megabytes beside the inputs, as either compiler plans them.
"""
from __future__ import annotations

import math
import os
import statistics
import tempfile
import time
from functools import partial

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
               "XMAN_CACHE": tempfile.mkdtemp()}

import numpy as np

import xman

BATCH, FEATURES, HIDDEN = 4, 16, 32


def loss(of, scan, within, h0, X, U, W):
    """The square of the last state; the steps in one loop, or where X has another axis in loops of loops."""
    def step(h, x):
        return of.tanh(h @ U + x @ W), None
    if X.ndim == 3:
        return of.sum(scan(step, h0, X)[0] ** 2)
    return of.sum(scan(lambda h, rows: (within(step, h, rows)[0], None), h0, X)[0] ** 2)


def both(shape: tuple[int, ...], theirs, random) -> tuple[int, str, str, str]:
    """The lines of the gradient for inputs of so many steps; seconds of the first call, microseconds a step and megabytes."""
    import jax
    from jax import numpy as jnp
    given = {"h0": np.zeros((BATCH, HIDDEN)), "X": random.normal(size=(*shape, BATCH, FEATURES)),
             "U": random.normal(size=(HIDDEN, HIDDEN)) / HIDDEN, "W": random.normal(size=(FEATURES, HIDDEN)) / FEATURES}
    ours = partial(loss, np, xman.scan, partial(xman.scan, keep=False))
    steps = xman.gradient(xman.trace(lambda h0, X, U, W: ours(h0, X, U, W), *given.values()), "result", ["U", "W"])
    run, arrays = xman.compile(steps, ["result", "dresult_dU", "dresult_dW"], "llvm"), [*map(jnp.asarray, given.values())]
    calls = (lambda: run(given)), (lambda: jax.block_until_ready(theirs(*arrays)))
    built = [timed(call) for call in calls]
    np.testing.assert_allclose(run(given)["dresult_dU"], theirs(*arrays)[1][0], rtol=1e-9, atol=1e-12)
    assert run.engine == "llvm" and not run.plan.calls
    n = math.prod(shape)
    columns = zip(*[[timed(call) for call in calls] for _ in range(9 if n < 100_000 else 3)], strict=True)
    planned = theirs.lower(*arrays).compile().memory_analysis()
    memory = run.plan.peak, planned.temp_size_in_bytes + planned.output_size_in_bytes
    return (len(str(steps).splitlines()), "{:.2f}, {:.2f}".format(*built),
            ", ".join(f"{statistics.median(times) / n * 1e6:.1f}" for times in columns),
            ", ".join(f"{size / 1e6:.2f}" for size in memory))


def main() -> None:
    import jax
    from jax import lax
    from jax import numpy as jnp
    jax.config.update("jax_enable_x64", True)
    again = lambda step, h, rows: jax.checkpoint(lambda h, rows: lax.scan(step, h, rows))(h, rows)
    theirs = jax.jit(jax.value_and_grad(partial(loss, jnp, lax.scan, again), argnums=(2, 3)))
    random = np.random.default_rng(0)
    titles = "T", "lines", "compile s, lax's", "a step µs, lax's", "MB, lax's", "√T: a step µs, lax's", "MB, lax's"
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    for n, root in ((10, 5), (100, 10), (1_000, 40), (10_000, 100), (100_000, 400)):
        lines, built, time_, memory = both((n,), theirs, random)
        print(f"| {n:,} | {lines} | {built} | {time_} | {memory} | {' | '.join(both((n // root, root), theirs, random)[2:])} |",
              flush=True)


def timed(call) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


if __name__ == "__main__":
    main()
