"""Four devices train the same model as one, and rounded products a model that is nearly that."""
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from test_mpi import LAUNCHER

from xman import models
from xman.errors import XManError
from xman.passes.precision import in_mixed_precision
from xman.scale.mesh import free_address
from xman.train import fit
from xman.wengert import WengertList

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(60, 8)).astype("float32"), RNG.integers(0, 3, 60)
PROGRAM = """
import sys, numpy as np
from xman import models
from xman.train import fit
R = np.random.default_rng(0)
X, y = R.normal(size=(20, 6)), R.integers(0, 3, 20)
fitted = lambda **more: fit(models.MLP([6, 4, 3], dtype=float), (X, y), batch_size=10, lr=0.01, optimizer="momentum",
                            progress=False, **more).parameters
"""
FOUR = PROGRAM + """
from xman.scale import workers
from xman.train import search
fitted(epochs=1, mesh="data=2,model=2", checkpoint=sys.argv[1])
searched = lambda **more: search(models.MLP([6, 3], dtype=float), (X, y), {"lr": [0.1, 0.2]}, validation=(X, y), epochs=1, **more)
searched(engine="jax")  # a trial has the devices of one process alone
if workers().size > 1:
    try:
        searched(mesh="data=4")
        sys.exit("it was not refused")
    except Exception as error:
        assert "one worker, who makes a trial alone" in str(error), error
"""


def test_a_mesh_of_four_devices_takes_the_steps_of_one_which_goes_on_from_its_checkpoint(tmp_path):
    pytest.importorskip("jax")
    # four of a device each where all cases are wanted: each compiles for itself
    processes = (4 if os.environ.get("XMAN_ALL_CASES") else 2) if LAUNCHER else 1
    environment = os.environ | {"XLA_FLAGS": f"--xla_force_host_platform_device_count={4 // processes}",
                                "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([*[LAUNCHER, "-n", str(processes)] * (processes > 1), sys.executable, "-c", FOUR, tmp_path / "run"],
                          env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    exec(PROGRAM, here := {})
    for epochs in 1, 2:
        one, other = (here["fitted"](epochs=epochs, checkpoint=path) for path in (None, tmp_path / "run"))
        assert all(np.max(np.abs(one[w] - other[w])) < 1e-12 for w in one)


def test_mixed_precision_rounds_what_products_read_and_learns_as_well():
    pytest.importorskip("ml_dtypes")
    steps = in_mixed_precision(WengertList([("z", "dot", ("a", "b")), ("loss", "sum", ("z",))]))
    assert [op for _, op, _ in steps] == ["astype"] * 4 + ["dot", "sum"]
    settings = {"epochs": 5, "batch_size": 20, "lr": 0.1, "progress": False, "engine": "numpy"}
    full, short = (fit(models.MLP([8, 6, 3]), (X, y), precision=p, **settings).history for p in (None, "mixed"))
    assert all(0 < abs(a["loss"] - b["loss"]) < 1e-2 for a, b in zip(full, short, strict=True))


@pytest.mark.parametrize("settings, said", [({"mesh": "data=two"}, "no mesh"), ({"mesh": "data=4096"}, "devices"),
                                            ({"precision": "half"}, "precision")])
def test_a_mesh_or_a_precision_that_there_is_not_is_refused(settings, said):
    pytest.importorskip("jax")
    with pytest.raises(XManError, match=said):
        fit(models.MLP([8, 3]), (X, y), progress=False, **settings)


JOINED = PROGRAM + """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
from xman.scale import stream
jax.config.update("jax_cpu_collectives_implementation", "gloo")
n, rank, read = int(sys.argv[2]), int(sys.argv[3]), []
jax.distributed.initialize(sys.argv[1], n, rank)
mesh, Xy = {2: "data=2", 4: "data=2,model=2"}[n], (X, y)
class Read(models.MLP):
    def feed(self, X, y):
        read.append(len(y))
        return super().feed(X, y)
runs = [fitted(epochs=2, mesh=mesh), fitted(epochs=2)]
X, y = stream([(X[k:k + 5], y[k:k + 5]) for k in range(0, 20, 5)], memory=0.01), None
fit(Read([6, 4, 3], dtype=float), X, batch_size=10, mesh=mesh, progress=False)
assert read[-2:] == [5, 5], read  # its own rows of each minibatch
runs.append(fit(models.MLP([6, 4, 3], dtype=float), X, batch_size=10, lr=0.01, optimizer="momentum", epochs=2, mesh=mesh,
                progress=False).parameters)
if rank == 0:
    np.savez(sys.argv[4], **{f"{k} {w}": a for k, run in enumerate(runs) for w, a in run.items()})
"""


def test_processes_that_jax_distributed_joined_are_workers_without_mpi(tmp_path):
    pytest.importorskip("jax")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "XLA_FLAGS": ""}
    address = f"127.0.0.1:{free_address().rpartition(':')[2]}"
    n = 4 if os.environ.get("XMAN_ALL_CASES") else 2
    jobs = [subprocess.Popen([sys.executable, "-c", JOINED, address, str(n), str(k), tmp_path / "run.npz"], env=environment,
                             stderr=subprocess.PIPE, text=True) for k in range(n)]
    said = [job.communicate(timeout=120)[1] for job in jobs]
    assert not any(job.returncode for job in jobs), said
    exec(PROGRAM, here := {})
    one, both = here["fitted"](epochs=2), np.load(tmp_path / "run.npz")
    assert all(np.max(np.abs(one[w] - both[f"{k} {w}"])) < 1e-12 for w in one for k in range(3))


def test_parameters_and_moments_are_donated_and_put_on_the_devices_once(monkeypatch):
    pytest.importorskip("jax")
    from xman.scale.devices import Devices
    put, after, before = Devices.put, Devices.after, []
    monkeypatch.setattr(Devices, "put", lambda *given: before.append(put(*given)) or before[-1])
    monkeypatch.setattr(Devices, "after", lambda self, arrays, *more: before.append(arrays) or after(self, arrays, *more))
    exec(PROGRAM, here := {})
    here["fitted"](epochs=3, mesh="data=1")
    assert len(before) == 4 and before[0] is before[1] and all(a.is_deleted() for arrays in before for a in arrays.values())


def test_a_run_of_many_epochs_compiles_as_often_as_one_of_two(caplog):
    jax = pytest.importorskip("jax")
    exec(PROGRAM, here := {})
    counts = []
    with jax.log_compiles(), caplog.at_level("WARNING"):
        for epochs in 2, 7:
            caplog.clear()
            here["fitted"](epochs=epochs, mesh="data=1")
            counts.append(sum("Compiling" in record.getMessage() for record in caplog.records))
    assert 0 < counts[1] <= counts[0]
