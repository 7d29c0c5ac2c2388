"""Facts about checkpoints: a run goes on from one to the same bits, and whatever happens there is a whole one."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xman
from xman import XManError
from xman.files.container import restore, save
from xman.files.whole import only_writer
from xman.models import MLP, LogisticRegression
from xman.train import OPTIMIZERS, fit, predict

safetensors = pytest.importorskip("safetensors.numpy")
pytest.importorskip("click")

LABELS = np.arange(30) % 3
X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32) + np.eye(3, 4, dtype=np.float32)[LABELS]
VALIDATION = X[::4], LABELS[::4]
each_optimizer = pytest.mark.parametrize("optimizer", OPTIMIZERS)
ctrl_c_is_heard = pytest.mark.skipif(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, reason="this process ignores Ctrl-C")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


def train(path=None, model=None, data=(X, LABELS), **settings):
    settings = {"epochs": 4, "batch_size": 8, "lr": 0.05, "validation": VALIDATION, "progress": False, **settings}
    return fit(model or MLP([4, 6, 3]), data, checkpoint=path, **settings)


def without_seconds(result):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in result.history]


def assert_same(a, b):
    assert {n: w.tobytes() for n, w in a.parameters.items()} == {n: w.tobytes() for n, w in b.parameters.items()}
    assert (without_seconds(a), a.best, a.reason) == (without_seconds(b), b.best, b.reason)


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def interrupted_at(call):
    """A model whose feed is interrupted by Ctrl-C at that call."""
    model, calls = MLP([4, 6, 3]), []

    def feed(X, y):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return MLP.feed(model, X, y)

    model.feed = feed
    return model


# going on


@each_optimizer
def test_a_run_that_goes_on_after_an_epoch_comes_to_the_same_bits(path, optimizer):
    train(path, optimizer=optimizer, epochs=2)
    assert_same(train(path, optimizer=optimizer), train(optimizer=optimizer))


# call 1 looks at the shapes, 2–5 are epoch 1, 6 judges it, 7–10 are epoch 2
@pytest.mark.parametrize("optimizer, call", [(optimizer, (2, 3, 6, 8, 9)[(k + n) % 5])
                                             for k, optimizer in enumerate(OPTIMIZERS) for n in (0, 3)])
def test_a_run_that_goes_on_after_ctrl_c_in_an_epoch_comes_to_the_same_bits(path, optimizer, call):
    stopped = train(path, interrupted_at(call), optimizer=optimizer)
    assert stopped.reason.startswith(f"interrupted in epoch {1 if call < 7 else 2}") and str(path) in stopped.reason
    assert_same(train(path, optimizer=optimizer), train(optimizer=optimizer))


def test_ctrl_c_without_a_checkpoint_gives_what_had_been_reached():
    assert_same(train(model=interrupted_at(9))._replace(reason=""), train(epochs=1)._replace(reason=""))


def test_a_run_that_is_done_changes_nothing_when_it_goes_on(path):
    assert_same(train(path), train(path))


def test_numbers_of_numpy_may_be_settings_of_a_run_with_a_checkpoint(path):
    settings = {"seed": np.int64(3), "lr": np.float32(0.05)}
    train(path, epochs=2, **settings)
    assert_same(train(path, **settings), train(**settings))


def command(path, *options):
    return [sys.executable, *"-m xman train mlp --hidden 16 --quiet --json --checkpoint".split(), str(path), *options]


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@ctrl_c_is_heard
def test_a_real_ctrl_c_saves_and_the_command_goes_on_to_the_same_bits(path, tmp_path):
    with subprocess.Popen(command(path, "--epochs", "100000"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(path, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    stopped = json.loads(out)
    assert (process.returncode, err) == (130, b"")
    assert re.match(r"interrupted in epoch \d+; .*run\.safetensors", stopped["reason"])
    epochs = str(len(stopped["history"]) + 2)
    runs = [subprocess.run(command(p, "--epochs", epochs), check=True, capture_output=True) for p in (path, tmp_path / "other")]
    first, second = ({**json.loads(run.stdout), "history": [], "seconds": 0, "checkpoint": ""} for run in runs)
    assert first == second


def test_a_run_that_is_killed_leaves_a_checkpoint_from_which_it_goes_on(path):
    with subprocess.Popen(command(path, "--epochs", "100000"), stdout=subprocess.DEVNULL) as process:
        wait_for(path, process)
        time.sleep(0.1)
        process.kill()
    done = len(restore(path)[1]["state"]["history"])
    again = subprocess.run(command(path, "--epochs", str(done + 1)), check=True, capture_output=True)
    assert len(json.loads(again.stdout)["history"]) == done + 1


def test_a_checkpoint_is_a_model_with_the_best_parameters_so_far(path):
    result = train(path, lr=5.0, epochs=9)
    model = xman.load(path)
    assert result.best < 9 and np.array_equal(model.outputs(X), predict(MLP([4, 6, 3]), result.parameters, X))
    assert model.settings["digest"] == result.settings["digest"] and model.settings["lr"] == 5.0


@pytest.mark.parametrize("feed, words", [(lambda X, y: {"X": X, "y": y}, "the model has no register 'outputs'"),
                                         (lambda X, y: {"X": X, "y": y.ravel()}, "'NoneType' object has no attribute 'ravel'")])
def test_a_checkpoint_of_what_predicts_nothing_goes_on_and_says_why(path, feed, words):
    model = LogisticRegression(4, 3)
    model.feed = feed
    if "outputs" in words:
        del model.outputs
        model.setup()
    assert len([train(path, model, epochs=epochs) for epochs in (1, 2)][1].history) == 2
    with pytest.raises(XManError, match=f"no model: .*{words}"):
        xman.load(path)


# writing


@pytest.mark.parametrize("function", ["replace", "fsync"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(path, monkeypatch, function, error):
    save(path, {"w": np.arange(3)}, {"k": 1})
    old = path.read_bytes()

    def fails(*args):
        raise error

    with monkeypatch.context() as patch, pytest.raises((XManError, KeyboardInterrupt)) as caught:
        patch.setattr(os, function, fails)
        save(path, {"w": np.arange(4)}, {"k": 2})
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]
    if isinstance(error, OSError):
        assert str(caught.value) == (f"{path} cannot be written: No space left on device; "
                                     "what stood there is unchanged")


FULL_AND_KILLED = """
import os, resource, signal, sys
from tests.train.test_checkpoints import XManError, train
limit = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
try:
    train(sys.argv[1], callbacks=[lambda row, parameters: limit(1000 if row["epoch"] == 2 else resource.RLIM_INFINITY)])
except XManError as error:
    print(error)
limit(resource.RLIM_INFINITY)
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
train(sys.argv[1])
"""


def test_a_full_disk_and_a_kill_in_the_middle_of_a_write_lose_the_steps_since_the_last_and_leave_nothing(path):
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", FULL_AND_KILLED, str(path)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])})
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, f"{path} cannot be written: File too large; what stood "
                                                               "there is unchanged\n"), done.stderr
    left, = path.parent.glob("*.part")
    os.utime(left, (0, 0))  # as if that had been a while ago: of a young one the writer may be at work
    assert restore(path)[1]["state"]["epoch"] == 2
    assert_same(train(path), train())
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_directory_that_is_read_only_is_refused_in_a_sentence(path):
    path.parent.chmod(0o500)
    assert "Permission denied" in refusal(save, path, {"w": np.arange(3)}, {})


def test_a_path_that_is_a_directory_is_refused_in_a_sentence_and_left_alone(path):
    path.mkdir()
    assert "directory" in refusal(save, path, {"w": np.arange(3)}, {})
    assert os.listdir(path.parent) == [path.name] and not os.listdir(path)


def test_a_run_told_to_keep_its_checkpoint_in_a_directory_says_that_it_is_one(tmp_path):
    assert "directory" in refusal(train, tmp_path)


def test_a_path_below_a_file_is_refused_in_a_sentence(path):
    path.write_bytes(b"a file")
    assert "cannot be written" in refusal(save, path / "run", {"w": np.arange(3)}, {})


def test_a_folder_that_is_missing_is_told_before_the_first_step_and_not_made(tmp_path):
    assert "there is no folder" in refusal(train, tmp_path / "a" / "run") and os.listdir(tmp_path) == []


def test_two_processes_that_write_one_checkpoint_leave_it_whole_at_every_moment(path):
    code = ("import sys, numpy as np; from xman.files.container import save\n"
            "for k in range(40): save(sys.argv[1], {'w': np.full(50_000, k)}, {'k': k})")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    wait_for(path, writers[0])
    while True:
        running = any(writer.poll() is None for writer in writers)
        arrays, facts = restore(path)
        assert np.all(arrays["w"] == facts["k"])
        if not running:
            break
    assert [writer.returncode for writer in writers] == [0, 0] and os.listdir(path.parent) == [path.name]


# reading


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[:5], lambda b: b[:len(b) // 2], lambda b: b[:-1],
                                    lambda b: b"garbage " * 50, lambda b: b"\xff" * 400,
                                    lambda b: safetensors.save({"w": np.arange(3)}),
                                    lambda b: safetensors.save({"w": np.arange(3)}, {"xman": "[]"}),
                                    lambda b: safetensors.save({"w": np.arange(3)}, {"xman": "{}"})],
                         ids=["empty", "5 bytes", "half", "all but one", "garbage", "ones", "no facts", "a list", "no settings"])
def test_a_file_that_is_no_checkpoint_is_refused_with_its_path_and_left_alone(path, damage):
    train(path, epochs=1)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    assert str(path) in refusal(train, path) and path.read_bytes() == before


BENT = X.copy()
BENT[3, 2] += 1


@pytest.mark.parametrize("change, words", [
    ({"lr": 0.1}, "lr 0.05, not 0.1"), ({"batch_size": 9}, "batch_size 8, not 9"), ({"seed": 1}, "seed 0, not 1"),
    ({"optimizer": "adam"}, "optimizer sgd, not adam"), ({"data": (X[:-1], LABELS[:-1])}, "rows 30, not 29"),
    ({"data": (BENT, LABELS)}, "data"), ({"data": (X, LABELS[::-1])}, "data"),
    ({"model": MLP([4, 6, 3], activation="relu")}, "model"), ({"model": MLP([4, 5, 3])}, "model"),
    ({"model": MLP([4, 6, 3], dtype=np.float64)}, "model"),
], ids=["lr", "batch size", "seed", "optimizer", "rows", "X", "y", "activation", "hidden size", "precision"])
def test_a_checkpoint_of_another_run_is_refused_by_what_differs_and_left_alone(path, change, words):
    train(path, epochs=1)
    before = path.read_bytes()
    message = refusal(train, path, **change)
    assert words in message and str(path) in message and path.read_bytes() == before


def test_a_checkpoint_of_a_sparse_matrix_with_other_columns_is_refused(path):
    left, right = (csr_matrix((np.ones(30, np.float32), (np.arange(30), columns)), (30, 4)) for columns in (LABELS, LABELS + 1))
    fit(LogisticRegression(4, 3), (left, LABELS), epochs=1, checkpoint=path, progress=False)
    assert "data" in refusal(fit, LogisticRegression(4, 3), (right, LABELS), epochs=2, checkpoint=path, progress=False)


def test_without_safetensors_the_extra_that_brings_it_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    assert "pip install 'xman[cli]'" in refusal(train, path)


def test_a_checkpoint_has_one_writer_whose_name_a_second_one_hears(tmp_path):
    path = tmp_path / "run.safetensors"
    with only_writer(path), pytest.raises(XManError, match=f"is being written by process {os.getpid()} on "):
        train(path)
    assert not [*tmp_path.iterdir()]
    (tmp_path / "run.safetensors.lock").write_text("process 1 on a host that was switched off")
    train(path)
    assert [*tmp_path.iterdir()] == [path]


def test_a_run_beside_whose_checkpoint_no_lock_can_stand_is_refused_in_a_sentence(tmp_path):
    assert "cannot be written: File name too long" in refusal(train, tmp_path / ("a" * 252))
