"""A run on a mesh of JAX's devices: an epoch is one program, a scan over its minibatches, as many at a time as
AHEAD bytes hold; the next ones are put there meanwhile."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engines.jax.engine import AS_WRITTEN, NotForDevices, traceable, wide
from ..train.checkpoints import State
from ..train.evaluation import Diverged
from ..train.progress import CtrlC, Progress
from ..train.run import Run
from .mesh import laid

AHEAD = 2 ** 28


class DeviceRun(Run):
    """A run whose minibatches are cut by rows over the axis `data` of the mesh, and its matrices by rows over
    `model`; all else every device has. Parameters come back when they are saved, and at the end of an epoch.
    Where nobody asked for a mesh, a list that is not for JAX alone runs as any other."""

    def __init__(self, *arguments: Any, mesh: str | None = None, **options: Any):
        super().__init__(*arguments, mesh=mesh or "data=1", **options)
        self.asked = bool(mesh)

    def epoch(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        try:
            self.scan(state, ctrl_c, shown)
        except NotForDevices:
            if self.asked:
                raise
            self.scan = super().epoch
            self.scan(state, ctrl_c, shown)

    def scan(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        """Take the steps of the epoch that are left."""
        self.values.update(state.arrays)
        if state.batch == 0:
            for name, a in state.arrays.items():
                np.copyto(state.begun[name], a)
        ctrl_c.held = True
        held = {x: laid(state.arrays[x], self.mesh, "model" if state.arrays[x].ndim > 1 else None)
                for x in self.training.inplace}
        chunks = self.chunks(state.epoch, state.batch, state.t)
        ahead = next(chunks, None)
        while ahead:
            inputs, rows = ahead
            program = self.programs.get(rows) or self.scanned(rows, inputs)
            held, losses = program(held, inputs)
            ahead = next(chunks, None)  # while the devices compute
            self.workers.waiting = self.workers.size > 1 and time.monotonic()
            for loss in np.asarray(losses).tolist():
                if loss != loss:
                    raise self.diverged(state, state.batch, ctrl_c)
                state.loss += loss * rows
                state.batch += 1
                state.t += 1
                shown.step()
            self.workers.waiting = 0.0
            # what all do together all have to want
            late, stop = self.workers.total(np.array([time.monotonic() - self.saved > self.every,
                                                      ctrl_c.waiting or self.workers.heard], float))
            if late or stop or not ahead:
                for x, a in self.whole(held).items():
                    state.arrays[x][...] = np.asarray(a)
            if late and ahead:
                self.save(state)
            if stop:
                ctrl_c.held = False
                ctrl_c.deliver()
        self.sound = self.parameters(state.begun)
        ctrl_c.held = False

    def chunks(self, epoch: int, first: int, t: int) -> Iterator[tuple[dict[str, Any], int]]:
        """The inputs of minibatches of as many rows, on the devices, one minibatch behind another along a new
        first axis; and how many rows."""
        some: list[dict[str, Any]] = []
        before = 0
        for X, y, numbers in self.minibatches.epoch(epoch, first):
            t += 1
            given = self.objective.given(X, y, numbers, epoch) | {
                self.training.lr: self.rate(t), self.training.t: self.number(t)}
            given = {x: np.array(given[x]) for x in self.training.steps.inputs if x in given}
            if strange := [x for x, a in given.items() if a.dtype.kind not in "biuf"]:
                raise NotForDevices(f"{strange[0]!r} is no array, and a mesh takes nothing else: leave it away")
            rows, bytes_each = len(numbers), sum(a.nbytes for a in given.values())
            if some and (rows != before or len(some) * bytes_each > AHEAD):
                yield self.stacked(some, before), before
                some = []
            some, before = [*some, given], rows
        if some:
            yield self.stacked(some, before), before

    def stacked(self, some: list[dict[str, Any]], rows: int) -> dict[str, Any]:
        return {x: laid(np.stack([given[x] for given in some]), self.mesh, None,
                        "data" if a.shape[:1] == (rows,) else None) for x, a in some[0].items()}

    def scanned(self, rows: int, inputs: dict[str, Any]) -> Callable:
        """(parameters and moments, inputs) -> (what they are after the steps, their losses)."""
        import jax
        training = self.training
        fixed = {x: self.values[x] for x in training.steps.inputs if x not in inputs and x not in training.inplace}
        one = {x: np.zeros(a.shape[1:], a.dtype)[()] for x, a in inputs.items()}
        run = traceable(training.steps, self.values | one, [self.loss, *training.inplace.values()])

        def step(held: dict[str, Any], given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
            found, sure = run(fixed | held | given)
            return ({x: found[y] for x, y in training.inplace.items()},
                    jax.numpy.where(sure, found[self.loss].reshape(()), np.nan))

        def program(held: dict[str, Any], inputs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
            with wide():
                shardings = {x: a.sharding for x, a in held.items()}, jax.NamedSharding(self.mesh, jax.P())
                key = next(iter(inputs.values())).shape[0]
                if key not in compiled:
                    compiled[key] = jax.jit(lambda held, inputs: jax.lax.scan(step, held, inputs),
                                            out_shardings=shardings, compiler_options=AS_WRITTEN)
                return compiled[key](held, inputs)

        compiled: dict[int, Callable] = {}
        self.programs[rows] = program
        return program

    def whole(self, held: dict[str, Any]) -> dict[str, Any]:
        """The arrays, of which every device has all."""
        import jax
        return jax.jit(lambda held: held, out_shardings=jax.NamedSharding(self.mesh, jax.P()))(held)

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """As `Run` finds it, step by step, without the mesh."""
        self.programs = {}
        X, y, some = next(self.minibatches.epoch(state.epoch, latest))
        self.give(self.values, X, y, some, state.epoch, len(some))
        return super().diverged(state, latest, ctrl_c)
