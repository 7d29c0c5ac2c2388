"""An epoch as one program for JAX's devices: a scan over as many minibatches as AHEAD bytes hold."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby, islice
from typing import Any

import numpy as np

from ..engines.jax.engine import AS_WRITTEN, NotForDevices, traceable, wide
from ..errors import XManError
from .mesh import laid
from .shares import axis_of_rows, inputs_of_rows

AHEAD = 2 ** 28


class Devices:
    """The steps of an objective's `TrainingList` on a mesh: minibatches are cut by rows over the axis `data`,
    matrices by rows over `model`; every device has all other arrays. arrays: those that steps overwrite; they
    stay on the devices from one epoch to the next. rows: the axis of the rows of each input that has some."""

    def __init__(self, objective: Any, training: Any, loss: str, mesh: Any):
        self.steps, self.inplace, self.loss, self.mesh = training.steps, training.inplace, loss, mesh
        self.inputs_of_rows = inputs_of_rows(objective)
        self.programs: dict[tuple[int, int], Callable] = {}
        self.arrays: dict[str, Any] = {}

    def scanned(self, arrays: Mapping[str, np.ndarray], minibatches: Iterable[tuple[dict, int]],
                values: Mapping) -> Iterator[tuple[Any, int, bool]]:
        """(losses, rows, whether there are more) of minibatches that are computed at once. minibatches:
        (inputs, rows) of each. values: of all other inputs."""
        self.arrays = self.arrays or self.put(arrays)
        chunks = self.chunks(minibatches)
        ahead = next(chunks, None)
        while ahead:
            inputs, rows = ahead
            self.arrays, losses = self.after(self.arrays, inputs, rows, values)
            ahead = next(chunks, None)  # goes to the devices meanwhile
            yield losses, rows, bool(ahead)

    def fetch(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Copy the arrays that steps overwrite to the host."""
        from jax.experimental import multihost_utils
        with wide():
            for x, a in self.arrays.items():
                local = a.is_fully_addressable
                arrays[x][...] = a if local else multihost_utils.process_allgather(a, tiled=True)

    def put(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The arrays that steps overwrite, on the devices. NotForDevices where inputs have no rows."""
        three, two = self.inputs_of_rows
        try:
            self.rows = {x: axis_of_rows(x, np.shape(three[x]), np.shape(a)) for x, a in two.items()}
        except XManError as error:
            raise NotForDevices(str(error)) from None
        return {x: laid(a := arrays[x], self.mesh, "model", 0 if a.ndim > 1 else None) for x in self.inplace}

    def chunks(self, minibatches: Iterable[tuple[dict, int]]) -> Iterator[tuple[dict[str, Any], int]]:
        """(inputs, rows) of minibatches with equally many rows, stacked along a first axis on the devices, of
        which each process has brought its own."""
        axes = {x: 1 + axis for x, axis in self.rows.items()}  # behind that of the minibatches
        for rows, alike in groupby(minibatches, lambda minibatch: minibatch[1]):
            arrays = (self.copies(inputs) for inputs, _ in alike)
            for first in arrays:
                count = max(1, AHEAD // max(1, sum(a.nbytes for a in first.values())))
                chunk = [first, *islice(arrays, count - 1)]
                stacks = {x: np.stack([minibatch[x] for minibatch in chunk]) for x in first}
                yield {x: laid(a, self.mesh, "data", axes.get(x), rows) for x, a in stacks.items()}, rows

    def copies(self, inputs: dict) -> dict[str, np.ndarray]:
        """The inputs that steps read. NotForDevices where one is no array."""
        arrays = {x: np.array(inputs[x]) for x in self.steps.inputs if x in inputs}
        if strange := [x for x, a in arrays.items() if a.dtype.kind not in "biuf"]:
            raise NotForDevices(f"a mesh takes arrays, and {strange[0]!r} is none: train without it")
        return arrays

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
                self.programs[key] = jax.jit(partial(jax.lax.scan, step), donate_argnums=0,
                                             out_shardings=shardings, compiler_options=AS_WRITTEN)
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
