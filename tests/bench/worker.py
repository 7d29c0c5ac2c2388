"""A contestant's process: it calls what it is told to, and in its turn it runs its step for a short while and tells the times."""
from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

# read by OpenBLAS (NumPy's and SciPy's), OpenMP (PyTorch), MKL (PyTorch), Numba and XLA when they are imported
THREADS = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NPROC"


def keeping(folder: str) -> dict[str, str]:
    """What tells all who compile to keep programs there: the environment of a process."""
    return {"XMAN_CACHE": folder, "NUMBA_CACHE_DIR": folder, "TORCHINDUCTOR_CACHE_DIR": folder,
            "PYTENSOR_FLAGS": f"base_compiledir={folder}", "JAX_COMPILATION_CACHE_DIR": folder,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


class LeftOut(NamedTuple):
    """Why a contestant does not take part."""
    why: str


class Block(NamedTuple):
    """seconds: of each run. wall, cpu: by the clock and of the processor, of the whole block."""
    seconds: list[float]
    wall: float
    cpu: float


def serve(pipe: Connection) -> None:
    """Answer with function(*arguments) for each that comes, until None does. What fails is left out, and says why."""
    with contextlib.suppress(EOFError, KeyboardInterrupt):  # the bench has ended before
        for function, arguments in iter(pipe.recv, None):
            try:
                answer = function(*arguments)
            except Exception as error:  # whatever a peer raises, the others go on
                answer = LeftOut(f"{type(error).__name__}: {(str(error).strip().splitlines() or ['without a word'])[0]}")
            pipe.send(answer)


step: Callable[[], Any] = lambda: None
started = 0.0


def build(make: Callable, work: Any, runs: int) -> tuple[list[list[np.ndarray]], float]:
    """The results of the first runs of the step that make(work) gives, and the seconds until the first of them."""
    global step, started
    step = lambda: None
    gc.collect()
    started = time.perf_counter()
    fresh = make(work)
    results = [arrays(fresh())]
    seconds = time.perf_counter() - started
    results += [arrays(fresh()) for _ in range(runs - 1)]
    step = fresh
    return results, seconds


def settled(seconds: float) -> float:
    """Seconds from the start of `build` until calls are as fast as they become within so many: five in a row whose median is
    at most 1.5 times that of the last quarter."""
    ends, times = [], []
    while time.perf_counter() < started + seconds or len(times) < 20:
        before = time.perf_counter()
        step()
        ends.append(time.perf_counter() - started)
        times.append(ends[-1] + started - before)
    of_five = np.median(np.lib.stride_tricks.sliding_window_view(times, 5), 1)
    first = int(np.argmax(of_five <= 1.5 * np.median(times[-len(times) // 4:])))
    return ends[first] - times[first]


def arrays(result: Any) -> list[np.ndarray]:
    """What a step gives, arrays of any framework, as a list of copies."""
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [np.array(x.detach() if hasattr(x, "detach") else x) for x in parts if x is not None]


def block(seconds: float) -> Block:
    """The times of as many runs as fit, at least one, after one or two to warm up."""
    run, times = step, []
    started, busy = time.perf_counter(), time.process_time()
    run()
    if time.perf_counter() - started < seconds:
        run()
    until = time.perf_counter() + seconds
    while not times or time.perf_counter() < until:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return Block(times, time.perf_counter() - started, time.process_time() - busy)
