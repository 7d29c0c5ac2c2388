"""Measuring: the contestants take turns in short blocks, and the median over all their runs is what counts."""
from __future__ import annotations

import importlib.metadata
import os
import statistics
import time
from collections.abc import Callable


def medians(contestants: dict[str, Callable[[], object]], seconds: float, block: float = 0.05) -> dict[str, float]:
    """Median seconds of one run of each contestant. In a block of about 50 ms one of them runs alone, warm."""
    times: dict[str, list[float]] = {who: [] for who in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    for run in contestants.values():
        run()
    while min(spent.values()) < seconds:
        for who, run in contestants.items():
            run()
            until = time.perf_counter() + block
            while (before := time.perf_counter()) < until:
                run()
                times[who].append(time.perf_counter() - before)
                spent[who] += times[who][-1]
    return {who: statistics.median(found) for who, found in times.items()}


def versions() -> str:
    """The versions of what takes part, and the threads it may use."""
    names = ["numpy", "scipy", "autograd", "jax"]
    found = [f"{name} {importlib.metadata.version(name)}" for name in names if importlib.util.find_spec(name)]
    return ", ".join([*found, f"{os.cpu_count()} cores"])
