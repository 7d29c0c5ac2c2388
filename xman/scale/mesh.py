"""A mesh of JAX's devices: the same list, its rows and parameters laid out over them,
and XLA adds the communication."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ops import facts_of

from ..errors import XManError, extra
from ..wengert import Line, WengertList, all_registers, fresh, registers
from .mpi import job, workers


def mesh_of(text: str) -> Any:
    """The mesh that "data=2,model=2" says. XManError where that is none, or not as many devices are here."""
    jax = extra("jax", "jax", "a mesh of devices")
    if workers().size > 1 and not jax.distributed.is_initialized():  # one process a device
        jax.distributed.initialize(cluster_detection_method="mpi4py")
    sizes = {"data": 1, "model": 1}
    for part in text.split(","):
        name, _, n = part.partition("=")
        if name not in sizes or not n.isdecimal() or not int(n):
            raise XManError(f"{text!r} is no mesh; write data=2, or data=2,model=2: rows over the one, "
                            "parameters over the other")
        sizes[name] = int(n)
    together, n = workers().size > 1, math.prod(sizes.values())
    here = jax.devices() if together else jax.local_devices()
    if len(here) < n or together and len(here) != n:
        one = ", those of one worker, who makes a trial alone: search by one process" * (job().size > 1)
        raise XManError(f"the mesh {text} needs {n} devices, and JAX has {len(here)} here{one * (not together)}")
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes), (jax.sharding.AxisType.Auto,) * 2,
                         devices=here[:n])


def laid(a: Any, mesh: Any, *axes: str | None) -> Any:
    """The array on the devices, each of its axes cut over that axis of the mesh, where it can be divided.
    Every process has the whole array, and puts what its devices have of it there."""
    import jax

    from ..engines.jax.engine import wide
    a = np.asarray(a)
    cut = [axis if axis and n % mesh.shape[axis] == 0 else None
           for axis, n in zip(axes, a.shape, strict=False)]
    with wide():
        return jax.make_array_from_callback(a.shape, jax.NamedSharding(mesh, jax.P(*cut)), a.__getitem__)


def in_mixed_precision(steps: WengertList) -> WengertList:
    """The list whose products are of numbers rounded to bfloat16,
    and summed in float32: a product of two such is exact there."""
    extra("ml_dtypes", "jax", "mixed precision")  # from here on NumPy knows the type
    lines: list[Line] = []
    rounded: dict[str, str] = {}
    taken = {*all_registers(steps)}
    for dst, op, args in steps:
        product = facts_of(op).flow == "summed" and sum(type(a) is not tuple for a in args) > 1  # else a sum
        for a in registers(args) if product else ():
            if a not in rounded:
                short, rounded[a] = fresh(f"{a}_bfloat16", taken), fresh(f"{a}_rounded", taken)
                lines += [(short, "astype", (a, ("bfloat16",))),
                          (rounded[a], "astype", (short, ("float32",)))]
        lines.append((dst, op, tuple(rounded[a] if product and isinstance(a, str) else a for a in args)))
    return WengertList(lines)
