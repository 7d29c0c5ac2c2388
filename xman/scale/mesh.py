"""A mesh of JAX's devices: the same list, its rows and parameters laid out over them,
and XLA adds the communication."""
from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..engines import compile
from ..errors import XManError, extra
from ..wengert import Line, WengertList

PRODUCTS = "dot", "dotLeft", "dotRight"


def mesh_of(text: str) -> Any:
    """The mesh that "data=2,model=2" says. XManError where that is none, or not as many devices are here."""
    jax = extra("jax", "jax", "a mesh of devices")
    sizes = {"data": 1, "model": 1}
    for part in text.split(","):
        name, _, n = part.partition("=")
        if name not in sizes or not n.isdecimal() or not int(n):
            raise XManError(f"{text!r} is no mesh; write data=2, or data=2,model=2: rows over the one, "
                            "parameters over the other")
        sizes[name] = int(n)
    if (here := len(jax.devices())) < math.prod(sizes.values()):
        raise XManError(f"the mesh {text} needs {math.prod(sizes.values())} devices, and JAX has {here} here")
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes),
                         devices=jax.devices()[:math.prod(sizes.values())])


class MeshProgram:
    """The list as a function of its inputs for minibatches of so many rows, which runs on the mesh.

    Each input whose rows are many as the minibatch's is cut over `data`, each matrix that is overwritten over
    `model` by its rows, where the number can be divided; all else every device has. What is overwritten stays
    on the devices from call to call, and is copied back after each.
    """

    def __init__(self, steps: WengertList, outputs: Collection[str], inplace: Mapping[str, str], mesh: Any,
                 rows: int):
        self.rows, self.engine = rows, "jax"
        self.program, self.inplace, self.mesh = (compile(steps, {*outputs, *inplace.values()}, "jax"),
                                                 inplace, mesh)
        self.held: dict[str, tuple[np.ndarray, Any]] = {}

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs."""
        laid = {}
        for x in self.program.steps.inputs:
            a = values[x]
            if x in self.inplace:
                known, held = self.held.get(x, (None, None))
                same = known is not None and np.array_equal(known, a)
                laid[x] = held if same else self.laid(a, "model" if a.ndim > 1 else None)
            else:
                laid[x] = self.laid(a, "data" if np.shape(a)[:1] == (self.rows,) else None)
        found = self.program(laid)
        for x, y in self.inplace.items():
            values[x][...] = found[y]
            self.held[x] = values[x].copy(), found[y]
        return found

    def laid(self, a: Any, axis: str | None) -> Any:
        """The array on the devices, its rows cut over that axis of the mesh."""
        import jax

        from ..engines.jax.engine import wide
        cut = axis if axis and len(a) % self.mesh.shape[axis] == 0 else None
        with wide():
            return jax.device_put(np.asarray(a), jax.NamedSharding(self.mesh, jax.P(cut) if cut else jax.P()))


def mixed(steps: WengertList) -> WengertList:
    """The list whose products are of numbers rounded to bfloat16,
    and summed in float32: a product of two such is exact there."""
    extra("ml_dtypes", "jax", "mixed precision")  # from here on NumPy knows the type
    lines: list[Line] = []
    rounded: dict[str, str] = {}
    taken = {*steps.inputs, *(dst for dst, _, _ in steps)}
    for dst, op, args in steps:
        for a in args if op in PRODUCTS else ():
            if isinstance(a, str) and a not in rounded:
                short, rounded[a] = f"{a}_bfloat16", f"{a}_rounded"
                if {short, rounded[a]} & taken:
                    raise XManError(f"a register is called {short} or {rounded[a]} already; rename it")
                lines += [(short, "astype", (a, ("bfloat16",))),
                          (rounded[a], "astype", (short, ("float32",)))]
        lines.append((dst, op, tuple(rounded[a] if isinstance(a, str) else a for a in args) if op in PRODUCTS
                      else args))
    return WengertList(lines)
