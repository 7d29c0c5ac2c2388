"""A run whose epochs are programs for JAX's devices; only `fit` imports this file, as it imports JAX."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..scale.devices import Devices, NotForDevices
from .checkpoints import State
from .evaluation import Diverged
from .objective import Objective
from .progress import CtrlC, Progress
from .run import Run


class OnDevices(Run):
    """A run on a mesh. Parameters come back to the host when they are saved, and at the end of an epoch.
    If the user asked for no mesh, a list that JAX alone cannot compute runs as any other."""

    def __init__(self, objective: Objective, *, mesh: str | None, **settings: Any):
        super().__init__(objective, mesh=mesh or "data=1", **settings)
        self.devices = Devices(self.training.steps, self.loss, self.training.inplace, self.mesh)
        self.asked, self.taken = bool(mesh), self.scan

    def epoch(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        try:
            self.taken(state, ctrl_c, shown)
        except NotForDevices:
            if self.asked:
                raise
            self.taken = super().epoch
            self.taken(state, ctrl_c, shown)

    def scan(self, state: State, ctrl_c: CtrlC, shown: Progress) -> None:
        """Take the remaining steps of the epoch."""
        self.begin(state)
        ctrl_c.held, t, given = True, self.training.t, self.objective.given
        held = self.devices.put(state.arrays)
        chunks = self.devices.chunks(
            (given(X, y, some, state.epoch) | {self.training.lr: self.rate(k), t: self.number(k)}, len(some))
            for k, (X, y, some) in enumerate(self.minibatches.epoch(state.epoch, state.batch), state.t + 1))
        ahead = next(chunks, None)
        while ahead:
            inputs, rows = ahead
            held, losses = self.devices.taken(held, inputs, rows, self.values)
            ahead = next(chunks, None)  # goes to the devices meanwhile
            self.workers.waiting = time.monotonic() * (self.workers.size > 1)
            for loss in np.asarray(losses).tolist():
                if loss != loss:
                    raise self.diverged(state, state.batch, ctrl_c)
                state.loss, state.batch, state.t = state.loss + loss * rows, state.batch + 1, state.t + 1
                shown.step()
            self.workers.waiting, waited = 0.0, time.monotonic() - self.saved > self.every
            # if one worker wants to save or stop, all do
            late, stop = self.workers.total(np.array([waited, ctrl_c.waiting or self.workers.heard], float))
            if late or stop or not ahead:
                for x, a in self.devices.whole(held).items():
                    state.arrays[x][...] = a
            if late and ahead:
                self.save(state)
            if stop:
                ctrl_c.held = False
                ctrl_c.deliver()
        self.sound, ctrl_c.held = self.parameters(state.begun), False

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error as `Run` finds it, step by step, without the mesh."""
        X, y, some = next(self.minibatches.epoch(state.epoch, latest))
        self.give(self.values, X, y, some, state.epoch, len(some))
        return super().diverged(state, latest, ctrl_c)
