"""Processes that mpiexec started: the steps of one, a dead one ends the job, and any number goes on from a checkpoint."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from xman import XManError
from xman.files import container
from xman.scale import launch
from xman.scale.launch import mpiexec

try:
    LAUNCHER = mpiexec() if find_spec("mpi4py") else ""
except XManError:
    LAUNCHER = ""
pytestmark = pytest.mark.skipif(not LAUNCHER, reason="there is no MPI here: pip install 'xman[mpi]'")

FITS = """
import sys, time, numpy as np
from xman import f, models
from xman.scale import common, stream, workers
from xman.train import OPTIMIZERS, cross_validate, fit, search
common.FEW *= workers().size < 3  # three share memory
R = np.random.default_rng(0)
X, y = R.normal(size=(37, 6)), R.integers(0, 3, 37)
mlp = lambda: models.MLP([6, 3], dtype=float)
block = lambda: models.ResidualMLP(6, 5, 3, normalization="batch", dropout=0.3, dtype=float)
cases = {f"mlp {name}": (mlp, {"optimizer": name, "l2": 0.01 * (name == "adam")}) for name in OPTIMIZERS}
cases |= {name: (mlp, {"optimizer": name, "batch_size": None, "lr": None}) for name in ("newton-cg", "gauss-newton")}
cases |= {"noise": (block, {"clip": 0.5}), "few rows": (block, {"batch_size": 2}), "stream": (mlp, {})}
cases["rates"] = mlp, {"lr": {"W1": 0.1, "b1": 0.01}}
for name in "sgd", "adam":
    cases[f"{name}, one stays"] = mlp, {"lr": {"W1": 0.1, "b1": 0}, "optimizer": name}
    cases[f"{name}, a number"] = (lambda: Scaled([6, 3], dtype=float)), {"optimizer": name}
cases |= {"stream of few": (mlp, {"batch_size": 2}), "no memory for gradients": (mlp, {})}
once = lambda *given, share=common.shared_memory, calls=[]: calls.append(1) or (share(*given) if len(calls) == 1 else None)
class Scaled(models.MLP):
    def __init__(self, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.a = f.param(default=0.9)
        self.loss = self.loss * self.a + f.square(self.a)
        self.setup()
found = {}
for name, (model, settings) in cases.items():
    common.shared_memory = once if "memory" in name else common.shared_memory
    data = stream([(X[k:k + 9], y[k:k + 9]) for k in range(0, 37, 9)], memory=0.006) if "stream" in name else (X, y)
    result = fit(model(), data, validation=(X, y), **{"epochs": 1, "batch_size": 10, "lr": 0.01, "progress": False} | settings)
    found |= {f"{name} {w}": a for w, a in result.parameters.items()} | {f"{name} loss": result.history[0]["loss"]}
class Slow(models.MLP):
    def feed(self, X, y):  # its first row takes the second worker longer than the others would wait
        time.sleep(1.6 * (len(y) == here.rank == 1))
        return super().feed(X, y)
here, quick = workers(), {"epochs": 2, "seed": 4, "batch_size": 7}
here.timeout = 0.6
for name, trials in {"folds": cross_validate(Slow([6, 3], dtype=float), (X, y), 3, **quick),
                     "grid": search(lambda **_: block(), (X, y), {"lr": [0.1, 1e300]}, validation=(X, y), **quick),
                     "both": search(block(), (X, y), {"lr": [0.1, 0.2]}, folds=2, optimizer="adam", **quick)}.items():
    for k, trial in enumerate(trials):
        found |= {f"dealt {name} {k} {w}": a for w, a in trial.result.parameters.items()} | {f"dealt {name} {k}": trial.loss}
here.timeout = 60
same = [all(np.array_equal(found[w], other[w]) for w in found) for other in workers().gathered(found)]
if not workers().rank:
    np.savez(sys.argv[1], same=same, **found)
"""


def started(*words, workers=2, **options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "XMAN_ENGINE": "numpy"}
    command = [LAUNCHER, "-n", str(workers), sys.executable, *map(str, words)]
    return subprocess.Popen(command[3 * (workers == 1):], env=environment, text=True, stderr=subprocess.PIPE,
                            stdout=subprocess.PIPE, start_new_session=True, **options)


def test_two_and_three_workers_take_the_steps_of_one_and_deal_out_its_trials(tmp_path, monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "numpy")
    jobs = [started("-c", FITS, tmp_path / f"{n}.npz", workers=n) for n in (2, 3)]
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "1.npz")])
    exec(FITS, {})
    assert not [said for job in jobs for said in [job.communicate()[1]] if job.returncode]
    one, *others = (np.load(tmp_path / f"{n}.npz") for n in (1, 2, 3))
    for other in others:
        assert all(other["same"]) and max(np.max(np.abs(one[w] - other[w])) for w in one.files
                                          if w != "same" and "dealt" not in w) < 1e-12
        assert all(np.array_equal(one[w], other[w]) for w in one.files if "dealt" in w)


TRAIN = ["-m", "xman", "train", "mlp", "--data", "digits", "--hidden", "8", "--quiet", "--json"]


def children(pid):
    """The processes of Python that a launcher has started."""
    found = [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]
    mine = [child for child in found if b"xman" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0:4]
            and b"mpi" not in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]]
    return mine + [grandchild for child in found for grandchild in children(child)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the workers are found by /proc")
def test_a_worker_that_hears_ctrl_c_stops_all_one_that_is_killed_ends_the_job_and_another_number_goes_on(tmp_path):
    path, reached = tmp_path / "run.safetensors", 0
    for number in signal.SIGINT, signal.SIGKILL:
        job = started(*TRAIN, "--epochs", "3000", "--patience", "3000", "--checkpoint", path)
        while not path.exists() or container.restore(path)[1]["state"]["epoch"] <= reached:
            assert job.poll() is None
            time.sleep(0.05)
        os.kill(children(job.pid)[-1], number)
        said, before = job.communicate(timeout=30)[0], reached
        reached = container.restore(path)[1]["state"]["epoch"]
        assert job.returncode and reached > before
        assert number == signal.SIGKILL or job.returncode == 130 and said.count('"reason": "interrupted in epoch') == 1
    again = started(*TRAIN, "--epochs", str(reached), "--patience", "3000", "--checkpoint", path, workers=1)
    said = again.communicate(timeout=60)
    assert not again.returncode, said


def test_a_launcher_that_is_told_to_end_ends_its_run_and_starts_no_other(tmp_path):
    path = tmp_path / "run.safetensors"
    job = started(*TRAIN, "--epochs", "3000", "--patience", "3000", "--checkpoint", path, "--restarts", "1", workers=1)
    while not path.exists():
        assert job.poll() is None
        time.sleep(0.05)
    job.terminate()
    said = job.communicate(timeout=20)[1]  # when all who hold the pipe have ended
    assert job.returncode == 128 + signal.SIGTERM and "goes on" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process that the one which started it has ended")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_a_launcher_that_is_killed_or_hung_up_takes_its_workers_with_it(tmp_path, number):
    path = tmp_path / "run.safetensors"
    job = started(*TRAIN, "--epochs", "3000", "--patience", "3000", "--checkpoint", path, "--workers", "2", workers=1)
    while not path.exists():
        assert job.poll() is None
        time.sleep(0.05)
    job.send_signal(number)
    job.communicate(timeout=20)  # when all who hold the pipe have ended
    assert job.returncode == -number


def test_workers_for_whom_there_is_no_room_in_shared_memory_are_not_started(monkeypatch):
    monkeypatch.setattr(launch.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000_000))
    with pytest.raises(XManError, match="has 2.0 MB left, and 2 workers share 2.1"):
        launch.launched(["train"], 2, 0, None)


def test_a_worker_that_hangs_and_one_that_fails_end_the_job_with_a_sentence(tmp_path):
    hangs = "import time\nfrom xman.scale import workers\nw = workers()\nw.timeout = 0.5\n" \
            "import numpy as np\ntime.sleep(60 * w.rank)\nw.reduce(np.ones(3))"
    fails = "import numpy as np\nfrom xman.scale import workers\nw = workers()\nw.rank and 1 / 0\nw.reduce(np.ones(3))"
    for program, words in (hangs, "has waited 0.5 s for the others"), (fails, "worker 2 of 2 has failed"):
        job = started("-c", program)
        assert words in job.communicate(timeout=30)[1] and job.returncode
