"""Flat buffers that workers add up; workers on one host have them in shared memory, so that none copies."""
from __future__ import annotations

import mmap
import os
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..engines.memory import arena
from .mpi import Workers

ALIGNED = 16  # entries to whose multiples arrays begin
FEW = 2 ** 14  # bytes up to which MPI's own sum is as quick


class Common:
    """mine: what this worker gives, of one precision; total: where `add` puts the sum of all workers', the
    same bits for each and whoever came first. part, sums: views of them, with the names and shapes of like;
    the first entry tells whether a worker was told to stop, then come what are no arrays: numbers, of each
    worker and last of the sum. slices: this worker's slice of each worker's arrays, which lie one behind
    another, and last of the sum. shared: whether all find one memory. few: whether MPI may add up few."""

    def __init__(self, workers: Workers, like: Mapping[str, Any], dtype: np.dtype, few: bool = True):
        k, n = workers.rank, workers.size
        like = dict(sorted(like.items(), key=lambda item: np.ndim(item[1]) > 0))
        numbers = 1 + sum(not np.ndim(a) for a in like.values())
        begin = -(-numbers // ALIGNED) * ALIGNED
        sizes = [-(-np.size(a) // ALIGNED) * ALIGNED for a in like.values() if np.ndim(a)]
        places = [*range(1, numbers), *np.cumsum([begin, *sizes]).tolist()]
        room = (begin - -sum(sizes) // (ALIGNED * n) * ALIGNED * n) * dtype.itemsize
        rows = None if few and room <= FEW else shared_memory(workers, room)
        self.workers, self.shared = workers, rows is not None
        rows = (rows if self.shared else arena(room)[None]).view(dtype)
        self.mine, self.total = rows[k % len(rows)], rows[-1]
        self.part, self.sums = ({x: buffer[start:start + np.size(a)].reshape(np.shape(a))
                                 for (x, a), start in zip(like.items(), places, strict=False)}
                                for buffer in (self.mine, self.total))
        self.numbers, self.slices = rows[:, :numbers], rows[:, begin:].reshape(len(rows), n, -1)[:, k]

    def add(self, whole: bool) -> None:
        """Make the total, for which all have to come: each worker of a host adds its slice, by rank, where
        the whole is wanted, and all the numbers."""
        if not self.shared:
            return self.workers.reduce(self.total)
        self.workers.meet()
        self.numbers[-1] = self.numbers[:-1].sum(0)  # in one step, since all workers write it
        if whole:
            np.add.reduce(self.slices[:-1], 0, out=self.slices[-1])
            self.workers.meet()


def in_common(workers: Workers, arrays: dict[str, np.ndarray],
              kinds: Iterable[tuple[str, ...]]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays in memory that the workers share, and this worker's slice of each kind, by the first of it;
    as they were, and none, unless all do. kinds: the names of arrays that lie one behind another."""
    flats = [Common(workers, {x: arrays[x] for x in kind}, arrays[kind[0]].dtype) for kind in kinds]
    if not all(flat.shared for flat in flats):
        return arrays, {}
    found = {x: a for flat in flats for x, a in flat.sums.items()}
    for x, a in arrays.items():
        found[x][...] = a
    return found, {next(iter(flat.sums)): flat.slices[-1] for flat in flats}


def shared_memory(workers: Workers, room: int) -> np.ndarray | None:
    """Shared memory of `room` bytes for each worker, and for their sum; None unless all are on one host."""
    place, found, own = ("", ""), None, None
    if workers.rank == 0 and workers.comm and hasattr(os, "memfd_create"):  # Linux: such memory has a path
        with suppress(OSError):  # there may be no room for these bytes
            own = os.memfd_create(f"xman {uuid.uuid4()}")
            os.ftruncate(own, (workers.size + 1) * room)
            place = (path := f"/proc/{os.getpid()}/fd/{own}"), os.readlink(path)
    path, name = workers.gathered(place)[0]
    with suppress(OSError):  # the memory may be on another host, or in a process that this container hides
        if os.readlink(path) == name:
            with open(path, "r+b") as file:
                found = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8).reshape(-1, room)
    agreed = all(workers.gathered(found is not None))
    if own is not None:
        os.close(own)
    return found if agreed else None
