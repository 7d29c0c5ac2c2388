"""The reference engine: the interpreter runs the list line by line."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..interpreters import eval
from .memory import overwrite
from .program import Built, Engine, Program
from .specialise.kinds import check_update, kind_of

ENGINE = Engine("interpret", __name__, lambda *_: (0, ""), after="", as_written=True)


def build(program: Program) -> Built:
    """The program that interprets the list as it was written."""
    literals = [a for _, _, args in program.original for a in args if isinstance(a, np.ndarray)]

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        registers = eval(program.original, values)
        arrays = [*literals, *(x for x in values.values() if type(x) is np.ndarray)]
        outputs: dict[str, Any] = {}
        for name in program.outputs:
            outputs[name] = x = registers[name]
            if type(x) is np.ndarray:
                if not x.flags.writeable or any(np.may_share_memory(x, y) for y in arrays):
                    outputs[name] = x = x.copy()  # it shares memory with no input and no other output
                arrays.append(x)
        for y, x in program.inplace.items():
            check_update(x, y, kind_of(values[x]), kind_of(registers[y]))
        overwrite(*((values[x], registers[y]) for y, x in program.inplace.items()))
        return outputs

    return Built(run, program.original, f"{len(program.original)} lines, one after another")
