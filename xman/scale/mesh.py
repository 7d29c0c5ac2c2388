"""A mesh of JAX's devices: rows and parameters of a list are laid out over it, and XLA adds the
communication."""
from __future__ import annotations

import math
import re
import socket
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import XManError, extra
from .mpi import job, workers


def mesh_of(text: str) -> Any:
    """The mesh that a text such as "data=2,model=2" says. XManError for another text, and if devices lack."""
    jax = extra("jax", "jax", "a mesh of devices")
    if (team := workers()).size > 1 and not jax.distributed.is_initialized():  # one process a device
        address = team.gathered(free_address() if team.rank == 0 else "")[0]
        jax.distributed.initialize(address, team.size, team.rank)
    if not re.fullmatch(r"((^|,)(data|model)=0*[1-9]\d*)+", text, re.ASCII):
        raise XManError(f"{text!r} is no mesh; write data=2 or data=2,model=2, to cut rows or parameters too")
    sizes = {"data": 1, "model": 1} | {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", text)}
    together, n = workers().size > 1, math.prod(sizes.values())
    devices = jax.devices() if together else jax.local_devices()
    if len(devices) < n or together and len(devices) != n:
        one = ", those of one worker, who makes a trial alone: search by one process" * (job().size > 1)
        raise XManError(f"the mesh {text} needs {n} devices, and JAX has {len(devices)} here"
                        + one * (not together))
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes), (jax.sharding.AxisType.Auto,) * 2,
                         devices=devices[:n])


def free_address() -> str:
    """This host's name, with a port that nobody uses."""
    with socket.socket() as door:
        door.bind(("", 0))
        return f"{socket.gethostname()}:{door.getsockname()[1]}"


def slice_of_devices(mesh: Any) -> Callable[..., slice]:
    """A function from the rows of a minibatch to the slice of them that the devices of this process take."""
    import jax
    count, process = mesh.shape["data"], jax.process_index()
    ours = [k for k, row in enumerate(mesh.devices) if any(d.process_index == process for d in row.ravel())]
    together = len(ours) == ours[-1] + 1 - ours[0]

    def slice_of(rows: int, borrowed: bool = True) -> slice:
        if rows % count or not together:  # every device has all
            return slice(0, rows)
        return slice(rows // count * ours[0], rows // count * (ours[-1] + 1))

    return slice_of


def laid(a: Any, mesh: Any, name: str, axis: int | None, length: int = 0) -> Any:
    """The array on the devices, with an axis cut over an axis of the mesh, if it can be divided. length: of
    this axis in all, of which each process may have what its own devices take; 0 where each has it all."""
    import jax

    from ..engines.jax.engine import wide
    shape = tuple(length or n if k == axis else n for k, n in enumerate(np.shape(a)))
    cut = [name if k == axis and n % mesh.shape[name] == 0 else None for k, n in enumerate(shape)]
    with wide():
        sharding = jax.NamedSharding(mesh, jax.P(*cut))
        return jax.make_array_from_process_local_data(sharding, np.asarray(a), shape)
