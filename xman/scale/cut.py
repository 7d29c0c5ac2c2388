"""A pass that cuts a list at its lines `x = allreduce(y)`, and the program of the pieces: between two pieces
their results are added up over the workers, as one flat buffer."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

import ops

from ..engines import Compiled
from ..interpreters import eval
from ..wengert import Line, WengertList, all_registers, fresh, needed, registers
from .common import Common
from .mpi import Workers


class Stage(NamedTuple):
    """Lines that run together, and {register: the name of its sum} for registers to add up after them."""
    steps: WengertList
    totals: dict[str, str]


def stages_of(steps: WengertList, outputs: Collection[str]) -> list[Stage]:
    """The lines that outputs need, in as few stages as possible: lines that sums need as early as possible,
    the others, the optimizer's, in the last stage."""
    steps = needed(steps, outputs)
    summed = {line[0] for line in needed(steps, [args[0] for _, op, args in steps if op == "allreduce"])}
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


def updated_alike(training: Any, outputs: Collection[str], inplace: Mapping[str, str],
                  states: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The states, in the order of their gradients, if each worker may do the last stage for a slice of all of
    them as if they were one array: if it is entrywise and the same for each. Otherwise [].

    training: a `TrainingList`. states: each parameter that moves, with its moments. outputs: those that are
    not arrays.
    """
    *_, before, last = Stage(WengertList(), {}), *stages_of(training.steps, {*outputs, *inplace.values()})
    state_of, value_numbers, forms = {}, {}, set()  # value_numbers: a number for each (operator, arguments)
    for state in states:
        lines = WengertList(needed(last.steps, [inplace[x] for x in state]))
        gradients = {*lines.inputs} - {training.lr, training.t, *state}
        named = {x: (k,) for k, x in enumerate([*state, *gradients])}
        for dst, op, args in lines:
            did = op, *(named.get(a, a) if isinstance(a, str) else (repr(a),) for a in args)
            named[dst] = value_numbers.setdefault(did, len(value_numbers))
        state_of |= dict.fromkeys(gradients, state)
        forms.add(tuple(named[inplace[x]] for x in state))
    order = [state_of[x] for x in before.totals if x in state_of]
    by_entry = all(ops.facts_of(op).elementwise and not any(map(np.ndim, args)) for _, op, args in last.steps)
    alike = by_entry and len(forms) == 1 and {*outputs, *state_of} <= {*before.totals}
    return order if alike and sorted(sum(order, ())) == sorted(inplace) else []


class CutProgram:
    """The list as a function of its inputs, for the pieces of a minibatch that are this worker's,
    as `compile` makes one. A stage is compiled when it runs first, which tells the sizes of its sums."""

    def __init__(self, steps: WengertList, outputs: Collection[str], engine: str, inplace: Mapping[str, str],
                 workers: Workers, state_slices: Mapping[str, np.ndarray]):
        self.state_slices, self.slices = state_slices, {}  # slices: inputs of the last stage
        self.steps, self.outputs, self.backend = steps, dict.fromkeys([*outputs, *inplace.values()]), engine
        self.stages, self.workers = stages_of(steps, self.outputs), workers
        computed = {dst for dst, _, _ in self.stages[-1].steps}
        # later stages read the old values of these, so they are overwritten at the very end
        self.deferred = {x: y for x, y in inplace.items() if y not in computed}
        self.over = {x: y for x, y in inplace.items() if y in computed}
        # for each stage that has run: the program, its buffers, their terms, their sums, the sums to copy
        self.ready: list[tuple[Callable, list[Common], dict, dict, dict[str, str]]] = []
        self.gives = [y for y in self.outputs
                      if y in computed and (y in outputs or y not in self.over.values())]
        self.last = self.compiled(self.stages[-1].steps, self.gives, self.over)

    @property
    def engine(self) -> str:
        """The engine of the last stage, once it has run."""
        return getattr(self.last, "engine", "")

    def __call__(self, values: dict[str, Any], pieces: list[dict[str, Any]]) -> dict[str, Any]:
        """The outputs. values: inputs that all pieces share. pieces: for each piece its own inputs."""
        tables, sums = [values | piece for piece in pieces], {}
        for k in range(len(self.stages) - 1):
            if k == len(self.ready):
                self.ready.append(self.stage_ready_for(k, tables[0]))
            program, common, terms, totals, copied = self.ready[k]
            for number, values in enumerate(tables):
                values |= terms
                values |= program(values)
                for x, y in copied.items():
                    terms[x][...] = values[y]
                for flat in common if len(tables) > 1 else ():
                    flat.local += sums[flat] if number else 0
                    sums[flat] = flat.local.copy()
            for flat in common:
                flat.local[0] = self.workers.heard + self.workers.due
                flat.add(not self.state_slices or k < len(self.stages) - 2)
                self.workers.stop = float(flat.total[0].real)
            for values in tables:
                values |= totals
        values = tables[0]
        values |= self.last(values | self.slices)
        for x, y in self.deferred.items():
            values[x][...] = values[y]
        if self.state_slices:
            self.workers.meet()
        return values

    def stage_ready_for(self, k: int, values: Mapping[str, Any]) -> tuple:
        """Stage k, ready to run on values like these; its program writes sums itself where it can."""
        steps, sums = self.stages[k]
        examples = dict(values) | (eval(steps, values) if steps else {})
        dtypes = {x: np.result_type(examples[y]) for x, y in sums.items()}
        kinds = dict.fromkeys(dtype for dtype in dtypes.values() if dtype.kind in "fc")
        dtypes = {x: dtype if dtype in kinds else next(iter(kinds)) for x, dtype in dtypes.items()}
        likes = {dtype: {x: examples[y] for x, y in sums.items() if dtypes[x] == dtype} for dtype in kinds}
        common = [Common(self.workers, like, dtype, not self.state_slices) for dtype, like in likes.items()]
        terms = {x: a for flat in common for x, a in flat.terms.items()}
        totals = {x: a for flat in common for x, a in flat.sums.items()}
        into = {y: x for x, y in sums.items() if np.ndim(examples[y]) and examples[y].dtype.kind == "f"}
        into = {into[dst]: dst for dst, _, _ in steps if dst in into}
        copied = {x: y for x, y in sums.items() if x not in into}
        read_later = {a for stage in self.stages[k + 1:] for a in stage.steps.inputs}
        gives = [dst for dst, _, _ in steps if dst in {*read_later, *self.outputs, *copied.values()}]
        # one more line reads the arrays to overwrite, so that they are inputs
        reads = [(fresh("into", {*values, *all_registers(self.steps)}), "bundle", (*into,))] * bool(into)
        if k == len(self.stages) - 2 and self.state_slices:
            self.divide(common)
        return self.compiled([*steps, *reads], gives, into), common, terms, totals, copied

    def divide(self, common: list[Common]) -> None:
        """Let this worker add up and update only its slice, of all arrays as if they were one."""
        reserved = {*all_registers(self.steps)}
        real = [flat for flat in common if flat.local.dtype.kind == "f"]  # as states are
        x, rows = next((x, flat.slices) for flat in real for x, a in flat.terms.items() if a.ndim)
        names = [fresh(f"{x}_of_{worker}", reserved) for worker in range(1, len(rows))]
        # without shared memory MPI has added them up
        sums = [*(fresh(f"{x}_sum", reserved) for _ in names[2:]), *[x] * bool(names)]
        added = [*zip(sums, repeat("add"), zip([*names[:1], *sums], names[1:], strict=False))]
        self.over = {state: self.over[state] for state in self.state_slices}
        self.slices = self.state_slices | dict(zip(names or [x], rows, strict=False))
        steps = needed([*added, *self.stages[-1].steps], self.over.values())
        self.last = self.compiled(steps, self.gives, self.over)

    def compiled(self, steps: list[Line], gives: Collection[str], over: Mapping[str, str]) -> Callable:
        if not steps:
            return lambda _: {}
        return Compiled(WengertList(steps), gives, self.backend, over, adapts=False)
