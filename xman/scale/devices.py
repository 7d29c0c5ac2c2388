"""An epoch as one program for JAX's devices: a scan over as many minibatches as AHEAD bytes hold."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.jax.engine import AS_WRITTEN, NotForDevices, traceable, wide
from ..errors import XManError
from ..wengert import WengertList
from .mesh import laid
from .shares import axis_of_rows, inputs_of_rows
from .signals import CtrlC
from .streams import minibatches_of

if TYPE_CHECKING:
    from ..train.checkpoints import State
    from ..train.evaluation import Diverged
    from ..train.objective import Objective
    from ..train.settings import Settings

AHEAD = 2 ** 28


class Devices:
    """A training step on a mesh, with its loss and the arrays that it overwrites: minibatches are cut by rows
    over the axis `data`, matrices by rows over `model`; every device has all other arrays.
    rows: the axis of the rows of each input that has some."""

    def __init__(self, steps: WengertList, loss: str, inplace: Mapping[str, str], mesh: Any,
                 rows: Mapping[str, int]):
        self.steps, self.loss, self.inplace, self.mesh, self.rows = steps, loss, inplace, mesh, rows
        self.programs: dict[tuple[int, int], Callable] = {}

    def put(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The arrays that steps overwrite, on the devices."""
        return {x: laid(a := arrays[x], self.mesh, "model", 0 if a.ndim > 1 else None) for x in self.inplace}

    def chunks(self, minibatches: Iterable[tuple[dict, int]]) -> Iterator[tuple[dict[str, Any], int]]:
        """(inputs, rows) of minibatches with equally many rows, stacked along a first axis on the devices, of
        which each process has brought its own."""
        chunk: list[dict[str, Any]] = []
        before = 0
        for inputs, rows in minibatches:
            arrays = {x: np.array(inputs[x]) for x in self.steps.inputs if x in inputs}
            if strange := [x for x, a in arrays.items() if a.dtype.kind not in "biuf"]:
                raise NotForDevices(f"a mesh takes arrays, and {strange[0]!r} is none: train without it")
            size = sum(a.nbytes for a in arrays.values())
            if chunk and (rows != before or (len(chunk) + 1) * size > AHEAD):
                yield self.stacked(chunk, before), before
                chunk = []
            chunk, before = [*chunk, arrays], rows
        if chunk:
            yield self.stacked(chunk, before), before

    def stacked(self, chunk: list[dict[str, Any]], rows: int) -> dict[str, Any]:
        arrays = {x: np.stack([minibatch[x] for minibatch in chunk]) for x in chunk[0]}
        axes = {x: 1 + axis for x, axis in self.rows.items()}  # behind that of the minibatches
        return {x: laid(a, self.mesh, "data", axes.get(x), rows) for x, a in arrays.items()}

    def after(self, arrays: dict[str, Any], inputs: dict[str, Any], rows: int,
              values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The overwritten arrays after these steps, and the losses, which the devices may still be computing.
        values: of all other inputs."""
        import jax
        with wide():
            key = rows, next(iter(inputs.values())).shape[0]
            if key not in self.programs:
                shardings = {x: a.sharding for x, a in arrays.items()}, jax.NamedSharding(self.mesh, jax.P())
                step = self.step(inputs, values)
                self.programs[key] = jax.jit(lambda arrays, inputs: jax.lax.scan(step, arrays, inputs),
                                             donate_argnums=0, out_shardings=shardings,
                                             compiler_options=AS_WRITTEN)
            return self.programs[key](arrays, inputs)

    def step(self, inputs: dict[str, Any], values: Mapping[str, Any]) -> Callable:
        """A function for one step, (arrays, minibatch) -> (arrays, loss), which JAX can trace."""
        from jax import numpy as jnp
        one = {x: np.zeros(a.shape[1:], a.dtype)[()] for x, a in inputs.items()}
        fixed = {x: values[x] for x in self.steps.inputs if x not in inputs and x not in self.inplace}
        run = traceable(self.steps, {**values, **one}, [self.loss, *self.inplace.values()])

        def step(arrays: dict[str, Any], minibatch: dict[str, Any]) -> tuple[dict[str, Any], Any]:
            outputs, sure = run(fixed | arrays | minibatch)
            loss = jnp.where(sure, outputs[self.loss].reshape(()), jnp.nan)
            return {x: outputs[y] for x, y in self.inplace.items()}, loss

        return step


class OnDevices:
    """What makes a run on a mesh of a `train.run.Run`, which follows it among the bases. Parameters come
    back to the host when they are saved, and at the end of an epoch.

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
