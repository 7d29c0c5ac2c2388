"""Flat buffers that workers add up: those of one host in memory that they share, so that nobody copies."""
from __future__ import annotations

import mmap
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..engines.memory import arena
from .mpi import Workers

ALIGNED = 16  # entries
FEW = 2 ** 14  # bytes, up to which MPI's own sum is as quick


class Common:
    """mine: what this worker gives, of one precision; total: where `add` puts the sum of all workers', the
    same bits for each and whoever came first. part, sums: views of them, with the names and shapes of like;
    the first entry tells whether a worker was told to stop. shared: whether all find one memory. slices: by
    name this worker's slice of each worker's array, and last of the sum. few: whether MPI may add up few."""

    def __init__(self, workers: Workers, like: Mapping[str, Any], dtype: np.dtype, few: bool = True):
        k, n = workers.rank, workers.size
        unit = ALIGNED * n
        places = np.cumsum([unit, *(-(-np.size(a) // unit) * unit for a in like.values())]).tolist()
        room = places[-1] * dtype.itemsize
        rows = None if few and room <= FEW else shared_memory(workers, room)
        self.workers, self.shared = workers, rows is not None
        rows = (rows if self.shared else arena(room)[None]).view(dtype)
        self.mine, self.total = rows[k % len(rows)], rows[-1]
        self.part, self.sums = ({x: buffer[start:start + np.size(a)].reshape(np.shape(a))
                                 for (x, a), start in zip(like.items(), places, strict=False)}
                                for buffer in (self.mine, self.total))
        self.numbers, self.slices = [rows[:, :1]], {}
        for (x, a), start, end in zip(like.items(), places, places[1:], strict=False):
            if np.ndim(a):
                self.slices[x] = rows[:, start:end].reshape(len(rows), n, -1)[:, k]
            else:
                self.numbers.append(rows[:, start:start + 1])

    def add(self, whole: bool) -> None:
        """Make the total, for which all have to come: each worker of a host adds its slices, by rank, where
        the whole is wanted, and all the numbers."""
        if not self.shared:
            return self.workers.reduce(self.total)
        self.workers.meet()
        for rows in self.numbers:
            rows[-1] = rows[:-1].sum(0)  # at once: all write it
        if whole:
            for rows in self.slices.values():
                np.add.reduce(rows[:-1], 0, out=rows[-1])
            self.workers.meet()


def in_common(workers: Workers,
              arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays in memory that the workers share, and this worker's slice of each; as they were, and none,
    unless all do."""
    flats = [Common(workers, {x: a for x, a in arrays.items() if a.dtype == dtype}, dtype)
             for dtype in dict.fromkeys(a.dtype for a in arrays.values())]
    if not all(flat.shared for flat in flats):
        return arrays, {}
    found = {x: a for flat in flats for x, a in flat.sums.items()}
    for x, a in arrays.items():
        found[x][...] = a
    return found, {x: rows[-1] for flat in flats for x, rows in flat.slices.items()}


def shared_memory(workers: Workers, room: int) -> np.ndarray | None:
    """So many bytes for each worker, and for their sum; None unless all find them, on one host."""
    place, found, own = ("", ""), None, None
    if workers.rank == 0 and workers.comm and hasattr(os, "memfd_create"):  # Linux: memory that has a path
        with suppress(OSError):  # there is no room for so many
            own = os.memfd_create(f"xman {uuid.uuid4()}")
            os.ftruncate(own, (workers.size + 1) * room)
            place = (path := f"/proc/{os.getpid()}/fd/{own}"), os.readlink(path)
    path, name = workers.gathered(place)[0]
    with suppress(OSError):  # of another host, or of processes that this container does not see
        if os.readlink(path) == name:
            with open(path, "r+b") as file:
                found = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8).reshape(-1, room)
    agreed = all(workers.gathered(found is not None))
    if own is not None:
        os.close(own)
    return found if agreed else None
