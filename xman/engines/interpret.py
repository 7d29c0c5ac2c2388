"""The reference engine: the interpreter runs the list line by line."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..interpreters import eval
from ..interpreters.context import unshared
from .memory import overwrite
from .program import Built, Engine, Program
from .specialise.kinds import check_update, kind_of

ENGINE = Engine("interpret", __name__, lambda *_: (0, ""), after="", as_written=True)


def build(program: Program) -> Built:
    """The program that interprets the list as it was written."""
    literals = [a for _, _, args in program.original for a in args if isinstance(a, np.ndarray)]

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        registers = eval(program.original, values)
        outputs = {y: registers[y] for y in program.outputs}
        frozen = (x for x in outputs.values() if type(x) is np.ndarray and not x.flags.writeable)
        outputs = unshared(outputs, [*literals, *values.values(), *frozen])
        for y, x in program.inplace.items():
            check_update(x, y, kind_of(values[x]), kind_of(registers[y]))
        overwrite(*((values[x], registers[y]) for y, x in program.inplace.items()))
        return outputs

    return Built(run, program.original, f"{len(program.original)} lines, one after another")
