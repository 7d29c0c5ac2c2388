"""An epoch as one program for JAX's devices: a scan over as many minibatches as AHEAD bytes hold."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..engines.jax.engine import AS_WRITTEN, NotForDevices, traceable, wide
from ..wengert import WengertList
from .mesh import laid

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
