"""Measuring: contestants, each in a process of its own, take turns in short blocks; the median over all their runs counts."""
from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .table import Goal, Table
from .worker import THREADS, Block, LeftOut, block, build, keeping, serve, settled


class Player:
    """A process of its own, limited to a number of threads, in which functions are called one at a time.
    kept: the folder in which it finds and keeps what it compiles."""

    def __init__(self, threads: int, kept: str):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        os.environ.update(dict.fromkeys(THREADS, str(threads)) | keeping(kept))
        self.process = context.Process(target=serve, args=(theirs,))
        self.process.start()
        theirs.close()

    def ask(self, function: Callable, *arguments: Any) -> Any:
        """function(*arguments), or why not."""
        try:
            self.pipe.send((function, arguments))
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return LeftOut(f"its process ended with {self.process.exitcode}")

    def dismiss(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join()


class Players(dict):
    """The processes by name; one is started where it is missing or has ended."""

    def __init__(self, threads: int):
        super().__init__()
        self.threads, self.kept = threads, tempfile.TemporaryDirectory()

    def __missing__(self, name: str) -> Player:
        self[name] = Player(self.threads, self.kept.name)
        return self[name]

    def ask(self, name: str, function: Callable, *arguments: Any) -> Any:
        answer = self[name].ask(function, *arguments)
        if not self[name].process.is_alive():
            del self[name]
        return answer

    def dismiss(self) -> None:
        while self:
            self.popitem()[1].dismiss()
        self.kept.cleanup()


def contest(players: Players, row: str, about: str, makers: Mapping[str, Callable], work: Any, goals: list[Goal], *,
            seconds: float, runs: int = 1, settles: bool = False) -> Table:
    """The table of contestants whose steps alternate.

    makers: for each contestant what gives its step for the work. runs: how many first results have to agree, those of
    the first contestant that has any being the measure. settles: whether to measure how long it takes until calls are fast.
    """
    wanted: list[list[np.ndarray]] = []
    first: dict[str, dict[str, float]] = {}
    out: dict[str, str] = {}
    for who, make in sorted(makers.items(), key=lambda pair: pair[0] != "NumPy by hand"):
        answer = players.ask(who, build, make, work, runs)
        if isinstance(answer, LeftOut):
            out[who] = answer.why
            continue
        results, cold = answer
        still = players.ask(who, settled, min(max(2.0, 10 * cold), 30.0)) if settles else LeftOut("")
        again = players.ask(who, build, make, work, 1)
        first[who] = {"cold s": round(cold, 3)}
        first[who] |= {} if isinstance(still, LeftOut) else {"settled s": round(still, 3)}
        first[who] |= {} if isinstance(again, LeftOut) else {"again s": round(again[1], 3)}
        if why := disagreement(results, wanted, work.dtype):
            out[who] = why
        elif not any(wanted):
            wanted = results
    blocks = alternating(players, [who for who in makers if who in first and who not in out], seconds)
    lines = {who: summary(*found) | first[who] for who, found in blocks.items()}
    for column, group in (("× floor", "the floor"), ("× peer", "every framework")):
        if least := Goal(group).least(group, lines):
            for line in lines.values():
                line[column] = round(line["µs"] / least[1], 3)
    return Table(row, about, work.dtype, players.threads, lines, [goal.judged(lines) for goal in goals], out)


def disagreement(results: list[list[np.ndarray]], wanted: list[list[np.ndarray]], dtype: str) -> str:
    """In what the results differ from those wanted; nothing where they agree, each within a share of its largest entry.

    In float64 that share is so small that who computes in float32 is found out. A floor has no results.
    """
    within = 1e-4 if dtype == "float32" else 1e-9
    for run, mine in enumerate(results, 1):
        if any(x.dtype != dtype for x in mine):
            return f"WRONG: its results are {', '.join(sorted({str(x.dtype) for x in mine}))}"
        if mine and wanted:
            for k, (x, y) in enumerate(zip(mine, wanted[run - 1], strict=True), 1):
                if not np.max(np.abs(x.ravel() - y.ravel())) <= within * np.max(np.abs(y)):
                    return f"WRONG: result {k} of run {run} begins with {x.ravel()[0]}, that of the others with {y.ravel()[0]}"
    return ""


def alternating(players: Players, names: list[str], seconds: float) -> dict[str, tuple[list[Block], list[Block]]]:
    """All blocks of each contestant, and those in which other programs left the cores alone.

    Where several threads may run, a pause lets those of the one before stop spinning, and longer blocks give the scheduler
    time to spread them. It ends when enough blocks were left alone, or enough of others were seen for long enough.
    """
    length, pause = (0.05, 0.0) if players.threads == 1 else (0.2, 0.03)
    found: dict[str, tuple[list[Block], list[Block]]] = {who: ([], []) for who in names}
    enough = lambda which: all(len(b[which]) > 2 and sum(x.wall for x in b[which]) >= seconds for b in found.values())
    given_up = time.perf_counter() + 5 * seconds * len(names)
    while not enough(1) and not (enough(0) and time.perf_counter() > given_up):
        for who in names:
            time.sleep(pause)
            before = busy()
            one = players[who].ask(block, length)
            alone = busy() - before - one.cpu < (cores() - players.threads + 0.1) * one.wall
            for blocks in found[who][:1 + alone]:
                blocks.append(one)
    return found


def summary(every: list[Block], alone: list[Block]) -> dict[str, float]:
    """Median and quartiles in µs, the cores that were kept busy, and the share of the blocks that were left alone.

    These count; where they are hardly any, all do.
    """
    blocks = alone if len(alone) > 2 else every
    low, median, high = np.quantile(np.concatenate([b.seconds for b in blocks]), [0.25, 0.5, 0.75]) * 1e6
    return {"µs": round(median, 2), "from": round(low, 2), "to": round(high, 2),
            "cores": round(sum(b.cpu for b in blocks) / sum(b.wall for b in blocks), 2),
            "calm": round(len(alone) / len(every), 2)}


def busy() -> float:
    """Seconds that all processors together have worked for anybody, where the system tells."""
    try:
        times = Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _, _, *interrupts = map(int, times)
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def medians(contestants: dict[str, Callable[[], object]], seconds: float, length: float = 0.05) -> dict[str, float]:
    """Median seconds of one run of each contestant, all of them in this process, in turns."""
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
    names = ["numpy", "scipy", "llvmlite", "jax", "torch", "autograd", "casadi", "pytensor"]
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    blas, kernels = np.__config__.CONFIG["Build Dependencies"]["blas"], ""
    with contextlib.suppress(ImportError):
        import threadpoolctl
        kernels = " ".join({"", *(each.get("architecture", "") for each in threadpoolctl.threadpool_info())})
    return {"processor": f"{cores()} cores of {model}", "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(), "blas": f"{blas['name']} {blas['version']}{kernels}",
            **{name: importlib.metadata.version(name) for name in names if importlib.util.find_spec(name)}}


def cores() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
