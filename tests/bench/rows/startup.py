"""From nothing to the first step of a small regression: the wall clock of a new process, until it says that it is done."""
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from ..table import Goal, Table
from ..worker import THREADS, keeping

STEP = "from tests.bench.rows import training; training.{}training.Training((64, 10), 32))()"
CODE = {"floor: import numpy": "import numpy",
        **{who: STEP.format(call) for who, call in {
            "xman numpy": "xman('numpy', ", "xman llvm": "xman('llvm', ", "xman interpret": "xman('interpret', ",
            "NumPy by hand": "numpy_by_hand(", "autograd": "autograd(", "JAX": "jax('synchronous', ", "PyTorch": "torch(False, ",
            "PyTorch compiled": "torch(True, ", "PyTensor": "pytensor("}.items()}}
KEEPERS = "xman llvm", "JAX", "PyTorch compiled", "PyTensor"  # of compiled programs on disk


def run(name: str, about: str, dtype: str, players: Any, options: Any) -> Table:
    """Each kind of process in turn, several times; who keeps compiled programs on disk once without and once with them."""
    out: dict[str, str] = {}
    times: dict[str, list[float]] = {}
    contestants = {who: who for who in CODE} | {f"kept: {who}": who for who in KEEPERS}
    with tempfile.TemporaryDirectory() as kept:
        for turn in range(2 if options.quick else 8):
            for label, who in contestants.items():
                slow = label == "PyTorch compiled"  # 10 to 40 s
                if label in out or (options.quick and who == "PyTorch compiled") or (slow and turn > 2):
                    continue
                with tempfile.TemporaryDirectory() as empty:
                    seconds, why = started(who, players.threads, empty if label == who else kept, keep=label != who)
                if why:
                    out[label] = why
                elif turn:  # the first fills the folder, and the system's cache of files
                    times.setdefault(label, []).append(seconds * 1e3)
    lines = {who: {"ms": round(statistics.median(t), 1), "from": round(min(t), 1), "to": round(max(t), 1)}
             for who, t in times.items()}
    return Table(name, about, dtype, players.threads, lines, [Goal("JAX", 1 / 5, mine="xman numpy").judged(lines)], out)


def started(who: str, threads: int, folder: str, keep: bool) -> tuple[float, str]:
    """Seconds until the process has taken its step, and why it has not. folder: where it finds and keeps what it compiles."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads)), **keeping(folder)}
    if not keep:
        del environment["JAX_COMPILATION_CACHE_DIR"]
    before = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", CODE[who] + "; print('done', flush=True)"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        done = process.stdout.readline()
        seconds = time.perf_counter() - before
        _, errors = process.communicate()
    return seconds, "" if done == "done\n" else (errors.strip().splitlines() or ["it said nothing"])[-1]
