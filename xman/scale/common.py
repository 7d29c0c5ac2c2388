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
PARTS = 8  # of the buffers that each adds: of those written last, which come slowest, as many as the others


class Common:
    """mine: what this worker gives, of one precision; total: where `add` puts the sum of all workers', the
    same bits for each and whoever came first. part, sums: views of them, with the names and shapes of like,
    at multiples of ALIGNED entries; the first entry tells whether a worker was told to stop."""

    def __init__(self, workers: Workers, like: Mapping[str, Any], dtype: np.dtype):
        *places, size = np.cumsum([ALIGNED, *(-(-np.size(a) // ALIGNED) * ALIGNED for a in like.values())])
        k, n = workers.rank, workers.size
        block = -(-size // (PARTS * n * ALIGNED)) * ALIGNED
        few = size * dtype.itemsize <= FEW
        rows = None if few else shared_memory(workers, PARTS * n * block * dtype.itemsize)
        rows = arena(size * dtype.itemsize)[None] if rows is None else rows
        self.workers, rows = workers, rows.view(dtype)
        self.mine, self.total = rows[k % len(rows), :size], rows[-1, :size]
        self.slices = [*rows.reshape(n + 1, PARTS, n, block)[:, :, k]] if len(rows) > 1 else []
        self.part, self.sums = ({x: buffer[start:start + np.size(a)].reshape(np.shape(a))
                                 for (x, a), start in zip(like.items(), places, strict=True)}
                                for buffer in (self.mine, self.total))

    def add(self) -> None:
        """Make the total, for which all have to come: each worker of a host adds its slices, by rank."""
        if not self.slices:
            return self.workers.reduce(self.total)
        self.workers.meet()
        first, second, *more, total = self.slices
        np.add(first, second, total)
        for part in more:
            np.add(total, part, total)
        self.workers.meet()


def shared_memory(workers: Workers, room: int) -> np.ndarray | None:
    """So many bytes for each worker, and for their sum; None unless all find them, on one host."""
    place, found = ("", ""), None
    if workers.rank == 0 and workers.comm and hasattr(os, "memfd_create"):  # Linux: memory that has a path
        own = os.memfd_create(f"xman {uuid.uuid4()}")
        os.ftruncate(own, (workers.size + 1) * room)
        place = (path := f"/proc/{os.getpid()}/fd/{own}"), os.readlink(path)
    path, name = workers.gathered(place)[0]
    with suppress(OSError):  # of another host, or of processes that this container does not see
        if os.readlink(path) == name:
            with open(path, "r+b") as file:
                found = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8).reshape(-1, room)
    agreed = all(workers.gathered(found is not None))
    if place[0]:
        os.close(own)
    return found if agreed else None
