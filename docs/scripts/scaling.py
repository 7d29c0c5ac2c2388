"""The figures of docs/scale.md, on a machine whose cores nobody else uses; a minute or two, 0.5 GB in TMPDIR.

    python docs/scripts/scaling.py            # prints the constants and the table
    python docs/scripts/scaling.py 1 2 4      # for so many workers; of more than there are cores the prediction alone
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from xman import models
from xman.scale import stream, workers
from xman.scale.launch import mpiexec
from xman.train import fit

ROWS, BLOCK, TABLE = 10_000_000, 100_000, 4096  # of the table, and of a step of it
SIZES = 250, 25_000, 235_146, 1_700_000  # numbers of an all-reduce
RANDOM = np.random.default_rng(0)
NETWORK = lambda: models.MLP([784, 256, 128, 10], activation="tanh")
CASES = {  # the model, the shape of a row, classes, rows of a step
    "mlp-m, 128 rows": (NETWORK, (784,), 10, 128), "mlp-m, 2048 rows": (NETWORK, (784,), 10, 2048),
    "LSTM, 64 rows": (lambda: models.LSTM(180, 50, 5, steps=10), (10, 180), 5, 64)}


def of_all(numbers: list[float]) -> float:
    """The median, of the slowest worker."""
    return max(workers().gathered(float(np.median(numbers))))


def reduced(n: int) -> float:
    """Seconds of an all-reduce of so many float32."""
    buffer, seconds = np.ones(n, np.float32), []
    for _ in range(100):
        workers().gathered(0)
        start = time.perf_counter()
        workers().reduce(buffer)
        seconds.append(time.perf_counter() - start)
    return of_all(seconds)


def step_of(name: str, shares: int = 1) -> float:
    """Seconds of a step of a case, of one of so many shares of its rows."""
    model, shape, classes, rows = CASES[name]
    steps, rows, seconds = 16 if rows > 1000 else 64, rows // shares, []  # an epoch's beginning is not a step's
    X, y = RANDOM.normal(size=(steps * rows, *shape)).astype(np.float32), RANDOM.integers(0, classes, steps * rows)
    fit(model(), (X, y), epochs=10, batch_size=rows, lr=0.01, engine="llvm", progress=False,
        callbacks=[lambda row, parameters: seconds.append(row["seconds"] / steps)])
    return of_all(seconds[1:])


def epoch_of(folder: str, shares: int = 1) -> float:
    """Seconds of a step of a table that is streamed, of a share of its rows: of the second epoch, over its minibatches."""
    data, seconds, rows = stream(folder, memory=256, target="y"), [], TABLE // shares
    fit(models.MLP([data.X.shape[1], 64, 2]), data, epochs=2, batch_size=rows, lr=0.01, engine="llvm", progress=False,
        callbacks=[lambda row, parameters: seconds.append(row["seconds"] / -(-data.rows // rows))])
    return of_all(seconds[1:])


def write_table(folder: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    schema = pa.schema([*((f"x{k}", pa.float32()) for k in range(8)), ("y", pa.string())])
    with pq.ParquetWriter(Path(folder) / "rows.parquet", schema) as file:
        for _ in range(ROWS // BLOCK):
            X = RANDOM.normal(size=(8, BLOCK)).astype(np.float32)
            file.write_table(pa.table([*X, np.where(X[0] > X[1], "yes", "no")], schema=schema))


def job(n: int, *words: object) -> float:
    """What this file finds with those words on n workers, a core each."""
    command = [*[mpiexec(), "-n", str(n)] * (n > 1), sys.executable, __file__, "measure", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True,
                          env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main(many: list[int]) -> None:
    # as many workers as there are cores for measure the constants
    cores = len(os.sched_getaffinity(0))
    processes = max(n for n in many if n <= cores)
    reduce = {n: job(processes, "reduced", n) for n in SIZES}
    share = 2 * (processes - 1) / processes
    latency = reduce[SIZES[0]] / (2 * (processes - 1))
    bandwidth = share * 4 * SIZES[2] / (reduce[SIZES[2]] - reduce[SIZES[0]])  # of mlp-m's parameters
    print(f"all-reduce of {processes}:", ", ".join(f"{4 * n / 1e3:,.0f} kB {1e6 * s:,.0f} us" for n, s in reduce.items()),
          f"; latency {1e6 * latency:.1f} us, bandwidth {bandwidth / 1e9:.2f} GB/s\n")
    print("| step | workers | ms | its rows alone | all-reduce | predicted | efficiency | predicted | goal |\n"
          "|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        write_table(folder)
        for name in [*CASES, f"table, {TABLE} rows"]:
            words = ["step_of", name] if name in CASES else ["epoch_of", folder]
            model = CASES[name][0]() if name in CASES else models.MLP([8, 64, 2])
            numbers, one = sum(w.size for w in model.inputDict().values()), job(1, *words)
            for n in many:
                took = one if n == 1 else job(n, *words) if n <= cores else None
                alone = one if n == 1 else job(1, *words, n)
                moved = 2 * (n - 1) / n * 4 * numbers / bandwidth + 2 * (n - 1) * latency
                print(f"| {name} | {n} | {f'{1e3 * took:.2f}' if took else ''} | {1e3 * alone:.2f} | {1e3 * moved:.2f} | "
                      f"{1e3 * (alone + moved):.2f} | {f'{one / n / took:.2f}' if took else ''} | "
                      f"{one / n / (alone + moved):.2f} | {0.9 * (one / n) / (one / n + moved):.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[workers().rank]})  # with all its threads
        seconds = globals()[sys.argv[2]](*(int(a) if a.isdigit() else a for a in sys.argv[3:]))
        if not workers().rank:
            print(json.dumps(seconds))
    else:
        main([int(n) for n in sys.argv[1:]] or [1, 2])
