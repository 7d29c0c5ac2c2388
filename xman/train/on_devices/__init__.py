"""Training on JAX's devices: an epoch is one program, a scan over its minibatches."""
from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...engines.jax.engine import NotForDevices, wide
from ...errors import XManError
from ...scale.devices import Devices
from ...scale.shares import axis_of_rows, inputs_of_rows
from ...scale.signals import CtrlC
from ...scale.streams import minibatches_of
from ..checkpoints import State
from ..evaluation import Diverged
from ..objective import Objective
from ..run import Run
from ..settings import Settings


class DeviceRun(Run):
    """A run on a mesh. Parameters come back to the host when they are saved, and at the end of an epoch.

    If the user asked for no mesh, a list that JAX alone cannot compute runs as any other.
    """

    def __init__(self, objective: Objective, settings: Settings):
        super().__init__(objective, replace(settings, mesh=settings.mesh or "data=1"))
        training, (three, two), rows = self.step.training, inputs_of_rows(objective), {}
        self.mesh_is_asked, self.scans = bool(settings.mesh), True
        try:
            rows = {x: axis_of_rows(x, np.shape(three[x]), np.shape(a)) for x, a in two.items()}
        except XManError:
            if self.mesh_is_asked:
                raise
            self.scans = False
        self.devices = Devices(training.steps, self.step.loss, training.inplace, self.mesh, rows)
        self.arrays: dict[str, Any] = {}  # on the devices, where they stay from one epoch to the next

    def steps(self, state: State, ctrl_c: CtrlC) -> Iterator[None]:
        if self.scans:
            try:
                yield from self.scan(state, ctrl_c)
                return
            except NotForDevices:
                if self.mesh_is_asked:
                    raise
                self.scans = False
        yield from super().steps(state, ctrl_c)

    def inputs(self, state: State) -> Iterator[tuple[dict, int]]:
        """The inputs of each minibatch of the epoch that is left, and its number of rows."""
        step, begin, minibatches = self.step, state.batch, self.minibatches
        for t, minibatch in enumerate(minibatches.epoch(state.epoch, begin), state.t + 1):
            numbers = {step.training.lr: step.rate(t), step.training.t: step.number(t)}
            before = (begin + t - state.t - 1) * minibatches.size
            yield (self.objective.minibatch_inputs(*minibatch, state.epoch) | numbers,
                   min(minibatches.size, minibatches.rows - before))

    def scan(self, state: State, ctrl_c: CtrlC) -> Iterator[None]:
        """Take the remaining steps of the epoch."""
        from jax.experimental import multihost_utils
        self.begin(state)
        ctrl_c.deferred = True
        arrays = self.arrays or self.devices.put(state.arrays)
        chunks = self.devices.chunks(self.inputs(state))
        ahead = next(chunks, None)
        while ahead:
            inputs, rows = ahead
            arrays, losses = self.devices.after(arrays, inputs, rows, self.step.values)
            ahead = next(chunks, None)  # goes to the devices meanwhile
            self.workers.waiting = time.monotonic() * (self.workers.size > 1)
            for loss in np.asarray(losses).tolist():
                self.count(state, loss, rows, ctrl_c)
                yield
            self.workers.waiting, due = 0.0, self.checkpoint.due()
            # if one worker wants to save or stop, all do
            saving, stop = self.workers.total(np.array([due, ctrl_c.waiting or self.workers.heard], float))
            if saving or stop or not ahead:
                with wide():
                    for x, a in arrays.items():
                        local = a.is_fully_addressable
                        gathered = a if local else multihost_utils.process_allgather(a, tiled=True)
                        state.arrays[x][...] = gathered
            if saving and ahead:
                self.checkpoint.save(state)
            if stop:
                ctrl_c.deferred = False
                ctrl_c.deliver(stop)
        self.arrays, self.sound = arrays, self.step.parameters(state.begun)
        ctrl_c.deferred = False

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error as `Run` finds it, step by step, without the mesh, by all rows in each process."""
        self.minibatches = minibatches_of(self.objective, self.minibatches.size, self.settings.seed)
        X, y, numbers = next(self.minibatches.epoch(state.epoch, latest))
        self.step.feed(X, y, numbers, state.epoch, len(numbers))
        return super().diverged(state, latest, ctrl_c)
