"""The most memory that steps take, beyond what they are given: the peak of the resident set of a new process (Linux).

A process first takes a step of a small work of the same kind, so that its packages are loaded. What it holds then, and the
bytes of the inputs and parameters of the real work, are taken off the peak.
"""
from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import Players
from ..table import Goal, Table
from ..worker import LeftOut
from . import elementwise, lstm, training

MiB = 2 ** 20


def resident(peak: bool = False) -> float:
    """The resident set of this process, or its peak since `forget`, in MiB."""
    field = "VmHWM:" if peak else "VmRSS:"
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def forget() -> None:
    """Begin a new peak."""
    Path("/proc/self/clear_refs").write_text("5")


def peaks(make: Callable, small: Any, work: Any, given: int) -> tuple[float, float]:
    """MiB beyond the given bytes: of building and the first step, and of the steps after it."""
    make(small)()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = resident() + given / MiB
    forget()
    step = make(work)
    step()
    first = resident(peak=True) - before
    gc.collect()
    forget()
    for _ in range(3):
        step()
    return first, resident(peak=True) - before


def run(makers: dict[str, Callable], small: Any, work: Any, given: Callable[[Any], Any],
        name: str, about: str, dtype: str, players: Players, options: Any) -> Table:
    """given(work): the arrays that do not count."""
    size = sum(x.nbytes for x in flat(given(work)))
    lines, out = {}, {}
    for who, make in makers.items():
        if who.startswith("floor") or (options.quick and who == "PyTorch compiled"):
            continue
        alone = Players(players.threads)
        answer = alone.ask(who, peaks, make, small, work, size)
        alone.dismiss()
        if isinstance(answer, LeftOut):
            out[who] = answer.why
        else:
            first, later = answer
            lines[who] = {"MiB": round(max(0, later), 1), "first step": round(max(0, first), 1)}
    about = f"{about}, {size / MiB:.1f} MiB"
    goals = [Goal(peer, column=column) for column in ("MiB", "first step") for peer in ("JAX", "PyTorch")]
    return Table(name, about, dtype, players.threads, lines, [goal.judged(lines) for goal in goals], out)


def flat(arrays: Any) -> list[np.ndarray]:
    return [x for part in arrays for x in flat(part)] if isinstance(arrays, (list, tuple)) else [arrays]


network = partial(run, training.CONTESTANTS, training.Training((784, 8, 8, 10), 4), training.Training((784, 1024, 1024, 10), 256),
                  lambda work: (training.parameters(work), training.data(work)))
# 200 steps make a list that is too long for Numba, and take PyTorch's compiler minutes
SHORT = {who: make for who, make in lstm.CONTESTANTS.items() if who not in ("xman llvm", "PyTorch compiled")}
sequences = partial(run, SHORT | {who: partial(lstm.jax, how, True) for who, how in
                                             {"JAX": "asynchronous", "JAX synchronous": "synchronous"}.items()},
                    lstm.Sequences(steps=3, batch=2), lstm.Sequences(steps=200), lstm.problem)
options = partial(run, elementwise.CONTESTANTS, elementwise.Options(100), elementwise.Options(),
                  lambda work: (elementwise.problem(work), [np.empty(work.count, work.dtype)] * 6))
