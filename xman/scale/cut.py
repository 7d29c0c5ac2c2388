"""A pass that cuts a list at its lines `x = allreduce(y)`, and the program of the pieces: between two of them
all that has come is added up over the workers, as one flat buffer."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..engines import Compiled
from ..engines.memory import arena
from ..interpreters import eval
from ..wengert import Line, WengertList, all_registers, fresh, registers
from .mpi import Workers

ALIGNED = 16  # entries


class Stage(NamedTuple):
    """Lines that run together, and then the registers to be added up, each with the name of its sum."""
    steps: WengertList
    totals: dict[str, str]


def stages_of(steps: WengertList, outputs: Collection[str]) -> list[Stage]:
    """The lines that outputs need, in as few stages as there can be: those that sums need as early as they
    can run, the others, the optimizer's, in the last stage."""
    needed, summed = {*outputs}, set()
    for dst, op, args in reversed(steps):
        needed.update(registers(args) if dst in needed else ())
        summed.update(registers(args) if dst in summed or dst in needed and op == "allreduce" else ())
    steps = [line for line in steps if line[0] in needed]
    depth = {dst: 0 for line in steps for dst in registers(line[2])}
    for dst, op, args in steps:
        depth[dst] = max((depth[a] for a in registers(args)), default=0) + (op == "allreduce")
    last = max(depth.values(), default=0)
    stages: list[tuple[list[Line], dict[str, str]]] = [([], {}) for _ in range(last + 1)]
    for dst, op, args in steps:
        if op == "allreduce":
            stages[depth[dst] - 1][1][dst] = args[0]
        else:
            stages[depth[dst] if dst in summed else last][0].append((dst, op, args))
    return [Stage(WengertList(lines), totals) for lines, totals in stages]


class Totals:
    """What a stage adds up, in one flat buffer for each precision, of which counts take the first.

    views: the parts of the buffers by the names of the sums. Each begins at a multiple of ALIGNED entries;
    the first entry tells whether a worker was told to stop.
    """

    def __init__(self, like: Mapping[str, Any]):
        dtypes = {x: np.result_type(a) for x, a in like.items()}
        kinds: dict[Any, list[str]] = {dtype: [] for dtype in dtypes.values() if dtype.kind == "f"}
        for x, dtype in dtypes.items():
            kinds[dtype if dtype in kinds else next(iter(kinds))].append(x)
        self.flats, self.views = [], {}
        for dtype, names in kinds.items():
            places = np.cumsum([ALIGNED, *(-(-np.size(like[x]) // ALIGNED) * ALIGNED for x in names)])
            self.flats.append(arena(places[-1] * dtype.itemsize).view(dtype))
            for x, k in zip(names, places, strict=False):
                self.views[x] = self.flats[-1][k:k + np.size(like[x])].reshape(np.shape(like[x]))


class Ready(NamedTuple):
    """A stage that can run. part: what one piece gives, and total: the sum, which is the same place for a
    single piece. copied: sums of what the program gives; the others it writes itself."""
    program: Callable[[dict[str, Any]], dict[str, Any]]
    part: Totals
    total: Totals
    copied: dict[str, str]


class CutProgram:
    """The list as a function of its inputs, for the pieces of a minibatch that are this worker's,
    as `compile` makes one. A stage is compiled when it runs first, which tells the sizes of its sums."""

    def __init__(self, steps: WengertList, outputs: Collection[str], engine: str, inplace: Mapping[str, str],
                 workers: Workers):
        self.steps, self.wanted, self.asked = steps, dict.fromkeys([*outputs, *inplace.values()]), engine
        self.stages, self.workers = stages_of(steps, self.wanted), workers
        computed = {dst for dst, _, _ in self.stages[-1].steps}
        # what an earlier stage updates is read by later ones, and is overwritten when all are done
        self.late = {x: y for x, y in inplace.items() if y not in computed}
        over = {x: y for x, y in inplace.items() if y in computed}
        self.ready: list[Ready] = []
        gives = [y for y in self.wanted if y in computed and (y in outputs or y not in over.values())]
        self.last = self.compiled(self.stages[-1].steps, gives, over)

    @property
    def engine(self) -> str:
        """The engine of the last stage, once it has run."""
        return getattr(self.last, "engine", "")

    def __call__(self, values: dict[str, Any], pieces: list[dict[str, Any]]) -> dict[str, Any]:
        """The outputs. values: what all pieces have. pieces: for each the inputs that it alone has."""
        for k in range(len(self.stages) - 1):
            if k == len(self.ready):
                self.ready.append(self.made(k, values | pieces[0], len(pieces)))
            program, part, total, copied = self.ready[k]
            for number, piece in enumerate(pieces):
                piece |= program(values | piece | part.views)
                for x, y in copied.items():
                    part.views[x][...] = piece[y]
                for flat, more in zip(total.flats, part.flats, strict=True):
                    if number:
                        flat += more
                    elif flat is not more:
                        np.copyto(flat, more)
            for flat in total.flats:
                flat[0] = self.workers.heard
                self.workers.reduce(flat)
                self.workers.stop = bool(flat[0])
            for piece in pieces:
                piece |= total.views
        values = values | pieces[0]
        values |= self.last(values)
        for x, y in self.late.items():
            values[x][...] = values[y]
        return values

    def made(self, k: int, values: Mapping[str, Any], pieces: int) -> Ready:
        """A stage, as it is for these values."""
        steps, sums = self.stages[k]
        found = dict(values) | (eval(steps, values) if steps else {})
        total = Totals({x: found[y] for x, y in sums.items()})
        part = total if pieces == 1 else Totals(total.views)
        into = {y: x for x, y in sums.items() if np.ndim(found[y]) and found[y].dtype == part.views[x].dtype}
        into = {into[dst]: dst for dst, _, _ in steps if dst in into}
        copied = {x: y for x, y in sums.items() if x not in into}
        later = {a for other in self.stages[k + 1:] for _, _, args in other.steps for a in registers(args)}
        later |= {y for other in self.stages[k + 1:] for y in other.totals.values()} | {*self.wanted}
        gives = [dst for dst, _, _ in steps if dst in later or dst in copied.values()]
        # a line that reads them makes inputs of what is overwritten
        reads = [(fresh("into", {*values, *all_registers(self.steps)}), "bundle", (*into,))] * bool(into)
        return Ready(self.compiled([*steps, *reads], gives, into), part, total, copied)

    def compiled(self, steps: list[Line], gives: Collection[str], over: Mapping[str, str]) -> Callable:
        return Compiled(WengertList(steps), gives, self.asked, over, adapts=False) if steps else lambda _: {}
