"""Large nests in several threads. Their outermost loop is cut into chunks, the same for any number of
threads, so that the bits of a result do not depend on this number; threads take chunk after chunk.

Each thread has memory of its own for roots that are kept inside of the loop. Each chunk has memory of its own
for sums over the loop, which are added up in order when all chunks are done. The threads are made for a nest
and end with it, so that a process can fork, be interrupted or exit between nests.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from ..nests.schedule import Tree, at_one_index
from ..nests.tree import REDUCTIONS, Line, Loop
from .arithmetic import combined, gathered_of_none, number_at, store
from .function import Function, in_memory

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
    lines, roots, unit = [*lines_within(node)], tree.roots, node.width if node.kind == "tile" else 1
    width = -(-node.size // (CHUNKS * unit)) * unit
    count = -(-node.size // max(width, 1))
    if os.name != "posix" or count < 2 or sum(prod(line.shape) for line in lines) < WORTH:
        return None
    private, sums, added = {}, {}, {}
    for line in lines:
        axis, target = line.levels[0][0], line.target
        root, along = roots[target.root], target.strides[axis]
        alone = along or line.how in REDUCTIONS and not root.depth and root.place != "none"
        if line.how == "into":  # chunks add to rows of their own, or to columns
            own = [(j, start, steps[0][1]) for j, (start, steps) in enumerate(target.index or ())
                   if len(steps) == 1 and steps[0][0] == axis]
            alone = own and added.setdefault(root.name, own[0]) == own[0]
        steps = (v for v in line.views if v.root == target.root and v != target)  # of running sums
        if target.gathered or not alone or not all(at_one_index(v, axis, target, axis) for v in steps):
            return None
        if not along:
            sums[root.name] = line.how
        if root.depth and root.place == "arena" or not along:
            private[root.name] = root.bytes
    if sum(private.values()) * count > OWN:
        return None
    for x in private:
        if x not in sums:
            roots[x].size *= count
    parts = {}
    for x, how in sums.items():
        name = tree.root(f"{x}.parts", (0,), roots[x].dtype).root
        parts[name], roots[name].size = (x, how), roots[x].size * count
    return Chunks(count, width, node.size, private, parts)


def lines_within(node: Loop | Line) -> Iterator[Line]:
    if isinstance(node, Line):
        yield node
    else:
        for inner in node.body:
            yield from lines_within(inner)


def write_chunks(f: Any, nest: str, chunks: Chunks, memory: list[str]) -> None:
    """Write the text that runs the chunks of a nest and adds up their sums. f: the `StepFunction`."""
    name, part = f"{nest}.{len(f.declared)}", {x: part for part, (x, _) in chunks.sums.items()}
    f.declare(THREADS)
    f.declare(thread_text(name, nest, chunks, memory))
    job = f.alloca(f"[{2 + len(memory)} x i64]")
    for j, x in enumerate(["i64 0", "i64 0", *[f"ptr {f.pointer(part.get(x, x))}" for x in memory]]):
        f.put(f"store {x}, ptr {f.entry_at('i64', job, j)}")
    f.do(f"call ptr @{name}(ptr {job})")
    for part, (x, how) in chunks.sums.items():
        root, T = f.roots[x], in_memory(f.roots[x].dtype)
        with f.over(root.size) as (each,):
            target = f.entry_at(T, f.pointer(x), each)
            store(gathered_of_none(f, how, root.dtype), target)
            with f.over(chunks.count) as (k,):
                place = f.entry_at(T, f.pointer(part), f.sum({k: root.size, each: 1}, 0))
                total = number_at(f, root.dtype, target)
                store(combined(how, total, number_at(f, root.dtype, place)), target)


def thread_text(name: str, nest: str, chunks: Chunks, memory: list[str]) -> str:
    """The text of a thread's function, which runs chunk after chunk."""
    f, given, summed = Function({}), [], {x for x, _ in chunks.sums.values()}
    for j, x in enumerate(memory):
        place = f.do(f"load ptr, ptr {f.entry_at('ptr', '%job', 2 + j)}")
        if x in chunks.private:
            place = f.entry_at("i8", place, f.sum({"%k" if x in summed else "%thread": chunks.private[x]}, 0))
        given.append(f"ptr {place}")
    first = f.sum({"%k": chunks.width}, 0)
    end = f.sum({first: 1}, chunks.width)
    less = f.do(f"icmp slt i64 {end}, {chunks.size}")
    end = f.do(f"select i1 {less}, i64 {end}, i64 {chunks.size}")
    f.put(f"call void @{nest}({', '.join([*given, f'i64 {first}', f'i64 {end}'])})")
    return THREAD.format(name=name, count=chunks.count, run="\n".join(f.out))


def as_blas() -> int:
    """The number of BLAS's threads, from OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, or one for each core."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if (said := os.environ.get(name, "")).isdecimal() and int(said):
            return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


THREADS = """@xman_threads = global i64 1
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)"""
# job: the next thread, the next chunk, and the nest's pointers. Each thread starts one more, and waits for it
THREAD = """define internal ptr @{name}(ptr %job) noinline {{
entry:
 %id = alloca i64
 %thread = atomicrmw add ptr %job, i64 1 seq_cst
 %another = add i64 %thread, 1
 %most = load i64, ptr @xman_threads
 %may = icmp slt i64 %another, %most
 %wanted = icmp slt i64 %another, {count}
 %both = and i1 %may, %wanted
 br i1 %both, label %make, label %more
make:
 %failed = call i32 @pthread_create(ptr %id, ptr null, ptr @{name}, ptr %job)
 %made = icmp eq i32 %failed, 0
 br label %more
more:
 %joins = phi i1 [false, %entry], [%made, %make], [%joins, %run]
 %next = getelementptr i64, ptr %job, i64 1
 %k = atomicrmw add ptr %next, i64 1 seq_cst
 %left = icmp slt i64 %k, {count}
 br i1 %left, label %run, label %done
run:
{run}
 br label %more
done:
 br i1 %joins, label %wait, label %all
wait:
 %it = load i64, ptr %id
 %joined = call i32 @pthread_join(i64 %it, ptr null)
 br label %all
all:
 ret ptr null
}}"""
