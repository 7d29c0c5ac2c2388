"""The table of faults of docs/scale.md: two workers that train meet faults that chance draws, and go on from their checkpoint.

    python docs/scripts/faults.py          # 40 faults, on Linux, with xman[mpi]; a quarter of an hour
    python docs/scripts/faults.py 10 7     # 10 faults, of the seed 7
    python docs/scripts/faults.py 40 0 20  # without the first 20

After each fault the same command runs again, and has to end with the bits of a run that nobody disturbed. A file that was
damaged is refused first, with a sentence; then a checkpoint is moved away, and data are brought back.
"""
from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xman.files.container import restore
from xman.scale.launch import descendants

TIMEOUT, LIMIT = 4, 90  # seconds: of --timeout, and after which a run counts as one that does not end
SIGNALS = "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSTOP"
PLACES = "launcher", "mpiexec", "its proxy", "worker 1", "worker 2"
WITHIN = "os._exit(0)", "an exception", "no room for files"  # what a worker meets in a step
DAMAGES: dict[str, Callable[[Path], object]] = {
    "checkpoint cut": lambda folder: os.truncate(folder / "run", os.path.getsize(folder / "run") // 2),
    "checkpoint of other bytes": lambda folder: (folder / "run").write_bytes(bytes(5000)),
    "other data": lambda folder: (folder / "rows.csv").write_text((folder / "rows.csv").read_text().replace("\n0.", "\n1.", 1))}
MODEL = """
import os, resource
from xman import models
from xman.scale import workers
fault, rank, left = os.environ.get("FAULT"), int(os.environ.get("RANK", 0)), [int(os.environ.get("STEP", 0))]
class Model(models.MLP):
    def feed(self, X, y):
        left[0] -= 1
        if not left[0] and workers().rank == rank:
            if fault == "os._exit(0)":
                os._exit(0)
            if fault == "an exception":
                raise RuntimeError("drawn by chance")
            if fault == "no room for files":
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        return {"X": X, "y": y}
"""


class Ending(NamedTuple):
    status: int
    sentence: str
    leftovers: str


def run(folder: Path, harm: Callable[[subprocess.Popen], None] = lambda job: None, **environment: str) -> Ending:
    """How a run ends, which is harmed meanwhile."""
    memory = {*Path("/dev/shm").glob("mpich_shm_*")}
    command = [sys.executable, "-m", "xman", "train", f"{folder / 'model.py'}:Model([9, 16, 3])", "--data", folder / "rows.csv",
               "--epochs", "25", "--quiet", "--threads", "1", "--workers", "2", "--timeout", str(TIMEOUT),
               "--checkpoint", folder / "run", "--checkpoint-every", "0.2", "--engine", "numpy"]
    with open(folder / "said", "w+") as said:
        job = subprocess.Popen([*map(str, command)], env=os.environ | environment, stdout=said, stderr=said,
                               start_new_session=True)
        harm(job)
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and (job.poll() is None or workers_of(folder)):
            time.sleep(0.1)
        status = job.poll()
        said.seek(0)
        sentences = [line.strip() for line in said if line.startswith("xman: ")]
    processes = workers_of(folder)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    job.wait()
    counts = {"processes": len(processes), "in /dev/shm": len({*Path("/dev/shm").glob("mpich_shm_*")} - memory),
              "unfinished checkpoint": len([*folder.glob("*.part")])}
    left = ", ".join(f"{word}: {n}" for word, n in counts.items() if n)
    return Ending(-99 if status is None else status, sentences[0] if sentences else "", left or "nothing")


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def workers_of(folder: Path) -> list[int]:
    """The processes whose command names the folder."""
    processes = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [process for process in processes if str(folder).encode() in command_of(process)]


def struck(number: int, place: str, delay: float) -> Callable[[subprocess.Popen], None]:
    """What sends a signal to a place of a job after a delay; a launcher that it stops goes on ten seconds later."""
    def harm(job: subprocess.Popen) -> None:
        time.sleep(delay)
        processes: dict[str, int] = {}
        while place not in processes and job.poll() is None:  # the place may be yet to come
            below = [process for process in descendants(job.pid) if b"-ISc" not in command_of(process)]
            trainers = [process for process in below[1:] if command_of(process).startswith(sys.executable.encode())]
            above = [process for process in below if process not in trainers]
            processes = dict(zip(PLACES[:3], above, strict=False)) | dict(zip(PLACES[3:], trainers, strict=False))
            time.sleep(0.05)
        os.kill(processes[place], number)
        if place == "launcher" and number == signal.SIGSTOP:
            time.sleep(10)
            os.kill(job.pid, signal.SIGCONT)
    return harm


def at_checkpoint(folder: Path) -> None:
    while not (folder / "run").exists():
        time.sleep(0.1)


def tried(fault: str, place: str, folder: Path, parameters: dict[str, np.ndarray], draw: random.Random) -> tuple[Ending, str]:
    """How a run ends that meets the fault, and what becomes of the runs after it."""
    delay = draw.uniform(0.1, 5)
    if fault in SIGNALS:
        ending = run(folder, struck(getattr(signal, fault), place, delay))
    elif fault in WITHIN:
        ending = run(folder, FAULT=fault, RANK=place[-1] if place[-1] == "0" else "1", STEP=str(draw.randrange(20, 400)))
    else:
        kept = (folder / "rows.csv").read_text()
        run(folder, lambda job: (at_checkpoint(folder), job.kill()))
        DAMAGES[fault](folder)
        ending = run(folder)
        (folder / "rows.csv").write_text(kept)
        if fault != "other data":
            (folder / "run").unlink()
    again = run(folder)
    arrays, _ = restore(folder / "run")
    same = all(np.array_equal(parameters[name], arrays[name]) for name in parameters)
    return ending, "the same" if same and not again.status else f"status {again.status}: {again.sentence}, bits {same}"


def main(count: int = 40, seed: int = 0, first: int = 0) -> None:
    draw, rows = random.Random(seed), np.random.default_rng(0)
    faults = [(fault, place) for fault in SIGNALS for place in PLACES]
    faults += [(fault, f"worker of rank {rank}") for fault in WITHIN for rank in (0, 1)] + [(fault, "") for fault in DAMAGES]
    faults = draw.sample(faults, len(faults)) + draw.choices(faults, k=max(0, count - len(faults)))
    table = defaultdict(list)
    with tempfile.TemporaryDirectory() as place_of_all:
        folders = [Path(place_of_all, str(k)) for k in range(count + 1)]
        X = rows.normal(size=(1000, 9)).round(3)
        text = "\n".join([",".join([f"x{k}" for k in range(9)] + ["label"]),
                          *(",".join([*map(str, row), "abc"[int(row[0] > 0) + int(row[1] * row[2] > 0)]]) for row in X)])
        for folder in folders:
            folder.mkdir()
            (folder / "rows.csv").write_text(text)
            (folder / "model.py").write_text(MODEL)
        started = time.monotonic()
        print("undisturbed:", run(folders[-1]), f"{time.monotonic() - started:.1f} s", flush=True)
        parameters = {name: a for name, a in restore(folders[-1] / "run")[0].items() if name.startswith("parameters/")}
        for folder, (fault, place) in zip(folders, faults[first:count], strict=False):
            ending, after = tried(fault, place, folder, parameters, draw)
            print(fault, place, *ending, after, sep=" | ", flush=True)
            table[fault, place].append((ending.status, ending.sentence, ending.leftovers, after))
    print("\n| fault | at | runs | status | sentence | left | bits after |\n|---|---|---|---|---|---|---|")
    for (fault, place), endings in sorted(table.items()):
        columns = [" / ".join(dict.fromkeys(str(x).replace(place_of_all, "") or "none" for x in column))
                   for column in zip(*endings, strict=True)]
        print(f"| {fault} | {place} | {len(endings)} | " + " | ".join(columns) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
