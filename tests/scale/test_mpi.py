"""Processes that mpiexec started: the steps of one, a dead one ends the job, and any number goes on from a checkpoint."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from xman import XManError
from xman.files import container
from xman.scale import Workers, launch
from xman.scale.launch import mpiexec

try:
    LAUNCHER = mpiexec() if find_spec("mpi4py") else ""
except XManError:
    LAUNCHER = ""
pytestmark = [pytest.mark.skipif(not LAUNCHER, reason="there is no MPI here: pip install 'xman[mpi]'"),
              pytest.mark.filterwarnings("ignore:os.fork")]  # of JAX, if other tests have imported it

FITS = """
import sys, numpy as np
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
quick = {"epochs": 2, "seed": 4, "batch_size": 7}
for name, trials in {"folds": cross_validate(mlp(), (X, y), 3, **quick),
                     "grid": search(lambda **_: block(), (X, y), {"lr": [0.1, 1e300]}, validation=(X, y), **quick),
                     "both": search(block(), (X, y), {"lr": [0.1, 0.2]}, folds=2, optimizer="adam", **quick)}.items():
    for k, trial in enumerate(trials):
        found |= {f"dealt {name} {k} {w}": a for w, a in trial.result.parameters.items()} | {f"dealt {name} {k}": trial.loss}
same = [all(np.array_equal(found[w], other[w]) for w in found) for other in workers().gathered(found)]
if not workers().rank:
    np.savez(sys.argv[1], same=same, **found)
"""


def started(*words, workers=2, **told):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "XMAN_ENGINE": "numpy"} | told
    command = [LAUNCHER, "-n", str(workers), sys.executable, *map(str, words)]
    return subprocess.Popen(command[3 * (workers == 1):], env=environment, text=True, stderr=subprocess.PIPE,
                            stdout=subprocess.PIPE, start_new_session=True)


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


def training(path, *words, epochs=3000, workers=1, after=0):
    """A job that trains, once its checkpoint has come beyond epoch `after`."""
    job = started(*TRAIN, "--epochs", epochs, "--patience", "3000", "--checkpoint", path, *words, workers=workers)
    while not path.exists() or container.restore(path)[1]["state"]["epoch"] <= after:
        assert job.poll() is None
        time.sleep(0.05)
    return job


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
        job = training(path, workers=2, after=reached)
        os.kill(children(job.pid)[-1], number)
        said, before = job.communicate(timeout=30)[0], reached
        reached = container.restore(path)[1]["state"]["epoch"]
        assert job.returncode and reached > before
        assert number == signal.SIGKILL or job.returncode == 130 and said.count('"reason": "interrupted in epoch') == 1
    again = started(*TRAIN, "--epochs", str(reached), "--patience", "3000", "--checkpoint", path, workers=1)
    said = again.communicate(timeout=60)
    assert not again.returncode, said


def test_a_launcher_that_is_told_to_end_ends_its_run_and_starts_no_other(tmp_path):
    job = training(tmp_path / "run.safetensors", "--restarts", "1")
    job.terminate()
    said = job.communicate(timeout=20)[1]  # when all who hold the pipe have ended
    assert job.returncode == 128 + signal.SIGTERM and "goes on" not in said and said.count("told to end") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process that the one which started it has ended")
@pytest.mark.parametrize("number, status, reason", [
    (signal.SIGKILL, -signal.SIGKILL, ""), (signal.SIGHUP, 143, "told to end: interrupted in epoch"),
    (signal.SIGINT, 130, "interrupted in epoch")])
def test_a_launcher_that_is_killed_hung_up_or_told_to_end_takes_its_workers_with_it(tmp_path, number, status, reason):
    job = training(tmp_path / "run.safetensors", "--workers", "2")
    job.send_signal(number)
    said = job.communicate(timeout=20)  # when all who hold the pipe have ended
    assert job.returncode == status and sum(text.count(reason) == 1 for text in said) >= 1


def proxies(pid):
    """All processes below one that Python does not run."""
    below = [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]
    return [child for child in below if b"mpi" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]] + [
        proxy for child in below for proxy in proxies(child)]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process that the one which started it has ended")
def test_a_launcher_of_mpis_that_is_killed_takes_its_workers_with_it(tmp_path):
    job = training(tmp_path / "run.safetensors", "--workers", "2")
    (mpiexec,) = proxies(job.pid)
    (proxy,) = Path(f"/proc/{mpiexec}/task/{mpiexec}/children").read_text().split()
    os.kill(int(proxy), signal.SIGKILL)
    said = job.communicate(timeout=30)[1]  # when all who hold the pipe have ended
    assert job.returncode and "xman: the run ended with status" in said


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells of processes that were stopped")
def test_a_run_whose_launchers_are_stopped_comes_to_its_end_and_leaves_nobody(tmp_path):
    job = training(tmp_path / "run.safetensors", "--workers", "2", "--timeout", "1", epochs=15)
    for proxy in proxies(job.pid):
        os.kill(proxy, signal.SIGSTOP)
    said = job.communicate(timeout=30)  # when all who hold the pipe have ended
    assert not job.returncode and '"epoch": 15' in said[0], said


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells of processes that were stopped")
def test_a_run_all_of_whose_workers_are_stopped_ends_with_a_sentence(tmp_path):
    job = training(tmp_path / "run.safetensors", "--workers", "2", "--timeout", "2")
    for worker in children(job.pid)[-2:]:
        os.kill(worker, signal.SIGSTOP)
    said = job.communicate(timeout=30)[1]  # when all who hold the pipe have ended
    assert job.returncode == 1 and "was stopped for 2 s: the run ends" in said, said


def test_a_wait_in_which_the_whole_job_was_suspended_is_no_wait(monkeypatch):
    """The clock goes on in such hours, and the thread that watches sleeps through them."""
    here, ended = Workers(), []
    here.comm, here.abort = SimpleNamespace(barrier=lambda: time.sleep(0.3)), lambda *words: ended.append(words)
    watcher = threading.Thread(target=here.watch, daemon=True)
    here.timeout, clock = 0.5, time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() * 1e4)
    watcher.start()
    here.meet()
    here.over = True
    watcher.join(5)
    assert not ended


def test_workers_for_whom_there_is_no_room_in_shared_memory_are_not_started(monkeypatch):
    monkeypatch.setattr(launch.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000_000))
    with pytest.raises(XManError, match="has 2.0 MB left, and 2 workers share 2.1"):
        launch.launched(["train"], 2, 0, None, 60)


def test_a_worker_that_hangs_and_one_that_fails_end_the_job_with_a_sentence(tmp_path):
    hangs = "import time\nfrom xman.scale import workers\nw = workers()\nw.timeout = 0.5\n" \
            "import numpy as np\ntime.sleep(60 * w.rank)\nw.reduce(np.ones(3))"
    fails = "import numpy as np\nfrom xman.scale import workers\nw = workers()\nw.rank and 1 / 0\nw.reduce(np.ones(3))"
    for program, words in (hangs, "has waited 0.5 s for the others"), (fails, "worker 2 of 2 has failed"):
        job = started("-c", program)
        assert words in job.communicate(timeout=30)[1] and job.returncode


LATE = """
import os, signal, sys, time
from xman.scale.mpi import Workers, workers
Workers.timeout = 4
if os.environ["PMI_RANK"] == "1":
    {"stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP), "late": lambda: time.sleep(1)}[sys.argv[1]]()
print(workers().timeout)
"""


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be stopped")
def test_a_worker_that_is_stopped_before_mpi_has_begun_ends_the_job_and_one_that_is_late_does_not():
    jobs = {word: started("-c", LATE, word) for word in ("stopped", "late")}
    said = jobs["stopped"].communicate(timeout=60)
    assert "xman: MPI has not begun for 4 s: a worker is missing, or was stopped" in said[1] and jobs["stopped"].returncode
    said = jobs["late"].communicate(timeout=60)[0]  # mpiexec may hand on a number of each before the ends of lines
    assert "".join(said.split()) == "44" and not jobs["late"].returncode


RANDOM = """
import numpy as np, sys
from xman import XMan, XManError, f
from xman.scale import workers
from xman.train import fit
class Line(XMan):
    X, y = f.input(), f.input()
    w = f.param(default=np.random.default_rng().normal(size=(3, 1)))
    loss = f.mean(f.square(X @ w - y))
R, rank = np.random.default_rng(0), workers().rank
X, y = R.normal(size=(20, 3)), R.normal(size=(20, 1))
quick = {"lr": 0.1, "epochs": 1, "progress": False}
fitted = lambda X=X, y=y, **settings: fit(Line().setup(), (X, y), **quick | settings).parameters["w"]
a, b = workers().gathered(fitted())
assert np.array_equal(a, b)
order = slice(None, None, -1 if rank else 1)
for word, told in {"lr": {"lr": 0.1 + rank}, "seed": {"seed": rank}, "optimizer": {"optimizer": ["sgd", "adam"][rank]},
                   "digest": {"X": X[order], "y": y[order]}, "clip": {"clip": 1.0 + rank}, "epochs": {"epochs": 1 + rank},
                   "schedule": {"schedule": lambda t: 1 / (1 + rank * t)}, "digest ": {"sample_weight": np.arange(20) + 5 * rank},
                   "content": {"l2": 0.1 * (1 + rank)}}.items():
    try:
        fitted(**told)
        sys.exit(f"another {word} was not refused")
    except XManError as error:
        assert f"worker 2 of 2 has another {word.strip()} than the first" in str(error), error
"""


def test_workers_begin_with_the_first_ones_values_and_refuse_to_be_told_different_things():
    job = started("-c", RANDOM)
    said = job.communicate(timeout=60)
    assert not job.returncode, said


@pytest.mark.parametrize("told", [{"SLURM_NTASKS": "2", "SLURM_STEP_ID": "0"}, {"PMI_SIZE": "3"}, {"OMPI_COMM_WORLD_SIZE": "2"},
                                  {"WORLD_SIZE": "2", "MASTER_ADDR": "here"}])
def test_a_launcher_that_says_more_workers_than_mpi_is_an_error(told):
    job = started("-c", "from xman.scale import workers; workers()", workers=1, **told)
    assert f"says by {next(iter(told))} that there are" in job.communicate(timeout=60)[1] and job.returncode


APART = """
import os, signal, sys, time
from xman.scale import dealt, workers
workers().timeout = 2
trial = {"slow": lambda: time.sleep(5), "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP)}[sys.argv[1]]
print([*dealt(lambda k: k == 1 and trial(), 3)])
"""


def test_a_trial_may_take_longer_than_the_others_would_wait():
    said = (job := started("-c", APART, "slow")).communicate(timeout=60)
    assert not job.returncode and said[0].count("[False, None, False]") == 2, said


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="only there can a process be stopped")
def test_a_worker_that_is_stopped_in_a_trial_ends_the_job():
    job = started("-c", APART, "stopped")
    assert "has given no sign of life for 2 s" in job.communicate(timeout=60)[1] and job.returncode


def test_a_run_without_a_standard_output_trains(tmp_path):
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, *TRAIN, "--epochs", "1", "--checkpoint", str(tmp_path / "run")]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


LEAVES = """
import os, sys, xman.cli.learning as learning
from xman.cli import main
from xman.scale import workers
if workers().rank:
    learning.fit = lambda *_, **__: os._exit(0)
main()
"""


def test_a_worker_that_ends_without_a_word_is_no_success(tmp_path):
    words = [*TRAIN[2:], "--epochs", "1", "--checkpoint", str(tmp_path / "run")]
    assert launch.waited_for([LAUNCHER, "-n", "2", sys.executable, "-c", LEAVES, *words], 60) == 1
    assert launch.waited_for([sys.executable, *TRAIN, "--epochs", "1"], 60) == 0
    assert launch.waited_for([sys.executable, "-c", "import sys; sys.exit(143)"], 60) == 1  # as MPICH that cannot begin


@pytest.mark.parametrize("status", [15, -15])
def test_a_run_that_is_told_to_end_before_it_can_listen_says_so_once(monkeypatch, capfd, status):
    monkeypatch.setattr(launch, "waited_for", lambda *_: status)
    assert launch.launched(["train"], 1, 2, "run", 60) in (15, 143)
    assert capfd.readouterr().err == "xman: SIGTERM ended the run before it could listen\n"


def test_a_run_that_was_told_to_end_has_that_status_whatever_its_launcher_says():
    timer = threading.Timer(1, os.kill, [os.getpid(), signal.SIGTERM])
    timer.start()
    ends = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(15)); time.sleep(60)"
    assert launch.waited_for([sys.executable, "-c", ends], 60) == 128 + signal.SIGTERM
