"""Large nests in several threads. Their outermost loop is cut into chunks, the same for any number of
threads, so that the bits of a result do not depend on this number; threads take chunk after chunk.

Each thread has memory of its own for roots that are kept inside of the loop. Each chunk has memory of its own
for sums over the loop, which are added up in order when all chunks are done. The threads are made for a nest
and end with it, so that a process can fork, be interrupted or exit between nests.
"""
from __future__ import annotations

import os
from math import prod
from typing import NamedTuple

from ops import f

from ..nests.emission import lines_within
from ..nests.schedule import Tree, at_one_index
from ..nests.tree import REDUCTIONS, Loop
from .arithmetic import INDEX, INT, Number, combined, gathered_of_none, number_at, store
from .function import Function, in_memory
from .places import StepFunction

WORTH = 2 ** 19   # numbers of a nest, from which on it gets threads: to make one takes 20 to 80 µs
CHUNKS = 16       # the most chunks of a loop
OWN = 2 ** 24     # bytes: the most that the private memory of all threads and chunks takes together


class Chunks(NamedTuple):
    """The chunks of a loop. count: how many there are, and the most threads. width: entries of one. size: of
    the loop. private: {root: bytes} of which each thread, or for a sum each chunk, has a copy. sums: for each
    place of the chunks' sums, its root, and how the sums are added up."""
    count: int
    width: int
    size: int
    private: dict[str, int]
    sums: dict[str, tuple[str, str]]


def chunks_of(node: Loop, tree: Tree) -> Chunks | None:
    """The chunks of a loop; None without pthreads, or if it is short, or a chunk has to wait for another."""
    lines, roots, unit = lines_within(node), tree.roots, node.width if node.kind == "tile" else 1
    width = -(-node.size // (CHUNKS * unit)) * unit
    count = -(-node.size // max(width, 1))
    if os.name != "posix" or count < 2 or sum(prod(line.shape) for line in lines) < WORTH:
        return None
    private, sums, added = {}, {}, {}
    for line in lines:
        axis, target = line.levels[0][0], line.target
        root, along = roots[target.root], target.strides[axis]
        alone = along or line.mode in REDUCTIONS and not root.depth and root.place != "none"
        if line.mode == "into":  # chunks add to rows of their own, or to columns
            strips = [(j, start, steps[0][1]) for j, (start, steps) in enumerate(target.index or ())
                   if len(steps) == 1 and steps[0][0] == axis]
            alone = strips and added.setdefault(root.name, strips[0]) == strips[0]
        steps = (v for v in line.views if v.root == target.root and v != target)  # of running sums
        if target.gathered or not alone or not all(at_one_index(v, axis, target, axis) for v in steps):
            return None
        if not along:
            sums[root.name] = line.mode
        if root.depth and root.place == "arena" or not along:
            private[root.name] = root.bytes
    if sum(private.values()) * count > OWN:
        return None
    for x in private:
        if x not in sums:
            roots[x].size *= count
    chunk_sums = {}
    for x, mode in sums.items():
        name = tree.root(f"{x}.parts", (0,), roots[x].dtype).root
        chunk_sums[name], roots[name].size = (x, mode), roots[x].size * count
    return Chunks(count, width, node.size, private, chunk_sums)


def write_chunks(function: StepFunction, nest: str, chunks: Chunks, memory: list[str]) -> None:
    """Write the text that runs the chunks of a nest and adds up their sums."""
    slots = {x: slot for slot, (x, _) in chunks.sums.items()}
    name = thread(function.declared, nest, chunks, memory)
    job = function.alloca(f"[{2 + len(memory)} x i64]")
    for j, x in enumerate(["i64 0", "i64 0", *[f"ptr {function.pointer(slots.get(x, x))}" for x in memory]]):
        function.put(f"store {x}, ptr {function.entry_at('i64', job, j)}")
    function.do(f"call ptr @{name}(ptr {job})")
    for slot, (x, reduction) in chunks.sums.items():
        root, T = function.roots[x], in_memory(function.roots[x].dtype)
        with function.over(root.size) as (each,):
            target = function.entry_at(T, function.pointer(x), each)
            store(gathered_of_none(function, reduction, root.dtype), target)
            with function.over(chunks.count) as (k,):
                place = function.entry_at(T, function.pointer(slot), function.sum({k: root.size, each: 1}, 0))
                total = number_at(function, root.dtype, target)
                store(combined(reduction, total, number_at(function, root.dtype, place)), target)


def thread(declared: dict, nest: str, chunks: Chunks, memory: list[str]) -> str:
    """Write the function of a thread, which starts the next thread, runs chunk after chunk, and waits for the
    thread that it has started; give its name. Its argument, the job, has the number of threads that have
    begun, that of chunks, and the nest's pointers."""
    function, name, pointers = Function(declared), f"{nest}.{len(declared)}", []
    summed = {x for x, _ in chunks.sums.values()}
    function.declare("@xman_threads = global i64 1")
    another, failed = function.alloca("i64"), function.alloca("i32")
    store(Number(function, "1", INT), failed)
    rank = ticket(function, "%job")
    with function.when((rank + 1 < number_at(function, INDEX, "@xman_threads")) & (rank + 1 < chunks.count)):
        arguments = f"ptr {another}", "ptr null", f"ptr @{name}", "ptr %job"
        store(Number(function, function.call("i32", "pthread_create", *arguments), INT), failed)
    with function.over(chunks.count):
        k = ticket(function, function.entry_at("i64", "%job", 1))
        with function.when(k < chunks.count):
            for j, x in enumerate(memory):
                place = function.do(f"load ptr, ptr {function.entry_at('ptr', '%job', 2 + j)}")
                if x in chunks.private:
                    copy = (k if x in summed else rank) * chunks.private[x]
                    place = function.entry_at("i8", place, copy.name)
                pointers.append(f"ptr {place}")
            last = f.minimum((k + 1) * chunks.width, chunks.size)
            function.put(f"call void @{nest}({', '.join([*pointers, str(k * chunks.width), str(last)])})")
    with function.when(number_at(function, INT, failed) == 0):
        function.call("i32", "pthread_join", number_at(function, INDEX, another), "ptr null")
    function.declare(function.text(f"define internal ptr @{name}(ptr %job) noinline", " ret ptr null"))
    return name


def ticket(function: Function, place: str) -> Number:
    """The number at that place, which goes up by 1, so that each thread gets another one."""
    return Number(function, function.do(f"atomicrmw add ptr {place}, i64 1 seq_cst"), INDEX)


def as_blas() -> int:
    """The number of BLAS's threads, from OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, or one for each core."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if (number := os.environ.get(name, "")).isdecimal() and int(number):
            return int(number)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
