"""Measuring: contestants, each in a process of its own, take turns in short blocks; the median over all their runs counts."""
from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .worker import THREADS, LeftOut, block, build, serve


class Time(NamedTuple):
    """seconds: the median of one run; low, high: the quartiles. cores: that were busy. first: seconds to build and run once."""
    seconds: float
    low: float
    high: float
    cores: float
    first: float


class Player:
    """A process of its own, limited to a number of threads, in which functions are called one at a time."""

    def __init__(self, threads: int):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        os.environ.update(dict.fromkeys(THREADS, str(threads)))
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, function: Callable, *arguments: Any) -> Any:
        try:
            self.pipe.send((function, arguments))
            return self.pipe.recv()
        except (EOFError, BrokenPipeError):
            self.process.join()
            return LeftOut(f"its process ended with {self.process.exitcode}")

    def dismiss(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.pipe.send(None)
        self.process.join()


class Players(dict):
    """The processes by name; one is started where it is missing or has died."""

    def __init__(self, threads: int):
        super().__init__()
        self.threads = threads

    def __missing__(self, name: str) -> Player:
        self[name] = Player(self.threads)
        return self[name]

    def ask(self, name: str, function: Callable, *arguments: Any) -> Any:
        answer = self[name].ask(function, *arguments)
        if not self[name].process.is_alive():
            del self[name]
        return answer

    def dismiss(self) -> None:
        for player in self.values():
            player.dismiss()


def contest(players: Players, makers: Mapping[str, Callable], work: Any, *, seconds: float, runs: int = 1,
            within: float = 1e-4) -> tuple[dict[str, Time], dict[str, str]]:
    """The times by contestant, and those that were left out, with the reason.

    makers: for each contestant what gives its step for the work. runs: how many first results have to agree, those of
    NumPy by hand being the measure, within a share of the largest entry.
    """
    wanted: list[list[np.ndarray]] = []
    first: dict[str, float] = {}
    out: dict[str, str] = {}
    for who, make in sorted(makers.items(), key=lambda pair: pair[0] != "NumPy by hand"):
        answer = players.ask(who, build, make, work, runs)
        if isinstance(answer, LeftOut):
            out[who] = answer.why
        else:
            results, first[who] = answer
            wanted = wanted or results
            if why := disagreement(results, wanted, within, work.dtype):
                out[who] = why
    times = alternating(players, [who for who in makers if who not in out], seconds)
    return {who: Time(*time, first[who]) for who, time in times.items()}, out


def disagreement(results: list[list[np.ndarray]], wanted: list[list[np.ndarray]], within: float, dtype: str) -> str:
    """In what the results differ from those wanted; nothing where they agree. A floor has no results."""
    for run, (mine, theirs) in enumerate(zip(results, wanted, strict=True), 1):
        for k, (x, y) in enumerate(zip(mine, theirs, strict=bool(mine)), 1):
            if x.dtype != dtype:
                return f"WRONG: computes in {x.dtype}"
            if not np.max(np.abs(x.ravel() - y.ravel())) <= within * np.max(np.abs(y)):
                return f"WRONG: result {k} of run {run} is {x.ravel()[:3]}, not {y.ravel()[:3]}"
    return ""


def alternating(players: Players, names: list[str], seconds: float, length: float = 0.05) -> dict[str, tuple]:
    """Median, quartiles and busy cores of each contestant's step."""
    times: dict[str, list[float]] = {who: [] for who in names}
    cores: dict[str, list[float]] = {who: [] for who in names}
    while names and (min(map(sum, times.values())) < seconds or min(map(len, times.values())) < 3):
        for who in names:
            found = players[who].ask(block, length)
            times[who] += found.seconds
            cores[who].append(found.cores)
    return {who: (statistics.median(t), *np.quantile(t, [0.25, 0.75]), statistics.median(cores[who])) for who, t in times.items()}


def medians(contestants: dict[str, Callable[[], object]], seconds: float, length: float = 0.05) -> dict[str, float]:
    """Median seconds of one run of each contestant, all of them in this process, in turns as above."""
    times: dict[str, list[float]] = {who: [] for who in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    for run in contestants.values():
        run()
    while min(spent.values()) < seconds:
        for who, run in contestants.items():
            run()
            until = time.perf_counter() + length
            while (before := time.perf_counter()) < until:
                run()
                times[who].append(time.perf_counter() - before)
                spent[who] += times[who][-1]
    return {who: statistics.median(found) for who, found in times.items()}


def machine() -> dict[str, str]:
    """The machine, and the versions of what takes part."""
    names = ["numpy", "scipy", "numba", "jax", "torch", "autograd", "casadi", "pytensor"]
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    blas = np.__config__.CONFIG["Build Dependencies"]["blas"]
    return {"processor": f"{model}, {cores()} cores", "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(), "blas": f"{blas['name']} {blas['version']}",
            **{name: importlib.metadata.version(name) for name in names if importlib.util.find_spec(name)}}


def cores() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
