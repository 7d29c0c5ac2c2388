"""From a list to StableHLO, which JAX reads back and runs on any of its devices, without xman."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ops.loops import functions_in

from ..engines.arrays import on
from ..errors import XManError, extra
from ..files.whole import write_whole
from ..interpreters import eval
from ..notation import shown
from ..validity import refuse_line
from ..wengert import Steps, needed, registers
from .to_onnx import export_arguments


def to_stablehlo(steps: Steps, values: Mapping[str, Any], path: str | Path | None = None, *,
                 outputs: Iterable[str] | None = None, constants: Iterable[str] = (),
                 rows: Iterable[str] = ()) -> bytes:
    """The list as `jax.export` serialises it; it is written to the file `path` if that is given.

        >>> program = jax.export.deserialize(to_stablehlo(steps, values, rows=["X"]))
        >>> program.call({"X": X, "W": W})["loss"]

    steps, values, outputs, constants, rows: as for `to_onnx`. The program takes a dictionary of the inputs
    and gives one of the outputs. JAX promises to read such files for some months, and only if its 64 bits are
    switched on where the list uses them. Raises XManError with the line of an operator that JAX does not
    have.
    """
    jax = extra("jax", "jax", "StableHLO")
    from jax import export

    from ..engines.jax.engine import wide
    from ..engines.jax.table import OWN
    steps, values, outputs, constants, rows = export_arguments(steps, values, outputs, constants, rows)
    if loops := [(k, line) for k, line in enumerate(steps, 1) if functions_in([line])]:
        refuse_line(*loops[0], "applies a function, which StableHLO has no form for; write the loop out, a line "
                               "for each operator of each step")
    lines, fixed = needed(steps, outputs), {x: np.asarray(values[x]) for x in constants}
    eval(lines, values)  # an error of the list is raised here, as a sentence
    table = on(jax.numpy, **OWN)

    def run(inputs):
        values_of = {**{x: jax.numpy.asarray(v) for x, v in fixed.items()}, **inputs}
        for line in lines:
            dst, op, args = line
            try:
                values_of[dst] = table[op](*[values_of[a] if isinstance(a, str) else a for a in args])
            except Exception as error:  # whatever it is, JAX cannot compute the line
                where = f"line {steps.index(line) + 1}, {shown(line)}"
                raise XManError(f"{where}: {error}; that cannot be written in StableHLO") from error
        return {x: jax.numpy.asarray(values_of[x]) for x in outputs}

    with wide():
        n, = export.symbolic_shape("rows") if rows else [0]
        inputs = {a for _, _, args in lines for a in registers(args)} & {*steps.inputs} - fixed.keys()
        arrays = {x: np.asarray(values[x]) for x in steps.inputs if x in inputs}
        shapes = {x: jax.ShapeDtypeStruct((n, *a.shape[1:]) if x in rows else a.shape, a.dtype)
                  for x, a in arrays.items()}
        data = export.export(jax.jit(run))(shapes).serialize()
    if path is not None:
        write_whole(path, data)
    return bytes(data)
