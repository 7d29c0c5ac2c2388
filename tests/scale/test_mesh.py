"""Four devices train the same model as one, and rounded products a model that is nearly that."""
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from xman import models
from xman.errors import XManError
from xman.scale.mesh import mixed
from xman.train import fit
from xman.wengert import WengertList

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(60, 8)).astype("float32"), RNG.integers(0, 3, 60)
PROGRAM = """
import numpy as np
from xman import models
from xman.train import fit, run
run.WORTH_COMPILING = 1
R = np.random.default_rng(0)
X, y = R.normal(size=(20, 6)), R.integers(0, 3, 20)
model = models.MLP([6, 4, 3], dtype=float)
settings = {"epochs": 1, "batch_size": 10, "optimizer": "momentum", "lr": 0.01, "progress": False, "engine": "numpy"}
one, four = (fit(model, (X, y), **settings, mesh=mesh).parameters for mesh in (None, "data=2,model=2"))
assert all(np.max(np.abs(one[w] - four[w])) < 1e-12 for w in one)
print("the same")
"""


def test_a_mesh_of_four_devices_takes_the_steps_of_one():
    pytest.importorskip("jax")
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu",
                                "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.stdout == "the same\n", done.stderr


def test_mixed_precision_rounds_what_products_read_and_learns_as_well():
    pytest.importorskip("ml_dtypes")
    steps = mixed(WengertList([("z", "dot", ("a", "b")), ("loss", "sum", ("z",))]))
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
