"""A pass that cuts a list at its lines `x = allreduce(y)`, and the program of the pieces: between two of them
all that has come is added up over the workers, as one flat buffer."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..engines import Compiled
from ..wengert import Line, WengertList, registers
from .mpi import Workers


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


class CutProgram:
    """The list as a function of its inputs, for the pieces of a minibatch that are this worker's,
    as `compile` makes one."""

    def __init__(self, steps: WengertList, outputs: Collection[str], engine: str, inplace: Mapping[str, str],
                 workers: Workers):
        wanted = {*outputs, *inplace.values()}
        self.stages, self.workers, self.programs = stages_of(steps, wanted), workers, []
        last = len(self.stages) - 1
        computed = [{dst for dst, _, _ in stage.steps} for stage in self.stages]
        # what an earlier stage updates is read by later ones, and is overwritten when all are done
        self.inplace = {x: y for x, y in inplace.items() if y not in computed[last]}
        for k, (stage, mine) in enumerate(zip(self.stages, computed, strict=True)):
            later = {a for other in self.stages[k + 1:] for _, _, args in other.steps
                     for a in registers(args)}
            later |= {y for other in self.stages[k:] for y in other.totals.values()}
            gives = [dst for dst, _, _ in stage.steps if dst in later | wanted]
            over = {x: y for x, y in inplace.items() if k == last and y in mine}
            gives = [y for y in gives if y not in over.values() or y in outputs]
            self.programs.append(Compiled(stage.steps, gives, engine, over, adapts=False) if stage.steps
                                 else lambda values: {})

    @property
    def engine(self) -> str:
        """The engine of the last stage, once it has run."""
        return getattr(self.programs[-1], "engine", "")

    def __call__(self, values: dict[str, Any], pieces: list[dict[str, Any]]) -> dict[str, Any]:
        """The outputs. values: what all pieces have. pieces: for each the inputs that it alone has."""
        for k, (stage, program) in enumerate(zip(self.stages, self.programs, strict=True)):
            if k == len(self.stages) - 1:  # the optimizer
                values = values | pieces[0]
                found = program(values)
                break
            for piece in pieces:
                piece |= program(values | piece)
            totals = self.added([{x: piece[y] for x, y in stage.totals.items()} for piece in pieces])
            for piece in pieces:
                piece |= totals
        values = values | found
        for x, y in self.inplace.items():
            values[x][...] = values[y]
        return values

    def added(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Σ of each over the pieces, in their order, and over the workers:
        one flat buffer for each precision, of which counts take the first."""
        found, dtypes = {}, {x: np.result_type(a) for x, a in parts[0].items()}
        kinds: dict[Any, list[str]] = {dtype: [] for dtype in dtypes.values() if dtype.kind == "f"}
        for x, dtype in dtypes.items():
            kinds[dtype if dtype in kinds else next(iter(kinds))].append(x)
        for dtype, names in kinds.items():
            ends, heard = np.cumsum([np.size(parts[0][x]) for x in names]), [self.workers.heard]
            flat, more = (np.empty(ends[-1] + 1, dtype) for _ in range(2))
            for k, part in enumerate(parts):
                np.concatenate([*(np.ravel(part[x]) for x in names), heard], out=more if k else flat,
                               casting="unsafe")
                if k:
                    flat += more
            self.workers.reduce(flat)
            self.workers.stop = bool(flat[-1])
            for x, a in zip(names, np.split(flat, ends), strict=False):
                like = parts[0][x]
                found[x] = a.reshape(np.shape(like)) if isinstance(like, np.ndarray) else a[0]
        return found
