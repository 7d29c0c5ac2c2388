"""The figures of docs/scale.md: run it under mpiexec -n 2, on two cores that nobody else uses.

    mpiexec -n 2 python docs/scripts/scaling.py
"""
from __future__ import annotations

import time
from functools import partial

import numpy as np

from xman import models
from xman.scale import shares, workers
from xman.train import fit

HERE = workers()
ROUNDS = 200


def fastest(call) -> float:
    """The least seconds of a call by all workers at once: what others do on the machine is not in it."""
    found = []
    for _ in range(ROUNDS):
        HERE.comm.Barrier()
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return max(HERE.gathered(min(found)))


def step_of(model, X, y, accumulate=1) -> float:
    """Seconds of a step: the least that an epoch of two minibatches took, over the two, of several epochs."""
    seconds = []
    fit(model, (X, y), epochs=40, batch_size=len(y) // 2, lr=0.01, engine="numpy", progress=False, accumulate=accumulate,
        callbacks=[lambda row, parameters: seconds.append(row["seconds"])])
    return max(HERE.gathered(min(seconds[1:]) / 2))


def main() -> None:
    random = np.random.default_rng(0)
    sizes = [250, 25_000, 170_000, 1_700_000]
    reduce = {n: fastest(partial(HERE.reduce, np.ones(n, np.float32))) for n in sizes}
    small, large = reduce[sizes[0]], reduce[sizes[-1]]
    latency, bandwidth = small / 2, 4 * sizes[-1] / (large - small)
    rows = {
        "mlp-m, 128 rows": (models.MLP([784, 256, 128, 10], activation="tanh"), random.normal(size=(256, 784)), 10),
        "mlp-m, 2048 rows": (models.MLP([784, 256, 128, 10], activation="tanh"), random.normal(size=(4096, 784)), 10),
        "LSTM, 64 rows": (models.LSTM(180, 50, 5, steps=10), random.normal(size=(128, 10, 180)), 5)}
    if not HERE.rank:
        print("all-reduce of 2:", {n: f"{1e6 * s:.0f} us" for n, s in reduce.items()},
              f"latency {1e6 * latency:.1f} us, bandwidth {bandwidth / 1e9:.2f} GB/s", flush=True)
    for name, (model, X, classes) in rows.items():
        X, y = X.astype(np.float32), random.integers(0, classes, len(X))
        both = step_of(model, X, y)
        count = sum(w.size for w in fit(model, (X[:8], y[:8]), epochs=0, progress=False).parameters.values())
        size, comm, HERE.size, HERE.comm = HERE.size, HERE.comm, 1, None
        # one of them alone, while the other waits: what a step takes without workers
        kept, shares.workers = shares.workers, lambda: HERE
        alone, half = np.inf, np.inf
        comm.Barrier()
        if not HERE.rank:
            alone, half = step_of(model, X, y), step_of(model, X[::2], y[::2])
        comm.Barrier()
        shares.workers, HERE.size, HERE.comm = kept, size, comm
        if not HERE.rank:
            moved = 4 * count / bandwidth + 2 * latency
            print(f"{name}: {count:,} parameters; 1 worker {1e3 * alone:.2f} ms, half the rows {1e3 * half:.2f} ms, all-reduce "
                  f"{1e3 * moved:.2f} ms; 2 workers predicted {1e3 * (half + moved):.2f} ms, measured {1e3 * both:.2f} ms; "
                  f"efficiency {alone / both / 2:.2f}, by the model {alone / (half + moved) / 2:.2f}", flush=True)


if __name__ == "__main__":
    main()
