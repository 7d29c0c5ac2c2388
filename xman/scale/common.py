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
    """Two flat buffers of one precision. The worker fills `local`; `add` puts the sum over all workers into
    `total`, with the same bits on each worker, whoever came first.

    terms, sums: views of local and of total, with the names and shapes of like. Entry 0 of a buffer tells
    whether a worker was told to stop; the numbers follow, then the arrays, one behind another. numbers: entry
    0 and the numbers, a row for each worker and a last row for the sum. slices: this worker's slice of the
    arrays, with the same rows. shared: whether all workers see one memory. few: whether MPI may add up small
    buffers."""

    def __init__(self, workers: Workers, like: Mapping[str, Any], dtype: np.dtype, few: bool = True):
        k, n = workers.rank, workers.size
        like = dict(sorted(like.items(), key=lambda item: np.ndim(item[1]) > 0))
        numbers = 1 + sum(not np.ndim(a) for a in like.values())
        begin = -(-numbers // ALIGNED) * ALIGNED
        sizes = [-(-np.size(a) // ALIGNED) * ALIGNED for a in like.values() if np.ndim(a)]
        places = [*range(1, numbers), *np.cumsum([begin, *sizes]).tolist()]
        length = (begin - -sum(sizes) // (ALIGNED * n) * ALIGNED * n) * dtype.itemsize
        rows = None if few and length <= FEW else shared_memory(workers, length)
        self.workers, self.shared = workers, rows is not None
        rows = (rows if self.shared else arena(length)[None]).view(dtype)
        self.local, self.total = rows[k % len(rows)], rows[-1]

        def views(buffer: np.ndarray) -> dict[str, np.ndarray]:
            ends = zip(like.items(), places, strict=False)
            return {x: buffer[start:start + np.size(a)].reshape(np.shape(a)) for (x, a), start in ends}

        self.terms, self.sums = views(self.local), views(self.total)
        self.numbers, self.slices = rows[:, :numbers], rows[:, begin:].reshape(len(rows), n, -1)[:, k]

    def add(self, arrays: bool) -> None:
        """Fill `total`; the workers wait for each other. In shared memory each worker adds up all
        numbers, and its slice of the arrays if `arrays` is true."""
        if not self.shared:
            return self.workers.reduce(self.total)
        self.workers.meet()
        self.numbers[-1] = self.numbers[:-1].sum(0)  # in one step, since all workers write it
        if arrays:
            np.add.reduce(self.slices[:-1], 0, out=self.slices[-1])
            self.workers.meet()


def in_common(workers: Workers, arrays: dict[str, np.ndarray],
              kinds: Iterable[tuple[str, ...]]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(the arrays, those of the kinds in memory that workers share; this worker's slice of each kind, under
    the name of the kind's first array). Without shared memory it returns the arrays as they are, and no
    slices. kinds: the names of arrays that lie one behind another."""
    flats = [Common(workers, {x: arrays[x] for x in kind}, arrays[kind[0]].dtype) for kind in kinds]
    if not all(flat.shared for flat in flats):
        return arrays, {}
    copies = {x: a for flat in flats for x, a in flat.sums.items()}
    for x, copy in copies.items():
        copy[...] = arrays[x]
    return arrays | copies, {next(iter(flat.sums)): flat.slices[-1] for flat in flats}


def shared_memory(workers: Workers, length: int) -> np.ndarray | None:
    """Shared memory of `length` bytes for each worker, and for their sum; None unless all are on one host."""
    place, memory, descriptor = ("", ""), None, None
    if workers.rank == 0 and workers.comm and hasattr(os, "memfd_create"):  # Linux: such memory has a path
        with suppress(OSError):  # there may be no room for these bytes
            descriptor = os.memfd_create(f"xman {uuid.uuid4()}")
            os.ftruncate(descriptor, (workers.size + 1) * length)
            place = (path := f"/proc/{os.getpid()}/fd/{descriptor}"), os.readlink(path)
    path, name = workers.gathered(place)[0]
    with suppress(OSError):  # the memory may be on another host, or in a process that this container hides
        if os.readlink(path) == name:
            with open(path, "r+b") as file:
                memory = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8).reshape(-1, length)
    agreed = all(workers.gathered(memory is not None))
    if descriptor is not None:
        os.close(descriptor)
    return memory if agreed else None
